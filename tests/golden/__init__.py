"""A small site, whole: every page of a project in which everything happens once."""
