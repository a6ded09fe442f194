"""Mutes: steps that the team knows of, by the configuration."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sitegen.config import MUTE_DIGITS, Mute
from sitegen.model.problems import Problem
from sitegen.model.regressions import Step
from sitegen.model.series import EvalSummary


def mute_of(mutes: Iterable[Mute], summary: EvalSummary, step: Step) -> Mute | None:
    """The first mute that names this step."""
    return next((mute for mute in mutes if _names(mute, summary, step)), None)


def unmatched_mutes(mutes: Sequence[Mute], summaries: Iterable[EvalSummary]) -> tuple[Problem, ...]:
    """A warning of each mute that names no step: one that was mistyped, or is not needed any more."""
    named = {mute for one in summaries for step in one.steps for mute in mutes if _names(mute, one, step)}
    return tuple(
        Problem(
            severity="warning",
            what=f"A mute names no step: eval {mute.eval!r}, commit {mute.commit!r}"
            + (f", metric {mute.metric!r}." if mute.metric else "."),
            fix="Correct it, or remove it from [regressions] of the configuration. The page of regressions has the "
            f"commits; {MUTE_DIGITS} digits are needed.",
        )
        for mute in mutes
        if mute not in named
    )


def _names(mute: Mute, summary: EvalSummary, step: Step) -> bool:
    return (
        mute.eval == summary.info.id
        and len(mute.commit) >= MUTE_DIGITS
        and step.commit.sha.startswith(mute.commit.lower())
        and mute.metric in (None, step.metrics[0].name)
        and mute.iteration in (None, summary.headlines[step.at].label)
    )
