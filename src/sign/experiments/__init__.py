"""Settings ▶ run folder: one run, a series over seeds, and the checks before them."""
