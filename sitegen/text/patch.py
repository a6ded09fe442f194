"""Reads the patch of one file into hunks and lines, and determines the stated version of a file after each patch."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from msgspec.structs import replace

from sitegen.model.frozen import Frozen
from sitegen.text.plain import cut, visible
from sitegen.text.sections import MOST_SECTIONS, VERSION_LINES, Outline, count_words, stated_version, without_version

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LARGEST: Final = 2_000_000
"""The size in bytes above which the lines of a patch are counted but not read."""

LineKind: TypeAlias = Literal["context", "removed", "added", "remark"]
_KINDS: Final[dict[str, LineKind]] = {"+": "added", "-": "removed", "\\": "remark"}

# Patterns are compiled when they are first used: most builds read no instructions.
_HEAD: Final = r"\n@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)"
_FIRST_HUNK: Final = rb"(?m)^@@ -"
_BINARY: Final = rb"(?m)^(Binary files |GIT binary patch)"
_OF_GIT: Final = rb"(?m)^(?:@@ -|\\)"
_ADDED: Final = rb"(?m)^\+"
_REMOVED: Final = rb"(?m)^-"
_ADDED_LINE: Final = r"\n\+(.*)"
_REMOVED_LINE: Final = r"\n-(.*)"


class PatchLine(NamedTuple):
    """One line of a hunk, without its line end."""

    kind: LineKind
    text: str
    """The visible, truncated text; for a remark, git's message that the previous line has no line end."""
    old: int | None
    """The line's number in the old file, from 1; None for an added line."""
    new: int | None


class Hunk(Frozen):
    """A passage that changed, with the surrounding lines."""

    section: str
    """The text that git writes after ``@@``: the heading line of the passage."""
    old_start: int
    old_count: int
    new_start: int
    new_count: int
    lines: tuple[PatchLine, ...]


class PatchCounts(NamedTuple):
    """The counts of a patch that lists of edits need."""

    added: int = 0
    removed: int = 0
    version_before: str | None = None
    version_after: str | None = None
    """The version that the file states, if a changed line near its start states one."""
    only_version: bool = False
    """Whether the edit changed only the version that the file states."""
    words: int | None = 0
    """Number of added words minus removed words; None if the patch is too large to be read."""


class Patch(Frozen):
    """A patch of one file."""

    counts: PatchCounts
    hunks: tuple[Hunk, ...]
    line_endings: int = 0
    """Number of lines that differ only in a carriage return. They are context here, and not counted as changes."""
    binary: bool = False
    unread: str = ""
    """Why there are no hunks although there is a patch; empty if there is no such reason."""


# A patch is read once for the list of edits, and again to be drawn.
@lru_cache(maxsize=2)
def read_patch(patch: bytes) -> Patch:
    """Read the patch of one file, with or without git's header.

    Bytes that are not UTF-8 become U+FFFD, hidden characters become visible, long lines are truncated. Never raises:
    ``unread`` has the reason if a patch cannot be read.
    """
    start = re.search(_FIRST_HUNK, patch)
    if start is None:
        return Patch(PatchCounts(), (), binary=re.search(_BINARY, patch) is not None)
    body = patch[start.start() :]
    if b"\0" in body:
        return Patch(PatchCounts(), (), binary=True)
    if len(body) > LARGEST:
        return Patch(_rough_counts(body), (), unread=f"The patch has {len(body):,} bytes, too many to draw.")

    returns = body.count(b"\r\n")
    mixed = 0 < returns < body.count(b"\n") - len(re.findall(_OF_GIT, body))
    if returns and not mixed:
        body = body.replace(b"\r\n", b"\n")
    text = body.decode("utf-8", "replace")
    try:
        hunks = tuple(_hunks(text))
    except ValueError as error:
        return Patch(_rough_counts(body), (), unread=f"The patch cannot be read: {cut(visible(str(error)), 200)}")
    endings = 0
    if mixed:
        hunks, endings = _without_line_endings(hunks)
    # Words are counted in whole lines: lines of hunks are truncated and have hidden characters spelled out.
    added, removed = ("\n".join(re.findall(lines, text)) for lines in (_ADDED_LINE, _REMOVED_LINE))
    counts = _counts(hunks)._replace(words=count_words(added) - count_words(removed))
    return Patch(counts=counts, hunks=hunks, line_endings=endings)


