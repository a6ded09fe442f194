"""The page of steps: open regressions, falls too new to tell, fixed ones, steps up, bad runs, the best."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final, NamedTuple

from sitegen.analysis.regressions import champions, mute_of
from sitegen.config import Mute
from sitegen.model.metrics import MetricSpec
from sitegen.model.noise import Interval
from sitegen.model.regressions import UNTOLD, Circumstances, MetricStep, Step
from sitegen.model.series import EvalInfo, EvalSummary, Headline
from sitegen.model.site import Page
from sitegen.pages import links
from sitegen.pages.changes import Part, split
from sitegen.pages.labels import CAUSES, exchange

SHOWN: Final = {"open": 40, "new": 15, "fixed": 25, "better": 25, "blip": 15, "muted": 25}
"""Steps of each group that the page lists, in the order of the page: those of the largest size."""
NEARBY: Final = 30
"""Points on either side of a step that its line shows."""
PLACES: Final = 3
"""Iterations at which several evals stepped that are named."""
RECENT: Final = 60
"""Points that the line of a champion shows: the newest ones."""


class StepMetric(NamedTuple):
    """One metric of a step."""

    spec: MetricSpec
    step: MetricStep


class EditPageLink(NamedTuple):
    """An edit of an instruction file and its page."""

    path: str
    page: str


class StepRow(NamedTuple):
    """One step in a table."""

    info: EvalInfo
    step: Step
    metrics: tuple[StepMetric, ...]
    at: Headline
    """The first point at the new level."""
    until: Headline | None
    """The point from which the level was regained."""
    changed: str
    """What changed, in words."""
    same_commit: bool
    """The last point at the old level came with the same commit: which edits lie between is not known."""
    parts: tuple[Part, ...]
    """Where the change between the two points came from, if it came from more than one place."""
    edits: tuple[EditPageLink, ...]
    values: tuple[float | None, ...]
    """Of the metric that the step goes by, around it."""
    mark: int
    """Index in these values of the first point at the new level."""
    end: int | None = None
    """Index in these values, or beyond them, of the point from which the level was regained."""
    why: str = ""
    """Why it is muted."""

    @property
    def size(self) -> float:
        """In hundredths of the metric's range."""
        return abs(self.metrics[0].step.points)


class Together(NamedTuple):
    """One iteration of one commit at which several evals stepped: what they share is where to look first."""

    label: str
    at: Headline
    names: tuple[str, ...]
    """Of the evals."""


class StepGroup(NamedTuple):
    """Steps of one status, the largest first."""

    key: str
    rows: tuple[StepRow, ...]
    left_out: int = 0
    together: tuple[Together, ...] = ()
    """Those of the most evals first."""


class ChampionRow(NamedTuple):
    """The best point of an eval so far, and the newest one."""

    info: EvalInfo
    spec: MetricSpec
    best: Headline
    newest: float | None
    since: int
    """Points after the best one."""
    values: tuple[float | None, ...]
    line: tuple[float | None, ...]
    """The best value so far, at each of these points."""
    interval: Interval | None = None
    """Around the newest value."""

    @property
    def distance(self) -> float | None:
        """Newest minus best; None if the newest is undefined."""
        best = self.best.values[0]
        return None if self.newest is None or best is None else self.newest - best


@dataclass(frozen=True, slots=True)
class RegressionsView:
    """What ``pages/regressions.html`` shows."""

    groups: tuple[StepGroup, ...]
    """``open``, ``new``, ``fixed``, ``better``, ``blip``, ``muted``, in this order; each may be empty."""
    totals: tuple[int, ...]
    """Steps of each group, those that are left out included."""
    iterations: float | None
    """Median of the iterations until the fixed ones were."""
    series: int
    """Series of one metric of one eval that were looked through."""
    quiet: int
    """Those without a step."""
    champions: tuple[ChampionRow, ...]
    evals: tuple[tuple[str, str], ...]
    """(id, name) of those with a step: what the page can be filtered by."""
    nav: str = "regressions"


def regressions_page(
    summaries: Iterable[EvalSummary], mutes: Sequence[Mute], files: Mapping[tuple[str, str], str]
) -> Page:
    """One page for all evals; deleted ones are left out.

    ``files``: by the path and the commit of an edit, the name of the instruction file, which its page goes by.
    """
    alive = [summary for summary in summaries if not summary.deleted and summary.headlines]
    groups: dict[str, list[_Listed]] = {key: [] for key in SHOWN}
    for summary in alive:
        for step in summary.steps:
            mute = mute_of(mutes, summary, step)
            groups["muted" if mute else step.status].append(_Listed(summary, step, mute.why if mute else ""))
    best = [champion for summary in alive if (champion := _champion(summary))]
    view = RegressionsView(
        groups=tuple(_step_group(key, listed, files) for key, listed in groups.items()),
        totals=tuple(map(len, groups.values())),
        iterations=median([one.step.iterations for one in groups["fixed"]]) if groups["fixed"] else None,
        series=sum(_defined(summary) for summary in alive),
        quiet=sum(_defined(summary) - len(_evals_with_steps(summary)) for summary in alive),
        champions=tuple(sorted(best, key=_behind)),
        evals=tuple((one.info.id, one.info.name) for one in alive if one.steps),
    )
    return Page(links.regressions(), "pages/regressions.html", view)


