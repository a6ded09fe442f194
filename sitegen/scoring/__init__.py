"""Computes the result of an output from the bytes of its files. Knows neither git nor pages; no clock, disk or network.

``ScoringInputs`` hold the files of an output, its ground truth and its rules. The ``Scorer`` of the eval's kind turns
them into a ``Result`` (both in ``kinds``). Kind ``fields`` takes these steps:

1. ``rules`` compiles the mapping (``mapping``), the settings and the schema (``schema_types``) into ``FieldRules``,
   which define how the value at a field path (``paths``) is compared.
2. ``compiled_truth`` reads the ground truth by its layout (``ground_truth``) into trees with a ``Comparison``
   (``compare``, ``values``) for each value. Both are cached by content.
3. ``outputs`` reads the files of the output into documents by name, with the readers of ``data_files``.
4. ``fields`` judges each document against its tree, value by value (``lists`` and ``pairing`` pair the items of
   lists, ``elsewhere`` finds omitted values), counts the judgements, and builds the ``Result``: a scorecard, the
   judgements and the panels.

The scorers of the other kinds are named in ``kinds.BUILTIN_KINDS``. For every kind, ``kinds`` adds the metrics of
installed packages and applies targets, ``usage`` adds cost, tokens and times, ``redaction`` hides values, and
``documents`` writes a result for other programs.
"""
