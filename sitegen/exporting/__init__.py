"""All of history as tables, in files that other programs open: CSV, JSON, Parquet, SQLite."""
