"""Rows of fields from JSON lines, CSV and parquet."""
