"""Linear maps on node features, one per file. The configuration names them by ``_target_``."""
