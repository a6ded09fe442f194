"""The scorecards of an eval, whichever mixture of outputs, ground truth and rules they are of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

from sitegen.analysis.attribution import mixtures, under_rules_of
from sitegen.analysis.series import pack, scorecard_key, unpack
from sitegen.model.kinds import traits_of
from sitegen.model.metrics import MetricSpec
from sitegen.model.scorecards import Scorecard
from sitegen.model.timeline import Blob, EvalHistory, Snapshot
from sitegen.render.writer import digest
from sitegen.scoring.judged.formats import installed_for
from sitegen.scoring.kinds import in_order_of, scorer
from sitegen.scoring.own import versions
from sitegen.stages.commit_effects import mixtures_of_commits as crossed_by_commits
from sitegen.stages.scoring import results
from sitegen.stages.vectors import EvalEmbedder, model_of
from sitegen.stages.worker_context import Workshop


def under_newest_rules(history: EvalHistory) -> Iterator[Snapshot]:
    """Each snapshot under the ground truth and the rules of the newest one: what the second clock scores."""
    return (under_rules_of(snapshot, history.snapshots[-1]) for snapshot in history.snapshots)


def runs_of(snapshot: Snapshot) -> list[Snapshot]:
    """The repeated runs of an iteration, each in the place of its output; a run is a folder."""
    folders: dict[str, list[Blob]] = {}
    for blob in snapshot.runs:
        folders.setdefault(blob.path.rpartition("/")[0], []).append(blob)
    return [snapshot._replace(outputs=tuple(blobs), runs=(), usage=None) for blobs in folders.values()]


def wanted_keys(history: EvalHistory, redact: tuple[str, ...]) -> list[str]:
    """The memo's keys of every scorecard that the pages of an eval may need."""
    key = KeyOf(history.kind, redact)
    crossed = (mixture for before, after in pairwise(history.snapshots) for mixture in mixtures(before, after))
    runs = (run for snapshot in history.snapshots for run in runs_of(snapshot))
    every = (*history.snapshots, *under_newest_rules(history), *crossed, *crossed_by_commits(history.snapshots), *runs)
    return list(dict.fromkeys(map(key, every)))


class KeyOf:
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
            if own := versions(snapshot.settings):
                model = f"{model} {own}"
            key = scorecard_key(self._kind, self._version, snapshot, model)
            self._known[decisive] = digest(key, *self._redact) if self._redact else key
        return self._known[decisive]


class Cards:
    """Those that the memo knows, and those that are scored now."""

    def __init__(
        self, shop: Workshop, kind: str, vectors: EvalEmbedder | None, known: Iterable[tuple[str, bytes]]
    ) -> None:
        self._shop = shop
        self._scorer = scorer(kind)
        self._vectors = vectors
        self._bodies = dict(known)
        self._cards: dict[str, Scorecard] = {}
        self._new: dict[str, bytes] = {}
        self._specs: tuple[MetricSpec, ...] = ()
        self.key = KeyOf(kind, shop.redact)

    def __contains__(self, snapshot: Snapshot) -> bool:
        return self._find(self.key(snapshot)) is not None

    def __getitem__(self, snapshot: Snapshot) -> Scorecard:
        """One that is known, or was put here."""
        card = self._find(self.key(snapshot))
        if card is None:
            raise KeyError(snapshot)
        return in_order_of(self._specs, card) if self._specs else card

    def order_by(self, specs: tuple[MetricSpec, ...]) -> None:
        """Give all of them with the metrics of the series from now on, in their order."""
        self._specs = specs

    def put(self, snapshot: Snapshot, card: Scorecard) -> None:
        """One that was scored."""
        if snapshot not in self:
            key = self.key(snapshot)
            self._cards[key] = card
            self._new[key] = pack(card)

    def fill(self, snapshots: Iterable[Snapshot]) -> None:
        """Score those that are not known, and keep nothing but their scorecards."""
        missing = list({self.key(snapshot): snapshot for snapshot in snapshots if snapshot not in self}.values())
        for snapshot, result in zip(missing, results(self._shop, self._scorer, missing, self._vectors), strict=True):
            self.put(snapshot, result.scorecard)

    @property
    def new(self) -> tuple[tuple[str, bytes], ...]:
        """(key, body) of those that the memo did not know."""
        return tuple(self._new.items())

    def _find(self, key: str) -> Scorecard | None:
        card = self._cards.get(key)
        if card is None and (body := self._bodies.pop(key, None)) is not None:
            card = unpack(body)
            if card is not None:
                self._cards[key] = card
        return card
