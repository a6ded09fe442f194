"""Formats values as HTML: escaped text, numbers, charts. Independent of pages."""
