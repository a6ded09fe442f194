"""Suspect ground truth: labels that many outputs contradict with the same value."""

from __future__ import annotations

from sitegen.frozen import Frozen


class Correction(Frozen):
    """A line of the ground truth file, and the line as it would be if the outputs were right."""

    path: str
    oid: str
    """Id of the file's content."""
    line: int
    """From 1."""
    before: str
    after: str


class SuspectTruth(Frozen):
    """A cell whose label may be wrong. It is only a suspicion, for somebody who knows the document to check."""

    document: str
    path: str
    attribute: str
    expected: str
    """The label as bounded JSON text; empty if it is blank."""
    actual: str
    """The value on which the outputs agree, in the same form."""
    agreeing: int
    """Number of outputs with this value."""
    outputs: int
    """Number of outputs that were compared with this label."""
    edits: int
    """Number of edits of instructions between the first and the last output that agree."""
    first: int
    """Index, in the series, of the first point with the value; later outputs do not change it."""
    last: int
    """Index of the last such point."""
    correction: Correction | None = None
    """None if the label's line in the file is uncertain, or was not determined."""
    named_path: str = ""
    """The path with list items by their names; empty where it is the same."""
    with_label: int = 0
    """Number of outputs whose value is the label."""

    @property
    def label(self) -> str:
        """The path as pages show it."""
        return self.named_path or self.path
