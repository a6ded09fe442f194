"""What the documents of results of all kinds share; each kind adds a part of its own (``scoring.documents``)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, make_dataclass
from typing import Any

from sitegen.model.metrics import Counts
from sitegen.model.problems import Finding, Severity
from sitegen.model.scorecards import Kappa, Status
from sitegen.model.usage import RunUsage
from sitegen.stats import counts as stats


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


RatioValues: Any = make_dataclass(
    "RatioValues", [(ratio.name, float | None) for ratio in stats.in_file_order()], frozen=True, kw_only=True
)
"""A field for each of the ratios of counts; undefined is None."""


@dataclass(frozen=True, kw_only=True)
class ConfusionCounts:
    """How many values were right or wrong."""

    tp: int
    fp: int
    fn: int
    tn: int


@dataclass(frozen=True, kw_only=True)
class FieldCounts(RatioValues, ConfusionCounts):  # type: ignore[misc]  # the ratios are not known before it runs
    """The counts of one attribute."""


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


@dataclass(frozen=True, kw_only=True)
class ResultsHead:
    """What every document begins with."""

    schema: str
    eval_id: str
    status: Status


@dataclass(frozen=True, kw_only=True)
class ResultsTail:
    """What every document ends with."""

    usage: UsageRow | None
    """None: no file states any of it."""
    problems: tuple[ProblemRow, ...]
    metadata: Metadata


def problem_rows(findings: Iterable[Finding]) -> tuple[ProblemRow, ...]:
    """The findings of a scorecard as data files have them."""
    return tuple(
        ProblemRow(
            severity=finding.severity, what=finding.text, fix=finding.fix, line=finding.line, about=finding.about
        )
        for finding in findings
    )


def usage_row(usage: RunUsage | None) -> UsageRow | None:
    """What an output took as data files have it."""
    return None if usage is None else UsageRow(**usage._asdict())


def agreement_row(agreement: Kappa | None) -> AgreementRow | None:
    """The agreement of a judge with people as data files have it."""
    if agreement is None:
        return None
    return AgreementRow(
        kappa=agreement.value,
        low=agreement.low,
        high=agreement.high,
        agreed=agreement.agreed,
        judged=agreement.judged,
    )


def field_row(counts: Counts) -> FieldCounts:
    """The counts of one attribute, with the ratios that follow from them."""
    return FieldCounts(tp=counts.tp, fp=counts.fp, fn=counts.fn, tn=counts.tn, **stats.ratios(counts))
