"""Measured results in ``docs/data``, and what pages show of them: tables between markers, and bar charts."""
