"""Scores the files of the work tree: the engine of ``verify-one`` and ``verify-all``. History only tells the newest."""
