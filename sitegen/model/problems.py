"""What could not be seen, read or scored. A failure is a value: it is shown, and it never stops a build."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

Severity: TypeAlias = Literal["error", "warning", "note"]
"""error: something is missing from the pages. warning: a number may surprise. note: worth knowing, nothing is wrong."""


class Finding(NamedTuple):
    """A problem inside one file, found by a reader or a scorer that does not know where the file came from."""

    severity: Severity
    what: str
    """One sentence without a full stop. It holds names of fields, documents and cases, and no value of a file."""
    fix: str
    """What to do about it, as an imperative sentence. It holds no value either."""
    line: int | None = None
    about: Literal["output", "ground_truth", "mapping", "schema", "settings"] = "output"
    """Which of the scored files it is in."""
    value: str = ""
    """What stands there, as it is quoted after the sentence; empty: nothing is quoted."""
    path: str = ""
    """Field path of the value. Empty: it is not known, so that an eval that hides any field hides this value too."""

    @property
    def text(self) -> str:
        """The sentence, and after it the value."""
        return f"{self.what}: {self.value}" if self.value else self.what


class Problem(NamedTuple):
    """A finding at its place in the project. Shown on the problems page, and on the page of what it concerns."""

    severity: Severity
    what: str
    fix: str
    path: str | None = None
    line: int | None = None
    commit: str | None = None
    eval_id: str | None = None
    field: str = ""
    """Field path in the file, where it is about one value."""
    past: bool = False
    """It was true of an earlier commit, and is not of the newest point any more: shown, but nobody has to act."""