def _hunks(body: str) -> Iterator[Hunk]:
    """Yield the hunks of a text that begins with one; raises ValueError if a hunk is longer or shorter than stated."""
    shown = "\r\n".join(map(visible, body.split("\r\n")))  # lines are compared by carriage returns at their ends
    parts = re.split(_HEAD, "\n" + shown.removesuffix("\n"))[1:]
    for old, old_count, new, new_count, section, text in zip(*[iter(parts)] * 6, strict=True):
        old_start, new_start = old_line, new_line = int(old), int(new)
        if len(section.encode()) >= 80:  # where git cuts it, within a word too
            section = f"{section.rpartition(' ')[0] or section}…"
        lines = []
        for line in text.split("\n")[1:]:
            kind = _KINDS.get(line[:1], "context")
            in_old, in_new = kind in ("removed", "context"), kind in ("added", "context")
            numbers = old_line if in_old else None, new_line if in_new else None
            lines.append(PatchLine(kind=kind, text=cut(line[1:]), old=numbers[0], new=numbers[1]))
            old_line, new_line = old_line + in_old, new_line + in_new
        hunk = Hunk(
            section=cut(section, 200),
            old_start=old_start,
            old_count=1 if old_count is None else int(old_count),
            new_start=new_start,
            new_count=1 if new_count is None else int(new_count),
            lines=tuple(lines),
        )
        sides = old_line - old_start, new_line - new_start
        if sides != (hunk.old_count, hunk.new_count):
            raise ValueError(f"a hunk of {hunk.old_count} and {hunk.new_count} lines has {sides[0]} and {sides[1]}.")
        yield hunk


def _without_line_endings(hunks: Iterable[Hunk]) -> tuple[tuple[Hunk, ...], int]:
    """Turn lines that differ only in a carriage return into context, and drop hunks without other changes."""
    changed_hunks, endings = [], 0
    for hunk in hunks:
        lines: list[PatchLine] = []
        for changed, group in groupby(hunk.lines, key=lambda line: line.kind != "context"):
            run = list(group)
            old = [line for line in run if line.kind == "removed"]
            new = [line for line in run if line.kind == "added"]
            if changed and [line.text.rstrip("\r") for line in old] == [line.text.rstrip("\r") for line in new]:
                endings += len(old)
                run = [
                    PatchLine(kind="context", text=b.text, old=a.old, new=b.new) for a, b in zip(old, new, strict=True)
                ]
            lines.extend(line._replace(text=line.text.rstrip("\r")) for line in run)
        if any(line.kind in ("removed", "added") for line in lines):
            changed_hunks.append(replace(hunk, lines=tuple(lines)))
    return tuple(changed_hunks), endings


def _rough_counts(body: bytes) -> PatchCounts:
    return PatchCounts(len(re.findall(_ADDED, body)), len(re.findall(_REMOVED, body)), words=None)


def _counts(hunks: tuple[Hunk, ...]) -> PatchCounts:
    added: list[str] = []
    removed: list[str] = []
    before = after = None
    for hunk in hunks:
        for kind, text, old, new in hunk.lines:
            if kind == "added":
                added.append(text)
                if after is None and new is not None and new <= VERSION_LINES:
                    after = stated_version(text)
            elif kind == "removed":
                removed.append(text)
                if before is None and old is not None and old <= VERSION_LINES:
                    before = stated_version(text)
    raised = before is not None and after is not None and before != after
    return PatchCounts(
        added=len(added),
        removed=len(removed),
        version_before=before,
        version_after=after,
        only_version=raised and [*map(without_version, removed)] == [*map(without_version, added)],
    )


VersionSlip: TypeAlias = Literal["text alone", "version alone"]
"""text alone: the text of a file that states a version changed, but not the version. version alone: the reverse."""


class VersionStep(Frozen):
    """The version that a file states after one edit."""

    version: str | None
    """The version after the edit; None if the file states none, or if it is unknown."""
    slip: VersionSlip | None = None


def version_steps(counts: Iterable[PatchCounts | None]) -> tuple[VersionStep, ...]:
    """Return the version after each edit, oldest first, from the patches.

    After a patch that could not be read (None) the version is unknown until a later patch states it.
    """
    steps: list[VersionStep] = []
    stated: str | None = None
    for count in counts:
        if count is None:
            stated = None
            steps.append(VersionStep(None))
            continue
        before = count.version_before or stated
        stated = count.version_after or (None if count.version_before else before)  # its line may be removed
        emptied = stated is None and count.added == 0
        changed = count.added + count.removed > 0
        slip: VersionSlip | None = None
        if before is not None and count.only_version:
            slip = "version alone"
        elif before is not None and changed and not emptied and stated in (before, None):
            slip = "text alone"
        steps.append(VersionStep(stated, slip))
    return tuple(steps)


def touched_sections(hunks: Iterable[Hunk], old: Outline, new: Outline) -> tuple[str, ...]:
    """Return the sections whose lines a patch removed from the old text or added to the new one, in order.

    Blank lines, and the line in which a file states its version, touch no section.
    """
    paths: dict[str, None] = {}
    for hunk in hunks:
        for kind, text, before, after in hunk.lines:
            number, side = (before, old) if kind == "removed" else (after, new)
            if kind not in ("removed", "added") or number is None or not text.strip():
                continue
            if number > VERSION_LINES or stated_version(text) is None:
                paths.setdefault(side.at(number))
    return tuple(paths)[:MOST_SECTIONS]
