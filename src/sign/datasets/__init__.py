"""Raw files ▶ :class:`~sign.graph.graph.Graph`, one file per source, selected by ``_target_`` in the settings."""
