"""Counts, the description of metrics, and whether they reach what is wanted of them.

The arithmetic is in ``sitegen.stats.counts``, its only home.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias


class Counts(NamedTuple):
    """Confusion counts of attributes, and the errors by type behind them.

    Under the standard convention a wrong value or a format error is one FP and one FN, so
    ``fp = hallucination + wrong_value + format_error`` and ``fn = omission + wrong_value + format_error``, but for
    format errors of a whole list, which have no FN of their own.
    """

    tp: int = 0
    fp: int = 0
    fn: int = 0
    tn: int = 0
    omission: int = 0
    hallucination: int = 0
    wrong_value: int = 0
    format_error: int = 0


Convention: TypeAlias = Literal["standard", "omissions_only"]
"""Whether a wrong value counts as FP and FN (standard) or as FP alone (to reproduce numbers recorded so)."""


class Metric(NamedTuple):
    """One number of a scorecard, by name. Undefined is None: never 0, never NaN."""

    name: str
    value: float | None


class MetricSpec(NamedTuple):
    """How a metric is called and drawn. A scorer lists its own; pages draw what is listed."""

    name: str
    """Key in data files: ``f1``, ``average_quality``."""
    label: str
    """As pages write it: ``F1``, ``Average quality``."""
    explanation: str
    """One sentence for the Methods page."""
    low: float = 0.0
    high: float = 1.0
    """Infinite: an amount without an upper bound, whose changes are shares of what it was."""
    higher_is_better: bool = True
    least: float | None = None
    """The value wanted at least, unless the manifest's ``thresholds`` say otherwise; None: nothing is wanted."""
    when_failed: str = ""
    """What to do if it does not reach its threshold, as the end of a sentence: ``read the wrong answers.``"""
    when_undefined: str = ""
    """What to do if it is undefined, likewise."""
    unit: str = ""
    """What an amount is counted in: ``USD``, ``tokens``, ``s``; empty for a share or a grade."""
    recorded: bool = False
    """The runs wrote it themselves: nothing of it is computed here."""

    def reaches(self, value: float, wanted: float) -> bool:
        """Whether a value is as good as it is wanted at least."""
        return value >= wanted if self.higher_is_better else value <= wanted


class Nouns(NamedTuple):
    """What a kind calls the things that every kind has, in lower case, for headings and tables."""

    attribute: str = "field"
    attributes: str = "fields"
    document: str = "document"
    documents: str = "documents"
    errors: tuple[str, str, str, str] = ("omission", "hallucination", "wrong value", "format error")
    """One word for each of ``ERROR_TYPES``, in that order; empty where a kind has no such errors."""
    ratios: tuple[str, ...] | None = None
    """What tables compute from the counts of an attribute or a document; None: each of ``sitegen.stats.counts.RATIOS``.
    ``accuracy`` is (TP + TN) / judged."""
    letters: tuple[str, str, str, str] = ("O", "H", "W", "F")
    """Of each word in ``errors``: beside the colour, never colour alone."""

    @property
    def counts_false_positives(self) -> bool:
        """Whether false positives are told from false negatives; answers are only right or wrong."""
        return "accuracy" not in (self.ratios or ())

    @property
    def are_fields(self) -> bool:
        """Whether its attributes are fields, which the sections of a schema hold; others stand by themselves."""
        return self.attribute == "field"

    @property
    def group(self) -> str:
        """By what pages gather errors: the section of a schema; attributes that are no fields by themselves."""
        return "section of the schema" if self.are_fields else self.attribute

    @property
    def groups(self) -> str:
        """More than one ``group``."""
        return "sections" if self.are_fields else self.attributes

    @property
    def place(self) -> str:
        """Where a value stands, as heading of a column: the path of a field, or a place in a text."""
        return "field" if self.are_fields else "place"


VerdictStatus: TypeAlias = Literal["PASS", "FAIL", "SKIP"]
"""SKIP: there is nothing to judge, for the metric is undefined."""


class VerdictRow(NamedTuple):
    """One metric of which something is wanted."""

    metric: str
    label: str
    value: float | None
    threshold: float
    status: VerdictStatus


class Verdict(NamedTuple):
    """All metrics of which something is wanted, and what to do."""

    rows: tuple[VerdictRow, ...]
    """In the order of the kind's metrics; thresholds of metrics that the kind does not have last."""
    overall_status: VerdictStatus
    """PASS: every metric that is defined and has a threshold reaches it; SKIP: there is none such."""
    failed_criteria: tuple[str, ...]
    """Names of the metrics that fail."""
    recommendations: tuple[str, ...]
    """Plain sentences: one for each failed criterion, and one for each undefined metric."""

    def row(self, metric: str) -> VerdictRow | None:
        """The row of a metric, None if nothing is wanted of it."""
        return next((row for row in self.rows if row.metric == metric), None)
