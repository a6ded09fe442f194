"""Which errors to work on: by section of the schema, newly broken ones, and the oldest; for one eval and for all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from sitegen.analysis.series import output_of_each, repeats_the_point_before
from sitegen.model.frozen import Frozen
from sitegen.model.series import EvalInfo, EvalSummary, Focus, Point, Series, Streak, WeakSection
from sitegen.pages.report.discrepancies import grouping, sections
from sitegen.pages.report.patterns import pattern_words

_OF_EVAL: Final = 12
"""Number of entries in each list of the focus of one eval."""
LISTED: Final = 6
"""Number of entries in each list on the overview."""
PATTERNS: Final = 3
"""Number of evals whose error pattern the overview names."""


class FocusView(Frozen):
    """What to work on in all evals."""

    sections: tuple[tuple[WeakSection, tuple[EvalSummary, ...]], ...]
    """Sections of the schema with their errors in all evals, and the evals that have them in their newest report."""
    broken: tuple[tuple[str, int, tuple[EvalSummary, ...]], ...]
    """Fields that are wrong in the newest outputs of evals, and right in the previous ones, with their cells."""
    longest: tuple[tuple[EvalInfo, Streak], ...]
    """The longest streaks of errors that last to the newest output."""
    patterns: tuple[EvalSummary, ...] = ()
    """The evals whose error patterns have the most errors."""


def focus_of(series: Series) -> Focus:
    """The focus of one eval."""
    points = series.points
    if not points:
        return Focus()
    fields = points[-1].scorecard.fields
    weak = [section for section in sections(fields, grouping(series.info, fields)) if sum(section.errors)]
    weak.sort(key=lambda section: (-sum(section.errors), section.name))
    return Focus(
        tuple(weak[:_OF_EVAL]),
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
        patterns=most_costly_patterns(alive),
    )


def most_costly_patterns(summaries: Iterable[EvalSummary]) -> tuple[EvalSummary, ...]:
    """The evals whose largest error pattern has the most errors; at most ``PATTERNS``."""
    with_patterns = [summary for summary in summaries if summary.patterns]
    with_patterns.sort(key=lambda summary: (-summary.patterns[0].errors, summary.info.id))
    return tuple(with_patterns[:PATTERNS])


def words_of(summary: EvalSummary) -> tuple[str, str, str, str]:
    """The parts of the sentence on the largest error pattern of the newest output of an eval."""
    return pattern_words(summary.patterns[0], summary.specs[0], summary.info.nouns)


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
    return newest.change.flips.broken[:_OF_EVAL] if newest and newest.change else ()


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
    return tuple(sorted(streaks, key=lambda streak: (-streak.outputs, -streak.cells, streak.attribute))[:_OF_EVAL])


def _weak_rows(summaries: Iterable[EvalSummary]) -> tuple[tuple[WeakSection, tuple[EvalSummary, ...]], ...]:
    found: dict[str, list[tuple[WeakSection, EvalSummary]]] = {}
    for summary in summaries:
        for section in summary.focus.sections:
            found.setdefault(section.name, []).append((section, summary))
    rows = []
    for name, of_evals in found.items():
        errors = tuple(map(sum, zip(*(section.errors for section, _ in of_evals), strict=True)))
        total = WeakSection(name=name, errors=errors, judged=sum(section.judged for section, _ in of_evals))
        rows.append((total, tuple(summary for _, summary in of_evals)))
    return tuple(sorted(rows, key=lambda row: (-sum(row[0].errors), row[0].name))[:LISTED])


def _broken_rows(summaries: Iterable[EvalSummary]) -> tuple[tuple[str, int, tuple[EvalSummary, ...]], ...]:
    found: dict[str, list[tuple[int, EvalSummary]]] = {}
    for summary in summaries:
        for attribute, cells in summary.focus.broken:
            found.setdefault(attribute, []).append((cells, summary))
    rows = [
        (attribute, sum(cells for cells, _ in of_evals), tuple(summary for _, summary in of_evals))
        for attribute, of_evals in found.items()
    ]
    return tuple(sorted(rows, key=lambda row: (-row[1], row[0]))[:LISTED])
