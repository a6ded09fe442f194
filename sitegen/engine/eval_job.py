"""Scores the snapshots of one eval, and computes what pages show of all of its points."""

from __future__ import annotations

import dataclasses
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Set
from functools import cached_property
from itertools import groupby, islice, repeat, takewhile
from typing import TYPE_CHECKING, Final, TypeAlias

from msgspec.structs import replace

from sitegen.analysis.blame import field_summaries
from sitegen.analysis.change import best_points, change, changes, judged_today, spans_of_commits
from sitegen.analysis.deltas import comparable_since, mixtures
from sitegen.analysis.edits import OutputEdits, attributed_to
from sitegen.analysis.effects import best_output, windows
from sitegen.analysis.notes import notes_about, placed_notes
from sitegen.analysis.recorded import recorded_otherwise
from sitegen.analysis.regressions import steps_of
from sitegen.analysis.series import (
    findings_in,
    headline,
    in_another_unit,
    problems_of_point,
    problems_of_points,
    series_of,
)
from sitegen.analysis.slices import answerers, averaged, fallen_slices, moved_answerers, part_of
from sitegen.analysis.standing import since_best, with_losses
from sitegen.analysis.suspect_truth import suspect_truth
from sitegen.config.notes import Notes, read_notes
from sitegen.engine.cached_kinds import EVAL_RECORDS, EvalRecord, TaskCache, encode
from sitegen.engine.failures import attempt, working_on
from sitegen.engine.memo import CachedRow
from sitegen.engine.scorecard_store import EvalScorecards, without_lost_contents
from sitegen.engine.worker_context import WorkerContext
from sitegen.engine.writer import digest, digest_of_inputs
from sitegen.errors import MissingObjectsError
from sitegen.importers.case import BASELINES
from sitegen.importers.recorded_layouts import is_headline
from sitegen.model.changes import EditedFile, Step
from sitegen.model.frozen import Frozen
from sitegen.model.metrics import traits_of
from sitegen.model.outcomes import Flips
from sitegen.model.problems import Parsed, Problem
from sitegen.model.scorecards import Result
from sitegen.model.series import (
    HEADLINES,
    Correction,
    EvalInfo,
    EvalSummary,
    PatternSummary,
    Point,
    Series,
    SuspectTruth,
    Window,
)
from sitegen.model.timeline import Edit, EvalHistory
from sitegen.pages.commit import effects_of_commits
from sitegen.pages.field import CASES
from sitegen.pages.instructions import edits_by_variant
from sitegen.pages.labels import model_stated
from sitegen.pages.overview.focus import fell_together, lacking, longest_streaks, newly_wrong, weak_sections
from sitegen.pages.report.page import ReportView
from sitegen.pages.report.patterns import pattern_summaries
from sitegen.scoring.kinds import scorer, verdict
from sitegen.scoring.mapping_use import mapping_use
from sitegen.scoring.usage import all_specs
from sitegen.text.plain import line
from sitegen.text.values import metric_text

if TYPE_CHECKING:
    from sitegen.engine.sources import EvalSources

LOCATED: Final = 25
"""Largest number of suspect labels whose line is looked up: each lookup scores the output a few times."""


EncodedEffects: TypeAlias = Mapping[str, bytes]
"""The effects of commits on one eval by the id of the commit, as compressed JSON: as values, those of 2,000 commits
took 270 MB."""


