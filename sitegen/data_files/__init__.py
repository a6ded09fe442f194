"""JSON and YAML as values, within bounds, whoever wrote the files. Nothing else in sitegen reads YAML.

Each reader returns plain values (``sitegen.model.values.Value``) with findings of what was odd, or raises
``UnreadableError``.
"""
