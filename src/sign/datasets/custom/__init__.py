"""Graphs in files of the user."""
