"""Reads untrusted JSON, YAML and TOML into values and CSV into rows of cells, within bounds.

Each reader returns plain values (``sitegen.model.outcomes.Value``), with findings for what is suspicious, or raises
``UnreadableError``.
"""
