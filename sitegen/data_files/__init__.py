"""Reads untrusted JSON and YAML into values and CSV into rows of cells, within bounds. Nothing else reads YAML.

Each reader returns plain values (``sitegen.model.values.Value``), with findings for what is suspicious, or raises
``UnreadableError``.
"""
