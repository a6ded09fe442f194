"""The page of one edit of an instruction file: the diff, and how evals changed with it."""
