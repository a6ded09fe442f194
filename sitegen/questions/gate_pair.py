"""Compares one eval at two revisions for the gate: deltas, flipped cells, and whether these may be chance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import Final

from msgspec.structs import replace

from sitegen.analysis.cells import cells_of
from sitegen.analysis.change import change_between
from sitegen.analysis.copies import first_points_with_output
from sitegen.analysis.deltas import differing_roles, mixtures, overlap_of, under_rules_of
from sitegen.analysis.edits import changed_files, edits_of_points
from sitegen.analysis.flips import count_flips, flipped_cells
from sitegen.analysis.gate import check_metric
from sitegen.analysis.noise.changes import lost_fields, moved_units
from sitegen.analysis.noise.metrics import answers_change, answers_verdict, is_mean, metric_verdict
from sitegen.analysis.noise.repeats import RepeatsSoFar, runs_of
from sitegen.analysis.noise.samples import is_counted, paired_sample_of
from sitegen.analysis.series import variant_spread
from sitegen.frozen import Frozen
from sitegen.model.cells import CellFlip
from sitegen.model.deltas import Change, MetricDelta, Overlap
from sitegen.model.gate import GateCell, GateEval, GateMetric, GateOverlap, MetricLimits
from sitegen.model.kinds import traits_of
from sitegen.model.metrics import ROUNDING, MetricSpec
from sitegen.model.noise import ChangeVerdict, Noise
from sitegen.model.scorecards import Answer, Result, Scorecard
from sitegen.model.series import Point, VariantSpread
from sitegen.model.timeline import EvalHistory, Snapshot
from sitegen.model.usage import regraded
from sitegen.questions.study import Study
from sitegen.scoring.kinds import in_order_of, scorer, series_specs, specs_of
from sitegen.scoring.usage import all_specs, specs_with_usage
from sitegen.stages.timeline import driving_edits
from sitegen.stats.counts import judged

LISTED: Final = 200
"""Largest number of fixed cells, and of broken cells, that a report lists."""


class GateSide(Frozen):
    """An eval at one of the revisions."""

    study: Study
    history: EvalHistory
    """With an output that exists."""

    @property
    def snapshot(self) -> Snapshot:
        """The newest existing output, under the newest ground truth and rules."""
        snapshots = self.history.snapshots
        return under_rules_of(next(at for at in reversed(snapshots) if not at.deleted), snapshots[-1])

    @property
    def card(self) -> Scorecard:
        """The scorecard of the newest output."""
        return self.study.scorecards(self.history, (self.snapshot,))[self.snapshot]

    @property
    def cases(self) -> int | None:
        """Number of test cases, or of documents, that are judged; None if the kind has neither."""
        card, traits = self.card, traits_of(self.history.kind)
        if traits.is_recorded:
            return None
        if traits.answers_cases:
            return len(card.cases)
        if traits.finds_texts:  # a text without anything to find has no counts, and is judged
            return len(card.documents)
        return sum(
            judged(document.counts) > 0 or any(metric.value is not None for metric in document.metrics)
            for document in card.documents
        )

    def averaged(self, spec: MetricSpec) -> VariantSpread | None:
        """Return the spread that a metric of the output averages; None with fewer than two variants of the prompt."""
        return variant_spread(self.history.kind, spec, self.card)


class _ScoredPair(Frozen):
    cards: tuple[Scorecard, Scorecard]
    delta: Change
    fixed: tuple[CellFlip, ...]
    broken: tuple[CellFlip, ...]
    cases: Overlap | None
    """The overlap of test cases, if the kind has test cases."""
    answers: tuple[tuple[Answer, ...], ...]
    """The answers of both sides; empty if both have the same output and rules."""


def side_specs(side: GateSide, base: GateSide | None = None) -> tuple[MetricSpec, ...]:
    """Return the metrics of an eval, the headline first: the metrics of its kind, or else of all its scorecards."""
    eval_scorer = scorer(side.history.kind)
    if eval_scorer.metrics:
        sides = (side, base) if base else (side,)
        return series_specs(eval_scorer, (at.settings for gated in sides for at in gated.history.snapshots), ())
    snapshots = side.history.snapshots
    cards = map(side.study.scorecards(side.history, snapshots).__getitem__, snapshots)
    return specs_of(eval_scorer.kind, (*cards, base.card) if base else cards)


def held_specs(
    own: Sequence[MetricSpec], cards: Sequence[Scorecard], limits: Mapping[str, MetricLimits]
) -> tuple[MetricSpec, ...]:
    """The metrics of an eval, and the usage metrics that an output states or a limit names."""
    stated = specs_with_usage(own, cards)
    return tuple(spec for spec in all_specs(own) if spec in stated or limits[spec.name] != MetricLimits())


class GatedPair:
    """An eval that both revisions have, of one kind."""

    def __init__(self, before: GateSide, after: GateSide, specs: tuple[MetricSpec, ...]) -> None:
        """``specs``: the result of ``side_specs`` for both sides."""
        self._specs = specs
        self._before = before
        self._after = after
        self._scorer = scorer(after.history.kind)

    def metrics(self, limits: Mapping[str, MetricLimits], *, noise: bool, strict_floors: bool) -> Iterator[GateMetric]:
        """Compare every metric with its limits."""
        before, after = self._scored.cards
        refused = self.overlap.verdict == "refused"
        changes = {moved.name: moved for moved in self._scored.delta.metrics}
        for spec in held_specs(self._specs, self._scored.cards, limits):
            moved = changes.get(spec.name, MetricDelta(spec.name, None, None))
            anew = regraded(self._scored.delta.judge, spec.name)
            delta = MetricDelta(spec.name, None, None) if refused or anew else self._in_common(moved)
            yield replace(
                check_metric(
                    spec,
                    limits[spec.name],
                    before.metric(spec.name),
                    after.metric(spec.name),
                    delta,
                    self._chance if noise else self._certain_loss,
                    regraded=anew,
                    lost=spec == self._specs[0] and self._is_hidden_loss(delta),
                    strict_floors=strict_floors,
                ),
                base_variants=self._before.averaged(spec),
                head_variants=self._after.averaged(spec),
            )

    def _is_hidden_loss(self, headline: MetricDelta) -> bool:
        """Whether a field broke wherever it was right, or more broke than was fixed and the headline shows no loss.

        The headline of highlights is a recall, which texts that are wrongly marked leave as it is.
        """
        if lost_fields(*self._scored.cards, self._scored.delta.flips):
            return True
        better = (headline.change or 0.0) * (1 if self._specs[0].higher_is_better else -1)
        return better > -ROUNDING and len(self._scored.broken) > len(self._scored.fixed)

    def _in_common(self, moved: MetricDelta) -> MetricDelta:
        """Return the change over the test cases that both sides answered, if a side has other cases as well."""
        if self.overlap.verdict != "bridged" or not self._scored.cases or not is_mean(moved.name):
            return moved
        return MetricDelta(moved.name, answers_change(moved.name, *self._scored.answers), None)

    def compared(self, draft: GateEval) -> GateEval:
        """Add the changes of the eval besides its metrics."""
        broken, fixed = self._scored.broken, self._scored.fixed
        edits = changed_files(*(side.study.timeline.drivers(side.history.id) for side in (self._before, self._after)))
        nouns, overlap, delta = self._scorer.nouns, self.overlap, self._scored.delta
        moved, headline = (len(fixed), len(broken)), self._specs[0]
        comparable = not is_counted(headline.name) and not regraded(delta.judge, headline.name)
        if moved == (0, 0) and comparable:  # cases with scores alone have no cells that flip
            pairs = paired_sample_of(*self._scored.cards, headline.name).pairs
            moved = moved_units(pairs, higher_is_better=headline.higher_is_better)
        return replace(
            draft,
            overlap=GateOverlap(
                verdict=overlap.verdict,
                unit="case" if self._scored.cases else nouns.document,
                units="cases" if self._scored.cases else nouns.documents,
                common=overlap.common,
                only_base=overlap.only_before,
                only_head=overlap.only_after,
            ),
            fixed=moved[0],
            broken=moved[1],
            cells=tuple(map(_gate_cell, (*broken[:LISTED], *fixed[:LISTED]))),
            instructions=tuple(edits),
            stale=bool(edits) and "outputs" not in self._roles,
            model=delta.model,
            judge=delta.judge,
            file=self._changed(),
        )

    def _changed(self) -> str | None:
        """Return the path of the first changed file of output, ground truth, mapping and schema; else of the output."""
        now, then = self._after.snapshot, self._before.snapshot
        outputs = now.outputs[0] if now.outputs else None
        rules = next((new for new, old in ((now.mapping, then.mapping), (now.schema, then.schema)) if new != old), None)
        blob = {"outputs": outputs, "ground_truth": now.ground_truth, "rules": rules}[(*self._roles, "outputs")[0]]
        return blob.path if blob else None

    @property
    def overlap(self) -> Overlap:
        """Return the overlap of the test cases of both sides, or of their documents if there are no test cases."""
        cases, documents = self._scored.cases, self._scored.delta.overlap
        return documents if cases is None or documents.verdict == "refused" else cases

    @cached_property
    def _roles(self) -> tuple[str, ...]:
        return differing_roles(self._before.snapshot, self._after.snapshot)

    @cached_property
    def _scored(self) -> _ScoredPair:
        first, last = self._before.snapshot, self._after.snapshot
        study, history = self._after.study, self._after.history
        results = study.results(history, (first, last)) if self._roles else ()
        cards = study.scorecards(history, (first, last, *mixtures(first, last)))
        both = in_order_of(self._specs, cards[first]), in_order_of(self._specs, cards[last])
        sides = Point(first, both[0]), Point(last, both[1])
        flipped = list(flipped_cells(cells_of(*results), 0, 1)) if results else []
        return _ScoredPair(
            cards=both,
            delta=change_between(
                *sides,
                count_flips(flipped),
                kind=history.kind,
                headline=self._specs[0],
                scorecard_of=cards.__getitem__,
            ),
            fixed=tuple(flip for flip in flipped if flip.fate == "fixed"),
            broken=tuple(flip for flip in flipped if flip.fate == "broken"),
            cases=_common_cases(*results) if results else None,
            answers=tuple(result.answers for result in results),
        )

    def _chance(self, spec: MetricSpec) -> ChangeVerdict | None:
        noise = self._noise if spec == self._specs[0] else None
        verdict = metric_verdict(spec, *self._scored.cards, self._after.history.kind, self._scored.delta.flips, noise)
        return verdict if verdict or not self._scored.answers else answers_verdict(spec, *self._scored.answers)

    def _certain_loss(self, spec: MetricSpec) -> ChangeVerdict | None:
        """Return the verdict if it is *worse*: if noise does not count, no other verdict says anything."""
        verdict = self._chance(spec)
        return verdict if verdict and verdict.decision == "worse" else None

    @cached_property
    def _noise(self) -> Noise | None:
        """Estimate noise from repeats up to the base: the judged output must not influence its own noise."""
        study, history = self._before.study, self._before.history
        snapshots = history.snapshots
        runs = [runs_of(snapshot) for snapshot in snapshots]
        cards = study.scorecards(history, (*snapshots, *chain.from_iterable(runs)))
        repeats = RepeatsSoFar()
        edits = edits_of_points(snapshots, driving_edits(study.timeline, history.id))
        first_with_output = first_points_with_output(snapshots, history.kind)
        for snapshot, repeated, since, earliest in zip(snapshots, runs, edits, first_with_output, strict=True):
            point = Point(snapshot, cards[snapshot], since, first_with_output=earliest)
            repeats.add(point, [cards[run] for run in repeated])
        return repeats.noise()


def _gate_cell(flip: CellFlip) -> GateCell:
    before, after = flip.before, flip.after
    return GateCell(
        fate=flip.fate,
        document=flip.cell.document,
        path=flip.cell.path,
        extra_item=flip.cell.extra,
        expected=next((side.expected for side in (after, before) if side and side.expected), None),
        base=before.actual or None if before else None,
        head=after.actual or None if after else None,
        by_truth=flip.by_truth,
        named_path=flip.cell.named_path,
    )


def _common_cases(before: Result, after: Result) -> Overlap | None:
    """The test cases that both sides answered; None if there are none at all."""
    sides = [list(dict.fromkeys(answer.case_id for answer in result.answers)) for result in (before, after)]
    return overlap_of(*sides) if any(sides) else None
