"""The paper's tables and figures, ours beside the published numbers."""
