"""Labels and predictions that are propagated over the graph after training."""
