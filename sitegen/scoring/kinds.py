"""The eval kinds, in the order in which pages explain them. A new kind is a file beside this one and a line here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from sitegen.errors import ConfigurationError
from sitegen.model.metrics import Metric, MetricSpec
from sitegen.model.scorecards import Scorecard
from sitegen.scoring.fields import FieldsScorer
from sitegen.scoring.highlights.scorer import HighlightsScorer
from sitegen.scoring.judged.scorer import JudgedScorer
from sitegen.scoring.recorded.scorer import NOTHING, RecordedScorer
from sitegen.scoring.responses.scorer import ResponsesScorer
from sitegen.scoring.scorer import Scorer

SCORERS: Final[tuple[Scorer, ...]] = (
    FieldsScorer(),
    HighlightsScorer(),
    ResponsesScorer(),
    JudgedScorer(),
    RecordedScorer(),
)

EMBEDDED: Final = frozenset({ResponsesScorer.kind})
"""Kinds whose numbers may need vectors of texts: a model decides them too, where one is installed."""


def scorer(kind: str) -> Scorer:
    """The scorer of a kind. Raises ConfigurationError if there is none."""
    for each in SCORERS:
        if each.kind == kind:
            return each
    known = ", ".join(each.kind for each in SCORERS)
    raise ConfigurationError(f"there is no eval kind {kind!r}", fix=f"Use one of: {known}.")


def specs_of(by: Scorer, cards: Iterable[Scorecard]) -> tuple[MetricSpec, ...]:
    """The metrics of a series: those of its kind, or, where the data says them, those of its scorecards.

    These are in the order in which they first appear, each as the first scorecard that has it describes it. So what
    comes later adds metrics and changes none, and a page of an earlier point stays true. Never empty.
    """
    if by.metrics:
        return by.metrics
    found: dict[str, MetricSpec] = {}
    for card in cards:
        for spec in card.specs:
            found.setdefault(spec.name, spec)
    return tuple(found.values()) or (NOTHING,)


def in_order_of(specs: Sequence[MetricSpec], card: Scorecard) -> Scorecard:
    """A scorecard that says its metrics itself, with exactly those of the series; one that has no such number lacks it.

    Any other scorecard has the metrics of its kind already.
    """
    if not specs[0].recorded:
        return card
    known = dict(card.metrics)
    return card._replace(metrics=tuple(Metric(spec.name, known.get(spec.name)) for spec in specs))
