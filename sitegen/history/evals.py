"""One eval through history: how each commit that touches it becomes snapshots."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from posixpath import basename, splitext
from typing import Final, NamedTuple

from sitegen.config import GROUND_TRUTHS, OUTPUTS, EvalConfig
from sitegen.history.blobs import BlobRead
from sitegen.history.layout import OVERWRITTEN, RECORDED, RESULTS, Place, first_blob, is_path, iteration_number, normal
from sitegen.history.state import EvalState, Inputs, SeriesState, Unit
from sitegen.model.commits import Change, Commit
from sitegen.model.problems import Problem
from sitegen.model.recorded import read_recorded
from sitegen.model.timeline import Blob, Cause, EvalHistory, Layout, Snapshot

Read = Callable[[str], BlobRead]
Report = Callable[[Problem], None]

_SHORT: Final = 12
_COMMIT_ID = re.compile(r"[0-9a-f]{7,64}")


class Touch(NamedTuple):
    """What one commit means to one eval."""

    commit: Commit
    changes: tuple[tuple[Place, Change], ...]
    inputs: Callable[[EvalState], Inputs]
    """What scoring depends on after the commit."""
    entry: EvalConfig
    """Of the built manifest."""
    read: Read
    report: Report


class _View(NamedTuple):
    """An iteration as it stands after the commit."""

    outputs: tuple[Blob, ...]
    recorded: Blob | None
    runs: tuple[Blob, ...]


def touch(state: EvalState, touch: Touch) -> None:
    """Fold one commit into an eval."""
    before = state.active
    for place, change in touch.changes:
        _apply(state, place, change, touch)
    state.active = _active(state)
    if state.active is None:
        state.active = before
    if before is not None and state.active != before:
        state.renamed_from.append(basename(before))
    inputs = touch.inputs(state)
    state.had_ground_truth = state.had_ground_truth or inputs.ground_truth is not None
    inputs_changed = state.inputs is not None and _differences(state.inputs, inputs) != ()
    state.inputs = inputs
    if is_path(touch.entry.outputs) or touch.entry.outputs == "auto":
        _fold_overwritten(state, touch, inputs, inputs_changed)
    if not is_path(touch.entry.outputs):
        _fold_iterations(state, touch, inputs, inputs_changed, moved=state.active != before)


def ground_truth(state: EvalState, stated: str | None, shared: dict[str, str]) -> Blob | None:
    """The ground truth as it stands: the one that the manifest of the commit names, else the first by convention."""
    if state.active is None:
        return None
    names = (stated,) if stated else GROUND_TRUTHS
    paths = [normal(f"{state.active}/{name}") for name in names]
    return first_blob(paths, state.files) or first_blob(paths, shared)


def layout_of(state: EvalState, entry: EvalConfig) -> Layout:
    """Iterations if the eval ever had any, unless the manifest says otherwise."""
    if entry.outputs == "iterations":
        return "iterations"
    return "iterations" if entry.outputs == "auto" and state.iterations.units else "overwritten"


def history_of(state: EvalState, entry: EvalConfig) -> EvalHistory:
    """The eval as pages know it."""
    layout = layout_of(state, entry)
    series = state.iterations if layout == "iterations" else state.overwritten
    return EvalHistory(
        id=state.id,
        kind=entry.kind,
        layout=layout,
        snapshots=tuple(series.snapshots),
        renamed_from=tuple(state.renamed_from),
        deleted=state.inputs is None or state.inputs.ground_truth is None,
    )


def _apply(state: EvalState, place: Place, change: Change, touch: Touch) -> None:
    if place.role == "stranger":
        if change.new is not None and place.iteration not in state.strangers:
            state.strangers[place.iteration] = True
            touch.report(
                Problem(
                    "note",
                    f"{place.iteration!r} among the results is no iteration, and is passed over.",
                    "Name it iteration-NNN if it should count; otherwise nothing is to be done.",
                    path=f"{place.folder}/{RESULTS}/{place.iteration}",
                    commit=touch.commit.sha,
                    eval_id=state.id,
                )
            )
        return
    if place.role == "run":
        state.with_runs[place.iteration] = True
    if change.new is None:
        state.files.pop(change.path, None)
    else:
        state.files[change.path] = change.new


def _active(state: EvalState) -> str | None:
    """The best of the eval's folders that any file is in."""
    return next(
        (folder for folder in state.folders if any(path.startswith(f"{folder}/") for path in state.files)), None
    )


