"""The eval kinds, in the order in which pages explain them. A new kind is a file beside this one and a line here.

Kinds of installed packages are found when a manifest names them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from sitegen.errors import ConfigurationError
from sitegen.extensions import KINDS, names
from sitegen.model.contents import CaseSides, Contents
from sitegen.model.metrics import Metric, MetricSpec
from sitegen.model.scorecards import Scorecard
from sitegen.scoring.case_files import sides_of
from sitegen.scoring.fields import FieldsScorer
from sitegen.scoring.highlights.scorer import HighlightsScorer
from sitegen.scoring.judged.scorer import JudgedScorer
from sitegen.scoring.own import own_kind, own_specs
from sitegen.scoring.recorded.scorer import NOTHING, RecordedScorer
from sitegen.scoring.responses.scorer import ResponsesScorer
from sitegen.scoring.run_statements import recorded_in
from sitegen.scoring.scorer import Scorer
from sitegen.scoring.usage import USAGE

SCORERS: Final[tuple[Scorer, ...]] = (
    FieldsScorer(),
    HighlightsScorer(),
    ResponsesScorer(),
    JudgedScorer(),
    RecordedScorer(),
)


def scorer(kind: str) -> Scorer:
    """The scorer of a kind. Raises ConfigurationError if there is none."""
    for builtin in SCORERS:
        if builtin.kind == kind:
            return builtin
    if kind in names(KINDS):
        return own_kind(kind).scorer
    known = ", ".join([*(builtin.kind for builtin in SCORERS), *names(KINDS)])
    raise ConfigurationError(f"there is no eval kind {kind!r}", fix=f"Use one of: {known}.")


def specs_of(by: Scorer, cards: Iterable[Scorecard]) -> tuple[MetricSpec, ...]:
    """The metrics of some outputs: those of their kind, and those that their scorecards describe themselves.

    The latter are recorded numbers or metrics of installed packages. They are in the order in which they first appear,
    each as the first scorecard that has it describes it. So what comes later adds metrics and changes none, and a page
    of an earlier point stays true. Never empty.
    """
    specs = {spec.name: spec for spec in by.metrics}
    for card in cards:
        for spec in card.specs:
            specs.setdefault(spec.name, spec)
    return tuple(specs.values()) or (NOTHING,)


def series_specs(by: Scorer, settings: Iterable[str], cards: Iterable[Scorecard]) -> tuple[MetricSpec, ...]:
    """The metrics of a series, as the settings of its outputs say; of its scorecards where their kind has none."""
    if not by.metrics:
        return specs_of(by, cards)
    specs = {spec.name: spec for spec in by.metrics}
    for stated in dict.fromkeys(settings):
        for spec in own_specs(stated):
            specs.setdefault(spec.name, spec)
    return tuple(specs.values())


def in_order_of(specs: Sequence[MetricSpec], card: Scorecard) -> Scorecard:
    """A scorecard with all metrics of the series, then those of usage that it has; what it lacks is undefined."""
    if [metric.name for metric in card.metrics[: len(specs)]] == [spec.name for spec in specs]:
        return card
    values = dict(card.metrics)
    metrics = [Metric(spec.name, values.pop(spec.name, None)) for spec in specs]
    usage = [Metric(name, value) for name, value in values.items() if name in USAGE]
    return card._replace(metrics=(*metrics, *usage))


def _case_sides(path: str, content: bytes, settings: str) -> CaseSides | None:
    """A fault of ours must not end the walk of history: it is reported where the file is scored."""
    try:
        return sides_of(path, content, settings)
    except Exception:
        return None


CONTENTS: Final = Contents(sides=_case_sides, recorded=recorded_in)
"""What scoring answers history about the contents of outputs."""
