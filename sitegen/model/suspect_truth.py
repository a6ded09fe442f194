"""Suspect ground truth: labels that output after output contradicts, always with the same value."""

from __future__ import annotations

from typing import NamedTuple


class Correction(NamedTuple):
    """A line of the ground truth file, and what it would be if the outputs were right."""

    path: str
    oid: str
    """Id of the file's content."""
    line: int
    """From 1."""
    before: str
    after: str


class SuspectTruth(NamedTuple):
    """One cell whose label may be wrong. A suspicion, not a finding: whoever knows the document has to look."""

    document: str
    path: str
    attribute: str
    expected: str
    """The label as bounded JSON text; empty if it says that there is nothing."""
    actual: str
    """What the outputs agree on, likewise."""
    agreeing: int
    """Outputs that gave this value."""
    outputs: int
    """Outputs that were held against this label."""
    edits: int
    """Edits of instructions between the first and the last of those that agree: the value outlived so many."""
    first: int
    """Index, in the series, of the first point that gave it; later outputs do not change it."""
    last: int
    """Index of the last one."""
    correction: Correction | None = None
    """None: the label's place in the file was not found for sure, or was not looked for."""
    named_path: str = ""
    """The path with list items by their names; empty where it is the same."""

    @property
    def label(self) -> str:
        """The path as it is shown."""
        return self.named_path or self.path
