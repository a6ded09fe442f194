"""Folds the commits of one eval: from the paths that a commit changed to the snapshots of its outputs.

There are two candidates for the series of an eval. One holds the iterations in folders, ``results/iteration-NNN``, or
the runs that a glob matches. The other holds the versions of an output that is overwritten from commit to commit.

At the end stands what a run states of itself: its time, its commit and its numbers, in records beside its output or
in the output.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from io import BytesIO
from itertools import accumulate, chain, islice
from operator import itemgetter
from posixpath import basename, splitext
from typing import Final

import msgspec
from msgspec.structs import replace

from sitegen.config.models import case_settings, files_of
from sitegen.data_files.reading import LINES, UnreadableError, ending, installed_for
from sitegen.data_files.yaml_reader import read_data
from sitegen.errors import POINTER
from sitegen.history.eval_state import EvalState, SeriesIteration, SeriesState
from sitegen.history.folder_tree import first_blob
from sitegen.history.globs import LONGEST_SLUG, NOT_IN_A_SLUG, time_in
from sitegen.history.layout import (
    RECORDED,
    RESULTS,
    is_in_output,
    is_path,
    iteration_number,
    normal,
    records_of,
    runs_of,
)
from sitegen.history.repository import blob_id
from sitegen.importers.tool_values import as_float
from sitegen.model.metrics import traits_of
from sitegen.model.problems import Problem
from sitegen.model.recorded import Recorded, read_recorded
from sitegen.model.timeline import Blob, Cause, Snapshot, names_of_several
from sitegen.model.usage import RunUsage
from sitegen.scoring.answerers import answerers_of
from sitegen.scoring.run_statements import recorded_in, runs_in_file
from sitegen.text.plain import moment_of, natural_order

_SHORT: Final = 12  # digits of a commit's id in the slug of a snapshot
_MOST_RUNS: Final = 50  # the most runs that one commit adds to a file and that are points of the series
_MOST_BYTES: Final = 50_000_000  # the most bytes of the contents up to the ends of these runs, which are held in memory
_METRICS: Final = 50  # the most recorded metrics of a snapshot
_COMMIT_ID: Final = r"[0-9a-f]{7,64}"


def fold_eval(state: EvalState, inputs_of: Callable[[EvalState], Snapshot]) -> None:
    """Fold the commit of the state into an eval: its files, then its folder, then its inputs, then its series.

    ``inputs_of``: returns what scores its outputs, without these; called once the files are updated. If ``outputs``
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
    state.kind = state.kind_by(state.inputs)
    state.inputs_changed = _differences(inputs_before, state.inputs) != ()
    state.was_scorable = state.was_scorable or (state.scorable and bool(state.files))
    had_iterations = bool(state.iterations.units)
    if not is_path(entry.outputs):
        # In another folder, or with another kind, other files are outputs, so that every iteration is examined again.
        _fold_iterations(state, everything=moved or state.kind != state.kind_by(inputs_before))
    if is_path(entry.outputs) or (entry.outputs == "auto" and not state.iterations.units):
        _fold_overwritten(state)
    elif len(versions := state.overwritten.snapshots) > 1 and not had_iterations:
        message = f"{len(versions):,} versions of an overwritten output are shown no more: an iteration is in a folder."
        fix = "Put each version into a folder of its own, or remove the folder and go on to overwrite the output."
        state.report(Problem.of_type("versions_hidden", message, fix, versions[-1].outputs[0].path))


