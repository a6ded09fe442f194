"""The state of one eval in the fold: its files, its series and the inputs in force; whether outputs or inputs differ.

If one file holds both expected values and outputs, each side is identified by the first blob that had it. If a version
changes only one side, code that compares blob ids therefore sees a change of only the ground truth, or only the
outputs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from functools import cache, partial
from itertools import chain
from operator import itemgetter
from posixpath import basename, splitext
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from sitegen.config.models import EvalConfig, Kind, case_settings, files_of
from sitegen.history import layout
from sitegen.history.folder_tree import FolderTree, first_blob
from sitegen.history.globs import time_in
from sitegen.history.repository import Repository
from sitegen.model.commits import ChangedPath, Commit
from sitegen.model.metrics import traits_of
from sitegen.model.problems import Problem
from sitegen.model.recorded import GRADES, WHERE, Recorded, states
from sitegen.model.timeline import Blob, Cause, EvalHistory, Snapshot, names_of_several
from sitegen.scoring import case_files
from sitegen.text.globs import literal_prefix
from sitegen.text.plain import moment_of, natural_order

NOTHING_SCORED: Final = Snapshot(iteration=0, label="", slug="", commit=Commit(""), cause=(), outputs=(), settings="")
"""The snapshot of an eval without files."""


class SeriesIteration(Struct):
    """One iteration: a folder, or one version of an overwritten output."""

    number: int
    slug: str
    points: list[int] = field(default_factory=list)
    """Indices of its snapshots in the series."""
    present: bool = True


class SeriesState(Struct):
    """One candidate for an eval's series: its iterations, or the versions of an overwritten output."""

    snapshots: list[Snapshot] = field(default_factory=list)
    units: dict[str, SeriesIteration] = field(default_factory=dict)
    """Iterations by folder name, or versions by number, in the order of their last snapshots."""
    waiting: dict[str, bool] = field(default_factory=dict)
    """Names of iterations that were added or changed while there was no ground truth."""
    slugs: set[str] = field(default_factory=set)

    def mark_present(self, name: str, present: bool) -> None:
        """Mark an iteration and all its snapshots as present or as deleted."""
        iteration = self.units[name]
        iteration.present = present
        for index in iteration.points:
            self.snapshots[index] = replace(self.snapshots[index], deleted=not present)

    def last_snapshot(self, name: str) -> Snapshot | None:
        """Return the last snapshot of an iteration; None if it was never scored."""
        points = self.units[name].points
        return self.snapshots[points[-1]] if points else None

    def newest_scored(self) -> str | None:
        """Return the name of the last iteration that is present and was scored."""
        return next(
            (name for name, iteration in reversed(self.units.items()) if iteration.present and iteration.points), None
        )

    def append(self, name: str, snapshot: Snapshot) -> None:
        """Append a snapshot of an iteration. Iterations are in the order of their last snapshots."""
        self.units[name] = iteration = self.units.pop(name)
        iteration.points.append(len(self.snapshots))
        self.snapshots.append(snapshot)

    def new_iteration(self, number: int, slug: str) -> SeriesIteration:
        """Make an iteration that is not listed yet, with a slug that is unique in the series."""
        unique, copy = slug, 2
        while unique in self.slugs:
            unique, copy = f"{slug}-{copy}", copy + 1
        self.slugs.add(unique)
        return SeriesIteration(number, unique)


