"""What documents of results of all kinds have, and that of kind ``fields``; ``documents`` has the others."""

from collections.abc import Container, Mapping
from typing import Any, ClassVar, Final, TypeAlias

import msgspec

from sitegen.model.frozen import FrozenObject, field
from sitegen.model.metrics import Convention, Counts, MetricSpec
from sitegen.model.outcomes import ERROR_TYPES, ErrorType
from sitegen.model.problems import Severity
from sitegen.model.scorecards import ANSWERERS, DocumentScore, DocumentStatus, PairedBy, Result, Status
from sitegen.model.usage import RunUsage
from sitegen.scoring.answers import OF_DRAWS
from sitegen.stats import counts as stats
from sitegen.stats.confidence import AUROC
from sitegen.text.values import json_value


class Metadata(FrozenObject):
    """The provenance of a result; None for unknown values."""

    iteration: int | None = None
    timestamp: str | None = None
    """ISO 8601. The caller provides it, because scoring has no clock."""
    git_commit: str | None = None
    dirty: bool = False
    """Whether the work tree had uncommitted changes."""
    instruction_hashes: dict[str, str] = field(default_factory=dict)
    """Path -> SHA-256 in hex."""
    sitegen: str | None = None


METRICS: Final = (
    *(ratio.spec for ratio in (*stats.RATIOS, stats.FIELD_ACCURACY)),
    MetricSpec("macro_f1", "Macro F1", "The mean of the documents' F1."),
    MetricSpec("macro_f1_attributes", "Macro F1 over fields", "The mean of the F1 of each field."),
    *OF_DRAWS,
    AUROC,
)
"""The metrics of kind ``fields``, the headline first: of its scorecards, and of its documents."""

_RATIOS: Final = [(ratio.name, float | None) for ratio in stats.in_file_order()]
FieldCounts: Any = msgspec.defstruct(
    "FieldCounts",
    [*((name, int | None if name in stats.APART else int) for name in stats.CELLS), *_RATIOS],
    bases=(FrozenObject,),
    namespace={"__doc__": "The counts of one attribute."},
    frozen=True,
    gc=False,
)
"""A value with the confusion counts of an attribute, and their ratios; null if another one is the same number."""


class ProblemRow(FrozenObject):
    """One finding about the files."""

    severity: Severity
    what: str
    fix: str
    line: int | None
    about: str


class SliceRow(FrozenObject):
    """The answers with one value on an axis, or with one pair of variant and model, as if the output had no others."""

    axis: str
    """``variant``, ``model``, ``variant,model`` if answers differ in both, or a tag of the cases."""
    value: str
    """Of ``variant,model`` both, as in ``short · mini``."""
    axes: dict[str, str]
    """The value on each of the axes."""
    headline: float | None
    interval: tuple[float, float] | None
    """Of the headline; None if there are too few cases for one."""
    cases: int
    """Number of cases with an answer."""
    cost: float | None
    """US dollars of all its answers; None unless all of them state it."""
    latency: float | None
    """Median seconds of an answer; None unless all of them state it."""


class ResultsHead(FrozenObject):
    """The first fields of every document."""

    schema: str
    eval_id: str
    status: Status


class ResultsDocument(ResultsHead, kw_only=True):
    """What the documents of all kinds have. What a kind adds stands between the head and these fields."""

    usage: RunUsage | None
    """None if no file states any usage."""
    slices: tuple[SliceRow, ...] = ()
    """A row for each value of each axis on which answers differ, and for each pair of variant and model."""
    problems: tuple[ProblemRow, ...]
    metadata: Metadata


def field_row(counts: Counts, left_out: Container[str] = ()) -> Any:
    """Return the ``FieldCounts`` of one attribute, without some of the counts and ratios."""
    return FieldCounts(**stats.cells(counts, left_out), **stats.ratios(counts, left_out))


AlignedItems: TypeAlias = tuple[int | None, int | None, float | None, PairedBy | None]
"""[expected index, actual index, similarity, paired by]; None for a missing partner."""


_MetricValues: Any = msgspec.defstruct(
    "_MetricValues",
    [*_RATIOS, *((spec.name, float | None) for spec in METRICS if spec.name not in dict(_RATIOS))],
    bases=(FrozenObject,),
    frozen=True,
    gc=False,
)


