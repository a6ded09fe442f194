"""Why a change is called better, worse or neither, with the numbers that decided."""

from __future__ import annotations

from typing import Final

from markupsafe import Markup

from sitegen.model.metrics import MetricSpec
from sitegen.model.noise import ChangeVerdict, Decision, Noise
from sitegen.pages.changes import in_points
from sitegen.render.changes import points

_TONES: Final[dict[Decision, str]] = {"better": " good", "worse": " bad", "inconclusive": "", "same": ""}


def judged(verdict: ChangeVerdict | None, spec: MetricSpec, noise: Noise | None = None) -> Markup:
    """The mark and what decided. Without a verdict the output is the same, and nothing is left to chance.

    Of what was only recorded there is none either, because nothing is left to tell chance by.
    """
    if spec.recorded:
        return Markup("Only recorded: nothing tells whether this is more than chance.")
    if verdict is None:
        return Markup("The output is the same, so this says nothing about instructions.")
    return decision(verdict) + " " + evidence(verdict, spec, noise)


def decision(verdict: ChangeVerdict) -> Markup:
    """Better, worse, inconclusive or same, as a mark."""
    return Markup(f'<span class="pill{_TONES[verdict.decision]}">{verdict.decision}</span>')


def evidence(verdict: ChangeVerdict, spec: MetricSpec, noise: Noise | None = None) -> str:
    """What decided, as sentences; of a change that may be chance, what this set can show."""
    said = _decided(verdict, spec, noise)
    if verdict.decision == "inconclusive" and verdict.detectable is not None:
        whole = in_points(spec.high - spec.low, spec)
        said += (
            f" A change of {_change_size(verdict.detectable, spec)} points would be seen here 8 times in 10."
            if in_points(verdict.detectable, spec) <= whole
            else " No change at all would be seen here 8 times in 10: there is too little to compare."
        )
    return said


def _decided(verdict: ChangeVerdict, spec: MetricSpec, noise: Noise | None) -> str:
    flips = f"{verdict.fixed:,} fixed against {verdict.broken:,} broken"
    match verdict.why:
        case "beyond chance":
            tested = (
                f", and {flips} is more than luck ({_false_alarm_chance(verdict)})"
                if verdict.p_value is not None
                else ""
            )
            return f"Its 95\u202f% interval, {_interval_ends(verdict, spec)} points, leaves out zero{tested}."
        case "nothing moved":
            return "Nothing became right or wrong."
        case "another judge":
            return "Another judge graded the later output, and two judges do not grade alike."
        case "nothing to compare":
            return "There is nothing in common to compare."
        case "too few units":
            return "There is too little here to tell a change from chance."
        case "within the noise of repeats":
            limit = f": by up to {_change_size(noise.limit, spec)} points" if noise and noise.limit is not None else ""
            return f"Outputs made again under the same instructions differ by as much{limit}."
        case "interval holds zero":
            return f"Its 95\u202f% interval, {_interval_ends(verdict, spec)} points, holds zero: it may be chance."
        case "flips may be chance":
            return f"It may be chance: {flips} happens by luck ({_false_alarm_chance(verdict)})."
        case "flips go the other way":
            return f"The number went one way and the cells the other: {flips}."


def _interval_ends(verdict: ChangeVerdict, spec: MetricSpec) -> str:
    interval = verdict.interval
    return f"{points(in_points(interval.low, spec))} to {points(in_points(interval.high, spec))}" if interval else ""


def _change_size(change: float, spec: MetricSpec) -> str:
    return f"{in_points(change, spec):.1f}"


def _false_alarm_chance(verdict: ChangeVerdict) -> str:
    p_value = 1.0 if verdict.p_value is None else verdict.p_value
    how = ", the fields of a list counted once" if verdict.interval and verdict.interval.unit == "fields" else ""
    return f"{'p < 0.001' if p_value < 0.001 else f'p {p_value:.3f}'}{how}"
