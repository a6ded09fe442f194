"""What users write, as models (``models.py``), and its reading, without what is wrong in it.

pydantic and yaml are imported only where they are needed: a build whose configuration the memo holds needs neither.
"""
