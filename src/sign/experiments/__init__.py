"""Settings ▶ run folder."""
