"""The data of the compare page: every cell that was ever wrong, over the newest points of an eval.

The browser only counts. The fate of a cell, by its states before and after, comes from a table (``_fates``), and so
does the number of uneven flips from which on they are more than chance (``least_discordant``).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from sitegen.analysis.best import best_before_newest
from sitegen.analysis.cells import fate_of, held_documents
from sitegen.analysis.noise.changes import flipping_together, independent_flips
from sitegen.html.values import written
from sitegen.model.cells import Cell, CellMap, Fate, Run, State
from sitegen.model.commits import WORKTREE
from sitegen.model.series import Point, Series
from sitegen.pages import links
from sitegen.stats.counts import errors_by_type
from sitegen.stats.significance import LEVELS, least_discordant
from sitegen.text.plain import cut
from sitegen.text.values import short_digest

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
"""Most characters of the data; if there are more, the oldest points are left out until it fits."""

MOST: Final = 500
"""Most points that can be chosen."""

FEWEST: Final = 3
"""Fewest points that leave a choice."""


def compare_data(series: Series) -> dict[str, Any] | None:
    """The data of as many of the newest points as fit; None if fewer than ``FEWEST`` do."""
    count = min(len(series.points), MOST)
    while count >= FEWEST:
        data = _series_block(series, len(series.points) - count)
        if len(json.dumps(data, ensure_ascii=False)) <= BOUND:
            return data
        count //= 2
    return None


def _series_block(series: Series, first: int) -> dict[str, Any]:
    """The data from point ``first`` on. Indices of points count from there; a run that began earlier starts at 0."""
    cells = CellMap(series.cells.points, tuple(_ever_wrong(series.cells.cells, first)))
    documents = held_documents(series.cells)
    place = {document: index for index, document in enumerate(documents)}
    fields = dict.fromkeys(cell.attribute for cell in cells.cells)
    at = {attribute: index for index, attribute in enumerate(fields)}
    lists = {name: index for index, name in enumerate(dict.fromkeys(map(flipping_together, fields)))}
    most = independent_flips(tuple(Counter(cell.attribute for cell in cells.cells).items()))
    last = len(series.points) - 1
    best = best_before_newest(series.points[first:], series.specs[0])
    texts = _Texts()
    rows = [
        [
            place[cell.document],
            at[cell.attribute],
            cell.label,
            int(cell.extra),
            [
                number
                for run in _from(cell, first)
                for number in (
                    max(0, run.start - first),
                    STATES.index(run.state),
                    texts.place(run.expected),
                    texts.place(run.actual),
                )
            ],
        ]
        for cell in cells.cells
    ]
    points = [
        _point_block(series, point, judge) for point, judge in zip(series.points, _judges(series.points), strict=True)
    ]
    return {
        "points": points[first:],
        "best": last - first - 1 if best is None else best,
        "metrics": [
            [spec.label, int(spec.higher_is_better), *([spec.unit] if spec.unit else [])] for spec in series.specs
        ],
        **_graded_metric_places(series),
        "noun": series.info.nouns.documents,
        "documents": list(documents),
        "held": [_switches(held[first:]) for held in documents.values()],
        "fields": [
            [attribute, links.field(series.info.id, attribute).rpartition("/")[2], lists[flipping_together(attribute)]]
            for attribute in fields
        ],
        "fates": [_fates(held=False), _fates(held=True)],
        "below": [[level, least_discordant(level, most)] for level in LEVELS],
        "errors": list(series.info.nouns.errors),
        "letters": list(series.info.nouns.letters),
        "cells": rows,
        "texts": texts.written,
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


def _ever_wrong(cells: Iterable[Cell], first: int) -> Iterator[Cell]:
    """The cells that are wrong at any point from ``first`` on: all others are right on both sides of any pair."""
    return (cell for cell in cells if any(run.is_wrong for run in _from(cell, first)))


def _from(cell: Cell, first: int) -> tuple[Any, ...]:
    """The runs that include point ``first`` or begin later."""
    later = [index for index, run in enumerate(cell.runs) if run.start > first]
    return cell.runs[max(0, (later[0] if later else len(cell.runs)) - 1) :]


def _switches(held: bytearray) -> list[int]:
    """The points at which a document appears or vanishes; before the first point there is none."""
    return [index for index, here in enumerate(held) if here != (held[index - 1] if index else 0)]


def _point_block(series: Series, point: Point, judge: str) -> dict[str, Any]:
    at, card = point.snapshot, point.scorecard
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
        "ends": point.interval and [round(point.interval.low, 3), round(point.interval.high, 3)],
    }


class _Texts:
    """Collects each text once; equal places mean equal values."""

    def __init__(self) -> None:
        self.written: list[str | None] = []
        self._places: dict[str, int] = {}

    def place(self, text: str) -> int:
        place = self._places.get(text)
        if place is None:
            place = self._places[text] = len(self.written)
            self.written.append(written(text))
        return place