class PooledMetrics(_MetricValues):  # type: ignore[misc]  # mypy cannot see fields made at run time
    """Each metric of the kind, and counts over all documents; undefined is None."""

    true_positives: int
    false_positives: int
    false_negatives: int
    true_negatives: int
    correct_fields: int
    """Expected values that the output has: the true positives."""
    total_fields: int
    """Expected values that are not empty; also called ``total_fields_gt``."""
    total_fields_gt: int
    total_fields_extracted: int
    convention: Convention


class OfAnswer(FrozenObject, kw_only=True):
    """The last keys of a row about an answer: what its id is made of."""

    case: str = ""
    """The case or document, whoever answered it."""
    variant: str | None = None
    model: str | None = None
    repeat: str | None = None
    """Which of several answers to the case it is; null if these are one row."""
    tags: dict[str, str] = field(default_factory=dict)
    """The tags of the case, by name."""


def of_answer(document: DocumentScore) -> dict[str, Any]:
    """Return the fields of ``OfAnswer`` of a document."""
    who = {axis: document.axes.get(axis) for axis in ANSWERERS}
    tags = {axis: value for axis, value in document.axes.items() if axis not in who}
    return {"case": document.case, **who, "repeat": document.repeat or None, "tags": tags}


class DocumentRow(OfAnswer):
    """The score of one document."""

    id: str
    f1: float | None
    status: DocumentStatus


class DiscrepancyRow(FrozenObject):
    """One judgement that is an error."""

    document: str
    """The id of a row of ``documents``, which says what it is made of."""
    field_path: str
    expected: Any
    actual: Any
    error_type: str
    note: str


class FieldsDocument(ResultsDocument):
    """The results of kind ``fields``."""

    form: ClassVar = "sitegen/eval-results/1"

    metrics: PooledMetrics
    errors_by_type: dict[ErrorType, int]
    by_field: dict[str, FieldCounts]
    documents: tuple[DocumentRow, ...]
    macro_f1: float | None
    pooled_f1: float | None
    macro_f1_attributes: float | None
    discrepancies: tuple[DiscrepancyRow, ...]
    alignment: dict[str, list[AlignedItems]]
    """List -> [expected index, actual index, similarity, paired by ``key``, ``position`` or ``agreement``]; null for a
    missing partner. If there are several documents, the key is ``document:path``."""


def fields_document(result: Result, shared: Mapping[str, Any]) -> FieldsDocument:
    """Make the document of one result. ``shared``: what the documents of all kinds have."""
    card = result.scorecard
    counts = card.counts
    return FieldsDocument(
        **shared,
        schema=FieldsDocument.form,
        metrics=PooledMetrics(
            **{spec.name: card.metric(spec.name) for spec in METRICS},
            true_positives=counts.tp,
            false_positives=counts.fp,
            false_negatives=counts.fn,
            true_negatives=counts.tn,
            correct_fields=counts.tp,
            total_fields=card.expected_values,
            total_fields_gt=card.expected_values,
            total_fields_extracted=counts.tp + counts.fp,
            convention=card.convention,
        ),
        errors_by_type=stats.errors_by_type(counts),
        by_field={field.attribute: field_row(field.counts) for field in card.fields},
        documents=tuple(
            DocumentRow(id=document.name, f1=stats.f1(document.counts), status=document.status, **of_answer(document))
            for document in card.documents
        ),
        macro_f1=card.metric("macro_f1"),
        pooled_f1=stats.f1(counts),
        macro_f1_attributes=card.metric("macro_f1_attributes"),
        discrepancies=tuple(
            DiscrepancyRow(
                document=judgement.document,
                field_path=judgement.path,
                expected=json_value(judgement.expected),
                actual=json_value(judgement.actual),
                error_type=judgement.outcome,
                note=judgement.note,
            )
            for judgement in result.judgements
            if judgement.outcome in ERROR_TYPES
        ),
        alignment=alignments(result),
    )


def alignments(result: Result) -> dict[str, list[AlignedItems]]:
    """Return the pairs of items of each list of a result, as ``FieldsDocument.alignment`` holds them."""
    several = len(result.scorecard.documents) > 1
    return {
        f"{alignment.document}:{alignment.path}" if several else alignment.path: [row[:4] for row in alignment.rows]
        for alignment in result.alignments
    }
