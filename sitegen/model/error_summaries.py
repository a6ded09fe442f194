"""The parts of an eval's stored summary about the errors of its newest output and about the history of its fields."""

from __future__ import annotations

from typing import NamedTuple

from sitegen.frozen import Frozen
from sitegen.model.cells import Tally


class WeakSection(Frozen):
    """A section of the schema with its errors."""

    name: str
    errors: tuple[int, ...]
    """In the order of ``ERROR_TYPES``."""
    judged: int


class Streak(Frozen):
    """Fields of one section that have been wrong without interruption since the same point."""

    attribute: str
    """The field with the most cells."""
    more: int
    """Number of further fields."""
    cells: int
    """Number of cells of all these fields that have been wrong since then."""
    since: str
    """Label of that point."""
    slug: str
    outputs: int
    """Number of different outputs with these errors, including the newest."""


class Focus(Frozen):
    """Which errors of the newest output to work on first, selected in three ways."""

    sections: tuple[WeakSection, ...] = ()
    """The sections with the most errors first."""
    broken: Tally = ()
    """Cells that the newest output got wrong and the previous output got right."""
    longest: tuple[Streak, ...] = ()
    """The longest first."""


class PatternSummary(Frozen):
    """An error pattern of the newest output, as the pages of an eval and of the whole site name it."""

    name: str
    errors: int
    total: int
    """Number of all errors of the output."""
    fields: int
    """Number of fields with errors of the pattern."""
    since: str
    """Label of the point since which most of these errors have been wrong; empty if there is no such point."""
    all_since: bool
    """Whether all of them have been wrong since that point."""
    value: float | None
    """The headline of the output."""
    without: float | None
    """The headline if these values were right; None if the headline is not a ratio of counts."""


class FlipsAfterEdit(NamedTuple):
    """An output made after an edit of instructions, at which values of a field flipped."""

    at: int
    """Index of the point."""
    fixed: int
    broken: int


class FailingValue(Frozen):
    """A value of a field that is wrong in the newest output."""

    label: str
    """Its path, with names of list items instead of indices."""
    document: str
    expected: str
    """The expected value, truncated; empty if there is none."""
    actual: str
    outputs: int
    """Number of different outputs, up to the newest, that are wrong here without interruption."""


class FieldSummary(Frozen):
    """How a field of one eval changed over all points."""

    attribute: str
    wrong: int
    """Number of values that are wrong in the newest output."""
    judged: int
    right: tuple[float | None, ...]
    """Share of right values, 0..1, at the newest points; None where the field was not judged."""
    moves: tuple[FlipsAfterEdit, ...]
    """Newest first."""
    failing: tuple[FailingValue, ...]
    """The values that have been wrong longest."""
