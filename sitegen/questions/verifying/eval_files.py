"""Locates an eval's files in the work tree: its folder, its iterations and its outputs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from os.path import normpath
from pathlib import Path

from sitegen.config.kind_files import Kind, KindFiles, files_of
from sitegen.config.models import EvalConfig
from sitegen.data_files.project_files import LARGEST_FILE, read_inside
from sitegen.history.entry_rules import is_path, required_statements, runs_of
from sitegen.history.globs import RunGlob
from sitegen.history.layout import LONE, RECORDED, RESULTS, iteration_number
from sitegen.model.frozen import Frozen
from sitegen.model.recorded import states
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


def each_output(place: WorktreeEval) -> list[tuple[Path, ...]]:
    """Return the outputs of each iteration by number, or of each run by name, or the overwritten output; often none.

    An iteration that has only the record of a run has no files.
    """
    entry, files = place.entry, place.files
    if runs := runs_of(entry):
        return _each_run(place.folder, runs, required_statements(entry))
    if is_path(entry.outputs):
        stated = first_file(place.folder, (entry.outputs,))
        return [(stated,)] if stated else []
    if by_iteration := outputs_of_iterations(place):
        return [outputs for _, outputs in by_iteration]
    if entry.outputs == "iterations":
        return []
    if entry.id == LONE and not first_file(place.folder, files.elsewhere):
        log = first_file(place.root, files.at_root)
        if log is not None:
            return [(log,)]
    written = _outputs_in(place.folder, files.overwritten, files) or _outputs_in(place.folder / RESULTS, (), files)
    return [written] if written else []


def newest_case_file(folder: Path, entry: EvalConfig) -> Path | None:
    """Return the file that holds expected values and outputs together; if there are several, that of the last run."""
    if runs := runs_of(entry):
        every_run = _each_run(folder, runs)
        return every_run[-1][0] if every_run else None
    return first_file(folder, (entry.outputs,))


def _each_run(folder: Path, runs: RunGlob, where: dict[str, str] | None = None) -> list[tuple[Path, ...]]:
    """The files of each run by name, with numbers in names compared by value.

    Files that do not state the values of *where* (key -> value) are left out.
    """
    start = folder / runs.start
    paths = start.rglob("*") if start.is_dir() else ()
    files_by_run: dict[str, list[Path]] = {}
    for name in sorted(path.relative_to(folder).as_posix() for path in paths if path.is_file()):
        run = runs.name(name)
        if run is not None and (not where or _file_states(folder, name, where)):
            files_by_run.setdefault(run, []).append(folder / name)
    return [tuple(files_by_run[run]) for run in sorted(files_by_run, key=natural_order)]


def _file_states(folder: Path, name: str, where: dict[str, str]) -> bool:
    try:
        return states(read_inside(folder, name, LARGEST_FILE), where)
    except OSError:
        return False


def outputs_of_iterations(place: WorktreeEval) -> list[tuple[int, tuple[Path, ...]]]:
    """The numbers and outputs of iterations that have any or the record of a run, in ascending order."""
    files = place.files
    return sorted(
        (number, outputs)
        for number, folder in iterations(place.folder)
        if (outputs := _outputs_in(folder, files.outputs, files)) or (folder / RECORDED).is_file()
    )


def iterations(folder: Path) -> Iterator[tuple[int, Path]]:
    """Yield the number and the folder of every iteration of an eval, with an output or without, in arbitrary order."""
    results = folder / RESULTS
    for child in results.iterdir() if results.is_dir() else ():
        number = iteration_number(child.name)
        if number is not None:
            yield number, child


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
