"""Collects what the report of one snapshot shows, for ``pages/report.html``."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Final

from msgspec.structs import replace

from sitegen.analysis.recorded import DifferencePart
from sitegen.analysis.series import variant_spread
from sitegen.frozen import Frozen
from sitegen.model.commits import Commit
from sitegen.model.error_summaries import WeakSection
from sitegen.model.metrics import MetricSpec, Verdict
from sitegen.model.noise import Interval
from sitegen.model.panels import AlignmentPanel, Panel
from sitegen.model.problems import Problem
from sitegen.model.scorecards import DocumentScore, Result, Scorecard
from sitegen.model.series import EvalInfo, Point, VariantSpread
from sitegen.model.site import Page
from sitegen.model.timeline import Snapshot
from sitegen.pages import links
from sitegen.pages.labels import CAUSES
from sitegen.pages.problems import Banner, banner
from sitegen.pages.recorded import RecordedView, recorded_view
from sitegen.pages.report import origin, spans
from sitegen.pages.report.discrepancies import (
    Discrepancies,
    EarlierPoints,
    discrepancies,
    placed_error,
    since,
    wrong_in,
)
from sitegen.pages.report.numbers import (
    ErrorChange,
    ReportMetric,
    error_changes,
    grouping,
    metric_changes,
    sections,
)
from sitegen.pages.report.patterns import PatternsView, patterns_view
from sitegen.pages.report.tree import has_tree
from sitegen.pages.report.why import Fates, RunsView, WhyView, fates, runs_view, why
from sitegen.scoring.rules import FieldRules
from sitegen.scoring.usage import all_specs
from sitegen.scoring.verdict import verdict
from sitegen.stats.counts import errors

ALIGNED: Final = 100
"""Largest number of rows of one alignment in a report."""

LISTS: Final = 100
"""Largest number of alignments in a report: there is one for each list of each document."""

DOCUMENTS: Final = 200
"""Largest number of documents in a report: the ones with the most errors or, if errors are not counted, the lowest
scores."""


def listed_documents(documents: tuple[DocumentScore, ...]) -> tuple[DocumentScore, ...]:
    """The documents that are listed: none if there is only one."""
    if len(documents) <= DOCUMENTS:
        return documents if len(documents) > 1 else ()
    return tuple(
        sorted(documents, key=lambda document: (-errors(document.counts), _headline_of_document(document)))[:DOCUMENTS]
    )


def _headline_of_document(score: DocumentScore) -> float:
    """The document's first metric; infinity without a value, so that it is sorted last."""
    value = score.metrics[0].value if score.metrics else None
    return inf if value is None else value


def listed_alignments(result: Result) -> list[AlignmentPanel]:
    """The alignments of lists that have items."""
    return [panel for panel in result.panels if panel.kind == "alignment" and panel.rows]


def bounded_alignment(alignment: AlignmentPanel) -> AlignmentPanel:
    """An alignment with no more rows than a report shows."""
    return replace(alignment, rows=alignment.rows[:ALIGNED], left_out=max(0, len(alignment.rows) - ALIGNED))


class ReportView(Frozen):
    """What ``pages/report.html`` shows."""

    info: EvalInfo
    snapshot: Snapshot
    card: Scorecard
    cause: str
    """Why the snapshot was scored, in words."""
    made_with: str
    """The evidence for the instructions of the output, in words."""
    instructions: tuple[Commit, ...]
    """The commits of the edits that the output can have been made with, as in ``OutputEdits.made_with``."""
    edits: tuple[origin.CommitEdits, ...]
    """Edits of instructions since the previous point, newest first."""
    files: tuple[origin.SnapshotFile, ...]
    """The files that the snapshot was scored from."""
    previous: origin.Previous | None
    metrics: tuple[ReportMetric, ...]
    interval: Interval | None
    """Around the headline."""
    why: WhyView | None
    """None for the first point."""
    fates: Fates | None
    runs: RunsView | None
    errors: tuple[ErrorChange, ...]
    error_change: int | None
    sections: tuple[WeakSection, ...]
    patterns: PatternsView | None
    """The error patterns; None if no rule explains more than a few errors."""
    documents: tuple[DocumentScore, ...]
    """Empty if there is only one."""
    more_documents: int
    document_metrics: tuple[MetricSpec, ...]
    """Metrics that the kind computes for each document besides its counts."""
    discrepancies: Discrepancies
    data: str
    """Address of the data file with the whole result, relative to the report."""
    problems: tuple[Problem, ...]
    banner: Banner | None
    panels: tuple[Panel, ...]
    """The panels of the scorer, except alignments."""
    alignments: tuple[AlignmentPanel, ...]
    more_alignments: int
    verdict: Verdict
    """The verdict on the metrics that have a threshold."""
    spread: VariantSpread | None
    """The range of the headline over variants, whose average it is."""
    recorded: RecordedView | None
    """The metrics that the run recorded, if they can be compared."""
    tree: str = ""
    """Address of the page with ground truth and output side by side, relative to the report; empty without one."""
    copied: Snapshot | None = None
    """The first snapshot with the same output, if this one is a copy."""
    nav: str = "evals"

    @property
    def counted(self) -> bool:
        """Whether this or the previous point has counts; a judge may only give scores."""
        return any(self.card.counts) or any(error.change for error in self.errors)

    @property
    def listed_metrics(self) -> tuple[ReportMetric, ...]:
        """All metrics; without counts, the headline and the metrics that have a value."""
        if self.counted or self.info.recorded:
            return self.metrics
        return (*self.metrics[:1], *(metric for metric in self.metrics[1:] if metric.value is not None))

    @property
    def rows(self) -> str:
        """Address of the file with the discrepancies that the page can load, relative to the report."""
        return links.file_name(links.report_rows(self.info.id, self.snapshot.slug))

    @property
    def leaves_anything_out(self) -> bool:
        """Whether the page omits parts of what was judged, so that the data file has to be written."""
        return bool(
            self.discrepancies.left_out
            or self.more_documents
            or self.more_alignments
            or any(alignment.left_out for alignment in self.alignments)
            or any(panel.kind == "spans" and spans.is_bounded(panel) for panel in self.panels)
        )

    @property
    def warnings(self) -> list[Problem]:
        """Problems that are listed before the numbers."""
        return [problem for problem in self.problems if problem.severity != "note"]

    @property
    def notes(self) -> list[Problem]:
        """Problems that are only worth knowing."""
        return [problem for problem in self.problems if problem.severity == "note"]


