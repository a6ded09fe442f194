"""Evals of the gate with few words."""

from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from sitegen.analysis.gate import check_eval, check_report, gate_metric
from sitegen.config.models import Limit
from sitegen.model.changes import ChangeVerdict, Comparability, MetricDelta
from sitegen.model.gate import GateCell, GateEval, GateMetric, GateOverlap, GateReport, Presence
from sitegen.model.metrics import MetricSpec


def gate_eval(
    eval_id: str, presence: Presence, metrics: Iterable[GateMetric] = (), *, strict_floors: bool = False, **more: Any
) -> GateEval:
    """An eval of the gate with its verdict. ``more``: further fields; its name is its id unless stated."""
    fields = {"name": eval_id, "kind": "fields", **more}
    draft = GateEval(eval_id=eval_id, presence=presence, metrics=tuple(metrics), **fields)
    return check_eval(draft, strict_floors=strict_floors)


def gate_report(
    base: str, head: str, evals: Iterable[GateEval], *, allow_incomparable: bool = False, strict_floors: bool = False
) -> GateReport:
    """A report of the gate with its verdict."""
    draft = GateReport(
        base=base, head=head, verdict="pass", passed=False, matched=0, evals=tuple(evals), strict_floors=strict_floors
    )
    return check_report(draft, allow_incomparable=allow_incomparable)


def check_metric(
    spec: MetricSpec,
    limits: Limit,
    before: float | None,
    after: float | None,
    delta: MetricDelta | None,
    noise: ChangeVerdict | None = None,
    *,
    is_headline: bool = False,
    strict_floors: bool = False,
) -> GateMetric:
    """A metric of an eval that was checked: the headline or another one."""
    change, parts = (delta.change, delta.parts) if delta else (None, None)
    metric = replace(gate_metric(spec, limits), base=before, head=after, change=change, parts=parts, noise=noise)
    headline = [] if is_headline else [gate_metric(MetricSpec("headline", "Headline", ""), Limit())]
    common = overlap("comparable", 1) if delta else None
    check = gate_eval("a", "both", [*headline, metric], strict_floors=strict_floors, overlap=common)
    return check.metrics[-1]


def overlap(verdict: Comparability, common: int, *alone: tuple[str, ...]) -> GateOverlap:
    """Documents in common, and those of the base and of the head alone."""
    return GateOverlap(verdict, common, *alone)


def broken(path: str, values: tuple[str | None, str | None], document: str = "d-1") -> GateCell:
    """A cell that broke: the value that is expected, as the base had it, and that of the head."""
    base, head = values
    return GateCell("broken", document, path, extra_item=False, expected=base, base=base, head=head)
