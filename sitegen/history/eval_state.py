"""The state of one eval in the fold: its files as a tree of folders, its series, and the inputs in force."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from sys import intern
from typing import NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from sitegen.model.timeline import Blob, Snapshot


class FolderTree(Struct):
    """The files and folders in a folder. Paths are relative to it; no folder in it is empty."""

    files: dict[str, str] = field(default_factory=dict)
    """Name -> blob id."""
    folders: dict[str, FolderTree] = field(default_factory=dict)

    @classmethod
    def of(cls, paths: Iterable[str]) -> FolderTree:
        """Return a tree of files without their contents."""
        tree = cls()
        for path in paths:
            tree.put(path, "")
        return tree

    def __bool__(self) -> bool:
        return bool(self.files or self.folders)

    def __len__(self) -> int:
        return len(self.files) + sum(map(len, self.folders.values()))

    def get(self, path: str) -> str | None:
        """Return the blob id of a file; None if there is no such file."""
        folder, _, name = path.rpartition("/")
        return self.folder(folder).files.get(name)

    def folder(self, path: str) -> FolderTree:
        """Return a folder, empty if it does not exist. The empty path is this folder."""
        tree = self
        for name in path.split("/") if path else ():
            if name not in tree.folders:
                return FolderTree()
            tree = tree.folders[name]
        return tree

    def put(self, path: str, oid: str) -> None:
        """Set the content of a file."""
        tree = self
        *folders, name = path.split("/")
        for folder in folders:
            tree = tree.folders.setdefault(folder, FolderTree())
        tree.files[name] = oid

    def remove(self, path: str) -> None:
        """Remove a file, if it exists, and the folders that become empty."""
        first, slash, rest = path.partition("/")
        if not slash:
            self.files.pop(first, None)
        elif first in self.folders:
            self.folders[first].remove(rest)
            if not self.folders[first]:
                del self.folders[first]

    def blobs(self, folder: str = "") -> Iterator[Blob]:
        """Yield all files below a folder, with their whole paths."""
        yield from self.folder(folder)._blobs(f"{folder}/" if folder else "")

    def _blobs(self, start: str) -> Iterator[Blob]:
        for name, oid in self.files.items():
            yield Blob(start + name, oid)
        for name, folder in self.folders.items():
            yield from folder._blobs(f"{start}{name}/")


def outputs_in(
    folder: str, names: Iterable[str], files: FolderTree, variants: str = "", *, elsewhere: Iterable[str] = ()
) -> tuple[Blob, ...]:
    """Return the output files of a folder: the files of all variants, by path, otherwise the first of the names.

    Variants may also lie ``elsewhere``, in other folders.
    """
    first = first_blob((f"{folder}/{name}" if folder else name for name in names), files)
    if not variants:
        return (first,) if first else ()
    is_variant = re.compile(variants)
    of_variants = [
        Blob(f"{place}/{name}", oid)
        for place in (folder, *elsewhere)
        for name, oid in files.folder(place).files.items()
        if is_variant.fullmatch(name)
    ]
    return tuple(sorted((*of_variants, *((first,) if first else ()))))


def first_blob(paths: Iterable[str], files: FolderTree | Mapping[str, str]) -> Blob | None:
    """Return the first of the paths at which a file exists. ``files`` maps paths to blob ids."""
    return next((Blob(intern(path), oid) for path in paths if (oid := files.get(path)) is not None), None)


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
