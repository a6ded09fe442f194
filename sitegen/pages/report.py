"""The report of one snapshot: its numbers, and every discrepancy with what was expected and what came.

A report is a function of its snapshot and those before it, so that a new commit never changes an old report.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from sitegen.analysis.verdict import verdict
from sitegen.model.commits import Commit
from sitegen.model.metrics import Convention, Counts, MetricSpec
from sitegen.model.outcomes import ERROR_TYPES, ErrorType, Judgement
from sitegen.model.panels import AlignmentPanel, Panel
from sitegen.model.problems import Problem
from sitegen.model.scorecards import DocumentScore, FieldScore, Result, Status
from sitegen.model.series import EvalInfo, Point
from sitegen.model.site import Page
from sitegen.model.timeline import Blob, Edit, Snapshot
from sitegen.model.verdicts import Verdict
from sitegen.pages import links, spans
from sitegen.pages.labels import CAUSES
from sitegen.pages.recorded import RecordedView, recorded_view
from sitegen.pages.tallies import errors, errors_by_type
from sitegen.pages.values import Shown, shown_pair

TOP_LEVEL: Final = "(top level)"
"""The section of attributes that stand alone at the root of the schema."""

ALIGNED: Final = 100
"""Rows of one list's pairing that a report shows; the whole pairing is in the JSON beside it."""

LISTS: Final = 100
"""Pairings that a report shows; of several documents each list has one."""

DOCUMENTS: Final = 200
"""Documents that a report lists; of more, those with the most errors."""

_CORRECT: Final = ("correct", "true_negative")


class MetricChange(NamedTuple):
    """A metric and what became of it since the previous point."""

    spec: MetricSpec
    value: float | None
    change: float | None
    note: str = ""


class ErrorChange(NamedTuple):
    """The errors of one type."""

    type: ErrorType
    number: int
    change: int | None
    """Against the previous point; None without one."""


class Section(NamedTuple):
    """The attributes below one first step of the schema."""

    name: str
    errors: tuple[int, ...]
    judged: int


class Past(NamedTuple):
    """What came before a report."""

    snapshots: Sequence[Snapshot]
    """All up to its own."""
    wrong_since: Callable[[Judgement], int | None]
    """The first point of the streak of errors that a discrepancy belongs to."""


class Since(NamedTuple):
    """The point from which on something has been wrong without a break."""

    label: str
    file: str
    short: str
    points: int
    """How many points it has been wrong, this one included."""
    new: bool
    """It was not wrong in the point before this one."""


class Discrepancy(NamedTuple):
    """An error as the table shows it."""

    number: int
    type: ErrorType
    section: str
    path: str
    document: str
    expected: Shown
    actual: Shown
    note: str
    since: Since

    @property
    def new(self) -> bool:
        """Not wrong in the previous point."""
        return self.since.new


class Previous(NamedTuple):
    """The point that changes are counted from."""

    label: str
    file: str
    short: str


@dataclass(frozen=True, slots=True)
class ReportView:
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
    edits: tuple[Edit, ...]
    files: tuple[tuple[str, Blob | None], ...]
    previous: Previous | None
    metrics: tuple[MetricChange, ...]
    counts: Counts
    errors: tuple[ErrorChange, ...]
    error_change: int | None
    sections: tuple[Section, ...]
    fields: tuple[FieldScore, ...]
    documents: tuple[DocumentScore, ...]
    """Empty if there is only one."""
    more_documents: int
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
    nav: str = "overview"

    @property
    def loud(self) -> list[Problem]:
        """The problems that a reader has to know before the numbers."""
        return [one for one in self.problems if one.severity != "note"]

    @property
    def notes(self) -> list[Problem]:
        """The problems that are only worth knowing."""
        return [one for one in self.problems if one.severity == "note"]


