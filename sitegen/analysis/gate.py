"""The gate: computes the verdict on each metric and eval from limits, changes and noise.

A floor applies to the value at the head, and fails only if the base reached it. A drop applies to the change over the
documents that both sides have in common, and fails only beyond noise, if noise can be estimated. A metric without a
comparison never counts as compared.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from math import copysign, inf, isinf
from typing import Final, get_args

from msgspec.structs import replace

from sitegen.analysis.series import in_another_unit
from sitegen.config.models import EvalLimits, GateSettings, Limit, SlicedLimits
from sitegen.data_files.project_files import SITE_FILES
from sitegen.model.changes import ChangeVerdict
from sitegen.model.gate import Doubt, Failure, GateEval, GateMetric, GateReport, GateVerdict, Incomparable, Lost, Reason
from sitegen.model.metrics import ROUNDING, MetricSpec, traits_of
from sitegen.model.problems import Problem
from sitegen.model.series import EvalInfo
from sitegen.model.usage import regraded
from sitegen.text.keys import nearest
from sitegen.text.values import first_names

VERDICTS: Final[tuple[GateVerdict, ...]] = get_args(GateVerdict)
"""Verdicts from the best to the worst; of several verdicts the worst counts."""

VERDICT_OF_REASON: Final[Mapping[Reason, GateVerdict]] = {
    "still below the floor": "pass",
    **dict.fromkeys(get_args(Failure), "fail"),
    **dict.fromkeys(get_args(Doubt), "inconclusive"),
    **dict.fromkeys(get_args(Incomparable), "not comparable"),
}

OFF: Final = 100.0  # the drop from which on no change of a metric fails
_MOST_FAILED: Final = 0.1  # of the documents of the base, at the head, unless ``min_cases`` is set; one may always fail
_MOST_FEWER: Final = 0.5  # of the documents of the base: the head has not so many fewer, unless ``min_cases`` is set
GIVEN: Final[tuple[Reason, ...]] = ("no such metric", "worse by the repeats of the base")
"""Reasons of a metric that do not follow from its own numbers and limits; ``check_eval`` keeps them."""


def limits_of(gate: GateSettings, info: EvalInfo, specs: Sequence[MetricSpec]) -> dict[str, Limit]:
    """Return the limits of each metric of an eval by name, the metrics of its kind first.

    Limits of the eval take precedence over those of all evals, and limits of a named metric over those of the headline.
    The targets of the manifest are floors too, and rank after those that name the eval in ``[gate]``.
    """
    own, floors = gate.evals.get(info.id, EvalLimits()), info.thresholds
    known = {name for spec in specs for name in spec.names}
    unknown_metrics = [MetricSpec(name, name, "") for name in (*own.metrics, *floors) if name not in known]

    def limits(spec: MetricSpec) -> Limit:
        of_eval, of_all = (
            [*(of.metrics[name] for name in spec.names if name in of.metrics), *([of] if spec in specs[:1] else [])]
            for of in (own, gate)
        )
        ranked = (*of_eval, *(Limit(floor=floors[name]) for name in spec.names if name in floors), *of_all)
        floor = next((limit.floor for limit in ranked if limit.floor is not None), None)
        drop = next((limit.drop for limit in ranked if limit.drop is not None), None)
        return Limit(floor=floor, drop=drop)

    return {spec.name: limits(spec) for spec in (*specs, *unknown_metrics)}


def looser_limits(
    before: tuple[GateSettings, EvalInfo], after: tuple[GateSettings, EvalInfo], specs: Sequence[MetricSpec]
) -> dict[Lost, tuple[str, ...]]:
    """Name each limit of an eval and of its slices that is looser than at the base, or gone, with both values."""
    at_head, looser = _limits_in_force(*after, specs), list[str]()
    for name, (old, sign) in _limits_in_force(*before, specs).items():
        new, _ = at_head.get(name, (None, 0))
        if old is not None and (new is None or (new - old) * sign > 0):
            shown = (str(value).lower().removesuffix(".0") for value in (new, old))
            looser.append("{} {} ({} at the base)".format(name, *shown))
    return {"looser limits": tuple(looser)}


def _limits_in_force(
    gate: GateSettings, info: EvalInfo, specs: Sequence[MetricSpec]
) -> dict[str, tuple[float | None, int]]:
    """Return each limit by its name, with 1 if a greater value is looser, and -1 if a smaller one is."""
    found: dict[str, tuple[float | None, int]] = {"removed": (info.id in gate.removed, 1), "noise": (gate.noise, 1)}
    found |= {"strict_floors": (gate.strict_floors, -1), "allow_incomparable": (gate.allow_incomparable, 1)}
    for key in ("", *gate.slices, *gate.evals.get(info.id, SlicedLimits()).slices):
        end, settings = (f" of {key}", gate.of_slice(info.id, (key,)) or gate) if key else ("", gate)
        limits = limits_of(settings, replace(info, thresholds={}) if key else info, specs)
        for spec in specs:
            found[f"floor of {spec.label}{end}"] = (limits[spec.name].floor, -1 if spec.higher_is_better else 1)
            found[f"drop of {spec.label}{end}"] = (limits[spec.name].drop, 1)
        most, least = settings.case_limits(info.id)
        found |= {f"max_broken{end}": (most, 1), f"min_cases{end}": (least, -1)}
    return found


def idle_limits(gate: GateSettings, known: Mapping[str, Collection[str]]) -> Iterator[Problem]:
    """Yield the problem of each limit for an eval, metric or slice that is not ``known``: nothing ever fails by it."""
    for key, eval_id, metric, _ in gate.limits:
        noun = "metric" if metric else "slice" if ".slices." in key else "eval"
        name = metric or key.partition(".slices.")[2] or eval_id
        names = known.get(noun, (name,))
        if name and name not in names:
            turned = ",".join(reversed(name.split(",")))  # of a pair, variant and model have an order
            near = turned if turned in names else nearest(name, names)
            fix = f"Did you mean {near!r}?" if near else f"Known: {first_names(sorted({*names}), 50) or 'none'}."
            message = f"[{key.removesuffix(f'.{noun}s.{name}')}] has limits for {name!r}, and no {noun} has that name."
            yield Problem.of_type("unmatched_limit", message, fix, SITE_FILES[0], field=key)


def gate_metric(spec: MetricSpec, limits: Limit) -> GateMetric:
    """Return a metric with its limits, without values."""
    return GateMetric(
        name=spec.name,
        base=None,
        head=None,
        change=None,
        points=None,
        parts=None,
        by_base=None,
        by_head=None,
        floor=limits.floor,
        drop=limits.drop,
        verdict="pass",
        reasons=(),
        higher_is_better=spec.higher_is_better,
        range=(spec.low, None if isinf(spec.high) else spec.high),
        label=spec.label,
        unit=spec.unit,
    )


def stranger(name: str, limits: Limit) -> GateMetric:
    """Return the metric for limits on a metric that the eval's kind does not have."""
    return replace(gate_metric(MetricSpec(name, name, ""), limits), reasons=("no such metric",))


