"""Decides which pages are written in full, so that a site stays within its size limit."""