def _fold_overwritten(state: EvalState, touch: Touch, inputs: Inputs, inputs_changed: bool) -> None:
    names = (normal(touch.entry.outputs),) if is_path(touch.entry.outputs) else OVERWRITTEN
    output = first_blob((f"{state.active}/{name}" for name in names), state.files)
    series = state.overwritten
    newest = str(len(series.units))
    touched = []
    if output is None and newest in series.units:
        _mark_present(series, series.units[newest], False)
    elif output is not None and (state.output is None or state.output.oid != output.oid):
        number = len(series.units) + 1
        newest = str(number)
        series.units[newest] = Unit(number, f"{number:04d}")
        series.waiting.clear()
        touched = [newest]
    state.output = output
    view = _View((output,) if output else (), None, ())
    _fold_series(series, touch, inputs, inputs_changed, touched, {newest: view}, _overwritten_label)


def _fold_iterations(state: EvalState, touch: Touch, inputs: Inputs, inputs_changed: bool, *, moved: bool) -> None:
    series = state.iterations
    roles = ("output", "recorded", "run")
    names = {place.iteration for place, _ in touch.changes if place.role in roles and place.folder == state.active}
    if moved:
        names |= {*series.units, *_iteration_names(state)}
    views = {name: _view(state, name) for name in sorted(names, key=lambda name: (iteration_number(name) or 0, name))}
    touched = [name for name, view in views.items() if view.outputs or view.recorded]
    gone = [name for name in views if name not in touched and name in series.units and series.units[name].present]
    _follow_renames(series, touched, gone, views)
    for name in gone:
        _mark_present(series, series.units[name], False)
    for name in touched:
        unit = series.units.get(name)
        if unit is None:
            series.units[name] = _new_unit(series, name, touch, state)
        elif not unit.present:
            _mark_present(series, unit, True)
    if inputs.ground_truth is not None:
        views |= {name: _view(state, name) for name in series.waiting if name not in views}
    newest = _newest(series)
    if inputs_changed and newest is not None and newest not in views:
        views[newest] = _view(state, newest)
    _fold_series(series, touch, inputs, inputs_changed, touched, views, _iteration_label)


def _fold_series(
    series: SeriesState,
    touch: Touch,
    inputs: Inputs,
    inputs_changed: bool,
    touched: Sequence[str],
    views: dict[str, _View],
    label: Callable[[str, Unit], str],
) -> None:
    """Start the snapshots of one commit: of iterations that came or changed, and of the newest if inputs changed."""
    if inputs.ground_truth is None:
        series.waiting |= dict.fromkeys(touched, True)
        return
    previous = series.snapshots[-1] if series.snapshots else None
    started: list[tuple[str, Snapshot]] = []
    candidates = dict.fromkeys((*touched, *series.waiting))
    series.waiting.clear()
    for name in candidates:
        unit = series.units[name]
        if not unit.present or name not in views:
            continue
        last = series.snapshots[unit.points[-1]] if unit.points else None
        if last is not None and _same_files(last.outputs, views[name].outputs):
            series.snapshots[unit.points[-1]] = _with_companions(last, views[name], touch)
            continue
        cause = _cause(last or previous, inputs, waited=last is None and name not in touched)
        started.append((name, _snapshot(touch, label(name, unit), unit, ("outputs", *cause), views[name], inputs)))
    for name, snapshot in _in_order(started):
        _append(series, name, snapshot)
    if not inputs_changed:
        return
    newest = _newest(series)
    if newest is None or newest not in views or any(newest == name for name, _ in started):
        return
    unit = series.units[newest]
    cause = _cause(series.snapshots[unit.points[-1]], inputs, waited=False)
    if cause:
        _append(series, newest, _snapshot(touch, label(newest, unit), unit, cause, views[newest], inputs))


