"""The metrics of usage, in addition to the metrics of each kind: cost, tokens and time, all better if lower."""

from collections.abc import Callable, Iterable, Sequence
from math import fsum, inf
from typing import Final

from msgspec.structs import asdict, replace

from sitegen.importers.recorded_layouts import is_amount
from sitegen.model.metrics import Metric, MetricSpec
from sitegen.model.problems import Finding
from sitegen.model.scorecards import Result, Scorecard
from sitegen.model.usage import JUDGE_PROMPT, Call, RunUsage
from sitegen.stats.counts import RATIOS
from sitegen.stats.intervals import median, nearest_rank
from sitegen.text.values import COUNT

SHARE: Final = 0.95
"""The share of answers that take no longer than ``latency_p95``."""


USAGE_METRICS: Final = tuple(
    MetricSpec(name, label, explanation, high=inf, higher_is_better=False, unit=unit, is_optional=True)
    for name, label, explanation, unit in (
        ("cost", "Total cost", "The sum of the costs of the answers, as the files state them.", "USD"),
        ("tokens_in", "Tokens in", "The sum of the tokens that the model read, from a cache or not.", "tokens"),
        ("tokens_out", "Tokens out", "The sum of the tokens that the model wrote.", "tokens"),
        ("latency_median", "Median latency", "The median time of an answer; with two middle values, their mean.", "s"),
        (
            "latency_p95",
            "95th percentile of latency",
            "The shortest time within which 95 % of the answers arrived (nearest rank).",
            "s",
        ),
    )
)
UNITS: Final = {spec.name: spec.unit for spec in USAGE_METRICS}
TOTALS: Final = frozenset({"cost", "tokens_in", "tokens_out"})
"""The metrics that grow with the number of answers."""

USAGE: Final = frozenset(spec.name for spec in USAGE_METRICS)


def specs_with_usage(specs: Sequence[MetricSpec], cards: Iterable[Scorecard]) -> tuple[MetricSpec, ...]:
    """Return the metrics of a kind and of usage, those that are optional only if any of the scorecards has them.

    Recorded numbers have names of the project, so that only the headline and the metrics of any scorecard are returned.
    """
    defined = {name for card in cards for name, value in card.metrics if value is not None}
    if specs[0].recorded:
        return tuple(spec for spec in specs if spec is specs[0] or spec.name in defined)
    return tuple(spec for spec in all_specs(specs) if not spec.is_optional or spec.name in defined)


def all_specs(specs: Sequence[MetricSpec]) -> tuple[MetricSpec, ...]:
    """Return the metrics of a kind and of usage, which thresholds and limits may name."""
    if not specs or specs[0].recorded:
        return tuple(specs)
    own = {spec.name for spec in specs}
    return (*specs, *(spec for spec in USAGE_METRICS if spec.name not in own))


def run_usage(calls: Sequence[Call], beside: RunUsage | None = None, graded: tuple[str, ...] = ()) -> RunUsage | None:
    """Return the usage of all calls of an output; None if neither they nor the totals ``beside`` them state any.

    A sum or a time is undefined unless every call that gave an answer states its part, since a partial sum would look
    complete. Undefined values are taken from the totals ``beside`` the calls. ``graded``: the metrics that depend on
    grades, if a judge is stated.
    """
    beside = beside or RunUsage()
    answered = [call for call in calls if not call.failed]

    def values(part: Callable[[Call], float | None]) -> list[float]:
        """Return the value of each call, if all calls with an answer state one; else an empty list."""
        if not answered or any(part(call) is None for call in answered):
            return []
        return [value for call in calls if (value := part(call)) is not None]

    times = values(lambda call: None if call.failed else call.usage.latency)
    tokens_in, tokens_out = values(lambda call: call.usage.tokens_in), values(lambda call: call.usage.tokens_out)
    costs = values(lambda call: call.usage.cost)
    parameters = {call.parameters for call in answered}
    judges = tuple(sorted({call.judge for call in answered if call.judge})) or beside.judges
    usage = RunUsage(
        models=tuple(sorted({call.model for call in answered if call.model})) or beside.models,
        parameters=(parameters.pop() if len(parameters) == 1 else "") or beside.parameters,
        tokens_in=int(fsum(tokens_in)) if tokens_in else beside.tokens_in,
        tokens_out=int(fsum(tokens_out)) if tokens_out else beside.tokens_out,
        cost=fsum(costs) if costs else beside.cost,
        latency_median=median(times) if times else beside.latency_median,
        latency_p95=nearest_rank(times, SHARE) if times else beside.latency_p95,
        judges=judges,
        graded=graded if judges else (),
    )
    return None if usage == RunUsage() else replace(usage, answers=len(answered) or beside.answers)