def report_page(
    info: EvalInfo,
    specs: tuple[MetricSpec, ...],
    point: Point,
    previous: Point | None,
    result: Result,
    past: Past,
    limit: int,
    problems: tuple[Problem, ...] = (),
    instructions: Commit | None = None,
) -> Page:
    """The page of one snapshot.

    ``instructions`` is what ``instructions_of`` says; ``limit`` is how many discrepancies of each type are drawn.
    """
    at, card = point.snapshot, result.scorecard
    wrong = [one for one in result.judgements if one.outcome not in _CORRECT]
    group = _grouping(info, card.fields)
    sections = _sections(card.fields, group)
    before = previous.scorecard if previous else None
    now, then = errors_by_type(card.counts), errors_by_type(before.counts) if before else None
    alignments = _alignments(result)
    since = _since(info, wrong, past)
    view = ReportView(
        info=info,
        label=at.label,
        commit=at.commit,
        status=card.status,
        convention=card.convention,
        cause=", ".join(CAUSES[cause] for cause in at.cause),
        deleted=at.deleted,
        made_with=_made_with(at),
        made_at=at.made_at,
        instructions=instructions,
        recorded_at=at.recorded_at,
        edits=point.edits,
        files=_files(at),
        previous=_previous(info, previous),
        metrics=tuple(
            _metric_change(spec, card.metric(spec.name), before.metric(spec.name) if before else None, card.counts)
            for spec in specs
        ),
        counts=card.counts,
        errors=tuple(
            ErrorChange(name, count, None if then is None else count - then[k])
            for k, (name, count) in enumerate(zip(ERROR_TYPES, now, strict=True))
        ),
        error_change=None if then is None else sum(now) - sum(then),
        sections=sections,
        fields=card.fields,
        documents=_documents(card.documents),
        more_documents=max(0, len(card.documents) - DOCUMENTS),
        discrepancies=_discrepancies(wrong, since, limit, {one.name for one in sections}, group),
        total=len(wrong),
        new=sum(one.new for one in since),
        left_out=_left_out(wrong, limit),
        data=links.report_data(info.id, at.slug).rpartition("/")[2],
        problems=problems,
        panels=tuple(one for one in result.panels if one.kind != "alignment"),
        alignments=tuple(map(_bounded, alignments[:LISTS])),
        more_alignments=max(0, len(alignments) - LISTS),
        verdict=verdict(specs, info.thresholds, card.metrics),
        recorded=recorded_view(at, card, tuple((spec.name, spec.label) for spec in specs)),
    )
    return Page(links.report(info.id, at.slug), "pages/report.html", view)


def is_bounded(result: Result, limit: int) -> bool:
    """Whether the report leaves anything out, so that the whole result must lie beside it."""
    wrong = [one for one in result.judgements if one.outcome not in _CORRECT]
    return (
        result.data is not None
        or bool(_left_out(wrong, limit))
        or len(result.scorecard.documents) > DOCUMENTS
        or len(_alignments(result)) > LISTS
        or any(len(one.rows) > ALIGNED for one in _alignments(result))
        or any(one.kind == "spans" and spans.is_bounded(one) for one in result.panels)
    )


@lru_cache(maxsize=4096)
def section(attribute: str) -> str:
    """The first step of an attribute that has more than one; ``TOP_LEVEL`` for the others."""
    if attribute.startswith('["'):
        end = attribute.find('"]') + 2
        return attribute[:end] if 1 < end < len(attribute) else TOP_LEVEL
    for index, character in enumerate(attribute):
        if character in ".[":
            return attribute[:index] or TOP_LEVEL
    return TOP_LEVEL


def _grouping(info: EvalInfo, fields: tuple[FieldScore, ...]) -> Callable[[str], str]:
    """How attributes are gathered: by section of the schema; categories and the like, without one, by themselves."""
    flat = info.nouns.attribute != "field" and all(section(one.attribute) == TOP_LEVEL for one in fields)
    return str if flat else section


def _since(info: EvalInfo, wrong: Iterable[Judgement], past: Past) -> list[Since]:
    """Since when each discrepancy has been one."""
    last = len(past.snapshots) - 1
    known: dict[int, Since] = {}
    out = []
    for one in wrong:
        index = past.wrong_since(one)
        start = last if index is None else index
        if start not in known:
            at = past.snapshots[start]
            file = links.report(info.id, at.slug).rpartition("/")[2]
            known[start] = Since(at.label, file, at.commit.short, last - start + 1, start == last > 0)
        out.append(known[start])
    return out


