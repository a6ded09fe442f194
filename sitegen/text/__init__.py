"""Text: normalising for comparison, similarity, patches and diff rows, sections, secrets, Markdown."""
