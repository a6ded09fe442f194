"""What could not be seen, read or scored. A failure is a value: it is shown, and it never stops a build."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

Severity: TypeAlias = Literal["error", "warning", "note"]
"""error: something is missing from the pages. warning: a number may surprise. note: worth knowing, nothing is wrong."""


class Finding(NamedTuple):
    """A problem inside one file, found by a reader or a scorer that does not know where the file came from."""

    severity: Severity
    what: str
    """One sentence, naming the value or the key."""
    fix: str
    """What to do about it, as an imperative sentence."""
    line: int | None = None
    about: Literal["output", "ground_truth", "mapping", "schema", "settings"] = "output"
    """Which of the scored files it is in."""


class Problem(NamedTuple):
    """A finding at its place in the project. Shown on the problems page, and on the page of what it concerns."""

    severity: Severity
    what: str
    fix: str
    path: str | None = None
    line: int | None = None
    commit: str | None = None
    eval_id: str | None = None
    past: bool = False
    """It was true of an earlier commit, and is not of the newest point any more: shown, but nobody has to act."""
