"""Computes and caches the scorecards of an eval, for any mixture of outputs, ground truth and rules.

Snapshots are scored one after the other. Their blobs come from one stream, and few are held at a time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, islice, pairwise, repeat
from typing import Any, Final, Self

from msgspec.structs import replace

from sitegen.analysis.cells import CellTracker
from sitegen.analysis.change import points
from sitegen.analysis.deltas import as_asked, mixtures
from sitegen.analysis.edits import OutputEdits
from sitegen.analysis.series import first_points_with_output, output_of_each
from sitegen.config.findings import ANSWERED_IN
from sitegen.data_files.reading import installed_for
from sitegen.engine.cached_kinds import (
    CELLS,
    CONFIGURATION,
    RESULTS,
    SCORECARDS,
    VECTORS,
    CacheStore,
    Configuration,
    encoded_result,
    result_decoder,
)
from sitegen.engine.failures import working_on
from sitegen.engine.memo import within
from sitegen.engine.worker_context import WorkerContext
from sitegen.engine.writer import digest, digest_of_inputs
from sitegen.errors import POINTER, MissingObjectsError
from sitegen.history.layout import DEFAULT_SETTINGS
from sitegen.history.repository import MISSING
from sitegen.importers.case import document_of
from sitegen.model.commits import WORKTREE
from sitegen.model.metrics import MetricSpec, traits_of
from sitegen.model.outcomes import CellMap
from sitegen.model.scorecards import ANSWERERS, DocumentScore, Result, Scorecard
from sitegen.model.series import Derived, EvalInfo, Series
from sitegen.model.timeline import Blob, EvalHistory, Snapshot
from sitegen.scoring.answerers import names_in_series
from sitegen.scoring.kinds import (
    Embedder,
    File,
    ScoringInputs,
    in_order_of,
    installed_versions,
    nouns_of,
    scored_with_own_metrics,
    scorer,
    series_specs,
)
from sitegen.scoring.mapping import read_mapping
from sitegen.scoring.mapping_use import mapped_columns
from sitegen.scoring.redaction import redaction
from sitegen.scoring.usage import specs_with_usage, with_stated
from sitegen.text.embedding import embed, installed

_HELD: Final = 4  # number of snapshots after one for which its contents are held, if they need them too
_MANY: Final = 1_000  # number of documents beyond which those of a scorecard share equal numbers
_OF_LFS: Final = "not fetched "
_LOST: Final = {"not here ": MISSING, _OF_LFS: POINTER}
"""Prefixes of the blob id of a file whose content this clone lacks, and why: its scorecard needs a different key."""


def without_lost_contents(context: WorkerContext, history: EvalHistory) -> tuple[EvalHistory, tuple[str, ...]]:
    """Mark the outputs that this clone lacks, and all files whose contents are in Git LFS and were not fetched.

    Returns the history with these marks, by which scoring takes them as unreadable, and why each of these contents is
    missing; the history itself if it lacks nothing.
    """
    outputs = {blob.oid for snapshot in history.snapshots for blob in (*snapshot.outputs, *snapshot.runs)}
    oids = sorted(outputs | {blob.oid for snapshot in history.snapshots for blob in snapshot.scored})
    marks = {reason: mark for mark, reason in _LOST.items()}
    lost = {
        read.oid: read.reason
        for read in context.open().read_blobs(oids)
        if read.reason == POINTER or (read.reason == MISSING and read.oid in outputs)
    }

    def marked(blob: Blob | None) -> Blob | None:
        return blob._replace(oid=marks[lost[blob.oid]] + blob.oid) if blob and blob.oid in lost else blob

    snapshots = tuple(
        replace(
            snapshot,
            outputs=tuple(filter(None, map(marked, snapshot.outputs))),
            runs=tuple(filter(None, map(marked, snapshot.runs))),
            ground_truth=marked(snapshot.ground_truth),
            mapping=marked(snapshot.mapping),
            schema=marked(snapshot.schema),
        )
        for snapshot in history.snapshots
    )
    return replace(history, snapshots=snapshots) if lost else history, tuple(lost.values())


def _why_lost(blob: Blob) -> str:
    """Why this clone lacks a content; empty if it has it."""
    return next((reason for mark, reason in _LOST.items() if blob.oid.startswith(mark)), "")


def all_inputs(context: WorkerContext, snapshots: Sequence[Snapshot]) -> Iterator[ScoringInputs]:
    """Yield the scoring inputs of each snapshot, in order, without the embedder.

    Blobs that a snapshot shares with one of the ``_HELD`` before it are read once, and only those are held: outputs
    are scored in turn by the ground truth and rules of their time and by the newest.
    """
    if not snapshots:
        return
    needed = [dict.fromkeys(snapshot.scored) for snapshot in snapshots]
    recent = (set(chain.from_iterable(needed[max(0, at - _HELD) : at])) for at in range(len(needed)))
    oids = [blob.oid for blobs, before in zip(needed, recent, strict=True) for blob in blobs if blob not in before]
    stream = context.open().read_blobs([oid.removeprefix(_OF_LFS) for oid in oids])  # which may be a folder
    held: dict[Blob, File] = {}
    for at, (snapshot, blobs) in enumerate(zip(snapshots, needed, strict=True)):
        held |= {
            blob: File(path=blob.path, content=read.content, reason=reason, fix=fix or "")
            for blob, read in zip([each for each in blobs if each not in held], stream, strict=False)
            for reason in [_why_lost(blob) or read.reason]
            for fix in [MissingObjectsError(in_lfs=reason == POINTER).fix if reason in _LOST.values() else read.fix]
        }
        made = [ScoringInputs.of(snapshot, held)]
        later = set(chain.from_iterable(needed[at + 1 : at + 1 + _HELD]))
        held = {blob: file for blob, file in held.items() if blob in later}
        yield made.pop()  # so that only the caller holds it


def model_of(kind: str) -> str:
    """Return the name of the embedding model of a kind; empty if it needs none, or none is installed."""
    return installed() if traits_of(kind).answers_cases else ""


def embedder_for(kind: str, eval_id: str, store: CacheStore) -> Embedder | None:
    """Return the embedder for an eval of a kind, which caches vectors; None without a model."""
    if not model_of(kind):
        return None

    def vectors_of(texts: Sequence[str], /) -> Sequence[Sequence[float]]:
        from array import array  # few evals embed texts

        model = installed()
        both = (f"{model}\0{text}".encode("utf-8", "surrogatepass") for text in texts)  # a vector depends on both
        keys = [within(eval_id, hashlib.sha256(each).hexdigest()) for each in both]
        vectors = {key: VECTORS.get(store, key) for key in dict.fromkeys(keys)}
        unknown = {key: text for key, text in zip(keys, texts, strict=True) if vectors[key] is None}
        for key, vector in zip(unknown, embed(tuple(unknown.values())), strict=True):
            vectors[key] = VECTORS.keep(store, key, array("f", vector).tobytes())
        return [array("f", vectors[key] or b"") for key in keys]

    return vectors_of


def under_newest_rules(history: EvalHistory) -> Iterator[Snapshot]:
    """Yield each snapshot of other ground truth or rules than the newest snapshot, under those of the newest."""
    for snapshot in history.snapshots:
        newest = snapshot.under_rules_of(history.snapshots[-1])
        if newest is not snapshot:
            yield newest


def snapshots_of_pages(history: EvalHistory) -> Iterator[Snapshot]:
    """Yield all snapshots and mixtures whose scorecards the pages of an eval may need."""
    yield from history.snapshots
    yield from under_newest_rules(history)
    for before, after in pairwise(history.snapshots):
        yield from mixtures(before, after)
    yield from (run for snapshot in history.snapshots for run in snapshot.repeated_runs)


def key_of_scorecards(kind: str, context: WorkerContext | None = None) -> Callable[[Snapshot], str]:
    """Return what computes the memo's key of the scorecard of a snapshot, once for equal inputs.

    ``context``: the globs of hidden values, because a scorecard can quote values, and the size of the largest file
    that is read.

    Folders are not included, so that renames and reverts cost nothing. The extension of a file is, because it decides
    how the file is read, and so are the names of several output files, which distinguish the documents, and whole paths
    that name who answered, or cases.
    """
    model = model_of(kind)
    keys: dict[tuple[object, ...], str] = {}

    def key_of(snapshot: Snapshot) -> str:
        rules = (snapshot.ground_truth, snapshot.mapping, snapshot.schema)
        decisive = (snapshot.outputs, snapshot.usage, *rules, snapshot.settings)
        if (remembered := keys.get(decisive)) is not None:
            return remembered
        several = len(snapshot.outputs) > 1
        by_path = ANSWERED_IN in snapshot.settings or (several and traits_of(kind).has_cases)
        key = keys[decisive] = digest_of_inputs(
            "output",
            "scorecard",
            kind=kind,
            metrics_of_packages=installed_versions(snapshot.settings),
            packages=installed_for(blob.path for blob in snapshot.outputs) if traits_of(kind).names_scores else model,
            redact=context.redact if context else (),
            largest_file=str(context.limits.max_blob_bytes) if context else "",  # it may be beyond 64 bits
            outputs=[*snapshot.outputs]
            if by_path
            else [_name_and_id(blob, whole=several) for blob in snapshot.outputs],
            rules=[blob and _name_and_id(blob, whole=False) for blob in rules],
            settings=snapshot.settings,
            usage=snapshot.usage,
        )
        return key

    return key_of


def key_of_mapping(snapshot: Snapshot, context: WorkerContext) -> str:
    """Return the memo's key of the field mapping and the settings of a snapshot as they were read."""
    return digest_of_inputs(
        "output",
        "rules as read",
        largest_file=str(context.limits.max_blob_bytes),
        mapping=snapshot.mapping and snapshot.mapping.oid,
        settings=snapshot.settings,
    )


