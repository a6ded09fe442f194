"""Second stage: scores the evals that new commits touched and writes their pages, in parallel."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import chain, islice
from typing import Final

from msgspec.structs import replace

from sitegen.analysis.memo import Memo
from sitegen.frozen import Frozen
from sitegen.history.process import share_processes
from sitegen.history.timeline import history_in
from sitegen.model.problems import Problem
from sitegen.model.series import EvalSummary
from sitegen.model.timeline import EvalHistory, EvalUpdate
from sitegen.pages import links
from sitegen.pages.data.search import SearchFields
from sitegen.render.writer import WrittenFiles
from sitegen.scoring.mapping_use import MappingUse
from sitegen.stages.cached_kinds import EVAL_RECORDS, SCORECARDS, EvalRecord
from sitegen.stages.configuration import known_mappings
from sitegen.stages.eval_job import score_eval
from sitegen.stages.eval_task import (
    EditsOfEvals,
    EvalDone,
    EvalPagesDone,
    EvalTask,
    WaitingEval,
    cached_rows,
    owner,
    task_for,
)
from sitegen.stages.failures import write_in_its_place
from sitegen.stages.pool import FinishedTask, Pool
from sitegen.stages.report_files import StoredPart, WaitingParts, ranges
from sitegen.stages.scorecard_store import pins_of, under_pins
from sitegen.stages.scoring import is_worth_ranges
from sitegen.stages.series_pages import write_older_reports, write_waiting_series_pages
from sitegen.stages.site_files import SiteFiles
from sitegen.stages.timeline import Timeline

SHARE: Final = 16
"""A task writes about a sixteenth of all older reports at most, so that the reports of one large eval use all cores."""


MOST: Final = 0.75
"""An eval with a larger part of all points would keep one process busy while the others have nothing to do."""


class Evals(Frozen):
    """The facts about all evals that later stages need."""

    summaries: tuple[EvalSummary, ...]
    """Summaries of all evals, by id."""
    fields: tuple[SearchFields, ...]
    """The attributes of each eval that have a page."""
    problems: tuple[Problem, ...]
    """Problems of all evals, by the id of the eval."""
    failures: tuple[Problem, ...]
    """One problem for each eval that sitegen failed to make, by id. No other field contains these evals."""
    mapping_uses: Mapping[str, MappingUse]
    """For evals whose rules name fields, by id: the entries of the mapping that the newest point does not use."""
    lost_contents: int
    """Number of outputs whose contents this clone lacks. They are among the problems."""
    new_peaks: frozenset[str]
    """Ids of the evals whose best output, or the value of it, differs from the previous build."""


class ScoredEvals:
    """The evals of a site while a build brings them up to date: scores and newest reports first, older ones later."""

    def __init__(self, timeline: Timeline, memo: Memo, site_files: SiteFiles, parts: WaitingParts) -> None:
        """``parts``: holds the older reports until they are written."""
        self._timeline = timeline
        self._memo = memo
        self._site_files = site_files
        self._records = {record.summary.info.id: record for record in EVAL_RECORDS.all(memo)}
        self._failures: list[Problem] = []
        self._lost_contents = 0
        self._new_peaks: set[str] = set()
        self._parts = parts
        self._waiting: list[_UnfinishedEval] = []
        self._report_tasks: Iterator[FinishedTask[EvalTask, EvalPagesDone | Problem]] | None = None
        self._first_pages: dict[str, WrittenFiles] = {}

    def score(self, pool: Pool, step: Callable[[int], None], *, first_only: bool = False) -> None:
        """Score the evals that new commits touched, and write all of their pages except older reports.

        ``first_only``: of the other pages, make only those that are read first, for ``write_first_pages``.
        """
        timeline, memo = self._timeline, self._memo
        pins = pins_of(timeline, memo)
        outdated = tuple(_outdated(timeline, memo, self._records))
        mappings = timeline.context.mappings + known_mappings(memo, timeline.context.open(), outdated)
        timeline = replace(timeline, context=replace(timeline.context, mappings=mappings))
        touched = [*timeline.update.evals, *outdated]
        updates = [replace(update, history=under_pins(update.history, pins)) for update in touched]
        updates.sort(key=lambda update: len(update.history.snapshots), reverse=True)  # the longest tasks start first
        edits = EditsOfEvals(timeline)
        scored = memo.has(SCORECARDS.name)  # whether an earlier build left any
        tasks = (
            replace(task_for(timeline, memo, self._site_files, update, edits, scored=scored), first_only=first_only)
            for update in updates
        )
        for task, done in _scored_evals(tasks, pool, sum(len(update.history.snapshots) for update in updates)):
            step(len(task.history.snapshots))
            if isinstance(done, Problem):
                self._fail(task.info.id, done)
            else:
                self._add(task, done)

    def _fail(self, eval_id: str, problem: Problem) -> None:
        self._records.pop(eval_id, None)
        self._failures.append(problem)
        writer, renderer = self._site_files.writer(owner(eval_id)), self._timeline.context.renderer()
        write_in_its_place(writer, renderer, owner(eval_id), links.eval_trend(eval_id), problem)
        self._site_files.replace(owner(eval_id), writer.files)

    def _add(self, task: EvalTask, done: EvalDone) -> None:
        eval_id = task.info.id
        before = self._records.get(eval_id)
        self._lost_contents += done.lost_contents
        self._memo.put_rows(done.cached)
        if before is None or before.summary.peak != done.record.summary.peak:
            self._new_peaks.add(eval_id)
        summary = _with_earlier_decisions(done.record.summary, before, task.first_new)
        record = self._records[eval_id] = replace(done.record, summary=_sharing(summary, task.history))
        if task.first_only:
            self._first_pages[eval_id] = done.files.of(pages=True)
            self._site_files.record(owner(eval_id), done.files.of(pages=False), whole=False)
        else:
            self._site_files.record(owner(eval_id), done.files)
        if done.waiting is None:
            EVAL_RECORDS.keep(self._memo, eval_id, record)
        else:
            places = self._parts.put(done.waiting.parts)
            self._waiting.append(_UnfinishedEval(replace(task, cached=()), done.waiting.keys, places))

    @property
    def first_pages(self) -> Iterator[str]:
        """Yield the paths of the pages that ``write_first_pages`` writes."""
        return (row.path for files in self._first_pages.values() for row in files.rows)

    def write_first_pages(self) -> None:
        """Write the pages that are read first."""
        for eval_id, files in self._first_pages.items():
            self._site_files.record(owner(eval_id), files)
        self._first_pages.clear()

    def write_series_pages(self, pool: Pool, step: Callable[[int], None]) -> None:
        """Write the pages of all points that ``score`` left out."""
        for task, done in pool.map(write_waiting_series_pages, self._series_pages()):
            eval_id = task.info.id
            step(1)
            if isinstance(done, Problem):
                self._fail(eval_id, done)
            else:
                self._site_files.record(owner(eval_id), done)

    def _series_pages(self) -> Iterator[EvalTask]:
        """Make the tasks that write these pages, each from what the memo has of its eval now."""
        for waiting in self._waiting:
            task = waiting.task
            if task.first_only:
                yield replace(
                    task,
                    cached=tuple(cached_rows(self._memo, task.history, task.context, task.info)),
                    waiting=WaitingEval(waiting.keys, (), self._records[task.info.id].summary.steps),
                )

    @property
    def waiting_series(self) -> int:
        """Number of evals whose pages of all points are not all written yet."""
        return sum(waiting.task.first_only for waiting in self._waiting)

    @property
    def waiting_reports(self) -> int:
        """Number of reports that are not written yet."""
        return sum(part.reports for waiting in self._waiting for part in waiting.places)

    def begin_older_reports(self, pool: Pool) -> None:
        """Have the first reports that wait written while stages before ``write_older_reports`` end."""
        self._report_tasks = pool.map_later(write_older_reports, self._older_reports())

    def write_older_reports(self, pool: Pool, step: Callable[[int], None]) -> None:
        """Write the reports that wait: those of each eval from the newest to the oldest."""
        finished = self._report_tasks or pool.map(write_older_reports, self._older_reports())
        self._report_tasks = None
        for task, done in finished:
            eval_id = task.info.id
            assert task.waiting
            step(sum(part.reports for part in task.waiting.parts))
            if eval_id not in self._records:  # another range of this eval failed
                continue
            if isinstance(done, Problem):
                self._fail(eval_id, done)
                continue
            self._memo.put_rows(done.cached)
            self._site_files.record(owner(eval_id), done.files)
        for waiting in self._waiting:
            if record := self._records.get(waiting.task.info.id):
                EVAL_RECORDS.keep(self._memo, record.summary.info.id, record)
        self._waiting.clear()

    def _older_reports(self) -> Iterator[EvalTask]:
        """Make the tasks that write waiting reports. Only evals with more of them than ``SHARE`` allows are split."""
        reports = self.waiting_reports // SHARE
        for waiting in self._waiting:
            for places in ranges(waiting.places, reports):
                yield replace(waiting.task, waiting=WaitingEval(waiting.keys, self._parts.read(places)))

    def result(self) -> Evals:
        """What later stages need to know of all evals, as far as they were scored and written."""
        every = [(eval_id, self._records[eval_id]) for eval_id in sorted(self._records)]
        return Evals(
            summaries=tuple(record.summary for _, record in every),
            fields=tuple(SearchFields(eval_id, record.attributes) for eval_id, record in every),
            problems=tuple(problem for _, record in every for problem in record.problems),
            failures=tuple(sorted(self._failures, key=lambda problem: problem.eval_id or "")),
            mapping_uses={eval_id: record.mapping_use for eval_id, record in every if record.mapping_use},
            lost_contents=self._lost_contents,
            new_peaks=frozenset(self._new_peaks),
        )


def _scored_evals(tasks: Iterator[EvalTask], pool: Pool, points: int) -> Iterator[tuple[EvalTask, EvalDone | Problem]]:
    """Score the evals, the largest first. One with most of the points is scored here, and the pool scores its outputs.

    ``points``: number of points of all evals.
    """
    first = list(islice(tasks, 1))
    largest = len(first[0].history.snapshots) if first else 0
    if largest > MOST * points and is_worth_ranges(pool, largest):
        task = first.pop()
        with share_processes():
            done = score_eval(task, pool)
        yield task, done
    yield from pool.map(score_eval, chain(first, tasks))


class _UnfinishedEval(Frozen):
    """An eval of which pages are not written yet."""

    task: EvalTask
    keys: tuple[str, ...]
    places: tuple[StoredPart, ...]
    """Where its older reports are held."""


def _with_earlier_decisions(summary: EvalSummary, before: EvalRecord | None, first_new: int) -> EvalSummary:
    """Add the cached verdicts on earlier edits: a task computes only those for edits that made new points."""
    decisions = {window.edit: window.decision for window in before.summary.windows} if before else {}
    return replace(
        summary,
        windows=tuple(
            window if window.after >= first_new else window._replace(decision=decisions.get(window.edit))
            for window in summary.windows
        ),
    )


def _sharing(summary: EvalSummary, history: EvalHistory) -> EvalSummary:
    """Replace the summary's strings by equal strings of the snapshots: copies took a tenth of all memory."""
    return replace(
        summary,
        headlines=tuple(
            replace(headline, sha=at.commit.sha, slug=at.slug, label=at.label, committed_at=at.commit.committed_at)
            for headline, at in zip(summary.headlines, history.snapshots, strict=True)
        ),
    )


def _outdated(timeline: Timeline, memo: Memo, records: Mapping[str, EvalRecord]) -> Iterator[EvalUpdate]:
    """Yield evals without new points whose newest output has become older than their instructions."""
    edited = {file.path for file in timeline.update.instructions}
    touched = {update.history.id for update in timeline.update.evals}
    for eval_id, record in records.items():
        if eval_id in touched or record.summary.stale or not record.summary.headlines:
            continue
        if edited and any(file.path in edited for file in timeline.drivers(eval_id)):
            history = history_in(memo, timeline.config, timeline.manifest, eval_id)
            if history is not None:
                yield EvalUpdate(history, len(history.snapshots))
