"""Products on this machine."""
