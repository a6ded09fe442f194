"""A comparison as files: JSON for programs, Markdown for people, a picture for slides."""
