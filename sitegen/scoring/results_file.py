"""``eval-results.json``: one result as a document that other programs read (``sitegen/eval-results/1``)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from sitegen.model.metrics import Convention, Counts
from sitegen.model.outcomes import ERROR_TYPES, ErrorType
from sitegen.model.panels import PairedBy
from sitegen.model.problems import Finding, Severity
from sitegen.model.scorecards import Kappa, ListAlignment, Result, Status
from sitegen.model.usage import RunUsage
from sitegen.model.values import Unusable, Value
from sitegen.stats import counts as stats

SCHEMA: Final = "sitegen/eval-results/1"

AlignedItems: TypeAlias = tuple[int | None, int | None, float | None, PairedBy | None]
"""A pair of list items, or one that found no partner, as a row."""


@dataclass(frozen=True, slots=True)
class Metadata:
    """Where a result comes from; None where nobody knows."""

    iteration: int | None = None
    timestamp: str | None = None
    """ISO 8601. Given from outside: scoring has no clock."""
    git_commit: str | None = None
    dirty: bool = False
    """The work tree had changes that the commit does not have."""
    instruction_hashes: dict[str, str] = field(default_factory=dict)
    """Path -> SHA-256 in hex."""
    sitegen: str | None = None


@dataclass(frozen=True, slots=True)
class Metrics:
    """Pooled over documents; undefined is None."""

    precision: float | None
    recall: float | None
    f1: float | None
    true_positives: int
    false_positives: int
    false_negatives: int
    true_negatives: int
    field_accuracy: float | None
    correct_fields: int
    """Expected values that the output gives: the true positives."""
    total_fields: int
    """Expected values that are not empty; also called ``total_fields_gt``."""
    total_fields_gt: int
    total_fields_extracted: int
    convention: Convention


@dataclass(frozen=True, slots=True)
class FieldCounts:
    """The counts of one attribute."""

    tp: int
    fp: int
    fn: int
    tn: int
    precision: float | None
    recall: float | None
    f1: float | None


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """One document."""

    id: str
    f1: float | None
    status: Status


@dataclass(frozen=True, slots=True)
class DiscrepancyRow:
    """One error."""

    document: str
    field_path: str
    expected: Any
    actual: Any
    error_type: str
    note: str


@dataclass(frozen=True, slots=True)
class ProblemRow:
    """What was odd about the files."""

    severity: Severity
    what: str
    fix: str
    line: int | None
    about: str


@dataclass(frozen=True, slots=True)
class UsageRow:
    """What the output took, and who made and graded it; what no file states is None."""

    answers: int
    """Calls that gave an answer; 0 if a record beside the output states totals alone."""
    models: tuple[str, ...]
    parameters: str
    """JSON; empty if none are stated, or if they differ among the answers."""
    tokens_in: int | None
    """What the models read, from a cache or not."""
    tokens_out: int | None
    cost: float | None
    """US dollars, unless the tool that wrote the file counts in another currency."""
    latency_median: float | None
    """Seconds."""
    latency_p95: float | None
    """Seconds."""
    judges: tuple[str, ...]
    graded: tuple[str, ...]
    """Metrics that grades of these judges are part of."""


@dataclass(frozen=True, slots=True)
class AgreementRow:
    """How far the judge agrees with people: Cohen's kappa, with its interval of 95 %."""

    kappa: float
    low: float
    high: float
    agreed: int
    """Things that both judged alike."""
    judged: int
    """Things that both judged."""


@dataclass(frozen=True, slots=True)
class ResultsDocument:
    """The whole file, in the order in which it is written."""

    schema: str
    eval_id: str
    status: Status
    metrics: Metrics
    errors_by_type: dict[ErrorType, int]
    by_field: dict[str, FieldCounts]
    documents: tuple[DocumentRow, ...]
    macro_f1: float | None
    pooled_f1: float | None
    macro_f1_attributes: float | None
    discrepancies: tuple[DiscrepancyRow, ...]
    alignment: dict[str, list[AlignedItems]]
    """List -> [expected index, actual index, similarity, how the pair was found: ``key``, ``position`` or
    ``agreement``]; an index without a partner stands beside null. Where there are several documents, the list is called
    ``document:path``."""
    usage: UsageRow | None
    """None: no file states any of it."""
    problems: tuple[ProblemRow, ...]
    metadata: Metadata


def results_document(result: Result, *, eval_id: str, metadata: Metadata) -> ResultsDocument:
    """The document of one result of kind ``fields``."""
    card = result.scorecard
    counts = card.counts
    return ResultsDocument(
        schema=SCHEMA,
        eval_id=eval_id,
        status=card.status,
        metrics=Metrics(
            precision=stats.precision(counts),
            recall=stats.recall(counts),
            f1=stats.f1(counts),
            true_positives=counts.tp,
            false_positives=counts.fp,
            false_negatives=counts.fn,
            true_negatives=counts.tn,
            field_accuracy=stats.field_accuracy(counts),
            correct_fields=counts.tp,
            total_fields=card.expected_values,
            total_fields_gt=card.expected_values,
            total_fields_extracted=card.actual_values,
            convention=card.convention,
        ),
        errors_by_type={name: getattr(counts, name) for name in ERROR_TYPES},
        by_field={each.attribute: field_row(each.counts) for each in card.fields},
        documents=tuple(DocumentRow(each.id, stats.f1(each.counts), each.status) for each in card.documents),
        macro_f1=card.metric("macro_f1"),
        pooled_f1=stats.f1(counts),
        macro_f1_attributes=card.metric("macro_f1_attributes"),
        discrepancies=tuple(
            DiscrepancyRow(each.document, each.path, plain(each.expected), plain(each.actual), each.outcome, each.note)
            for each in result.judgements
            if each.outcome in ERROR_TYPES
        ),
        alignment=alignments(result),
        usage=usage_row(card.usage),
        problems=problem_rows(card.findings),
        metadata=metadata,
    )


def problem_rows(findings: Iterable[Finding]) -> tuple[ProblemRow, ...]:
    """The findings of a scorecard as data files have them."""
    return tuple(
        ProblemRow(severity=each.severity, what=each.text, fix=each.fix, line=each.line, about=each.about)
        for each in findings
    )


def usage_row(usage: RunUsage | None) -> UsageRow | None:
    """What an output took as data files have it."""
    return None if usage is None else UsageRow(**usage._asdict())


def agreement_row(agreement: Kappa | None) -> AgreementRow | None:
    """The agreement of a judge with people as data files have it."""
    return None if agreement is None else AgreementRow(*agreement)


def field_row(counts: Counts) -> FieldCounts:
    """The counts of one attribute, with the numbers that follow from them."""
    return FieldCounts(
        counts.tp, counts.fp, counts.fn, counts.tn, stats.precision(counts), stats.recall(counts), stats.f1(counts)
    )


def alignments(result: Result) -> dict[str, list[AlignedItems]]:
    """The pairings of a result by list, called ``document:path`` where there are several documents."""
    several = len(result.scorecard.documents) > 1
    return {f"{each.document}:{each.path}" if several else each.path: _alignment(each) for each in result.alignments}


def _alignment(alignment: ListAlignment) -> list[AlignedItems]:
    rows: list[AlignedItems] = list(alignment.pairs)
    rows += [(index, None, None, None) for index in alignment.unmatched_expected]
    rows += [(None, index, None, None) for index in alignment.unmatched_actual]
    return rows


def plain(value: Value) -> Any:
    """The value with what JSON has no word for as the text it was written as."""
    if isinstance(value, Unusable):
        return value.literal
    if isinstance(value, list):
        return [plain(each) for each in value]
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    return value
