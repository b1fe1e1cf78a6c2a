"""Linear maps on node features, one a file. The configuration names them by ``_target_``."""
