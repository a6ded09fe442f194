"""Compares one eval at two revisions for the gate: deltas, flipped cells, and whether these may be chance."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, groupby
from operator import itemgetter
from typing import Final

from msgspec.structs import replace

from sitegen.analysis.change import change, compared_alike
from sitegen.analysis.deltas import as_asked, mixtures, values_in_common
from sitegen.analysis.edits import OutputEdits, changed_files, other_edit
from sitegen.analysis.flips import flipped_cells
from sitegen.analysis.gate import check_eval, gate_metric
from sitegen.analysis.noise.changes import metric_verdict, moved_cases
from sitegen.analysis.noise.repeats import noise_so_far
from sitegen.analysis.noise.samples import is_counted, number_judged
from sitegen.analysis.series import first_points_with_output, series_of
from sitegen.analysis.slices import averaged, part_of, slices_of
from sitegen.config.models import GateSettings, Limit
from sitegen.engine.scorecard_store import EvalScorecards
from sitegen.history.layout import RESULTS, is_path, iteration_number
from sitegen.model.changes import MetricDelta, Noise
from sitegen.model.frozen import Frozen
from sitegen.model.gate import GateCell, GateEval, GateMetric, GateOverlap, Lost
from sitegen.model.metrics import MetricSpec, traits_of
from sitegen.model.outcomes import CellFlip, Fate
from sitegen.model.scorecards import ANSWERERS, Result, Scorecard
from sitegen.model.series import EvalInfo, Point
from sitegen.model.timeline import EvalHistory, Snapshot
from sitegen.model.usage import regraded
from sitegen.questions.study import Study
from sitegen.scoring.kinds import scorer, series_specs, specs_of
from sitegen.scoring.usage import all_specs, specs_with_usage
from sitegen.stats.counts import judged
from sitegen.text.globs import matches

_LISTED_CELLS: Final = 200  # fixed cells that a report lists at most, and as many broken ones


class GateSide(Frozen):
    """An eval at one of the revisions."""

    study: Study
    history: EvalHistory
    """Whose newest output exists."""
    slice: Mapping[str, str] | None = None
    """The value on each axis of the answers that are judged alone; None for all."""

    @property
    def limits(self) -> tuple[GateSettings, EvalInfo]:
        """What states its limits."""
        return self.study.timeline.config.gate, self.study.timeline.info(self.history)

    def judged_alone(self, result: Result) -> Result:
        """Return the answers of a result that are judged."""
        return part_of(result, self.slice) if self.slice else result

    def card_of(self, cards: EvalScorecards, snapshot: Snapshot) -> Scorecard:
        """Return the scorecard of the answers that are judged of a snapshot."""
        return self.judged_alone(Result(cards[snapshot], ())).scorecard

    @property
    def snapshot(self) -> Snapshot:
        """The newest output, under the newest ground truth and rules."""
        return self.history.snapshots[-1]

    @property
    def iterations(self) -> set[str]:
        """The folders of its iterations, also those without an output, unless the manifest names the output."""
        timeline, id = self.study.timeline, self.history.id
        folders = () if is_path(timeline.manifest.entry(id).outputs) else timeline.layout.folders(id)
        names = chain.from_iterable(timeline.files.names(f"{folder}/{RESULTS}".lstrip("/")) for folder in folders)
        return {name for name in names if iteration_number(name) is not None}

    @property
    def card(self) -> Scorecard:
        """The scorecard of the newest output."""
        return self.card_of(self.study.scorecards(self.history), self.snapshot)

    @property
    def since_made(self) -> tuple[Snapshot, ...]:
        """The snapshots of the newest output."""
        snapshots = self.history.snapshots
        return snapshots[max(at for at, snapshot in enumerate(snapshots) if "outputs" in snapshot.cause) :]

    def edits(self) -> OutputEdits:
        """Attribute each output up to the newest to an edit, as pages do."""
        return OutputEdits(self.history.snapshots, self.study.timeline.driving_edits(self.history.id))

    @property
    def cases(self) -> int | None:
        """Number of test cases, or of documents, that are judged; None if the kind has neither."""
        card, traits = self.card, traits_of(self.history.kind)
        if traits.is_recorded:
            return None
        if traits.answers_cases:
            return number_judged(card)
        if traits.finds_texts:  # a text without anything to find has no counts, and is judged
            return len(card.documents)
        scored = (one for one in card.documents if any(metric.value is not None for metric in one.metrics))
        return len({one.case for one in (*scored, *(one for one in card.documents if judged(one.counts)))})

    def noise(self) -> Noise | None:
        """Estimate the noise of the repeats up to this side, as a report does."""
        snapshots = self.history.snapshots
        runs = [snapshot.repeated_runs for snapshot in snapshots]
        cards = self.study.scorecards(self.history).filled((*snapshots, *chain.from_iterable(runs)))
        edits = self.edits().since_previous
        first_with_output = first_points_with_output(snapshots, self.history.kind)
        card_of = partial(self.card_of, cards)
        points = [
            (Point(snapshot, card_of(snapshot), since, first_with_output=earliest), [*map(card_of, repeated)])
            for snapshot, repeated, since, earliest in zip(snapshots, runs, edits, first_with_output, strict=True)
        ]
        return [*noise_so_far(points)][-1]

    def specs(self, base: GateSide | None = None) -> tuple[MetricSpec, ...]:
        """Return the metrics of an eval, the headline first: the metrics of its kind, or else of all its scorecards."""
        eval_scorer = scorer(self.history.kind)
        if eval_scorer.metrics and not traits_of(eval_scorer.kind).names_scores:
            sides = (self, base) if base else (self,)
            return series_specs(eval_scorer, (at.settings for gated in sides for at in gated.history.snapshots), ())
        snapshots = self.history.snapshots
        cards = map(self.study.scorecards(self.history).filled(snapshots).__getitem__, snapshots)
        return specs_of(eval_scorer.kind, (base.card, *cards) if base else cards)  # the base says which is the headline


def held_specs(
    own: Sequence[MetricSpec], cards: Sequence[Scorecard], limits: Mapping[str, Limit]
) -> tuple[MetricSpec, ...]:
    """Return the metrics of an eval, and the usage metrics that an output states or a limit names."""
    stated = specs_with_usage(own, cards)
    return tuple(spec for spec in all_specs(own) if spec in stated or limits[spec.name] != Limit())


class GatedPair:
    """An eval that both revisions have, of one kind."""

    def __init__(self, before: GateSide, after: GateSide, specs: tuple[MetricSpec, ...], gate: GateSettings) -> None:
        """``specs``: the metrics of both sides, see ``GateSide.specs``."""
        self._gate = gate
        self._specs = specs
        self._before = before
        self._after = after
        self._sides = sides = before.snapshot, after.snapshot
        self._roles = sides[0].roles_changed_in(sides[1])
        self._is_same_output = bool(self._roles) and "outputs" not in self._roles
        # Answers have the names that tell them apart in these two outputs, whoever answered in others.
        study, history = after.study, replace(after.history, snapshots=(*before.since_made, *after.since_made))
        mixed = sides[0].with_roles_of(sides[1], ("outputs",)) if sides[0].judged_as(sides[1]) else sides[1]
        kept = study.scorecards(history).filled((*history.snapshots, *mixtures(*sides), mixed))
        # Documents say whether the output was asked for them.
        asked = [[*as_asked(side.since_made, kept.__getitem__)][-1] for side in (before, after)]
        results = [
            after.judged_alone(replace(result, scorecard=replace(result.scorecard, documents=card.documents)))
            for card, result in zip(asked, kept.results(sides) if self._roles else (), strict=False)
        ]
        rejudged = [after.judged_alone(result) for result in kept.results(sides[0].judged_as(sides[1]))]
        self._lacks_contents = bool(kept.not_fetched)
        card_of = partial(after.card_of, kept)
        self._series = series_of(
            study.timeline.info(history),
            specs,
            sides,
            results or [Result(scorecard=card_of(side), judgements=()) for side in sides],
            (before.noise(), after.noise()) if "outputs" in self._roles else (None, None),
            rejudged,
        )
        self._change = change(self._series, 0, 1, card_of)
        self._cards = self._series.points[0].scorecard, self._series.points[1].scorecard
        self._alike = compared_alike(self._series.points[0], self._series.points[1], card_of)
        self._answers = [[answer for case in result.cases for answer in case.answers] for result in results] or [[], []]
        self._judgements = [result.judgements for result in results] or [(), ()]
        self._asked = [{case.id: case.question for case in result.cases} for result in results] or [{}, {}]
        self._by_base = self._cards[not self._is_same_output] if mixed is sides[1] else card_of(mixed)

    def checked(self, draft: GateEval, limits: Mapping[str, Limit]) -> GateEval:
        """Compare the eval, and check it and each of its metrics against their limits.

        The draft has the metrics that the kind of the eval lacks.
        """
        checked = partial(check_eval, strict_floors=self._gate.strict_floors)
        headline, *metrics = *self._metrics(limits), *draft.metrics
        draft = replace(self._compared(draft), metrics=(headline, *metrics))
        verdict, noise = self._change.verdict, self._series.points[1].noise
        is_excused = verdict and verdict.is_open and noise and noise.limit is not None  # by repeats, also of the branch
        if is_excused and checked(draft).metrics[0].verdict != "fail":
            # By the repeats of the base alone: a branch cannot excuse itself.
            before, after = self._series.points
            value = after.scorecard.metrics[0].value
            if alone := before.noise:
                alone = replace(alone, first=-1, repeats=0 if value is None else 1, mean=value or 0.0)
            by_repeats = change(replace(self._series, points=(before, replace(after, noise=alone))), 0, 1).verdict
            by_base = replace(draft, metrics=(replace(headline, noise=by_repeats),))
            if checked(by_base).metrics[0].verdict == "fail":
                headline = replace(headline, reasons=("worse by the repeats of the base",))
        return checked(replace(draft, metrics=(headline, *metrics)))

    def _metrics(self, limits: Mapping[str, Limit]) -> Iterator[GateMetric]:
        before, after = self._cards
        changes, by_base = {moved.name: moved for moved in self._change.metrics}, (before, self._by_base)
        is_no_excuse = not self._gate.noise  # chance, so that no verdict leaves a change open
        for spec in held_specs(self._specs, self._cards, limits):
            moved = changes.get(spec.name, MetricDelta(spec.name, None, None))
            if regraded(self._change.judge, spec.name) or self._change.overlap.verdict == "refused":
                moved = MetricDelta(spec.name, None, None)
            verdict = self._change.verdict
            if spec.name != self._specs[0].name:
                verdict = None if self._is_same_output else metric_verdict(spec, self._alike, self._change.flips)
            first, mixed = values_in_common(by_base, spec.name, self._change.overlap)
            yield replace(
                gate_metric(spec, limits[spec.name]),
                base=before.metric(spec.name),
                head=after.metric(spec.name),
                change=moved.change,
                parts=None if spec.recorded else moved.parts,
                by_base=None if moved.change is None or first is None or mixed is None else mixed - first,
                by_head=None if moved.change is None else self._alike.difference(spec.name),
                noise=None if moved.change is None or (verdict and verdict.is_open and is_no_excuse) else verdict,
                averaged=(averaged(spec, before), averaged(spec, after)) if spec is self._specs[0] else ("", ""),
            )

    def _compared(self, draft: GateEval) -> GateEval:
        fixed, broken = self._moved_cells()
        edits = changed_files(*(side.study.timeline.drivers(side.history.id) for side in (self._before, self._after)))
        made = self._after.edits()
        other = other_edit(made.made_with[-1]) if edits else None
        overlap, (before, after) = self._change.overlap, self._cards
        failed = {answer.document for answer in self._answers[1] if answer.error}.intersection(overlap.only_before)
        errors = [finding for finding in after.findings if finding.severity == "error" and finding.about == "output"]
        if errors and overlap.verdict == "bridged" and "ground_truth" not in self._roles:
            failed = {*overlap.only_before}
        there = {axis for one in after.documents for axis in one.axes.items()}
        alone = [(one.name, axis) for one in before.documents for axis in one.axes.items() if axis not in there]
        gone = {id: " ".join(axis) for id, axis in alone if axis[0] in ANSWERERS and id not in failed}
        missing = [{one.name for one in card.documents if one.status == "unreadable"} for card in self._cards]
        lost = sorted(missing[1] - missing[0] if after.status == "scored" else ())
        return replace(
            draft,
            reasons=("not fetched",) if self._lacks_contents else (),
            overlap=GateOverlap(
                verdict=overlap.verdict,
                common=overlap.common,
                only_base=tuple(id for id in overlap.only_before if id not in failed and id not in gone),
                only_head=overlap.only_after,
            ),
            lost={**draft.lost, **self._lost(failed, (*gone.values(), *lost))},
            fixed=None if self._series.info.recorded else len(fixed),
            broken=None if self._series.info.recorded else len(broken),
            cells=(*broken[:_LISTED_CELLS], *fixed[:_LISTED_CELLS]),
            instructions=tuple(edits),
            or_edit=other.sha if other else None,
            stale=bool(edits) and made.stale[-1],
            changed=self._roles,
            model=self._change.model,
            judge=self._change.judge,
            hidden=tuple(self._hidden()),
        )

    def _lost(self, failed: Collection[str], gone: Iterable[str]) -> dict[Lost, tuple[str, ...]]:
        """List what makes the comparison less than one of the same things on both sides.

        ``failed``: the documents that the head answered with an error, or that are lost with a part of its output;
        ``gone``: the models, variants and documents that it lacks.
        """
        answered = [[one for one in side if not one.error] for side in self._answers]
        judges = [{judge.name for one in side for judge in one.judges if judge.name} for side in answered]
        at_base, at_head = ({blob.oid: blob.path for blob in at.outputs} for at in self._sides)
        truths = [at.ground_truth.oid for at in self._sides if at.ground_truth]
        entries = [side.study.timeline.manifest.entry(side.history.id) for side in (self._after, self._before)]
        unread = self._after.iterations - self._before.iterations - {at.label for at in self._after.history.snapshots}
        settings = (
            (entry.dir or "default", entry.outputs, " ".join(entry.instructions) or "default") for entry in entries
        )
        stated = zip(("dir", "outputs", "instructions"), *settings, strict=True)
        # Where no manifest names it, the second run of an eval makes its only file a series: ``20*.json``.
        is_guessed = not any(side.history.id in side.study.stated for side in (self._before, self._after))
        others = [each for each in stated if each[1] != each[2] and not (is_guessed and matches(each[2], [each[1]]))]
        return {
            "failed at the head": tuple(id for id in self._change.overlap.only_before if id in failed),
            "gone at the head": tuple(dict.fromkeys(gone)),
            "judged at the base and not at the head": tuple(dict.fromkeys(self._unjudged())),
            "judges at the head alone": tuple(sorted(judges[1] - judges[0])),
            "without an output that can be read": tuple(sorted(unread)),
            "other settings": tuple(f"{name} {new} ({old} at the base)" for name, new, old in others),
            "the ground truth byte for byte": tuple(
                at_head[id] for id in truths[-1:] if id in at_head and truths[0] not in at_base
            ),
        }

    def _unjudged(self) -> Iterator[str]:
        """Yield what the head judges no more: fields, judges (of some cases too), inputs, answers to the same cases."""
        before = self._cards[0]
        expected = [{name for name, counts in card.fields if counts.tp + counts.fn} for card in self._cards]
        yield from (name for name, _ in before.fields if name in expected[0] - expected[1])
        common = {one.name for one in before.documents}.difference(self._change.overlap.only_before)
        listed = common.intersection(*([one.document for one in side] for side in self._answers))
        repeats = [[one.document for one in side if one.document in listed and not one.error] for side in self._answers]
        grades = [[(judge, one.document) for one in side for judge in one.judges] for side in self._answers]
        graded = [{(judge.name, id) for judge, id in side if judge.name and judge.score is not None} for side in grades]
        graded[1] |= {(one.attribute, one.document) for one in self._judgements[1]}  # a verdict may be a field by now
        for judge, documents in groupby(sorted(graded[0]), key=itemgetter(0)):
            cases = [id for _, id in documents if id in common]
            if missing := sum((judge, id) not in graded[1] for id in cases):
                yield judge if missing == len(cases) else f"{judge} ({missing:,} of {len(cases):,})"
        asked = [(text, self._asked[1][id]) for id, text in self._asked[0].items() if id in self._asked[1]]
        if other := sum(before != after for before, after in asked):
            yield f"the same input ({other:,} of {len(asked):,})"
        alike = [{one.key: one for one in side if one.stated or one.actual} for side in self._judgements]
        stated = [key for key, one in alike[0].items() if one.stated and key in alike[1]]
        if silent := sum(not alike[1][key].stated for key in stated):
            yield f"confidence ({silent:,} of {len(stated):,})"
        runs = [len(side.snapshot.repeated_runs) for side in (self._before, self._after)]
        most, least = map(sum, zip(map(len, repeats), runs, strict=True))
        if least < most:
            yield f"repeats ({most - least:,} of {most:,})"

    def _hidden(self) -> Iterator[tuple[str, float, str]]:
        """Yield the slices that got worse by more than chance although the headline did not get worse."""
        found, spec = self._change, self._specs[0]
        if found.headline.change is None or self._after.slice or regraded(found.judge, spec.name) or not found.may_hide:
            return
        for axis, part in slices_of(self._alike.before, self._alike.after, spec, (self._series.cells, 0, 1)):
            if part.is_worse:
                yield f"{axis}={part.values[0]}", part.change or 0.0, part.fall(spec)

    def _moved_cells(self) -> tuple[list[GateCell], list[GateCell]]:
        """List the cells that were fixed, and those that broke: each value once, of each test case the first.

        Of kinds without cells, or if none flipped, the cases whose score rose or fell are listed.
        """
        headline, cases = self._specs[0], self._series.cells.cases
        flips = [flip for flip in flipped_cells(self._series.cells, 0, 1) if flip.fate in ("fixed", "broken")]
        cells = [_gate_cell(flip) for flip in flips]
        answers_cases = traits_of(self._after.history.kind).answers_cases
        counts_cases = answers_cases or (not cells and not is_counted(headline.name))
        if not counts_cases or regraded(self._change.judge, headline.name):
            return [cell for cell in cells if cell.fate == "fixed"], [cell for cell in cells if cell.fate == "broken"]
        first = {(cases.get(cell.document, cell.document), cell.fate): cell for cell in reversed(cells)}
        score = partial(GateCell, path=headline.name, extra_item=False, expected=None)
        listed: list[list[GateCell]] = [[], []]
        sides: tuple[Fate, ...] = ("fixed", "broken")
        for fate, found, moved in zip(sides, listed, moved_cases(self._alike, headline), strict=True):
            for case, pair in moved.items():
                base, head = (f"{share.part / share.whole:.4g}" for share in pair)
                found.append(first.get((case, fate)) or score(fate=fate, document=case, base=base, head=head))
        return listed[0], listed[1]


def _gate_cell(flip: CellFlip) -> GateCell:
    before, after = flip.before, flip.after
    newest = after or before
    return GateCell(
        fate=flip.fate,
        document=flip.cell.document,
        path=flip.cell.path,
        extra_item=flip.cell.extra,
        expected=newest.expected if newest else "",
        base=before.actual or None if before else None,
        head=after.actual or None if after else None,
        named_path=flip.cell.named_path,
    )
