"""Graphs that stay on the cluster: built, diffused and written by executors."""
