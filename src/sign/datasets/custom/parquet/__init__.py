"""The user's own graph as Parquet tables of many files."""
