"""The state of one eval in the fold: its files, its series and the inputs in force.

If one file holds both expected values and outputs, each side is identified by the first blob that had it. If a version
changes only one side, code that compares blob ids therefore sees a change of only the ground truth, or only the
outputs.
"""

import json
from collections.abc import Collection, Iterator, Mapping
from functools import cache, partial
from itertools import chain
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from sitegen.config.models import EvalConfig, Kind, files_of
from sitegen.history import layout
from sitegen.history.folder_tree import FolderTree, first_blob
from sitegen.history.instructions import InstructionHistories
from sitegen.history.repository import Repository
from sitegen.model.commits import ChangedPath, Commit
from sitegen.model.metrics import traits_of
from sitegen.model.problems import Problem
from sitegen.model.recorded import GRADES, WHERE, states
from sitegen.model.timeline import Blob, EvalHistory, Snapshot
from sitegen.scoring import case_files
from sitegen.text.globs import literal_prefix
from sitegen.text.plain import natural_order

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
        newest_first = reversed(self.units.items())
        return next((name for name, unit in newest_first if unit.present and unit.points), None)

    def append(self, name: str, snapshot: Snapshot) -> None:
        """Append a snapshot of an iteration. Iterations are in the order of their last snapshots."""
        self.units[name] = iteration = self.units.pop(name)
        iteration.points.append(len(self.snapshots))
        self.snapshots.append(snapshot)

    def new_iteration(self, number: int, slug: str) -> SeriesIteration:
        """Make an iteration that is not listed yet, with a slug that is unique in the series."""
        taken = {iteration.slug for iteration in self.units.values()}
        unique = slug
        copy = 2
        while unique in taken:
            unique = f"{slug}-{copy}"
            copy += 1
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
    instructions: InstructionHistories
    """Those of all files, up to the commit."""
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
