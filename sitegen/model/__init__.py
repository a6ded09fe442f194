"""The nouns of sitegen: frozen values without I/O and without arithmetic.

Rows that exist in large numbers are NamedTuples (fast to make, compact in the memo); the rest are frozen
dataclasses. Nothing here imports another package of sitegen.
"""