class EvalState(Struct):
    """One eval at the commit that is folded, or at the last one that touched it."""

    id: str
    folders: list[str]
    """The folders that it may be in, by precedence."""
    entry: EvalConfig
    """Its entry in the built manifest."""
    repository: Repository
    problems: list[Problem]
    """Those of the whole history; ``report`` adds to them."""
    made_with: Callable[[Recorded], Commit | None]
    """Returns the commit after which instruction files were as a record states them."""
    commit: Commit
    changes: Mapping[ChangedPath, layout.PathRole] = {}
    """The changes of its own files in the commit, and the roles of these files."""
    active: str | None = None
    """The folder that it is in."""
    renamed_from: list[str] = field(default_factory=list)
    files: FolderTree = field(default_factory=FolderTree)
    """Every file of its folders that sitegen reads, by its path from the root of the repository."""
    newest_run: str | None = None
    """The last by name of the runs that a glob matches; None if it is not determined yet, or lost a file since."""
    with_runs: set[str] = field(default_factory=set)
    """Names of iterations that ever had repeated runs."""
    strangers: set[str] = field(default_factory=set)
    """Names below ``results/`` that were reported because they are not names of iterations."""
    inputs: Snapshot = NOTHING_SCORED
    """What scores its outputs, as a snapshot without any."""
    inputs_changed: bool = False
    """Whether the commit changed ``inputs``."""
    kind: Kind = "fields"
    was_scorable: bool = False
    """Whether there ever was ground truth, or files that are judged already. Other evals are not displayed."""
    iterations: SeriesState = field(default_factory=SeriesState)
    overwritten: SeriesState = field(default_factory=SeriesState)
    output: tuple[Blob, ...] = ()
    """The files of the current overwritten output."""
    sides: dict[str, tuple[str, str]] = field(default_factory=dict)
    """For each version of a case file: the first blobs with the same expected values and with the same outputs."""
    first_with: dict[str, str] = field(default_factory=dict)
    """Digest of a side -> the first blob that had it."""

    def report(self, problem: Problem) -> None:
        """Add a problem that the eval has at this commit."""
        self.problems.append(replace(problem, commit=self.commit.sha, eval_id=self.entry.id))

    @property
    def scorable(self) -> bool:
        """Whether outputs can be scored: there is ground truth, or they are judged already."""
        return self.inputs.ground_truth is not None or not files_of(self.kind).ground_truths

    def kind_by(self, scored: Snapshot | None) -> Kind:
        """Return the kind by which its outputs are scored with these inputs."""
        return layout.kind_of(self.entry, scored.ground_truth.path if scored and scored.ground_truth else None)

    def belongs(self, output: Blob) -> bool:
        """Decide whether an output belongs to this eval: its run states the values that the eval's settings require."""
        where = json.loads(self.entry.settings).get(WHERE) if traits_of(self.entry.kind).is_recorded else None
        if not isinstance(where, dict) or not where:
            return True
        statements = {key: str(value) for key, value in where.items()}
        question = f"states {sorted(statements.items())}"
        return bool(self.repository.answer(question, output.oid, lambda content: "yes" * states(content, statements)))

    def update_files(self) -> None:
        """Apply the commit's changes of the eval's own files."""
        for change, place in self.changes.items():
            if place.role == "stranger":
                if change.new is not None and place.iteration not in self.strangers:
                    self.strangers.add(place.iteration)
                    path = f"{place.folder}/{layout.RESULTS}/{place.iteration}"
                    message = f"{place.iteration!r} among the results is not an iteration, and is left out."
                    fix = "If it should count, name it iteration-NNN, or, if a model or variant made it, write "
                    fix += "outputs: results/{model}/FILE in the manifest. Otherwise nothing has to be done."
                    self.report(Problem.of_type("stranger_folder", message, fix, path))
                continue
            if place.role == "run":
                self.with_runs.add(place.iteration)
            newest = self.newest_run if place.role == "output" and place.folder == self.active else None
            if change.new is None:
                self.files.remove(change.path)
                if place.iteration == newest:
                    self.newest_run = None
            else:
                self.files.put(change.path, change.new)
                if newest is not None:
                    self.newest_run = max(newest, place.iteration, key=natural_order)

    def has_files(self, folder: str) -> bool:
        """Whether an eval's folder holds a file; for the top of the repository, one in no other folder of the eval."""
        if folder:
            return bool(self.files.folder(folder))
        others = tuple(f"{other}/" for other in self.folders if other)
        return any(not blob.path.startswith(others) for blob in self.files.blobs())

    def ground_truth(self, kind: Kind | None, stated: str | None, shared: dict[str, str]) -> Blob | None:
        """Return the current ground truth: the file that the commit's manifest names, or the first by convention."""
        names = layout.truth_names(kind, stated)
        if self.active is None or not names:
            return None
        paths = [f"{self.active}/{name}" for name in names]
        if stated is not None:
            paths = [layout.normal(f"{self.active}/{stated}")]
        return first_blob(paths, self.files) or first_blob(paths, shared)

    def newest_case_file(self) -> Blob | None:
        """Return the current file that holds both sides; of several runs, the last by name."""
        folder, entry = self.active, self.entry
        if folder is None:
            return None
        runs = layout.runs_of(entry)
        if runs is None and entry.answered_in:
            return min(self.documents(), default=None)
        if runs is None:
            path = layout.normal(f"{folder}/{entry.outputs}")
            return first_blob((path,), self.files) if layout.is_path(entry.outputs) else None
        if self.newest_run is None:
            self.newest_run = max(runs.names(folder, self.files), key=natural_order, default=None)
        files = runs.outputs(folder, self.newest_run, self.files) if self.newest_run else ()
        return files[0] if files else None

    def documents(self) -> Iterator[Blob]:
        """Yield the files of an output that is a folder, or of one whose paths name who answered."""
        entry, start = self.entry, f"{self.active}/" if self.active else ""
        below = layout.normal(f"{start}{entry.outputs}")
        if entry.answered_in:
            below = f"{start}{literal_prefix(entry.answered_in)}".rstrip("/")
        return (blob for blob in self.files.blobs(below) if layout.is_in_output(entry, blob.path.removeprefix(start)))

    def names_on_file(self) -> set[str]:
        """Return the names of all iterations that the eval has after the commit."""
        runs = layout.runs_of(self.entry)
        if runs is not None:
            return set(runs.names(self.active or "", self.files))
        results = self.files.folder(f"{self.active}/{layout.RESULTS}")
        return {name for name in (*results.folders, *results.files) if layout.iteration_number(name) is not None}

    def version_outputs(self) -> tuple[Blob, ...]:
        """Return the files of the output that is overwritten from commit to commit."""
        folder = self.active or ""
        if layout.is_path(self.entry.outputs):
            path = layout.normal(f"{folder}/{self.entry.outputs}")
            file = first_blob((path, *self.entry.earlier_outputs), self.files)
            truth = self.inputs.ground_truth.path if self.inputs.ground_truth and not self.entry.in_cases else None
            documents = (blob for blob in self.documents() if not (truth and blob.path.startswith(truth)))
            return (file,) if file else tuple(sorted(filter(self.is_no_record, documents)))
        files = files_of(self.kind)
        log = first_blob((*(f"{self.active}/{path}" for path in files.elsewhere), *files.at_root), self.files)
        if log:
            return (log,)
        results = f"{self.active}/{layout.RESULTS}"
        return self.files.outputs_in(folder, files.overwritten, files.variants, elsewhere=(results,))

    def is_no_record(self, file: Blob) -> bool:
        """Whether a file of an output is a document: its name is that of no record, or the truth has its path."""
        name, truth = basename(file.path), self.inputs.ground_truth
        if name not in layout.records_of(self.kind) or name == basename(self.entry.outputs):
            return True
        parts, top = file.path.split("/"), truth.path.rstrip("/") if truth else ""
        return any(self.files.get("/".join([top, *parts[depth:]])) for depth in range(len(parts)))

    def committed_files(self, name: str) -> Snapshot:
        """Return the files of an iteration in a folder, or of a run that a glob matches."""
        glob = layout.runs_of(self.entry)
        if glob is not None:
            outputs = tuple(filter(self.belongs, glob.outputs(self.active or "", name, self.files)))
            if glob.is_folder and not traits_of(self.kind).is_recorded:
                outputs = tuple(filter(self.is_no_record, outputs))
            below = f"{self.active}/{glob.start}{name if glob.is_folder else ''}".strip("/")
            recorded = self.record_beside(outputs, below, in_own_folder=glob.is_folder)
            return replace(self.draft(name, outputs, recorded), recorded_at=time_in(name, self.commit.committed_at))
        folder = f"{self.active}/{layout.RESULTS}/{name}".lstrip("/")
        files = files_of(self.kind)
        outputs = self.files.outputs_in(folder, files.outputs, files.variants)
        in_runs = self.files.blobs(f"{folder}/runs") if name in self.with_runs else ()
        runs = tuple(sorted(in_runs, key=lambda blob: natural_order(blob.path)))
        if traits_of(self.kind).names_scores:  # answers of other runs to a case are answers to it
            outputs, runs = (*outputs, *runs), ()
        return replace(self.draft(name, outputs, self.record_beside(outputs, folder)), runs=runs)

    def record_beside(self, outputs: tuple[Blob, ...], folder: str, *, in_own_folder: bool = True) -> Blob | None:
        """Return the record in the folder of an output, which is no output itself."""
        names, taken = layout.records_of(self.kind, in_own_folder=in_own_folder), {blob.path for blob in outputs}
        paths = [f"{folder}/{name}" if folder else name for name in names]
        return first_blob([path for path in paths if path not in taken], self.files)

    def draft(self, label: str, outputs: tuple[Blob, ...], recorded: Blob | None = None) -> Snapshot:
        """Return the files of an iteration after the commit as a snapshot without number, slug and cause.

        Its outputs and its own ground truth have separate ids if its files hold both.
        """
        draft = replace(self.inputs, label=label, commit=self.commit, outputs=outputs, recorded=recorded)
        if case_settings(draft.settings) is None or not outputs:
            return draft
        sides = [self.sides_of(file, draft.settings) for file in outputs]
        outputs = tuple(file._replace(oid=output) for file, (_, output) in zip(outputs, sides, strict=True))
        return replace(draft, outputs=outputs, ground_truth=outputs[0]._replace(oid=sides[0][0]))

    def sides_of(self, file: Blob, settings: str) -> tuple[str, str]:
        """Return the first blobs that had the expected values and the outputs of a case file."""
        version = f"{settings} {file.oid}"
        if version not in self.sides:
            digests = self.repository.answer(
                f"sides of {file.path} {settings}",
                file.oid,
                lambda content: " ".join(case_files.sides_of(file.path, content, settings) or ()),
            )
            if not digests:  # while the file cannot be read, the earlier expected values still apply
                earlier = self.inputs.ground_truth
                self.sides[version] = (earlier.oid if earlier else file.oid, file.oid)
            else:
                expected, output = digests.split()
                self.sides[version] = (
                    self.first_with.setdefault(f"expected {expected}", file.oid),
                    self.first_with.setdefault(f"output {output}", file.oid),
                )
        return self.sides[version]


