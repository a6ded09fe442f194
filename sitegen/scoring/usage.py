"""What an output took, as metrics beside those of its kind: cost, tokens and time. Lower is better for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import fsum, inf
from statistics import median
from typing import Final

from sitegen.model.metrics import Metric, MetricSpec
from sitegen.model.problems import Finding
from sitegen.model.scorecards import Result, Scorecard
from sitegen.model.usage import Call, RunUsage
from sitegen.stats.quantiles import nearest_rank

SHARE: Final = 0.95
"""Of the answers that take no longer than ``latency_p95``."""

USAGE_METRICS: Final = (
    MetricSpec(
        "cost",
        "Total cost",
        "The sum of what the answers cost, as the files state it.",
        high=inf,
        higher_is_better=False,
        unit="USD",
    ),
    MetricSpec(
        "tokens_in",
        "Tokens in",
        "The sum of the tokens that the model read, from a cache or not.",
        high=inf,
        higher_is_better=False,
        unit="tokens",
    ),
    MetricSpec(
        "tokens_out",
        "Tokens out",
        "The sum of the tokens that the model wrote.",
        high=inf,
        higher_is_better=False,
        unit="tokens",
    ),
    MetricSpec(
        "latency_median",
        "Median latency",
        "The median of the seconds that an answer took; of two middle ones their mean.",
        high=inf,
        higher_is_better=False,
        unit="s",
    ),
    MetricSpec(
        "latency_p95",
        "95th percentile of latency",
        "The shortest time that 95 % of the answers stayed within (nearest rank).",
        high=inf,
        higher_is_better=False,
        unit="s",
    ),
)
UNITS: Final = {spec.name: spec.unit for spec in USAGE_METRICS}
TOTALS: Final = frozenset({"cost", "tokens_in", "tokens_out"})
"""Those that grow with the number of answers."""

USAGE: Final = frozenset(spec.name for spec in USAGE_METRICS)


def specs_with_usage(specs: Sequence[MetricSpec], cards: Iterable[Scorecard]) -> tuple[MetricSpec, ...]:
    """The metrics of a kind, and those of usage that any of the scorecards has.

    Of recorded numbers, whose names are anybody's, the headline and those that any of the scorecards has.
    """
    if specs[0].recorded:
        there = {name for card in cards for name, value in card.metrics if value is not None}
        return tuple(spec for spec in specs if spec is specs[0] or spec.name in there)
    named = {name for card in cards for name, _ in usage_metrics(card.usage)} - {spec.name for spec in specs}
    return (*specs, *(spec for spec in USAGE_METRICS if spec.name in named))


def all_specs(specs: Sequence[MetricSpec]) -> tuple[MetricSpec, ...]:
    """The metrics of a kind, and all those of usage: what thresholds and limits may name."""
    if specs[0].recorded:
        return tuple(specs)
    own = {spec.name for spec in specs}
    return (*specs, *(spec for spec in USAGE_METRICS if spec.name not in own))


def run_usage(calls: Sequence[Call], beside: RunUsage | None = None, graded: tuple[str, ...] = ()) -> RunUsage | None:
    """What the calls of an output took together; None if neither they nor the totals *beside* them say anything.

    A sum is undefined unless every call that gave an answer states its part: the sum of some would pass for the whole.
    So are the times. What calls leave undefined is taken from the totals that stand beside them. *graded*: the metrics
    that grades are part of, if a judge is stated.
    """
    beside = beside or RunUsage()
    answered = [call for call in calls if not call.failed]

    def every(part: Callable[[Call], float | None]) -> list[float]:
        """What each call states, if all that gave an answer do; else nothing."""
        if not answered or any(part(call) is None for call in answered):
            return []
        return [value for call in calls if (value := part(call)) is not None]

    def total(part: Callable[[Call], float | None]) -> float | None:
        usage = every(part)
        return fsum(usage) if usage else None

    times = every(lambda call: None if call.failed else call.usage.latency)
    tokens_in, tokens_out = total(lambda call: call.usage.tokens_in), total(lambda call: call.usage.tokens_out)
    parameters = {call.parameters for call in answered}
    cost = total(lambda call: call.usage.cost)
    judges = tuple(sorted({call.judge for call in answered if call.judge})) or beside.judges
    usage = RunUsage(
        models=tuple(sorted({call.model for call in answered if call.model})) or beside.models,
        parameters=(parameters.pop() if len(parameters) == 1 else "") or beside.parameters,
        tokens_in=beside.tokens_in if tokens_in is None else int(tokens_in),
        tokens_out=beside.tokens_out if tokens_out is None else int(tokens_out),
        cost=beside.cost if cost is None else cost,
        latency_median=median(times) if times else beside.latency_median,
        latency_p95=nearest_rank(times, SHARE) if times else beside.latency_p95,
        judges=judges,
        graded=graded if judges else (),
    )
    return None if usage == RunUsage() else usage._replace(answers=len(answered) or beside.answers)


def lacking(calls: Sequence[Call]) -> tuple[Finding, ...]:
    """What some answers state and others do not, so that it is undefined of them together."""
    answered = [call for call in calls if not call.failed]
    named = [
        (label, sum(part is None for part in parts))
        for label, parts in zip(
            ("tokens in", "tokens out", "cost", "latency"),
            zip(*(call.usage for call in answered), strict=True),
            strict=False,
        )
    ]
    partly = [f"{label} ({missing})" for label, missing in named if 0 < missing < len(answered)]
    if not partly:
        return ()
    what = f"Some of {len(answered)} answers do not state what they took: {', '.join(partly)}"
    return (Finding("note", what, "Let the run state it for every answer; until then the sum is undefined."),)


def usage_metrics(usage: RunUsage | None) -> tuple[Metric, ...]:
    """What is defined of them, in the order of their specs; none at all if the files state nothing."""
    values = [(spec.name, getattr(usage, spec.name)) for spec in USAGE_METRICS] if usage else []
    # The memo gives back floats, and files have to be the same whether it was asked or not.
    return tuple(Metric(name, float(value)) for name, value in values if value is not None)


def with_usage(card: Scorecard, usage: RunUsage | None) -> Scorecard:
    """The scorecard with what its output took among its metrics; one of its own that has such a name stays."""
    if usage is None:
        return card
    stated = {name for name, _ in usage_metrics(card.usage)}
    others = tuple(metric for metric in card.metrics if metric.name not in stated)
    own = {metric.name for metric in others}
    return card._replace(
        metrics=(*others, *(each for each in usage_metrics(usage) if each.name not in own)), usage=usage
    )


def with_stated(result: Result, beside: RunUsage | None) -> Result:
    """The result with what a record beside the output states; what the output itself states goes before it."""
    if beside is None:
        return result
    own = result.scorecard.usage or RunUsage()
    lacks = {name: value for name, value in beside._asdict().items() if getattr(own, name) in (None, "", ())}
    return result._replace(scorecard=with_usage(result.scorecard, own._replace(**lacks)))
