"""What a headline was made from, unit by unit.

Units that count alike are kept once, with their number: most fields of an output are right, and one pass over the few
that differ is what makes an interval at every point cheap.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from sitegen.model.metrics import Counts
from sitegen.model.noise import Unit
from sitegen.model.scorecards import DocumentScore, Scorecard
from sitegen.stats.counts import quotient
from sitegen.stats.intervals import Paired, Share

ENOUGH: Final = 5
"""Documents that make a sample of documents; where there are fewer, their fields are the sample."""

RESPONSES: Final = "responses"
"""The kind whose documents are no sample: its variants answer the same cases, and those are the sample."""

_NONE: Final = Counts()


class Sample(NamedTuple):
    """The units of a headline that count anywhere."""

    unit: Unit
    shares: Counter[Share]
    trials: float | None
    """Values that can be right or wrong, in all units; None if the headline is no ratio of counts."""


class PairedSample(NamedTuple):
    """The units that two points have in common."""

    unit: Unit
    pairs: Counter[Paired]


def is_counted(card: Scorecard) -> bool:
    """Whether the headline is a ratio of counts, not a mean over documents."""
    return quotient(card.metrics[0].name, _NONE) is not None


def sample_of(card: Scorecard) -> Sample:
    """The documents; or the fields of those there are, if there are too few of them. Not for kind ``responses``."""
    name = card.metrics[0].name
    if not is_counted(card):
        return Sample("documents", Counter((value, 1.0) for value in _values(card).values()), None)
    documents = _shares(name, (each.counts for each in card.documents))
    right, _ = quotient(name, Counts(tp=1)) or (1, 1)
    trials = sum(share[1] * times for share, times in documents.items()) / right
    if documents.total() < ENOUGH:
        fields = _shares(name, (each.counts for each in card.fields))
        if fields.total() > documents.total():
            return Sample("fields", fields, trials)
    return Sample("documents", documents, trials)


def paired_sample_of(before: Scorecard, after: Scorecard) -> PairedSample:
    """The documents that both have; or fields, if these are few and neither side has another document."""
    name = after.metrics[0].name
    if not is_counted(after):
        first, last = _values(before), _values(after)
        return PairedSample(
            "documents", Counter(Paired((first[one], 1.0), (last[one], 1.0)) for one in first if one in last)
        )
    earlier = {each.id: each.counts for each in before.documents}
    later = {each.id: each.counts for each in after.documents}
    documents = _paired(name, earlier, later, (one for one in earlier if one in later))
    if documents.total() < ENOUGH and earlier.keys() == later.keys():
        earlier = {each.attribute: each.counts for each in before.fields}
        later = {each.attribute: each.counts for each in after.fields}
        fields = _paired(name, earlier, later, earlier | later)
        if fields.total() > documents.total():
            return PairedSample("fields", fields)
    return PairedSample("documents", documents)


def cases_of(card: Scorecard) -> int:
    """Kind ``responses``: the test cases behind the accuracy. All variants may be right or wrong in one together."""
    return (card.counts.tp + card.counts.fn) // max(1, len(card.documents))


def _values(card: Scorecard) -> dict[str, float]:
    """The headline of each document where it is defined."""
    values = ((each.id, _value(card.metrics[0].name, each)) for each in card.documents)
    return {document: value for document, value in values if value is not None}


def _value(name: str, document: DocumentScore) -> float | None:
    return next((metric.value for metric in document.metrics if metric.name == name), None)


def _shares(name: str, every: Iterable[Counts]) -> Counter[Share]:
    found: Counter[Share] = Counter()
    for counts, times in Counter(every).items():
        share = quotient(name, counts)
        if share and share[1]:
            found[share] += times
    return found


def _paired(
    name: str, before: Mapping[str, Counts], after: Mapping[str, Counts], units: Iterable[str]
) -> Counter[Paired]:
    """What counts on neither side says nothing."""
    found: Counter[Paired] = Counter()
    for (first, last), times in Counter((before.get(one, _NONE), after.get(one, _NONE)) for one in units).items():
        pair = Paired(quotient(name, first) or (0, 0), quotient(name, last) or (0, 0))
        if pair.before[1] or pair.after[1]:
            found[pair] += times
    return found
