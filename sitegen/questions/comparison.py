"""What is compared: variants of the work tree, iterations, or revisions, each scored now."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise, repeat
from typing import NamedTuple, TypeAlias

from sitegen.analysis.attribution import mixtures
from sitegen.analysis.comparison.change import Origin, ResultChange, change_of
from sitegen.analysis.comparison.variants import compare, variant_of, variants_of
from sitegen.analysis.deltas import ScoredPoint, delta
from sitegen.analysis.memo import Memo
from sitegen.comparing.document import ComparisonDocument
from sitegen.config import EvalConfig, Manifest
from sitegen.configuring import significance_level
from sitegen.errors import ConfigurationError, NothingToReportError
from sitegen.evaluating import Evaluation
from sitegen.history.state import Copied
from sitegen.history.timeline import current
from sitegen.model.kinds import traits_of
from sitegen.model.scorecards import Result
from sitegen.model.timeline import EvalHistory, Snapshot
from sitegen.project import Options, open_project
from sitegen.scoring.kinds import scorer, specs_of
from sitegen.scoring.usage import specs_with_usage
from sitegen.stages.scoring import results
from sitegen.stages.timeline import Timeline, fold
from sitegen.stages.vectors import keep_vectors, known_vectors, vectors_of
from sitegen.stats.significance import ALPHA
from sitegen.verifying import WorktreeProject

Thresholds: TypeAlias = dict[str, float]
"""Least value wanted, by name of the metric."""


class ComparisonWithThresholds(NamedTuple):
    """A comparison, and what is wanted of each eval's metrics."""

    document: ComparisonDocument
    thresholds: dict[str, Thresholds]
    """By eval."""


class _Side(NamedTuple):
    """One result to compare, and what it is called."""

    label: str
    kind: str
    result: Result


def compare_variants(bench: WorktreeProject, eval_id: str, names: Sequence[str]) -> ComparisonWithThresholds:
    """Variants of an eval as they lie in the work tree, all of them if none is named.

    Raises ConfigurationError if there is no such eval or variant, or if there are not two.
    """
    verified = bench.verify(eval_id)
    known = {variant.name: variant for variant in variants_of(verified.result)}
    fix = f"The variants of {eval_id}: {', '.join(name for name in known if name) or 'none'}."
    for name in names:
        if name not in known:
            raise ConfigurationError(f"The eval {eval_id!r} has no variant {name!r}.", fix=fix)
    chosen = [known[name] for name in dict.fromkeys(names or known)]
    if len(chosen) < 2:
        raise ConfigurationError(f"Of the eval {eval_id!r} there are no two variants to compare.", fix=fix)
    thresholds = _thresholds(verified.place.kind, verified.place.entry.thresholds)
    found = compare(eval_id, chosen, _alpha(verified.place.entry))
    return ComparisonWithThresholds(ComparisonDocument(variants=(found,)), {eval_id: thresholds})


def compare_prompts(entry: EvalConfig, evaluations: Sequence[Evaluation]) -> ComparisonWithThresholds:
    """Prompts that answered the test cases of one eval, each called by its path."""
    chosen = [variant_of(each.prompt_path, each.verified.result) for each in evaluations]
    found = compare(entry.id, chosen, _alpha(entry))
    return ComparisonWithThresholds(
        ComparisonDocument(variants=(found,)), {entry.id: _thresholds("responses", entry.thresholds)}
    )


def compare_iterations(options: Options, eval_id: str, numbers: Sequence[int]) -> ComparisonWithThresholds:
    """Iterations of one eval, each as it was last scored.

    Raises ConfigurationError if there is no such eval or iteration.
    """
    with _folded(options) as history:
        one = history.eval(eval_id)
        newest = {snapshot.iteration: snapshot for snapshot in one.snapshots}
        for number in numbers:
            if number not in newest:
                fix = f"It has {', '.join(map(str, sorted(newest))) or 'none'}."
                raise ConfigurationError(f"The eval {eval_id!r} has no iteration {number}.", fix=fix)
        chosen = [newest[number] for number in numbers]
        sides = history.sides(one, [snapshot.label for snapshot in chosen], chosen)
        document = _document(eval_id, sides, _alpha(history.timeline.manifest.entry(eval_id)))
        if document.changes:
            points = [ScoredPoint(at, side.result.scorecard) for at, side in zip(chosen, sides, strict=True)]
            origins = map(history.origin, repeat(one), points, points[1:])
            found = zip(document.changes, origins, strict=True)
            document = replace(document, changes=tuple(replace(change, origin=origin) for change, origin in found))
        return ComparisonWithThresholds(document, history.thresholds())


