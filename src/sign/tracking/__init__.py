"""Experiment tracking with W&B."""
