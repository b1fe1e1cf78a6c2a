"""Products on this machine by compiled kernels."""
