"""Overrides ▶ checked settings."""
