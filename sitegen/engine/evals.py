"""Scores the evals that new commits touched, and writes their pages, in parallel."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from msgspec.structs import asdict, replace

from sitegen.analysis.edits import OutputEdits
from sitegen.analysis.standing import ListedStep
from sitegen.engine.cached_kinds import CELLS, CONFIGURATION, EVAL_RECORDS, RESULTS, SCORECARDS, VECTORS, EvalRecord
from sitegen.engine.eval_job import EncodedEffects, EvalTask, score_eval
from sitegen.engine.eval_pages import PagesTask, owner, write_pages
from sitegen.engine.memo import CachedRow, Memo
from sitegen.engine.scorecard_store import key_of_mapping, key_of_scorecards, model_of, snapshots_of_pages
from sitegen.engine.timeline import Build, Timeline, last_paths_of_edits
from sitegen.engine.writer import digest
from sitegen.model.frozen import Frozen
from sitegen.model.metrics import traits_of
from sitegen.model.problems import Problem
from sitegen.model.series import EvalSummary, Window
from sitegen.model.timeline import EvalHistory
from sitegen.pages import links
from sitegen.pages.field import ANSWERED
from sitegen.pages.other_pages import failed_page

AT_ONCE: Final = 200
"""Number of older reports in one task, which reads all scorecards of its eval."""


class Evals(Frozen):
    """The facts about all evals that later stages need."""

    build: Build
    records: Mapping[str, EvalRecord]
    """Those of all evals, by id."""
    failures: tuple[Problem, ...]
    """One problem for each eval that sitegen failed to make, by id. No other field contains these evals."""
    lost_contents: tuple[str, ...]
    """Why each content that this clone lacks is missing, ``MISSING`` or ``POINTER``. They are among the problems."""
    commit_effects: Mapping[str, EncodedEffects]
    """For each scored eval, by id, the effects of commits with new points."""
    measured: frozenset[int]
    """Positions of the edits whose effects differ from the previous build."""

    @property
    def summaries(self) -> tuple[EvalSummary, ...]:
        """The summaries of all evals, by id."""
        return tuple(record.summary for record in self.records.values())


def score_evals(build: Build) -> tuple[Evals, tuple[PagesTask, ...]]:
    """Score the evals that new commits touched. An eval that fails is left out, and a page in its place says why.

    Returns the facts about all evals, and the pages of the scored ones, the eval with the newest output first.
    """
    timeline, memo = build.timeline, build.memo
    records = {record.summary.info.id: record for record in EVAL_RECORDS.all(memo)}
    outdated = sorted(_outdated(timeline, records), key=lambda history: -len(history.snapshots))  # the longest first
    tasks = (_task_for(build, history) for history in outdated)
    failures: list[Problem] = []
    to_write: list[PagesTask] = []
    measured: set[Window] = set()
    commit_effects: dict[str, EncodedEffects] = {}
    lost_contents: list[str] = []
    for task, done in build.pool.map(score_eval, tasks):
        eval_id = task.info.id
        build.step(len(task.history.snapshots))
        before = records.pop(eval_id, None)
        if isinstance(done, Problem):
            failures.append(done)
            write_failed(build, owner(eval_id), (links.eval_trend(eval_id),), done)
            continue
        memo.put_rows(done.cached)
        lost_contents += done.lost_contents
        commit_effects[eval_id] = done.commit_effects
        measured |= {*(before.summary.windows if before else ())} ^ {*done.record.summary.windows}
        records[eval_id] = EVAL_RECORDS.keep(memo, eval_id, done.record)
        of_eval = asdict(replace(task, history=done.history, cached=()))
        summary, mutes = done.record.summary, timeline.config.regressions.mute
        muted = [step.status == "open" and ListedStep(summary, step).mute_in(mutes) for step in summary.steps]
        steps = (replace(at, status="muted") if quiet else at for at, quiet in zip(summary.steps, muted, strict=True))
        shown = replace(done.record, summary=replace(summary, steps=tuple(steps)))
        to_write.append(PagesTask(**of_eval, record=shown, pages=()))
    evals = Evals(
        build=build,
        records={eval_id: records[eval_id] for eval_id in sorted(records)},
        failures=tuple(sorted(failures, key=lambda problem: problem.eval_id or "")),
        lost_contents=tuple(lost_contents),
        commit_effects=commit_effects,
        measured=frozenset(window.edit for window in measured if not window.is_shared),
    )
    to_write.sort(key=lambda task: task.info.id)
    to_write.sort(key=lambda task: [at.commit.position for at in task.history.snapshots[-1:]], reverse=True)
    return evals, tuple(to_write)


def _task_for(build: Build, history: EvalHistory) -> EvalTask:
    timeline, info = build.timeline, build.timeline.info(history)
    folders = timeline.layout.folders(history.id)
    former = (posixpath.join(posixpath.dirname(folders[0]), name) for name in reversed(history.renamed_from))
    task = EvalTask(
        context=timeline.context_for(history.id),
        info=info,
        history=history,
        edits=timeline.driving_edits(history.id),
        moved=last_paths_of_edits(timeline.drivers(history.id)),
        first_new=timeline.changed.get(history.id, len(history.snapshots)),
        cached=(),
        source_folders=tuple(dict.fromkeys((*folders, *former))) if info.source else (),
        notes=timeline.notes.get(history.id, b""),
        baselines=timeline.baselines_of(history),
    )
    return replace(task, cached=tuple(_cached_rows(task, build.memo, range(len(history.snapshots))[-1:])))


def _cached_rows(task: EvalTask, memo: Memo, reports: Iterable[int]) -> Iterator[CachedRow]:
    """Yield what the memo has of an eval: the scorecards that its pages may need, and the results of some reports."""
    history, key_of = task.history, key_of_scorecards(task.history.kind, task.context)
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
    yield from memo.rows(CONFIGURATION.name, [key_of_mapping(at, task.context) for at in history.snapshots[-1:]])
    for kind in (CELLS, EVAL_RECORDS):
        yield from memo.rows(kind.name, [history.id])
    if model_of(history.kind):
        yield from memo.rows_within(VECTORS.name, history.id)


def write_evals(tasks: Iterable[PagesTask], build: Build) -> tuple[tuple[PagesTask, ...], tuple[Problem, ...]]:
    """Write the pages of the scored evals, except older reports that are out of date, or with their tasks these.

    Returns the tasks of the older reports, the newest first, and a problem for each eval or report that failed.
    """
    older: list[PagesTask] = []
    failures: list[Problem] = []
    for task, done in build.pool.map(write_pages, (_with_rows(task, build) for task in tasks)):
        build.step(len(task.reports) or 1)
        eval_id, snapshots = task.info.id, task.history.snapshots
        if isinstance(done, Problem):
            failures.append(done)
            reports = [links.report(eval_id, snapshots[index].slug) for index in task.reports]
            write_failed(build, owner(eval_id), reports or addresses(task.record), done)
            continue
        failures += done.failures
        build.memo.put_rows(done.cached)
        build.files.record(owner(eval_id), done.files)
        if done.pictures and (record := EVAL_RECORDS.get(build.memo, eval_id)):
            EVAL_RECORDS.keep(build.memo, eval_id, replace(record, pictures={**record.pictures, **done.pictures}))
        left = done.older_reports
        older += (
            replace(task, cached=(), pages=(), reports=left[at : at + AT_ONCE]) for at in range(0, len(left), AT_ONCE)
        )
    older.sort(key=lambda task: -task.history.snapshots[task.reports[0]].commit.position)
    return tuple(older), tuple(failures)


def addresses(record: EvalRecord) -> Iterator[str]:
    """Yield the paths of the pages of an eval to which other pages lead."""
    summary = record.summary
    eval_id = summary.info.id
    yield links.eval_trend(eval_id)
    for at in reversed(summary.headlines):
        yield links.report(eval_id, at.slug)
    if summary.is_compared:
        yield links.compare(eval_id)
    for attribute in record.attributes:
        yield links.field(eval_id, attribute)
    for name in record.cases:
        yield links.case(eval_id, name)


def _with_rows(task: PagesTask, build: Build) -> PagesTask:
    """Add what the memo has of the eval and of its pages, shortly before the task runs."""
    reports = task.reports or range(len(task.history.snapshots))[-1:]
    pages = () if task.reports else build.files.present_files(owner(task.info.id))
    return replace(task, cached=tuple(_cached_rows(task, build.memo, reports)), pages=pages)


def write_failed(build: Build, owner: str, paths: Iterable[str], problem: Problem) -> None:
    """Write pages of an owner that say why it failed, because other pages lead to them."""
    writer, renderer = build.files.writer(owner), build.timeline.context.renderer()
    for path in paths:
        writer.write(path, renderer.render(failed_page(path, problem)))
    build.files.record(owner, writer.files)


def _outdated(timeline: Timeline, records: Mapping[str, EvalRecord]) -> Iterator[EvalHistory]:
    """Yield evals with new points, with other notes, or whose output may be stale since, or is no longer."""
    edited = {file.path for file in timeline.edited}
    for history in timeline.evals:
        record = records.get(history.id)
        is_noted = record and record.notes != digest(timeline.notes.get(history.id, b""))
        drivers = timeline.drivers(history.id) if edited and record and record.summary.headlines else ()
        is_edited = any(file.path in edited for file in drivers)
        if is_edited and record and record.summary.stale:  # it stays as it is, unless the edits were taken back
            is_edited = not OutputEdits(history.snapshots, timeline.driving_edits(history.id)).stale[-1]
        if history.id in timeline.changed or is_noted or is_edited:
            yield history
