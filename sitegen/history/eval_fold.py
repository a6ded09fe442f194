"""Folds commits into one eval: its files, its folder, its scoring inputs, and its snapshots."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from functools import cache
from itertools import chain
from posixpath import basename

from msgspec.structs import replace

from sitegen.config.models import EvalConfig, Kind, files_of
from sitegen.history import problems
from sitegen.history.entry_rules import canonical_settings, is_glob, is_path, kind_of, normal, truth_names
from sitegen.history.eval_commit import EvalCommit, keep_newest_run
from sitegen.history.eval_state import EvalInputs, EvalState, first_blob
from sitegen.history.iterations import fold_iterations, fold_overwritten
from sitegen.history.layout import RESULTS, PathRole
from sitegen.history.snapshots import differences
from sitegen.model.commits import ChangedPath
from sitegen.model.contents import GRADES
from sitegen.model.timeline import Blob, EvalHistory, OutputLayout, Snapshot


def fold_eval(state: EvalState, eval_commit: EvalCommit, inputs_of: Callable[[EvalState], EvalInputs]) -> None:
    """Fold one commit into an eval: its files, then its folder, then its inputs, then its series.

    *inputs_of* returns the inputs of scoring besides outputs; it is called once the files are updated. While
    ``outputs`` of the built manifest is ``auto``, both candidates for the series are followed, because only the end of
    history decides between them.
    """
    folder_before, inputs_before = state.active, state.inputs
    for place, change in eval_commit.changes:
        _update_files(state, place, change, eval_commit)
    folder = next((name for name in state.folders if _has_files(state, name)), None)  # listed by precedence
    state.active = folder_before if folder is None else folder
    moved = state.active != folder_before
    if moved:
        state.newest_run = None
        if folder_before is not None:
            state.renamed_from.append(basename(folder_before))
    state.inputs = inputs = inputs_of(state)
    entry = eval_commit.entry
    eval_commit = replace(
        eval_commit,
        inputs=inputs,
        inputs_changed=inputs_before is not None and differences(inputs_before, inputs) != (),
        kind=_kind_scored(entry, inputs),
    )
    state.was_scorable = state.was_scorable or (eval_commit.scorable and bool(state.files))
    if is_path(entry.outputs) or entry.outputs == "auto":
        fold_overwritten(state, eval_commit)
    if not is_path(entry.outputs):
        # In another folder, or with another kind, other files are outputs, so that every iteration is examined again.
        kind_changed = eval_commit.kind != _kind_scored(entry, inputs_before)
        fold_iterations(state, eval_commit, everything=moved or kind_changed)


def ground_truth(state: EvalState, kind: Kind | None, stated: str | None, shared: dict[str, str]) -> Blob | None:
    """Return the current ground truth: the file that the commit's manifest names, otherwise the first by convention."""
    names = truth_names(kind, stated)
    if state.active is None or not names:
        return None
    paths = [normal(f"{state.active}/{name}") for name in names]
    return first_blob(paths, state.files) or first_blob(paths, shared)


def layout_of(state: EvalState, entry: EvalConfig) -> OutputLayout:
    """Return the layout of an eval's outputs: iterations if it ever had any, unless the manifest states another."""
    if entry.outputs == "iterations" or is_glob(entry.outputs):
        return "iterations"
    return "iterations" if entry.outputs == "auto" and state.iterations.units else "overwritten"


def history_of(state: EvalState, entry: EvalConfig) -> EvalHistory:
    """Return the history of the eval, with the layout and the kind according to the built manifest's entry."""
    layout = layout_of(state, entry)
    series = state.iterations if layout == "iterations" else state.overwritten
    last = series.snapshots[-1] if series.snapshots else None
    kind = _kind_scored(entry, state.inputs if state.inputs and state.inputs.ground_truth else last)
    self_judged = not files_of(kind).ground_truths
    history = EvalHistory(
        id=state.id,
        kind=kind,
        layout=layout,
        snapshots=tuple(series.snapshots),
        renamed_from=tuple(state.renamed_from),
        deleted=not (state.files if self_judged else state.inputs and state.inputs.ground_truth),
    )
    return with_common_grades(history)[0]


def with_common_grades(*histories: EvalHistory) -> tuple[EvalHistory, ...]:
    """Add the scores that are grades in any snapshot to the settings of all, so that a score means one thing.

    Several histories are those of one eval at several revisions.
    """
    grades = frozenset(chain.from_iterable(history.grades for history in histories))
    if not grades:
        return histories

    @cache
    def with_grades(settings: str) -> str:
        return settings_with_grades(settings, grades)

    return tuple(
        replace(
            history,
            snapshots=tuple(
                replace(snapshot, settings=with_grades(snapshot.settings)) for snapshot in history.snapshots
            ),
        )
        for history in histories
    )


def settings_with_grades(settings: str, grades: Collection[str]) -> str:
    """Return the settings of an output with these scores as grades, besides those that are stated."""
    stated = json.loads(settings)
    named = stated.get(GRADES)
    stated[GRADES] = sorted({*grades, *(named if isinstance(named, list) else ())}, key=str)
    return canonical_settings(stated)


def _kind_scored(entry: EvalConfig, scored: EvalInputs | Snapshot | None) -> Kind:
    return kind_of(entry, scored.ground_truth.path if scored and scored.ground_truth else None)


def _update_files(state: EvalState, place: PathRole, change: ChangedPath, eval_commit: EvalCommit) -> None:
    if place.role == "stranger":
        if change.new is not None and place.iteration not in state.strangers:
            state.strangers.add(place.iteration)
            path = f"{place.folder}/{RESULTS}/{place.iteration}"
            eval_commit.report(problems.stranger_folder(eval_commit.commit, state.id, path, place.iteration))
        return
    if place.role == "run":
        state.with_runs.add(place.iteration)
    if change.new is None:
        state.files.remove(change.path)
    else:
        state.files.put(change.path, change.new)
    if place.role == "output":
        keep_newest_run(state, place, change)


def _has_files(state: EvalState, folder: str) -> bool:
    """Whether an eval's folder holds a file; for the top of the repository, one in no other folder of the eval."""
    if folder:
        return bool(state.files.folder(folder))
    others = tuple(f"{other}/" for other in state.folders if other)
    return any(not blob.path.startswith(others) for blob in state.files.blobs())
