"""The page of all instruction files: the best versions, the effect of each edit on each eval, and the files."""
