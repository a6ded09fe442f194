"""Folds a commit into the iterations of an eval, in both candidates for its series.

One candidate holds the iterations in folders, ``results/iteration-NNN``, or the runs that a glob matches. The other
holds the versions of an output that is overwritten from commit to commit.
"""

from __future__ import annotations

from collections.abc import Mapping
from posixpath import basename

from msgspec.structs import replace

from sitegen.config.models import files_of
from sitegen.history import problems
from sitegen.history.entry_rules import is_path, normal, runs_of
from sitegen.history.eval_commit import EvalCommit, IterationFiles, with_own_sides
from sitegen.history.eval_state import EvalState, SeriesIteration, SeriesState, first_blob, outputs_in
from sitegen.history.globs import slug_of_run, time_in
from sitegen.history.layout import RECORDED, RESULTS, iteration_number, records_of
from sitegen.history.snapshots import (
    last_snapshot,
    mark_present,
    newest_scored,
    same_contents,
    same_files,
    start_snapshots,
)
from sitegen.model.timeline import Blob
from sitegen.text.plain import natural_order


def fold_iterations(state: EvalState, eval_commit: EvalCommit, *, everything: bool) -> None:
    """Fold one commit into the series of iterations. With *everything*, all folders count as touched."""
    series = state.iterations
    roles = ("output", "recorded", "run")
    places = (place for place, _ in eval_commit.changes if place.role in roles and place.folder == state.active)
    names = {place.iteration for place in places} - {""}
    if everything:
        names |= {*series.units, *_names_on_file(state, eval_commit)}
    in_order = sorted(names, key=lambda name: (iteration_number(name) or 0, natural_order(name), name))
    files_by_name = {name: _iteration_files(state, eval_commit, name) for name in in_order}
    touched = [
        name
        for name, iteration_files in files_by_name.items()
        if iteration_files.outputs or _is_failed_run(iteration_files)
    ]
    gone = [
        name for name in files_by_name if name not in touched and name in series.units and series.units[name].present
    ]
    _continue_renamed_iterations(series, touched, gone, files_by_name)
    for name in gone:
        mark_present(series, series.units[name], False)
    for name in touched:
        iteration = series.units.get(name)
        if iteration is None:
            series.units[name] = _new_unit(state, eval_commit, name)
        elif not iteration.present:
            mark_present(series, iteration, True)
    newest = newest_scored(series)
    untouched = [*series.waiting] if eval_commit.scorable else []
    if eval_commit.inputs_changed and newest is not None:
        untouched.append(newest)
    for name in untouched:
        if name not in files_by_name:
            files_by_name[name] = _iteration_files(state, eval_commit, name)
    start_snapshots(series, eval_commit, touched, files_by_name)


def _names_on_file(state: EvalState, eval_commit: EvalCommit) -> set[str]:
    runs = runs_of(eval_commit.entry)
    if runs is not None:
        return set(runs.names(state.active or "", state.files))
    results = state.files.folder(f"{state.active}/{RESULTS}")
    return {name for name in (*results.folders, *results.files) if iteration_number(name) is not None}


def _iteration_files(state: EvalState, eval_commit: EvalCommit, name: str) -> IterationFiles:
    return with_own_sides(_committed_files(state, eval_commit, name), state, eval_commit)


def _committed_files(state: EvalState, eval_commit: EvalCommit, name: str) -> IterationFiles:
    glob = runs_of(eval_commit.entry)
    if glob is not None:
        outputs = tuple(filter(eval_commit.belongs, glob.outputs(state.active or "", name, state.files)))
        below = f"{state.active}/{glob.start}{name if glob.is_folder else ''}".strip("/")
        return IterationFiles(
            label=name,
            outputs=outputs,
            recorded=_record_beside(outputs, below, state, eval_commit, in_own_folder=glob.is_folder),
            stated_at=time_in(name, eval_commit.commit.committed_at),
        )
    folder = f"{state.active}/{RESULTS}/{name}"
    files = files_of(eval_commit.kind)
    outputs = outputs_in(folder, files.outputs, state.files, files.variants)
    runs: list[Blob] = []
    if name in state.with_runs:
        start = f"{folder}/runs"
        runs = sorted(state.files.blobs(start), key=lambda blob: (_run_number(blob.path[len(start) + 1 :]), blob.path))
    recorded = _record_beside(outputs, folder, state, eval_commit)
    return IterationFiles(label=name, outputs=outputs, recorded=recorded, runs=tuple(runs))


def _record_beside(
    outputs: tuple[Blob, ...], folder: str, state: EvalState, eval_commit: EvalCommit, *, in_own_folder: bool = True
) -> Blob | None:
    """Return the record in the folder of an output, which is no output itself."""
    names = records_of(eval_commit.kind, in_own_folder=in_own_folder)
    paths = dict.fromkeys(f"{folder}/{name}".removeprefix("/") for name in names)
    return first_blob([path for path in paths if path not in {blob.path for blob in outputs}], state.files)


