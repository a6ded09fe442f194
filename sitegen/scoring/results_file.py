"""The parts that the results documents of all kinds share; ``documents`` adds the part of one kind."""

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


RatioValues: Any = make_dataclass(
    "RatioValues", [(ratio.name, float | None) for ratio in stats.in_file_order()], frozen=True, kw_only=True
)
"""A dataclass with a field for each ratio of counts; undefined is None."""


@dataclass(frozen=True, kw_only=True)
class ConfusionCounts:
    """The confusion counts of an attribute."""

    tp: int
    fp: int
    fn: int
    tn: int


@dataclass(frozen=True, kw_only=True)
class FieldCounts(RatioValues, ConfusionCounts):  # type: ignore[misc]  # mypy cannot see fields made at run time
    """The counts of one attribute."""


@dataclass(frozen=True, slots=True)
class ProblemRow:
    """One finding about the files."""

    severity: Severity
    what: str
    fix: str
    line: int | None
    about: str


@dataclass(frozen=True, slots=True)
class UsageRow:
    """Usage of the output, and the models that made and graded it; None where no file states it."""

    answers: int
    """Number of calls that gave an answer; 0 if a record beside the output states only totals."""
    models: tuple[str, ...]
    parameters: str
    """JSON; empty if none are stated, or if they differ among the answers."""
    tokens_in: int | None
    """Input tokens, including tokens from a cache."""
    tokens_out: int | None
    cost: float | None
    """US dollars, unless the tool that wrote the file counts in another currency."""
    latency_median: float | None
    """Seconds."""
    latency_p95: float | None
    """Seconds."""
    judges: tuple[str, ...]
    graded: tuple[str, ...]
    """Metrics that depend on grades of these judges."""


@dataclass(frozen=True, slots=True)
class AgreementRow:
    """Agreement of the judge with people: Cohen's kappa with its 95 % confidence interval."""

    kappa: float
    low: float
    high: float
    agreed: int
    """Items that both judged alike."""
    judged: int
    """Items that both judged."""


@dataclass(frozen=True, kw_only=True)
class ResultsHead:
    """The first fields of every document."""

    schema: str
    eval_id: str
    status: Status


@dataclass(frozen=True, kw_only=True)
class ResultsTail:
    """The last fields of every document."""

    usage: UsageRow | None
    """None if no file states any usage."""
    problems: tuple[ProblemRow, ...]
    metadata: Metadata


def problem_rows(findings: Iterable[Finding]) -> tuple[ProblemRow, ...]:
    """The findings of a scorecard."""
    return tuple(
        ProblemRow(
            severity=finding.severity, what=finding.text, fix=finding.fix, line=finding.line, about=finding.about
        )
        for finding in findings
    )


def usage_row(usage: RunUsage | None) -> UsageRow | None:
    """The usage of an output; None if no file states any."""
    return None if usage is None else UsageRow(**usage._asdict())


def agreement_row(agreement: Kappa | None) -> AgreementRow | None:
    """The agreement of a judge with people; None if it is not known."""
    return None if agreement is None else AgreementRow(*agreement)


def field_row(counts: Counts) -> FieldCounts:
    """The counts of one attribute, with their ratios."""
    return FieldCounts(tp=counts.tp, fp=counts.fp, fn=counts.fn, tn=counts.tn, **stats.ratios(counts))
