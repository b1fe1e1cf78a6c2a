"""Heads: descriptions of networks on rows of hops, free of torch; the networks are in :mod:`sign.models.networks`."""
