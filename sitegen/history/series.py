"""One series of an eval: which snapshots a commit starts in it.

An eval has two candidates for its series, iterations in folders and the versions of an overwritten output; both follow
these rules.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sitegen.history.snapshots import cause_since, in_order, same_files, snapshot, with_companions
from sitegen.history.state import EvalInputs, SeriesState, Unit
from sitegen.history.touch import EvalCommit, InForce, View
from sitegen.model.timeline import Snapshot


def start_snapshots(
    series: SeriesState, touch: EvalCommit, now: InForce, touched: Sequence[str], views: Mapping[str, View]
) -> None:
    """Start the commit's snapshots: of iterations that came or changed, and of the newest if its inputs changed.

    *touched* names the iterations that the commit touched and left in place; *views* holds these, those that wait, and
    the newest if inputs changed. Without ground truth, where one is needed, nothing is started, and what was touched
    waits for one.
    """
    if not now.scorable:
        series.waiting |= dict.fromkeys(touched, True)
        return
    started = _came_or_changed(series, touch, now.inputs, touched, views)
    for name, made in in_order(started):
        _append(series, name, made)
    newest = newest_scored(series)
    if now.changed and newest is not None and newest in views and newest not in {name for name, _ in started}:
        _score_again(series, touch, now.inputs, newest, views[newest])


def mark_present(series: SeriesState, unit: Unit, present: bool) -> None:
    """Mark an iteration and all its snapshots as there, or as deleted."""
    unit.present = present
    for index in unit.points:
        series.snapshots[index] = series.snapshots[index]._replace(deleted=not present)


def last_snapshot(series: SeriesState, unit: Unit) -> Snapshot | None:
    """An iteration's last; None if it never was scored."""
    return series.snapshots[unit.points[-1]] if unit.points else None


def newest_scored(series: SeriesState) -> str | None:
    """The iteration that came last of those that are there and were scored."""
    return next((name for name, unit in reversed(series.units.items()) if unit.present and unit.points), None)


def _came_or_changed(
    series: SeriesState, touch: EvalCommit, inputs: EvalInputs, touched: Sequence[str], views: Mapping[str, View]
) -> list[tuple[str, Snapshot]]:
    """(name, snapshot) of iterations with new outputs; where outputs are the same, what lies beside them is taken."""
    previous = series.snapshots[-1] if series.snapshots else None
    candidates = dict.fromkeys((*touched, *series.waiting))
    series.waiting.clear()
    started = []
    for name in candidates:
        unit = series.units[name]
        if not unit.present or name not in views:
            continue
        view, last = views[name], last_snapshot(series, unit)
        if last is not None and same_files(last.outputs, view.outputs):
            series.snapshots[unit.points[-1]] = with_companions(last, view, touch)
            continue
        own = view.inputs(inputs)
        cause = cause_since(last or previous, own, waited=name not in touched)
        started.append((name, snapshot(touch, unit, ("outputs", *cause), view, own)))
    return started


def _score_again(series: SeriesState, touch: EvalCommit, inputs: EvalInputs, name: str, view: View) -> None:
    unit = series.units[name]
    own = view.inputs(inputs)
    cause = cause_since(last_snapshot(series, unit), own)
    if cause:
        _append(series, name, snapshot(touch, unit, cause, view, own))


def _append(series: SeriesState, name: str, made: Snapshot) -> None:
    unit = series.units[name]
    if not unit.points:
        # Units stand in the order of their first snapshots.
        series.units[name] = series.units.pop(name)
    unit.points.append(len(series.snapshots))
    series.snapshots.append(made)
