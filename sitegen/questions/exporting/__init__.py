"""Exports all of history as tables for other programs: CSV or SQLite."""
