"""Run folders ▶ one HTML page and a Markdown table; every table is also there as plain data."""
