"""The gate: computes the verdict on each metric and eval from limits, changes and noise.

A floor applies to the value at the head, and fails only if the base reached it. A drop applies to the change over the
documents that both sides have in common, and fails only beyond noise, if noise can be estimated. A metric without a
comparison never counts as compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import copysign, inf, isinf
from typing import Final, Literal, get_args

from msgspec.structs import replace

from sitegen.config.models import EvalLimits, GateSettings, Limit
from sitegen.model.changes import ChangeVerdict, MetricDelta
from sitegen.model.gate import GateEval, GateMetric, GateReport, GateVerdict, MetricLimits, Reason
from sitegen.model.metrics import ROUNDING, MetricSpec
from sitegen.model.series import EvalInfo

VERDICTS: Final[tuple[GateVerdict, ...]] = get_args(GateVerdict)
"""Verdicts from the best to the worst; of several verdicts the worst counts."""

VERDICT_OF_REASON: Final[Mapping[Reason, GateVerdict]] = {
    "below the floor": "fail",
    "still below the floor": "pass",
    "dropped": "fail",
    "worse on these cases": "fail",
    "too many broken": "fail",
    "too few cases": "fail",
    "removed": "fail",
    "worse by the repeats of the base": "fail",
    "may be chance": "inconclusive",
    "same output": "inconclusive",
    "undefined": "not comparable",
    "no such metric": "not comparable",
    "nothing in common": "not comparable",
    "not fetched": "not comparable",
    "another kind": "not comparable",
    "another judge": "not comparable",
}

OFF: Final = 100.0
"""The drop from which on no change of a metric fails."""

ChanceTest = Callable[[MetricSpec], ChangeVerdict | None]
"""Judges whether the change of a metric is more than chance; returns None if that cannot be judged."""


def limits_of(gate: GateSettings, info: EvalInfo, specs: Sequence[MetricSpec]) -> dict[str, MetricLimits]:
    """Return the limits of each metric of an eval by name, the metrics of its kind first.

    Limits of the eval take precedence over those of all evals, and limits of a named metric over those of the headline.
    The thresholds of the manifest rank after the gate's own.
    """
    own, floors = gate.evals.get(info.id, EvalLimits()), info.thresholds
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
    is_headline: bool = False,
    excuse: Literal["same output", "another judge"] | None = None,
    strict_floors: bool = False,
) -> GateMetric:
    """Check a metric against its limits.

    ``before`` and ``after`` are its values at the base and at the head, and ``delta`` the change over common documents;
    None if there is nothing to compare with. ``chance`` judges whether the change of the headline, or a drop beyond the
    limit, may be chance; without it, any such drop fails.

    The headline may hide a loss: a field broke wherever it was right, or more broke than was fixed at the same or a
    better value. If that is more than chance, it fails however the value changed, unless drops are turned off.
    ``excuse``: no drop is the doing of the model, because the output is the same, or because the metric is computed
    from grades that another judge gave at the head, so that its change is undefined. ``strict_floors`` as in
    ``GateReport``.
    """
    reasons: list[Reason] = []
    verdict = None
    if limits.floor is not None:
        reasons += _floor_reasons(spec, limits.floor, before, after, strict=strict_floors)
    if delta is not None and delta.change is not None:
        dropped = limits.drop is not None and _worse_by(spec, delta.change, before) > limits.drop + ROUNDING
        if chance and (is_headline or dropped):
            verdict = chance(spec)
        if dropped and excuse:
            reasons.append(excuse)
        elif dropped:
            reasons.append("may be chance" if verdict and verdict.is_open else "dropped")
        elif limits.drop is not None and limits.drop < OFF and verdict and _hides_loss(spec, delta.change, verdict):
            reasons.append("worse on these cases")
    elif delta is not None and limits.drop is not None:
        reasons += (excuse,) if excuse == "another judge" else _incomparable_reasons(before, after)
    unique = tuple(dict.fromkeys(reasons))
    change, parts = (delta.change, delta.parts) if delta else (None, None)
    return GateMetric(
        name=spec.name,
        base=before,
        head=after,
        change=change,
        points=None if change is None else _points(spec, change, before),
        parts=None if spec.recorded else parts,
        floor=limits.floor,
        drop=limits.drop,
        verdict=_worst_verdict(unique),
        reasons=unique,
        noise=verdict,
        higher_is_better=spec.higher_is_better,
        range=(spec.low, None if isinf(spec.high) else spec.high),
        label=spec.label,
        unit=spec.unit,
    )


def without_excuse(check: GateMetric) -> GateMetric:
    """Fail a metric that is worse by the repeats of the base, though not by those that the branch added to them."""
    reasons: tuple[Reason, ...] = tuple(reason for reason in check.reasons if reason != "may be chance")
    return replace(check, reasons=(*reasons, "worse by the repeats of the base"), verdict="fail")


def check_stranger(name: str, limits: MetricLimits) -> GateMetric:
    """Make the failed check of a limit on a metric that the eval's kind does not have."""
    check = check_metric(MetricSpec(name, name, ""), MetricLimits(), None, None, None)
    reason: Reason = "no such metric"
    return replace(check, floor=limits.floor, drop=limits.drop, verdict=VERDICT_OF_REASON[reason], reasons=(reason,))


