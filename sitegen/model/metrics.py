"""Counts, the description of metrics, verdicts on targets, and the traits of eval kinds."""

from collections.abc import Mapping
from math import isfinite
from typing import Final, Literal, NamedTuple, TypeAlias

from sitegen.model.frozen import Frozen
from sitegen.model.outcomes import ERROR_TYPES, ErrorType

ROUNDING: Final = 1e-9
"""A smaller change of a metric is a rounding error of its sums."""


class Counts(NamedTuple):
    """Confusion counts of attributes, and the errors by type behind them.

    Under the standard convention a wrong value or a format error is one FP and one FN, so
    ``fp = hallucination + wrong_value + format_error`` and ``fn = omission + wrong_value + format_error``; the
    exception is a format error of a whole list, which adds no FN.
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
"""Whether a wrong value counts as FP and FN (standard), or only as FP (to reproduce numbers recorded that way)."""


class Metric(NamedTuple):
    """One number of a scorecard, by name. Undefined is None: never 0, never NaN."""

    name: str
    value: float | None


ErrorWords: TypeAlias = tuple[str, str, str, str]
"""A word, or a letter, for each of ``ERROR_TYPES``, in their order; empty where a kind has no such errors."""

ErrorNumbers: TypeAlias = tuple[int, int, int, int]
"""The number of errors of each of ``ERROR_TYPES``, in their order."""


LIFT: Final = "lift"
"""The name of the metric that is a difference of scores, from -1 to 1, and no share of cases."""


OF_TRANSCRIPTS: Final = ("turns", "tool_calls", "tool_errors")
"""The names of the metrics that are means of numbers in transcripts, and no shares either."""


class MetricSpec(Frozen):
    """The name of a metric and the way to draw it. Each scorer lists its metrics, which pages then draw."""

    name: str
    """Key in data files: ``f1``, ``average_quality``."""
    label: str
    """As pages write it: ``F1``, ``Average quality``."""
    explanation: str
    """One sentence for the Methods page."""
    low: float = 0.0
    high: float = 1.0
    """Infinite for an amount without an upper bound, whose changes are given relative to its value before."""
    higher_is_better: bool = True
    least: float | None = None
    """The default target, which the manifest's ``thresholds`` override; None if there is none."""
    when_failed: str = ""
    """The advice if the metric misses its target, as the end of a sentence: ``read the wrong answers.``"""
    when_undefined: str = ""
    """The advice if the metric is undefined, as the end of a sentence."""
    unit: str = ""
    """The unit of an amount: ``USD``, ``tokens``, ``s``; empty for a share or a grade."""
    recorded: bool = False
    """Whether the number was recorded by runs and is not computed here."""
    is_optional: bool = False
    """Whether pages show it only where an output defines it."""
    equals: tuple[str, ...] = ()
    """Metrics that are the same number here and therefore not listed; targets and limits may name them instead."""

    @property
    def is_share(self) -> bool:
        """Whether the metric runs from 0 to 1; an amount, such as a count or a cost, never does."""
        return not self.unit and (self.low, self.high) == (0.0, 1.0)

    @property
    def names(self) -> tuple[str, ...]:
        """Its name, and those of the metrics that it equals."""
        return (self.name, *self.equals)

    def target(self, thresholds: Mapping[str, float]) -> float | None:
        """Return the target that applies to an eval: the one among its own, else the default; None without either."""
        return next((thresholds[name] for name in self.names if name in thresholds), self.least)

    def reaches(self, value: float, target: float) -> bool:
        """Whether a value is at least as good as a target."""
        return value >= target if self.higher_is_better else value <= target

    @property
    def size(self) -> float:
        """The size of its range; 1 for an amount, whose range has no end."""
        size = self.high - self.low
        return size if size and isfinite(size) else 1.0

    def in_points(self, change: float) -> float:
        """Return a change of it in hundredths of its range, so that changes of different metrics can be compared."""
        return 100 * change / (self.high - self.low)