def missing_usage(calls: Sequence[Call]) -> tuple[Finding, ...]:
    """Return a note about usage that only some answers state, whose sum is undefined; empty if there is none."""
    answered = [call for call in calls if not call.failed]
    labels = ("tokens in", "tokens out", "cost", "latency")
    missing = [sum(call.usage[place] is None for call in answered) for place in range(len(labels))]
    partly = [
        f"{label} ({number})" for label, number in zip(labels, missing, strict=True) if 0 < number < len(answered)
    ]
    if not partly:
        return ()
    message = f"Some of {len(answered)} answers do not state what they took: {', '.join(partly)}"
    return (Finding("note", message, "Let the run state it for every answer; until then the sum is undefined."),)


def usage_metrics(usage: RunUsage | None) -> tuple[Metric, ...]:
    """Return the defined metrics of usage, in the order of ``USAGE_METRICS``."""
    values = [(spec.name, getattr(usage, spec.name)) for spec in USAGE_METRICS] if usage else []
    # The memo returns floats, and files must be the same with and without the memo.
    return tuple(Metric(name, float(value)) for name, value in values if value is not None)


def with_usage(card: Scorecard, usage: RunUsage | None) -> Scorecard:
    """Return the scorecard with the metrics of usage; a metric of the kind that has the same name is kept instead."""
    if usage is None:
        return card
    earlier = {name for name, _ in usage_metrics(card.usage)}
    of_kind = {metric.name: metric for metric in card.metrics if metric.name not in earlier}
    of_usage = (metric for metric in usage_metrics(usage) if metric.name not in of_kind)
    return replace(card, metrics=(*of_kind.values(), *of_usage), usage=usage)


VERDICTS: Final = ("pass_rate", "pass_any", "pass_all", "flaky", "spread")
"""The metrics of judged cases that follow from their verdicts, or from the scores of repeats."""

_GRADED: Final = {"judged": ("score", *(ratio.name for ratio in RATIOS), *VERDICTS), "responses": ("average_quality",)}
"""The metrics of each kind that depend on the grades of a judge."""


def with_stated(result: Result, beside: RunUsage | None) -> Result:
    """Return the result with the usage in a record beside the output; the output's own statements take precedence.

    Prompts of judges count besides the judges that are stated; without these, only where the output has scores.
    """
    if beside is None:
        return result
    card = result.scorecard
    own = card.usage or RunUsage()
    if prompts := tuple(name for name in beside.judges if name.startswith(JUDGE_PROMPT)):
        judges = own.judges or tuple(name for name in beside.judges if name not in prompts)
        beside = replace(beside, judges=(*judges, *prompts) if judges or "scores" in card.states else ())
        own = replace(own, judges=())
    added = {name: value for name, value in asdict(beside).items() if getattr(own, name) in (None, "", ())}
    recorded = [spec for spec in card.specs if spec.recorded]
    if recorded:  # what the run took is among its numbers
        added = {name: added[name] for name in ("models", "parameters", "judges") if name in added}
    if added.get("judges"):
        graded = {
            *_GRADED.get(card.kind, ()),
            *(spec.name for spec in recorded if spec.unit != COUNT and not is_amount(spec.name)),
        }
        added["graded"] = tuple(name for name, _ in card.metrics if name in graded)
    return replace(result, scorecard=with_usage(card, replace(own, **added))) if added else result
