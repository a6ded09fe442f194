"""Exports all of history as tables for other programs: CSV, JSON, Parquet or SQLite."""
