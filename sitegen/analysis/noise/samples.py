"""What a metric was made from, unit by unit.

Units that count alike are kept once, with their number: most fields of an output are right, and one pass over the few
that differ is what makes an interval at every point cheap.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from math import fsum
from typing import Final, NamedTuple

from sitegen.model.metrics import Counts
from sitegen.model.noise import Unit
from sitegen.model.scorecards import Scorecard
from sitegen.stats.counts import quotient
from sitegen.stats.intervals import Paired, Share

ENOUGH: Final = 5
"""Documents that make a sample of documents; where there are fewer, their fields are the sample."""

_NONE: Final = Counts()


class UnitSample(NamedTuple):
    """The units of a metric, without those that count nowhere."""

    unit: Unit
    shares: Counter[Share]
    trials: float | None
    """Values that can be right or wrong, in all units; None if the metric is no ratio of counts."""


class PairedSample(NamedTuple):
    """The units that two points have in common."""

    unit: Unit
    pairs: Counter[Paired]


def is_counted(metric: str) -> bool:
    """Whether a metric is a ratio of counts, and not a mean over documents."""
    return quotient(metric, _NONE) is not None


def sample_of(card: Scorecard, metric: str) -> UnitSample:
    """The documents; or the fields of those there are, if there are too few of them. Not for kind ``responses``."""
    if not is_counted(metric):
        return UnitSample("documents", Counter((value, 1.0) for value in _document_values(card, metric).values()), None)
    documents = _counted_shares(metric, (document.counts for document in card.documents))
    right, _ = quotient(metric, Counts(tp=1)) or (1, 1)
    trials = fsum(share[1] * times for share, times in documents.items()) / right
    if documents.total() < ENOUGH:
        fields = _counted_shares(metric, (field.counts for field in card.fields))
        if fields.total() > documents.total():
            return UnitSample("fields", fields, trials)
    return UnitSample("documents", documents, trials)


def paired_sample_of(before: Scorecard, after: Scorecard) -> PairedSample:
    """Of the headline, the documents that both have; or fields, if these are few and neither side has others."""
    metric = after.metrics[0].name
    if not is_counted(metric):
        first, last = _document_values(before, metric), _document_values(after, metric)
        return PairedSample(
            "documents", Counter(Paired((first[one], 1.0), (last[one], 1.0)) for one in first if one in last)
        )
    earlier = {document.id: document.counts for document in before.documents}
    later = {each.id: each.counts for each in after.documents}
    documents = _paired_shares(metric, earlier, later, (one for one in earlier if one in later))
    if documents.total() < ENOUGH and earlier.keys() == later.keys():
        earlier = {field.attribute: field.counts for field in before.fields}
        later = {each.attribute: each.counts for each in after.fields}
        fields = _paired_shares(metric, earlier, later, earlier | later)
        if fields.total() > documents.total():
            return PairedSample("fields", fields)
    return PairedSample("documents", documents)


def cases_of(card: Scorecard) -> int:
    """Kind ``responses``: the test cases behind the accuracy. All variants may be right or wrong in one together.

    0 only if the accuracy is undefined.
    """
    return (card.counts.tp + card.counts.fn) // variants_of(card)


def variants_of(card: Scorecard) -> int:
    """Kind ``responses``: the variants of which any response counts, at least 1. If all calls failed, none does."""
    return max(1, sum(document.counts.tp + document.counts.fn > 0 for document in card.documents))


def _document_values(card: Scorecard, metric: str) -> dict[str, float]:
    """The metric of each document that has it."""
    found = ((each.id, value) for each in card.documents for name, value in each.metrics if name == metric)
    return {document: value for document, value in found if value is not None}


def _counted_shares(metric: str, every: Iterable[Counts]) -> Counter[Share]:
    found: Counter[Share] = Counter()
    for counts, times in Counter(every).items():
        share = quotient(metric, counts)
        if share and share[1]:
            found[share] += times
    return found


def _paired_shares(
    metric: str, before: Mapping[str, Counts], after: Mapping[str, Counts], units: Iterable[str]
) -> Counter[Paired]:
    """The shares of the units that count on either side; a unit that counts on neither says nothing."""
    found: Counter[Paired] = Counter()
    for (first, last), times in Counter((before.get(unit, _NONE), after.get(unit, _NONE)) for unit in units).items():
        pair = Paired(quotient(metric, first) or (0, 0), quotient(metric, last) or (0, 0))
        if pair.before[1] or pair.after[1]:
            found[pair] += times
    return found
