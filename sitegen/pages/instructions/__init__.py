"""The page of all instruction files: which edit moved which eval."""
