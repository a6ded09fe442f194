"""The version that a file states of itself, after each of its edits, and what an edit forgot to do about it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple, TypeAlias

from sitegen.text.patch import PatchCounts

VersionSlip: TypeAlias = Literal["text alone", "version alone"]
"""text alone: the text of a file that states a version changed, its version did not. version alone: the other way."""


class VersionStep(NamedTuple):
    """What one edit left behind."""

    version: str | None
    """After the edit; None if the file states none, or if that is unknown."""
    slip: VersionSlip | None = None


def version_steps(counts: Iterable[PatchCounts | None]) -> tuple[VersionStep, ...]:
    """The version after each edit, oldest first, from what each patch says.

    A patch that could not be read (None) may have changed the version: it is unknown until a later one states it.
    """
    steps: list[VersionStep] = []
    stated: str | None = None
    for count in counts:
        if count is None:
            stated = None
            steps.append(VersionStep(None))
            continue
        before = count.version_before or stated
        stated = _after(count, before)
        steps.append(VersionStep(stated, _slip(count, before, stated)))
    return tuple(steps)


def _after(count: PatchCounts, before: str | None) -> str | None:
    """The version that stands; none once its line was removed."""
    return count.version_after or (None if count.version_before else before)


def _slip(count: PatchCounts, before: str | None, after: str | None) -> VersionSlip | None:
    if before is None:
        return None
    if count.only_version:
        return "version alone"
    emptied = after is None and count.added == 0
    changed = count.added + count.removed > 0
    return "text alone" if changed and not emptied and after in (before, None) else None