class EvalTask(Frozen, dict=True, gc=True):
    """Everything that a process needs to score one eval, and to write pages of it."""

    context: WorkerContext
    info: EvalInfo
    history: EvalHistory
    edits: tuple[Edit, ...]
    """The edits of the instruction files that drive the eval, by commit."""
    moved: Mapping[EditedFile, str]
    """The last path of the file for each edit of a file that was moved later."""
    first_new: int
    """Index of the first snapshot that the last build did not have."""
    cached: tuple[CachedRow, ...]
    """The cached values of the eval, with the scorecards that its pages may need."""
    source_folders: tuple[str, ...]
    """Folders in which the eval may have been at some commit, if it states a source: the present ones, then earlier
    ones, the newest first."""
    notes: bytes
    """The content of its file of notes; empty if there is none."""
    baselines: tuple[tuple[str, int], ...]
    """The name of each baseline, and the index of its snapshot."""

    @cached_property
    def output_edits(self) -> OutputEdits:
        """The snapshots of the eval, with the edits that belong to each."""
        return OutputEdits(self.history.snapshots, self.edits)

    @property
    def sources(self) -> EvalSources | None:
        """The sources of the values of the eval; None if it states none."""
        if not self.info.source:
            return None
        from sitegen.engine.sources import EvalSources  # few evals have sources

        return EvalSources(self.context, self.info, self.source_folders)

    @property
    def read_notes(self) -> Parsed[Notes]:
        """The notes of people about the eval; without what they wrote freely if it hides values."""
        notes, findings = read_notes(self.notes)
        if self.context.redact:
            notes = tuple((line, dataclasses.replace(note, note="", code="", by="")) for line, note in notes)
            message = (
                "A part of the notes is not understood. It does not count, and is not quoted: the eval hides values."
            )
            findings = tuple(replace(finding, message=message, value="") for finding in findings)
        return Parsed(notes, findings)


class EvalDone(Frozen):
    """A scored eval."""

    record: EvalRecord
    history: EvalHistory
    """The history of the task, with marks at the contents that this clone lacks."""
    cached: tuple[CachedRow, ...]
    """New values for the memo."""
    commit_effects: EncodedEffects
    """The effects of commits with new points."""
    lost_contents: tuple[str, ...] = ()
    """Why each content that this clone lacks is missing. Each is a problem, and the next build tries again."""


def score_eval(task: EvalTask) -> EvalDone | Problem:
    """Score what the memo lacks, and compute everything that pages show of all points. No page is written.

    If sitegen fails, a problem is returned. An output whose content this clone lacks is not scored; all others are.
    """
    return attempt("the pages of this eval", lambda: _scored_eval(task), eval_id=task.info.id)


def _scored_eval(task: EvalTask) -> EvalDone:
    try:
        return _EvalJob(task).run()
    except MissingObjectsError:
        history, lost = without_lost_contents(task.context, task.history)
        if history is task.history:
            raise
        return replace(_EvalJob(replace(task, history=history)).run(), lost_contents=lost)


