"""Reads the patch of one file, and draws it as rows: lines side by side, with the words that differ marked.

It also tells which version the file states after each patch, and the sections that a patch touches. All is bounded.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Final, Literal, NamedTuple, TypeAlias

from msgspec.structs import replace

from sitegen.model.frozen import Frozen
from sitegen.text.plain import cut, visible
from sitegen.text.sections import MOST_SECTIONS, VERSION_LINES, Outline, count_words, stated_version, without_version
from sitegen.text.words import Spans, WordSpan, mark

READ_BYTES: Final = 2_000_000
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
    if len(body) > READ_BYTES:
        return Patch(_rough_counts(body), (), unread=f"The patch has more than {READ_BYTES:,} bytes, too many to draw.")

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


MOST_LINES: Final = 2_000
"""The most lines of a patch that a page draws."""

_MOST_MARKED: Final = 100_000
"""The most characters of rewritten lines in which words are compared; the rest is shown without marks."""


class DiffRow(NamedTuple):
    """A row of a diff. A change may have only one side."""

    kind: Literal["hunk", "context", "change", "remark"]
    old_line: int | None = None
    new_line: int | None = None
    old: Spans | None = None
    """The text of the old side, of both sides of a context line, or of a hunk or a remark."""
    new: Spans | None = None


def draw(patch: Patch) -> tuple[tuple[DiffRow, ...], tuple[Hunk, ...], int]:
    """Draw the first ``MOST_LINES`` lines of a patch as rows.

    Returns the rows, their hunks, of which the last may be truncated, and the number of lines that are left out.
    """
    hunks: list[Hunk] = []
    room = MOST_LINES
    for hunk in patch.hunks:
        if room > 0:
            hunks.append(hunk if len(hunk.lines) <= room else replace(hunk, lines=hunk.lines[:room]))
        room -= len(hunk.lines)
    return tuple(_rows(hunks)), tuple(hunks), max(0, -room)


def _rows(hunks: Iterable[Hunk]) -> Iterator[DiffRow]:
    budget = _MOST_MARKED
    for hunk in hunks:
        place = f"@@ −{hunk.old_start},{hunk.old_count} +{hunk.new_start},{hunk.new_count} @@ {hunk.section}".rstrip()
        yield DiffRow("hunk", old=(WordSpan(place, False),))
        for context, group in groupby(hunk.lines, key=lambda line: line.kind == "context"):
            if context:
                for _, text, old_line, new_line in group:
                    same = (WordSpan(text, False),)
                    yield DiffRow(kind="context", old_line=old_line, new_line=new_line, old=same)
                continue
            run = list(group)
            yield from _change_rows(run, budget)
            budget -= sum(len(line.text) for line in run)


def _change_rows(run: Sequence[PatchLine], budget: int) -> Iterator[DiffRow]:
    """Yield rows of neighbouring removed and added lines, with words marked up to the budget of characters."""
    removed = [line for line in run if line.kind == "removed"]
    added = [line for line in run if line.kind == "added"]
    for i, j, alike in pair([line.text for line in removed], [line.text for line in added]):
        old = removed[i] if i is not None else None
        new = added[j] if j is not None else None
        if alike and old is not None and new is not None and len(old.text) + len(new.text) <= budget:
            budget -= len(old.text) + len(new.text)
            before, after = mark(old.text, new.text)
            yield DiffRow(kind="change", old_line=old.old, new_line=new.new, old=before, new=after)
        else:
            yield DiffRow(
                kind="change",
                old_line=old and old.old,
                new_line=new and new.new,
                old=old and (WordSpan(old.text, False),),
                new=new and (WordSpan(new.text, False),),
            )
    for line in run:
        if line.kind == "remark":
            yield DiffRow("remark", old=(WordSpan(line.text.strip(), False),))


def rendered(hunk: Hunk) -> str:
    """Render the passage after the edit, with removed text struck through."""
    from sitegen.text.markdown import passage

    lines: list[str] = []
    changed: list[int] = []
    gone: dict[int, list[str]] = {}
    for kind, text, _, _ in hunk.lines:
        if kind == "removed":
            gone.setdefault(len(lines), []).append(text)
        elif kind != "remark":
            if kind == "added":
                changed.append(len(lines))
            lines.append(text)
    return passage(lines, changed, gone, starts_file=hunk.new_start <= 1)


LEAST: Final = 0.45
"""The least similarity at which an added line counts as a removed line rewritten."""

MOST_PAIRS: Final = 2_500
"""The greatest product of removed and added lines that are compared; above it a passage counts as rewritten."""

_COMPARED: Final = 500  # the most characters of a line that are compared


def pair(removed: Sequence[str], added: Sequence[str]) -> list[tuple[int | None, int | None, bool]]:
    """Pair the removed and the added lines of a change. Each line occurs once, and both sides keep their order.

    A row holds the index of a removed line, that of an added line, and whether the latter is the former rewritten.
    Otherwise they only share a row, or one of them is None.

    Lines that are alike share a row, chosen so that the sum of similarities is largest. Between such rows, the
    remaining lines of both sides share rows from the top.
    """
    rows: list[tuple[int | None, int | None, bool]] = []
    at_removed = at_added = 0
    for i, j in [*_alike(removed, added), (len(removed), len(added))]:
        while at_removed < i or at_added < j:
            left = at_removed if at_removed < i else None
            right = at_added if at_added < j else None
            rows.append((left, right, False))
            at_removed += left is not None
            at_added += right is not None
        if i < len(removed):
            rows.append((i, j, True))
            at_removed, at_added = i + 1, j + 1
    return rows


def _alike(removed: Sequence[str], added: Sequence[str]) -> list[tuple[int, int]]:
    """Return the order-preserving alignment with the largest sum of similarities, as index pairs."""
    if not removed or not added or len(removed) * len(added) > MOST_PAIRS:
        return []
    from rapidfuzz import fuzz

    left = [line.strip()[:_COMPARED] for line in removed]
    right = [line.strip()[:_COMPARED] for line in added]
    likeness = [[fuzz.ratio(a, b, score_cutoff=100 * LEAST) / 100 if a and b else 0.0 for b in right] for a in left]
    n, m = len(left), len(right)
    best = [[0.0] * (m + 1) for _ in range(n + 1)]
    for i in range(n - 1, -1, -1):
        row, below, here = likeness[i], best[i + 1], best[i]
        for j in range(m - 1, -1, -1):
            value = below[j] if below[j] > here[j + 1] else here[j + 1]
            if row[j]:
                value = max(value, row[j] + below[j + 1])
            here[j] = value
    pairs = []
    i = j = 0
    while i < n and j < m:
        if likeness[i][j] and best[i][j] == likeness[i][j] + best[i + 1][j + 1]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return pairs