def cause_since(last: Snapshot | None, new: Snapshot, *, waited: bool = False) -> tuple[Cause, ...]:
    """Return which inputs changed since the last snapshot was scored.

    The result is empty if nothing was scored before, unless the outputs ``waited`` for the first ground truth.
    """
    if last is None:
        return ("ground_truth",) if waited else ()
    return differences(last, new)


def differences(old: Snapshot, new: Snapshot) -> tuple[Cause, ...]:
    """Return which inputs besides outputs differ for a scorer."""
    names: tuple[Cause, ...] = ("ground_truth", "mapping", "schema")
    files = [name for name in names if not same_file(getattr(old, name), getattr(new, name))]
    return (*files, "settings") if old.settings != new.settings else tuple(files)


def same_files(old: tuple[Blob, ...], new: tuple[Blob, ...]) -> bool:
    """Whether two lists of files are the same for a scorer, wherever they are.

    Of several files the names count too, as they identify documents and variants.
    """
    return len(old) == len(new) and names_of_several(old) == names_of_several(new) and all(map(same_file, old, new))


def in_series_order(started: Iterable[tuple[str, Snapshot]]) -> list[tuple[str, Snapshot]]:
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


def same_file(old: Blob | None, new: Blob | None) -> bool:
    """Whether two files are the same for a scorer: their contents, and the suffix that determines the format."""
    if old is None or new is None:
        return old is new
    return old.oid == new.oid and (old.path == new.path or splitext(old.path)[1] == splitext(new.path)[1])


