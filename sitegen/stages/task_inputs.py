"""Gathers what the task of an eval is given: its edits, its pages in the output folder, and its cached values."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from sitegen.analysis.edits import positions_of
from sitegen.analysis.memo import Memo
from sitegen.history.layout import Layout, Watched
from sitegen.history.memo_rows import CachedRow
from sitegen.model.series import EvalInfo
from sitegen.model.timeline import EvalHistory, EvalUpdate
from sitegen.stages.cached_kinds import (
    CELLS,
    CORRECTIONS,
    NEWEST_REPORT,
    SCORECARDS,
    SETTLED_POINTS,
    SOURCE_USES,
    VECTORS,
)
from sitegen.stages.eval_task import DrivingEdits, EvalTask, SentOnce, owner
from sitegen.stages.scorecard_store import wanted_keys
from sitegen.stages.scoring import model_of
from sitegen.stages.site_files import SiteFiles
from sitegen.stages.timeline import Timeline, driving_edits, moved_edits
from sitegen.stages.worker_context import WorkerContext


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
            self._by_files[paths] = SentOnce(DrivingEdits(edits, positions_of(edits), moved_edits(files)))
        return self._by_files[paths]


def task_for(
    timeline: Timeline,
    memo: Memo,
    site_files: SiteFiles,
    update: EvalUpdate,
    edits: EditsOfEvals,
    thinned: int | None,
    thinned_fields: int | None,
    *,
    scored: bool = True,
) -> EvalTask:
    """Make the task for one eval.

    ``thinned``, ``thinned_fields``: as in ``EvalTask``; ``scored``: as in ``cached_rows``.
    """
    history = update.history
    context, info = timeline.context_for(history.id), timeline.info(history)
    return EvalTask(
        context=context,
        info=info,
        history=history,
        edits=edits.of(history.id),
        first_new=update.first_new,
        pages=site_files.standing_files(owner(history.id)),
        archived=site_files.archived_files(owner(history.id)),
        cached=tuple(cached_rows(memo, history, context, info, scored=scored)),
        thinned=thinned,
        thinned_fields=thinned_fields,
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
        yield from memo.rows(SCORECARDS.name, wanted_keys(history, context.redact))
    for kind in (CELLS, SETTLED_POINTS, CORRECTIONS, NEWEST_REPORT):
        yield from memo.rows(kind.name, [history.id])
    if info.source:
        yield from memo.rows_within(SOURCE_USES.name, history.id)
    if model_of(history.kind):
        yield from memo.rows_within(VECTORS.name, history.id)
