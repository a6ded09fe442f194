"""Scores the files of the work tree without history: the engine of ``verify-one`` and ``verify-all``."""
