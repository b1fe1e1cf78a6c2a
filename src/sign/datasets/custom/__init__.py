"""Graphs in the user's own files."""
