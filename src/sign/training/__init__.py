"""Rows ▶ network ▶ metrics: batches, the task, fitting and testing, distributed training."""
