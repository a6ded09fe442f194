"""The error patterns of a report: the errors that each explains, their fields, and the headline without them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from sitegen.analysis.error_patterns import ROUNDING, ErrorPattern, error_patterns, without_errors
from sitegen.model.frozen import Frozen
from sitegen.model.metrics import MetricSpec, Nouns
from sitegen.model.outcomes import Judgement
from sitegen.model.scorecards import Result, Scorecard
from sitegen.model.series import PatternSummary
from sitegen.pages.report.discrepancies import Since, field_file
from sitegen.scoring.rules import FieldRules
from sitegen.stats.counts import share_of
from sitegen.text.plain import counted
from sitegen.text.values import ValueTexts, as_text, metric_text, texts_with_types

_NAMED: Final = 3
"""Number of named fields of a pattern: the ones with most of its errors."""


_LINES: Final = 10
"""Largest number of proposed lines of a mapping."""

_BY_RULE: Final = (
    "the right value as another type",
    "a currency sign",
    "a separator of thousands or decimals",
    "the order of day and month",
    "a unit or a suffix after the number",
    ROUNDING,
)
"""Patterns whose difference a field mapping can exclude from the comparison."""


class PatternRow(Frozen):
    """One pattern."""

    name: str
    errors: int
    fields: Mapping[str, str]
    """The fields with most of its errors: address of the page, relative to the report, by attribute."""
    more_fields: int
    since: Since
    """The point at which most of its errors began; of equal points the earliest."""
    since_errors: int
    """Number of errors that began there."""
    example: ValueTexts
    """The values of its first error."""
    without: float | None
    """The headline if these errors were right; None if the headline is not a ratio of the counts."""


class PatternsView(Frozen):
    """All patterns, most errors first."""

    rows: tuple[PatternRow, ...]
    errors: int
    """Number of errors that any pattern explains."""
    without: float | None
    """The headline if all of these were right."""
    lines: tuple[str, ...] = ()
    """Lines below ``fields:`` of the field mapping that make values equal if a rule can exclude their difference."""
    equal: int = 0
    """Number of errors that these lines make correct."""
    with_lines: float | None = None
    """The headline with these lines."""


def patterns_view(
    eval_id: str,
    headline: MetricSpec,
    result: Result,
    wrong: Sequence[Judgement],
    started: Sequence[Since],
    rules: Callable[[], FieldRules] | None = None,
) -> PatternsView | None:
    """Make the view of the patterns; None if no rule explains enough of the errors ``wrong``.

    Args:
        eval_id: the eval.
        headline: the first metric of the eval.
        result: the result with all judgements.
        wrong: the errors of the result.
        started: the start of the streak of each error.
        rules: makes the rules by which the output was scored; None if no field mapping applies.

    """
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
                fields={attribute: field_file(eval_id, attribute) for attribute, _ in fields[:_NAMED]},
                more_fields=max(0, len(fields) - _NAMED),
                since=since,
                since_errors=since_errors,
                example=_example(errors[0]),
                without=_headline_without(headline, card, errors),
            )
        )
    lines, equal = _lines(patterns, result, wrong, rules) if rules else ((), [])
    return PatternsView(
        rows=tuple(rows),
        errors=len(explained),
        without=_headline_without(headline, card, explained),
        lines=lines,
        equal=len(equal),
        with_lines=_headline_without(headline, card, equal) if equal else None,
    )


def _lines(
    patterns: Sequence[ErrorPattern], result: Result, wrong: Sequence[Judgement], rules: Callable[[], FieldRules]
) -> tuple[tuple[str, ...], list[Judgement]]:
    """Lines of the mapping, at most one for each field, and the errors that they make correct."""
    by_field: dict[str, dict[str, list[Judgement]]] = {}
    for pattern in patterns:
        for error in (wrong[index] for index in pattern.errors):
            if pattern.name in _BY_RULE:
                by_field.setdefault(error.attribute, {}).setdefault(pattern.name, []).append(error)
    correct: dict[str, list[Judgement]] = {}
    for judgement in result.judgements if by_field else ():
        if judgement.outcome == "correct" and judgement.attribute in by_field:
            correct.setdefault(judgement.attribute, []).append(judgement)
    lines: list[str] = []
    equal: list[Judgement] = []
    for attribute, by_pattern in by_field.items():
        name, errors = max(by_pattern.items(), key=lambda entry: len(entry[1]))
        from sitegen.analysis.mapping_lines import mapping_line

        line = mapping_line(rules(), errors, correct.get(attribute, ()), rounded=name == ROUNDING)
        if line and len(lines) < _LINES:
            lines.append(line)
            equal += errors
    return tuple(lines), equal


def pattern_summaries(view: PatternsView | None, total: int, value: float | None) -> tuple[PatternSummary, ...]:
    """Summaries of the patterns for other pages. ``total``: all errors of the output; ``value``: its headline."""
    return tuple(
        PatternSummary(
            name=row.name,
            errors=row.errors,
            total=total,
            fields=len(row.fields) + row.more_fields,
            since=row.since.label if 2 * row.since_errors > row.errors else "",
            all_since=row.since_errors == row.errors,
            value=value,
            without=row.without,
        )
        for row in (view.rows if view else ())
    )


def pattern_words(pattern: PatternSummary, spec: MetricSpec, nouns: Nouns) -> tuple[str, str, str, str]:
    """The parts of the sentence on a pattern; ``spec`` is the headline.

    The first, ``897 of 938 errors come down to a currency sign``, links to the report. The third is the label of the
    project since which the errors are there; it may be empty.
    """
    since = ", " + ("" if pattern.all_since else "most of them ") + "since " if pattern.since else ""
    without = ""
    if pattern.without is not None and pattern.value is not None:
        now, after = (metric_text(value, 3, spec.unit) for value in (pattern.value, pattern.without))
        without = f": if these were right, {spec.label} {now} would be {after}"
    return (
        f"{pattern.errors:,} of {counted(pattern.total, 'error')} come down to {pattern.name}",
        f", in {pattern.fields:,} {nouns.attribute if pattern.fields == 1 else nouns.attributes}{since}",
        pattern.since,
        without,
    )


def _example(error: Judgement) -> ValueTexts:
    expected, actual = error.expected, error.actual
    return texts_with_types(expected, actual) or ValueTexts(as_text(expected), as_text(actual))


def _headline_without(headline: MetricSpec, card: Scorecard, errors: Iterable[Judgement]) -> float | None:
    before = share_of(headline.name, card.counts)
    after = share_of(headline.name, without_errors(card.counts, errors, card.convention))
    if before is None or after is None or not before.whole or card.metric(headline.name) != before.value:
        return None
    return after.value
