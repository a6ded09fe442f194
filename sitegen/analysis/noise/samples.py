"""The sample from which a metric is computed, unit by unit, and the intervals of metrics and means."""

from collections import Counter
from collections.abc import Iterable, Mapping
from math import fsum
from typing import Final, TypeAlias

from sitegen.analysis.deltas import NO_COUNTS, Compared, counts_by_case
from sitegen.model.changes import Ends, Interval, Unit
from sitegen.model.metrics import LIFT, OF_TRANSCRIPTS, Counts
from sitegen.model.scorecards import Scorecard
from sitegen.stats.counts import Share, drawn_alike, judged, share_of, values_by_case
from sitegen.stats.intervals import ROUNDING, Paired, around, around_mean, effective_wilson, mean, ratio, wilson

_ENOUGH: Final = 5  # fewest documents for a sample of documents; with fewer, their fields are the sample

_NOTHING: Final = Share(0, 0)

PairedSample: TypeAlias = tuple[Unit, Counter[Paired]]
"""What the units that two points have in common are, and how often each pair of values occurs."""


def is_counted(metric: str) -> bool:
    """Decide whether a metric is a ratio of counts, and not a mean over documents."""
    return share_of(metric, NO_COUNTS) is not None


def sample_of(card: Scorecard, metric: str) -> tuple[Unit, Counter[Share], float | None]:
    """Return the units of a metric: documents, or fields if there are too few documents. Not for kind ``responses``.

    Units whose denominator is 0 are left out. The last value is the number of values in all units that can be right or
    wrong; None if the metric is not a ratio of counts.
    """
    if not is_counted(metric):
        cases = values_by_case(card.documents, (metric,))[metric].values()
        return card.unit, Counter(Share(mean(of), 1.0) for of in cases), None
    documents = _counted_shares(metric, counts_by_case(card.documents).values())
    right = share_of(metric, Counts(tp=1))
    trials = fsum(share.whole * times for share, times in documents.items()) / (right.part if right else 1)
    if documents.total() < _ENOUGH:
        fields = _counted_shares(metric, (field.counts for field in card.fields))
        if fields.total() > documents.total():
            return "fields", fields, trials
    return card.unit, documents, trials


def paired_sample_of(compared: Compared, metric: str) -> PairedSample:
    """Return the common cases or documents of a metric, or fields if documents are few and the same on both sides."""
    if compared.after.traits.answers_cases or not is_counted(metric):
        return compared.after.unit, Counter(case_pairs(compared, metric).values())
    earlier, later = map(counts_by_case, compared.documents)
    documents = _paired_shares(metric, Counter((counts, later[unit]) for unit, counts in earlier.items()))
    if documents.total() < _ENOUGH:
        fields = _paired_shares(metric, compared.field_counts)
        if fields.total() > documents.total():
            return "fields", fields
    return compared.after.unit, documents


def case_pairs(compared: Compared, metric: str) -> dict[str, Paired]:
    """Return the value of a metric in each case that both sides have, before and after, by the name of the case.

    A case that is not judged on one side, such as one without an expected text, has no value to compare.
    """
    sides = drawn_alike(compared.documents, metric)
    names = [{each.name for each in side if dict(each.metrics).get(metric) is not None} for side in sides]
    common = names[0] & names[1]
    both = ([each for each in side if each.name in common] for side in sides)
    first, last = (values_by_case(side, (metric,))[metric] for side in both)
    pairs = {case: (mean(of), mean(last[case])) for case, of in first.items() if case in last}
    return {case: Paired(Share(before, 1.0), Share(after, 1.0)) for case, (before, after) in pairs.items()}


def number_judged(card: Scorecard) -> int:
    """Return the number of cases that have a value that is right or wrong, whoever answered them and how often."""
    return sum(judged(counts) > 0 for counts in counts_by_case(card.documents).values())


def _counted_shares(metric: str, units: Iterable[Counts]) -> Counter[Share]:
    shares = (share_of(metric, counts) for counts in units)  # which remembers them
    return Counter(share for share in shares if share and share.whole)


def _paired_shares(metric: str, counts: Mapping[tuple[Counts, Counts], int]) -> Counter[Paired]:
    """Return the shares of the units whose denominator is above 0 on either side."""
    pairs: Counter[Paired] = Counter()
    for (first, last), times in counts.items():
        pair = Paired(share_of(metric, first) or _NOTHING, share_of(metric, last) or _NOTHING)
        if pair.before.whole or pair.after.whole:
            pairs[pair] += times
    return pairs


def interval_of(card: Scorecard, metric: str | None = None) -> Interval | None:
    """Compute the interval of a metric, by default the headline.

    None if the metric is undefined or recorded, if there is only one unit, or if it cannot be computed from the scores
    of documents. The formula is closed, and cheap enough for every point: one pass over documents or fields.
    """
    metric = metric or card.metrics[0].name
    value, traits = card.metric(metric), card.traits
    if value is None or traits.is_recorded:
        return None
    if traits.answers_cases:
        cases = number_judged(card) if is_counted(metric) else 0
        return _stated_interval(wilson(value, cases), unit="cases", n=cases, method="Wilson") if cases else None
    unit, shares, trials = sample_of(card, metric)
    spread = ratio(shares)
    if spread is None:
        return None
    if metric in (LIFT, *OF_TRANSCRIPTS):
        return _stated_interval(around(spread), unit=unit, n=shares.total(), method="Student's t over cases")
    method = "Wilson, effective sample size"
    return _stated_interval(effective_wilson(spread, trials), unit=unit, n=shares.total(), method=method)


def _stated_interval(ends: Ends | None, unit: Unit, n: int, method: str) -> Interval | None:
    """None without ends, and if the units do not vary: an interval without a width would promise the same of others."""
    if ends is None or ends.high - ends.low <= ROUNDING:
        return None
    return Interval(low=ends.low, high=ends.high, unit=unit, n=n, method=method)


def ends_of_mean(headlines: Iterable[tuple[float | None, Interval | None]]) -> Ends | None:
    """Combine intervals of headlines to the interval of their mean over evals; undefined headlines are left out.

    It describes the uncertainty of these evals, not how other evals would score. None if a headline has no interval.
    """
    known = [(value, interval) for value, interval in headlines if value is not None]
    ends = [(value, interval.low, interval.high) for value, interval in known if interval is not None]
    return around_mean(ends) if len(ends) == len(known) else None
