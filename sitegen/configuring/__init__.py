"""Reads ``sitegen.toml`` and the manifest into the frozen values of ``sitegen.config``, without what is wrong in them.

pydantic and yaml are imported only where they are needed: a build whose configuration the memo holds needs neither.
"""
