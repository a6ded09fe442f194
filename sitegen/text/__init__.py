"""Text: normalising, similarity, diffs, Markdown."""
