"""Scores the two or more sides of ``sitegen compare``: variants of the work tree, prompts, iterations or revisions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, pairwise, starmap
from typing import TypeAlias

from sitegen.analysis.change import change_between
from sitegen.analysis.comparison.change import NamedResult, Origin, ResultChange, change_of
from sitegen.analysis.comparison.variants import variant_comparison, variant_of, variants_of
from sitegen.analysis.deltas import mixtures
from sitegen.comparison_files.document import ComparisonDocument
from sitegen.config import EvalConfig, Manifest
from sitegen.configuring import significance_level
from sitegen.errors import ConfigurationError, NothingToReportError
from sitegen.frozen import Frozen
from sitegen.model.cells import Flips
from sitegen.model.kinds import traits_of
from sitegen.model.metrics import Threshold
from sitegen.model.scorecards import Result
from sitegen.model.series import Point
from sitegen.model.timeline import EvalHistory, Snapshot
from sitegen.project import Options
from sitegen.questions.study import Study, open_study
from sitegen.scoring.kinds import scorer, specs_of_results
from sitegen.stats.significance import ALPHA
from sitegen.verifying.evaluation import Evaluation
from sitegen.verifying.project import WorktreeProject
from sitegen.verifying.verify import verify

ThresholdValues: TypeAlias = dict[str, float]
"""The lowest acceptable value of each metric, by name."""


class ComparisonWithThresholds(Frozen):
    """A comparison, and the thresholds of each eval's metrics."""

    document: ComparisonDocument
    thresholds: dict[str, ThresholdValues]
    """The thresholds of each eval, by id."""


class ScoredSide(Frozen):
    """One result to compare, with the label that readers see."""

    label: str
    kind: str
    result: Result


def compare_variants(project: WorktreeProject, eval_id: str, names: Sequence[str]) -> ComparisonWithThresholds:
    """Compare variants of an eval in the work tree; all of them if *names* is empty.

    Raises ConfigurationError if the eval or a variant does not exist, if its kind has no variants, or if there are
    fewer than two variants.
    """
    verified = verify(project, eval_id)
    if not traits_of(verified.place.kind).answers_cases:
        raise ConfigurationError(
            f"The eval {eval_id!r} is of kind {verified.place.kind}, which has no variants to compare.",
            fix=f"Compare two of its iterations: sitegen compare {eval_id}@1 {eval_id}@2",
        )
    variants = {variant.name: variant for variant in variants_of(verified.result)}
    fix = f"The variants of {eval_id}: {', '.join(name for name in variants if name) or 'none'}."
    for name in names:
        if name not in variants:
            raise ConfigurationError(f"The eval {eval_id!r} has no variant {name!r}.", fix=fix)
    chosen = [variants[name] for name in dict.fromkeys(names or variants)]
    if len(chosen) < 2:
        raise ConfigurationError(f"The eval {eval_id!r} has fewer than two variants to compare.", fix=fix)
    thresholds = _thresholds(verified.place.kind, verified.place.entry.thresholds)
    comparison = variant_comparison(eval_id, chosen, _alpha_of(verified.place.entry))
    return ComparisonWithThresholds(ComparisonDocument(variants=(comparison,)), {eval_id: thresholds})


def compare_prompts(entry: EvalConfig, evaluations: Sequence[Evaluation]) -> ComparisonWithThresholds:
    """Compare prompts that answered the test cases of one eval, each labelled with its path."""
    chosen = [variant_of(evaluation.document.prompt_path, evaluation.verified.result) for evaluation in evaluations]
    comparison = variant_comparison(entry.id, chosen, _alpha_of(entry))
    return ComparisonWithThresholds(
        ComparisonDocument(variants=(comparison,)), {entry.id: _thresholds("responses", entry.thresholds)}
    )


def compare_iterations(options: Options, eval_id: str, names: Sequence[str]) -> ComparisonWithThresholds:
    """Compare iterations of one eval, named as ``snapshot_named`` reads names.

    Raises ConfigurationError if the eval or an iteration does not exist.
    """
    with open_study(options) as study:
        history = study.history(eval_id)
        snapshots = [snapshot_named(history, name) for name in names]
        results = study.results(history, snapshots)
        sides = [
            ScoredSide(snapshot.label, history.kind, result)
            for snapshot, result in zip(snapshots, results, strict=True)
        ]
        document = _document(eval_id, sides, _alpha_of(study.timeline.manifest.entry(eval_id)))
        if document.changes:
            origins = starmap(partial(_origin, study, history), pairwise(snapshots))
            changes = zip(document.changes, origins, strict=True)
            document = replace(document, changes=tuple(replace(change, origin=origin) for change, origin in changes))
        return ComparisonWithThresholds(document, _thresholds_of(study))