def _is_failed_run(iteration_files: IterationFiles) -> bool:
    """Whether the files include ``eval-results.json``, which only a run writes; other records may lie anywhere."""
    return iteration_files.recorded is not None and basename(iteration_files.recorded.path) == RECORDED


def _run_number(path: str) -> int:
    """Return 7 for ``7/extracted.json``; -1 for a name that is not a number, so that it sorts first."""
    name = path.partition("/")[0]
    return int(name) if name.isascii() and name.isdigit() and len(name) < 10 else -1


def _continue_renamed_iterations(
    series: SeriesState, touched: list[str], gone: list[str], files_by_name: Mapping[str, IterationFiles]
) -> None:
    """Continue an iteration under its new name if its folder was renamed but kept its number and its output."""
    for new in touched:
        if new in series.units:
            continue
        for old in gone:
            iteration = series.units[old]
            last = last_snapshot(series, iteration)
            if (
                iteration.number == iteration_number(new)
                and last
                and same_files(last.outputs, files_by_name[new].outputs)
            ):
                series.waiting.pop(old, None)
                series.units = {new if name == old else name: unit for name, unit in series.units.items()}
                gone.remove(old)
                break


def _new_unit(state: EvalState, eval_commit: EvalCommit, name: str) -> SeriesIteration:
    """Make a new iteration, with a slug that is unique in the series on every file system.

    A run has the number in its name, otherwise its position among all runs so far.
    """
    if runs_of(eval_commit.entry) is not None:
        stated = iteration_number(name.rpartition("/")[2])
        position = len(state.iterations.units) + 1
        if stated is None:
            return _with_unique_slug(state.iterations, position, slug_of_run(name, position))
        return _with_unique_slug(state.iterations, stated, f"{stated:04d}")
    number = iteration_number(name) or 0
    slug = f"{number:04d}"
    if slug in state.iterations.slugs:
        path = f"{state.active}/{RESULTS}/{name}"
        eval_commit.report(problems.same_number(eval_commit.commit, state.id, path, name, number))
        slug = f"{slug}-{name.lower()}"
    return _with_unique_slug(state.iterations, number, slug)


def _with_unique_slug(series: SeriesState, number: int, slug: str) -> SeriesIteration:
    unique, copy = slug, 2
    while unique in series.slugs:
        unique, copy = f"{slug}-{copy}", copy + 1
    series.slugs.add(unique)
    return SeriesIteration(number, unique)


def fold_overwritten(state: EvalState, eval_commit: EvalCommit) -> None:
    """Fold one commit into the series of versions. The same content at another path is not a new version."""
    iteration_files = with_own_sides(IterationFiles("", _version_outputs(state, eval_commit)), state, eval_commit)
    outputs = iteration_files.outputs
    if not all(map(eval_commit.belongs, outputs)):
        outputs = state.output  # the version belongs to another eval, and this eval is unchanged
    series = state.overwritten
    number = len(series.units)
    touched = []
    if not outputs and number:
        mark_present(series, series.units[str(number)], False)
    elif outputs and not same_contents(state.output, outputs):
        number += 1
        series.units[str(number)] = SeriesIteration(number, f"{number:04d}")
        # The versions that waited for a ground truth are overwritten now.
        series.waiting.clear()
        touched = [str(number)]
        _report_runs_left_out(state, outputs, eval_commit)
    state.output = outputs
    folder = outputs[0].path.rpartition("/")[0] if outputs else ""
    iteration_files = replace(
        iteration_files,
        label=f"iteration-{number:03d}",
        recorded=_record_beside(outputs, folder, state, eval_commit, in_own_folder=False),
    )
    start_snapshots(series, eval_commit, touched, {str(number): iteration_files})


def _report_runs_left_out(state: EvalState, outputs: tuple[Blob, ...], eval_commit: EvalCommit) -> None:
    """Report the runs that the commit appends to a file in addition to the last one."""
    if len(outputs) != 1 or len(state.output) > 1:
        return
    before = eval_commit.read(state.output[0].oid).content if state.output else None
    content = eval_commit.read(outputs[0].oid).content
    runs = eval_commit.contents.appended_runs(eval_commit.kind, outputs[0].path, before or b"", content or b"")
    if runs > 1:
        eval_commit.report(problems.runs_left_out(eval_commit.commit, state.id, outputs[0].path, runs))


def _version_outputs(state: EvalState, eval_commit: EvalCommit) -> tuple[Blob, ...]:
    folder = state.active or ""
    if is_path(eval_commit.entry.outputs):
        return outputs_in(folder, (normal(eval_commit.entry.outputs),), state.files)
    files = files_of(eval_commit.kind)
    log = first_blob((*(f"{state.active}/{path}" for path in files.elsewhere), *files.at_root), state.files)
    if log:
        return (log,)
    results = f"{state.active}/{RESULTS}"
    return outputs_in(folder, files.overwritten, state.files, files.variants, elsewhere=(results,))
