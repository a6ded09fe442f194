"""The scorecards of an eval, whichever mixture of outputs, ground truth and rules they are of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, islice, pairwise

from sitegen.analysis.cached import CacheStore
from sitegen.analysis.deltas import mixtures, under_rules_of
from sitegen.analysis.edits import edits_of_outputs
from sitegen.analysis.series import Derived, SeriesInputs, points, scorecard_key
from sitegen.model.cells import CellMap
from sitegen.model.kinds import traits_of
from sitegen.model.metrics import MetricSpec
from sitegen.model.scorecards import Result, Scorecard
from sitegen.model.series import EvalInfo, Series
from sitegen.model.timeline import Blob, Edit, EvalHistory, Snapshot
from sitegen.render.writer import digest
from sitegen.scoring.judged.formats import installed_for
from sitegen.scoring.kinds import in_order_of, scorer, series_specs
from sitegen.scoring.own import own_versions
from sitegen.scoring.usage import specs_with_usage
from sitegen.stages.cached_kinds import CELLS, SCORECARDS
from sitegen.stages.commit_effects import mixtures_of_commits
from sitegen.stages.scoring import embedder_for, model_of, results
from sitegen.stages.worker_context import WorkerContext


def under_newest_rules(history: EvalHistory) -> Iterator[Snapshot]:
    """Each snapshot under the ground truth and the rules of the newest one: what the second clock scores."""
    return (under_rules_of(snapshot, history.snapshots[-1]) for snapshot in history.snapshots)


def runs_of(snapshot: Snapshot) -> list[Snapshot]:
    """The repeated runs of an iteration, each in the place of its output; a run is a folder."""
    folders: dict[str, list[Blob]] = {}
    for blob in snapshot.runs:
        folders.setdefault(blob.path.rpartition("/")[0], []).append(blob)
    return [snapshot._replace(outputs=tuple(blobs), runs=(), usage=None) for blobs in folders.values()]


def snapshots_of_series(history: EvalHistory) -> Iterator[Snapshot]:
    """Whatever has to be scored for the points of an eval and their deltas."""
    yield from history.snapshots
    yield from under_newest_rules(history)
    for before, after in pairwise(history.snapshots):
        yield from mixtures(before, after)


def wanted_keys(history: EvalHistory, redact: tuple[str, ...]) -> list[str]:
    """The memo's keys of every scorecard that the pages of an eval may need."""
    runs = (run for snapshot in history.snapshots for run in runs_of(snapshot))
    every_snapshot = (*snapshots_of_series(history), *mixtures_of_commits(history.snapshots), *runs)
    return list(dict.fromkeys(map(ScorecardKeys(history.kind, redact), every_snapshot)))


class ScorecardKeys:
    """The memo's key of what a snapshot of some kind is scored from; made once for the same."""

    def __init__(self, kind: str, redact: tuple[str, ...] = ()) -> None:
        """``redact``: globs of what is hidden. What was kept while more was shown is not found again."""
        self._kind = kind
        self._redact = redact
        self._version = scorer(kind).version
        self._model = model_of(kind)
        self._reads_archives = traits_of(kind).reads_archives
        self._known: dict[tuple[object, ...], str] = {}

    def __call__(self, snapshot: Snapshot) -> str:
        """The digest of everything that decides its scorecard."""
        rules = (snapshot.ground_truth, snapshot.mapping, snapshot.schema, snapshot.settings)
        decisive = (snapshot.outputs, snapshot.usage, *rules)
        if decisive not in self._known:
            model = installed_for(blob.path for blob in snapshot.outputs) if self._reads_archives else self._model
            if own := own_versions(snapshot.settings):
                model = f"{model} {own}"
            key = scorecard_key(self._kind, self._version, snapshot, model)
            self._known[decisive] = digest(key, *self._redact) if self._redact else key
        return self._known[decisive]


