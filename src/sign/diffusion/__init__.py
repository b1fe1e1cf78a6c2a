"""Compute the hops that the store lacks."""
