"""The state of one eval in the fold: files, series, and the inputs in force; and whether outputs or inputs differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from operator import itemgetter
from posixpath import basename, splitext
from typing import NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from sitegen.config.models import EvalConfig, Kind
from sitegen.history.folder_tree import FolderTree, first_blob
from sitegen.history.layout import PathRole, is_in_output, is_path, normal, runs_of, truth_names
from sitegen.model.commits import ChangedPath
from sitegen.model.timeline import Blob, Cause, Snapshot
from sitegen.text.globs import literal_prefix
from sitegen.text.plain import moment_of, natural_order


class EvalInputs(NamedTuple):
    """The inputs of scoring an eval besides its outputs."""

    ground_truth: Blob | None = None
    mapping: Blob | None = None
    schema: Blob | None = None
    settings: str = ""


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
    """Iterations by folder name, or versions by number, in the order of their first commits."""
    waiting: dict[str, bool] = field(default_factory=dict)
    """Names of iterations that were added or changed while there was no ground truth."""
    slugs: set[str] = field(default_factory=set)
    """Slugs in use."""

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
        """Append a snapshot of an iteration. Iterations are in the order of their first snapshots."""
        iteration = self.units[name]
        if not iteration.points:
            self.units[name] = self.units.pop(name)
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
    """One eval at the last folded commit."""

    id: str
    folders: list[str]
    """The folders that it may be in, by precedence."""
    active: str | None = None
    """The folder that it is in."""
    renamed_from: list[str] = field(default_factory=list)
    files: FolderTree = field(default_factory=FolderTree)
    """Every file of its folders that sitegen reads, by its path from the root of the repository."""
    newest_run: str | None = None
    """The last by name of the runs that a glob matches; None if it is not determined yet."""
    with_runs: set[str] = field(default_factory=set)
    """Names of iterations that ever had repeated runs."""
    strangers: set[str] = field(default_factory=set)
    """Names below ``results/`` that were reported because they are not names of iterations."""
    inputs: EvalInputs | None = None
    """The inputs in force; None before the first commit that touched the eval."""
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

    def has_files(self, folder: str) -> bool:
        """Whether an eval's folder holds a file; for the top of the repository, one in no other folder of the eval."""
        if folder:
            return bool(self.files.folder(folder))
        others = tuple(f"{other}/" for other in self.folders if other)
        return any(not blob.path.startswith(others) for blob in self.files.blobs())

    def ground_truth(self, kind: Kind | None, stated: str | None, shared: dict[str, str]) -> Blob | None:
        """Return the current ground truth: the file that the commit's manifest names, or the first by convention."""
        names = truth_names(kind, stated)
        if self.active is None or not names:
            return None
        paths = [f"{self.active}/{name}" for name in names] if stated is None else [normal(f"{self.active}/{stated}")]
        return first_blob(paths, self.files) or first_blob(paths, shared)

    def newest_case_file(self, entry: EvalConfig) -> Blob | None:
        """Return the current file that holds both sides; of several runs, the last by name."""
        folder = self.active
        if folder is None:
            return None
        runs = runs_of(entry)
        if runs is None and entry.answered_in:
            return min(self.documents(entry), default=None)
        if runs is None:
            path = normal(f"{folder}/{entry.outputs}")
            return first_blob((path,), self.files) if is_path(entry.outputs) else None
        if self.newest_run is None:
            self.newest_run = max(runs.names(folder, self.files), key=natural_order, default=None)
        files = runs.outputs(folder, self.newest_run, self.files) if self.newest_run else ()
        return files[0] if files else None

    def documents(self, entry: EvalConfig) -> Iterator[Blob]:
        """Yield the files of an output that is a folder, or of one whose paths name who answered."""
        start = f"{self.active}/" if self.active else ""
        below = normal(f"{start}{entry.outputs}")
        if entry.answered_in:
            below = f"{start}{literal_prefix(entry.answered_in)}".rstrip("/")
        return (blob for blob in self.files.blobs(below) if is_in_output(entry, blob.path.removeprefix(start)))

    def keep_newest_run(self, place: PathRole, change: ChangedPath) -> None:
        """Update the last run by name after a change of a run's file.

        If the last run lost a file, the last run is unknown until ``newest_case_file`` determines it again.
        """
        newest = self.newest_run
        if newest is None or place.folder != self.active:
            return
        if change.new is None:
            self.newest_run = None if place.iteration == newest else newest
        else:
            self.newest_run = max(newest, place.iteration, key=natural_order)


def cause_since(last: Snapshot | None, new: Snapshot, *, waited: bool = False) -> tuple[Cause, ...]:
    """Return which inputs changed since the last snapshot was scored.

    The result is empty if nothing was scored before, unless the outputs ``waited`` for the first ground truth.
    """
    if last is None:
        return ("ground_truth",) if waited else ()
    return differences(last, new)


def differences(old: EvalInputs | Snapshot, new: EvalInputs | Snapshot) -> tuple[Cause, ...]:
    """Return which inputs besides outputs differ for a scorer."""
    parts: tuple[tuple[Cause, bool], ...] = (
        ("ground_truth", not same_file(old.ground_truth, new.ground_truth)),
        ("mapping", not same_file(old.mapping, new.mapping)),
        ("schema", not same_file(old.schema, new.schema)),
        ("settings", old.settings != new.settings),
    )
    return tuple(name for name, differs in parts if differs)


def same_files(old: tuple[Blob, ...], new: tuple[Blob, ...]) -> bool:
    """Whether two lists of files are the same for a scorer, regardless of their paths."""
    return len(old) == len(new) and all(same_file(*pair) for pair in zip(old, new, strict=True))


def same_contents(old: tuple[Blob, ...], new: tuple[Blob, ...]) -> bool:
    """Whether two outputs have the same contents. Of several files the names count too, as they identify variants."""
    if len(old) == len(new) == 1:
        return old[0].oid == new[0].oid
    return [(basename(blob.path), blob.oid) for blob in old] == [(basename(blob.path), blob.oid) for blob in new]


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