class Nouns(Frozen):
    """The words of a kind for documents, attributes, errors and so on, in lower case, for headings and tables."""

    attribute: str = "field"
    attributes: str = "fields"
    document: str = "document"
    errors: ErrorWords = ("omission", "hallucination", "wrong value", "format error")
    are_verdicts: bool = False
    """Whether all that is counted has passed or failed."""
    letters: ErrorWords = ("O", "H", "W", "F")
    """A letter for each error type, shown beside its colour, because colour alone must not carry the meaning."""
    same: tuple[str, ...] = ()
    """The counts and ratios that are the same number as a metric or as each other, which data files leave null."""

    @property
    def documents(self) -> str:
        """The plural of ``document``."""
        return f"{self.document}s"

    @property
    def value(self) -> str:
        """The noun for what is counted: a value, a check of an answer, or an answer if it is only right or wrong."""
        return "value" if "fp" not in self.same else "check" if self.attribute == "check" else "answer"

    @property
    def are_fields(self) -> bool:
        """Whether its attributes are fields, which the sections of a schema group."""
        return self.attribute == "field"

    @property
    def group(self) -> str:
        """The noun for groups of errors on pages: sections of the schema for fields, otherwise attributes."""
        return "section of the schema" if self.are_fields else self.attribute

    @property
    def groups(self) -> str:
        """The plural of ``group``."""
        return "sections" if self.are_fields else self.attributes

    def noun(self, number: int) -> str:
        """Return the word for so many documents: ``documents``, ``paragraph``, ``cases``."""
        return self.document if number == 1 else self.documents

    def letter(self, kind: ErrorType) -> str:
        """Return the letter of a type of errors; that of a field if the kind has none of its own."""
        index = ERROR_TYPES.index(kind)
        return self.letters[index] or Nouns().letters[index]

    @property
    def place(self) -> str:
        """The heading of the column that locates a value: the path of a field, or a place in a text."""
        return "field" if self.are_fields else "place"

    @property
    def error_types(self) -> tuple[ErrorType, ...]:
        """The types of errors that a kind has."""
        return tuple(kind for kind, word in zip(ERROR_TYPES, self.errors, strict=True) if word)


VerdictStatus: TypeAlias = Literal["PASS", "FAIL", "SKIP"]
"""SKIP: the metric is undefined, so there is nothing to judge."""


class VerdictRow(Frozen):
    """The verdict on one metric with a target."""

    metric: str
    label: str
    value: float | None
    threshold: float
    status: VerdictStatus


class Verdict(Frozen):
    """The verdict on all metrics with a target, and recommendations."""

    rows: tuple[VerdictRow, ...]
    """In the order of the kind's metrics, followed by targets of metrics that the kind does not have."""
    overall_status: VerdictStatus
    """PASS: every defined metric with a target reaches it; SKIP: there is no such metric."""
    failed_criteria: tuple[str, ...]
    """Names of the metrics that fail."""
    recommendations: tuple[str, ...]
    """Plain sentences: one for each failed criterion, and one for each undefined metric."""

    def row(self, metric: str) -> VerdictRow | None:
        """Return the row of a metric; None if it has no target."""
        return next((row for row in self.rows if row.metric == metric), None)


class KindTraits(Frozen):
    """What distinguishes a kind outside ``scoring``."""

    is_structured: bool = False
    """Its outputs have fields, which a mapping and a schema describe. Its headline is F1."""
    is_recorded: bool = False
    """Its numbers were recorded by runs and cannot be computed again: no cases, intervals, flips or second clock."""
    answers_cases: bool = False
    """Its outputs are answers of one or more prompts (variants) to the same test cases, which are the sample.
    Numbers may need vectors of texts, so that they also depend on the installed embedding model."""
    finds_texts: bool = False
    """Its outputs are texts to be marked; its numbers are how many were expected, marked and correct."""
    logs_runs: bool = False
    """Its output is a log of all runs; settings select the run, and the part of it, that counts."""
    names_scores: bool = False
    """Its outputs name scores; whether a score is a verdict or a grade is decided once for all outputs of an eval.
    Some formats of these need optional packages, so that its numbers also depend on these."""

    @property
    def has_cases(self) -> bool:
        """Whether its results have the texts of answers, by case."""
        return self.names_scores or self.answers_cases


KIND_TRAITS: Final[dict[str, KindTraits]] = {
    "fields": KindTraits(is_structured=True),
    "highlights": KindTraits(finds_texts=True, logs_runs=True),
    "responses": KindTraits(answers_cases=True),
    "judged": KindTraits(names_scores=True),
    "recorded": KindTraits(is_recorded=True),
}


def traits_of(kind: str | None) -> KindTraits:
    """Return the traits of a kind; the defaults for None."""
    return KIND_TRAITS[kind] if kind else KindTraits()
