"""The page of one snapshot."""

from __future__ import annotations

from typing import NamedTuple

from sitegen.analysis.noise.intervals import interval_of
from sitegen.model.commits import Commit
from sitegen.model.metrics import Convention, Counts, MetricSpec, Verdict
from sitegen.model.noise import Interval
from sitegen.model.outcomes import ErrorType
from sitegen.model.panels import AlignmentPanel, Panel
from sitegen.model.problems import Problem
from sitegen.model.scorecards import DocumentScore, FieldScore, Result, Status
from sitegen.model.series import EvalInfo, Point
from sitegen.model.site import Page
from sitegen.model.timeline import Blob
from sitegen.model.usage import RunUsage
from sitegen.pages import links
from sitegen.pages.labels import CAUSES
from sitegen.pages.recorded import RecordedView, recorded_view
from sitegen.pages.report import bounds, origin
from sitegen.pages.report.discrepancies import Discrepancy, EarlierPoints, discrepancies, left_out, since, wrong_in
from sitegen.pages.report.fates import Fates, fates
from sitegen.pages.report.numbers import ErrorChange, ReportMetric, error_changes, metric_changes
from sitegen.pages.report.runs import RunsView, runs_view
from sitegen.pages.report.sections import SchemaSection, grouping, sections
from sitegen.pages.report.why import Why, why
from sitegen.scoring.usage import all_specs
from sitegen.scoring.verdict import verdict


class ReportView(NamedTuple):
    """What ``pages/report.html`` shows."""

    info: EvalInfo
    label: str
    commit: Commit
    status: Status
    convention: Convention
    cause: str
    deleted: bool
    made_with: str
    """Which instructions made the output, and how that is known."""
    made_at: str | None
    instructions: Commit | None
    """The newest commit whose instructions made the output, if it is known."""
    recorded_at: str | None
    edits: tuple[origin.CommitEdits, ...]
    """Of instructions, since the previous point; the newest first."""
    files: tuple[tuple[str, Blob | None], ...]
    previous: origin.Previous | None
    metrics: tuple[ReportMetric, ...]
    interval: Interval | None
    """Around the headline."""
    why: Why | None
    """None for the first point."""
    fates: Fates | None
    runs: RunsView | None
    counts: Counts
    errors: tuple[ErrorChange, ...]
    error_change: int | None
    sections: tuple[SchemaSection, ...]
    fields: tuple[FieldScore, ...]
    documents: tuple[DocumentScore, ...]
    """Empty if there is only one."""
    more_documents: int
    document_metrics: tuple[MetricSpec, ...]
    """What the kind says of each document beside its counts."""
    discrepancies: tuple[Discrepancy, ...]
    total: int
    new: int
    left_out: tuple[tuple[ErrorType, int], ...]
    """Discrepancies of each type that are in the data file alone."""
    data: str
    """The whole result beside the report, as seen from it."""
    problems: tuple[Problem, ...]
    panels: tuple[Panel, ...]
    """What the scorer adds, but for the alignments."""
    alignments: tuple[AlignmentPanel, ...]
    more_alignments: int
    verdict: Verdict
    """Of the metrics of which something is wanted."""
    recorded: RecordedView | None
    """What the run recorded about itself, if that can be compared."""
    usage: RunUsage | None
    """Which model made the output, and who graded it; None if no file states it."""
    nav: str = "overview"

    @property
    def counted(self) -> bool:
        """Whether anything was counted, here or at the previous point; a judge may give scores alone."""
        return any(self.counts) or any(error.change for error in self.errors)

    @property
    def shown(self) -> tuple[ReportMetric, ...]:
        """The metrics; where nothing was counted those that are defined."""
        every = self.counted or self.info.recorded
        return tuple(one for place, one in enumerate(self.metrics) if every or not place or one.value is not None)

    @property
    def loud(self) -> list[Problem]:
        """The problems that a reader has to know before the numbers."""
        return [problem for problem in self.problems if problem.severity != "note"]

    @property
    def notes(self) -> list[Problem]:
        """The problems that are only worth knowing."""
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
    instructions: Commit | None = None,
    data: str | None = None,
) -> Page:
    """The page of one snapshot.

    ``instructions`` is what ``instructions_of`` says; ``limit`` is how many discrepancies of each type are drawn;
    ``data`` is the file with the whole result as seen from the page, if it is not the one of a site.
    """
    at, card = point.snapshot, result.scorecard
    wrong = wrong_in(result)
    group = grouping(info, card.fields)
    gathered = sections(card.fields, group)
    errors = error_changes(previous.scorecard if previous else None, card, point.delta)
    alignments = bounds.listed_alignments(result)
    started = since(info, wrong, past)
    view = ReportView(
        info=info,
        label=at.label,
        commit=at.commit,
        status=card.status,
        convention=card.convention,
        cause=", ".join(CAUSES[cause] for cause in at.cause),
        deleted=at.deleted,
        made_with=origin.made_with(at, point.edits),
        made_at=at.made_at,
        instructions=instructions,
        recorded_at=at.recorded_at,
        edits=origin.edits_by_commit(point.edits, past.moved),
        files=origin.files(at),
        previous=origin.previous_of(info, previous, at.label),
        metrics=metric_changes(specs, card, point.delta, info.nouns),
        interval=interval_of(card, info.kind),
        why=why(info, specs, previous, point, past.noise),
        fates=fates(info.id, point.flips, past.flipped) if point.flips else None,
        runs=runs_view(info.id, at, past.runs),
        counts=card.counts,
        errors=errors,
        error_change=_sum_if_known([error.change for error in errors]),
        sections=gathered,
        fields=card.fields,
        documents=bounds.listed_documents(card.documents),
        more_documents=max(0, len(card.documents) - bounds.DOCUMENTS),
        document_metrics=_document_metrics(specs, card.documents),
        discrepancies=discrepancies(
            info, wrong, started, limit, {one.name for one in gathered}, group, dict(result.questions)
        ),
        total=len(wrong),
        new=sum(one.new for one in started),
        left_out=left_out(wrong, limit),
        data=data or links.report_data(info.id, at.slug).rpartition("/")[2],
        problems=problems,
        panels=tuple(panel for panel in result.panels if panel.kind != "alignment"),
        alignments=tuple(map(bounds.bounded_alignment, alignments[: bounds.LISTS])),
        more_alignments=max(0, len(alignments) - bounds.LISTS),
        verdict=verdict(all_specs(specs), info.thresholds, card.metrics),
        recorded=recorded_view(at, card, tuple((spec.name, spec.label) for spec in specs), previous),
        usage=card.usage,
    )
    return Page(links.report(info.id, at.slug), "pages/report.html", view)


def _document_metrics(specs: tuple[MetricSpec, ...], documents: tuple[DocumentScore, ...]) -> tuple[MetricSpec, ...]:
    known = {name for one in documents for name, value in one.metrics if value is not None}
    return tuple(spec for spec in specs if spec.name in known)


def _sum_if_known(changes: list[int | None]) -> int | None:
    known = [change for change in changes if change is not None]
    return sum(known) if len(known) == len(changes) else None