class _EvalJob:
    """Scores one eval, from the oldest snapshot to the newest. Holds all scorecards, but only a few whole results."""

    def __init__(self, task: EvalTask) -> None:
        self._task = task
        self._context = task.context
        self._info = task.info
        self._snapshots = task.history.snapshots
        self._cache = TaskCache(task.cached)
        self._cards = EvalScorecards(self._context, task.history, self._cache)
        self._specs = self._cards.series_specs()
        self._card_keys = [self._cards.shown(snapshot)[0] for snapshot in self._snapshots]
        self._edits = task.output_edits
        self._notes, self._findings_in_notes = task.read_notes
        self._sources = task.sources
        self._page_keys = self._digests_of_reports()
        self._before = before = EVAL_RECORDS.get(self._cache, self._info.id)
        by_report = before.by_report if before else {}
        self._derived = [by_report[key] for key in takewhile(by_report.__contains__, self._page_keys)]
        self._known = before if by_report and self._page_keys[-1:] == [*by_report][-1:] else None
        """The record of the last build, if the newest report shows what it showed then."""

    def run(self) -> EvalDone:
        """Score the snapshots that lack anything, oldest first, then compute the points, effects and the record."""
        newest_point = [] if self._known and not self._sources else [*range(len(self._snapshots))][-1:]
        cells, newest = self._cards.cells(newest_point)
        first_new = self._task.first_new
        series = self._cards.series(self._info, self._edits, cells, self._derived)
        derived = [(point.change, point.interval, point.noise) for point in series.points]
        edit_windows = windows(series.points, self._edits)
        last = [*self._snapshots[:first_new][-1:]]
        is_same_truth = [at.under_rules_of(self._snapshots[-1]) for at in last] == last
        first = first_new if is_same_truth else 0  # other ground truth or rules judge all edits anew
        edits = [window for window in edit_windows if window.before is not None and window.after >= first]
        pairs = [*spans_of_commits(self._snapshots, first_new)]
        sides = ((self._snapshots[before], self._snapshots[after]) for before, after in pairs)
        self._cards.filled(mixed for pair in sides for mixed in mixtures(*pair))
        compared = changes(series, pairs, self._cards.__getitem__)
        outcomes = {window.edit: window for window in (self._before.summary.windows if self._before else ())}
        outcomes |= {window.edit: self._outcome(series, window) for window in edits}
        decided = tuple([window if window.before is None else outcomes[window.edit] for window in edit_windows])
        suspects, corrections = self._suspects(series)
        others = (next(alike) for _, alike in groupby(series.points, findings_in))  # as a rule few
        of_points = [problems_of_point(series.info, point) for point in others]
        of_source: tuple[Problem, ...] = ()
        if self._sources and newest:
            _, _, of_source = self._sources.tree_page(self._snapshots[-1], newest)
        known, pictures = self._known, self._before.pictures if self._before else {}
        inputs = None if known else self._cards.newest_inputs
        return EvalDone(
            record=EvalRecord(
                summary=self._summary(series, newest, decided, suspects),
                attributes=tuple(sorted(series.cells.by_attribute)),
                cases=self._cases(series),
                problems=(
                    *problems_of_points(of_points, deleted=series.history.deleted),
                    *of_source,
                    *_problem_of_headline(series),
                    *self._problems_of_notes(series),
                ),
                mapping_use=known.mapping_use if known else mapping_use(inputs) if inputs else None,
                pictures={key: pictures[key] for key in self._page_keys if key in pictures},
                notes=digest(self._task.notes),
                corrections=corrections,
                derived=zlib.compress(encode(dict(zip(self._page_keys, derived, strict=True))), 1),
            ),
            history=self._task.history,
            cached=self._cache.new,
            commit_effects={
                sha: zlib.compress(encode(effect), 1)
                for sha, effect in effects_of_commits(series, self._edits, first_new, compared)
            },
        )

    def _summary(
        self, series: Series, newest: Result | None, windows: tuple[Window, ...], suspects: tuple[SuspectTruth, ...]
    ) -> EvalSummary:
        """Reduce a series to what pages of the whole site need: a few numbers for each point.

        ``newest``: the result of the last point, if the record of the last build does not show it.
        """
        name = series.specs[0].name
        best = best_points(series.points, series.specs[:1])[name]
        output = best_output(series, best[-1] if best else None, self._edits.made_with)
        known = self._known.summary if self._known else None
        at = output.at if output else None
        since = (
            known.since_best if known and known.best_output == output else since_best(series, at, self._cards.results)
        )
        steps: tuple[Step, ...] = known.steps if known else ()
        patterns: tuple[PatternSummary, ...] = known.patterns if known else ()
        if newest and not known:
            steps = with_losses(series, steps_of(series), best, since)
            with working_on(self._snapshots[-1]):
                patterns = _patterns(series, newest)
        cards = [point.scorecard for point in series.points]
        point = series.points[-1] if series.points else None
        then = [card.metric(name) for card in cards]
        now = [(point.now or point.scorecard).metric(name) for point in series.points]
        firsts = comparable_since(cards, [name])[name]
        outputs = [point for point in series.points if "outputs" in point.snapshot.cause][-2:]
        judged = verdict(all_specs(series.specs), series.info.thresholds, point.scorecard.metrics if point else ())
        return EvalSummary(
            info=series.info,
            specs=series.specs[:HEADLINES],
            headlines=tuple(map(headline, series.points, repeat(series.specs), firsts)),
            deleted=series.history.deleted,
            without_output=series.history.without_output,
            stale=point is not None and point.stale,
            unlike=known.unlike if known else unlike(self._sources, *outputs) if outputs[1:] else "",
            change=point.change if point else None,
            weak=weak_sections(series),
            newly_wrong=newly_wrong(series),
            longest=longest_streaks(series),
            suspects=tuple(label for label in suspects if label.judged != "right"),
            upheld=tuple(label for label in suspects if label.judged == "right"),
            steps=steps,
            windows=windows,
            best_output=output,
            made_with=(self._edits.made_with or [()])[-1],
            now=() if now == then else tuple(now),
            best=best,
            metrics=tuple(name for spec in series.specs for name in spec.names),
            usage=point.scorecard.usage if point else None,
            recorded_otherwise=recorded_otherwise(point.snapshot, point.scorecard, name)
            if point and not series.info.recorded
            else None,
            since_best=since,
            averaged=averaged(series.specs[0], point.scorecard) if point else "",
            patterns=patterns,
            fields=field_summaries(series),
            fallen=known.fallen if known else fallen_slices(series),
            together=tuple(fell_together(series.info, point, (series.cells, len(cards) - 2, len(cards) - 1))),
            notes=len(self._notes),
            targets=tuple((row.label, row.status == "PASS") for row in judged.rows if row.status != "SKIP"),
            has_variants=point is not None and point.scorecard.has_variants,
            has_answerers=point is not None and bool(answerers(point.scorecard)),
        )

    def _outcome(self, series: Series, window: Window) -> Window:
        """Add to a window what became of the eval, or of the one variant whose prompt was edited: others are a control.

        Both by the newest ground truth and rules.
        """
        pair = window.before or 0, window.after
        judged, places = judged_today(series, pair, self._cards.results)
        moved = change(judged, *places)
        before, after = (series.points[at] for at in pair)
        said = [model_stated(before, after)]
        if judged is not series:
            spec = series.specs[0]
            values = [point.scorecard.metric(spec.name) for point in (before, after)]
            then = " and ".join("—" if value is None else metric_text(value, spec.unit) for value in values)
            said.insert(0, f"By today's ground truth and rules; by those of their time {spec.label} {then}.")
        snapshots = [judged.points[at].snapshot for at in places]
        variants = [{each.axes.get("variant", "") for each in series.points[at].scorecard.documents} for at in pair]
        alone, window = self._variant_edited(window, variants[1])
        if alone in variants[0] and len(variants[1]) > 1:
            results = self._cards.results([*snapshots, *snapshots[0].judged_as(snapshots[1])])
            parts = [part_of(result, {"variant": alone}) for result in results]
            said += [moved_answerers(judged, places, ("variant",))]
            judged, places = series_of(series.info, series.specs, snapshots, parts[:2], rejudged=parts[2:]), (0, 1)
            moved = change(judged, 0, 1)
            common = tuple(moved.of(spec.name) for spec in series.specs[:HEADLINES])
            window = window._replace(variant=alone, over_common=common)
        if judged is not series:
            shown = tuple(headline(judged.points[at], series.specs).values for at in places)
            window = window._replace(values=shown)
        said += [moved_answerers(judged, places)] if moved.verdict else []
        flips = Flips(fixed=moved.flips.fixed, broken=moved.flips.broken, doubts=moved.flips.doubts)
        window = window._replace(verdict=moved.verdict, flips=flips, by_answerer=" ".join(filter(None, said)))
        return window._replace(unlike=unlike(self._sources, before, after))

    def _variant_edited(self, window: Window, variants: Set[str]) -> tuple[str | None, Window]:
        """Return the only variant whose prompt the edit of a window changed; None if others read what it changed.

        The change of a variant is by no edit of another one's prompt.
        """
        since = attributed_to(self._edits.made_with[window.before or 0])
        until = max(window.edit, window.or_edit.position if window.or_edit else window.edit)
        edited = [edit for edit in self._edits.edits if since < edit.commit.position <= until]
        own = [edit for edit in edited if edit.commit.position == window.edit]
        prompts = edits_by_variant(edited, {})
        of_variants = {name: [each.edit for each in prompts.get(name.partition(":")[0], ())] for name in variants}
        with_skill = {name for name in variants if not BASELINES.fullmatch(name)}
        is_skill = all("skill" in edit.path.casefold() for edit in edited) and with_skill < variants
        alone = {name for name, edits in of_variants.items() if all(edit in edits for edit in own)}
        alone |= with_skill if is_skill else set()  # the others do not read it
        named = all(any(edit in edits for edits in of_variants.values()) for edit in edited)
        if len(alone) != 1 or not (named or is_skill):
            return None, window
        (name,) = alone
        others = [edit.commit for edit in of_variants[name] if edit.commit.position != window.edit]
        if named and any(edit.commit == window.or_edit for edit in edited):
            window = window._replace(or_edit=others[-1] if others else None)
        return name, window

    def _cases(self, series: Series) -> tuple[str, ...]:
        """Return the cases that have a page, in the order in which they were first answered."""
        if not traits_of(self._info.kind).has_cases or self._context.redact:
            return ()
        documents = (document for point in series.points for document in point.scorecard.documents)
        return tuple(islice(dict.fromkeys(document.case for document in documents), CASES))

    def _suspects(self, series: Series) -> tuple[tuple[SuspectTruth, ...], dict[str, tuple[Correction | None, str]]]:
        """Return the suspect labels at the newest point, with the line of the ground truth that would have to change.

        Returns these lines, with evidence for other values, a second time, as ``EvalRecord.corrections``.
        """
        known = self._before.corrections if self._before else {}
        newest = series.points[-1].snapshot if series.points else None
        truth = newest.ground_truth if newest else None
        if newest is None or truth is None:  # outputs that another tool judged have no labels
            return (), {}
        suspects = suspect_truth(series, [note for _, note in self._notes])
        if self._context.redact:  # a line of the file can hold hidden fields
            return suspects, {}
        outputs = {
            suspect.agreeing[0]: series.points[suspect.agreeing[0]].snapshot.under_rules_of(newest)
            for suspect in suspects[:LOCATED]
        }
        keys = [
            digest(
                self._cards.key(outputs[suspect.agreeing[0]]),
                repr((truth.path, suspect.document, suspect.path, suspect.expected, suspect.actual)),
            )
            for suspect in suspects[:LOCATED]
        ]
        corrections = {key: known[key] for key in keys if key in known}
        missing = [(key, suspect) for key, suspect in zip(keys, suspects, strict=False) if key not in corrections]
        firsts = dict.fromkeys(suspect.agreeing[0] for _, suspect in missing)
        score, named = scorer(series.info.kind).score, self._cards.named
        for first, inputs in zip(firsts, self._cards.inputs([outputs[first] for first in firsts]), strict=True):
            from sitegen.scoring.truth_correction import corrected_line

            result = named(outputs[first], score(inputs))
            for key, suspect in missing:
                if suspect.agreeing[0] == first:
                    at = suspect.document, suspect.path
                    said = (one.evidence for one in result.judgements if (one.document, one.path) == at)
                    scored = lambda changed, first=first: named(outputs[first], score(changed))  # noqa: E731
                    corrections[key] = corrected_line(scored, inputs, result, suspect), next(said, "")
        both = [(suspect, *corrections[key]) for suspect, key in zip(suspects, keys, strict=False)]
        located = [replace(suspect, correction=fix, evidence=said) for suspect, fix, said in both]
        return (*located, *suspects[LOCATED:]), corrections

    def _problems_of_notes(self, series: Series) -> Iterator[Problem]:
        """Yield what is wrong with the file of notes, which no score depends on, and notes on what was never judged."""
        for finding in self._findings_in_notes:
            yield replace(finding.in_file(self._info.notes), eval_id=self._info.id, severity="note")
        for at in placed_notes(self._notes, series):
            if at.snapshot is None or not at.attributes:
                what = f"iteration {line(at.note.iteration, 60)!r}" if at.snapshot is None else "case and field"
                yield Problem(
                    severity="note",
                    message=f"A note is about no known {what}",
                    fix="Copy case, field and iteration from the report.",
                    path=self._info.notes,
                    line=at.line,
                    eval_id=self._info.id,
                )

    def _digests_of_reports(self) -> list[str]:
        """Return for each report a digest of what it shows: all snapshots up to its own, the eval, the templates."""
        moved = digest(encode(sorted(self._task.moved.items())))
        edits, notes = self._edits, [note for _, note in self._notes]
        limits = self._context.limits
        digests = []
        history = ""
        for snapshot, key, since_previous, beside, commit in zip(
            self._snapshots, self._card_keys, edits.since_previous, edits.beside, edits.made_with, strict=True
        ):
            since, linked = ([(one.path, one.commit.sha) for one in each] for each in (since_previous, beside))
            history = digest(history, encode((snapshot, key, since)))
            page_key = digest_of_inputs(
                "eval",
                "report",
                look=self._context.look,
                largest_file=str(limits.max_blob_bytes),  # it may be beyond 64 bits
                discrepancies_per_type=str(limits.discrepancies_per_type),
                eval=self._info,
                metrics=self._specs,
                moved_files=moved,
                points=history,
                made_with=commit,
                edits_beside=linked,
                source=sorted(self._sources.files(snapshot).items(), key=repr) if self._sources else (),
                notes=notes_about(notes, snapshot.label, newest=snapshot is self._snapshots[-1]),
            )
            digests.append(page_key)
        return digests


