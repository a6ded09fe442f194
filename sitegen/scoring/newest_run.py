"""JSON Lines to which every run appends: which lines are of the newest run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from sitegen.model.problems import Finding
from sitegen.model.values import Value
from sitegen.scoring.responses.texts import id_text

_RUN_KEYS: Final = ("run_id", "run")


class NewestRun(NamedTuple):
    """Which lines count."""

    lines: tuple[int, ...]
    """Indices."""
    findings: tuple[Finding, ...] = ()


def newest_run(lines: Sequence[Value], of: str = "") -> NewestRun:
    """The lines of the run that the last line names, if all lines name theirs; else every line.

    Where each line of several has a run of its own, that is the id of a call, and all count. *of* says whose lines they
    are, for a message. Lines that are no objects belong to every run.
    """
    every = NewestRun(tuple(range(len(lines))))
    counted = [(index, line) for index, line in enumerate(lines) if isinstance(line, dict)]
    for key in _RUN_KEYS:
        runs = {index: id_text(line.get(key)) for index, line in counted}
        names = set(runs.values())
        if len(names) < 2 or not all(names) or len(names) == len(runs):
            continue
        newest = runs[counted[-1][0]]
        left_out = sum(name != newest for name in runs.values())
        what = f"{left_out} lines{of} are of earlier runs and do not count; the newest run is {newest[:80]!r}"
        fix = "Nothing has to be done: each commit of the file is a point of its own."
        of_newest = tuple(index for index in every.lines if runs.get(index, newest) == newest)
        return NewestRun(of_newest, (Finding("note", what, fix),))
    return every
