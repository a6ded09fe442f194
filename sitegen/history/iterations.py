"""The series of iterations in folders, ``results/iteration-NNN``, or of the runs that a glob names."""

from __future__ import annotations

from collections.abc import Mapping
from posixpath import basename

from sitegen.config import Kind, files_of
from sitegen.history import problems
from sitegen.history.layout import RECORDED, RECORDS, RESULTS, first_blob, iteration_number, outputs_in, runs_of
from sitegen.history.runs import natural_order, slug_of_run, time_in
from sitegen.history.series import last_snapshot, mark_present, newest_scored, start_snapshots
from sitegen.history.snapshots import same_files
from sitegen.history.state import EvalState, SeriesState, Unit
from sitegen.history.touch import EvalCommit, InForce, View
from sitegen.history.two_sides import told_apart
from sitegen.model.timeline import Blob


def fold_iterations(state: EvalState, touch: EvalCommit, now: InForce, *, everything: bool) -> None:
    """Fold one commit into the series of iterations. *everything*: all folders count as touched."""
    series = state.iterations
    names = _touched_names(state, touch)
    if everything:
        names |= {*series.units, *_names_on_file(state, touch)}
    views = {name: _view(state, touch, now, name) for name in sorted(names, key=_place_in_series)}
    touched = [name for name, view in views.items() if view.outputs or _failed(view)]
    gone = [name for name in views if name not in touched and name in series.units and series.units[name].present]
    _follow_renames(series, touched, gone, views)
    for name in gone:
        mark_present(series, series.units[name], False)
    for name in touched:
        unit = series.units.get(name)
        if unit is None:
            series.units[name] = _new_unit(state, touch, name)
        elif not unit.present:
            mark_present(series, unit, True)
    if now.scorable:
        views |= {name: _view(state, touch, now, name) for name in series.waiting if name not in views}
    newest = newest_scored(series)
    if now.changed and newest is not None and newest not in views:
        views[newest] = _view(state, touch, now, newest)
    start_snapshots(series, touch, now, touched, views)


def _touched_names(state: EvalState, touch: EvalCommit) -> set[str]:
    roles = ("output", "recorded", "run")
    return {place.iteration for place, _ in touch.changes if place.role in roles and place.folder == state.active}


def _names_on_file(state: EvalState, touch: EvalCommit) -> set[str]:
    runs = runs_of(touch.entry)
    if runs is not None:
        below = f"{state.active}/"
        named = (runs.name(path[len(below) :]) for path in state.files if path.startswith(below))
        return {name for name in named if name is not None}
    start = f"{state.active}/{RESULTS}/"
    names = {path[len(start) :].partition("/")[0] for path in state.files if path.startswith(start)}
    return {name for name in names if iteration_number(name) is not None}


def _view(state: EvalState, touch: EvalCommit, now: InForce, name: str) -> View:
    return told_apart(_as_it_lies(state, touch, now.kind, name), state, touch, now)


def _as_it_lies(state: EvalState, touch: EvalCommit, kind: Kind, name: str) -> View:
    named = runs_of(touch.entry)
    if named is not None:
        outputs = tuple(filter(touch.belongs, named.outputs(state.active or "", name, state.files)))
        below = f"{state.active}/{named.start}{name}"
        recorded = first_blob((f"{below}/{record}" for record in RECORDS), state.files) if named.is_folder else None
        return View(name, outputs, recorded, stated_at=time_in(name, touch.commit.committed_at))
    folder = f"{state.active}/{RESULTS}/{name}"
    files = files_of(kind)
    outputs = outputs_in(folder, files.outputs, state.files, files.variants)
    recorded = first_blob((f"{folder}/{record}" for record in RECORDS), state.files)
    runs: list[Blob] = []
    if name in state.with_runs:
        start = f"{folder}/runs/"
        runs = [Blob(path, oid) for path, oid in state.files.items() if path.startswith(start)]
        runs.sort(key=lambda blob: (_run(blob.path[len(start) :]), blob.path))
    return View(name, outputs, recorded, tuple(runs))


def _failed(view: View) -> bool:
    """Whether there is nothing but the record of a run that gave no output; other records may lie anywhere."""
    return view.recorded is not None and basename(view.recorded.path) == RECORDED


def _run(path: str) -> int:
    """The number of ``7/extracted.json``; names that are no numbers come first."""
    name = path.partition("/")[0]
    return int(name) if name.isascii() and name.isdigit() and len(name) < 10 else -1


def _follow_renames(series: SeriesState, touched: list[str], gone: list[str], views: Mapping[str, View]) -> None:
    """An iteration folder that was renamed and kept its number and its output goes on under the new name."""
    for new in touched:
        if new in series.units:
            continue
        for old in gone:
            unit = series.units[old]
            last = last_snapshot(series, unit)
            if unit.number == iteration_number(new) and last and same_files(last.outputs, views[new].outputs):
                series.waiting.pop(old, None)
                series.units = {new if name == old else name: each for name, each in series.units.items()}
                gone.remove(old)
                break


def _new_unit(state: EvalState, touch: EvalCommit, name: str) -> Unit:
    """An iteration that was never there, with a slug that no other has on any file system."""
    slugs = state.iterations.slugs
    if runs_of(touch.entry) is not None:
        return _new_run(state.iterations, name)
    number = _number(name)
    slug = f"{number:04d}"
    if slug in slugs:
        path = f"{state.active}/{RESULTS}/{name}"
        touch.report(problems.same_number(touch.commit, state.id, path, name, number))
        base = slug = f"{slug}-{name.lower()}"
        copy = 2
        while slug in slugs:
            slug, copy = f"{base}-{copy}", copy + 1
    slugs[slug] = True
    return Unit(number, slug)


def _new_run(series: SeriesState, name: str) -> Unit:
    """A run that was never there. Its number is its place among all that ever came, unless its name states one."""
    stated = iteration_number(name.rpartition("/")[2])
    number = len(series.units) + 1 if stated is None else stated
    slug = f"{number:04d}" if stated is not None else slug_of_run(name, number)
    unique, copy = slug, 2
    while unique in series.slugs:
        unique, copy = f"{slug}-{copy}", copy + 1
    series.slugs[unique] = True
    return Unit(number, unique)


def _place_in_series(name: str) -> tuple[int, tuple[tuple[int, str], ...], str]:
    return _number(name), natural_order(name), name


def _number(name: str) -> int:
    return iteration_number(name) or 0
