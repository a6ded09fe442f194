"""The scorers of all eval kinds, and the metrics that a series of scorecards has.

A new kind is a module in this package and a line in ``BUILTIN_KINDS``, whose order is the order on the Methods page.
Its scorer is imported when an eval is of this kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from importlib import import_module
from itertools import chain
from typing import Final

from msgspec.structs import replace

from sitegen.errors import ConfigurationError
from sitegen.model.contents import Contents
from sitegen.model.metrics import Metric, MetricSpec
from sitegen.model.scorecards import Result, Scorecard
from sitegen.scoring.case_files import sides_of
from sitegen.scoring.own import own_specs
from sitegen.scoring.run_statements import appended_runs, grades_in, recorded_in
from sitegen.scoring.scorer import NO_METRIC, Scorer
from sitegen.scoring.usage import USAGE, specs_with_usage

BUILTIN_KINDS: Final = {
    "fields": ("sitegen.scoring.fields", "FieldsScorer"),
    "highlights": ("sitegen.scoring.highlights.scorer", "HighlightsScorer"),
    "responses": ("sitegen.scoring.responses.scorer", "ResponsesScorer"),
    "judged": ("sitegen.scoring.judged.scorer", "JudgedScorer"),
    "recorded": ("sitegen.scoring.recorded", "RecordedScorer"),
}
"""Eval kind -> the module and the class of its scorer."""


@cache
def scorer(kind: str) -> Scorer:
    """The scorer of a kind. Raises ConfigurationError if there is none."""
    if kind not in BUILTIN_KINDS:
        raise ConfigurationError(f"there is no eval kind {kind!r}", fix=f"Use one of: {', '.join(BUILTIN_KINDS)}.")
    module, name = BUILTIN_KINDS[kind]
    builtin: Scorer = getattr(import_module(module), name)()
    return builtin


def specs_of(kind: str, cards: Iterable[Scorecard]) -> tuple[MetricSpec, ...]:
    """Return the metrics of the kind, then metrics that scorecards describe: recorded numbers and metrics of packages.

    The latter are ordered by first appearance, each with the first description beside a value. Later scorecards
    therefore add metrics but change none that a page shows, so that the page of an earlier point remains valid. Never
    empty.
    """
    specs = {spec.name: spec for spec in scorer(kind).metrics}
    defined = {*specs}
    for card in cards:
        values = dict(card.metrics)
        for spec in card.specs:
            if spec.name not in defined:
                specs[spec.name] = spec if values.get(spec.name) is not None else specs.get(spec.name, spec)
        defined |= {name for name, value in values.items() if value is not None}
    return tuple(specs.values()) or (NO_METRIC,)


def specs_of_results(kind: str, *results: Result) -> tuple[MetricSpec, ...]:
    """Return the metrics of these results of a kind, with the metrics of usage that any of them has."""
    cards = [result.scorecard for result in results]
    return specs_with_usage(specs_of(kind, cards), cards)


def series_specs(kind_scorer: Scorer, settings: Iterable[str], cards: Iterable[Scorecard]) -> tuple[MetricSpec, ...]:
    """Return the metrics of the kind and of its outputs' settings; for a kind without metrics, as ``specs_of``."""
    if not kind_scorer.metrics:
        return specs_of(kind_scorer.kind, cards)
    return _distinct(kind_scorer.metrics, *map(own_specs, dict.fromkeys(settings)))


def _distinct(*groups: Iterable[MetricSpec]) -> tuple[MetricSpec, ...]:
    """The first specification of each metric, in order."""
    specs: dict[str, MetricSpec] = {}
    for spec in chain.from_iterable(groups):
        specs.setdefault(spec.name, spec)
    return tuple(specs.values())


def in_order_of(specs: Sequence[MetricSpec], card: Scorecard) -> Scorecard:
    """Return a scorecard with all metrics of the series, undefined where it lacks them, and its metrics of usage."""
    if [metric.name for metric in card.metrics[: len(specs)]] == [spec.name for spec in specs]:
        return card
    values = dict(card.metrics)
    metrics = [Metric(spec.name, values.pop(spec.name, None)) for spec in specs]
    usage = [Metric(name, value) for name, value in values.items() if name in USAGE]
    return replace(card, metrics=(*metrics, *usage))


def _case_sides(path: str, content: bytes, settings: str) -> tuple[str, str] | None:
    """Call ``sides_of``, but let no unexpected error end the walk of history: scoring the file reports it."""
    try:
        return sides_of(path, content, settings)
    except Exception:
        return None


CONTENTS: Final = Contents(sides=_case_sides, recorded=recorded_in, grades=grades_in, appended_runs=appended_runs)
"""The functions by which history reads the contents of outputs."""
