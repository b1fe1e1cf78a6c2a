"""Networks on rows, in plain torch: one file per head."""
