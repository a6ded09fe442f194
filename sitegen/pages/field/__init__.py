"""The page of a field: its values over all iterations of an eval."""
