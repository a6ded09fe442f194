"""Second stage: every eval that the new commits touched, scored and written, side by side."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from typing import NamedTuple

from sitegen.analysis.memo import Memo, stored
from sitegen.history.state import decode, encode
from sitegen.model.problems import Problem
from sitegen.model.series import EvalSummary
from sitegen.model.timeline import EvalHistory
from sitegen.stages.cards import wanted_keys
from sitegen.stages.eval_task import EvalTask, owner, write_eval
from sitegen.stages.ledger import Ledger
from sitegen.stages.timeline import Timeline, driving_edits
from sitegen.stages.vectors import forget_vectors, keep_vectors, known_vectors

SUMMARY = "summary"
CELLS = "cells"


class Evals(NamedTuple):
    """What is known of every eval after scoring."""

    summaries: tuple[EvalSummary, ...]
    """Of all evals, by id."""
    attributes: tuple[tuple[str, tuple[str, ...]], ...]
    """(eval id, fields of its newest point)."""
    problems: tuple[Problem, ...]
    """Of all evals, by id."""


class _Kept(NamedTuple):
    """What the memo keeps of an eval between builds."""

    summary: EvalSummary
    attributes: tuple[str, ...]
    problems: tuple[Problem, ...]


def write_evals(timeline: Timeline, memo: Memo, ledger: Ledger, pool: Executor, step: Callable[[int], None]) -> Evals:
    """Score and write the touched evals; what the others are, the memo knows."""
    updates = sorted(timeline.update.evals, key=lambda update: -len(update.history.snapshots))
    tasks = [_task(timeline, memo, ledger, update.history) for update in updates]
    for task, done in zip(tasks, pool.map(write_eval, tasks), strict=True):
        step(len(task.history.snapshots))
        memo.keep_scorecards(done.scorecards)
        keep_vectors(memo, done.summary.info.id, done.vectors)
        if done.cells is not None:
            memo.put(CELLS, done.summary.info.id, done.cells)
        memo.put(SUMMARY, done.summary.info.id, encode(_Kept(done.summary, done.attributes, done.problems)))
        ledger.record(owner(done.summary.info.id), done.rows, done.written, done.kept)
    if timeline.update.complete:
        alive = {stored(update.history.id) for update in updates}
        for eval_id in memo.keys(SUMMARY):
            if eval_id not in alive:
                memo.delete(SUMMARY, eval_id)
                memo.delete(CELLS, eval_id)
                forget_vectors(memo, eval_id)
    kept = [decode(body, _Kept) for _, body in memo.all(SUMMARY)]
    return Evals(
        summaries=tuple(one.summary for one in kept),
        attributes=tuple((one.summary.info.id, one.attributes) for one in kept),
        problems=tuple(problem for one in kept for problem in one.problems),
    )


def _task(timeline: Timeline, memo: Memo, ledger: Ledger, history: EvalHistory) -> EvalTask:
    return EvalTask(
        workshop=timeline.shop,
        info=timeline.info(history),
        history=history,
        edits=driving_edits(timeline, history.id),
        scorecards=tuple(memo.scorecards(wanted_keys(history)).items()),
        pages=ledger.known(owner(history.id)),
        vectors=known_vectors(memo, history.id, history.kind),
        cells=memo.get(CELLS, history.id),
    )
