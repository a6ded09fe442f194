"""Folds commits into one eval: its files, its folder, its scoring inputs, its iterations and their snapshots.

There are two candidates for its series. One holds the iterations in folders, ``results/iteration-NNN``, or the runs
that a glob matches. The other holds the versions of an output that is overwritten from commit to commit.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import chain, islice
from posixpath import basename
from typing import Final

import msgspec
from msgspec.structs import replace

from sitegen.config.models import EvalConfig, Kind, files_of
from sitegen.data_files.reading import installed_for
from sitegen.history.eval_state import (
    EvalInputs,
    EvalState,
    SeriesIteration,
    SeriesState,
    cause_since,
    differences,
    in_series_order,
    same_contents,
    same_file,
    same_files,
)
from sitegen.history.globs import slug_of_run
from sitegen.history.layout import (
    RECORDED,
    RESULTS,
    canonical_settings,
    is_glob,
    is_in_output,
    is_path,
    iteration_number,
    kind_of,
    normal,
    runs_of,
)
from sitegen.model.metrics import traits_of
from sitegen.model.problems import Problem
from sitegen.model.recorded import GRADES, Recorded, read_recorded
from sitegen.model.timeline import Blob, Cause, EvalHistory, Snapshot
from sitegen.scoring.answerers import answerers
from sitegen.scoring.run_statements import appended_runs, recorded_in
from sitegen.text.plain import moment_of, natural_order

_SHORT: Final = 12
"""The digits of a commit's id in the slug of a snapshot."""
_METRICS: Final = 50
"""The most recorded metrics of a snapshot."""
_COMMIT_ID = r"[0-9a-f]{7,64}"


def fold_eval(state: EvalState, inputs_of: Callable[[EvalState], EvalInputs]) -> None:
    """Fold the commit of the state into an eval: its files, then its folder, then its inputs, then its series.

    ``inputs_of`` returns the inputs of scoring besides outputs; it is called once the files are updated. If ``outputs``
    of the built manifest is ``auto``, the versions of an output are followed until there is an iteration in a folder.
    """
    entry, folder_before, inputs_before = state.entry, state.active, state.inputs
    state.update_files()
    folder = next((name for name in state.folders if state.has_files(name)), None)  # listed by precedence
    state.active = folder_before if folder is None else folder
    moved = state.active != folder_before
    if moved:
        state.newest_run = None
        if folder_before is not None:
            state.renamed_from.append(basename(folder_before))
    state.inputs = inputs_of(state)
    state.inputs_changed = differences(inputs_before, state.inputs) != ()
    state.kind = _kind_scored(entry, state.inputs)
    state.was_scorable = state.was_scorable or (state.scorable and bool(state.files))
    if not is_path(entry.outputs):
        # In another folder, or with another kind, other files are outputs, so that every iteration is examined again.
        kind_changed = state.kind != _kind_scored(entry, inputs_before)
        _fold_iterations(state, everything=moved or kind_changed)
    if is_path(entry.outputs) or (entry.outputs == "auto" and not state.iterations.units):
        _fold_overwritten(state)


def _fold_iterations(state: EvalState, *, everything: bool) -> None:
    """Fold one commit into the series of iterations. With ``everything``, all folders count as touched."""
    series = state.iterations
    roles = ("output", "recorded", "run")
    places = (place for place in state.changes.values() if place.role in roles and place.folder == state.active)
    names = {place.iteration for place in places} - {""}
    if everything:
        names |= {*series.units, *state.names_on_file()}
    if not names and not series.units:
        return
    in_order = sorted(names, key=lambda name: (iteration_number(name) or 0, natural_order(name), name))
    files_by_name = {name: state.committed_files(name) for name in in_order}
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
            series.units[name] = _new_unit(state, name)
        elif not iteration.present:
            series.mark_present(name, True)
    newest = series.newest_scored()
    untouched = [*series.waiting] if state.scorable else []
    if state.inputs_changed and newest is not None:
        untouched.append(newest)
    for name in untouched:
        if name not in files_by_name:
            files_by_name[name] = state.committed_files(name)
    _start_snapshots(state, series, touched, files_by_name)


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


def _fold_overwritten(state: EvalState) -> None:
    """Fold one commit into the series of versions. The same content at another path is not a new version."""
    draft = state.draft("", state.version_outputs())
    outputs = draft.outputs
    if not all(map(state.belongs, outputs)):
        outputs = state.output  # the version belongs to another eval, and this eval is unchanged
    series, settings = state.overwritten, state.inputs.settings
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
        _report_runs_left_out(state, outputs)
    state.output = outputs
    entry = state.entry
    is_folder = any(is_in_output(entry, blob.path.removeprefix(f"{state.active}/")) for blob in outputs[:1])
    folder = normal(f"{state.active or ''}/{entry.outputs}") if is_folder else ""
    folder = folder or (outputs[0].path.rpartition("/")[0] if outputs else "")
    recorded = state.record_beside(outputs, folder, in_own_folder=is_folder)
    draft = replace(draft, label=f"iteration-{number:03d}", recorded=recorded)
    _start_snapshots(state, series, touched, {str(number): draft})


