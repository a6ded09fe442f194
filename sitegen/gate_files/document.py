"""The gate's report as JSON with every number (``sitegen/gate/1``)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sitegen.gate_files.wording import is_amount, points_of
from sitegen.model.cells import CellFlip, Fate, Tally
from sitegen.model.deltas import Comparability
from sitegen.model.gate import EvalCheck, GatedChange, GateReport, GateVerdict, MetricCheck, Presence, Reason
from sitegen.model.noise import ChangeVerdict, Decision, Ends, Unit, Why
from sitegen.model.series import VariantSpread
from sitegen.named_tuple import NamedTuple
from sitegen.text.json_bytes import schema_first

SCHEMA: Final = "sitegen/gate/1"


@dataclass(frozen=True, slots=True)
class GateNoise:
    """Whether a drop beyond its limit is more than chance."""

    decision: Decision
    """The word for the change on the cases that both sides have."""
    why: Why
    interval: Ends | None
    """Interval of the change for further cases, in the unit of the metric. It does not influence the decision."""
    p_value: float | None
    """The exact sign test of `counted`."""
    detectable: float | None
    """The smallest change that this set detects with a power of 0.8."""
    unit: Unit | None = None
    """The unit of the interval."""
    n: int = 0
    """Number of units."""
    fixed: int = 0
    broken: int = 0
    counted: tuple[int, int] = (0, 0)
    """What the sign test counts of `fixed` and of `broken`: each list item once."""
    lost_fields: Tally = ()
    """The fields that were right wherever they were judged, and are now wrong wherever they are judged, with the number
    of their values."""


@dataclass(frozen=True, slots=True)
class GateParts:
    """The parts of a change by cause; the three parts sum to the whole change."""

    outputs: float
    ground_truth: float
    rules: float


class GateRange(NamedTuple):
    """The least and the greatest value of a metric; in the file, a list of the two."""

    low: float
    high: float | None
    """Null for an amount, which has no greatest value."""


SHARE: Final = GateRange(0.0, 1.0)
"""The range of most metrics."""


@dataclass(frozen=True, slots=True)
class GateMetric:
    """One metric of one eval, compared with its limits."""

    name: str
    base: float | None
    head: float | None
    change: float | None
    """Head minus base, over common documents."""
    points: float | None
    """The change in hundredths of the metric's range; for an amount, in percent of the value at the base."""
    parts: GateParts | None
    floor: float | None
    drop: float | None
    """How far the metric may get worse, in hundredths of its range; for an amount, in percent."""
    verdict: GateVerdict
    reasons: tuple[Reason, ...]
    """Empty if the metric passes, unless it is still below its floor."""
    noise: GateNoise | None
    """Null if the drop is within its limit, or if noise is unknown."""
    higher_is_better: bool = True
    range: GateRange = SHARE
    """The range of the metric; `points` and `drop` are hundredths of it."""
    base_variants: VariantSpread | None = None
    """The worst and the best variant of the prompt that `base` averages; null with fewer than two."""
    head_variants: VariantSpread | None = None


@dataclass(frozen=True, slots=True)
class GateOverlap:
    """The documents that base and head have in common."""

    verdict: Comparability
    unit: str
    common: int
    only_base: tuple[str, ...]
    only_head: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GateCell:
    """A cell that is wrong on one side and right on the other."""

    fate: Fate
    document: str
    path: str
    extra_item: bool
    expected: str | None
    """Values are JSON texts, cut to 200 characters."""
    base: str | None
    head: str | None
    by_truth: bool
    """Whether the expected value differs between the sides."""
    named_path: str = ""
    """The path with list items by name, `walls[E Wall].area`; empty if it is the same."""


@dataclass(frozen=True, slots=True)
class GateInstruction:
    """An instruction file that differs between the sides."""

    path: str
    commits: tuple[str, ...]
    """Ids of the commits that edited it in between, oldest first."""


@dataclass(frozen=True, slots=True)
class GateExchange:
    """The model or judge at the base and at the head, which differ."""

    base: tuple[str, ...]
    head: tuple[str, ...]
    metrics: tuple[str, ...] = ()
    """For a judge: the metrics that use its grades; they have no change."""


@dataclass(frozen=True, slots=True)
class GateEval:
    """One eval on both sides."""

    eval_id: str
    name: str
    kind: str
    presence: Presence
    verdict: GateVerdict
    reasons: tuple[Reason, ...]
    """Reasons that concern the eval as a whole."""
    matched: bool
    """Whether the eval was compared or, without anything to compare with, checked against a floor."""
    file: str | None
    """The changed file: the output, else ground truth or rules; the output if none changed."""
    metrics: tuple[GateMetric, ...]
    overlap: GateOverlap | None
    """Null unless both sides have an output of one kind."""
    fixed: int
    broken: int
    cells: tuple[GateCell, ...]
    """Broken cells, then fixed cells; at most 200 of each."""
    instructions: tuple[GateInstruction, ...]
    stale: bool
    """Whether instructions were edited after the output was made."""
    model: GateExchange | None = None
    """Null if the model is the same, or if a side does not state it."""
    judge: GateExchange | None = None
    cases: int | None = None
    """Number of documents, or test cases if the kind has these, that are judged at the head."""
    max_broken: int | None = None
    """The most broken values that the eval may have."""
    min_cases: int | None = None
    """The least number of `cases`."""


