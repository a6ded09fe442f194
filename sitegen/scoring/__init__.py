"""Scoring: bytes in, a result out. Knows neither git nor pages; no clock, disk or network.

``ScoringInputs`` (``scorer``) hold the bytes of an output and of what it is scored by; the ``Scorer`` of the eval's
kind (``kinds``) makes a ``Result`` of them. For kind ``fields`` the way is:

1. ``rules``: mapping (``mapping``), settings and schema (``schema_types``) become ``FieldRules``, once for the same
   sources; they answer how a field path (``paths``) is compared.
2. ``compiled_truth``: the ground truth is read by its layout (``ground_truth``), and becomes a tree with a
   ``Comparison`` (``compare``, ``values``) for each value, once for the same content and rules.
3. ``outputs``: the files of the output become documents by name, through the readers of ``data_files``.
4. ``judge``: each document is held against its tree, value by value; ``lists`` finds which items belong together.
5. ``fields``: the judgements are counted, and become the ``Result``: a scorecard, the judgements and the panels.

Kinds ``highlights``, ``responses``, ``judged`` and ``recorded`` are packages that begin at their ``scorer``. Beside the
way: ``own`` adds kinds and metrics of installed packages, ``usage`` what an output took, ``redaction`` hides values,
and ``documents`` writes a result for other programs.
"""