def check_eval(draft: GateEval, *, strict_floors: bool = False) -> GateEval:
    """Check the metrics of an eval against their limits, and combine their verdicts with its own reasons.

    The metrics have their values and changes, and the verdicts on these: a drop that has none fails. Only the verdict
    on the headline, or on a drop beyond the limit, remains. ``strict_floors`` as in ``GateReport``.
    """
    metrics = tuple(_checked_metric(metric, draft, strict_floors=strict_floors) for metric in draft.metrics)
    reasons = draft.reasons
    judged = draft.overlap and not draft.same_output
    if judged and draft.max_broken is not None and (draft.broken or 0) > draft.max_broken:
        reasons += ("too many broken",)
    failed, common = len(draft.lost.get("failed at the head", ())), draft.overlap.common if draft.overlap else 0
    at_base, at_head = (draft.overlap.only_base, draft.overlap.only_head) if draft.overlap and common else ((), ())
    fewer, least = len(at_base) - len(at_head), draft.min_cases
    if (
        failed > max(1, _MOST_FAILED * (common + failed)) or fewer >= max(1, _MOST_FEWER * (common + len(at_base)))
        if least is None
        else draft.cases is not None and draft.cases < least
    ):
        reasons += ("too few cases",)
    if draft.overlap and "not fetched" not in reasons:  # which says why nothing is compared
        values, is_refused = (metrics[0].base, metrics[0].head), draft.overlap.verdict == "refused"
        if (None in values) if is_refused else values == (None, None):
            reasons += ("undefined",)
        elif is_refused:
            reasons += ("nothing in common",)
    if draft.presence == "both":
        matched = not any(VERDICT_OF_REASON[reason] == "not comparable" for reason in reasons)
    else:
        matched = any(metric.floor is not None and metric.head is not None for metric in metrics)
    verdict = _worst_verdict([*reasons, *(reason for metric in metrics for reason in metric.reasons)])
    return replace(draft, verdict=verdict, reasons=reasons, matched=matched, metrics=metrics)


def _checked_metric(metric: GateMetric, draft: GateEval, *, strict_floors: bool) -> GateMetric:
    """Check a metric of an eval.

    The headline may hide a loss: a field broke wherever it was right, or more broke than was fixed at the same or a
    better value. If that is more than chance, it fails however the value changed, unless drops are turned off.
    """
    given = tuple(reason for reason in metric.reasons if reason in GIVEN)
    metric = replace(metric, points=_points(metric))
    alone: tuple[Reason, ...] = ("another unit",) if metric.has_limit and mixes_units(metric, draft.kind) else given
    if "no such metric" in given or alone != given:
        return replace(metric, reasons=alone, verdict=_worst_verdict(alone))
    noise = None
    reasons = _floor_reasons(metric, strict=strict_floors)
    if draft.overlap and metric.change is not None:
        by_head = replace(metric, change=metric.change if metric.by_head is None else metric.by_head)
        worse = max(map(_worse_by, (metric, by_head)))
        if worse > _limit(metric) or metric.name == draft.metrics[0].name:
            noise = metric.noise
        reasons += _drop_reasons(metric, by_head, noise, same_output=draft.same_output)
        worse = max(0.0, metric.drop or 0.0, worse) + ROUNDING
        is_worse_by_base = metric.drop is not None and _worse_by(replace(metric, change=metric.by_base)) > worse
        if is_worse_by_base and {"dropped", "same output", "worse on these cases"}.isdisjoint(reasons):
            reasons += ("worse by what the base expects",)
    elif draft.overlap and metric.drop is not None:
        if regraded(draft.judge, metric.name):
            reasons += ("same output",) if draft.same_output else ("another judge",)
        elif metric.base is not None:
            reasons += ("undefined",) if metric.head is None else ("nothing in common",)
    if given:  # the repeats that the branch added do not excuse it
        reasons = (*(reason for reason in reasons if reason != "may be chance"), *given)
    return replace(metric, reasons=tuple(dict.fromkeys(reasons)), verdict=_worst_verdict(reasons), noise=noise)


