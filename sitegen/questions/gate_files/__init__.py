"""The gate's report as Markdown, JSON, JUnit XML and annotations of a GitHub workflow."""
