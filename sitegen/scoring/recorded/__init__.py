"""Kind ``recorded``: numbers that a run wrote and that cannot be computed again, each followed as a series."""