def _new_unit(state: EvalState, name: str) -> SeriesIteration:
    """Make a new iteration, with a slug that is unique in the series on every file system.

    A run has the number in its name, otherwise its position among all runs so far.
    """
    if runs_of(state.entry) is not None:
        stated = iteration_number(name.rpartition("/")[2])
        position = len(state.iterations.units) + 1
        if stated is None:
            return state.iterations.new_iteration(position, slug_of_run(name, position))
        return state.iterations.new_iteration(stated, f"{stated:04d}")
    number = iteration_number(name) or 0
    slug = f"{number:04d}"
    if slug in state.iterations.slugs:
        path = f"{state.active}/{RESULTS}/{name}"
        message = f"{name!r} has the number of another iteration, {number}; both are kept."
        state.report(Problem.of_type("same_number", message, "Give each iteration a number of its own.", path))
        slug = f"{slug}-{name.lower()}"
    return state.iterations.new_iteration(number, slug)


def _report_runs_left_out(state: EvalState, outputs: tuple[Blob, ...]) -> None:
    """Report the runs that the commit appends to a file in addition to the last one."""
    earlier = state.output
    if not traits_of(state.kind).is_recorded or len(outputs) != 1 or len(earlier) > 1:
        return
    (path, oid), before = outputs[0], earlier[0].oid if earlier else ""

    def count(content: bytes) -> str | None:
        then = state.repository.read_blob(before).content if before else b""
        return None if then is None else str(appended_runs(path, then, content))

    runs = int(state.repository.answer(f"runs since {before} in {path}", oid, count) or 0)
    if runs > 1:
        left_out = "1 run of this commit is" if runs == 2 else f"{runs - 1:,} runs of this commit are"
        message = (
            f"{left_out} left out: it adds {runs:,} rows with runs, and only the newest run of the file is a point "
            "of the series."
        )
        fix = "Commit the file after each run, or write each run to a file of its own."
        state.report(Problem("note", message, fix, path=path))


def _start_snapshots(
    state: EvalState, series: SeriesState, touched: Sequence[str], files_by_name: Mapping[str, Snapshot]
) -> None:
    """Start snapshots of new and changed iterations, and of the newest iteration if its inputs changed.

    Of an iteration with the same outputs, the files beside them are updated. ``touched`` names the iterations that the
    commit touched and left in place; ``files_by_name`` holds the files of these, of waiting iterations, and of the
    newest iteration if inputs changed. If a ground truth is needed and missing, nothing is started, and the touched
    iterations wait for it.
    """
    if not state.scorable:
        series.waiting |= dict.fromkeys(touched, True)
        return
    previous = series.snapshots[-1] if series.snapshots else None
    candidates = dict.fromkeys((*touched, *series.waiting))
    series.waiting.clear()
    started = []
    for name in candidates:
        iteration = series.units[name]
        if not iteration.present or name not in files_by_name:
            continue
        draft, last = files_by_name[name], series.last_snapshot(name)
        outputs, settings = draft.outputs, state.inputs.settings
        is_same = last is not None and same_files(last.outputs, outputs)
        if last is not None and is_same and answerers(last.outputs, settings) == answerers(outputs, settings):
            # The current files beside its output; another path alone does not change it.
            if not same_file(last.recorded, draft.recorded):
                last = _with_origin(state, last, draft)
            if not same_files(last.runs, draft.runs):
                last = replace(last, runs=draft.runs)
            series.snapshots[iteration.points[-1]] = last
            continue
        cause = cause_since(last or previous, draft, waited=name not in touched)
        started.append((name, _new_snapshot(state, iteration, ("outputs", *cause), draft)))
    for name, snapshot in in_series_order(started):
        series.append(name, snapshot)
    newest = series.newest_scored()
    if newest is None or newest not in files_by_name or not state.inputs_changed or newest in dict(started):
        return
    # Older iterations keep their scores: only the newest is scored again with other inputs.
    draft = files_by_name[newest]
    if cause := cause_since(series.last_snapshot(newest), draft):
        series.append(newest, _new_snapshot(state, series.units[newest], cause, draft))


def _new_snapshot(state: EvalState, iteration: SeriesIteration, cause: tuple[Cause, ...], draft: Snapshot) -> Snapshot:
    """Make a snapshot of an iteration. Every snapshot but its first has the commit's id in the slug."""
    slug = f"{iteration.slug}-{state.commit.sha[:_SHORT]}" if iteration.points else iteration.slug
    return _with_origin(state, replace(draft, iteration=iteration.number, slug=slug, cause=cause), draft)


