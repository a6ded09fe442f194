"""The gate: limits, changes and noise in, verdicts out.

A floor is held against the head as it is. A drop is held against the change over what both sides have in common, and
fails only beyond noise, where noise can be told. What cannot be compared never passes for something that was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import copysign, inf, isinf
from typing import Final

from sitegen.config import EvalLimits, GateSettings, Limit
from sitegen.model.deltas import MetricDelta
from sitegen.model.gate import (
    EvalCheck,
    GatedChange,
    GateReport,
    GateVerdict,
    MetricCheck,
    MetricLimits,
    Presence,
    Reason,
)
from sitegen.model.metrics import MetricSpec
from sitegen.model.noise import ChangeVerdict
from sitegen.model.series import EvalInfo

VERDICTS: Final[tuple[GateVerdict, ...]] = ("pass", "inconclusive", "not comparable", "fail")
"""From the best to the worst: of several, the worst counts."""

VERDICT_OF_REASON: Final[Mapping[Reason, GateVerdict]] = {
    "below the floor": "fail",
    "dropped": "fail",
    "removed": "fail",
    "may be chance": "inconclusive",
    "undefined": "not comparable",
    "no such metric": "not comparable",
    "nothing in common": "not comparable",
    "another kind": "not comparable",
    "another judge": "not comparable",
}

_ROUNDING: Final = 1e-9

Chance = Callable[[MetricSpec], ChangeVerdict | None]
"""Whether the change of a metric is more than chance; None if that cannot be told."""


def limits_of(
    gate: GateSettings, thresholds: Iterable[tuple[str, float]], eval_id: str, specs: Sequence[MetricSpec]
) -> dict[str, MetricLimits]:
    """What is wanted of each metric of an eval, by name, those of its kind first.

    What is said of the eval goes before what is said of all, and there what names the metric goes before what is said
    of the headline. The manifest's *thresholds* are floors that name eval and metric, after the gate's own.
    """
    own, floors = gate.evals.get(eval_id, EvalLimits()), dict(thresholds)
    names = [spec.name for spec in specs]
    headline = names[0]
    strangers = [name for name in (*own.metrics, *floors) if name not in names]

    def limits(name: str) -> MetricLimits:
        named, general = own.metrics.get(name, Limit()), gate.metrics.get(name, Limit())
        of_eval, of_all = (own, gate) if name == headline else (EvalLimits(), EvalLimits())
        return MetricLimits(
            _first_stated(named.floor, of_eval.floor, floors.get(name), general.floor, of_all.floor),
            _first_stated(named.drop, of_eval.drop, general.drop, of_all.drop),
        )

    return {name: limits(name) for name in dict.fromkeys((*names, *strangers))}


def check_metric(
    spec: MetricSpec,
    limits: MetricLimits,
    values: tuple[float | None, float | None],
    delta: MetricDelta | None,
    chance: Chance | None = None,
    *,
    regraded: bool = False,
) -> MetricCheck:
    """Hold a metric against its limits.

    *values* are those of base and head as they are, *delta* the change over what both have in common, None if there is
    nothing to compare with. Without *chance* any drop beyond the limit fails. *regraded*: the metric is made from
    grades, and another judge gave those of the head, so that nothing is to be said of its change.
    """
    before, after = values
    reasons: list[Reason] = []
    verdict = None
    if limits.floor is not None:
        reasons += _floor_reasons(spec, limits.floor, after)
    if limits.drop is not None and delta is not None:
        if delta.change is None:
            reasons += ("another judge",) if regraded else _incomparable_reasons(before, after)
        elif _worse_by(spec, delta.change, before) > limits.drop + _ROUNDING:
            verdict = chance(spec) if chance else None
            reasons.append("may be chance" if verdict and verdict.decision == "inconclusive" else "dropped")
    unique = tuple(dict.fromkeys(reasons))
    change, parts = (delta.change, delta.parts) if delta else (None, None)
    return MetricCheck(
        spec=spec,
        limits=limits,
        verdict=_worst_verdict(unique),
        reasons=unique,
        before=before,
        after=after,
        change=change,
        parts=parts,
        chance=verdict,
    )


def check_stranger(name: str, limits: MetricLimits) -> MetricCheck:
    """A limit of a metric that the eval's kind has not."""
    return MetricCheck(
        spec=MetricSpec(name, name, ""),
        limits=limits,
        verdict=VERDICT_OF_REASON["no such metric"],
        reasons=("no such metric",),
    )


def check_eval(
    info: EvalInfo,
    presence: Presence,
    metrics: Sequence[MetricCheck] = (),
    reasons: Sequence[Reason] = (),
    *,
    compared: GatedChange | None = None,
    file: str = "",
) -> EvalCheck:
    """An eval from its metrics and what is to be said of the whole."""
    whole = tuple(reasons)
    if compared and compared.overlap.verdict == "refused":
        whole += ("nothing in common",)
    elif compared and metrics[0].before is None and metrics[0].after is None:
        whole += ("undefined",)
    if presence == "both":
        matched = not whole
    else:
        matched = any(metric.limits.floor is not None and metric.after is not None for metric in metrics)
    verdict = _worst_verdict([*whole, *(reason for metric in metrics for reason in metric.reasons)])
    return EvalCheck(
        info=info,
        presence=presence,
        verdict=verdict,
        reasons=whole,
        metrics=tuple(metrics),
        compared=compared,
        matched=matched,
        file=file,
    )


def gate_report(base: str, head: str, evals: Iterable[EvalCheck], *, allow_incomparable: bool = False) -> GateReport:
    """The whole. With *allow_incomparable* what cannot be compared fails only if nothing else could be."""
    ordered = tuple(sorted(evals, key=lambda check: (-VERDICTS.index(check.verdict), check.info.id)))
    matched = sum(check.matched for check in ordered)
    verdict: GateVerdict = max((check.verdict for check in ordered), key=VERDICTS.index, default="pass")
    if not matched and verdict != "fail":
        verdict = "not comparable"
    fine = verdict in ("pass", "inconclusive") or (allow_incomparable and verdict == "not comparable")
    return GateReport(
        base=base, head=head, verdict=verdict, passed=fine and matched > 0, matched=matched, evals=ordered
    )


def _incomparable_reasons(before: float | None, after: float | None) -> tuple[Reason, ...]:
    """Why there is no change of a metric that the base has."""
    if before is None:
        return ()
    return ("undefined",) if after is None else ("nothing in common",)


def _floor_reasons(spec: MetricSpec, floor: float, value: float | None) -> tuple[Reason, ...]:
    if value is None:
        return ("undefined",)
    return () if spec.reaches(value, floor) else ("below the floor",)


def _worse_by(spec: MetricSpec, change: float, before: float | None) -> float:
    """Points, of an amount percent of what it was before; below zero if it got better."""
    if isinf(spec.high):
        points = 100 * change / before if before else copysign(inf, change)
    else:
        points = 100 * change / (spec.high - spec.low)
    return -points if spec.higher_is_better else points


def _worst_verdict(reasons: Iterable[Reason]) -> GateVerdict:
    return max((VERDICT_OF_REASON[reason] for reason in reasons), key=VERDICTS.index, default="pass")


def _first_stated(*values: float | None) -> float | None:
    return next((value for value in values if value is not None), None)
