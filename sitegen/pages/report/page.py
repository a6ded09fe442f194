"""The report of one snapshot.

``pages/report.html`` reads the point and its scorecard, and asks the view for the rest.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from math import inf
from typing import Final
from urllib.parse import urlencode

from msgspec.structs import replace

from sitegen.analysis.noise.repeats import Repeats
from sitegen.analysis.recorded import DifferencePart, recorded_otherwise
from sitegen.analysis.slices import NO_CELLS, At, Slice, Split, splits
from sitegen.config.models import Note
from sitegen.model.changes import EditedFile
from sitegen.model.commits import Commit
from sitegen.model.frozen import Frozen
from sitegen.model.metrics import ErrorNumbers, MetricSpec, Verdict
from sitegen.model.outcomes import CellFlip, CellKey, Judgement, Stated
from sitegen.model.problems import Problem
from sitegen.model.scorecards import AlignmentPanel, DocumentScore, Result, Scorecard, SpansPanel
from sitegen.model.series import HEADLINES, EvalInfo, Point, WeakSection
from sitegen.model.site import Page
from sitegen.model.timeline import Blob, Snapshot
from sitegen.pages import links
from sitegen.pages.instructions import ChangedLines, FileEdit
from sitegen.pages.labels import CAUSES, DisplayedChange, changes
from sitegen.pages.report import spans
from sitegen.pages.report.discrepancies import (
    Discrepancies,
    PlacedError,
    Since,
    discrepancies,
    error_changes,
    grouping,
    placed_error,
    sections,
)
from sitegen.pages.report.grid import CaseGrid
from sitegen.pages.report.patterns import PatternRow, headline_without, pattern_rows
from sitegen.pages.report.tree import has_tree
from sitegen.pages.report.why_rows import RecordedRow, agrees, recorded_rows, why_otherwise
from sitegen.scoring.kinds import verdict
from sitegen.scoring.usage import all_specs
from sitegen.stats.confidence import stated_by_field
from sitegen.stats.counts import BY_NAME, PASSED, error_numbers, errors

ALIGNED: Final = 100
"""Largest number of rows of one alignment in a report."""

LISTS: Final = 100
"""Largest number of alignments in a report: there is one for each list of each document."""

DOCUMENTS: Final = 200
"""Largest number of documents in a report: the ones with the most errors or, if errors are not counted, the lowest
scores."""


def _worst_first(score: DocumentScore) -> tuple[int, float]:
    """The order of documents; one without a value of its first metric is sorted last."""
    value = score.metrics[0].value if score.metrics else None
    return -errors(score.counts), inf if value is None else value


class ReportView(Frozen, dict=True, gc=True):
    """The report of one snapshot, which ``pages/report.html`` shows."""

    info: EvalInfo
    specs: tuple[MetricSpec, ...]
    point: Point
    previous: Point | None
    result: Result
    snapshots: Sequence[Snapshot]
    """Those of the series up to its own."""
    limit: int
    """How many errors of each type are drawn on the page."""
    wrong_since: Mapping[CellKey, int] = {}
    """For wrong cells, the index of the first point of their streak of errors; if missing, the report's own."""
    fixed: Sequence[CellFlip] = ()
    runs: Repeats | None = None
    moved: Mapping[EditedFile, str] = {}
    """Maps each edit whose instruction file was moved later to the file's last path."""
    problems: tuple[Problem, ...] = ()
    instructions: tuple[Commit, ...] = ()
    """The commits of the edits that the output can have been made with, oldest first."""
    whole: str | None = None
    """Address of the file with the whole result, relative to the page, for a page without a site around it, which loads
    nothing; None: its place in a site."""
    difference: tuple[DifferencePart, ...] = ()
    """What leads from the headline that the run recorded to the computed one; empty if that is not known."""
    grid: CaseGrid | None = None
    """The answers, side by side; None if the output has no cases."""
    said: tuple[Note, ...] = ()
    lines: ChangedLines | None = None
    """Of the newest edit since the previous point, if the output is worse by more than chance."""
    at: At = NO_CELLS
    """The cells of the eval, by which slices are judged."""
    unlike: str = ""
    """As in ``Window``, since the previous point."""

    @property
    def page(self) -> Page:
        """The page that shows it."""
        return Page(links.report(self.info.id, self.snapshot.slug), "pages/report.html", self)

    @cached_property
    def changes(self) -> tuple[DisplayedChange, ...]:
        """Changes of the first metrics since the previous point; empty for a first point and for recorded numbers."""
        if self.previous is None or self.info.recorded:
            return ()
        return changes(self.specs[:HEADLINES], self.info.nouns, self.previous, self.point)

    @cached_property
    def error_changes(self) -> tuple[int | None, ...]:
        """Change of the errors of each type; None where it is unknown."""
        return error_changes(self.previous.scorecard if self.previous else None, self.card, self.point.change)

    @cached_property
    def sections(self) -> tuple[WeakSection, ...]:
        """The sections of the schema with their errors."""
        return sections(self.card.fields, grouping(self.info, self.card.fields))

    @cached_property
    def wrong(self) -> tuple[list[Judgement], list[PlacedError], list[Since]]:
        """The errors, their places, and the start of the streak of each."""
        wrong = self.result.wrong
        if self.card.status == "unreadable" and len({error.note for error in wrong}) == 1:
            wrong = [replace(error, note="") for error in wrong]  # the page says it once, above the errors
        placed, last = placed_error.rows_of(wrong), len(self.snapshots) - 1
        starts = [self.wrong_since.get(each.key, last) for each in placed]
        since = {
            start: Since(
                label=self.snapshots[start].label,
                file=f"{self.snapshots[start].slug}.html",
                iterations=len({snapshot.iteration for snapshot in self.snapshots[start:]}),
                new=start == last > 0,
            )
            for start in set(starts)
        }
        return wrong, placed, [since[start] for start in starts]

    @cached_property
    def discrepancies(self) -> Discrepancies:
        """The errors that the page lists."""
        _, placed, started = self.wrong
        listed = discrepancies(
            placed,
            started,
            self.limit,
            sections={section.name for section in self.sections},
            group=grouping(self.info, self.card.fields),
            questions={answer.document: case.question for case in self.result.cases for answer in case.answers},
        )
        if self.said:
            listed = listed.with_notes(self.said, {each.name: each for each in self.card.documents})
        return listed if self.whole is None else replace(listed, loadable=())

    @cached_property
    def patterns(self) -> tuple[PatternRow, ...]:
        """The error patterns, most errors first."""
        wrong, _, started = self.wrong
        return pattern_rows(self.specs[0], self.result, wrong, started)

    @property
    def without(self) -> float | None:
        """The headline if the errors of all patterns were right; None if it is not a ratio of the counts."""
        return headline_without(self.specs[0], self.card, [error for row in self.patterns for error in row.errors])

    @cached_property
    def documents(self) -> tuple[DocumentScore, ...]:
        """The documents that are listed: none if there is only one."""
        documents = self.card.documents
        if len(documents) <= DOCUMENTS:
            return documents if len(documents) > 1 else ()
        return tuple(sorted(documents, key=_worst_first)[:DOCUMENTS])

    @property
    def data(self) -> str:
        """Address of the file with the whole result, relative to the report."""
        return self.whole or links.file_name(links.report_data(self.info.id, self.snapshot.slug))

    @property
    def alignments(self) -> list[AlignmentPanel]:
        """The alignments with rows, of which the page shows ``LISTS``."""
        return [panel for panel in self.result.alignments if panel.rows]

    @property
    def tree(self) -> str:
        """Address of the page with ground truth and output side by side, relative to the report; empty without one."""
        if self.whole is not None or not has_tree(self.info, self.result):
            return ""
        return links.file_name(links.report_tree(self.info.id, self.snapshot.slug))

    @property
    def snapshot(self) -> Snapshot:
        """What was scored."""
        return self.point.snapshot

    @property
    def card(self) -> Scorecard:
        """Its scores."""
        return self.point.scorecard

    @property
    def errors(self) -> ErrorNumbers:
        """The number of errors of each type."""
        return error_numbers(self.card.counts)

    @property
    def counted(self) -> bool:
        """Whether this or the previous point has counts; a judge may only give scores."""
        return any(self.card.counts) or any(self.error_changes)

    @property
    def listed_specs(self) -> tuple[MetricSpec, ...]:
        """All metrics; without counts, the headline and the metrics that have a value."""
        if self.counted or self.info.recorded:
            return self.specs
        return (*self.specs[:1], *(spec for spec in self.specs[1:] if self.card.metric(spec.name) is not None))

    @property
    def leaves_anything_out(self) -> bool:
        """Whether the page omits parts of what was judged, so that the data file has to be written."""
        return bool(
            self.discrepancies.left_out
            or self.card.documents[DOCUMENTS:]
            or self.alignments[LISTS:]
            or any(alignment.rows[ALIGNED:] for alignment in self.alignments)
            or any(isinstance(panel, SpansPanel) and spans.is_bounded(panel) for panel in self.result.panels)
        )

    @property
    def recorded(self) -> list[RecordedRow]:
        """The recorded metrics, those that are computed otherwise first; empty if all agree."""
        known = {} if self.card.status == "no_ground_truth" else self.snapshot.recorded_metrics
        rows = recorded_rows(known, self.card, self.specs)
        return [] if all(map(agrees, rows)) else sorted(rows, key=agrees)

    @property
    def recorded_headline(self) -> RecordedRow | None:
        """The headline, if the run recorded another value."""
        otherwise = recorded_otherwise(self.snapshot, self.card, self.specs[0].name) is not None
        return self.recorded[0] if otherwise and self.recorded else None

    @property
    def why_otherwise(self) -> str:
        """Why the record differs."""
        return why_otherwise(self.snapshot, self.card, self.specs, self.previous, explained=bool(self.difference))

    @property
    def cause(self) -> str:
        """Why the snapshot was scored, in words: ``new output``, or ``copy of iteration-055``."""
        causes = [CAUSES[cause] for cause in self.snapshot.cause if cause != "outputs" or not self.copied_from]
        return ", ".join([f"copy of {self.copied_from.label}", *causes] if self.copied_from else causes)

    @property
    def previous_label(self) -> str:
        """The name of the previous point, with its commit if it is the same iteration, scored again."""
        if self.previous is None:
            return ""
        before = self.previous.snapshot
        return before.label if before.label != self.snapshot.label else f"{before.label} at {before.commit.short}"

    @property
    def copied_from(self) -> Snapshot | None:
        """The first snapshot with the same output, if this one is a copy."""
        return None if self.point.copy_of is None else self.snapshots[self.point.copy_of]

    def change_of(self, spec: MetricSpec) -> float | None:
        """The change of a metric since the previous point."""
        return self.point.change.of(spec.name) if self.point.change else None

    def note_of(self, spec: MetricSpec) -> str:
        """What a ratio was computed from, ``45 of 50 expected values correct``, or what an undefined metric lacks."""
        counts, nouns = self.card.counts, self.info.nouns
        ratio = PASSED if spec.equals else BY_NAME.get(spec.name)
        if ratio is None or any(spec.recorded for spec in self.specs):
            return spec.when_undefined if self.card.metric(spec.name) is None else ""
        noun = " values" if nouns.are_fields else f" {nouns.value}s" if nouns.are_verdicts else ""
        values = {"given": counts.tp + counts.fp, "expected": self.card.expected_values, "things": noun}
        said = [answer.document for case in self.result.cases for answer in case.answers]
        repeats = ", each repeat counted" * (len(said) > len({*said}))
        return ratio.note.format_map({**counts._asdict(), **values}) + repeats

    @property
    def document_metrics(self) -> list[MetricSpec]:
        """The metrics of documents beside their counts: the headline, and those that tell documents apart otherwise."""
        documents = [dict(document.metrics) for document in self.card.documents]
        columns: dict[tuple[float | None, ...], MetricSpec] = {}
        for spec in self.specs[: HEADLINES if self.info.recorded else None]:
            columns.setdefault(tuple([own.get(spec.name) for own in documents]), spec)
        return [spec for column, spec in columns.items() if len({*column} - {None}) > (spec is not self.specs[0])]

    @property
    def verdict_of(self) -> Verdict:
        """The verdict on the metrics that have a target."""
        return verdict(all_specs(self.specs), self.info.thresholds, self.card.metrics)

    @cached_property
    def stated(self) -> dict[str, list[Stated]]:
        """The confidences that the output states for values, by field, and whether each value is right."""
        return stated_by_field(self.result.judgements)

    @cached_property
    def splits(self) -> tuple[Split, ...]:
        """The output by variant and model, and by each tag of its cases; empty if no answers differ in any of these."""
        before = self.previous.scorecard if self.previous else None
        return tuple(splits(before, self.card, self.specs[0], self.at))

    @cached_property
    def case_pages(self) -> dict[str, str]:
        """The address of the page of the case of each document, where there is one, relative to the report."""
        paged = self.grid.with_page if self.grid else frozenset()
        cases = {document.name: document.case for document in self.card.documents}
        return {name: links.case_in_eval(case) for name, case in cases.items() if case in paged}

    @property
    def answered(self) -> list[Split]:
        """The output by variant and model, and by each alone."""
        return [split for split in self.splits if next(iter(split.values())).by_answerer]

    @property
    def tags(self) -> list[Slice]:
        """The output by each tag of its cases."""
        return [part for split in self.splits for part in split.values() if not part.by_answerer]

    @property
    def hidden(self) -> list[Slice]:
        """The slices along one axis that got worse by more than chance while the headline did not."""
        if not self.point.change or not self.point.change.may_hide:
            return []
        return [part for split in self.splits for part in split.values() if part.is_worse and len(part.where) == 1]

    @property
    def edits_by_commit(self) -> list[list[FileEdit]]:
        """The edits of instructions since the previous point, grouped by commit, the newest first."""
        by_commit: dict[str, list[FileEdit]] = {}
        for edit in self.point.beside:
            file = self.moved.get((edit.path, edit.commit.sha), edit.path)
            by_commit.setdefault(edit.commit.sha, []).append(FileEdit(edit, file))
        return list(reversed(by_commit.values()))

    @property
    def made_with(self) -> str:
        """The evidence for the instructions of an output, in words.

        This is the commit that the output records, else the time that it records, else the commit that added it.
        """
        if self.snapshot.made_at:
            return "the commit that the output records, or whose instructions it records by hash or version"
        if self.snapshot.recorded_at:
            how = "the last edit not after the time that the output records"
            return f"{how}, or the edit that was committed with it" if len(self.instructions) > 1 else how
        return "the last edit when this output was added; it records no commit or time"


def address(where: Mapping[str, str]) -> str:
    """The address of the errors of the answers with these values, for a report that does not show the answers."""
    return f"#{urlencode({'q': next(iter(where.values()))})}"


def files(snapshot: Snapshot) -> list[tuple[str, Blob | None]]:
    """The roles and the files that a snapshot was scored from: outputs, which alone may be missing, up to the fifth."""
    rest = {"Ground truth": snapshot.ground_truth, "Field mapping": snapshot.mapping, "Schema": snapshot.schema}
    listed: list[tuple[str, Blob | None]] = [("Output", blob) for blob in snapshot.outputs[:5] or (None,)]
    if more := len(snapshot.outputs[5:]):
        listed[-1] = (f"Output, and {more:,} more", listed[-1][1])
    return [*listed, *((role, blob) for role, blob in rest.items() if blob is not None)]
