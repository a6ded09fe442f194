"""Turns a patch into rows for a page: lines side by side, with changed words marked and all sizes bounded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final, Literal, NamedTuple

from msgspec.structs import replace

from sitegen.model.frozen import Frozen
from sitegen.text.patch import Hunk, Patch, PatchLine
from sitegen.text.words import Spans, WordSpan, mark

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


class Diff(Frozen):
    """The part of a patch that a page draws."""

    rows: tuple[DiffRow, ...]
    hunks: tuple[Hunk, ...]
    """The drawn hunks; the last one may be truncated."""
    left_out: int
    """Number of lines of the patch that are not drawn."""


def draw(patch: Patch) -> Diff:
    """Draw the first ``MOST_LINES`` lines of a patch as rows."""
    hunks: list[Hunk] = []
    room = MOST_LINES
    for hunk in patch.hunks:
        if room > 0:
            hunks.append(hunk if len(hunk.lines) <= room else replace(hunk, lines=hunk.lines[:room]))
        room -= len(hunk.lines)
    return Diff(rows=tuple(_rows(hunks)), hunks=tuple(hunks), left_out=max(0, -room))


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

_COMPARED: Final = 500
"""The most characters of a line that are compared."""


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