def check_eval(draft: GateEval) -> GateEval:
    """Combine the checks of an eval's metrics, and the reasons that concern the whole eval, to its verdict."""
    reasons, metrics = draft.reasons, draft.metrics
    judged = draft.overlap and not draft.same_output
    if judged and draft.max_broken is not None and draft.broken > draft.max_broken:
        reasons += ("too many broken",)
    if draft.cases is not None and draft.min_cases is not None and draft.cases < draft.min_cases:
        reasons += ("too few cases",)
    lacks_value = bool(metrics) and None in (metrics[0].base, metrics[0].head)
    if "not fetched" in reasons:
        pass  # which says why nothing is compared
    elif draft.overlap and draft.overlap.verdict == "refused":
        reasons += ("undefined" if lacks_value else "nothing in common",)
    elif draft.overlap and metrics[0].base is None and metrics[0].head is None:
        reasons += ("undefined",)
    if draft.presence == "both":
        matched = not any(VERDICT_OF_REASON[reason] == "not comparable" for reason in reasons)
    else:
        matched = any(metric.floor is not None and metric.head is not None for metric in metrics)
    verdict = _worst_verdict([*reasons, *(reason for metric in metrics for reason in metric.reasons)])
    return replace(draft, verdict=verdict, reasons=reasons, matched=matched)


def gate_report(
    base: str, head: str, evals: Iterable[GateEval], *, allow_incomparable: bool = False, strict_floors: bool = False
) -> GateReport:
    """Make the report on all evals. With ``allow_incomparable`` the gate passes if at least one eval was compared.

    First outputs pass: the base has nothing to compare them with, and floors alone apply to them.
    """
    ordered = tuple(sorted(evals, key=_worst_first))
    matched = sum(check.matched for check in ordered)
    verdict: GateVerdict = max((check.verdict for check in ordered), key=VERDICTS.index, default="pass")
    begins = any(check.presence == "new" for check in ordered)
    if not matched and not (verdict == "pass" and begins):
        verdict = max(verdict, "not comparable", key=VERDICTS.index)
    fine = verdict in ("pass", "inconclusive") or (allow_incomparable and verdict == "not comparable")
    return GateReport(
        base=base,
        head=head,
        verdict=verdict,
        passed=fine and (matched > 0 or verdict == "pass"),
        matched=matched,
        evals=ordered,
        strict_floors=strict_floors,
    )


def _worst_first(check: GateEval) -> tuple[int, float, int, str]:
    """Return the place of an eval: by verdict, then by how much its headline got worse, then by broken cells."""
    headline = check.metrics[0] if check.metrics else None
    worse = 0.0
    if headline and headline.change is not None:
        worse = round(_worse_by(headline.spec, headline.change, headline.base), 9)
    return -VERDICTS.index(check.verdict), -worse, -check.broken, check.eval_id


def _hides_loss(spec: MetricSpec, change: float, verdict: ChangeVerdict) -> bool:
    """Decide whether something was lost that the value of the headline does not show.

    The headline of highlights is a recall, which texts that are wrongly marked leave as it is.
    """
    better = change if spec.higher_is_better else -change
    more_broke = better > -ROUNDING and verdict.broken > verdict.fixed
    return verdict.decision == "worse" and (bool(verdict.lost_fields) or more_broke)


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


def _points(spec: MetricSpec, change: float, before: float | None) -> float | None:
    """Return a change in hundredths of the metric's range, for an amount in percent of the value before.

    None for an amount that was undefined or 0 before.
    """
    if not isinf(spec.high):
        return 100 * change / (spec.high - spec.low)
    return 100 * change / before if before else None


def _worse_by(spec: MetricSpec, change: float, before: float | None) -> float:
    """Return by how many points a metric got worse; negative if better."""
    points = _points(spec, change, before)
    points = copysign(inf, change) if points is None else points
    return -points if spec.higher_is_better else points


def _worst_verdict(reasons: Iterable[Reason]) -> GateVerdict:
    return max((VERDICT_OF_REASON[reason] for reason in reasons), key=VERDICTS.index, default="pass")


def _first_stated(*values: float | None) -> float | None:
    return next((value for value in values if value is not None), None)
