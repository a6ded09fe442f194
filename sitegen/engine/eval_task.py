"""What a process is given and gives back when it scores an eval or writes its pages, and how the former is gathered.

Tasks share values (``SentOnce``): each process receives such a value with its first task, and keeps it.
"""

from __future__ import annotations

import dataclasses
import pickle
import posixpath
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Final, Generic, TypeAlias, TypeVar

from msgspec.structs import replace

from sitegen.analysis.edits import OutputEdits
from sitegen.analysis.series import Derived
from sitegen.config.notes import Notes, read_notes
from sitegen.engine.cached_kinds import CELLS, EVAL_RECORDS, RESULTS, SCORECARDS, VECTORS, EvalRecord
from sitegen.engine.commit_effects import EncodedEffects
from sitegen.engine.memo import CachedRow, Memo, PageRow
from sitegen.engine.scorecard_store import key_of_scorecards, model_of, snapshots_of_pages
from sitegen.engine.timeline import Build, last_paths_of_edits
from sitegen.engine.worker_context import WorkerContext
from sitegen.engine.writer import WrittenFiles
from sitegen.model.changes import EditedFile
from sitegen.model.frozen import Frozen
from sitegen.model.metrics import traits_of
from sitegen.model.problems import Parsed, Problem
from sitegen.model.series import EvalInfo
from sitegen.model.timeline import Edit, EvalHistory, EvalUpdate
from sitegen.pages.field import ANSWERED
from sitegen.pages.report.tree import PagePicture

if TYPE_CHECKING:
    from sitegen.engine.sources import EvalSources

DrivingEdits: TypeAlias = tuple[tuple[Edit, ...], Mapping[EditedFile, str]]
"""The edits of the instruction files that drive an eval, by commit; and the last path of the file for each edit of a
file that was moved later."""


class EvalTask(Frozen, dict=True, gc=True):
    """Everything that a process needs to score one eval, and to write pages of it."""

    context: WorkerContext
    info: EvalInfo
    history: EvalHistory
    edits: SentOnce[DrivingEdits]
    first_new: int
    """Index of the first snapshot that the last build did not have."""
    cached: tuple[CachedRow, ...]
    """The cached values of the eval, with the scorecards that its pages may need."""
    source_folders: tuple[str, ...]
    """Folders in which the eval may have been at some commit, if it states a source: the present ones, then earlier
    ones, the newest first."""
    notes: bytes
    """The content of its file of notes; empty if there is none."""
    baselines: tuple[tuple[str, int], ...]
    """The name of each baseline, and the index of its snapshot."""

    @cached_property
    def output_edits(self) -> OutputEdits:
        """The snapshots of the eval, with the edits that belong to each."""
        return OutputEdits(self.history.snapshots, self.edits.value[0])

    @property
    def sources(self) -> EvalSources | None:
        """The sources of the values of the eval; None if it states none."""
        if not self.info.source:
            return None
        from sitegen.engine.sources import EvalSources  # few evals have sources

        return EvalSources(self.context, self.info, self.source_folders)

    @property
    def read_notes(self) -> Parsed[Notes]:
        """The notes of people about the eval; without what they wrote freely if it hides values."""
        notes, findings = read_notes(self.notes)
        if self.context.redact:
            notes = tuple((line, dataclasses.replace(note, note="", code="", by="")) for line, note in notes)
            message = (
                "A part of the notes is not understood. It does not count, and is not quoted: the eval hides values."
            )
            findings = tuple(replace(finding, message=message, value="") for finding in findings)
        return Parsed(notes, findings)

    def cached_rows(self, memo: Memo, reports: Iterable[int]) -> Iterator[CachedRow]:
        """Yield its cached values: the scorecards that its pages may need, and the results of some reports."""
        history, key_of = self.history, key_of_scorecards(self.history.kind, self.context)
        # A report shows its own output, the one before and repeated runs; pages of cases show more of those before.
        before = ANSWERED if traits_of(history.kind).has_cases else 1
        shown = (
            snapshot
            for index in reports
            for part in (history.snapshots[max(0, index - before) : index + 1], history.snapshots[index].repeated_runs)
            for snapshot in part
        )
        yield from memo.rows(SCORECARDS.name, map(key_of, snapshots_of_pages(history)))
        yield from memo.rows(RESULTS.name, map(key_of, shown))
        for kind in (CELLS, EVAL_RECORDS):
            yield from memo.rows(kind.name, [history.id])
        if model_of(history.kind):
            yield from memo.rows_within(VECTORS.name, history.id)


