"""The gate: computes the verdict on each metric and eval from limits, changes and noise.

A floor applies to the value at the head, and fails only if the base reached it. A drop applies to the change over the
documents that both sides have in common, and fails only beyond noise, if noise can be estimated. A metric without a
comparison never counts as compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import copysign, inf, isinf
from typing import Final, get_args

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
from sitegen.model.metrics import ROUNDING, MetricSpec, Threshold
from sitegen.model.noise import ChangeVerdict
from sitegen.model.series import EvalInfo

VERDICTS: Final[tuple[GateVerdict, ...]] = get_args(GateVerdict)
"""Verdicts from the best to the worst; of several verdicts the worst counts."""

VERDICT_OF_REASON: Final[Mapping[Reason, GateVerdict]] = {
    "below the floor": "fail",
    "still below the floor": "pass",
    "dropped": "fail",
    "a field was lost": "fail",
    "too many broken": "fail",
    "too few cases": "fail",
    "removed": "fail",
    "may be chance": "inconclusive",
    "undefined": "not comparable",
    "no such metric": "not comparable",
    "nothing in common": "not comparable",
    "another kind": "not comparable",
    "another judge": "not comparable",
}

OFF: Final = 100.0
"""The drop from which on no change of a metric fails."""

ChanceTest = Callable[[MetricSpec], ChangeVerdict | None]
"""Judges whether the change of a metric is more than chance; returns None if that cannot be judged."""


def limits_of(
    gate: GateSettings, thresholds: Iterable[Threshold], eval_id: str, specs: Sequence[MetricSpec]
) -> dict[str, MetricLimits]:
    """Return the limits of each metric of an eval by name, the metrics of its kind first.

    Limits of the eval take precedence over those of all evals, and limits of a named metric over those of the headline.
    The manifest's *thresholds* are floors of a metric of the eval, which rank after the gate's own.
    """
    own, floors = gate.evals.get(eval_id, EvalLimits()), dict(thresholds)
    names = [spec.name for spec in specs]
    headline = names[0]
    unknown_metrics = [name for name in (*own.metrics, *floors) if name not in names]

    def limits(name: str) -> MetricLimits:
        named, general = own.metrics.get(name, Limit()), gate.metrics.get(name, Limit())
        of_eval, of_all = (own, gate) if name == headline else (EvalLimits(), EvalLimits())
        return MetricLimits(
            _first_stated(named.floor, of_eval.floor, floors.get(name), general.floor, of_all.floor),
            _first_stated(named.drop, of_eval.drop, general.drop, of_all.drop),
        )

    return {name: limits(name) for name in dict.fromkeys((*names, *unknown_metrics))}


def case_limits(gate: GateSettings, eval_id: str) -> tuple[int | None, int | None]:
    """Return ``max_broken`` and ``min_cases`` of an eval; its own take precedence over those of all evals."""
    own = gate.evals.get(eval_id, EvalLimits())
    return (
        gate.max_broken if own.max_broken is None else own.max_broken,
        gate.min_cases if own.min_cases is None else own.min_cases,
    )


def check_metric(
    spec: MetricSpec,
    limits: MetricLimits,
    before: float | None,
    after: float | None,
    delta: MetricDelta | None,
    chance: ChanceTest | None = None,
    *,
    regraded: bool = False,
    lost: bool = False,
    strict_floors: bool = False,
) -> MetricCheck:
    """Check a metric against its limits.

    Args:
        spec: the metric.
        limits: its limits.
        before: its value at the base.
        after: its value at the head.
        delta: the change over common documents; None if there is nothing to compare with.
        chance: judges whether a drop beyond the limit may be chance; without it, any such drop fails.
        regraded: the metric is computed from grades, and another judge gave the grades at the head, so its change is
            not judged.
        lost: it is the headline, and a field broke wherever it was right. If that is more than chance, it fails however
            the value changed, unless drops are turned off.
        strict_floors: as in ``GateReport``.

    """
    reasons: list[Reason] = []
    verdict = None
    if limits.floor is not None:
        reasons += _floor_reasons(spec, limits.floor, before, after, strict=strict_floors)
    if limits.drop is not None and delta is not None:
        if delta.change is None:
            reasons += ("another judge",) if regraded else _incomparable_reasons(before, after)
        else:
            dropped = _worse_by(spec, delta.change, before) > limits.drop + ROUNDING
            if chance and (dropped or (lost and limits.drop < OFF)):
                verdict = chance(spec)
            if dropped:
                reasons.append("may be chance" if verdict and verdict.is_open else "dropped")
            elif verdict and verdict.decision == "worse":
                reasons.append("a field was lost")
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
    """Make the failed check of a limit on a metric that the eval's kind does not have."""
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
    cases: int | None = None,
    max_broken: int | None = None,
    min_cases: int | None = None,
) -> EvalCheck:
    """Combine the checks of an eval's metrics, and the reasons that concern the whole eval.

    ``cases``, ``max_broken``, ``min_cases``: as in ``EvalCheck``.
    """
    whole = tuple(reasons)
    if compared and max_broken is not None and compared.broken > max_broken:
        whole += ("too many broken",)
    if cases is not None and min_cases is not None and cases < min_cases:
        whole += ("too few cases",)
    if compared and compared.overlap.verdict == "refused":
        whole += ("nothing in common",)
    elif compared and metrics[0].before is None and metrics[0].after is None:
        whole += ("undefined",)
    if presence == "both":
        matched = not any(VERDICT_OF_REASON[reason] == "not comparable" for reason in whole)
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
        cases=cases,
        max_broken=max_broken,
        min_cases=min_cases,
    )


