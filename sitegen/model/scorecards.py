"""Scorecards and results: the numbers and judgements of one output, independent of the commit that has it.

A scorecard is a pure function of scorer, its version, settings and blobs, so it can be stored for ever. Panels are
blocks of a report that scorers emit and templates render, so that a new eval kind needs no HTML: each has one template,
``site_templates/panels/<kind>.html``.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Final, Literal, NamedTuple, TypeAlias

from sitegen.model.answers import AnsweredCase
from sitegen.model.frozen import Frozen, FrozenObject, field, grouped
from sitegen.model.metrics import Convention, Counts, KindTraits, Metric, MetricSpec, traits_of
from sitegen.model.outcomes import ERROR_TYPES, Judgement, Value
from sitegen.model.problems import Finding
from sitegen.model.usage import RunUsage

PairedBy: TypeAlias = Literal["key", "position", "agreement"]
"""How a pair of list items was matched: by the items' keys, by their index, or by the values in which they agree."""


PanelColumn: TypeAlias = tuple[str, Literal["text", "number", "code"]]
"""The heading of a column of a table panel, and how its cells are aligned."""


class TablePanel(Frozen, tag="table"):
    """A plain table. Each row has a text for each column."""

    title: str
    note: str
    columns: tuple[PanelColumn, ...]
    rows: tuple[tuple[str, ...], ...]
    kind = "table"


class AlignmentRow(NamedTuple):
    """A pair of list items, or one item without a partner (the other index is None)."""

    expected: int | None = None
    """Its index in the ground truth."""
    actual: int | None = None
    """Its index in the output."""
    similarity: float | None = None
    """The similarity of their keys, 0..1, however they were paired."""
    paired_by: PairedBy | None = None
    label: str = ""
    """The name of the items, from the expected side if there is one."""


class AlignmentPanel(Frozen, tag="alignment"):
    """The pairing of the items of one list."""

    document: str
    path: str
    algorithm: str
    threshold: float
    rows: tuple[AlignmentRow, ...]
    """The pairs by expected index, then the items that only the expected list has, then those of the output alone."""
    kind = "alignment"

    @property
    def title(self) -> str:
        """The path of the list, after the document if it has a name."""
        return f"{self.document}: {self.path}" if self.document else self.path

    @property
    def pairs(self) -> tuple[AlignmentRow, ...]:
        """The rows that have an item on both sides."""
        return tuple(row for row in self.rows if row.expected is not None and row.actual is not None)


class NotePanel(Frozen, tag="note"):
    """A remark on the whole result."""

    text: str
    kind = "note"


class Mark(Frozen):
    """A marked part of a text, and its outcome."""

    start: int
    """Offset in characters."""
    end: int
    outcome: Literal["correct", "missed", "wrong"]
    category: str


Highlight: TypeAlias = tuple[Literal["correct", "missed", "wrong"], str, str]
"""The outcome, the category and the text of a highlight of the ground truth or of the output."""


class MarkedText(Frozen):
    """A text with its marks, which may overlap."""

    id: str
    text: str
    """Empty if it was not recorded; then every mark is in ``elsewhere``."""
    marks: tuple[Mark, ...]
    """By start, then by end."""
    elsewhere: tuple[Highlight, ...] = ()
    """Highlights that do not occur literally in the text."""

    @property
    def errors(self) -> int:
        """Number of marks that are wrong, in the text and elsewhere."""
        wrong = sum(mark.outcome != "correct" for mark in self.marks)
        return wrong + sum(outcome != "correct" for outcome, _, _ in self.elsewhere)


class SpansPanel(Frozen, tag="spans"):
    """Texts with marked parts: correct, missed or wrong, by category."""

    title: str
    note: str
    categories: tuple[str, ...]
    texts: tuple[MarkedText, ...]
    kind = "spans"


Panel: TypeAlias = TablePanel | AlignmentPanel | SpansPanel | NotePanel


Status: TypeAlias = Literal["scored", "unreadable", "no_ground_truth"]
"""unreadable: the output is missing or broken, and every expected value counts as an omission; if this clone lacks its
content, nothing is counted, and all metrics are undefined.
no_ground_truth: the ground truth itself cannot be read, so that nothing can be counted."""

DocumentStatus: TypeAlias = Status | Literal["not_asked"]
"""not_asked: it came into the ground truth after the output was made, which has no value of it (``as_asked``)."""


ANSWERERS: Final = ("variant", "model")
"""The axes of who answered; any other is a tag of the cases."""


class DocumentScore(Frozen):
    """The counts of one document of an output, or of one answer if several answer the same."""

    name: str
    """What judgements and pages call it: the id of its document or case, and who answered if several did."""
    status: DocumentStatus
    counts: Counts
    metrics: tuple[Metric, ...] = ()
    """Further metrics of this document, if the kind has any."""
    rubric: str = ""
    """Digest of the judges whose grades the score is the mean of, or ``-``, and of their rubric if any is stated; empty
    if there are neither."""
    of_case: str = ""
    """The case or document that it answers, if it is one of several answers to it; empty if this is its name."""
    axes: dict[str, str] = field(default_factory=dict)
    """What answers can be grouped by -> its value here: ``variant``, ``model``, and the tags of the case."""
    repeat: str = ""
    """Which of several answers to the case this is; empty if these are one document."""
    answers: int = 0
    """Number of calls that gave an answer to it, as in ``RunUsage``."""
    cost: float | None = None
    """US dollars that its answers took together; None unless all of them state it."""
    latency: float | None = None
    """Seconds of an answer, the median if there are several; None unless all of them state it."""

    def on(self, axis: str) -> list[str]:
        """Return its values on an axis: each item of a tag that is a list; on ``case`` its case."""
        text = self.axes.get(axis, self.case if axis == "case" else "")
        return [*filter(None, [text] if axis in (*ANSWERERS, "case") else text.split("\n"))]

    @property
    def case(self) -> str:
        """The case or document that it answers: intervals are computed by drawing these, with all answers to them."""
        return self.of_case or self.name


