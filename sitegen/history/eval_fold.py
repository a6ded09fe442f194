"""Folds commits into one eval: its files, its folder, its scoring inputs, its iterations and their snapshots.

There are two candidates for its series. One holds the iterations in folders, ``results/iteration-NNN``, or the runs
that a glob matches. The other holds the versions of an output that is overwritten from commit to commit.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from functools import cache
from itertools import chain
from posixpath import basename

from msgspec.structs import replace

from sitegen.config.models import EvalConfig, Kind, files_of
from sitegen.history.eval_commit import EvalCommit
from sitegen.history.eval_state import (
    EvalInputs,
    EvalState,
    SeriesIteration,
    SeriesState,
    differences,
    same_contents,
    same_files,
)
from sitegen.history.layout import (
    RECORDED,
    canonical_settings,
    is_glob,
    is_in_output,
    is_path,
    iteration_number,
    kind_of,
    normal,
)
from sitegen.model.recorded import GRADES
from sitegen.model.timeline import EvalHistory, Snapshot
from sitegen.scoring.answerers import answerers
from sitegen.text.plain import natural_order


def fold_iterations(eval_commit: EvalCommit, *, everything: bool) -> None:
    """Fold one commit into the series of iterations. With ``everything``, all folders count as touched."""
    state = eval_commit.state
    series = state.iterations
    roles = ("output", "recorded", "run")
    places = (place for place, _ in eval_commit.changes if place.role in roles and place.folder == state.active)
    names = {place.iteration for place in places} - {""}
    if everything:
        names |= {*series.units, *eval_commit.names_on_file()}
    if not names and not series.units:
        return
    in_order = sorted(names, key=lambda name: (iteration_number(name) or 0, natural_order(name), name))
    files_by_name = {name: eval_commit.committed_files(name) for name in in_order}
    # Only a run writes eval-results.json, so without an output it is a run that failed. Other records may lie anywhere.
    touched = [
        name
        for name, files in files_by_name.items()
        if files.outputs or (files.recorded and basename(files.recorded.path) == RECORDED)
    ]
    gone = [
        name for name in files_by_name if name not in touched and name in series.units and series.units[name].present
    ]
    _continue_renamed_iterations(series, touched, gone, files_by_name)
    for name in gone:
        series.mark_present(name, False)
    for name in touched:
        iteration = series.units.get(name)
        if iteration is None:
            series.units[name] = eval_commit.new_unit(name)
        elif not iteration.present:
            series.mark_present(name, True)
    newest = series.newest_scored()
    untouched = [*series.waiting] if eval_commit.scorable else []
    if eval_commit.inputs_changed and newest is not None:
        untouched.append(newest)
    for name in untouched:
        if name not in files_by_name:
            files_by_name[name] = eval_commit.committed_files(name)
    eval_commit.start_snapshots(series, touched, files_by_name)


def _continue_renamed_iterations(
    series: SeriesState, touched: list[str], gone: list[str], files_by_name: Mapping[str, Snapshot]
) -> None:
    """Continue an iteration under its new name if its folder was renamed but kept its number and its output."""
    for new in touched:
        if new in series.units:
            continue
        for old in gone:
            iteration = series.units[old]
            last = series.last_snapshot(old)
            if (
                iteration.number == iteration_number(new)
                and last
                and same_files(last.outputs, files_by_name[new].outputs)
            ):
                series.waiting.pop(old, None)
                series.units = {new if name == old else name: unit for name, unit in series.units.items()}
                gone.remove(old)
                break


def fold_overwritten(eval_commit: EvalCommit) -> None:
    """Fold one commit into the series of versions. The same content at another path is not a new version."""
    state = eval_commit.state
    draft = eval_commit.draft("", eval_commit.version_outputs())
    outputs = draft.outputs
    if not all(map(eval_commit.belongs, outputs)):
        outputs = state.output  # the version belongs to another eval, and this eval is unchanged
    series, settings = state.overwritten, eval_commit.inputs.settings
    number = len(series.units)
    touched = []
    if not outputs and number:
        series.mark_present(str(number), False)
    elif outputs and not (
        same_contents(state.output, outputs) and answerers(state.output, settings) == answerers(outputs, settings)
    ):
        number += 1
        series.units[str(number)] = SeriesIteration(number, f"{number:04d}")
        # The versions that waited for a ground truth are overwritten now.
        series.waiting.clear()
        touched = [str(number)]
        eval_commit.report_runs_left_out(outputs)
    state.output = outputs
    entry = eval_commit.entry
    is_folder = any(is_in_output(entry, blob.path.removeprefix(f"{state.active}/")) for blob in outputs[:1])
    folder = normal(f"{state.active or ''}/{entry.outputs}") if is_folder else ""
    folder = folder or (outputs[0].path.rpartition("/")[0] if outputs else "")
    recorded = eval_commit.record_beside(outputs, folder, in_own_folder=is_folder)
    draft = replace(draft, label=f"iteration-{number:03d}", recorded=recorded)
    eval_commit.start_snapshots(series, touched, {str(number): draft})


def fold_eval(eval_commit: EvalCommit, inputs_of: Callable[[EvalCommit], EvalInputs]) -> None:
    """Fold one commit into an eval: its files, then its folder, then its inputs, then its series.

    ``inputs_of`` returns the inputs of scoring besides outputs; it is called once the files are updated. If ``outputs``
    of the built manifest is ``auto``, the versions of an output are followed until there is an iteration in a folder.
    """
    state = eval_commit.state
    folder_before, inputs_before = state.active, state.inputs
    eval_commit.update_files()
    folder = next((name for name in state.folders if state.has_files(name)), None)  # listed by precedence
    state.active = folder_before if folder is None else folder
    moved = state.active != folder_before
    if moved:
        state.newest_run = None
        if folder_before is not None:
            state.renamed_from.append(basename(folder_before))
    state.inputs = inputs = inputs_of(eval_commit)
    entry = eval_commit.entry
    eval_commit = replace(
        eval_commit,
        inputs=inputs,
        inputs_changed=inputs_before is not None and differences(inputs_before, inputs) != (),
        kind=_kind_scored(entry, inputs),
    )
    state.was_scorable = state.was_scorable or (eval_commit.scorable and bool(state.files))
    if not is_path(entry.outputs):
        # In another folder, or with another kind, other files are outputs, so that every iteration is examined again.
        kind_changed = eval_commit.kind != _kind_scored(entry, inputs_before)
        fold_iterations(eval_commit, everything=moved or kind_changed)
    if is_path(entry.outputs) or (entry.outputs == "auto" and not state.iterations.units):
        fold_overwritten(eval_commit)


def history_of(state: EvalState, entry: EvalConfig) -> EvalHistory:
    """Return the history of the eval, with the layout and the kind according to the built manifest's entry.

    Unless the manifest states another layout, it is that of iterations if there ever were any.
    """
    named = entry.outputs == "iterations" or is_glob(entry.outputs)
    has_iterations = named or (entry.outputs == "auto" and bool(state.iterations.units))
    series = state.iterations if has_iterations else state.overwritten
    last = series.snapshots[-1] if series.snapshots else None
    kind = _kind_scored(entry, state.inputs if state.inputs and state.inputs.ground_truth else last)
    self_judged = not files_of(kind).ground_truths
    history = EvalHistory(
        id=state.id,
        kind=kind,
        layout="iterations" if has_iterations else "overwritten",
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