def history_of(state: EvalState) -> EvalHistory:
    """Return the history of the eval, with the layout and the kind according to the built manifest's entry.

    Unless the manifest states another layout, it is that of iterations if there ever were any.
    """
    entry = state.entry
    named = entry.outputs == "iterations" or layout.is_glob(entry.outputs)
    has_iterations = named or (entry.outputs == "auto" and bool(state.iterations.units))
    series = state.iterations if has_iterations else state.overwritten
    last = series.snapshots[-1] if series.snapshots else None
    kind = state.kind_by(state.inputs if state.inputs.ground_truth else last)
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


def with_common_grades(*histories: EvalHistory, guessed: bool = False) -> tuple[EvalHistory, ...]:
    """Add the scores that are grades in any snapshot to the settings of all, so that a score means one thing.

    Several histories are those of one eval at several revisions. ``guessed``: whether no manifest states the settings
    of the first, so that those of the last, such as the scale of scores, are its own.
    """
    if guessed:
        settings = histories[-1].snapshots[-1].settings
        snapshots = [replace(snapshot, settings=settings) for snapshot in histories[0].snapshots]
        histories = (replace(histories[0], snapshots=tuple(snapshots)), *histories[1:])
    grades = frozenset(chain.from_iterable(history.grades for history in histories))
    if not grades:
        return histories
    with_grades = cache(partial(settings_with_grades, grades=grades))
    all_snapshots = ([replace(at, settings=with_grades(at.settings)) for at in each.snapshots] for each in histories)
    return tuple(replace(each, snapshots=tuple(own)) for each, own in zip(histories, all_snapshots, strict=True))


def settings_with_grades(settings: str, grades: Collection[str]) -> str:
    """Return the settings of an output with these scores as grades, besides those that are stated."""
    stated = json.loads(settings)
    named = stated.get(GRADES)
    stated[GRADES] = sorted({*grades, *(named if isinstance(named, list) else ())}, key=str)
    return layout.canonical_settings(stated)