def _fold_iterations(state: EvalState, *, everything: bool) -> None:
    """Fold one commit into the series of iterations. ``everything``: whether all folders count as touched."""
    series = state.iterations
    roles = ("output", "recorded", "run")
    places = (place for place in state.changes.values() if place.role in roles and place.folder == state.active)
    names = {place.iteration for place in places} - {""}
    if everything:
        runs, results = runs_of(state.entry), state.files.folder(f"{state.active}/{RESULTS}")
        numbered = [name for name in (*results.folders, *results.files) if iteration_number(name) is not None]
        names |= {*series.units, *(runs.names(state.active or "", state.files) if runs else numbered)}
    if not names and not series.units:
        return
    in_order = sorted(names, key=lambda name: (iteration_number(name) or 0, natural_order(name), name))
    files_by_name = {name: _committed_files(state, name) for name in in_order}
    # Only a run writes eval-results.json, so without an output it is a run that failed. Other records may lie anywhere.
    touched = [
        name
        for name, files in files_by_name.items()
        if files.outputs or any(basename(record.path) == RECORDED for record in files.recorded)
    ]
    gone = [
        name for name in files_by_name if name not in touched and name in series.units and series.units[name].present
    ]
    # An iteration whose folder was renamed but kept its number and its output goes on under its new name.
    for new in [name for name in touched if name not in series.units]:
        number, outputs = iteration_number(new), files_by_name[new].outputs
        for old in gone:
            last = series.last_snapshot(old)
            if series.units[old].number == number and last and _same_files(last.outputs, outputs):
                series.waiting.pop(old, None)
                series.units = {new if name == old else name: unit for name, unit in series.units.items()}
                gone.remove(old)
                break
    for name in gone:
        series.mark_present(name, False)
    for name in touched:
        if name not in series.units:
            series.units[name] = _new_unit(state, name)
    newest = series.newest_scored()
    untouched = [*series.waiting] if state.scorable else []
    if newest is not None and (state.inputs_changed or series.snapshots[-1].deleted):
        untouched.append(newest)
    for name in untouched:
        if name not in files_by_name:
            files_by_name[name] = _committed_files(state, name)
    _start_snapshots(state, series, touched, files_by_name)


def _fold_overwritten(state: EvalState) -> None:
    """Fold one commit into the series of versions. The same content at another path is not a new version."""
    files = _version_outputs(state)
    draft = _drafted(state, "", files)
    outputs = draft.outputs
    if not all(map(state.belongs, outputs)):
        outputs = state.output  # the version belongs to another eval, and this eval is unchanged
    series, settings = state.overwritten, state.inputs.settings
    number = len(series.units)
    drafts: dict[str, Snapshot] = {}
    if not outputs and number:
        series.mark_present(str(number), False)
    elif outputs and not (
        _same_files(state.output, outputs) and answerers_of(state.output, settings) == answerers_of(outputs, settings)
    ):
        # The versions that waited for a ground truth are overwritten now.
        series.waiting.clear()
        for run in (*(_drafted(state, "", (earlier,)) for earlier in _earlier_runs(state, files)), draft):
            number += 1
            series.units[str(number)] = SeriesIteration(number, f"{number:04d}")
            drafts[str(number)] = replace(run, label=f"iteration-{number:03d}")
    state.output = outputs
    entry = state.entry
    is_folder = any(is_in_output(entry, blob.path.removeprefix(f"{state.active}/")) for blob in outputs[:1])
    folder = normal(f"{state.active or ''}/{entry.outputs}") if is_folder else ""
    folder = folder or (outputs[0].path.rpartition("/")[0] if outputs else "")
    recorded = _records_beside(state, outputs, folder, in_own_folder=is_folder)
    draft = replace(draft, label=f"iteration-{number:03d}", recorded=recorded)
    _start_snapshots(state, series, [*drafts], {**drafts, str(number): draft})


def _version_outputs(state: EvalState) -> tuple[Blob, ...]:
    folder = state.active or ""
    if is_path(state.entry.outputs):
        path = normal(f"{folder}/{state.entry.outputs}")
        file = first_blob((path, *state.entry.earlier_outputs), state.files)
        truth = state.inputs.ground_truth.path if state.inputs.ground_truth and not state.entry.in_cases else None
        documents = (blob for blob in state.documents() if not (truth and blob.path.startswith(truth)))
        return (file,) if file else tuple(sorted(filter(partial(_is_no_record, state), documents)))
    files = files_of(state.kind)
    log = first_blob((*(f"{state.active}/{path}" for path in files.elsewhere), *files.elsewhere), state.files)
    if log:
        return (log,)
    results = f"{state.active}/{RESULTS}"
    return state.files.outputs_in(folder, files.overwritten, files.variants, elsewhere=(results,))


def _is_no_record(state: EvalState, file: Blob) -> bool:
    """Whether a file of an output is a document: its name is that of no record, or the truth has its path."""
    name, truth = basename(file.path), state.inputs.ground_truth
    if name not in records_of(state.kind) or name == basename(state.entry.outputs):
        return True
    parts, top = file.path.split("/"), truth.path.rstrip("/") if truth else ""
    return any(state.files.get("/".join([top, *parts[depth:]])) for depth in range(len(parts)))


