"""Reproduce the tables and figures of the paper, our numbers beside the published ones."""
