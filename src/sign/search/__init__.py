"""Sweeps: many configurations, each a process of its own, on slots that are never idle."""
