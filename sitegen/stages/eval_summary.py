"""What is kept of an eval at every build: a few numbers of each point, and what stands of its problems."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat

from sitegen.analysis.deltas import graded_since
from sitegen.analysis.effects import peak
from sitegen.analysis.series import HEADLINES, headline, problems, standing
from sitegen.model.problems import Problem
from sitegen.model.regressions import Step
from sitegen.model.series import EvalSummary, Series, Window
from sitegen.model.suspect_truth import SuspectTruth
from sitegen.pages.focus import focus_of


def summary_of(
    series: Series,
    made_by: Sequence[int],
    windows: tuple[Window, ...],
    steps: tuple[Step, ...],
    suspects: tuple[SuspectTruth, ...],
) -> EvalSummary:
    """A series in a few numbers a point. ``made_by``: the edit that made the output of each point."""
    newest = series.points[-1] if series.points else None
    since = graded_since([point.scorecard for point in series.points], series.specs[0].name)
    return EvalSummary(
        info=series.info,
        specs=series.specs[:HEADLINES],
        headlines=tuple(headline(*each) for each in zip(series.points, repeat(series.specs), since)),
        deleted=series.history.deleted,
        stale=newest is not None and newest.stale,
        delta=newest and newest.delta,
        focus=focus_of(series),
        suspects=suspects,
        steps=steps,
        windows=windows,
        peak=peak(series.points, made_by, series.specs[0], series.info.kind, since[-1] if since else 0),
        interval=newest and newest.interval,
        metrics=tuple(spec.name for spec in series.specs),
        usage=newest and newest.scorecard.usage,
    )


def problems_of(series: Series) -> tuple[Problem, ...]:
    """The problems of all points, each once, with those that the newest one has no more told apart."""
    found = [problems(series.info.id, point.snapshot, point.scorecard) for point in series.points]
    return standing(found, deleted=series.history.deleted)