def gate_report(
    base: str,
    head: str,
    evals: Iterable[EvalCheck],
    *,
    allow_incomparable: bool = False,
    strict_floors: bool = False,
) -> GateReport:
    """Make the report on all evals. With *allow_incomparable* the gate passes if at least one eval was compared."""
    ordered = tuple(sorted(evals, key=_worst_first))
    matched = sum(check.matched for check in ordered)
    verdict: GateVerdict = max((check.verdict for check in ordered), key=VERDICTS.index, default="pass")
    if not matched and verdict != "fail":
        verdict = "not comparable"
    fine = verdict in ("pass", "inconclusive") or (allow_incomparable and verdict == "not comparable")
    return GateReport(
        base=base,
        head=head,
        verdict=verdict,
        passed=fine and matched > 0,
        matched=matched,
        evals=ordered,
        strict_floors=strict_floors,
    )


def _worst_first(check: EvalCheck) -> tuple[int, float, int, str]:
    """Return the place of an eval: by verdict, then by how much its headline got worse, then by broken cells."""
    headline = check.metrics[0] if check.metrics else None
    change = headline.change if headline else None
    worse = _worse_by(headline.spec, change, headline.before) if headline and change is not None else 0.0
    broken = check.compared.broken if check.compared else 0
    return -VERDICTS.index(check.verdict), -round(worse, 9), -broken, check.info.id


def _incomparable_reasons(before: float | None, after: float | None) -> tuple[Reason, ...]:
    """Explain why the change of a metric is undefined, if the base has the metric."""
    if before is None:
        return ()
    return ("undefined",) if after is None else ("nothing in common",)


def _floor_reasons(
    spec: MetricSpec, floor: float, before: float | None, after: float | None, *, strict: bool
) -> tuple[Reason, ...]:
    if after is None:
        return ("undefined",)
    if spec.reaches(after, floor):
        return ()
    missed_before = before is not None and not spec.reaches(before, floor)
    return ("still below the floor",) if missed_before and not strict else ("below the floor",)


def _worse_by(spec: MetricSpec, change: float, before: float | None) -> float:
    """Return by how many points a metric got worse; for amounts, in percent of the value before. Negative if better."""
    if isinf(spec.high):
        points = 100 * change / before if before else copysign(inf, change)
    else:
        points = 100 * change / (spec.high - spec.low)
    return -points if spec.higher_is_better else points


def _worst_verdict(reasons: Iterable[Reason]) -> GateVerdict:
    return max((VERDICT_OF_REASON[reason] for reason in reasons), key=VERDICTS.index, default="pass")


def _first_stated(*values: float | None) -> float | None:
    return next((value for value in values if value is not None), None)
