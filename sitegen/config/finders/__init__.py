"""Finders of evals that no manifest names, one module for each kind of files; ``found_evals.py`` lists them."""