class EvalScorecards:
    """The scorecards of one eval, known to the memo or scored now, and the points that are made of them."""

    def __init__(self, context: WorkerContext, history: EvalHistory, store: CacheStore) -> None:
        """``store``: the memo, or what a process was handed of it. What is scored goes there."""
        self._context = context
        self._history = history
        self._store = store
        self._cards: dict[str, Scorecard] = {}
        self._specs: tuple[MetricSpec, ...] = ()
        self.scorer = scorer(history.kind)
        self.key = ScorecardKeys(history.kind, context.redact)
        self.embedder = embedder_for(history.kind, history.id, store)

    def __contains__(self, snapshot: Snapshot) -> bool:
        return self._find(self.key(snapshot)) is not None

    def __getitem__(self, snapshot: Snapshot) -> Scorecard:
        """One that is known or was scored, its metrics in the order of the series once ``series_specs`` was asked."""
        card = self._find(self.key(snapshot))
        if card is None:
            raise KeyError(snapshot)
        return in_order_of(self._specs, card) if self._specs else card

    def results(self, snapshots: Sequence[Snapshot]) -> Iterator[Result]:
        """Score snapshots, known or not, with every judgement: the memo holds none of these."""
        scored = results(self._context, self.scorer, snapshots, self.embedder)
        for snapshot, result in zip(snapshots, scored, strict=True):
            if snapshot not in self:
                key = self.key(snapshot)
                self._cards[key] = SCORECARDS.keep(self._store, key, result.scorecard)
            yield result

    def fill(self, snapshots: Iterable[Snapshot]) -> None:
        """Score those that are not known, and keep nothing but their scorecards."""
        missing = list({self.key(snapshot): snapshot for snapshot in snapshots if snapshot not in self}.values())
        for _ in self.results(missing):
            pass

    def series_specs(self) -> tuple[MetricSpec, ...]:
        """The metrics of the series but for those of usage, the headline first.

        Where the kind has none of its own, all outputs are scored first: what they state says which there are.
        """
        if not self._specs:
            snapshots = self._history.snapshots
            if not self.scorer.metrics:
                self.fill(snapshots)
            settings = (snapshot.settings for snapshot in snapshots)
            self._specs = series_specs(self.scorer, settings, map(self.__getitem__, snapshots))
        return self._specs

    def series_inputs(self, edits: Sequence[Edit]) -> SeriesInputs:
        """What the points are made from. ``edits``: of the instructions that drive the eval, by commit."""
        output_edits = edits_of_outputs(self._history.snapshots, edits)
        return SeriesInputs(output_edits, self.scorer.metrics_for, self._history.kind)

    def series(self, info: EvalInfo, inputs: SeriesInputs, cells: CellMap, known: Sequence[Derived] = ()) -> Series:
        """All points of the eval, by both clocks; what they and their deltas need is scored first.

        ``cells``: followed through all points. ``known``: what was computed of the first points before.
        """
        specs = self.series_specs()
        snapshots = self._history.snapshots
        self.fill((*snapshots, *under_newest_rules(self._history)))
        new_pairs = pairwise(snapshots[max(0, len(known) - 1) :])
        self.fill(mixture for before, after in new_pairs for mixture in mixtures(before, after))
        every_point = points(inputs, self.__getitem__, cells, known)
        with_usage = specs_with_usage(specs, (point.scorecard for point in every_point))
        return Series(info=info, history=self._history, specs=with_usage, points=every_point, cells=cells)

    def _find(self, key: str) -> Scorecard | None:
        card = self._cards.get(key)
        if card is None and (card := SCORECARDS.get(self._store, key)) is not None:
            self._cards[key] = card
        return card


def known_cells(store: CacheStore, eval_id: str, card_keys: Sequence[str]) -> CellMap | None:
    """The cells of an eval after as many of its first points as they were followed through. ``card_keys``: of all."""
    return CELLS.get(store, eval_id, tuple(_digests_of_beginnings(card_keys)))


def keep_cells(store: CacheStore, eval_id: str, card_keys: Sequence[str], cells: CellMap) -> None:
    """Keep the cells of an eval, as they are after ``cells.points`` of its points."""
    inputs = next(islice(_digests_of_beginnings(card_keys), cells.points - 1, None))
    CELLS.keep(store, eval_id, cells, inputs)


def _digests_of_beginnings(keys: Sequence[str]) -> Iterator[str]:
    """Of the first of these, of the first two, and so on."""
    return islice(accumulate(keys, digest, initial=""), 1, None)
