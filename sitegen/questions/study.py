"""The series of evals, for commands: history, scores and cells without any page."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import NamedTuple

from sitegen.analysis.attribution import mixtures
from sitegen.analysis.cells import CellTracker
from sitegen.analysis.memo import Memo
from sitegen.analysis.points import SeriesInputs, instructions_of, points
from sitegen.analysis.series import pack_cells, unpack_cells
from sitegen.analysis.windows import edits_of_outputs
from sitegen.errors import ConfigurationError
from sitegen.history.state import Copied
from sitegen.history.timeline import current
from sitegen.model.cells import CellMap
from sitegen.model.commits import WORKTREE
from sitegen.model.series import Series
from sitegen.model.timeline import EvalHistory
from sitegen.project import Options, open_project
from sitegen.scoring.kinds import scorer, series_specs
from sitegen.scoring.usage import specs_with_usage
from sitegen.stages.evals import CELLS
from sitegen.stages.scorecard_store import Cards, under_newest_rules, wanted_keys
from sitegen.stages.scoring import results
from sitegen.stages.timeline import Timeline, driving_edits, fold
from sitegen.stages.vectors import keep_vectors, known_vectors, vectors_of
from sitegen.stages.worker_context import Workshop


class Opened(NamedTuple):
    """A project whose series can be read, one after the other."""

    timeline: Timeline
    memo: Memo
    evals: tuple[EvalHistory, ...]
    """All of them, by id."""

    def history(self, eval_id: str) -> EvalHistory:
        """The history of an eval. Raises ConfigurationError if there is no such eval."""
        found = next((one for one in self.evals if one.id == eval_id), None)
        if found is None:
            known = ", ".join(one.id for one in self.evals)
            raise ConfigurationError(f"There is no eval {eval_id!r}.", fix=f"The evals of this project: {known}.")
        return found

    def series(self, history: EvalHistory) -> Series:
        """Score what the memo does not know, and follow every cell."""
        cards, cells = _scored(self.timeline.shop_for(history.id), self.memo, history)
        edits, by = driving_edits(self.timeline, history.id), scorer(history.kind)
        settings = (snapshot.settings for snapshot in history.snapshots)
        specs = series_specs(by, settings, map(cards.__getitem__, history.snapshots))
        cards.order_by(specs)
        made_with = [instructions_of(snapshot, edits) for snapshot in history.snapshots]
        speaks = edits_of_outputs(history.snapshots, edits, made_with)
        told = SeriesInputs(history.snapshots, edits, made_with, by.metrics_for, history.kind, speaks)
        every = points(told, cards.__getitem__, cells)
        specs = specs_with_usage(specs, (point.scorecard for point in every))
        return Series(self.timeline.info(history), history, specs, every, cells)


@contextmanager
def opened(options: Options) -> Iterator[Opened]:
    """Fold the history, and hold the memo while series are read.

    The fold is made on a copy, so that what the memo knows of a built site stays true.
    """
    project = open_project(options, "")
    with Memo.open(project.cache) as memo, memo.held(), memo.transaction():
        parts = Copied(memo)
        timeline = fold(project, parts)
        evals, _ = current(parts, timeline.config, timeline.manifest)
        yield Opened(timeline, memo, tuple(evals))


def read_series(options: Options, eval_id: str) -> Series:
    """The series of one eval. Raises ConfigurationError if there is no such eval."""
    with opened(options) as project:
        return project.series(project.history(eval_id))


def _scored(shop: Workshop, memo: Memo, history: EvalHistory) -> tuple[Cards, CellMap]:
    snapshots = history.snapshots
    vectors = vectors_of(history.kind, known_vectors(memo, history.id, history.kind))
    cards = Cards(shop, history.kind, vectors, memo.scorecards(wanted_keys(history, shop.redact)).items())
    keys = [cards.key(snapshot) for snapshot in snapshots]
    body = memo.get(CELLS, history.id)
    follower = CellTracker(unpack_cells(keys, body) if body else None)
    known = follower.points
    rest = snapshots[known:]
    for snapshot, result in zip(rest, results(shop, scorer(history.kind), rest, vectors), strict=True):
        cards.put(snapshot, result.scorecard)
        follower.follow(result.judgements)
    cards.fill((*snapshots, *under_newest_rules(history)))
    cards.fill(mixture for pair in pairwise(snapshots) for mixture in mixtures(*pair))
    cells = follower.cells()
    memo.keep_scorecards(cards.new)
    if follower.points > known and snapshots[-1].commit.sha != WORKTREE:
        memo.put(CELLS, history.id, pack_cells(keys, cells))
    if vectors:
        keep_vectors(memo, history.id, vectors.new)
    return cards, cells