def _append(series: SeriesState, name: str, snapshot: Snapshot) -> None:
    unit = series.units[name]
    if not unit.points:
        # Units stand in the order of their first snapshots.
        series.units[name] = series.units.pop(name)
    unit.points.append(len(series.snapshots))
    series.snapshots.append(snapshot)


def _snapshot(touch: Touch, label: str, unit: Unit, cause: tuple[Cause, ...], view: _View, inputs: Inputs) -> Snapshot:
    slug = f"{unit.slug}-{touch.commit.sha[:_SHORT]}" if unit.points else unit.slug
    snapshot = Snapshot(
        iteration=unit.number,
        label=label,
        slug=slug,
        commit=touch.commit,
        cause=cause,
        outputs=view.outputs,
        ground_truth=inputs.ground_truth,
        mapping=inputs.mapping,
        schema=inputs.schema,
        settings=inputs.settings,
    )
    return _with_companions(snapshot, view, touch)


def _with_companions(snapshot: Snapshot, view: _View, touch: Touch) -> Snapshot:
    """The snapshot with what lies beside its output as it stands now; the same files elsewhere are no news."""
    if not _same_file(snapshot.recorded, view.recorded):
        recorded_at, made_at = _read_record(view.recorded, touch) if view.recorded else (None, None)
        snapshot = snapshot._replace(recorded=view.recorded, recorded_at=recorded_at, made_at=made_at)
    return snapshot if _same_files(snapshot.runs, view.runs) else snapshot._replace(runs=view.runs)


def _read_record(blob: Blob, touch: Touch) -> tuple[str | None, str | None]:
    read = touch.read(blob.oid)
    recorded = read_recorded(read.content) if read.content is not None else None
    if recorded is None:
        reason = read.reason or "no JSON object"
        touch.report(
            Problem(
                "warning",
                f"The recorded results cannot be read: {reason}.",
                "Nothing is lost but the recorded time and numbers; write the file again to have them.",
                path=blob.path,
                commit=touch.commit.sha,
                eval_id=touch.entry.id,
            )
        )
        return None, None
    timestamp = recorded.timestamp if recorded.timestamp and moment(recorded.timestamp) else None
    commit = recorded.git_commit if recorded.git_commit and _COMMIT_ID.fullmatch(recorded.git_commit) else None
    return timestamp, commit


def moment(timestamp: str) -> datetime | None:
    """A point in time from ISO 8601, taken as UTC if it does not say; None if it is none."""
    try:
        parsed = datetime.fromisoformat(timestamp)
    except ValueError:
        return None
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)


def _in_order(started: Iterable[tuple[str, Snapshot]]) -> list[tuple[str, Snapshot]]:
    """Snapshots of one commit by recorded time, then number; one without a time stays behind the number before it."""
    by_number = sorted(started, key=lambda pair: (pair[1].iteration, pair[1].label))
    keyed = []
    latest = datetime.min.replace(tzinfo=UTC)
    for place, pair in enumerate(by_number):
        time = moment(pair[1].recorded_at) if pair[1].recorded_at else None
        latest = time or latest
        keyed.append((latest, place, pair))
    return [pair for _, _, pair in sorted(keyed, key=lambda row: row[:2])]


def _cause(last: Snapshot | None, inputs: Inputs, *, waited: bool) -> tuple[Cause, ...]:
    """What differs, besides outputs, from what was scored last."""
    if last is None:
        return ("ground_truth",) if waited else ()
    return _differences(Inputs(last.ground_truth, last.mapping, last.schema, last.settings), inputs)