def _committed_files(state: EvalState, name: str) -> Snapshot:
    """Return the files of an iteration in a folder, or of a run that a glob matches."""
    glob = runs_of(state.entry)
    if glob is not None:
        outputs = tuple(filter(state.belongs, glob.outputs(state.active or "", name, state.files)))
        if glob.is_folder and not traits_of(state.kind).is_recorded:
            outputs = tuple(filter(partial(_is_no_record, state), outputs))
        below = f"{state.active}/{glob.start}{name if glob.is_folder else ''}".strip("/")
        recorded = _records_beside(state, outputs, below, in_own_folder=glob.is_folder)
        return replace(_drafted(state, name, outputs, recorded), recorded_at=time_in(name, state.commit.committed_at))
    folder = f"{state.active}/{RESULTS}/{name}".lstrip("/")
    files = files_of(state.kind)
    outputs = state.files.outputs_in(folder, files.outputs, files.variants)
    in_runs = state.files.blobs(f"{folder}/runs") if name in state.with_runs else ()
    runs = tuple(sorted(in_runs, key=lambda blob: natural_order(blob.path)))
    if traits_of(state.kind).names_scores:  # answers of other runs to a case are answers to it
        outputs, runs = (*outputs, *runs), ()
    return replace(_drafted(state, name, outputs, _records_beside(state, outputs, folder)), runs=runs)


def _records_beside(
    state: EvalState, outputs: tuple[Blob, ...], folder: str, *, in_own_folder: bool = True
) -> tuple[Blob, ...]:
    """Return the records in the folder of an output, which are no outputs themselves, by precedence."""
    names, taken = records_of(state.kind, in_own_folder=in_own_folder), {blob.path for blob in outputs}
    here, start = state.files.folder(folder).files, f"{folder}/" if folder else ""
    found = (Blob(start + name, oid) for name in names if (oid := here.get(name)))
    return tuple(blob for blob in found if blob.path not in taken)


def _drafted(state: EvalState, label: str, outputs: tuple[Blob, ...], recorded: tuple[Blob, ...] = ()) -> Snapshot:
    """Return the files of an iteration after the commit as a snapshot without number, slug and cause.

    Its outputs and its own ground truth have separate ids if its files hold both.
    """
    draft = replace(state.inputs, label=label, commit=state.commit, outputs=outputs, recorded=recorded)
    if case_settings(draft.settings) is None or not outputs:
        return draft
    sides = [state.sides_of(file, draft.settings) for file in outputs]
    outputs = tuple(file._replace(oid=output) for file, (_, output) in zip(outputs, sides, strict=True))
    return replace(draft, outputs=outputs, ground_truth=outputs[0]._replace(oid=sides[0][0]))


def _new_unit(state: EvalState, name: str) -> SeriesIteration:
    """Make a new iteration, with a slug that is unique in the series on every file system.

    A run has the number in its name, otherwise its position among all runs so far.
    """
    if runs_of(state.entry) is not None:
        stated = iteration_number(name.rpartition("/")[2])
        position = len(state.iterations.units) + 1
        if stated is None:
            words = re.sub(NOT_IN_A_SLUG, "-", name.lower())[:LONGEST_SLUG].strip("-.")
            return state.iterations.new_iteration(position, f"{position:04d}-{words}".rstrip("-"))
        return state.iterations.new_iteration(stated, f"{stated:04d}")
    number = iteration_number(name) or 0
    unit = state.iterations.new_iteration(number, f"{number:04d}")
    if unit.slug == f"{number:04d}":
        return unit
    path = f"{state.active}/{RESULTS}/{name}"
    message = f"{name!r} has the number of another iteration, {number}; both are kept."
    state.report(Problem.of_type("same_number", message, "Give each iteration a number of its own.", path))
    return state.iterations.new_iteration(number, f"{number:04d}-{name.lower()}")