def compare_revisions(options: Options, revisions: tuple[str, str]) -> ComparisonWithThresholds:
    """Every eval that both revisions have: the newest output of each, by the rules of that revision.

    Raises NothingToReportError if they have none in common.
    """
    sides: list[dict[str, _Side]] = []
    thresholds: dict[str, Thresholds] = {}
    manifest = Manifest()
    for revision in revisions:
        with _folded(options._replace(rev=revision)) as history:
            living = [one for one in history.evals if one.snapshots and not one.deleted]
            sides.append({one.id: history.sides(one, [revision], one.snapshots[-1:])[0] for one in living})
            thresholds = history.thresholds()
            manifest = history.timeline.manifest
    before, after = sides
    common = [eval_id for eval_id in before if eval_id in after and before[eval_id].kind == after[eval_id].kind]
    if not common:
        raise NothingToReportError(f"{revisions[0]!r} and {revisions[1]!r} have no eval with outputs in common.")
    documents = [
        _document(eval_id, [before[eval_id], after[eval_id]], _alpha(manifest.entry(eval_id))) for eval_id in common
    ]
    whole = ComparisonDocument(
        variants=tuple(one for document in documents for one in document.variants),
        changes=tuple(one for document in documents for one in document.changes),
        passed_over=tuple(sorted((before.keys() | after.keys()) - set(common))),
    )
    return ComparisonWithThresholds(whole, thresholds)


def _alpha(entry: EvalConfig) -> float:
    return significance_level(entry.settings) or ALPHA


def _document(eval_id: str, sides: Sequence[_Side], alpha: float) -> ComparisonDocument:
    """Responses are compared as prompts, two or more; other kinds as each result against the one named before it."""
    if all(side.result.answers for side in sides):
        variants = [variant_of(side.label, side.result) for side in sides]
        return ComparisonDocument(variants=(compare(eval_id, variants, alpha),))
    return ComparisonDocument(changes=tuple(_change(eval_id, before, after) for before, after in pairwise(sides)))


def _change(eval_id: str, before: _Side, after: _Side) -> ResultChange:
    cards = [before.result.scorecard, after.result.scorecard]
    specs = specs_with_usage(specs_of(scorer(before.kind), cards), cards)
    return change_of(eval_id, specs, (before.label, before.result), (after.label, after.result), before.kind)


def _thresholds(kind: str, stated: Iterable[tuple[str, float]]) -> Thresholds:
    """Those of the manifest go before the kind's own."""
    return {spec.name: spec.least for spec in scorer(kind).metrics if spec.least is not None} | dict(stated)


class _Folded(NamedTuple):
    """History up to a revision, and the memo."""

    timeline: Timeline
    memo: Memo
    evals: tuple[EvalHistory, ...]

    def eval(self, eval_id: str) -> EvalHistory:
        """One of them, or ConfigurationError."""
        found = next((one for one in self.evals if one.id == eval_id), None)
        if found is None:
            known = ", ".join(one.id for one in self.evals)
            raise ConfigurationError(f"There is no eval {eval_id!r}.", fix=f"The evals of this project: {known}.")
        return found

    def thresholds(self) -> dict[str, Thresholds]:
        """Of every eval."""
        return {one.id: _thresholds(one.kind, self.timeline.info(one).thresholds) for one in self.evals}

    def sides(self, one: EvalHistory, labels: Sequence[str], snapshots: Sequence[Snapshot]) -> list[_Side]:
        """Snapshots of an eval, scored."""
        vectors = vectors_of(one.kind, known_vectors(self.memo, one.id, one.kind))
        found = list(results(self.timeline.shop_for(one.id), scorer(one.kind), snapshots, vectors))
        if vectors:
            keep_vectors(self.memo, one.id, vectors.new)
        return [_Side(label, one.kind, result) for label, result in zip(labels, found, strict=True)]

    def origin(self, one: EvalHistory, before: ScoredPoint, after: ScoredPoint) -> Origin | None:
        """Where the change of the headline came from, which takes scoring what both sides can be mixed to.

        None of recorded numbers, and where it cannot be told.
        """
        if traits_of(one.kind).is_recorded:
            return None
        by, crossed = scorer(one.kind), mixtures(before.snapshot, after.snapshot)
        vectors = vectors_of(one.kind, known_vectors(self.memo, one.id, one.kind))
        cards = [result.scorecard for result in results(self.timeline.shop, by, crossed, vectors)]
        known = dict(zip(crossed, cards, strict=True))
        parts = delta(by.metrics_for, before, after, known.__getitem__).headline.parts
        return parts and Origin(*parts)


@contextmanager
def _folded(options: Options) -> Iterator[_Folded]:
    """Fold history on a copy, so that what the memo knows of a built site stays true."""
    project = open_project(options, "")
    with Memo.open(project.cache) as memo, memo.held(), memo.transaction():
        parts = Copied(memo)
        timeline = fold(project, parts)
        evals, _ = current(parts, timeline.config, timeline.manifest)
        yield _Folded(timeline, memo, tuple(evals))
