"""Locates an eval's files in the work tree: its folder, its iterations and its newest outputs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from os.path import normpath
from pathlib import Path

from sitegen.config import EvalConfig
from sitegen.frozen import Frozen
from sitegen.history.entry_rules import is_path, required_statements, runs_of
from sitegen.history.globs import RunGlob
from sitegen.history.layout import LONE, RESULTS, iteration_number
from sitegen.kind_files import Kind, KindFiles, files_of
from sitegen.model.recorded import states
from sitegen.named_tuple import NamedTuple
from sitegen.project_files import LARGEST_FILE, read_inside
from sitegen.text.plain import natural_order


class WorktreeEval(Frozen):
    """An eval in the work tree."""

    root: Path
    """The top of the work tree."""
    entry: EvalConfig
    kind: Kind
    folder: Path
    ground_truth: Path | None
    """None if outputs of the kind are judged already."""

    @property
    def files(self) -> KindFiles:
        """The names that files of this kind have by convention."""
        return files_of(self.kind)


def newest_outputs(place: WorktreeEval) -> tuple[Path, ...]:
    """Return the outputs of the highest iteration or, without iterations, the overwritten output; often empty."""
    entry, files = place.entry, place.files
    if runs := runs_of(entry):
        return _newest_run(place.folder, runs, required_statements(entry))
    if is_path(entry.outputs):
        stated = first_file(place.folder, (entry.outputs,))
        return (stated,) if stated else ()
    if by_iteration := outputs_of_iterations(place):
        return by_iteration[-1].outputs
    if entry.outputs == "iterations":
        return ()
    if entry.id == LONE and not first_file(place.folder, files.elsewhere):
        log = first_file(place.root, files.at_root)
        if log is not None:
            return (log,)
    return _outputs_in(place.folder, files.overwritten, files) or _outputs_in(place.folder / RESULTS, (), files)


def newest_case_file(folder: Path, entry: EvalConfig) -> Path | None:
    """Return the file that holds expected values and outputs together; if there are several, that of the last run."""
    if runs := runs_of(entry):
        return next(iter(_newest_run(folder, runs)), None)
    return first_file(folder, (entry.outputs,))


def _newest_run(folder: Path, runs: RunGlob, where: dict[str, str] | None = None) -> tuple[Path, ...]:
    """The files of the last run by name, with numbers in names compared by value.

    Files that do not state the values of *where* (key -> value) are left out.
    """
    start = folder / runs.start
    paths = start.rglob("*") if start.is_dir() else ()
    files_by_run: dict[str, list[Path]] = {}
    for name in sorted(path.relative_to(folder).as_posix() for path in paths if path.is_file()):
        run = runs.name(name)
        if run is not None and (not where or _file_states(folder, name, where)):
            files_by_run.setdefault(run, []).append(folder / name)
    return tuple(files_by_run[max(files_by_run, key=natural_order)]) if files_by_run else ()


def _file_states(folder: Path, name: str, where: dict[str, str]) -> bool:
    try:
        return states(read_inside(folder, name, LARGEST_FILE), where)
    except OSError:
        return False


class IterationOutputs(NamedTuple):
    """The outputs of one iteration."""

    number: int
    outputs: tuple[Path, ...]


def outputs_of_iterations(place: WorktreeEval) -> list[IterationOutputs]:
    """The iterations that have any outputs, in ascending order."""
    files = place.files
    every = (
        IterationOutputs(number, _outputs_in(folder, files.outputs, files))
        for number, folder in iterations(place.folder)
    )
    return sorted(iteration for iteration in every if iteration.outputs)


class IterationFolder(NamedTuple):
    """The folder of one iteration."""

    number: int
    folder: Path


def iterations(folder: Path) -> Iterator[IterationFolder]:
    """Yield the iterations of an eval, including iterations without an output, in arbitrary order."""
    results = folder / RESULTS
    for child in results.iterdir() if results.is_dir() else ():
        number = iteration_number(child.name)
        if number is not None:
            yield IterationFolder(number, child)


def first_file(folder: Path, names: tuple[str, ...]) -> Path | None:
    """The first of these names under which the folder has a file."""
    return next((path for name in names if (path := Path(normpath(folder / name))).is_file()), None)


def _outputs_in(folder: Path, names: tuple[str, ...], files: KindFiles) -> tuple[Path, ...]:
    """The outputs in a folder: the file under the first of the names that exists, and the file of every variant."""
    first = first_file(folder, names)
    outputs = [first] if first else []
    if files.variants and folder.is_dir():
        outputs += [path for path in folder.iterdir() if re.fullmatch(files.variants, path.name) and path.is_file()]
    return tuple(sorted(outputs))
