"""Finders of evals that no manifest names, one module for each place; ``found_evals.py`` lists them."""
