"""JSON and YAML as values, CSV as rows of cells, within bounds, whoever wrote them. Nothing else reads YAML.

Each reader returns plain values (``sitegen.model.values.Value``) with findings of what was odd, or raises
``UnreadableError``.
"""
