"""Focus: which errors of an eval's newest output to work on first."""

from __future__ import annotations

from typing import NamedTuple


class WeakSection(NamedTuple):
    """A section of the schema with its errors."""

    name: str
    errors: tuple[int, ...]
    """In the order of ``ERROR_TYPES``."""
    judged: int


class Streak(NamedTuple):
    """Fields of one section that have been wrong without a break since the same point."""

    attribute: str
    """One of them, with the most cells."""
    more: int
    """How many others."""
    cells: int
    """Cells of all of them that are wrong since then."""
    since: str
    """Label of the point."""
    slug: str
    outputs: int
    """How many outputs have been wrong there, the newest included."""


class Focus(NamedTuple):
    """The errors of the newest point, by three ways to choose among them."""

    sections: tuple[WeakSection, ...] = ()
    """The most errors first."""
    broken: tuple[tuple[str, int], ...] = ()
    """(attribute, cells) that the newest output got wrong and the one before it right; most first."""
    longest: tuple[Streak, ...] = ()
    """The longest first."""
