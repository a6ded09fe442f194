"""A commit as input to the fold of an eval, the files of an iteration at that commit, and the sides of case files.

If one file holds both expected values and outputs, each side is identified by the first blob that had it. If a version
changes only one side, code that compares blob ids therefore sees a change of only the ground truth, or only the
outputs.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TypeAlias

from msgspec.structs import replace

from sitegen.config.models import EvalConfig, Kind, case_settings, files_of
from sitegen.history.blobs import BlobRead
from sitegen.history.eval_state import EvalInputs, EvalState, first_blob
from sitegen.history.layout import (
    EntryRules,
    PathRole,
    canonical_settings,
    is_path,
    normal,
    required_statements,
    runs_of,
)
from sitegen.model.commits import ChangedPath, Commit
from sitegen.model.frozen import Frozen
from sitegen.model.problems import Problem
from sitegen.model.recorded import Recorded, states
from sitegen.model.timeline import Blob
from sitegen.scoring import case_files
from sitegen.text.plain import natural_order

FileChange: TypeAlias = tuple[PathRole, ChangedPath]
"""The change of a file of an eval, and the role of the file."""


class EvalCommit(Frozen):
    """A commit that changed an eval's files, or other inputs of its scores."""

    state: EvalState
    commit: Commit
    changes: tuple[FileChange, ...]
    """Changes of the eval's own files."""
    entry: EvalConfig
    """The eval's entry in the built manifest."""
    read: Callable[[str], BlobRead]
    """Returns the content of a blob."""
    report: Callable[[Problem], None]
    made_with: Callable[[Recorded], Commit | None]
    """Returns the commit after which instruction files were as a record states them."""
    inputs: EvalInputs = EvalInputs()
    """The inputs of scoring besides outputs, after the commit. Set once the files are updated, as the next two fields
    are."""
    inputs_changed: bool = False
    """Whether the commit changed ``inputs``."""
    kind: Kind = "fields"

    @property
    def scorable(self) -> bool:
        """Whether outputs can be scored: there is ground truth, or they are judged already."""
        return self.inputs.ground_truth is not None or not files_of(self.kind).ground_truths

    def belongs(self, output: Blob) -> bool:
        """Decide whether an output belongs to this eval: its run states the values that the eval's settings require."""
        statements = required_statements(self.entry)
        if not statements:
            return True
        content = self.read(output.oid).content
        return content is not None and states(content, statements)

    def with_own_sides(self, iteration_files: IterationFiles) -> IterationFiles:
        """Return the iteration with separate ids for its outputs and its own ground truth, if its files hold both."""
        settings = self.inputs.settings
        if case_settings(settings) is None or not iteration_files.outputs:
            return iteration_files
        files = iteration_files.outputs
        sides = [self.sides_of(file, settings) for file in files]
        outputs = tuple(file._replace(oid=output) for file, (_, output) in zip(files, sides, strict=True))
        return replace(iteration_files, outputs=outputs, ground_truth=files[0]._replace(oid=sides[0][0]))

    def sides_of(self, file: Blob, settings: str) -> tuple[str, str]:
        """Return the first blobs that had the expected values and the outputs of a case file."""
        state, version = self.state, f"{case_settings(settings)} {file.oid}"
        if version not in state.sides:
            content = self.read(file.oid).content
            sides = None if content is None else case_files.sides_of(file.path, content, settings)
            if sides is None:  # while the file cannot be read, the earlier expected values still apply
                earlier = state.inputs.ground_truth if state.inputs else None
                state.sides[version] = (earlier.oid if earlier else file.oid, file.oid)
            else:
                expected, output = sides
                state.sides[version] = (
                    state.first_with.setdefault(f"expected {expected}", file.oid),
                    state.first_with.setdefault(f"output {output}", file.oid),
                )
        return state.sides[version]


class IterationFiles(Frozen):
    """The files of an iteration after the commit."""

    label: str
    outputs: tuple[Blob, ...]
    recorded: Blob | None = None
    runs: tuple[Blob, ...] = ()
    stated_at: str | None = None
    """The time in the iteration's name, ISO 8601."""
    ground_truth: Blob | None = None
    """The expected values in the iteration's own file; None if the expected values of the eval apply."""

    def inputs(self, of_eval: EvalInputs) -> EvalInputs:
        """Return the inputs of scoring the iteration, besides its outputs."""
        return of_eval if self.ground_truth is None else of_eval._replace(ground_truth=self.ground_truth)


def with_built_sides(rules: EntryRules, built: EntryRules) -> EntryRules:
    """Return the rules of a commit with the built manifest's settings for the places of the sides in case files."""
    if case_settings(rules.settings) == case_settings(built.settings):
        return rules
    settings, structure = json.loads(rules.settings), json.loads(built.settings)
    in_cases = case_settings(built.settings) is not None
    settings["ground_truth_format"] = structure["ground_truth_format"] if in_cases else "auto"
    settings.pop("cases", None)
    if in_cases and "cases" in structure:
        settings["cases"] = structure["cases"]
    return replace(rules, settings=canonical_settings(settings))


def newest_case_file(state: EvalState, entry: EvalConfig) -> Blob | None:
    """Return the current file that holds both sides; of several runs, the last by name."""
    folder = state.active
    if folder is None:
        return None
    runs = runs_of(entry)
    if runs is None:
        path = normal(f"{folder}/{entry.outputs}")
        return first_blob((path,), state.files) if is_path(entry.outputs) else None
    if state.newest_run is None:
        state.newest_run = max(runs.names(folder, state.files), key=natural_order, default=None)
    files = runs.outputs(folder, state.newest_run, state.files) if state.newest_run else ()
    return files[0] if files else None


def keep_newest_run(state: EvalState, place: PathRole, change: ChangedPath) -> None:
    """Update the last run by name after a change of a run's file.

    If the last run lost a file, the last run is unknown until ``newest_case_file`` determines it again.
    """
    newest = state.newest_run
    if newest is None or place.folder != state.active:
        return
    if change.new is None:
        state.newest_run = None if place.iteration == newest else newest
    else:
        state.newest_run = max(newest, place.iteration, key=natural_order)
