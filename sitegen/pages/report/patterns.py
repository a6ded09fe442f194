"""The error patterns of a report: the errors that each explains, their fields, and the headline without them."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from sitegen.analysis.error_patterns import ROUNDING, error_patterns, without_errors
from sitegen.model.frozen import Frozen
from sitegen.model.metrics import MetricSpec, Nouns
from sitegen.model.outcomes import Judgement
from sitegen.model.scorecards import Result, Scorecard
from sitegen.model.series import PatternSummary
from sitegen.pages.report.discrepancies import Since
from sitegen.stats.counts import share_of
from sitegen.text.plain import counted
from sitegen.text.values import as_text, metric_text, texts_with_types

NAMED_FIELDS: Final = 3
"""Number of fields of a pattern that a report names."""

_SETTINGS: Final = {
    "the right value as another type": "type",
    "a currency sign": "coerce: true",
    "a separator of thousands or decimals": "coerce: true",
    "the order of day and month": "type: date, formats: [...]",
    ROUNDING: "absolute",
}
"""Pattern -> the setting of a field by which the field mapping leaves its difference out of the comparison."""


class PatternRow(Frozen):
    """The errors of one pattern."""

    name: str
    errors: tuple[Judgement, ...]
    since: Since
    """The point at which most of its errors began; of equal points the earliest."""
    since_errors: int
    without: float | None
    """The headline if these errors were right; None if the headline is not a ratio of the counts."""
    setting: str = ""
    """The setting of the field mapping that leaves the difference out; empty without one."""

    @property
    def fields(self) -> list[str]:
        """The fields, those with most of its errors first."""
        return [attribute for attribute, _ in Counter(error.attribute for error in self.errors).most_common()]

    @property
    def example(self) -> tuple[str, str]:
        """The values of its first error."""
        expected, actual = self.errors[0].expected, self.errors[0].actual
        return texts_with_types(expected, actual) or (as_text(expected), as_text(actual))


def pattern_rows(
    headline: MetricSpec, result: Result, wrong: Sequence[Judgement], started: Sequence[Since]
) -> tuple[PatternRow, ...]:
    """The patterns, most errors first; none if no rule explains enough of the errors ``wrong``.

    ``started``: the start of the streak of each error.
    """
    rows = []
    for name, indices in error_patterns(wrong, result.judgements):
        errors = tuple(wrong[index] for index in indices)
        starts = Counter(started[index] for index in indices)
        since, since_errors = max(starts.items(), key=lambda start: (start[1], start[0].iterations))
        rows.append(
            PatternRow(
                name=name,
                errors=errors,
                since=since,
                since_errors=since_errors,
                without=headline_without(headline, result.scorecard, errors),
                setting=_SETTINGS.get(name, "") if result.scorecard.traits.is_structured else "",
            )
        )
    return tuple(rows)


def pattern_summaries(rows: Iterable[PatternRow], total: int) -> tuple[PatternSummary, ...]:
    """Summaries of the patterns for other pages. ``total``: all errors of the output."""
    return tuple(
        PatternSummary(
            name=row.name,
            errors=len(row.errors),
            total=total,
            fields=len(row.fields),
            since=row.since.label if 2 * row.since_errors > len(row.errors) else "",
            all_since=row.since_errors == len(row.errors),
            without=row.without,
        )
        for row in rows
    )


def pattern_words(
    pattern: PatternSummary, spec: MetricSpec, value: float | None, nouns: Nouns
) -> tuple[str, str, str, str]:
    """The parts of the sentence on a pattern; ``spec``: the headline, ``value``: that of the output.

    The first, ``897 of 938 errors come down to a currency sign``, links to the report. The third is the label of the
    project since which the errors are there; it may be empty.
    """
    since = ", " + ("" if pattern.all_since else "most of them ") + "since " if pattern.since else ""
    now, after = ("" if number is None else metric_text(number, spec.unit) for number in (value, pattern.without))
    without = f": if these were right, {spec.label} {now} would be {after}" if now and after else ""
    return (
        f"{pattern.errors:,} of {counted(pattern.total, 'error')} come down to {pattern.name}",
        f", in {pattern.fields:,} {nouns.attribute if pattern.fields == 1 else nouns.attributes}{since}",
        pattern.since,
        without,
    )


def headline_without(headline: MetricSpec, card: Scorecard, errors: Iterable[Judgement]) -> float | None:
    """The headline if these errors were right; None if it is not a ratio of the counts."""
    before = share_of(headline.name, card.counts)
    after = share_of(headline.name, without_errors(card.counts, errors, card.convention))
    if before is None or after is None or not before.whole or card.metric(headline.name) != before.value:
        return None
    return after.value
