"""A commit as input to the fold of an eval, and the files of an iteration at that commit."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from sitegen.config import EvalConfig
from sitegen.frozen import Frozen
from sitegen.history.blobs import BlobRead
from sitegen.history.entry_rules import required_statements
from sitegen.history.fold_state import EvalInputs
from sitegen.history.layout import PathRole
from sitegen.kind_files import Kind, files_of
from sitegen.model.commits import ChangedPath, Commit
from sitegen.model.contents import Contents
from sitegen.model.problems import Problem
from sitegen.model.recorded import Recorded, states
from sitegen.model.timeline import Blob


class FileChange(NamedTuple):
    """The change of a file of an eval, and the role of the file."""

    place: PathRole
    change: ChangedPath


class EvalCommit(Frozen):
    """A commit that changed an eval's files, or other inputs of its scores."""

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
    contents: Contents
    """The functions that read the contents of outputs."""
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
