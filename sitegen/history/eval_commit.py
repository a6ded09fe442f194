"""What one commit means to one eval: all that the eval's fold is given."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from sitegen.config import EvalConfig, Kind, files_of
from sitegen.history.blobs import BlobRead
from sitegen.history.fold_state import EvalInputs
from sitegen.history.layout import PathRole, wanted_of
from sitegen.model.commits import ChangedPath, Commit
from sitegen.model.contents import Contents
from sitegen.model.problems import Problem
from sitegen.model.recorded import Recorded, states
from sitegen.model.timeline import Blob


class EvalCommit(NamedTuple):
    """A commit that changed an eval's files, or what its scores depend on."""

    commit: Commit
    changes: tuple[tuple[PathRole, ChangedPath], ...]
    """Of the eval's own files."""
    entry: EvalConfig
    """Of the built manifest."""
    read: Callable[[str], BlobRead]
    """Gives a blob's content."""
    report: Callable[[Problem], None]
    made_with: Callable[[Recorded], Commit | None]
    """Gives the commit that left instruction files as a record states them."""
    contents: Contents
    """Answers what must be known of the contents of outputs."""

    def belongs(self, output: Blob) -> bool:
        """Whether a file is of this eval, where the settings want runs that state something."""
        where = wanted_of(self.entry)
        content = self.read(output.oid).content if where else b""
        return not where or (content is not None and states(content, where))


class InputsInForce(NamedTuple):
    """What scoring depends on after the commit, besides outputs."""

    inputs: EvalInputs
    changed: bool
    """Whether the commit changed it."""
    kind: Kind

    @property
    def scorable(self) -> bool:
        """Whether outputs can be scored: there is ground truth, or they are judged already."""
        return self.inputs.ground_truth is not None or not files_of(self.kind).ground_truths


class IterationFiles(NamedTuple):
    """An iteration as it stands after the commit."""

    label: str
    outputs: tuple[Blob, ...]
    recorded: Blob | None = None
    runs: tuple[Blob, ...] = ()
    stated_at: str | None = None
    """The time that its name states, ISO 8601."""
    kind: Kind = "fields"
    ground_truth: Blob | None = None
    """The expected values that stand in its own file; None: those of the eval count."""

    def inputs(self, of_eval: EvalInputs) -> EvalInputs:
        """What scoring it depends on, besides outputs."""
        return of_eval if self.ground_truth is None else of_eval._replace(ground_truth=self.ground_truth)