def _discrepancies(
    wrong: Iterable[Judgement],
    since: Iterable[Since],
    limit: int,
    sections: set[str],
    group: Callable[[str], str],
) -> tuple[Discrepancy, ...]:
    out: list[Discrepancy] = []
    left = dict.fromkeys(ERROR_TYPES, limit)
    for number, (one, start) in enumerate(zip(wrong, since, strict=True), 1):
        kind: ErrorType = one.outcome  # type: ignore[assignment]
        if not left[kind]:
            continue
        left[kind] -= 1
        expected, actual = shown_pair(one)
        name = group(one.attribute)
        out.append(
            Discrepancy(
                number,
                kind,
                name if name in sections else TOP_LEVEL,
                one.path,
                one.document,
                expected,
                actual,
                "" if kind == "hallucination" else one.note,
                start,
            )
        )
    return tuple(out)


def _left_out(wrong: Iterable[Judgement], limit: int) -> tuple[tuple[ErrorType, int], ...]:
    totals = dict.fromkeys(ERROR_TYPES, 0)
    for one in wrong:
        totals[one.outcome] += 1  # type: ignore[index]
    return tuple((kind, total - limit) for kind, total in totals.items() if total > limit)


def _sections(fields: tuple[FieldScore, ...], group: Callable[[str], str]) -> tuple[Section, ...]:
    found: dict[str, list[int]] = {}
    for attribute, (tp, _, _, tn, omission, hallucination, wrong_value, format_error) in fields:
        sums = found.setdefault(group(attribute), [0, 0, 0, 0, 0])
        sums[0] += omission
        sums[1] += hallucination
        sums[2] += wrong_value
        sums[3] += format_error
        sums[4] += tp + tn + omission + hallucination + wrong_value + format_error
    return tuple(Section(name, tuple(wrong), judged) for name, (*wrong, judged) in found.items())


def _documents(documents: tuple[DocumentScore, ...]) -> tuple[DocumentScore, ...]:
    if len(documents) <= DOCUMENTS:
        return documents if len(documents) > 1 else ()
    return tuple(sorted(documents, key=lambda one: -errors(one.counts))[:DOCUMENTS])


def _metric_change(spec: MetricSpec, value: float | None, before: float | None, counts: Counts) -> MetricChange:
    notes = {
        "precision": f"{counts.tp:,} true, {counts.fp:,} false positives",
        "recall": f"{counts.tp:,} found, {counts.fn:,} false negatives",
        "f1": f"{counts.tp:,} true positives, {counts.fp + counts.fn:,} FP and FN",
    }
    change = None if value is None or before is None else value - before
    return MetricChange(spec, value, change, notes.get(spec.name, ""))


def _made_with(at: Snapshot) -> str:
    """Rule of the data contract: what the output records, else its time, else the commit that brought it."""
    if at.made_at:
        return "the commit that the output records"
    if at.recorded_at:
        return "the last edit not after the time that the output records"
    return "the last edit up to this commit, for the output records neither commit nor time"


def _previous(info: EvalInfo, previous: Point | None) -> Previous | None:
    if previous is None:
        return None
    at = previous.snapshot
    return Previous(at.label, links.report(info.id, at.slug).rpartition("/")[2], at.commit.short)


def _files(at: Snapshot) -> tuple[tuple[str, Blob | None], ...]:
    rest = (("Ground truth", at.ground_truth), ("Field mapping", at.mapping), ("Schema", at.schema))
    outputs: tuple[tuple[str, Blob | None], ...] = tuple(("Output", blob) for blob in at.outputs[:5])
    return (outputs or (("Output", None),)) + tuple(file for file in rest if file[1] is not None)


def _alignments(result: Result) -> list[AlignmentPanel]:
    return [one for one in result.panels if one.kind == "alignment" and one.rows]


def _bounded(one: AlignmentPanel) -> AlignmentPanel:
    return one._replace(rows=one.rows[:ALIGNED], left_out=max(0, len(one.rows) - ALIGNED))