def _differences(old: Inputs, new: Inputs) -> tuple[Cause, ...]:
    parts: tuple[tuple[Cause, bool], ...] = (
        ("ground_truth", not _same_file(old.ground_truth, new.ground_truth)),
        ("mapping", not _same_file(old.mapping, new.mapping)),
        ("schema", not _same_file(old.schema, new.schema)),
        ("settings", old.settings != new.settings),
    )
    return tuple(name for name, differs in parts if differs)


def _same_file(old: Blob | None, new: Blob | None) -> bool:
    """Whether two files are the same to a scorer: contents, and the suffix that says the format."""
    if old is None or new is None:
        return old is new
    return old.oid == new.oid and (old.path == new.path or splitext(old.path)[1] == splitext(new.path)[1])


def _same_files(old: tuple[Blob, ...], new: tuple[Blob, ...]) -> bool:
    return len(old) == len(new) and all(_same_file(*pair) for pair in zip(old, new, strict=True))


def _mark_present(series: SeriesState, unit: Unit, present: bool) -> None:
    unit.present = present
    for index in unit.points:
        series.snapshots[index] = series.snapshots[index]._replace(deleted=not present)


def _newest(series: SeriesState) -> str | None:
    """The iteration that came last of those that are there and were scored."""
    return next((name for name, unit in reversed(series.units.items()) if unit.present and unit.points), None)


def _view(state: EvalState, name: str) -> _View:
    folder = f"{state.active}/{RESULTS}/{name}"
    output = first_blob((f"{folder}/{file}" for file in OUTPUTS), state.files)
    runs: list[Blob] = []
    if name in state.with_runs:
        start = f"{folder}/runs/"
        runs = [Blob(path, oid) for path, oid in state.files.items() if path.startswith(start)]
        runs.sort(key=lambda blob: (_number(blob.path[len(start) :]), blob.path))
    return _View(
        outputs=(output,) if output else (),
        recorded=first_blob((f"{folder}/{RECORDED}",), state.files),
        runs=tuple(runs),
    )


def _number(path: str) -> int:
    name = path.partition("/")[0]
    return int(name) if name.isascii() and name.isdigit() and len(name) < 10 else -1


def _iteration_names(state: EvalState) -> set[str]:
    start = f"{state.active}/{RESULTS}/"
    names = {path[len(start) :].partition("/")[0] for path in state.files if path.startswith(start)}
    return {name for name in names if iteration_number(name) is not None}


def _follow_renames(series: SeriesState, touched: list[str], gone: list[str], views: dict[str, _View]) -> None:
    """An iteration folder that was renamed and kept its number and its output goes on under the new name."""
    for new in touched:
        if new in series.units:
            continue
        for old in gone:
            unit = series.units[old]
            last = series.snapshots[unit.points[-1]] if unit.points else None
            if unit.number == iteration_number(new) and last and _same_files(last.outputs, views[new].outputs):
                series.waiting.pop(old, None)
                series.units = {new if name == old else name: each for name, each in series.units.items()}
                gone.remove(old)
                break


def _new_unit(series: SeriesState, name: str, touch: Touch, state: EvalState) -> Unit:
    number = iteration_number(name)
    assert number is not None
    slug = f"{number:04d}"
    if slug in series.slugs:
        touch.report(
            Problem(
                "warning",
                f"{name!r} has the number of another iteration, {number}; both are kept.",
                "Give each iteration a number of its own.",
                path=f"{state.active}/{RESULTS}/{name}",
                commit=touch.commit.sha,
                eval_id=state.id,
            )
        )
        base = slug = f"{slug}-{name.lower()}"
        copy = 2
        while slug in series.slugs:
            slug, copy = f"{base}-{copy}", copy + 1
    series.slugs[slug] = True
    return Unit(number, slug)


def _iteration_label(name: str, unit: Unit) -> str:
    return name


def _overwritten_label(name: str, unit: Unit) -> str:
    return f"iteration-{unit.number:03d}"