def _name_and_id(blob: Blob, *, whole: bool) -> tuple[str, str]:
    """Return the extension of a file, or its ``whole`` name, and its blob id."""
    name = blob.path.rpartition("/")[2]
    return name if whole else name.rpartition(".")[2].lower(), blob.oid


class EvalScorecards:
    """The scorecards of one eval, from the memo or scored now, and the points that are computed from them."""

    def __init__(self, context: WorkerContext, history: EvalHistory, store: CacheStore) -> None:
        """``store``: the memo, or the part of it that was sent to this process. Receives new scorecards."""
        self._context = context
        self._history = history
        self._store = store
        self._cards: dict[str, Scorecard] = {}
        self._decoded = result_decoder()
        self._specs: tuple[MetricSpec, ...] = ()
        self._named: dict[str, Scorecard] = {}
        self._who: dict[object, Mapping[tuple[str, ...], str]] = {}
        self._rules_read = set[tuple[Blob | None, str]]()
        self.not_fetched = set[str]()
        """The keys of scorecards that were made without a content that is in Git LFS, and are therefore not kept."""
        self.scorer = scorer(history.kind)
        self.key = key_of_scorecards(history.kind, context)
        self.embedder = embedder_for(history.kind, history.id, store)

    def __contains__(self, snapshot: Snapshot) -> bool:
        return self._find(self.key(snapshot)) is not None

    def __getitem__(self, snapshot: Snapshot) -> Scorecard:
        """Return a scorecard, scored now if need be; after ``series_specs``, with its metrics in that order."""
        key, _ = self.shown(snapshot)
        if key not in self._named:
            card = self.filled([snapshot])._find(self.key(snapshot))
            assert card is not None
            self._named[key] = self.named(snapshot, Result(card, ())).scorecard
        return in_order_of(self._specs, self._named[key]) if self._specs else self._named[key]

    def shown(self, snapshot: Snapshot) -> tuple[str, Mapping[tuple[str, ...], str]]:
        """Return a digest of the scorecard of a snapshot with the names of its answers, and how these say who answered.

        All outputs of the series decide (``names_in_series``), so that they are scored first. A mixture of two
        snapshots has the names of its output, a repeated run those of its iteration.
        """
        key, every = self.key(snapshot), self._history.snapshots
        if traits_of(self.scorer.kind).has_cases and not self._who:
            self.filled(every, whole=True)  # because the report of each is drawn
            cards = [card for at in every if (card := self._find(self.key(at)))]
            for at, who in zip(every, names_in_series(cards), strict=True):
                self._who |= dict.fromkeys((at.slug, at.outputs, (at.slug, at.outputs)), who)
        places = ((snapshot.slug, snapshot.outputs), snapshot.outputs, snapshot.slug)
        own = next((self._who[place] for place in places if place in self._who), {})
        return digest(key, repr(sorted(own.items()))) if own else key, own

    def named(self, snapshot: Snapshot, result: Result) -> Result:
        """Return the result of a snapshot with the names that its answers have in the series."""
        card, (_, who) = result.scorecard, self.shown(snapshot)
        by = ((each, tuple(each.axes.get(axis, "") for axis in ANSWERERS)) for each in (card.documents if who else ()))
        names = {each.name: document_of(each.case, who[of]) if of in who else each.name for each, of in by}
        if all(name == new for name, new in names.items()):
            return result
        documents = [replace(each, name=names[each.name], of_case=each.case) for each in card.documents]
        judgements = [replace(each, document=names[each.document]) for each in result.judgements]
        cases = []
        for case in result.cases:
            own = [(each, who.get((each.variant, each.model))) for each in case.answers]
            answers = [each if of is None else replace(each, document=document_of(case.id, of)) for each, of in own]
            cases.append(replace(case, answers=tuple(answers)))
        card = replace(card, documents=tuple(documents))
        return replace(result, scorecard=card, judgements=tuple(judgements), cases=tuple(cases))

    def results(
        self, snapshots: Iterable[Snapshot], beside: Iterable[Iterable[Snapshot]] | None = None
    ) -> Iterator[Result]:
        """Yield whole results, in order. Those that are not kept are scored, and kept with their scorecards.

        ``beside``: for each of them, mixtures to score before it if their scorecards are missing, while its output or
        the one before it is at hand.
        """
        plan: list[tuple[Snapshot, bool, bool]] = []  # whether the caller asks for it, and whether it is scored
        keys: set[str] = set()  # of these: iterations that differ in their rules alone are one under the newest rules
        for snapshot, others in zip(snapshots, beside or repeat(()), strict=False):
            keys.add(self.key(snapshot))
            for mixture in others:
                if (key := self.key(mixture)) not in keys and mixture not in self:
                    keys.add(key)
                    plan.append((mixture, False, True))
            plan.append((snapshot, True, RESULTS.get(self._store, self.key(snapshot)) is None or snapshot not in self))
        scored = self._scored([snapshot for snapshot, _, is_scored in plan if is_scored])
        for snapshot, is_asked, is_scored in plan:
            if is_scored:
                result = next(scored)
                self._keep(snapshot, result, whole=is_asked)
            else:
                key = self.key(snapshot)
                content = RESULTS.get(self._store, key)
                card = self._find(key)
                assert content is not None
                assert card is not None
                result = self._decoded(content, card)
            if is_asked:
                yield self.named(snapshot, result)

    def _scored(self, snapshots: Sequence[Snapshot]) -> Iterator[Result]:
        """Score each snapshot, in order. Hidden values are removed here, so that no later step can show them."""
        context, hidden = self._context, redaction(self._context.redact)
        all_files = self.inputs(snapshots)
        for snapshot in snapshots:
            with working_on(snapshot):
                made = [replace(next(all_files), embedder=self.embedder)]
                files = (*made[0].outputs, made[0].ground_truth, made[0].mapping, made[0].schema)
                blobs = (*snapshot.outputs, snapshot.ground_truth, snapshot.mapping, snapshot.schema)
                for file, blob in zip(files, blobs, strict=True):
                    if file is None or blob is None or _why_lost(blob) or file.reason not in _LOST.values():
                        continue
                    # The memo would never replace a scorecard that was made without the content.
                    if file.reason == MISSING or not context.answers_a_question:
                        raise MissingObjectsError(file.path, snapshot.commit.sha, in_lfs=file.reason == POINTER)
                    self.not_fetched.add(self.key(snapshot))
                del files, file  # the contents, which are held no longer than the scorer needs them
                scored = with_stated(scored_with_own_metrics(self.scorer, made.pop()), snapshot.usage)
            yield hidden.applied(scored) if hidden else scored

    def inputs(self, snapshots: Sequence[Snapshot]) -> Iterator[ScoringInputs]:
        """Yield what scores each snapshot, in order. A mapping that an earlier build read is not read again."""
        all_files = all_inputs(self._context, snapshots)
        for snapshot in snapshots:
            made = [next(all_files)]
            rules, mapping = (snapshot.mapping, snapshot.settings), made[0].mapping
            is_lost = mapping is not None and mapping.content is None
            if traits_of(self.scorer.kind).is_structured and rules not in self._rules_read and not is_lost:
                self._rules_read.add(rules)
                key = key_of_mapping(snapshot, self._context)
                kept = CONFIGURATION.get(self._store, key) or Configuration()
                read = read_mapping(mapping.content if mapping else None, snapshot.settings, kept.mapping)
                if kept.mapping is None:
                    CONFIGURATION.keep(self._store, key, Configuration(mapping=read))
            yield made.pop()  # so that only the caller holds it

    def _keep(self, snapshot: Snapshot, result: Result, *, whole: bool) -> None:
        """Keep a scorecard, if it is not known yet. ``whole``: keep the judgements as well."""
        key, card = self.key(snapshot), result.scorecard
        if key in self.not_fetched:
            self._cards[key] = card
            return
        if snapshot not in self:
            self._cards[key] = SCORECARDS.keep(self._store, key, card)
        if whole and (content := encoded_result(result)):
            RESULTS.keep(self._store, key, content)

    def result(self, snapshot: Snapshot) -> Result:
        """Return the whole result of one snapshot."""
        return next(self.results([snapshot]))

    def filled(self, snapshots: Iterable[Snapshot], *, whole: bool = False) -> Self:
        """Score the snapshots whose scorecards are missing. ``whole``: keep the judgements as well. Returns itself."""
        missing = list({self.key(snapshot): snapshot for snapshot in snapshots if snapshot not in self}.values())
        scored = self._scored(missing)
        for snapshot, result in zip(missing, scored, strict=True):
            self._keep(snapshot, result, whole=whole)
        return self

    @property
    def newest_inputs(self) -> ScoringInputs | None:
        """The scoring inputs of the newest point; None if no rule names fields."""
        structured = traits_of(self._history.kind).is_structured
        newest = [at for at in self._history.snapshots[-1:] if at.mapping or at.settings != DEFAULT_SETTINGS]
        return next(self.inputs(newest)) if structured and newest else None

    @property
    def mapped_columns(self) -> tuple[tuple[str, str], ...]:
        """The columns of the ground truth that the newest point's mapping names, each with the path of its field."""
        newest = self._history.snapshots[-1] if self._history.snapshots else None
        if newest is None or newest.ground_truth is None or not traits_of(self.scorer.kind).is_structured:
            return ()
        kept = CONFIGURATION.get(self._store, key_of_mapping(newest, self._context)) or Configuration()
        content = newest.mapping and not kept.mapping and self._context.open().read_blob(newest.mapping.oid).content
        mapping = kept.mapping or read_mapping(content or None, newest.settings, None)
        return mapped_columns(newest.ground_truth.path, mapping.value)

    def series_specs(self) -> tuple[MetricSpec, ...]:
        """Return the metrics of the series, the headline first, without metrics of usage.

        If the outputs decide which metrics there are, all of them are scored first.
        """
        if not self._specs:
            snapshots = self._history.snapshots
            if not self.scorer.metrics:
                self.filled(snapshots)
            settings = (snapshot.settings for snapshot in snapshots)
            self._specs = series_specs(self.scorer, settings, map(self.__getitem__, snapshots))
        return self._specs

    def series(self, info: EvalInfo, edits: OutputEdits, cells: CellMap, known: Sequence[Derived] = ()) -> Series:
        """Compute all points of the eval, under their own rules and the newest rules. Scores missing scorecards first.

        ``cells``: the cells, followed through all points. ``known``: the derived values of the first points.
        """
        specs, snapshots = self.series_specs(), self._history.snapshots
        self.filled((*snapshots, *under_newest_rules(self._history)))
        self.filled(run for snapshot in snapshots for run in snapshot.repeated_runs)
        new = pairwise(snapshots[max(0, len(known) - 1) :])
        self.filled(mixture for before, after in new for mixture in mixtures(before, after))
        every_point = points(edits, specs, self.__getitem__, cells, known)
        with_usage = specs_with_usage(specs, (point.scorecard for point in every_point))
        info = replace(info, nouns=nouns_of(info.kind, specs))
        return Series(info=info, history=self._history, specs=with_usage, points=every_point, cells=cells)

    def cells(self, also: Iterable[int] = ()) -> tuple[CellMap, Result | None]:
        """Return the cells: those that are kept, followed now through the other points; and the newest result.

        Points without a scorecard are scored, oldest first, each with what ``series`` needs beside it. The newest
        result is None if nothing needed it. ``also``: further points whose results are needed.
        """
        every, known, newest = self._history.snapshots, self.known_cells(), None
        outputs = output_of_each(first_points_with_output(every))
        tracker = CellTracker(known, outputs)
        unscored = [index for index, snapshot in enumerate(every) if snapshot not in self]
        needed = sorted({*unscored, *also, *range(tracker.points, len(every))})
        committed = sum(snapshot.commit.sha != WORKTREE for snapshot in every)
        # Of each the last point before it with another output.
        earlier = [next((i for i in reversed(range(at)) if outputs[i] != outputs[at]), at) for at in needed]
        plan = [(*every[i].judged_as(every[at]), every[at]) for i, at in zip(earlier, needed, strict=True)]
        others = ((*[()] * (len(asked) - 1), self._beside(at)) for at, asked in zip(needed, plan, strict=True))
        results = self.results(chain.from_iterable(plan), chain.from_iterable(others))
        cards = islice(as_asked(every, self.__getitem__), tracker.points, None)  # each once its result is there
        for at, before, asked in zip(needed, earlier, plan, strict=True):
            with working_on(every[at]):
                *rejudged, newest = islice(results, len(asked))
                if at == tracker.points:
                    of_earlier = dict(zip([before], rejudged, strict=False))
                    tracker.follow_result(replace(newest, scorecard=next(cards)), of_earlier)
                    if tracker.points == committed:
                        self.keep_cells(tracker.cells())
        is_newest = needed[-1:] == [len(every) - 1]
        return known if known and len(known.outputs) == len(every) else tracker.cells(), newest if is_newest else None

    def _beside(self, index: int) -> Iterator[Snapshot]:
        """Yield what to score beside a point: what its delta needs, and its output by the newest rules.

        Those with the output of the point before come first.
        """
        every, at = self._history.snapshots, self._history.snapshots[index]
        if index:
            yield from sorted(mixtures(every[index - 1], at), key=lambda mixed: mixed.outputs == at.outputs)
        yield at.under_rules_of(every[-1])

    def known_cells(self) -> CellMap | None:
        """Return the cached cells, followed through the first points."""
        return CELLS.get(self._store, self._history.id, self._digests_of_beginnings())

    def keep_cells(self, cells: CellMap) -> None:
        """Cache cells, followed through the first points, unless an output can be another one the next time."""
        points = len(cells.outputs)
        last = self._history.snapshots[points - 1]
        if last.commit.sha != WORKTREE and not self.not_fetched:
            inputs = next(islice(self._digests_of_beginnings(), points - 1, None))
            CELLS.keep(self._store, self._history.id, cells, inputs)

    def _digests_of_beginnings(self) -> Iterator[str]:
        """Yield the digest of the key of the first snapshot, of the keys of the first two, and so on."""
        return islice(accumulate((self.shown(at)[0] for at in self._history.snapshots), digest, initial=""), 1, None)

    def _find(self, key: str) -> Scorecard | None:
        card = self._cards.get(key)
        if card is None and (card := SCORECARDS.get(self._store, key)) is not None:
            if len(card.documents) > _MANY:
                card = replace(card, documents=tuple(_sharing(card.documents)))
            self._cards[key] = card
        return card


def _sharing(documents: Iterable[DocumentScore]) -> Iterator[DocumentScore]:
    """Yield documents of which those with equal numbers have one object for them, and those with equal axes as well."""
    known: dict[tuple[object, ...], Any] = {}
    for each in documents:
        yield replace(
            each,
            counts=known.setdefault(each.counts, each.counts),
            metrics=known.setdefault(each.metrics, each.metrics),
            axes=known.setdefault(("axes", *each.axes.items()), each.axes),  # no axes are no metrics
        )
