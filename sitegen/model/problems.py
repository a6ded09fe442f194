"""What could not be read or scored. A failure is a value: it is shown, and it never stops a build."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

Severity: TypeAlias = Literal["error", "warning", "note"]
"""error: something is missing from the pages. warning: a number may be misleading. note: nothing is wrong."""


class Finding(NamedTuple):
    """A problem inside one file, reported by a reader or a scorer that does not know the path of the file."""

    severity: Severity
    message: str
    """One sentence without a full stop. It may name fields, documents and cases, but quotes no value of a file."""
    fix: str
    """What to do about it, as an imperative sentence, also without any value."""
    line: int | None = None
    about: Literal["output", "ground_truth", "mapping", "schema", "settings"] = "output"
    """Which of the scored files it is in."""
    value: str = ""
    """The value that is quoted after the sentence; empty: none."""
    path: str = ""
    """Field path of the value. If it is empty, an eval with any redacted field redacts this value too."""

    @property
    def text(self) -> str:
        """The sentence, followed by the value."""
        return f"{self.message}: {self.value}" if self.value else self.message


class Problem(NamedTuple):
    """A finding with its place in the project. It is on the problems page, and on the page of what it concerns."""

    severity: Severity
    message: str
    fix: str
    path: str | None = None
    line: int | None = None
    commit: str | None = None
    eval_id: str | None = None
    field: str = ""
    """Field path in the file, if it is about one value."""
    past: bool = False
    """Whether only earlier points have it, so that nobody has to act."""
