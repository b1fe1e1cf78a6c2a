"""Raw files ▶ :class:`~sign.graph.graph.Graph`, one source a file. The configuration names them by ``_target_``."""
