"""The functions by which ``history`` reads contents of outputs. ``scoring`` provides them, as it knows the formats."""

from collections.abc import Callable
from typing import Final

from sitegen.frozen import Frozen
from sitegen.model.recorded import Recorded
from sitegen.named_tuple import NamedTuple

GRADES: Final = "grades"
"""The key of an eval's settings with the named scores that are grades, and neither right nor wrong."""


class CaseSides(NamedTuple):
    """Digests of the two sides of a file of cases. Sides with the same digest are the same to a scorer."""

    expected: str
    output: str


def _no_sides(path: str, content: bytes, settings: str) -> CaseSides | None:
    """Return no digests, for histories whose files are not read."""


def _no_record(kind: str, path: str, content: bytes, settings: str) -> Recorded | None:
    """Return no record, for histories whose files are not read."""


def _no_grades(kind: str, path: str, content: bytes, settings: str) -> tuple[str, ...]:
    """Return no grades, for histories whose files are not read."""
    return ()


def _no_runs(kind: str, path: str, before: bytes, content: bytes) -> int:
    """Count no runs, for histories whose files are not read."""
    return 0


class Contents(Frozen):
    """The functions that read contents; the defaults read nothing."""

    sides: Callable[[str, bytes, str], CaseSides | None] = _no_sides
    """Takes (path, content, settings) of a file of cases. Returns None for a file without two sides."""
    recorded: Callable[[str, str, bytes, str], Recorded | None] = _no_record
    """Takes (kind, path, content, settings) of an output; returns what it states about its run, or None."""
    grades: Callable[[str, str, bytes, str], tuple[str, ...]] = _no_grades
    """Takes the same; returns the named scores with values that are neither right nor wrong."""
    appended_runs: Callable[[str, str, bytes, bytes], int] = _no_runs
    """Takes (kind, path, content before, content) of an output; returns how many runs were appended to the file."""


NO_CONTENTS: Final = Contents()
"""For histories whose outputs are not read."""
