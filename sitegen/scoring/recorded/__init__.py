"""Kind ``recorded``: numbers that a run wrote and that nothing can compute again, each a series of its own."""
