"""The page of regressions: which changes of level are open, and which are fixed."""
