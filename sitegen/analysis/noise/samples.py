"""What a headline was made from, unit by unit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple, TypeAlias

from sitegen.model.metrics import Counts
from sitegen.model.noise import Unit
from sitegen.model.scorecards import DocumentScore, Scorecard
from sitegen.stats.counts import quotient
from sitegen.stats.intervals import Paired, Share

ENOUGH: Final = 5
"""Documents that make a sample of documents; where there are fewer, their fields are the sample."""

RESPONSES: Final = "responses"
"""The kind whose documents are no sample: its variants answer the same cases, and those are the sample."""

_Shares: TypeAlias = dict[str, Share]


class Sample(NamedTuple):
    """The units of a headline."""

    unit: Unit
    shares: tuple[Share, ...]
    """Of those that count anywhere."""
    trials: float | None
    """Values that can be right or wrong, in all units; None if the headline is no ratio of counts."""


class PairedSample(NamedTuple):
    """The units that two points have in common."""

    unit: Unit
    pairs: tuple[Paired, ...]


def sample_of(card: Scorecard) -> Sample:
    """The documents; or the fields of those there are, if there are too few of them. Not for kind ``responses``."""
    documents = _shares(_documents(card).values())
    right = quotient(card.metrics[0].name, Counts(tp=1))
    if right is None:
        return Sample("documents", documents, None)
    trials = sum(share[1] for share in documents) / right[0]
    if len(documents) < ENOUGH:
        fields = _shares(_fields(card).values())
        if len(fields) > len(documents):
            return Sample("fields", fields, trials)
    return Sample("documents", documents, trials)


def paired_sample_of(before: Scorecard, after: Scorecard) -> PairedSample:
    """The documents that both have; or fields, if these are few and neither side has another document."""
    one, other = _documents(before), _documents(after)
    documents = _paired(one, other, tuple(name for name in one if name in other))
    if len(documents) < ENOUGH and one.keys() == other.keys():
        first, last = _fields(before), _fields(after)
        fields = _paired(first, last, tuple(first | last))
        if len(fields) > len(documents):
            return PairedSample("fields", fields)
    return PairedSample("documents", documents)


def cases_of(card: Scorecard) -> int:
    """Kind ``responses``: the test cases behind the accuracy. All variants may be right or wrong in one together."""
    return (card.counts.tp + card.counts.fn) // max(1, len(card.documents))


def _documents(card: Scorecard) -> _Shares:
    """By id. Of a headline that is no ratio of counts, the value of the document itself, where it has one."""
    name = card.metrics[0].name
    if quotient(name, Counts()) is not None:
        return {each.id: quotient(name, each.counts) or (0, 0) for each in card.documents}
    values = ((each.id, _value(name, each)) for each in card.documents)
    return {document: (value, 1.0) for document, value in values if value is not None}


def _fields(card: Scorecard) -> _Shares:
    name = card.metrics[0].name
    return {each.attribute: found for each in card.fields if (found := quotient(name, each.counts))}


def _value(name: str, document: DocumentScore) -> float | None:
    return next((metric.value for metric in document.metrics if metric.name == name), None)


def _shares(every: Iterable[Share]) -> tuple[Share, ...]:
    return tuple(share for share in every if share[1])


def _paired(before: _Shares, after: _Shares, names: Sequence[str]) -> tuple[Paired, ...]:
    """What counts on neither side says nothing."""
    nothing = (0.0, 0.0)
    pairs = (Paired(before.get(name, nothing), after.get(name, nothing)) for name in names)
    return tuple(pair for pair in pairs if pair.before[1] or pair.after[1])
