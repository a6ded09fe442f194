"""Why something does not pass, as plain sentences. They hold names of a project, so each form escapes them its way."""

from __future__ import annotations

from collections.abc import Iterator
from math import isinf

from sitegen.comparing.words import number
from sitegen.errors import SitegenError
from sitegen.model.gate import EvalCheck, GateReport, MetricCheck, Reason
from sitegen.model.metrics import MetricSpec, Nouns
from sitegen.pages.changes import in_points
from sitegen.pages.labels import reason as by_noise


def sentences(one: EvalCheck) -> Iterator[str]:
    """Of the whole eval, then of each metric."""
    yield from (of_eval(one, reason) for reason in one.reasons)
    for metric in one.metrics:
        yield from of_metric(metric, one.info.nouns)


def is_amount(spec: MetricSpec) -> bool:
    """Whether a metric has no upper bound, so that its changes are told in percent of what it was."""
    return isinf(spec.high)


def points_of(one: MetricCheck) -> float | None:
    """The change in points, of an amount in percent; None if there is none, or nothing that it is a share of."""
    if one.change is None:
        return None
    if not is_amount(one.spec):
        return in_points(one.change, one.spec)
    return 100 * one.change / one.before if one.before else None


def of_metric(one: MetricCheck, nouns: Nouns) -> Iterator[str]:
    """A sentence a reason."""
    for reason in one.reasons:
        yield f"{one.spec.label} {_of_metric(one, reason, nouns)}."


def of_eval(one: EvalCheck, reason: Reason) -> str:
    """What is to be said of the eval as a whole."""
    match reason:
        case "removed":
            return "Its ground truth or its outputs are gone; if that is meant, name it under removed in [gate]."
        case "nothing in common":
            unit = one.compared.units[0] if one.compared else one.info.nouns.document
            return f"Base and head have no {unit} in common."
        case "another kind":
            return "It is of another kind than at the base."
        case _:
            return f"{one.metrics[0].spec.label} is undefined on both sides."


def of_whole(report: GateReport) -> str:
    """What is to be said if nothing was compared; empty otherwise."""
    if report.matched:
        return ""
    return (
        "Nothing was compared: no eval has outputs on both sides with anything in common. "
        "New evals are held against floors, and none is stated."
    )


def of_error(error: SitegenError) -> str:
    """Why there is no report at all."""
    where = f" At: {error.where}." if error.where else ""
    return f"The gate cannot compare. {error.what}{where} {error.fix or ''}".rstrip()


def _of_metric(one: MetricCheck, reason: Reason, nouns: Nouns) -> str:
    moved = points_of(one)
    unit = " %" if is_amount(one.spec) else " points"
    fell = "got worse, from nothing" if moved is None else f"got worse by {abs(moved):.2f}{unit}"
    match reason:
        case "below the floor":
            side = "below the floor" if one.spec.higher_is_better else "above the ceiling"
            already = ", as it was at the base" if one.before is not None and one.change == 0 else ""
            return f"is {number(one.after, unit=one.spec.unit)}, {side} of {one.limits.floor:g}{already}"
        case "dropped":
            return f"{fell}, and {one.limits.drop or 0:g} are allowed"
        case "may be chance":
            told = f": {by_noise(one.chance.why, nouns)}" if one.chance else ""
            return f"{fell}, which may be chance{told}"
        case "another judge":
            return "is of grades by another judge than at the base"
        case "no such metric":
            return "has a limit, and this kind has no such metric"
        case _:
            return "is undefined at the head"
