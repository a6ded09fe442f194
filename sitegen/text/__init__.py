"""Processes text: normalising, similarity, patches and diff rows, sections, secrets, Markdown."""
