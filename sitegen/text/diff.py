"""A patch as the rows that a page draws: lines side by side, changed words marked, everything bounded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final, Literal, NamedTuple

from sitegen.text.markdown import passage
from sitegen.text.pairing import pair
from sitegen.text.patch import Hunk, Patch, PatchLine
from sitegen.text.words import Spans, WordSpan, mark

MOST_LINES: Final = 2_000
"""Lines of a patch that a page draws."""

MOST_MARKED: Final = 100_000
"""Characters of rewritten lines in which words are compared; the rest is shown without marks."""


class DiffRow(NamedTuple):
    """One row of a diff. A change may have one side only."""

    kind: Literal["hunk", "context", "change", "remark"]
    old_line: int | None = None
    new_line: int | None = None
    old: Spans | None = None
    """The text of the old side; of a hunk or a remark, its text."""
    new: Spans | None = None


class Diff(NamedTuple):
    """What of a patch is drawn."""

    rows: tuple[DiffRow, ...]
    passages: tuple[str, ...]
    """Each hunk rendered as Markdown: safe HTML."""
    left_out: int
    """Lines of the patch that are not drawn."""


def draw(patch: Patch) -> Diff:
    """The first ``MOST_LINES`` lines of a patch as rows and as rendered passages."""
    hunks, left_out = _bounded(patch.hunks)
    return Diff(tuple(_rows(hunks)), tuple(rendered(hunk) for hunk in hunks), left_out)


def _bounded(hunks: Sequence[Hunk]) -> tuple[list[Hunk], int]:
    kept: list[Hunk] = []
    room = MOST_LINES
    for hunk in hunks:
        if room > 0:
            kept.append(hunk if len(hunk.lines) <= room else hunk._replace(lines=hunk.lines[:room]))
        room -= len(hunk.lines)
    return kept, max(0, -room)


def _rows(hunks: Iterable[Hunk]) -> Iterator[DiffRow]:
    budget = MOST_MARKED
    for hunk in hunks:
        place = f"@@ −{hunk.old_start},{hunk.old_count} +{hunk.new_start},{hunk.new_count} @@ {hunk.section}".rstrip()
        yield DiffRow("hunk", old=(WordSpan(place, False),))
        for context, group in groupby(hunk.lines, key=_is_context):
            if context:
                for _, text, old_line, new_line in group:
                    yield DiffRow("context", old_line, new_line, same := (WordSpan(text, False),), same)
                continue
            run = list(group)
            yield from _change_rows(run, budget)
            budget -= sum(len(line.text) for line in run)


def _is_context(line: PatchLine) -> bool:
    return line.kind == "context"


def _change_rows(run: Sequence[PatchLine], budget: int) -> Iterator[DiffRow]:
    """Rows of neighbouring removed and added lines; words are marked as long as the budget of characters lasts."""
    removed = [line for line in run if line.kind == "removed"]
    added = [line for line in run if line.kind == "added"]
    for i, j, alike in pair([line.text for line in removed], [line.text for line in added]):
        old = removed[i] if i is not None else None
        new = added[j] if j is not None else None
        if alike and old is not None and new is not None and len(old.text) + len(new.text) <= budget:
            budget -= len(old.text) + len(new.text)
            yield DiffRow("change", old.old, new.new, *mark(old.text, new.text))
        else:
            yield DiffRow("change", old and old.old, new and new.new, _plain(old), _plain(new))
    for line in run:
        if line.kind == "remark":
            yield DiffRow("remark", old=(WordSpan(line.text.strip(), False),))


def _plain(line: PatchLine | None) -> Spans | None:
    return None if line is None else (WordSpan(line.text, False),)


def rendered(hunk: Hunk) -> str:
    """The passage as it is after the edit, rendered, with what was removed from it struck."""
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
