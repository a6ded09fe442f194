"""Text: its form for comparing, similarity, patches and the rows of a diff, sections, secrets, Markdown."""
