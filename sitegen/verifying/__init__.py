"""Scores what lies in the work tree now, without history: the engine of ``verify-one`` and ``verify-all``."""
