"""Scorecards: the numbers of one output, without any trace of the commit it came from.

A scorecard is a pure function of (scorer, its version, settings, blobs), which is what makes it safe to keep for ever.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from sitegen.model.metrics import Convention, Counts, Metric, MetricSpec
from sitegen.model.outcomes import Judgement
from sitegen.model.panels import PairedBy, Panel
from sitegen.model.problems import Finding
from sitegen.model.usage import RunUsage
from sitegen.model.values import Value

Status: TypeAlias = Literal["scored", "unreadable", "no_ground_truth"]
"""unreadable: the output is missing or broken, and every expected value counts as an omission.
no_ground_truth: the ground truth itself cannot be read, so that nothing can be counted."""


class DocumentScore(NamedTuple):
    """The counts of one document of an output."""

    id: str
    status: Status
    counts: Counts
    metrics: tuple[Metric, ...] = ()
    """Further numbers of this document alone, where the kind has some."""
    rubric: str = ""
    """Digest of what a judge was asked of this document alone; empty if there is no judge, or nothing is stated."""


class FieldScore(NamedTuple):
    """The counts of one attribute over all documents and list items."""

    attribute: str
    counts: Counts


class Scorecard(NamedTuple):
    """What is kept of one scored output: every number a trend, a comparison or a heatmap needs, and no values."""

    status: Status
    counts: Counts
    """Summed over documents: what pooled numbers are made from."""
    metrics: tuple[Metric, ...]
    """The metrics of the kind, in the order of its specs; the first is the headline. Those of usage come last."""
    documents: tuple[DocumentScore, ...]
    fields: tuple[FieldScore, ...]
    """In the order of the ground truth, attributes that only the output has last."""
    findings: tuple[Finding, ...] = ()
    expected_values: int = 0
    """Non-empty expected values in scope (``total_fields_gt``)."""
    actual_values: int = 0
    """Non-empty actual values in scope (``total_fields_extracted``)."""
    algorithm: str = ""
    """How list items were paired: ``greedy``, ``hungarian``, ``position``, or empty without lists."""
    convention: Convention = "standard"
    """How wrong values were counted; anything but the standard has to be said beside the numbers."""
    usage: RunUsage | None = None
    """What the output took, and who made and graded it; its numbers are among the metrics. None: nothing is stated."""
    specs: tuple[MetricSpec, ...] = ()
    """How the metrics are called and drawn, where the kind leaves that to the data; one for each of them."""

    def metric(self, name: str) -> float | None:
        """The value of a metric, None if it is undefined or not of this kind."""
        return next((metric.value for metric in self.metrics if metric.name == name), None)


class ItemPair(NamedTuple):
    """An expected item of a list, and the item of the output that was taken for it."""

    expected: int
    """Its index in the ground truth."""
    actual: int
    """Its index in the output."""
    similarity: float
    """Of their keys, 0..1, however the pair was found."""
    by: PairedBy


class ListAlignment(NamedTuple):
    """Which item of a list of the output was taken for which expected item."""

    document: str
    path: str
    algorithm: str
    threshold: float
    pairs: tuple[ItemPair, ...]
    """By expected index."""
    unmatched_expected: tuple[int, ...]
    unmatched_actual: tuple[int, ...]


class Kappa(NamedTuple):
    """How far two judges agree on the same things."""

    value: float
    """1: always; 0: as often as luck; below 0: less often."""
    low: float
    high: float
    agreed: int
    """How many things they judged alike."""
    judged: int


class Result(NamedTuple):
    """A scorecard with everything behind it. Too large to keep; made again from the blobs when a page needs it."""

    scorecard: Scorecard
    judgements: tuple[Judgement, ...]
    alignments: tuple[ListAlignment, ...] = ()
    panels: tuple[Panel, ...] = ()
    """What a report shows of this kind beyond metrics, counts and discrepancies."""
    answers: tuple[Answer, ...] = ()
    """Kind ``responses``: every response, by variant, then by case."""
    data: Value = None
    """What the kind keeps whole for the data file beside the report."""
    questions: tuple[tuple[str, str], ...] = ()
    """(path of judgements, what the model was asked there), where the kind knows it."""
    agreement: Kappa | None = None
    """Of the judge with people, where both judged two things or more."""


class Answer(NamedTuple):
    """The response of one variant to one test case."""

    variant: str
    """Empty if the eval has only one."""
    case_id: str
    category: str
    """Of the case; empty if it has none."""
    correct: bool | None
    """None: the case has no expected text, or the call failed."""
    quality: int | None
    """Grade 1 to 5 by a judge; None if there is none, or it was malformed."""
    failed: bool = False
    """The call gave an error instead of an answer: excluded from every metric, and counted."""
    rouge: tuple[float, float, float] | None = None
    """ROUGE-1, ROUGE-2 and ROUGE-L; None if there is nothing to compare with."""
    model: str = ""
    """That gave it; empty if no file says."""
    judge: str = ""
    """That graded it; likewise."""
