"""What a process is given and gives back when it scores one eval and writes its pages, and how the former is gathered.

Tasks share values (``SentOnce``): each process receives such a value with its first task, and keeps it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sitegen.analysis.memo import PageRow
from sitegen.analysis.series import SeriesInputs
from sitegen.frozen import Frozen
from sitegen.history.memo_rows import CachedRow
from sitegen.model.regressions import EditedFile, Step
from sitegen.model.series import EvalInfo
from sitegen.model.timeline import Edit, EvalHistory
from sitegen.render.writer import WrittenFiles
from sitegen.stages.cached_kinds import EvalRecord
from sitegen.stages.report_files import WaitingPart
from sitegen.stages.scorecard_store import series_inputs
from sitegen.stages.worker_context import WorkerContext

if TYPE_CHECKING:
    from sitegen.stages.sources import EvalSources
import pickle
import posixpath
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final, Generic, TypeVar

from sitegen.analysis.edits import positions_of
from sitegen.analysis.memo import Memo
from sitegen.history.layout import Layout, Watched
from sitegen.model.timeline import EvalUpdate
from sitegen.stages.cached_kinds import (
    CELLS,
    CORRECTIONS,
    NEWEST_REPORT,
    SCORECARDS,
    SETTLED_POINTS,
    SOURCE_USES,
    VECTORS,
)
from sitegen.stages.scorecard_store import scorecard_keys
from sitegen.stages.scoring import model_of
from sitegen.stages.site_files import SiteFiles
from sitegen.stages.timeline import Timeline, driving_edits, last_paths_of_edits


class DrivingEdits(Frozen):
    """The edits of the instruction files that drive an eval."""

    by_commit: tuple[Edit, ...]
    positions: tuple[int, ...]
    """The result of ``positions_of`` for these edits."""
    moved: Mapping[EditedFile, str]
    """Maps each edit of a file that was moved later to the last path of the file."""


class EvalTask(Frozen):
    """Everything that a process needs to score one eval and to write its pages."""

    context: WorkerContext
    info: EvalInfo
    history: EvalHistory
    edits: SentOnce[DrivingEdits]
    first_new: int
    """Index of the first snapshot that the last build did not have."""
    pages: tuple[PageRow, ...]
    """Pages of the eval that are known to be in the output folder."""
    cached: tuple[CachedRow, ...]
    """The cached values of the eval, with the scorecards that its pages may need."""
    first_only: bool = False
    """Of the pages of all points, only those that are read first are written; a further task writes the others."""
    source_folders: tuple[str, ...] = ()
    """Folders in which the eval may have been at some commit, if it states a source."""
    waiting: WaitingEval | None = None
    """The pages to write, if the eval is scored already."""


class WaitingEval(Frozen):
    """Pages of an eval that are not written yet."""

    keys: tuple[str, ...]
    """For each report of the eval, the digest of everything that it shows."""
    parts: tuple[WaitingPart, ...]
    """Its older reports, the oldest first, as in ``WaitingReports.parts``; a task that writes reports has a range."""
    steps: tuple[Step, ...] = ()
    """The steps of its series, for the task that writes the pages of ``series_pages``."""


class EvalPagesDone(Frozen):
    """The result of every task that writes pages of an eval."""

    files: WrittenFiles
    cached: tuple[CachedRow, ...]
    """New values for the memo."""


class EvalDone(EvalPagesDone):
    """The result of the task that scores an eval."""

    record: EvalRecord
    waiting: WaitingEval | None = None
    """What further tasks write; None if nothing is left."""
    lost_contents: int = 0
    """Number of outputs whose contents this clone lacks. Each is a problem, and the next build tries again."""


def owner(eval_id: str) -> str:
    """Return the name under which the site's files record the pages of an eval."""
    return f"eval:{eval_id}"


def inputs_of(task: EvalTask) -> SeriesInputs:
    """Return the inputs of the points of an eval."""
    edits = task.edits.value
    return series_inputs(task.history, edits.by_commit, edits.positions)


def sources_of(task: EvalTask) -> EvalSources | None:
    """Return the sources of the values of an eval; None if it states none."""
    if not task.info.source:
        return None
    from sitegen.stages.sources import EvalSources  # few evals have sources

    return EvalSources(task.context, task.info, task.source_folders)


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


class EditsOfEvals:
    """The edits that drive each eval. Evals with the same instruction files share one value."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._by_files: dict[tuple[str, ...], SentOnce[DrivingEdits]] = {}

    def of(self, eval_id: str) -> SentOnce[DrivingEdits]:
        """Return the edits that drive an eval."""
        files = self._timeline.drivers(eval_id)
        paths = tuple(file.path for file in files)
        if paths not in self._by_files:
            edits = driving_edits(self._timeline, eval_id)
            self._by_files[paths] = SentOnce(DrivingEdits(edits, positions_of(edits), last_paths_of_edits(files)))
        return self._by_files[paths]


def task_for(
    timeline: Timeline,
    memo: Memo,
    site_files: SiteFiles,
    update: EvalUpdate,
    edits: EditsOfEvals,
    *,
    scored: bool,
) -> EvalTask:
    """Make the task for one eval. ``scored``: as in ``cached_rows``."""
    history = update.history
    context, info = timeline.context_for(history.id), timeline.info(history)
    return EvalTask(
        context=context,
        info=info,
        history=history,
        edits=edits.of(history.id),
        first_new=update.first_new,
        pages=site_files.present_files(owner(history.id)),
        cached=tuple(cached_rows(memo, history, context, info, scored=scored)),
        source_folders=_source_folders(timeline, history) if info.source else (),
    )


def _source_folders(timeline: Timeline, history: EvalHistory) -> tuple[str, ...]:
    """Return the folders that an eval may have had at a commit: the present ones, then earlier names, newest first."""
    folders = Layout(timeline.config, timeline.manifest, Watched()).folders(history.id)
    above = posixpath.dirname(folders[0])
    return tuple(dict.fromkeys((*folders, *(posixpath.join(above, name) for name in reversed(history.renamed_from)))))


def cached_rows(
    memo: Memo, history: EvalHistory, context: WorkerContext, info: EvalInfo, *, scored: bool = True
) -> Iterator[CachedRow]:
    """Yield the cached values of an eval, with the scorecards that its pages may need.

    ``scored``: whether the memo may have scorecards of it; looking for them in vain would take a while.
    """
    if scored:
        yield from memo.rows(SCORECARDS.name, scorecard_keys(history, context.redact))
    for kind in (CELLS, SETTLED_POINTS, CORRECTIONS, NEWEST_REPORT):
        yield from memo.rows(kind.name, [history.id])
    if info.source:
        yield from memo.rows_within(SOURCE_USES.name, history.id)
    if model_of(history.kind):
        yield from memo.rows_within(VECTORS.name, history.id)
