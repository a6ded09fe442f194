"""The error patterns of a report: how many errors each explains, where, and what the headline would be without it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from sitegen.analysis.error_patterns import error_patterns, without_errors
from sitegen.model.metrics import MetricSpec
from sitegen.model.outcomes import Judgement
from sitegen.model.scorecards import Result, Scorecard
from sitegen.pages.report.discrepancies import Since, field_file
from sitegen.stats.counts import quotient
from sitegen.text.values import as_text, told_apart

_NAMED: Final = 3
"""Fields of a pattern that are named: those with most of its errors."""


class PatternRow(NamedTuple):
    """One pattern."""

    name: str
    errors: int
    fields: tuple[tuple[str, str], ...]
    """(page as seen from the report, attribute) of the fields with most of its errors."""
    more_fields: int
    since: Since
    """Where most of its errors began, of equals the earliest."""
    since_errors: int
    """How many of them began there."""
    example: tuple[str, str]
    """Expected and actual value of its first error."""
    without: float | None
    """The headline if these errors were right; None if the headline is no ratio of the counts."""


class PatternsView(NamedTuple):
    """All patterns, those with the most errors first."""

    rows: tuple[PatternRow, ...]
    errors: int
    """Errors that any of them explains."""
    without: float | None
    """The headline if all of these were right."""


def patterns_view(
    eval_id: str, headline: MetricSpec, result: Result, wrong: Sequence[Judgement], started: Sequence[Since]
) -> PatternsView | None:
    """None if no rule explains enough of the errors ``wrong``. ``started``: the start of the streak of each."""
    patterns = error_patterns(wrong, result.judgements)
    if not patterns:
        return None
    card = result.scorecard
    explained = [wrong[index] for pattern in patterns for index in pattern.errors]
    rows = []
    for pattern in patterns:
        errors = [wrong[index] for index in pattern.errors]
        fields = Counter(error.attribute for error in errors).most_common()
        starts = Counter(started[index] for index in pattern.errors)
        since, since_errors = max(starts.items(), key=lambda start: (start[1], start[0].points))
        rows.append(
            PatternRow(
                name=pattern.name,
                errors=len(errors),
                fields=tuple((field_file(eval_id, attribute), attribute) for attribute, _ in fields[:_NAMED]),
                more_fields=max(0, len(fields) - _NAMED),
                since=since,
                since_errors=since_errors,
                example=_example(errors[0]),
                without=_headline_without(headline, card, errors),
            )
        )
    return PatternsView(tuple(rows), len(explained), _headline_without(headline, card, explained))


def _example(error: Judgement) -> tuple[str, str]:
    expected, actual = error.expected, error.actual
    return told_apart(expected, actual) or (as_text(expected), as_text(actual))


def _headline_without(headline: MetricSpec, card: Scorecard, errors: Iterable[Judgement]) -> float | None:
    before = quotient(headline.name, card.counts)
    after = quotient(headline.name, without_errors(card.counts, errors, card.convention))
    if before is None or after is None or not before[1] or card.metric(headline.name) != before[0] / before[1]:
        return None
    return after[0] / after[1]