def report_page(
    info: EvalInfo,
    specs: tuple[MetricSpec, ...],
    point: Point,
    previous: Point | None,
    result: Result,
    past: EarlierPoints,
    limit: int,
    problems: tuple[Problem, ...] = (),
    instructions: tuple[Commit, ...] = (),
    data: str | None = None,
    rules: Callable[[], FieldRules] | None = None,
    recorded: tuple[DifferencePart, ...] = (),
) -> Page:
    """The report of one snapshot.

    Args:
        info: the eval.
        specs: its metrics, the headline first.
        point: the snapshot with its scores.
        previous: the point before it in the series, if there is one.
        result: the whole result of the snapshot.
        past: the facts about earlier points that the report needs.
        limit: how many discrepancies of each type are drawn on the page.
        problems: of the files that the snapshot was scored from.
        instructions: the commits of the edits that the output can have been made with, oldest first.
        data: address of the file with the whole result, relative to the page, for a page without a site around it,
            which loads nothing; default: its place in a site.
        rules: makes the rules by which the output was scored; None if no field mapping applies.
        recorded: why the run's own record has another F1.

    """
    snapshot, card = point.snapshot, result.scorecard
    wrong = wrong_in(result)
    if card.status == "unreadable" and len({error.note for error in wrong}) == 1:
        wrong = [replace(error, note="") for error in wrong]  # the page says it once, above the errors
    group = grouping(info, card.fields)
    schema_sections = sections(card.fields, group)
    errors = error_changes(previous.scorecard if previous else None, card, point.change)
    alignments = listed_alignments(result)
    placed = placed_error.rows_of(wrong)
    started = since(info, placed, past)
    listed = discrepancies(
        placed,
        started,
        limit,
        sections={section.name for section in schema_sections},
        group=group,
        questions=dict(result.questions),
    )
    view = ReportView(
        info=info,
        snapshot=snapshot,
        card=card,
        cause=", ".join(CAUSES[cause] for cause in snapshot.cause),
        made_with=origin.made_with(snapshot, instructions),
        instructions=instructions,
        edits=origin.edits_by_commit(point.edits, past.moved),
        files=origin.files(snapshot),
        previous=origin.previous_of(info, previous, snapshot.label),
        metrics=metric_changes(specs, card, point.change, info.nouns),
        interval=point.interval,
        why=why(info, specs, previous, point),
        fates=fates(info.id, point.change.flips, past.fixed) if point.change else None,
        runs=runs_view(snapshot, past.runs),
        errors=errors,
        error_change=_total_change(errors),
        sections=schema_sections,
        patterns=patterns_view(info.id, specs[0], result, wrong, started, rules),
        documents=listed_documents(card.documents),
        more_documents=max(0, len(card.documents) - DOCUMENTS),
        document_metrics=_document_metrics(specs, card.documents),
        discrepancies=listed if data is None else replace(listed, loadable=()),
        data=data or links.file_name(links.report_data(info.id, snapshot.slug)),
        problems=problems,
        banner=banner(problems),
        panels=tuple(panel for panel in result.panels if panel.kind != "alignment"),
        alignments=tuple(map(bounded_alignment, alignments[:LISTS])),
        more_alignments=max(0, len(alignments) - LISTS),
        verdict=verdict(all_specs(specs), info.thresholds, card.metrics),
        spread=variant_spread(info.kind, specs[0], card),
        recorded=recorded_view(snapshot, card, specs, previous, recorded),
        tree=links.file_name(links.report_tree(info.id, snapshot.slug))
        if data is None and has_tree(info, result)
        else "",
        copied=None if point.copy_of is None else past.snapshots[point.copy_of],
    )
    return Page(links.report(info.id, snapshot.slug), "pages/report.html", view)


def _document_metrics(specs: tuple[MetricSpec, ...], documents: tuple[DocumentScore, ...]) -> tuple[MetricSpec, ...]:
    with_values = {name for document in documents for name, value in document.metrics if value is not None}
    return tuple(spec for spec in specs if spec.name in with_values)


def _total_change(errors: tuple[ErrorChange, ...]) -> int | None:
    """The change of all types together; None unless the change of every type is known."""
    changes = [error.change for error in errors if error.change is not None]
    return sum(changes) if len(changes) == len(errors) else None
