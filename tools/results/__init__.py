"""Measured results in ``docs/data``, and what pages show of them: tables between markers, a figure of times."""