def _limit(metric: GateMetric) -> float:
    return inf if metric.drop is None else metric.drop + ROUNDING


def _drop_reasons(
    metric: GateMetric, by_head: GateMetric, noise: ChangeVerdict | None, *, same_output: bool
) -> tuple[Reason, ...]:
    """Return why a metric got worse by more than its limit, or hides a loss; nothing if neither.

    ``by_head``: the same with the change by the ground truth and rules of the head on both sides.
    """
    fell, fell_by_head = _worse_by(metric) > _limit(metric), _worse_by(by_head) > _limit(metric)
    if same_output and (fell or fell_by_head):
        return ("same output",)
    if fell_by_head:
        return ("may be chance" if noise and noise.is_open else "dropped",)
    if _limit(metric) < OFF and noise and _hides_loss(by_head if fell else metric, noise):
        return ("worse on these cases",)
    return ("other ground truth",) if fell else ()


def mixes_units(metric: GateMetric, kind: str) -> bool:
    """Whether one value of a recorded number seems to be a share, and the other a percentage."""
    return traits_of(kind).is_recorded and metric.higher_is_better and bool(in_another_unit((metric.base, metric.head)))


def check_report(draft: GateReport, *, allow_incomparable: bool = False) -> GateReport:
    """Sort the evals of a report, each of them checked, and combine their verdicts.

    ``allow_incomparable``: whether the gate passes if at least one eval was compared.

    First outputs pass: the base has nothing to compare them with, and floors alone apply to them.
    """
    ordered = tuple(sorted(draft.evals, key=_worst_first))
    matched = len({check.eval_id for check in ordered if check.matched})
    verdict: GateVerdict = max((check.verdict for check in ordered), key=VERDICTS.index, default="pass")
    begins = any(check.presence == "new" for check in ordered)
    if not matched and not (verdict == "pass" and begins):
        verdict = max(verdict, "not comparable", key=VERDICTS.index)
    fine = verdict in ("pass", "inconclusive") or (allow_incomparable and verdict == "not comparable")
    passed = fine and (matched > 0 or verdict == "pass")
    return replace(draft, verdict=verdict, passed=passed, matched=matched, evals=ordered)


def _worst_first(check: GateEval) -> tuple[int, float, int, str]:
    """Return the place of an eval: by verdict, then by how much its headline got worse, then by broken cells."""
    headline = check.metrics[0] if check.metrics else None
    worse = round(_worse_by(headline), 9) if headline else 0.0
    return -VERDICTS.index(check.verdict), -worse, -(check.broken or 0), check.key


def _hides_loss(metric: GateMetric, noise: ChangeVerdict) -> bool:
    """Decide whether something was lost that the value of the headline does not show.

    The headline of highlights is a recall, which texts that are wrongly marked leave as it is.
    """
    better = (metric.change or 0.0) * (1 if metric.higher_is_better else -1)
    more_broke = better > -ROUNDING and noise.broken > noise.fixed
    return noise.decision == "worse" and (bool(noise.lost_fields) or more_broke)


def _floor_reasons(metric: GateMetric, *, strict: bool) -> tuple[Reason, ...]:
    if metric.floor is None:
        return ()
    if metric.head is None:
        return ("undefined",)
    if metric.spec.reaches(metric.head, metric.floor):
        return ()
    missed_before = metric.base is not None and not metric.spec.reaches(metric.base, metric.floor)
    return ("still below the floor",) if missed_before and not strict else ("below the floor",)


def _points(metric: GateMetric) -> float | None:
    """Return a change in hundredths of the metric's range, for an amount in percent of the value before.

    None for an amount that was undefined or 0 before.
    """
    if metric.change is None:
        return None
    low, high = metric.range
    if high is not None:
        return 100 * metric.change / (high - low)
    return 100 * metric.change / metric.base if metric.base else None


def _worse_by(metric: GateMetric) -> float:
    """Return by how many points a metric got worse; negative if better."""
    if metric.change is None:
        return 0.0
    points = _points(metric)
    points = copysign(inf, metric.change) if points is None else points
    return -points if metric.higher_is_better else points


def _worst_verdict(reasons: Iterable[Reason]) -> GateVerdict:
    return max((VERDICT_OF_REASON[reason] for reason in reasons), key=VERDICTS.index, default="pass")
