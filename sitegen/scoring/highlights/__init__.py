"""Kind ``highlights``: texts that a model marked in paragraphs, against a gold standard (rules 26 to 28).

``chunks`` says which shapes are read, ``paragraphs`` reads what is below a chunk, ``files`` whole files and runs,
``settings`` the settings in the manifest; ``scorer`` compares and finds the texts in their paragraph, ``document`` and
``extract`` write.
"""
