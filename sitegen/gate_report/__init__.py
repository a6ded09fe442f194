"""What the gate found, as Markdown, JSON, JUnit XML and annotations of a GitHub workflow."""
