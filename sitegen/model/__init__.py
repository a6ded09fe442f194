"""The nouns of sitegen: frozen values without I/O and without arithmetic.

The values are frozen structs (``sitegen.model.frozen``), or NamedTuples where code unpacks or orders them. Nothing here
imports another package of sitegen.
"""
