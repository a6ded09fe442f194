"""Kind ``highlights``: texts that a model marked in paragraphs, compared with a gold standard (rules 26 to 28).

``files`` reads whole files and selects a run, ``chunks`` reads the shapes in them, and ``settings`` reads the manifest.
``scorer`` compares the texts and locates them in their paragraphs. ``document`` writes results for other programs.
"""
