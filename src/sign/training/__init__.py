"""Rows, network, metrics."""