class EvalDone(Frozen):
    """A scored eval."""

    record: EvalRecord
    history: EvalHistory
    """The history of the task, with marks at the contents that this clone lacks."""
    keys: tuple[str, ...]
    """For each report of the eval, the digest of everything that it shows."""
    derived: tuple[Derived, ...]
    """What was computed of each point and the points before it."""
    cached: tuple[CachedRow, ...]
    """New values for the memo."""
    commit_effects: EncodedEffects
    """The effects of commits with new points."""
    lost_contents: int = 0
    """Number of outputs whose contents this clone lacks. Each is a problem, and the next build tries again."""


class PagesTask(EvalTask):
    """Pages of a scored eval that a process writes: reports, or everything else."""

    record: EvalRecord
    keys: tuple[str, ...]
    """As in ``EvalDone``, and so is:"""
    derived: SentOnce[tuple[Derived, ...]]
    pages: tuple[PageRow, ...]
    """Pages of the eval that are known to be in the output folder."""
    reports: tuple[int, ...] = ()
    """The reports to write, the newest first; empty: all other pages, and the newest report."""


class PagesDone(Frozen):
    """The result of a ``PagesTask``."""

    files: WrittenFiles
    cached: tuple[CachedRow, ...]
    """New values for the memo."""
    older_reports: tuple[int, ...] = ()
    """The reports that are out of date and were not written, the newest first."""
    failures: tuple[Problem, ...] = ()
    """One for each report that could not be made."""
    pictures: Mapping[str, tuple[PagePicture, ...]] = {}
    """Those of the reports that were made, as in ``EvalRecord``."""


def owner(eval_id: str) -> str:
    """Return the name under which the site's files record the pages of an eval."""
    return f"eval:{eval_id}"


_KEPT: Final = 4
"""Number of values that a process keeps: evals that the same instruction files drive share one."""

T = TypeVar("T")


class SentOnce(Generic[T]):
    """A value that is pickled once, however many tasks refer to it, and unpickled once by each process.

    The edits of a long history are one: to pickle and unpickle them anew for each eval took a twentieth of a build of
    20,000 commits and 50 evals, and grew with the product of both.
    """

    def __init__(self, value: T) -> None:
        self._values = [value]
        """The value; empty after it was sent: a sender seldom needs it again, and its bytes take a tenth of it."""
        self._pickled = b""

    @property
    def value(self) -> T:
        """The value itself."""
        if not self._values:
            self._values.append(pickle.loads(self._pickled))
        return self._values[0]

    def __reduce__(self) -> tuple[object, tuple[bytes]]:
        if not self._pickled:
            self._pickled = pickle.dumps(self._values.pop(), pickle.HIGHEST_PROTOCOL)
        return _received, (self._pickled,)


@lru_cache(maxsize=_KEPT)
def _received(pickled: bytes) -> SentOnce[Any]:
    return SentOnce(pickle.loads(pickled))


def task_for(build: Build, update: EvalUpdate, edits: dict[tuple[str, ...], SentOnce[DrivingEdits]]) -> EvalTask:
    """Make the task that scores one eval.

    ``edits``: those of the evals before, by the paths of their files, which evals can share.
    """
    timeline, history = build.timeline, update.history
    info, files = timeline.info(history), timeline.drivers(history.id)
    paths = tuple(file.path for file in files)
    folders = timeline.layout.folders(history.id)
    former = (posixpath.join(posixpath.dirname(folders[0]), name) for name in reversed(history.renamed_from))
    if paths not in edits:
        edits[paths] = SentOnce((timeline.driving_edits(history.id), last_paths_of_edits(files)))
    task = EvalTask(
        context=timeline.context_for(history.id),
        info=info,
        history=history,
        edits=edits[paths],
        first_new=update.first_new,
        cached=(),
        source_folders=tuple(dict.fromkeys((*folders, *former))) if info.source else (),
        notes=timeline.notes.get(history.id, b""),
        baselines=timeline.baselines_of(history),
    )
    newest = range(len(history.snapshots))[-1:]
    return replace(task, cached=tuple(task.cached_rows(build.memo, newest)))
