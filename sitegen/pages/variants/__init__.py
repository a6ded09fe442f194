"""The page that compares the prompt variants of an eval."""
