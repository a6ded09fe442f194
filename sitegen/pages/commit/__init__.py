"""The page of one commit: what it changed, and how evals changed with it."""
