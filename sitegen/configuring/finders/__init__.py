"""Evals that no manifest names, one file for each place where they are looked for; ``found_evals.py`` lists them."""
