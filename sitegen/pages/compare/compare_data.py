"""The data of the compare page: every cell that was ever wrong, in the page itself and in script files beside it.

The page holds the cells of the newest points, and of those that pages of the site link to. If that is not all of them,
the cells of every point are in *pieces*, files that the browser loads when such a point is chosen. They are classic
scripts like the search index, because ``fetch`` does not exist on ``file://``.

The browser only counts. What was judged of a pair comes as the text that the page shows (``judged``). The fate of a
cell, by its states before and after, comes from a table (``_fates``), and so does the number of uneven flips from which
on they are more than chance (``least_discordant``).
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any, Final, NamedTuple

from sitegen.analysis.best import best_before_newest
from sitegen.analysis.cells import Held, fate_of, held_documents, spans
from sitegen.analysis.noise.changes import flipping_together, independent_flips
from sitegen.analysis.series import variant_spread
from sitegen.model.cells import Cell, Fate, Run, State
from sitegen.model.commits import WORKTREE
from sitegen.model.metrics import MetricSpec
from sitegen.model.regressions import Step
from sitegen.model.series import Point, Series
from sitegen.model.site import RawFile
from sitegen.pages import links
from sitegen.pages.compare.edits_between import editing_commits, shell_word
from sitegen.pages.compare.judged import answer, judge_pairs, judged_pairs
from sitegen.pages.data.scripts import script_file
from sitegen.pages.labels import spread_words
from sitegen.stats.counts import errors_by_type
from sitegen.stats.significance import LEVELS, least_discordant
from sitegen.text.plain import cut
from sitegen.text.values import short_digest, written

FATES: Final[tuple[Fate, ...]] = ("broken", "fixed", "still_wrong", "appeared", "vanished")
"""In the order in which the page lists them; the data holds their index in this tuple."""

STATES: Final[tuple[State, ...]] = (
    "correct",
    "true_negative",
    "omission",
    "hallucination",
    "wrong_value",
    "format_error",
    "absent",
)
"""The data holds their index in this tuple; 2 to 5 are errors."""

BOUND: Final = 250_000
"""Most characters of the data in the page, and about the size of a piece."""

MOST: Final = 4_000_000
"""The approximate greatest number of characters of all pieces together. Beyond it the oldest points are in no piece."""

POINTS: Final = 5_000
"""Most points that can be chosen, the newest."""

FEWEST: Final = 2
"""Fewest points that can be compared."""

EDITS: Final = 200
"""Most commits that edited instructions that the page can name, the newest."""

_ENTRY: Final = 16
"""Characters of a run in the data, about."""
_POINT: Final = 400
"""Characters of a point in the data, about."""


class CompareData(NamedTuple):
    """What the script of the compare page reads."""

    page: dict[str, Any] | None
    """In the page; None if there is no choice."""
    pieces: tuple[RawFile, ...] = ()
    """Beside the page, the oldest points first; empty if the page has all points, or if these would be too large."""
    choosable: int = 0
    """Number of points that can be compared with any other of them; 0 if only the pairs of the page can be."""


class _Source(NamedTuple):
    """What all blocks of an eval are made from."""

    eval_id: str
    length: int
    """Number of points."""
    cells: Sequence[Cell]
    """Those that were ever wrong: all others are right on both sides of any pair."""
    held: Held


def compare_data(series: Series, steps: Iterable[Step] = ()) -> CompareData:
    """The data of an eval; ``steps`` are the changes of its level, whose points other pages link to."""
    last = len(series.points) - 1
    if last + 1 < FEWEST:
        return CompareData(None)
    steps = tuple(steps)
    best = best_before_newest(series.points, series.specs[0])
    judges = _judges(series.points)
    details = [_point_block(series, point, judge) for point, judge in zip(series.points, judges, strict=True)]
    anchors = {0, last - 1, last, last - 1 if best is None else best}
    linked = anchors | {place for step in steps for place in (step.before, step.at)}
    source = _Source(
        eval_id=series.info.id,
        length=last + 1,
        cells=[cell for cell in series.cells.cells if any(run.is_wrong for run in cell.runs)],
        held=held_documents(series.cells),
    )
    sizes = _sizes(source.cells, last + 1)
    embedded, block = _embedded_block(source, details, sizes, (linked, anchors))
    ranges = () if len(embedded) == last + 1 else _piece_ranges(sizes)
    pieces = _pieces(source, details, ranges)
    piece_of = {place: number for number, places in enumerate(ranges) for place in places}
    first = max(0, last + 1 - POINTS)
    held = set(embedded)
    listed = [place for place in range(last + 1) if place >= first or place in held]
    page = {
        "points": [
            {**details[place], **({"piece": piece_of[place]} if place in piece_of else {})}
            if place in held
            else _short_point(details[place], piece_of.get(place))
            for place in listed
        ],
        "older": last + 1 - len(listed),
        "best": details[last - 1 if best is None else best]["slug"],
        "judged": _answers(series, judged_pairs(last - 1 if best is None else best, last, embedded, steps)),
        **_edit_lists(series, listed),
        "metrics": [[spec.label, int(spec.higher_is_better), spec.unit, int(is_share(spec))] for spec in series.specs],
        **_graded_metric_places(series),
        "noun": series.info.nouns.documents,
        "attribute": [
            noun[:1].upper() + noun[1:] for noun in (series.info.nouns.attribute, series.info.nouns.attributes)
        ],
        "fates": [_fates(held=False), _fates(held=True)],
        "errors": list(series.info.nouns.errors),
        "letters": list(series.info.nouns.letters),
        "block": block,
    }
    return CompareData(page, pieces, len(piece_of) or len(embedded))


def is_share(spec: MetricSpec) -> bool:
    """Whether a metric runs from 0 to 1, so that its values can be drawn as bars of one scale."""
    return not spec.unit and (spec.low, spec.high) == (0.0, 1.0)


def _answers(series: Series, pairs: Sequence[tuple[int, int]]) -> dict[str, str]:
    """Safe HTML for each judged pair, by both slugs: the word for the change, its reason and its interval."""
    points, info, spec = series.points, series.info, series.specs[0]
    return {
        f"{points[a].snapshot.slug} {points[b].snapshot.slug}": answer(
            info, spec, points[a].snapshot.label, points[b].snapshot.label, verdict
        )
        for (a, b), verdict in zip(pairs, judge_pairs(series, pairs), strict=True)
    }


def _edit_lists(series: Series, listed: Sequence[int]) -> dict[str, Any]:
    """The commits that edited instructions, each before one of the listed points, and the paths that they edited."""
    commits = editing_commits(series)
    named = commits[-EDITS:]
    paths = {path: index for index, path in enumerate(dict.fromkeys(path for row in named for path in row.paths))}
    edits = [
        [
            bisect_left(listed, row.point),
            row.commit.short,
            row.page,
            cut(row.commit.subject, 120),
            [paths[path] for path in row.paths],
        ]
        for row in named
    ]
    return {"edits": edits, "paths": list(map(shell_word, paths)), "unnamed": len(commits) - len(named)}


class _Sizes(NamedTuple):
    """About how many characters the data of an eval has, so that what is too large is not made first."""

    base: int
    """What names its cells."""
    points: tuple[int, ...]
    """Of each point: what it states itself, and the runs that begin at it."""


def _sizes(cells: Iterable[Cell], count: int) -> _Sizes:
    texts: set[str] = set()
    sizes, base = [_POINT] * count, 0
    for cell in cells:
        base += len(cell.label) + 2 * _ENTRY
        for run in cell.runs:
            new = {run.expected, run.actual} - texts
            texts |= new
            sizes[run.start] += _ENTRY + sum(len(text) + 4 for text in new)
    return _Sizes(base, tuple(sizes))


def _embedded_block(
    source: _Source, details: Sequence[dict[str, Any]], sizes: _Sizes, linked: Iterable[set[int]]
) -> tuple[tuple[int, ...], dict[str, Any] | None]:
    """As many of the newest points as fit into the page beside those of the first of the sets that fits."""
    count = len(details)
    likely = sum(size <= BOUND * 3 // 2 for size in accumulate(reversed(sizes.points), initial=sizes.base)) - 1
    for places in linked:
        newest = max(0, likely)
        while True:
            chosen = tuple(sorted({*places, *range(count - newest, count)}))
            block = _block(source, chosen, _wrong_at(source.cells, count, chosen), _Texts())
            if len(json.dumps(([details[place] for place in chosen], block), ensure_ascii=False)) <= BOUND:
                return chosen, block
            if not newest:
                break
            newest = newest * 3 // 4 if newest > FEWEST else 0
    return (), None


def _piece_ranges(sizes: _Sizes) -> tuple[range, ...]:
    """The points of each piece, oldest first. Borders stay where they are as long as no more cells become wrong."""
    if sizes.base > MOST // 8:
        return ()
    borders, size = [0], sizes.base
    for place, own in enumerate(sizes.points):
        if size + own > BOUND and place > borders[-1] and size > 2 * sizes.base:
            borders.append(place)
            size = sizes.base
        size += own
    ranges = [range(*ends) for ends in zip(borders, [*borders[1:], len(sizes.points)], strict=True)]
    totals = accumulate(sizes.base + sum(sizes.points[places.start : places.stop]) for places in reversed(ranges))
    fitting = sum(total <= MOST for total in totals)
    return tuple(ranges[len(ranges) - fitting :])


def _pieces(source: _Source, details: Sequence[dict[str, Any]], ranges: Sequence[range]) -> tuple[RawFile, ...]:
    """The files: each has the same cells in the same order, and the same number for the same text."""
    stamp = short_digest(json.dumps([cell.key for cell in source.cells]))
    texts = _Texts()
    return tuple(
        script_file(
            links.compare_piece(source.eval_id, number),
            "COMPARE",
            {
                "piece": number,
                "stamp": stamp,
                "points": [details[place] for place in places],
                "block": _block(source, places, source.cells, texts),
            },
        )
        for number, places in enumerate(ranges)
    )


def _block(source: _Source, places: Sequence[int], cells: Sequence[Cell], texts: _Texts) -> dict[str, Any]:
    """The states of some cells at some points, which are counted from 0 within the block."""
    place_of = {document: index for index, document in enumerate(source.held)}
    fields = {attribute: index for index, attribute in enumerate(dict.fromkeys(cell.attribute for cell in cells))}
    lists = {name: index for index, name in enumerate(dict.fromkeys(map(flipping_together, fields)))}
    most = independent_flips(tuple(Counter(cell.attribute for cell in cells).items()))
    used: dict[int, str | None] = {}
    rows = [
        [
            place_of[cell.document],
            fields[cell.attribute],
            cell.label,
            int(cell.extra),
            [
                number
                for place, run in _runs_at(cell, source.length, places)
                for number in (
                    place,
                    STATES.index(run.state),
                    texts.place(run.expected, used),
                    texts.place(run.actual, used),
                )
            ],
        ]
        for cell in cells
    ]
    return {
        "documents": list(source.held),
        "held": [_switches([held[place] for place in places]) for held in source.held.values()],
        "fields": [
            [attribute, links.field(source.eval_id, attribute).rpartition("/")[2], lists[flipping_together(attribute)]]
            for attribute in fields
        ],
        "below": [[level, least_discordant(level, most)] for level in LEVELS],
        "cells": rows,
        "texts": list(used.values()) if list(used) == list(range(len(used))) else used,
    }


def _fates(*, held: bool) -> list[list[int | None]]:
    """The fate of a cell by its states before and after; None if it is wrong at neither point."""
    runs = [Run(start=0, state=state, expected="", actual="") for state in STATES]
    fates = ((fate_of(before, after, held) for after in runs) for before in runs)
    return [[None if fate is None else FATES.index(fate) for fate in row] for row in fates]


def _judges(points: Sequence[Point]) -> list[str]:
    """The judges of each point, with a digest of those rubrics that ever changed.

    A document keeps its last rubric while points lack it, so that points that only hold fewer documents compare equal.
    """
    rubrics = [
        {document.id: document.rubric for document in point.scorecard.documents if document.rubric} for point in points
    ]
    first = {name: rubric for of_point in reversed(rubrics) for name, rubric in of_point.items()}
    changed = dict.fromkeys(name for of_point in rubrics for name, rubric in of_point.items() if rubric != first[name])
    current, judges_by_point = {name: first[name] for name in changed}, []
    for point, own in zip(points, rubrics, strict=True):
        current |= {name: own[name] for name in changed if name in own}
        judges = point.scorecard.usage.judges if point.scorecard.usage else ()
        digest = f"rubrics {short_digest(' '.join(current.values()))}" if current and own else ""
        judges_by_point.append(", ".join(filter(None, (", ".join(judges)[:160], digest))))
    return judges_by_point


def _graded_metric_places(series: Series) -> dict[str, list[int]]:
    """Indices of metrics that a judge graded, which cannot be compared between judges; empty if there are none."""
    graded = {name for point in series.points if point.scorecard.usage for name in point.scorecard.usage.graded}
    return {"graded": [place for place, spec in enumerate(series.specs) if spec.name in graded]} if graded else {}


def _wrong_at(cells: Iterable[Cell], count: int, places: Sequence[int]) -> list[Cell]:
    """The cells that are wrong at any of these points: all others are right on both sides of any pair of them."""
    return [cell for cell in cells if any(run.is_wrong for _, run in _runs_at(cell, count, places))]


def _runs_at(cell: Cell, count: int, places: Sequence[int]) -> Iterator[tuple[int, Run]]:
    """The runs of a cell that include one of these points, each with the index of the first of these in ``places``."""
    for run, end in spans(cell, count):
        first = bisect_left(places, run.start)
        if first < len(places) and places[first] < end:
            yield first, run


def _switches(held: Sequence[int]) -> list[int]:
    """The points at which a document appears or vanishes; before the first point there is none."""
    return [index for index, here in enumerate(held) if here != (held[index - 1] if index else 0)]


def _short_point(details: dict[str, Any], piece: int | None) -> list[Any]:
    """A point that the page can name, and whose cells are in a piece, or nowhere."""
    value = details["values"][0]
    rounded = None if value is None else float(f"{value:.6g}")
    row = [details["slug"], details["label"], details["day"], details["again"], rounded, piece]
    return [*row, details["same"]] if "same" in details else row


def _point_block(series: Series, point: Point, judge: str) -> dict[str, Any]:
    at, card = point.snapshot, point.scorecard
    first = point.first_with_output
    spread = variant_spread(series.info.kind, series.specs[0], card)
    return {
        "slug": at.slug,
        "label": at.label,
        "commit": ""
        if at.commit.sha == WORKTREE
        else links.up(links.compare(series.info.id)) + links.commit(at.commit.sha),
        "short": at.commit.short,
        "day": at.commit.committed_at[:10],
        "subject": cut(at.commit.subject, 160),
        "again": int("outputs" not in at.cause),
        "values": [card.metric(spec.name) for spec in series.specs],
        "errors": errors_by_type(card.counts),
        **({"model": ", ".join(card.usage.models)[:160]} if card.usage and card.usage.models else {}),
        **({"judge": judge} if judge else {}),
        **({} if first is None else {"same": series.points[first].snapshot.slug}),
        **({"averaged": spread_words(spread)} if spread else {}),
        "ends": point.interval and [round(point.interval.low, 3), round(point.interval.high, 3)],
    }


class _Texts:
    """Numbers texts; equal numbers mean equal values, in all blocks that share the numbering."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}

    def place(self, text: str, used: dict[int, str | None]) -> int:
        """The number of a text, which is added to the texts that a block uses, as the page shows it."""
        place = self._places.setdefault(text, len(self._places))
        if place not in used:
            used[place] = written(text)
        return place
