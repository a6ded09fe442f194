"""Judges some pairs of iterations, and formats the page's answer to whether the later one is better.

There are too many pairs to judge all of them. The judged pairs are neighbours, the newest and the best, and both sides
of each step: all pairs that other pages link to. ``sitegen compare`` judges any other pair.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from markupsafe import Markup

from sitegen.html.cells import text
from sitegen.html.charts import around_zero
from sitegen.model.metrics import MetricSpec
from sitegen.model.noise import ChangeVerdict
from sitegen.model.regressions import Step
from sitegen.model.series import EvalInfo
from sitegen.pages import links
from sitegen.pages.change_text import own_unit, smallest_change, span_of_change
from sitegen.pages.labels import SAME_OUTPUT
from sitegen.pages.report.why_rows import because, decision

NEIGHBOURS: Final = 60
"""Largest number of pairs of neighbours that are judged: the newest ones."""


def judged_pairs(best: int, last: int, places: Iterable[int], steps: Iterable[Step]) -> list[tuple[int, int]]:
    """The pairs (earlier, later) of indices that the build judges, of those points whose cells the page holds."""
    held = set(places)
    neighbours = [(place - 1, place) for place in sorted(held) if place - 1 in held][-NEIGHBOURS:]
    pairs = {*neighbours, (best, last), *((step.before, step.at) for step in steps)}
    return sorted(pair for pair in pairs if pair[0] != pair[1] and held.issuperset(pair))


def answer(info: EvalInfo, spec: MetricSpec, before: str, after: str, verdict: ChangeVerdict | None) -> Markup:
    """The word for a change with its reason, and its interval around zero; *before* and *after* are labels."""
    if info.recorded:
        return Markup(
            "<p class=answer>Runs recorded the numbers of both: whether the change is more than chance is unknown.</p>"
        )
    if verdict is None:
        return Markup(f"<p class=answer>{SAME_OUTPUT}</p>")
    why = because(verdict, spec, info.nouns, f"{links.up(links.compare(info.id))}{links.methods()}")
    change = "" if verdict.change is None else f"{text(spec.label)} {own_unit(verdict.change, spec)}, "
    words = f"<p class=answer>From {text(before)} to {text(after)}: {change}{decision(verdict)}{why}."
    if abs(verdict.change or 0) < (verdict.detectable or 0) and (least := smallest_change(verdict, spec)):
        words += f" {least[0].upper()}{text(least[1:])}."
    return Markup(f"{words}</p>{_picture(spec, verdict)}")


def _picture(spec: MetricSpec, verdict: ChangeVerdict) -> str:
    """The interval of the change around zero, with a scale below it."""
    interval, change = verdict.interval, verdict.change
    if interval is None or change is None:
        return ""
    scale = max(abs(interval.low), abs(interval.high), abs(change))
    if not scale:
        return ""
    sure = verdict.decision in ("better", "worse")
    tone = "n" if not sure else "u" if verdict.decision == "better" else "d"
    ends = span_of_change(interval, spec)
    drawn = around_zero(interval.low, interval.high, change, scale, tone)
    low, high = own_unit(-scale, spec), own_unit(scale, spec)
    return (
        f"<div class=around>{drawn}<div class=ends aria-hidden=true><span>{low}</span><span>no change</span>"
        f"<span>{high}</span></div><p>95\u202f% interval of the change: {ends}</p></div>"
    )