def _start_snapshots(
    state: EvalState, series: SeriesState, touched: Sequence[str], files_by_name: Mapping[str, Snapshot]
) -> None:
    """Start snapshots of new and changed iterations, and of the newest iteration if its inputs changed.

    One that is there again after it was deleted is new, unless the last snapshot is of the last of those that came
    back: then all are as they were. The newest one that is left is new if those after it were deleted: the last
    snapshot is of the output that counts now.

    Of an iteration with the same outputs, the files beside them are updated. ``touched``: the iterations that the
    commit touched and left in place; ``files_by_name``: the files of these, of waiting iterations, and of the
    newest iteration if inputs changed. If a ground truth is needed and missing, nothing is started, and the touched
    iterations wait for it.
    """
    returned = [name for name in touched if not series.units[name].present]
    for name in returned:
        series.mark_present(name, True)
    if not state.scorable:
        series.waiting |= dict.fromkeys(touched, True)
        return
    previous = series.snapshots[-1] if series.snapshots else None
    last_back = series.last_snapshot(returned[-1]) if returned else None
    if last_back and last_back is previous and _same_files(last_back.outputs, files_by_name[returned[-1]].outputs):
        returned = []
    candidates = dict.fromkeys((*touched, *series.waiting))
    series.waiting.clear()
    started = []
    for name in candidates:
        iteration = series.units[name]
        if not iteration.present or name not in files_by_name:
            continue
        draft, last = files_by_name[name], series.last_snapshot(name)
        outputs, settings = draft.outputs, state.inputs.settings
        is_same = last is not None and _same_files(last.outputs, outputs) and (name not in returned or last is previous)
        if last is not None and is_same and answerers_of(last.outputs, settings) == answerers_of(outputs, settings):
            # The current files beside its output; another path alone does not change it.
            if {*last.recorded} != {*draft.recorded}:
                last = _with_origin(state, last, draft)
            if not _same_files(last.runs, draft.runs):
                last = replace(last, runs=draft.runs)
            series.snapshots[iteration.points[-1]] = last
            continue
        cause = _cause_since(last or previous, draft, waited=name not in touched)
        started.append((name, _new_snapshot(state, iteration, ("outputs", *cause), draft)))
    for name, snapshot in _in_series_order(started) if len(started) > 1 else started:
        series.append(name, snapshot)
    newest = series.newest_scored()
    if newest is None or newest not in files_by_name or newest in dict(started):
        return
    # Older iterations keep their scores: only the newest is scored again with other inputs.
    draft, is_left = files_by_name[newest], series.snapshots[-1].deleted
    changed = _cause_since(series.last_snapshot(newest), draft) if is_left or state.inputs_changed else ()
    if cause := ("outputs", *changed) if is_left else changed:
        series.append(newest, _new_snapshot(state, series.units[newest], cause, draft))


def _new_snapshot(state: EvalState, iteration: SeriesIteration, cause: tuple[Cause, ...], draft: Snapshot) -> Snapshot:
    """Make a snapshot of an iteration. Every snapshot but its first has the commit's id in the slug."""
    slug = f"{iteration.slug}-{state.commit.sha[:_SHORT]}" if iteration.points else iteration.slug
    return _with_origin(state, replace(draft, iteration=iteration.number, slug=slug, cause=cause), draft)


def _cause_since(last: Snapshot | None, new: Snapshot, *, waited: bool = False) -> tuple[Cause, ...]:
    """Return which inputs changed since the last snapshot was scored.

    The result is empty if nothing was scored before, unless the outputs ``waited`` for the first ground truth.
    """
    if last is None:
        return ("ground_truth",) if waited else ()
    return _differences(last, new)


def _differences(old: Snapshot, new: Snapshot) -> tuple[Cause, ...]:
    names: tuple[Cause, ...] = ("ground_truth", "mapping", "schema")
    files = [name for name in names if not _same_file(getattr(old, name), getattr(new, name))]
    return (*files, "settings") if old.settings != new.settings else tuple(files)


def _same_files(old: tuple[Blob, ...], new: tuple[Blob, ...]) -> bool:
    """Whether two lists of files are the same for a scorer, wherever they are.

    Of several files the names count too, as they identify documents and variants.
    """
    return len(old) == len(new) and names_of_several(old) == names_of_several(new) and all(map(_same_file, old, new))


def _in_series_order(started: Iterable[tuple[str, Snapshot]]) -> list[tuple[str, Snapshot]]:
    """Sort (iteration's name, snapshot) of all snapshots that a commit started by recorded time, then by number.

    A snapshot without a time follows the snapshot with the preceding number.
    """
    by_number = sorted(started, key=lambda pair: (pair[1].iteration, pair[1].label))
    times = []
    latest = datetime.min.replace(tzinfo=UTC)
    for _, snapshot in by_number:
        latest = (moment_of(snapshot.recorded_at) if snapshot.recorded_at else None) or latest
        times.append(latest)
    return [pair for _, pair in sorted(zip(times, by_number, strict=True), key=itemgetter(0))]


def _same_file(old: Blob | None, new: Blob | None) -> bool:
    """Whether two files are the same for a scorer: their contents, and the suffix that determines the format."""
    if old is None or new is None:
        return old is new
    return old.oid == new.oid and (old.path == new.path or splitext(old.path)[1] == splitext(new.path)[1])