class _Listed(NamedTuple):
    """A step before it is a row: most of a long history never become one."""

    summary: EvalSummary
    step: Step
    why: str

    @property
    def at(self) -> Headline:
        return self.summary.headlines[self.step.at]


def _step_group(key: str, listed: list[_Listed], files: Mapping[tuple[str, str], str]) -> StepGroup:
    ranked = sorted(listed, key=_step_rank)
    rows = tuple(_step_row(one.summary, one.step, files, one.why) for one in ranked[: SHOWN[key]])
    return StepGroup(key=key, rows=rows, left_out=len(ranked) - len(rows), together=_steps_together(listed))


def _steps_together(listed: Iterable[_Listed]) -> tuple[Together, ...]:
    places: dict[tuple[str, str], dict[str, Headline]] = {}
    for one in listed:
        places.setdefault((one.at.label, one.at.sha), {})[one.summary.info.name] = one.at
    shared = [
        Together(label, next(iter(names.values())), tuple(names))
        for (label, _), names in places.items()
        if len(names) > 1
    ]
    return tuple(sorted(shared, key=lambda one: (-len(one.names), -one.at.commit_position, one.label))[:PLACES])


def _step_rank(one: _Listed) -> tuple[float, str, int]:
    return -abs(one.step.metrics[0].points), one.summary.info.id, one.step.at


def _step_row(summary: EvalSummary, step: Step, files: Mapping[tuple[str, str], str], why: str) -> StepRow:
    specs = {spec.name: spec for spec in summary.specs}
    same = summary.headlines[step.before].sha == step.commit.sha
    column = list(specs).index(step.metrics[0].name)
    first = max(0, step.at - NEARBY)
    return StepRow(
        info=summary.info,
        step=step,
        metrics=tuple(StepMetric(specs[metric.name], metric) for metric in step.metrics),
        at=summary.headlines[step.at],
        until=None if step.until is None else summary.headlines[step.until],
        changed=_change_sentence(step.circumstances, same=same),
        same_commit=same,
        parts=_step_parts(step.circumstances, specs[step.metrics[0].name]),
        edits=tuple(
            EditPageLink(edit.path, links.edit(files.get((edit.path, edit.sha), edit.path), edit.sha))
            for edit in step.circumstances.edits
        ),
        values=tuple(headline.values[column] for headline in summary.headlines[first : step.at + NEARBY]),
        mark=step.at - first,
        end=None if step.until is None else step.until - first,
        why=why,
    )


def _step_parts(circumstances: Circumstances, spec: MetricSpec) -> tuple[Part, ...]:
    delta = circumstances.delta
    parts = split(delta.parts, spec) if delta and delta.parts else ()
    return parts if len(parts) > 1 else ()


def _change_sentence(circumstances: Circumstances, *, same: bool) -> str:
    """What changed, as a sentence. ``same``: both points came with one commit."""
    changed = " and ".join(CAUSES[cause] for cause in circumstances.causes)
    if circumstances.output == "unreadable":
        changed += ", which cannot be read"
    elif "outputs" not in circumstances.causes:
        changed = f"The same output, {changed}"
    elif same:
        changed += ", one of several that its commit brought"
    elif not circumstances.edits:
        changed += "; no instructions were edited since the output before"
    for who, found in (("model", circumstances.model), ("judge", circumstances.judge)):
        changed += f"; {exchange(who, found)}" if found else ""
    if circumstances.documents:
        changed += "; other documents ({}, before {})".format(*circumstances.documents[::-1])
    return changed[:1].upper() + changed[1:] + "."


def _champion(summary: EvalSummary) -> ChampionRow | None:
    spec = summary.specs[0]
    column = [headline.values[0] for headline in summary.headlines]
    best = champions(column, [one.graded_since for one in summary.headlines], higher_is_better=spec.higher_is_better)
    if best[-1] is None:
        return None
    return ChampionRow(
        info=summary.info,
        spec=spec,
        best=summary.headlines[best[-1]],
        newest=column[-1],
        since=len(column) - 1 - best[-1],
        values=tuple(column[-RECENT:]),
        line=tuple(None if index is None else column[index] for index in best[-RECENT:]),
        interval=summary.headlines[-1].interval,
    )


def _behind(row: ChampionRow) -> tuple[bool, float, str]:
    """Those that are furthest behind their best first; undefined ones before all."""
    distance = row.distance
    span = row.spec.high - row.spec.low
    return distance is not None, -abs(distance or 0.0) / span, row.info.id


def _defined(summary: EvalSummary) -> int:
    """Metrics of which any value is defined."""
    return sum(
        any(headline.values[column] is not None for headline in summary.headlines)
        for column in range(len(summary.specs))
    )


def _evals_with_steps(summary: EvalSummary) -> set[str]:
    return {metric.name for step in summary.steps if step.status not in UNTOLD for metric in step.metrics}
