"""The page of steps: what is worse than it was, the best output of each eval, and what was regained or rose.

``pages/regressions.html`` reads the model itself, and calls the functions of this module for what the model lacks.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from sitegen.analysis.series import first_of_each_output
from sitegen.analysis.standing import EvalStanding, ListedStep, largest_first, standings, worse_than_it_was
from sitegen.config.models import Mute
from sitegen.model.changes import WORSE, EditedFile, Ends
from sitegen.model.series import EvalSummary, Headline
from sitegen.model.site import Page
from sitegen.pages import links
from sitegen.pages.html import charts
from sitegen.pages.html.charts import ChartLine
from sitegen.pages.labels import CAUSES, exchange, split

LISTED_STEPS: Final = {"worse": 50, "fixed": 25, "better": 25, "blip": 15, "muted": 25}
"""Largest number of steps listed in each group, largest steps first; in the order of the page."""
_NEARBY: Final = 30  # number of points on either side of a step that its chart shows
PLACES: Final = 3
"""Largest number of listed iterations at which several evals have a step."""
_RECENT: Final = 60  # number of points in the chart of a best output: the newest ones
_REACH: Final = 8  # number of points over which a level is drawn, on its side of the step


def regressions_page(summaries: Iterable[EvalSummary], mutes: Sequence[Mute], files: Mapping[EditedFile, str]) -> Page:
    """Make the page of all evals that are not deleted.

    Its view: the steps of each group of ``LISTED_STEPS``, in its order; the evals, the worst first; by id, those whose
    newest output is not their best one. ``files``: the last path, which names its page, of each moved file's edits.
    """
    alive = [summary for summary in summaries if not summary.deleted and summary.headlines]
    groups: dict[str, list[ListedStep]] = {key: [] for key in LISTED_STEPS}
    for listed in (ListedStep(summary, step) for summary in alive for step in summary.steps):
        if mute := listed.mute_in(mutes):
            groups["muted"].append(replace(listed, why=mute.why))
        elif listed.step.status not in WORSE:
            groups[listed.step.status].append(listed)
    evals = standings(alive, mutes)
    every = {key: largest_first(steps) for key, steps in groups.items()}
    behind = {standing.summary.info.id: standing for standing in evals if standing.behind}
    every["worse"] = worse_than_it_was(evals)
    view = {"groups": every, "standings": evals, "behind": behind, "files": files}
    return Page(links.regressions(), "pages/regressions.html", view)


def together(steps: Iterable[ListedStep]) -> list[tuple[Headline, list[str]]]:
    """Iterations at which several evals have a step, with their names: probably for a common reason."""
    places: dict[tuple[str, str], tuple[Headline, list[str]]] = {}
    for step in steps:
        names = places.setdefault((step.at.label, step.at.sha), (step.at, []))[1]
        names += [step.summary.info.name] * (step.summary.info.name not in names)
    shared = [place for place in places.values() if len(place[1]) > 1]
    return sorted(shared, key=lambda place: (-len(place[1]), -place[0].commit_position, place[0].label))[:PLACES]


def what_changed(listed: ListedStep) -> str:
    """A sentence on the inputs that changed with a step."""
    step = listed.step
    changed = " and ".join(CAUSES[cause] for cause in step.causes)
    if listed.at.status == "unreadable":
        changed += ", which cannot be read"
    elif "outputs" not in step.causes:
        changed = f"The same output, {changed}"
    elif listed.before.sha == step.commit.sha:  # the edits in between are unknown then
        changed += ", one of several outputs of its commit"
    elif not step.edits:
        changed += "; no instructions were edited since the output before"
    for who, replaced in (("model", step.model), ("judge", step.judge)):
        changed += f"; {exchange(who, replaced)}" if replaced else ""
    if step.documents:
        changed += "; other documents ({}, before {})".format(*step.documents[::-1])
    return changed[:1].upper() + changed[1:] + "."


def parts(listed: ListedStep) -> dict[str, float]:
    """The parts of the change between the two points of a step, if there is more than one."""
    delta = listed.step.delta
    found = split(delta.parts, listed.metrics[0][0]) if delta and delta.parts else {}
    return found if len(found) > 1 else {}


def outputs_since_best(standing: EvalStanding) -> int:
    """Number of different outputs after the best one."""
    headlines, best = standing.summary.headlines, standing.summary.best_output
    return len(first_of_each_output(headlines, range(best.at + 1, len(headlines)))) if best else 0


def step_chart(listed: ListedStep) -> tuple[int, float, ChartLine, str, str]:
    """The values around a step with both levels, as of ``step_line``."""
    summary, step = listed.summary, listed.step
    metric, first = step.metrics[0], max(0, step.at - _NEARBY)
    column = [spec.name for spec in summary.specs].index(metric.name)
    near, since = summary.headlines[first : step.at + _NEARBY], listed.at.comparable_since
    values = [headline.values[column] if headline.comparable_since == since else None for headline in near]
    until = None if step.until is None else step.until - first
    return step_line(values, step.at - first, metric.before, metric.after, until)


def step_line(
    values: Sequence[float | None], mark: int, before: float, after: float, until: int | None = None
) -> tuple[int, float, ChartLine, str, str]:
    """Values at the new level from index ``mark`` on, until before index ``until``, in coordinates of the data.

    The number of points along the axis, the x coordinate of the step, the values, and the levels before and after it.
    """
    scale = _range((*values, before, after))
    end = min(len(values) - 1 if until is None else until - 0.5, mark + _REACH)
    return (
        len(values),
        mark - 0.5,
        charts.Plot(scale).line(values),
        f"M{max(0, mark - _REACH)} {charts.y(before, scale):g}H{max(0.0, mark - 0.5):g}",
        f"M{mark - 0.5:g} {charts.y(after, scale):g}H{end:g}",
    )


def best_chart(standing: EvalStanding) -> tuple[int, ChartLine, str]:
    """The number of the newest values, their line, and the best so far as a staircase."""
    summary = standing.summary
    column, best = summary.values_now, summary.best
    values, stairs = column[-_RECENT:], [None if index is None else column[index] for index in best[-_RECENT:]]
    scale = charts.UNIT if standing.spec.is_share else _range((*values, *stairs))
    plot = charts.Plot(scale, summary.breaks(_RECENT))
    return len(values), plot.line(values), plot.staircase(stairs)


def _range(values: Iterable[float | None]) -> Ends:
    defined = [value for value in values if value is not None]
    return Ends(min(defined), max(*defined, min(defined) + 1e-9))