class FieldScore(NamedTuple):
    """The counts of one attribute over all documents and list items."""

    attribute: str
    counts: Counts


class VariantScore(Frozen):
    """One variant of a prompt, with the numbers that do not follow from the scores of its cases."""

    status: Status
    metrics: tuple[Metric, ...]
    """Those of the kind and of usage."""
    responses: int
    """Number of its answers, and of the cases that it did not answer."""
    failed: int
    """Number of calls that ended in an error. They are counted, but excluded from every metric."""
    graded: int
    judges: tuple[str, ...] = ()
    """The judges of its grades; empty if no file states them."""


class Scorecard(Frozen, dict=True, gc=True):
    """The stored numbers of one scored output: all that trends, comparisons and heatmaps need, without values."""

    status: Status
    counts: Counts
    """Summed over documents; pooled metrics are computed from these."""
    metrics: tuple[Metric, ...]
    """The metrics of the kind, in the order of its specs; the first is the headline. Those of usage come last."""
    documents: tuple[DocumentScore, ...]
    fields: tuple[FieldScore, ...]
    """In the order of the ground truth, followed by attributes that only the output has."""
    findings: tuple[Finding, ...] = ()
    expected_values: int = 0
    """Non-empty expected values in scope (``total_fields_gt``)."""
    algorithm: str = ""
    """How list items were paired: ``greedy``, ``hungarian``, ``position``, or empty without lists."""
    convention: Convention = "standard"
    """How wrong values were counted; pages name it if it is not the standard."""
    usage: RunUsage | None = None
    """Usage, models and judges of the output; its numbers are also metrics. None if no usage is stated."""
    specs: tuple[MetricSpec, ...] = ()
    """A spec for each metric, if the data define the metrics of the kind."""
    variants: Mapping[str, VariantScore] = {}
    """Kind ``responses``: each variant alone, by name, which is empty if the eval has only one."""
    judges: Mapping[str, float | None] = {}
    """Kind ``judged``: the mean of the scores that each of several judges gave, over cases, by its name."""
    kind: str = "fields"
    states: Literal["verdicts", "verdicts as scores", "scores", ""] = ""
    """What files state of cases. *verdicts*: one of each, which is its score, precision, recall and F1; *verdicts as
    scores*: the same again as scores; *scores*: others, perhaps beside verdicts. Empty for counts, and other kinds."""

    @property
    def traits(self) -> KindTraits:
        """The traits of the kind."""
        return traits_of(self.kind)

    @property
    def unit(self) -> Literal["documents", "cases"]:
        """What its samples are made of: cases if the kind has them, or if several answers are to one."""
        return "cases" if self.traits.has_cases or any(document.of_case for document in self.documents) else "documents"

    @cached_property
    def asked_fields(self) -> frozenset[str]:
        """The attributes of the values that the output was asked for."""
        return frozenset(each.attribute for each in self.fields if each.counts.tp + each.counts.fn)

    @cached_property
    def names_by_metric(self) -> dict[str, list[str]]:
        """The names of the documents that define a metric by themselves, by metric."""
        stated = ((each.name, metric) for each in self.documents for metric in each.metrics)
        return grouped((metric.name, name) for name, metric in stated if metric.value is not None)

    @property
    def has_variants(self) -> bool:
        """Whether two or more variants of the prompt answered the same cases."""
        return self.traits.answers_cases and len(self.variants) > 1

    def metric(self, name: str) -> float | None:
        """Return the value of a metric, None if it is undefined or not of this kind."""
        for metric in self.metrics:  # a generator would take three times as long, and every page asks
            if metric.name == name:
                return metric.value
        return None


class Kappa(FrozenObject, rename={"value": "kappa"}):
    """Agreement of a judge with people: Cohen's kappa with its 95 % confidence interval."""

    value: float
    """1: they always agree; 0: as often as by chance; below 0: less often."""
    low: float
    high: float
    agreed: int
    """Number of items that both judged alike."""
    judged: int


class Result(Frozen):
    """A scorecard with its judgements. The memo keeps both, so that its report can be drawn at any time."""

    scorecard: Scorecard
    judgements: tuple[Judgement, ...]
    panels: tuple[Panel, ...] = ()
    """Blocks of the report beyond metrics, counts and errors."""
    data: Value = None
    """Data that the data file beside the report includes unchanged."""
    agreement: Kappa | None = None
    """Agreement of the judge with people, if both judged two things or more."""
    cases: tuple[AnsweredCase, ...] = ()
    """The cases that were answered, with the texts of the answers, if the kind has any."""
    prompts: Mapping[str, str] = {}
    """The text of the prompt of each variant, as far as the output states it."""

    @property
    def alignments(self) -> tuple[AlignmentPanel, ...]:
        """The panels that pair the items of lists."""
        return tuple(panel for panel in self.panels if isinstance(panel, AlignmentPanel))

    @property
    def wrong(self) -> list[Judgement]:
        """The judgements that are errors, in their order."""
        return [judgement for judgement in self.judgements if judgement.outcome in ERROR_TYPES]
