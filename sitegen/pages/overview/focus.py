"""Which errors to work on: by section of the schema, the newest, and those that stand longest; of one eval, of all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Final, NamedTuple

from sitegen.model.series import EvalInfo, EvalSummary, Focus, Point, Series, Streak, WeakSection
from sitegen.pages.report.sections import grouping, sections

KEPT: Final = 12
"""Entries of each list that are kept of an eval."""
SHOWN: Final = 6
"""Entries of each list on the overview."""


class WeakRow(NamedTuple):
    """A section with its errors in all evals."""

    name: str
    errors: tuple[int, ...]
    judged: int
    evals: tuple[EvalInfo, ...]


class BrokenRow(NamedTuple):
    """A field that newest outputs got wrong and those before them right."""

    attribute: str
    cells: int
    evals: tuple[EvalInfo, ...]


class StreakRow(NamedTuple):
    """A field of one eval that has been wrong for long."""

    info: EvalInfo
    streak: Streak


class FocusView(NamedTuple):
    """What to work on, over all evals."""

    sections: tuple[WeakRow, ...]
    broken: tuple[BrokenRow, ...]
    longest: tuple[StreakRow, ...]
    largest: int
    """The most errors of any section: the length of a full bar."""


def focus_of(series: Series) -> Focus:
    """The focus of one eval."""
    points = series.points
    if not points:
        return Focus()
    fields = points[-1].scorecard.fields
    found = sections(fields, grouping(series.info, fields))
    weak = sorted((one for one in found if sum(one.errors)), key=lambda one: (-sum(one.errors), one.name))
    return Focus(
        tuple(WeakSection(one.name, one.errors, one.judged) for one in weak[:KEPT]),
        _broken_fields(points),
        _longest(series),
    )


def focus_view(summaries: Iterable[EvalSummary]) -> FocusView | None:
    """Of all evals that are not deleted; None if nothing is wrong anywhere."""
    alive = [summary for summary in summaries if not summary.deleted]
    weak = _weak_rows(alive)
    if not weak:
        return None
    streaks = [StreakRow(summary.info, one) for summary in alive for one in summary.focus.longest]
    streaks.sort(key=lambda row: (-row.streak.outputs, -row.streak.cells, row.info.id, row.streak.attribute))
    return FocusView(
        sections=weak,
        broken=_broken_rows(alive),
        longest=tuple(streaks[:SHOWN]),
        largest=max(sum(row.errors) for row in weak),
    )


def _broken_fields(points: Sequence[Point]) -> tuple[tuple[str, int], ...]:
    """Of the newest point that brought an output."""
    newest = next((point for point in reversed(points) if "outputs" in point.snapshot.cause), None)
    return newest.flips.broken[:KEPT] if newest and newest.flips else ()


def _longest(series: Series) -> tuple[Streak, ...]:
    """The streaks that hold at the newest point; an attribute counts by its longest."""
    last = len(series.points) - 1
    made = list(accumulate("outputs" in point.snapshot.cause for point in series.points))
    starts: dict[str, list[int]] = {}
    for cell in series.cells.cells:
        since = cell.wrong_since(last)
        if since is not None:
            starts.setdefault(cell.attribute, []).append(since)
    together: dict[tuple[int, str], list[tuple[int, str]]] = {}
    group = grouping(series.info, series.points[-1].scorecard.fields)
    for attribute, some in starts.items():
        start = min(some)
        together.setdefault((start, group(attribute)), []).append((-some.count(start), attribute))
    streaks = []
    for (start, _), fields in together.items():
        at = series.points[start].snapshot
        outputs = made[last] - (made[start - 1] if start else 0)
        _, attribute = min(fields)
        streaks.append(
            Streak(
                attribute=attribute,
                more=len(fields) - 1,
                cells=-sum(few for few, _ in fields),
                since=at.label,
                slug=at.slug,
                outputs=outputs,
            )
        )
    return tuple(sorted(streaks, key=lambda one: (-one.outputs, -one.cells, one.attribute))[:KEPT])


def _weak_rows(summaries: Iterable[EvalSummary]) -> tuple[WeakRow, ...]:
    rows: dict[str, WeakRow] = {}
    for summary in summaries:
        for section in summary.focus.sections:
            row = rows.get(
                section.name, WeakRow(name=section.name, errors=(0,) * len(section.errors), judged=0, evals=())
            )
            errors = tuple(a + b for a, b in zip(row.errors, section.errors, strict=True))
            rows[section.name] = WeakRow(
                name=section.name, errors=errors, judged=row.judged + section.judged, evals=(*row.evals, summary.info)
            )
    return tuple(sorted(rows.values(), key=lambda row: (-sum(row.errors), row.name))[:SHOWN])


def _broken_rows(summaries: Iterable[EvalSummary]) -> tuple[BrokenRow, ...]:
    rows: dict[str, BrokenRow] = {}
    for summary in summaries:
        for attribute, cells in summary.focus.broken:
            row = rows.get(attribute, BrokenRow(attribute, 0, ()))
            rows[attribute] = BrokenRow(attribute, row.cells + cells, (*row.evals, summary.info))
    return tuple(sorted(rows.values(), key=lambda row: (-row.cells, row.attribute))[:SHOWN])