def compare_revisions(options: Options, base: str, head: str) -> ComparisonWithThresholds:
    """Compare the newest outputs of every eval that both revisions have, each by the rules of its revision.

    Raises NothingToReportError if the revisions have no eval in common.
    """
    sides: list[dict[str, ScoredSide]] = []
    thresholds: dict[str, ThresholdValues] = {}
    manifest = Manifest()
    for revision in (base, head):
        with open_study(options._replace(rev=revision)) as study:
            living = [history for history in study.evals.values() if history.snapshots and not history.deleted]
            sides.append(
                {
                    history.id: ScoredSide(revision, history.kind, result)
                    for history in living
                    for result in study.results(history, history.snapshots[-1:])
                }
            )
            thresholds = _thresholds_of(study)
            manifest = study.timeline.manifest
    before, after = sides
    common = [eval_id for eval_id in before if eval_id in after and before[eval_id].kind == after[eval_id].kind]
    if not common:
        raise NothingToReportError(
            f"{base!r} and {head!r} have no eval with outputs in common.",
            fix="If the manifest is newer than one of them, compare iterations instead: sitegen compare EVAL@1 EVAL@2",
        )
    documents = [
        _document(eval_id, [before[eval_id], after[eval_id]], _alpha_of(manifest.entry(eval_id))) for eval_id in common
    ]
    whole = ComparisonDocument(
        variants=tuple(chain.from_iterable(document.variants for document in documents)),
        changes=tuple(chain.from_iterable(document.changes for document in documents)),
        passed_over=tuple(sorted((before.keys() | after.keys()) - set(common))),
    )
    return ComparisonWithThresholds(whole, thresholds)


def _alpha_of(entry: EvalConfig) -> float:
    return significance_level(entry.settings) or ALPHA


def _document(eval_id: str, sides: Sequence[ScoredSide], alpha: float) -> ComparisonDocument:
    """Compare responses as two or more prompts, and each result of another kind with the previous one."""
    if all(side.result.answers for side in sides):
        variants = [variant_of(side.label, side.result) for side in sides]
        return ComparisonDocument(variants=(variant_comparison(eval_id, variants, alpha),))
    return ComparisonDocument(
        changes=tuple(_result_change(eval_id, before, after) for before, after in pairwise(sides))
    )


def _result_change(eval_id: str, before: ScoredSide, after: ScoredSide) -> ResultChange:
    specs = specs_of_results(before.kind, before.result, after.result)
    first, second = (NamedResult(side.label, side.result) for side in (before, after))
    return change_of(eval_id, specs, first, second, before.kind)


def _thresholds(kind: str, stated: Iterable[Threshold]) -> ThresholdValues:
    """The default thresholds of the kind, overridden by thresholds of the manifest."""
    return {spec.name: spec.least for spec in scorer(kind).metrics if spec.least is not None} | dict(stated)


def _thresholds_of(study: Study) -> dict[str, ThresholdValues]:
    return {
        eval_id: _thresholds(history.kind, study.timeline.info(history).thresholds)
        for eval_id, history in study.evals.items()
    }


def _origin(study: Study, history: EvalHistory, before: Snapshot, after: Snapshot) -> Origin | None:
    """Split the change of the headline metric by cause. Scores every mixture of the two sides.

    None for recorded numbers, which have no inputs to mix, and if a mixture has no headline.
    """
    if traits_of(history.kind).is_recorded:
        return None
    cards = study.scorecards(history, (before, after, *mixtures(before, after)))
    sides = Point(before, cards[before]), Point(after, cards[after])
    headline = cards.series_specs()[0]
    change = change_between(*sides, Flips(), kind=history.kind, headline=headline, scorecard_of=cards.__getitem__)
    parts = change.headline.parts
    return parts and Origin(*parts)


def snapshot_named(history: EvalHistory, name: str) -> Snapshot:
    """Return the snapshot that a name means.

    A number (``14``) or a label (``iteration-014``) means the iteration as it was last scored; the name of a report
    (``0014``, ``0014-3f2a91c07d55``) means the iteration as that report shows it.

    Raises ConfigurationError if there is none.
    """
    last_scored = {str(snapshot.iteration): snapshot for snapshot in history.snapshots}
    last_scored |= {snapshot.label: snapshot for snapshot in history.snapshots}
    reports = {snapshot.slug: snapshot for snapshot in history.snapshots}
    number = name.removeprefix("iteration-").lstrip("0") or "0"
    snapshot = last_scored.get(name) or reports.get(name) or last_scored.get(number)
    if snapshot is not None:
        return snapshot
    fix = f"It has {_first_to_last(sorted({snapshot.iteration for snapshot in history.snapshots}))}."
    raise ConfigurationError(f"The eval {history.id!r} has no iteration {name}.", fix=fix)


def _first_to_last(numbers: Sequence[int]) -> str:
    """Name the iterations of an eval: by the first and the last one if none between them is missing."""
    if len(numbers) > 2 and numbers[-1] - numbers[0] == len(numbers) - 1:
        return f"{numbers[0]} to {numbers[-1]}"
    return ", ".join(map(str, numbers)) or "none"
