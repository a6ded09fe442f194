"""Scorecards and results: the numbers and judgements of one output, independent of the commit that has it.

A scorecard is a pure function of scorer, its version, settings and blobs, so it can be stored for ever.
"""

from typing import Literal, TypeAlias

from sitegen.model.frozen import Frozen, FrozenObject, field
from sitegen.model.metrics import Convention, Counts, Metric, MetricSpec
from sitegen.model.named_tuple import NamedTuple
from sitegen.model.outcomes import Judgement, Value
from sitegen.model.panels import AlignmentPanel, Panel
from sitegen.model.problems import Finding
from sitegen.model.usage import RunUsage

Status: TypeAlias = Literal["scored", "unreadable", "no_ground_truth"]
"""unreadable: the output is missing or broken, and every expected value counts as an omission; if this clone lacks its
content, nothing is counted, and all metrics are undefined.
no_ground_truth: the ground truth itself cannot be read, so that nothing can be counted."""


class DocumentScore(Frozen):
    """The counts of one document of an output."""

    id: str
    status: Status
    counts: Counts
    metrics: tuple[Metric, ...] = ()
    """Further metrics of this document, if the kind has any."""
    rubric: str = ""
    """Digest of the judge's rubric for this document; empty if there is no judge, or none is stated."""


class FieldScore(NamedTuple):
    """The counts of one attribute over all documents and list items."""

    attribute: str
    counts: Counts


class Scorecard(Frozen):
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
    actual_values: int = 0
    """Non-empty actual values in scope (``total_fields_extracted``)."""
    algorithm: str = ""
    """How list items were paired: ``greedy``, ``hungarian``, ``position``, or empty without lists."""
    convention: Convention = "standard"
    """How wrong values were counted; pages name it if it is not the standard."""
    usage: RunUsage | None = None
    """Usage, models and judges of the output; its numbers are also metrics. None if no usage is stated."""
    specs: tuple[MetricSpec, ...] = ()
    """A spec for each metric, if the data define the metrics of the kind."""
    cases: tuple[FieldScore, ...] = ()
    """Kind ``responses``: the counts of each scored test case over all its answers, by its id. A case is one sample,
    however many variants answer it and however often each does."""

    def metric(self, name: str) -> float | None:
        """The value of a metric, None if it is undefined or not of this kind."""
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


class Rouge(NamedTuple):
    """F-measures of the overlap of a response with the expected text, 0..1."""

    rouge1: float
    """Of words."""
    rouge2: float
    """Of pairs of neighbouring words."""
    rouge_l: float
    """Of the longest common subsequence."""


class Answer(Frozen):
    """The response of one variant to one test case."""

    variant: str
    """Empty if the eval has only one."""
    case_id: str
    category: str
    """Category of the case; empty if it has none."""
    correct: bool | None
    """None if the case has no expected text, or if the call failed."""
    quality: int | None
    """Grade 1 to 5 by a judge; None if there is none, or if it is malformed."""
    failed: bool = False
    """The call ended in an error. It is counted, but excluded from every metric."""
    rouge: Rouge | None = None
    """None if there is nothing to compare with."""
    model: str = ""
    """The model that gave it; empty if no file states it."""
    judge: str = ""
    """The judge that graded it; empty if no file states it."""


class Result(Frozen):
    """A scorecard with its judgements. The memo keeps both, so that its report can be drawn at any time."""

    scorecard: Scorecard
    judgements: tuple[Judgement, ...]
    panels: tuple[Panel, ...] = ()
    """Blocks of the report beyond metrics, counts and discrepancies."""
    answers: tuple[Answer, ...] = ()
    """Kind ``responses``: every response, by variant, then by case."""
    data: Value = None
    """Data that the data file beside the report includes unchanged."""
    questions: dict[str, str] = field(default_factory=dict)
    """The question that the model was asked, by the field path of the judgements of its answer, where it is known."""
    agreement: Kappa | None = None
    """Agreement of the judge with people, if both judged two things or more."""

    @property
    def alignments(self) -> tuple[AlignmentPanel, ...]:
        """The panels that pair the items of lists."""
        return tuple(panel for panel in self.panels if isinstance(panel, AlignmentPanel))
