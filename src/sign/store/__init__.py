"""Hop arrays on disk."""