def _earlier_runs(state: EvalState, outputs: tuple[Blob, ...]) -> list[Blob]:
    """Return the output as it was at the end of each run that the commit adds to a file, except the newest.

    These contents are added to the overlay of the repository, up to a number and a size. The other runs are reported.
    """
    if len(outputs) != 1 or len(state.output) > 1:
        return []
    (path, oid), repository, settings = outputs[0], state.repository, state.inputs.settings
    if not traits_of(state.kind).is_recorded and ending(path) not in (*LINES, "csv"):  # as a rule
        return []
    question = f"lengths of runs of {state.kind} in {path} {settings}"
    lengths = partial(runs_in_file, state.kind, path, settings)
    found = [
        repository.answer(question, blob.oid, lambda content: json.dumps(lengths(content)))
        for blob in (outputs[0], *state.output)
    ]
    if None in found:  # this clone may lack the content before
        return []
    now, *then = (json.loads(runs or "{}") for runs in found)
    before = then[0] if then else {}
    if then and now and not before:  # the run of a file with one has no column that tells it from others
        text = repository.read_blob(state.output[0].oid).content or b""
        first = islice(now, _MOST_RUNS)
        before = {name: 0 for name in first if re.search(rb"(?<![\w-])%s(?![\w-])" % re.escape(name.encode()), text)}
    new = [length for name, length in [*now.items()][:-1] if name not in before][::-1]
    sums = zip(new, accumulate(new), strict=True)
    fitting = [length for length, total in sums if length and total <= _MOST_BYTES][: _MOST_RUNS - 1]
    if left := len(new) - len(fitting):
        left_out = "1 run of this commit is" if left == 1 else f"{left:,} runs of this commit are"
        message = f"{left_out} left out: it adds {len(new) + 1:,} runs, of which only the newest are points."
        fix = "Commit the file after each run, or write each run to a file of its own."
        state.report(Problem("note", message, fix, path=path))
    content = (repository.read_blob(oid).content if fitting else None) or b""
    parts = [content[:length] for length in reversed(fitting)]
    added = {blob_id(BytesIO(part), len(part), len(oid)): part for part in parts}
    repository.overlay.update(added)
    return [Blob(path, part_id) for part_id in added]


def _with_origin(state: EvalState, snapshot: Snapshot, draft: Snapshot) -> Snapshot:
    """Return the snapshot with its run's statements, from the records beside the output or else from the output."""
    records = {blob: _read_record(state, blob) for blob in draft.recorded}
    beside = Recorded.together([*records.values()])
    needs_outputs = not beside.git_commit or traits_of(state.kind).names_scores
    stated = [*_stated_by_outputs(state, draft.outputs, snapshot.settings)] if needs_outputs else []
    # Of an output in several files, the first that says anything of its run tells when it was made.
    of_runs = (each for each in stated if each != Recorded(grades=each.grades))
    inside = next((_checked_statement(state, each) for each in of_runs), Recorded())
    usage = beside.usage or RunUsage()
    prompts = state.instructions.judges(state.entry.instructions) if traits_of(state.kind).names_scores else ()
    return replace(
        snapshot,
        grades=tuple(dict.fromkeys(chain.from_iterable(each.grades for each in stated))),
        recorded=tuple(sorted(records, key=lambda blob: not records[blob].metrics)),
        recorded_at=beside.timestamp or inside.timestamp or draft.recorded_at,
        made_at=beside.git_commit or inside.git_commit,
        recorded_metrics=beside.metrics,
        usage=replace(usage, judges=usage.judges + prompts) if prompts else beside.usage,
    )


def _read_record(state: EvalState, blob: Blob) -> Recorded:
    suffix = ending(blob.path)

    def statement(content: bytes) -> str:
        with suppress(UnreadableError):
            if suffix != "json":
                content = json.dumps(read_data(suffix, content).value, default=as_float).encode()
            return _as_text(read_recorded(content))
        return ""

    stated = state.repository.answer(f"record in {suffix}", blob.oid, statement)
    if not stated:
        reason = state.repository.read_blob(blob.oid).reason or "no object"
        message = f"The recorded results cannot be read: {reason}."
        fix = "Only the recorded time and numbers are lost; write the file again to restore them."
        state.report(Problem("warning", message, fix, path=blob.path, not_fetched=reason == POINTER))
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
    if recorded.git_commit is None and (edited := state.instructions.made_with(recorded)) is not None:
        commit = edited.sha
    metrics = dict(islice(recorded.metrics.items(), _METRICS))
    return replace(recorded, timestamp=timestamp, git_commit=commit, metrics=metrics)


def _as_text(recorded: Recorded | None) -> str:
    return json.dumps(msgspec.to_builtins(recorded)) if recorded else ""