def unlike(sources: EvalSources | None, before: Point, after: Point) -> str:
    """Return how an output differs from an earlier one in more than what was written; empty if it does not."""
    old, new = (sources.files(at.snapshot) if sources else {} for at in (before, after))
    changed = any(old.get(file, oid) != oid for file, oid in new.items())
    lacks, lacked = lacking(before, after), lacking(after, before)
    return lacks or f"follows one that {lacked}" * bool(lacked) or "was made from other inputs" * changed


def _patterns(series: Series, newest: Result) -> tuple[PatternSummary, ...]:
    last = len(series.points) - 1
    starts = ((cell.key, cell.wrong_since(last)) for cell in series.cells.cells)
    view = ReportView(
        info=series.info,
        specs=series.specs,
        point=series.points[-1],
        previous=None,
        result=newest,
        snapshots=series.history.snapshots,
        limit=0,
        wrong_since={key: start for key, start in starts if start is not None},
    )
    return pattern_summaries(view.patterns, len(view.wrong[0]))


def _problem_of_headline(series: Series) -> Iterator[Problem]:
    """Yield a problem if the newest recorded run lacks the headline of an earlier one, or if its unit differs."""
    cards = [point.scorecard for point in series.points if point.scorecard.specs]
    missing = series.specs[0].name
    if scorer(series.info.kind).metrics or series.history.deleted or not cards:
        return
    spec = series.specs[0]
    if spec.recorded and spec.higher_is_better and in_another_unit(card.metric(missing) for card in cards):
        message = f"Some runs seem to write {line(missing, 60)!r} as a share, and others as a percentage"
        yield Problem.of_type("mixed_units", message, "Write it in one unit in every run.", eval_id=series.info.id)
    if cards[-1] is not series.points[-1].scorecard or missing in {spec.name for spec in cards[-1].specs}:
        return
    runs = Counter(spec.name for card in cards for spec in card.specs)
    usual = [spec.name for spec in cards[-1].specs if is_headline(spec.name)]
    instead = max(usual, key=runs.__getitem__, default="")
    also = f", and {runs[instead]:,} of {len(cards):,} runs have {line(instead, 60)!r}" if instead else ""
    at = series.points[-1].snapshot
    yield Problem(
        "warning",
        f"The newest run has no number {line(missing, 60)!r}, the headline since an earlier run{also}",
        f"Write settings: {{headline: {line(instead or 'NAME', 60)}}} into the eval's entry of the manifest; an entry "
        "that is new also needs kind, dir and outputs.",
        path=at.outputs[0].path if at.outputs else None,
        commit=at.commit.sha,
        eval_id=series.info.id,
        type="missing_headline",
    )
