"""The regressions page: steps of all evals by status (open, too new to tell, fixed, up, bad runs) and best points."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from sitegen.analysis.best import best_of_summary, values_of_summary
from sitegen.analysis.copies import first_of_each_output
from sitegen.analysis.regressions import mute_of
from sitegen.analysis.standing import EvalStanding, nothing_is_worse, standings
from sitegen.config import Mute
from sitegen.frozen import Frozen
from sitegen.model.metrics import MetricSpec
from sitegen.model.noise import ChangeVerdict, Interval
from sitegen.model.regressions import UNTOLD, Circumstances, EditedFile, MetricStep, Step
from sitegen.model.series import EvalInfo, EvalSummary, Headline, Peak
from sitegen.model.site import Page
from sitegen.pages import links
from sitegen.pages.change_text import Part, split
from sitegen.pages.labels import CAUSES, exchange
from sitegen.stats.averages import median

LISTED: Final = {"open": 40, "new": 15, "fixed": 25, "better": 25, "blip": 15, "muted": 25}
"""Largest number of steps listed in each group, largest steps first; in the order of the page."""
NEARBY: Final = 30
"""Number of points on either side of a step that its chart shows."""
PLACES: Final = 3
"""Largest number of listed iterations at which several evals have a step."""
RECENT: Final = 60
"""Number of points in the chart of a champion: the newest ones."""


class StepMetric(Frozen):
    """One metric of a step."""

    spec: MetricSpec
    step: MetricStep


class EditPageLink(Frozen):
    """An edit of an instruction file and its page."""

    path: str
    page: str


class StepRow(Frozen):
    """One step in a table."""

    info: EvalInfo
    step: Step
    metrics: tuple[StepMetric, ...]
    before: Headline
    """The last point at the old level."""
    at: Headline
    """The first point at the new level."""
    until: Headline | None
    """The point from which the level was regained."""
    changed: str
    """A sentence on the inputs that changed."""
    same_commit: bool
    """Whether the last point at the old level has the same commit: the edits in between are unknown then."""
    parts: tuple[Part, ...]
    """The parts of the change between the two points, if there is more than one."""
    edits: tuple[EditPageLink, ...]
    values: tuple[float | None, ...]
    """Values of the step's metric around the step."""
    mark: int
    """Index in these values of the first point at the new level."""
    end: int | None = None
    """Index in these values, possibly beyond their end, of the point from which the level was regained."""
    why: str = ""
    """The reason of its mute."""


class Together(Frozen):
    """One iteration of one commit at which several evals have a step, probably for a common reason."""

    at: Headline
    names: tuple[str, ...]
    """Names of the evals."""


class StepGroup(Frozen):
    """Steps of one status, the largest first."""

    key: str
    rows: tuple[StepRow, ...]
    left_out: int = 0
    together: tuple[Together, ...] = ()
    """Iterations at which several evals have a step, most evals first."""


class ChampionRow(Frozen):
    """The best output of an eval, by the newest ground truth and rules, and the newest one."""

    info: EvalInfo
    spec: MetricSpec
    """The headline metric."""
    peak: Peak
    best: Headline
    newest: Headline
    interval: Interval | None
    """Of the headline of the newest point."""
    behind: float | None
    """As in ``EvalStanding``."""
    since_best: ChangeVerdict | None
    """The change from the best output to the newest point."""
    since: int
    """Number of different outputs after the best one."""
    values: tuple[float | None, ...]
    line: tuple[float | None, ...]
    """The best value so far, at each of these points."""


class RegressionsView(Frozen):
    """What ``pages/regressions.html`` shows."""

    groups: tuple[StepGroup, ...]
    """All groups of ``LISTED``, in its order; each may be empty."""
    totals: tuple[int, ...]
    """Steps of each group, including those that are left out."""
    outputs: float | None
    """Median number of different outputs until regressions were fixed; None if none was fixed."""
    series: int
    """Series that were searched for steps: one for each metric of each eval."""
    quiet: int
    """Series without a step."""
    champions: tuple[ChampionRow, ...]
    evals: tuple[EvalInfo, ...]
    """Evals with a step, by which the page can be filtered."""
    nothing_is_worse: bool
    behind: tuple[ChampionRow, ...]
    """Evals whose newest output is behind the best one by more than chance."""
    nav: str = "regressions"


def regressions_page(summaries: Iterable[EvalSummary], mutes: Sequence[Mute], files: Mapping[EditedFile, str]) -> Page:
    """One page for all evals that are not deleted.

    ``files`` maps an edit of a file that was moved later to the last path of the file, which names its page.
    """
    alive = [summary for summary in summaries if not summary.deleted and summary.headlines]
    groups: dict[str, list[_Listed]] = {key: [] for key in LISTED}
    for summary in alive:
        for step in summary.steps:
            mute = mute_of(mutes, summary, step)
            groups["muted" if mute else step.status].append(_Listed(summary, step, mute.why if mute else ""))
    every = standings(alive, mutes)
    champions = {
        standing.summary.info.id: _champion(standing, standing.summary.peak)
        for standing in every
        if standing.summary.peak
    }
    view = RegressionsView(
        groups=tuple(_step_group(key, listed, files) for key, listed in groups.items()),
        totals=tuple(map(len, groups.values())),
        outputs=median([listed.step.different for listed in groups["fixed"]]) if groups["fixed"] else None,
        series=sum(_defined(summary) for summary in alive),
        quiet=sum(_defined(summary) - len(_evals_with_steps(summary)) for summary in alive),
        champions=tuple(champions.values()),
        evals=tuple(summary.info for summary in alive if summary.steps),
        nothing_is_worse=nothing_is_worse(every),
        behind=tuple(champions[standing.summary.info.id] for standing in every if standing.behind_by_more_than_chance),
    )
    return Page(links.regressions(), "pages/regressions.html", view)


