"""Sentences that explain why an eval does not pass. They contain names of a project, which each format must escape."""

from __future__ import annotations

from collections.abc import Iterator
from math import isinf

from sitegen.errors import SitegenError
from sitegen.model.gate import EvalCheck, GateReport, MetricCheck, Reason
from sitegen.model.kinds import traits_of
from sitegen.model.metrics import MetricSpec, Nouns
from sitegen.pages.change_text import in_points, smallest_change, verdict_words
from sitegen.pages.labels import spread_words
from sitegen.text.markdown_cells import number, signed


def reason_sentences(check: EvalCheck) -> Iterator[str]:
    """The sentences about the whole eval, then those about each metric."""
    yield from (eval_sentence(check, reason) for reason in check.reasons)
    for metric in check.metrics:
        yield from metric_sentences(metric, check.info.nouns)


def is_amount(spec: MetricSpec) -> bool:
    """Whether a metric has no upper bound, so that its changes are percentages of its earlier value."""
    return isinf(spec.high)


def points_of(metric: MetricCheck) -> float | None:
    """The change in hundredths of the metric's range, like limits; for an amount in percent of the earlier value.

    None without a change, or without an earlier value other than 0.
    """
    if metric.change is None:
        return None
    if not is_amount(metric.spec):
        return in_points(metric.change, metric.spec)
    return 100 * metric.change / metric.before if metric.before else None


def change_text(metric: MetricCheck) -> str:
    """The signed change in the metric's own unit, for an amount also in percent: ``+0.50 s (+25 %)``."""
    text = signed(metric.change, metric.spec.unit)
    share = points_of(metric) if is_amount(metric.spec) else None
    return text if share is None else f"{text} ({share:+.3g} %)"


def allowed_drop(metric: MetricCheck) -> str:
    """By how much a metric may get worse: in its own unit, or for an amount in percent."""
    drop = metric.limits.drop or 0.0
    return f"{drop:g} %" if is_amount(metric.spec) else f"{drop * (metric.spec.high - metric.spec.low) / 100:g}"


def metric_sentences(metric: MetricCheck, nouns: Nouns) -> Iterator[str]:
    """One sentence for each reason."""
    for reason in metric.reasons:
        yield f"{metric.spec.label} {_metric_predicate(metric, reason, nouns)}."


def missed_floor(metric: MetricCheck) -> str:
    """The value at the head and the floor that it misses: ``0.604, below the floor of 0.8``."""
    side = "below the floor" if metric.spec.higher_is_better else "above the ceiling"
    return f"{number(metric.after, unit=metric.spec.unit)}, {side} of {metric.limits.floor:g}"


def spread_sentences(metric: MetricCheck) -> Iterator[str]:
    """The variants that the values of a metric average at base and head, if an output has several variants."""
    for side, spread in (("base", metric.averaged_before), ("head", metric.averaged_after)):
        if spread:
            yield f"{metric.spec.label} at the {side}: {spread_words(spread)}."


def eval_sentence(check: EvalCheck, reason: Reason) -> str:
    """A reason that concerns the eval as a whole."""
    match reason:
        case "removed":
            return (
                "Its ground truth or its outputs are gone. If this is intended, name the eval under removed in [gate]."
            )
        case "nothing in common":
            unit = check.compared.unit if check.compared else check.info.nouns.document
            return f"Base and head have no {unit} in common."
        case "too many broken":
            broken = check.compared.broken if check.compared else 0
            return f"{broken:,} {'value' if broken == 1 else 'values'} broke, and at most {check.max_broken:,} may."
        case "too few cases":
            wanted = f"and at least {check.min_cases:,} have to be"
            return f"{check.cases or 0:,} {_judged_units(check)} judged at the head, {wanted}."
        case "another kind":
            return "Its kind is not the same as at the base."
        case _:
            return f"{check.metrics[0].spec.label} is undefined on both sides."


def _judged_units(check: EvalCheck) -> str:
    one, several = check.info.nouns.document, check.info.nouns.documents
    if traits_of(check.info.kind).answers_cases:
        one, several = "case", "cases"
    return f"{one} is" if check.cases == 1 else f"{several} are"


def nothing_compared(report: GateReport) -> str:
    """The sentence for a gate that compared nothing; empty otherwise."""
    if report.matched:
        return ""
    return (
        "Nothing was compared: no eval has outputs on both sides with anything in common. "
        "New evals are only compared with floors, and none is set."
    )


def error_sentence(error: SitegenError) -> str:
    """The reason why there is no report."""
    where = f" At: {error.where}." if error.where else ""
    return f"The gate cannot compare. {error.message}{where} {error.fix or ''}".rstrip()


def _metric_predicate(metric: MetricCheck, reason: Reason, nouns: Nouns) -> str:
    change = points_of(metric)
    loss = "got worse, from nothing" if change is None else f"got worse by {change_text(metric).lstrip('+-')}"
    match reason:
        case "below the floor":
            floor, before = metric.limits.floor or 0.0, metric.before
            already = before is not None and not metric.spec.reaches(before, floor)
            return f"is {missed_floor(metric)}{', as it was at the base' if already else ''}"
        case "still below the floor":
            return f"is still {missed_floor(metric)}, as it was at the base, which does not fail"
        case "dropped":
            words = f": {verdict_words(metric.chance, metric.spec, nouns)}" if metric.chance else ""
            return f"{loss}, and at most {allowed_drop(metric)} is allowed{words}"
        case "may be chance":
            if metric.chance is None:
                return f"{loss}, which may be chance"
            least = smallest_change(metric.chance, metric.spec)
            words = verdict_words(metric.chance, metric.spec, nouns)
            return f"{loss}: {metric.chance.decision}: {words}{f'; {least}' if least else ''}"
        case "a field was lost":
            words = verdict_words(metric.chance, metric.spec, nouns) if metric.chance else "a field was lost"
            return f"is worse on these cases, however its value changed: {words}"
        case "nothing in common":
            return f"cannot be compared: base and head judge no {nouns.document} in common"
        case "another judge":
            return "comes from grades by another judge than at the base"
        case "no such metric":
            return "has a limit, but this kind has no such metric"
        case _:
            return "is undefined at the head"