@dataclass(frozen=True, slots=True)
class GateDocument:
    """All evals of two revisions."""

    base: str
    head: str
    """Id of the commit, or `worktree`."""
    verdict: GateVerdict
    passed: bool
    matched: int
    evals: tuple[GateEval, ...]
    """The evals, the worst first."""
    strict_floors: bool = False
    """Whether a floor that was missed at the base too fails."""
    schema: str = SCHEMA


def gate_json(report: GateReport) -> bytes:
    """UTF-8 JSON with full precision; undefined is null."""
    return schema_first(gate_document(report))


def gate_document(report: GateReport) -> GateDocument:
    """The report in the shape of the JSON file."""
    return GateDocument(
        base=report.base,
        head=report.head,
        verdict=report.verdict,
        passed=report.passed,
        matched=report.matched,
        evals=tuple(map(_gate_eval, report.evals)),
        strict_floors=report.strict_floors,
    )


def _gate_eval(check: EvalCheck) -> GateEval:
    change = check.compared
    return GateEval(
        eval_id=check.info.id,
        name=check.info.name,
        kind=check.info.kind,
        presence=check.presence,
        verdict=check.verdict,
        reasons=check.reasons,
        matched=check.matched,
        file=check.file or None,
        metrics=tuple(map(_gate_metric, check.metrics)),
        overlap=_gate_overlap(change) if change else None,
        fixed=change.fixed if change else 0,
        broken=change.broken if change else 0,
        cells=tuple(map(_gate_cell, change.flipped)) if change else (),
        instructions=tuple(
            GateInstruction(edit.path, tuple(commit.sha for commit in edit.commits))
            for edit in (change.edits if change else ())
        ),
        stale=change.stale if change else False,
        model=GateExchange(*change.model) if change and change.model else None,
        judge=GateExchange(*change.judge) if change and change.judge else None,
        cases=check.cases,
        max_broken=check.max_broken,
        min_cases=check.min_cases,
    )


def _gate_metric(metric: MetricCheck) -> GateMetric:
    return GateMetric(
        name=metric.spec.name,
        base=metric.before,
        head=metric.after,
        change=metric.change,
        points=points_of(metric),
        parts=GateParts(*metric.parts) if metric.parts and not metric.spec.recorded else None,
        floor=metric.limits.floor,
        drop=metric.limits.drop,
        verdict=metric.verdict,
        reasons=metric.reasons,
        noise=_gate_noise(metric.chance) if metric.chance else None,
        higher_is_better=metric.spec.higher_is_better,
        range=GateRange(metric.spec.low, None if is_amount(metric.spec) else metric.spec.high),
        base_variants=metric.averaged_before,
        head_variants=metric.averaged_after,
    )


def _gate_noise(verdict: ChangeVerdict) -> GateNoise:
    interval = Ends(verdict.interval.low, verdict.interval.high) if verdict.interval else None
    return GateNoise(
        decision=verdict.decision,
        why=verdict.why,
        interval=interval,
        p_value=verdict.p_value,
        detectable=verdict.detectable,
        unit=verdict.interval.unit if verdict.interval else None,
        n=verdict.interval.n if verdict.interval else 0,
        fixed=verdict.fixed,
        broken=verdict.broken,
        counted=verdict.counted,
        lost_fields=verdict.lost_fields,
    )


def _gate_overlap(change: GatedChange) -> GateOverlap:
    overlap = change.overlap
    return GateOverlap(
        verdict=overlap.verdict,
        unit=change.unit,
        common=overlap.common,
        only_base=overlap.only_before,
        only_head=overlap.only_after,
    )


def _gate_cell(flip: CellFlip) -> GateCell:
    before, after = flip.before, flip.after
    return GateCell(
        fate=flip.fate,
        document=flip.cell.document,
        path=flip.cell.path,
        extra_item=flip.cell.extra,
        expected=expected_of_cell(flip) or None,
        base=before.actual or None if before else None,
        head=after.actual or None if after else None,
        by_truth=flip.by_truth,
        named_path=flip.cell.named_path,
    )


def expected_of_cell(flip: CellFlip) -> str:
    """The expected value at the head, otherwise at the base; empty without any."""
    return next((run.expected for run in (flip.after, flip.before) if run and run.expected), "")