def _with_origin(state: EvalState, snapshot: Snapshot, draft: Snapshot) -> Snapshot:
    """Return the snapshot with its run's statements, from the record beside the output or else from the output."""
    beside = _read_record(state, draft.recorded) if draft.recorded else Recorded()
    needs_outputs = not beside.git_commit or traits_of(state.kind).names_scores
    stated = [*_stated_by_outputs(state, draft.outputs, snapshot.settings)] if needs_outputs else []
    # Of an output in several files, the first that says anything of its run tells when it was made.
    of_runs = (each for each in stated if each != Recorded(grades=each.grades))
    inside = next((_checked_statement(state, each) for each in of_runs), Recorded())
    return replace(
        snapshot,
        grades=tuple(dict.fromkeys(chain.from_iterable(each.grades for each in stated))),
        recorded=draft.recorded,
        recorded_at=beside.timestamp or inside.timestamp or draft.recorded_at,
        made_at=beside.git_commit or inside.git_commit,
        recorded_metrics=beside.metrics,
        usage=beside.usage,
    )


def _read_record(state: EvalState, blob: Blob) -> Recorded:
    stated = state.repository.answer("record", blob.oid, lambda content: _as_text(read_recorded(content)))
    if not stated:
        reason = state.repository.read_blob(blob.oid).reason or "no JSON object"
        message = f"The recorded results cannot be read: {reason}."
        fix = "Only the recorded time and numbers are lost; write the file again to restore them."
        state.report(Problem("warning", message, fix, path=blob.path))
        return Recorded()
    return _checked_statement(state, msgspec.convert(json.loads(stated), Recorded))


def _stated_by_outputs(state: EvalState, outputs: tuple[Blob, ...], settings: str) -> Iterator[Recorded]:
    """Yield what each file of an output states; nothing after the first statement if scores have no names."""

    def statement(blob: Blob) -> str | None:
        question = f"run of {state.kind} in {blob.path} {settings} {installed_for((blob.path,))}"
        return state.repository.answer(
            question, blob.oid, lambda content: _as_text(recorded_in(state.kind, blob.path, content, settings))
        )

    for blob in outputs:
        try:
            stated = statement(blob)
        except Exception as error:  # a fault of sitegen at one output must not stop the build
            fault = type(error).__name__
            message = f"sitegen failed while reading what this output states about its run: {fault}."
            fix = "Please report it. The numbers do not depend on it, but the output may be linked to other "
            fix += "instructions."
            state.report(Problem.of_type("unlinked_output", message, fix, blob.path))
            continue
        if stated:
            yield msgspec.convert(json.loads(stated), Recorded)
            if not traits_of(state.kind).names_scores:
                return


def _checked_statement(state: EvalState, recorded: Recorded) -> Recorded:
    """Return a record without a time or a commit that is invalid."""
    timestamp = recorded.timestamp if recorded.timestamp and moment_of(recorded.timestamp) else None
    commit = recorded.git_commit if recorded.git_commit and re.fullmatch(_COMMIT_ID, recorded.git_commit) else None
    if recorded.git_commit is None and (edited := state.made_with(recorded)) is not None:
        commit = edited.sha
    metrics = dict(islice(recorded.metrics.items(), _METRICS))
    return replace(recorded, timestamp=timestamp, git_commit=commit, metrics=metrics)


def _as_text(recorded: Recorded | None) -> str:
    """Return a record as JSON in ASCII, empty if there is none."""
    return json.dumps(msgspec.to_builtins(recorded)) if recorded else ""


def history_of(state: EvalState) -> EvalHistory:
    """Return the history of the eval, with the layout and the kind according to the built manifest's entry.

    Unless the manifest states another layout, it is that of iterations if there ever were any.
    """
    entry = state.entry
    named = entry.outputs == "iterations" or is_glob(entry.outputs)
    has_iterations = named or (entry.outputs == "auto" and bool(state.iterations.units))
    series = state.iterations if has_iterations else state.overwritten
    last = series.snapshots[-1] if series.snapshots else None
    kind = _kind_scored(entry, state.inputs if state.inputs.ground_truth else last)
    self_judged = not files_of(kind).ground_truths
    history = EvalHistory(
        id=state.id,
        kind=kind,
        layout="iterations" if has_iterations else "overwritten",
        snapshots=tuple(series.snapshots),
        renamed_from=tuple(state.renamed_from),
        deleted=not (state.files if self_judged else state.inputs.ground_truth),
    )
    return with_common_grades(history)[0]


def with_common_grades(*histories: EvalHistory) -> tuple[EvalHistory, ...]:
    """Add the scores that are grades in any snapshot to the settings of all, so that a score means one thing.

    Several histories are those of one eval at several revisions.
    """
    grades = frozenset(chain.from_iterable(history.grades for history in histories))
    if not grades:
        return histories

    with_grades = cache(partial(settings_with_grades, grades=grades))
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