class _Listed(Frozen):
    """A step that may become a row; most steps of a long history do not."""

    summary: EvalSummary
    step: Step
    why: str

    @property
    def at(self) -> Headline:
        return self.summary.headlines[self.step.at]


def _step_group(key: str, listed: list[_Listed], files: Mapping[EditedFile, str]) -> StepGroup:
    ranked = sorted(listed, key=_step_rank)
    rows = tuple(_step_row(step, files) for step in ranked[: LISTED[key]])
    return StepGroup(key=key, rows=rows, left_out=len(ranked) - len(rows), together=_steps_together(listed))


def _steps_together(listed: Iterable[_Listed]) -> tuple[Together, ...]:
    places: dict[tuple[str, str], dict[str, Headline]] = {}
    for step in listed:
        places.setdefault((step.at.label, step.at.sha), {})[step.summary.info.name] = step.at
    shared = [Together(next(iter(names.values())), tuple(names)) for names in places.values() if len(names) > 1]
    shared.sort(key=lambda place: (-len(place.names), -place.at.commit_position, place.at.label))
    return tuple(shared[:PLACES])


def _step_rank(listed: _Listed) -> tuple[float, str, int]:
    return -abs(listed.step.metrics[0].points), listed.summary.info.id, listed.step.at


def _step_row(listed: _Listed, files: Mapping[EditedFile, str]) -> StepRow:
    summary, step = listed.summary, listed.step
    specs = {spec.name: spec for spec in summary.specs}
    same = summary.headlines[step.before].sha == step.commit.sha
    column = list(specs).index(step.metrics[0].name)
    first = max(0, step.at - NEARBY)
    return StepRow(
        info=summary.info,
        step=step,
        metrics=tuple(StepMetric(specs[metric.name], metric) for metric in step.metrics),
        before=summary.headlines[step.before],
        at=listed.at,
        until=None if step.until is None else summary.headlines[step.until],
        changed=_change_sentence(step.circumstances, same=same),
        same_commit=same,
        parts=_step_parts(step.circumstances, specs[step.metrics[0].name]),
        edits=tuple(
            EditPageLink(edit.path, links.edit(files.get(edit, edit.path), edit.sha))
            for edit in step.circumstances.edits
        ),
        values=tuple(headline.values[column] for headline in summary.headlines[first : step.at + NEARBY]),
        mark=step.at - first,
        end=None if step.until is None else step.until - first,
        why=listed.why,
    )


def _step_parts(circumstances: Circumstances, spec: MetricSpec) -> tuple[Part, ...]:
    delta = circumstances.delta
    parts = split(delta.parts, spec) if delta and delta.parts else ()
    return parts if len(parts) > 1 else ()


def _change_sentence(circumstances: Circumstances, *, same: bool) -> str:
    """A sentence on the inputs that changed. ``same``: whether both points have the same commit."""
    changed = " and ".join(CAUSES[cause] for cause in circumstances.causes)
    if circumstances.output == "unreadable":
        changed += ", which cannot be read"
    elif "outputs" not in circumstances.causes:
        changed = f"The same output, {changed}"
    elif same:
        changed += ", one of several outputs of its commit"
    elif not circumstances.edits:
        changed += "; no instructions were edited since the output before"
    for who, replaced in (("model", circumstances.model), ("judge", circumstances.judge)):
        changed += f"; {exchange(who, replaced)}" if replaced else ""
    if circumstances.documents:
        changed += "; other documents ({}, before {})".format(*circumstances.documents[::-1])
    return changed[:1].upper() + changed[1:] + "."


def _champion(standing: EvalStanding, peak: Peak) -> ChampionRow:
    summary = standing.summary
    column = values_of_summary(summary)
    return ChampionRow(
        info=summary.info,
        spec=standing.spec,
        peak=peak,
        best=summary.headlines[peak.at],
        newest=standing.newest,
        interval=summary.interval,
        behind=standing.behind,
        since_best=summary.since_best,
        since=len(first_of_each_output(summary.headlines, range(peak.at + 1, len(column)))),
        values=column[-RECENT:],
        line=tuple(None if index is None else column[index] for index in best_of_summary(summary)[-RECENT:]),
    )


def _defined(summary: EvalSummary) -> int:
    """Number of metrics with any defined value."""
    return sum(
        any(headline.values[column] is not None for headline in summary.headlines)
        for column in range(len(summary.specs))
    )


def _evals_with_steps(summary: EvalSummary) -> set[str]:
    return {metric.name for step in summary.steps if step.status not in UNTOLD for metric in step.metrics}
