"""Which errors to work on: by section of the schema, newly broken ones, and the oldest; for one eval and for all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import add
from typing import Final
from urllib.parse import quote

from msgspec.structs import replace

from sitegen.analysis.copies import output_of_each, repeats_the_point_before
from sitegen.frozen import Frozen
from sitegen.model.error_summaries import Focus, Streak
from sitegen.model.series import EvalInfo, EvalSummary, Point, Series
from sitegen.pages import links
from sitegen.pages.report.numbers import grouping, sections
from sitegen.pages.report.patterns import PatternWords, pattern_words

OF_EVAL: Final = 12
"""Number of entries in each list of the focus of one eval."""
LISTED: Final = 6
"""Number of entries in each list on the overview."""
PATTERNS: Final = 3
"""Number of evals whose error pattern the overview names."""


class EvalLink(Frozen):
    """An eval in a row, and where its name leads."""

    info: EvalInfo
    address: str
    """Address relative to the root of the site."""


class WeakRow(Frozen):
    """A section of the schema with its errors in all evals."""

    name: str
    errors: tuple[int, ...]
    judged: int
    evals: tuple[EvalLink, ...]
    """The evals with the errors of the section in their newest report."""


class BrokenRow(Frozen):
    """A field that is wrong in the newest outputs of evals, and right in the previous ones."""

    attribute: str
    cells: int
    evals: tuple[EvalLink, ...]
    """The evals with their trends."""


class PatternOfEval(Frozen):
    """The error pattern that explains most errors of the newest output of an eval."""

    info: EvalInfo
    words: PatternWords
    address: str
    """Address relative to the root of the site."""


class FocusView(Frozen):
    """What to work on in all evals."""

    sections: tuple[WeakRow, ...]
    broken: tuple[BrokenRow, ...]
    longest: tuple[tuple[EvalInfo, Streak], ...]
    """The longest streaks of errors that last to the newest output."""
    largest: int
    """Largest number of errors of a section: the length of a full bar."""
    patterns: tuple[PatternOfEval, ...] = ()
    """The error patterns with the most errors."""


def focus_of(series: Series) -> Focus:
    """The focus of one eval."""
    points = series.points
    if not points:
        return Focus()
    fields = points[-1].scorecard.fields
    weak = [section for section in sections(fields, grouping(series.info, fields)) if sum(section.errors)]
    weak.sort(key=lambda section: (-sum(section.errors), section.name))
    return Focus(
        tuple(weak[:OF_EVAL]),
        _broken_fields(points),
        _longest(series),
    )


def focus_view(summaries: Iterable[EvalSummary]) -> FocusView | None:
    """The focus over all evals that are not deleted; None if nothing is wrong anywhere."""
    alive = [summary for summary in summaries if not summary.deleted]
    weak = _weak_rows(alive)
    if not weak:
        return None
    streaks = [(summary.info, streak) for summary in alive for streak in summary.focus.longest]
    streaks.sort(key=lambda row: (-row[1].outputs, -row[1].cells, row[0].id, row[1].attribute))
    return FocusView(
        sections=weak,
        broken=_broken_rows(alive),
        longest=tuple(streaks[:LISTED]),
        largest=max(sum(row.errors) for row in weak),
        patterns=most_costly_patterns(alive),
    )


def most_costly_patterns(summaries: Iterable[EvalSummary]) -> tuple[PatternOfEval, ...]:
    """The largest error pattern of each eval, most errors first; at most ``PATTERNS``."""
    with_patterns = [summary for summary in summaries if summary.patterns]
    with_patterns.sort(key=lambda summary: (-summary.patterns[0].errors, summary.info.id))
    return tuple(
        PatternOfEval(
            info=summary.info,
            words=pattern_words(summary.patterns[0], summary.specs[0], summary.info.nouns),
            address=links.report(summary.info.id, summary.headlines[-1].slug) + "#h-ep",
        )
        for summary in with_patterns[:PATTERNS]
    )


def _broken_fields(points: Sequence[Point]) -> tuple[tuple[str, int], ...]:
    """Fields that broke at the newest point with a new output: (attribute, cells)."""
    newest = next(
        (
            point
            for index, point in reversed(list(enumerate(points)))
            if "outputs" in point.snapshot.cause and not repeats_the_point_before(points, index)
        ),
        None,
    )
    return newest.change.flips.broken[:OF_EVAL] if newest and newest.change else ()


def _longest(series: Series) -> tuple[Streak, ...]:
    """The streaks that last to the newest point, one for each section and start; an attribute counts by its longest."""
    last = len(series.points) - 1
    outputs = output_of_each([point.first_with_output for point in series.points])
    starts: dict[str, list[int]] = {}
    for cell in series.cells.cells:
        since = cell.wrong_since(last)
        if since is not None:
            starts.setdefault(cell.attribute, []).append(since)
    together: dict[tuple[int, str], list[tuple[int, str]]] = {}
    group = grouping(series.info, series.points[-1].scorecard.fields)
    for attribute, cell_starts in starts.items():
        start = min(cell_starts)
        together.setdefault((start, group(attribute)), []).append((-cell_starts.count(start), attribute))
    streaks = []
    for (start, _), fields in together.items():
        at = series.points[start].snapshot
        _, attribute = min(fields)  # the field with the most cells, because their number is negated
        streaks.append(
            Streak(
                attribute=attribute,
                more=len(fields) - 1,
                cells=-sum(negative for negative, _ in fields),
                since=at.label,
                slug=at.slug,
                outputs=len(set(outputs[start:])),
            )
        )
    return tuple(sorted(streaks, key=lambda streak: (-streak.outputs, -streak.cells, streak.attribute))[:OF_EVAL])


def _weak_rows(summaries: Iterable[EvalSummary]) -> tuple[WeakRow, ...]:
    rows: dict[str, WeakRow] = {}
    for summary in summaries:
        for section in summary.focus.sections:
            none = WeakRow(name=section.name, errors=(0,) * len(section.errors), judged=0, evals=())
            row = rows.get(section.name, none)
            rows[section.name] = replace(
                row,
                errors=tuple(map(add, row.errors, section.errors)),
                judged=row.judged + section.judged,
                evals=(*row.evals, EvalLink(summary.info, _errors_of_section(summary, section.name))),
            )
    return tuple(sorted(rows.values(), key=lambda row: (-sum(row.errors), row.name))[:LISTED])


def _errors_of_section(summary: EvalSummary, section: str) -> str:
    return f"{links.report(summary.info.id, summary.headlines[-1].slug)}#section={quote(section)}"


def trend_of(summary: EvalSummary) -> EvalLink:
    """An eval with its trend."""
    return EvalLink(summary.info, links.eval_trend(summary.info.id))


def _broken_rows(summaries: Iterable[EvalSummary]) -> tuple[BrokenRow, ...]:
    rows: dict[str, BrokenRow] = {}
    for summary in summaries:
        for attribute, cells in summary.focus.broken:
            row = rows.get(attribute, BrokenRow(attribute, 0, ()))
            rows[attribute] = BrokenRow(attribute, row.cells + cells, (*row.evals, trend_of(summary)))
    return tuple(sorted(rows.values(), key=lambda row: (-row.cells, row.attribute))[:LISTED])
