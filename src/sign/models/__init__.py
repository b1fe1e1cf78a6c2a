"""Networks on rows, in plain torch."""
