"""One eval through history: how each commit that touches it becomes snapshots."""

from __future__ import annotations

from collections.abc import Callable
from posixpath import basename

from sitegen.config import GROUND_TRUTHS, EvalConfig, Kind, files_of
from sitegen.history import problems
from sitegen.history.case_sides import keep_newest_run
from sitegen.history.eval_commit import EvalCommit, InputsInForce
from sitegen.history.fold_state import EvalInputs, EvalState
from sitegen.history.iterations import fold_iterations, fold_overwritten
from sitegen.history.layout import RESULTS, PathRole, first_blob, is_glob, is_path, kind_of, normal
from sitegen.history.snapshots import differences
from sitegen.model.commits import ChangedPath
from sitegen.model.timeline import Blob, EvalHistory, Layout, Snapshot


def fold_eval(state: EvalState, eval_commit: EvalCommit, inputs_of: Callable[[EvalState], EvalInputs]) -> None:
    """Fold one commit into an eval: its files, then where it lives, then its inputs, then its series.

    *inputs_of* answers what scoring depends on once the files are taken. While ``outputs`` of the built manifest is
    ``auto``, both candidates for the series are followed, because which one counts is known at the end.
    """
    before = state.active
    for place, change in eval_commit.changes:
        _take_change(state, place, change, eval_commit)
    active = _active_folder(state)
    state.active = before if active is None else active
    moved = state.active != before
    if moved:
        state.newest_run = None
    if before is not None and moved:
        state.renamed_from.append(basename(before))
    inputs = inputs_of(state)
    kind_before, kind = (_kind_scored(eval_commit.entry, scored_with) for scored_with in (state.inputs, inputs))
    in_force = InputsInForce(inputs, state.inputs is not None and differences(state.inputs, inputs) != (), kind)
    state.inputs = inputs
    state.was_scorable = state.was_scorable or (in_force.scorable and bool(state.files))
    outputs = eval_commit.entry.outputs
    if is_path(outputs) or outputs == "auto":
        fold_overwritten(state, eval_commit, in_force)
    if not is_path(outputs):
        # Of another kind, or in another folder, other files are outputs.
        fold_iterations(state, eval_commit, in_force, everything=moved or kind != kind_before)


def ground_truth(state: EvalState, kind: Kind | None, stated: str | None, shared: dict[str, str]) -> Blob | None:
    """The ground truth as it stands: the one that the manifest of the commit names, else the first by convention."""
    conventional = files_of(kind).ground_truths if kind else GROUND_TRUTHS
    if state.active is None or not conventional:
        return None
    names = (stated,) if stated else conventional
    paths = [normal(f"{state.active}/{name}") for name in names]
    return first_blob(paths, state.files) or first_blob(paths, shared)


def layout_of(state: EvalState, entry: EvalConfig) -> Layout:
    """Iterations if the eval ever had any, unless the manifest says otherwise."""
    if entry.outputs == "iterations" or is_glob(entry.outputs):
        return "iterations"
    return "iterations" if entry.outputs == "auto" and state.iterations.units else "overwritten"


def history_of(state: EvalState, entry: EvalConfig) -> EvalHistory:
    """The eval as pages know it, by the built manifest's entry."""
    layout = layout_of(state, entry)
    series = state.iterations if layout == "iterations" else state.overwritten
    last = series.snapshots[-1] if series.snapshots else None
    kind = _kind_scored(entry, state.inputs if state.inputs and state.inputs.ground_truth else last)
    self_judged = not files_of(kind).ground_truths
    return EvalHistory(
        id=state.id,
        kind=kind,
        layout=layout,
        snapshots=tuple(series.snapshots),
        renamed_from=tuple(state.renamed_from),
        deleted=not (state.files if self_judged else state.inputs and state.inputs.ground_truth),
    )


def _kind_scored(entry: EvalConfig, scored: EvalInputs | Snapshot | None) -> Kind:
    return kind_of(entry, scored.ground_truth.path if scored and scored.ground_truth else None)


def _take_change(state: EvalState, place: PathRole, change: ChangedPath, eval_commit: EvalCommit) -> None:
    if place.role == "stranger":
        if change.new is not None and place.iteration not in state.strangers:
            state.strangers[place.iteration] = True
            path = f"{place.folder}/{RESULTS}/{place.iteration}"
            eval_commit.report(problems.stranger_folder(eval_commit.commit, state.id, path, place.iteration))
        return
    if place.role == "run":
        state.with_runs[place.iteration] = True
    if change.new is None:
        state.files.remove(change.path)
    else:
        state.files.put(change.path, change.new)
    if place.role == "output":
        keep_newest_run(state, place, change)


def _active_folder(state: EvalState) -> str | None:
    """The best of the eval's folders that any file is in."""
    return next((folder for folder in state.folders if _has_files(state, folder)), None)


def _has_files(state: EvalState, folder: str) -> bool:
    """Whether any file lies in an eval's folder; the top of the repository holds no more than its own files."""
    return bool(state.files.folder(folder) if folder else state.files.files)
