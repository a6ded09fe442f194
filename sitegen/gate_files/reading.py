"""Reads the gate's JSON from an untrusted machine back into a report.

The run that wrote it executed the code of a pull request, so the file may contain anything. Labels and nouns come from
sitegen's own kinds, and every verdict is derived again from values and limits.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import partial
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from sitegen.analysis.gate import check_eval, check_metric, check_stranger, gate_report
from sitegen.errors import SitegenError
from sitegen.gate_files.document import SCHEMA, GateCell, GateDocument, GateEval, GateMetric, GateNoise
from sitegen.model.cells import Cell, CellFlip, Period
from sitegen.model.commits import WORKTREE, Commit
from sitegen.model.deltas import DeltaParts, MetricDelta, Overlap
from sitegen.model.gate import EvalCheck, GatedChange, GateReport, InstructionChange, MetricCheck, MetricLimits
from sitegen.model.kinds import traits_of
from sitegen.model.metrics import MetricSpec, Nouns
from sitegen.model.noise import ChangeVerdict, Interval
from sitegen.model.series import EvalInfo
from sitegen.model.usage import Exchange, regraded
from sitegen.scoring.kinds import BUILTIN_KINDS, scorer
from sitegen.scoring.usage import all_specs
from sitegen.text.plain import line

LARGEST: Final = 20_000_000
"""Bytes of the largest document that is read."""

MOST: Final = 10_000
"""Largest number of entries of a list or characters of a text."""

HIGHEST: Final = 1e9
"""The largest absolute value of a number."""

_COMMIT: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_KIND: Final = re.compile(r"[A-Za-z][\w-]{0,40}", re.ASCII)
_DERIVED: Final = ("nothing in common", "undefined", "too many broken", "too few cases")
"""Reasons of an eval that ``check_eval`` derives again."""


def read_report(content: bytes) -> GateReport:
    """Read the parts of a report that Markdown needs. Raises SitegenError if the document is not a valid report."""
    try:
        document = _checked_document(content)
        evals = [_eval_check(gate_eval, strict_floors=document.strict_floors) for gate_eval in document.evals]
    except (ValueError, RecursionError, IndexError) as error:
        raise _invalid(str(error)) from None
    report = gate_report(
        document.base,
        document.head,
        evals,
        allow_incomparable=document.passed,
        strict_floors=document.strict_floors,
    )
    if (report.verdict, report.passed, report.matched) != (document.verdict, document.passed, document.matched):
        raise _invalid("its verdict does not follow from its evals")
    return report


def _invalid(why: str) -> SitegenError:
    return SitegenError(f"The file is not a report of the gate: {why}.", fix="Write one by sitegen check --json.")


def _checked_document(content: bytes) -> GateDocument:
    """The document, if it has the right form and keeps the bounds. Raises ValueError or RecursionError."""
    if len(content) > LARGEST:
        raise ValueError(f"it has more than {LARGEST:,} bytes")
    body: Any = json.loads(content)
    _check_bounds(body)
    if not isinstance(body, dict) or body.get("schema") != SCHEMA:
        raise ValueError(f"it does not say that it is a {SCHEMA}")
    document = msgspec.convert(body, GateDocument)
    edits = [edit for gate_eval in document.evals for edit in gate_eval.instructions]
    commits = [document.base, document.head, *(commit for edit in edits for commit in edit.commits)]
    if not all(_COMMIT.fullmatch(commit) or commit == WORKTREE for commit in commits):
        raise ValueError("the id of a commit is not valid")
    return document


def _check_bounds(value: Any) -> None:
    if isinstance(value, str | list | dict) and len(value) > MOST:
        raise ValueError(f"one of its texts or lists is longer than {MOST:,}")
    if isinstance(value, int | float) and not abs(value) <= HIGHEST:  # NaN compares false
        raise ValueError(f"one of its numbers is larger than {HIGHEST:,.0f}")
    for member in (*value, *value.values()) if isinstance(value, dict) else value if isinstance(value, list) else ():
        _check_bounds(member)


def _eval_check(gate_eval: GateEval, *, strict_floors: bool) -> EvalCheck:
    if not _KIND.fullmatch(gate_eval.kind):
        raise ValueError("there is no such kind of eval")
    # A kind of an installed package may be missing on the machine that reads.
    own = scorer(gate_eval.kind) if gate_eval.kind in BUILTIN_KINDS else None
    nouns, specs = (own.nouns, own.metrics) if own else (Nouns(), ())
    compared = _gated_change(gate_eval, nouns)
    metric_check = partial(
        _metric_check,
        specs=all_specs(specs),
        compared=compared,
        recorded=traits_of(gate_eval.kind).is_recorded,
        strict_floors=strict_floors,
    )
    return check_eval(
        EvalInfo(gate_eval.eval_id, gate_eval.name, kind=gate_eval.kind, nouns=nouns),
        gate_eval.presence,
        list(map(metric_check, gate_eval.metrics)),
        [reason for reason in gate_eval.reasons if reason not in _DERIVED],
        compared=compared,
        file=gate_eval.file or "",
        cases=gate_eval.cases,
        max_broken=gate_eval.max_broken,
        min_cases=gate_eval.min_cases,
    )


def _metric_check(
    metric: GateMetric,
    specs: Iterable[MetricSpec],
    compared: GatedChange | None,
    *,
    recorded: bool,
    strict_floors: bool,
) -> MetricCheck:
    limits = MetricLimits(metric.floor, metric.drop)
    if "no such metric" in metric.reasons:
        return check_stranger(metric.name, limits)
    spec = next((spec for spec in specs if spec.name == metric.name), None) or _metric_spec(metric, recorded=recorded)
    parts = DeltaParts(metric.parts.outputs, metric.parts.ground_truth, metric.parts.rules) if metric.parts else None
    delta = MetricDelta(metric.name, metric.change, parts) if compared else None
    verdict = _change_verdict(metric.noise, metric.change) if metric.noise else None
    is_regraded = regraded(compared.judge if compared else None, metric.name)
    check = check_metric(
        spec,
        limits,
        metric.base,
        metric.head,
        delta,
        lambda _: verdict,
        regraded=is_regraded,
        lost=verdict is not None and bool(verdict.lost_fields),
        strict_floors=strict_floors,
    )
    return replace(check, averaged_before=metric.base_variants, averaged_after=metric.head_variants)


def _metric_spec(metric: GateMetric, *, recorded: bool) -> MetricSpec:
    """The spec of a metric that no built-in kind has. Raises ValueError if its range is invalid."""
    low, high = metric.range
    if high is None or not low < high:
        raise ValueError("the range of a metric is not valid")
    return MetricSpec(
        name=metric.name,
        label=line(metric.name, 60),
        explanation="",
        low=low,
        high=high,
        higher_is_better=metric.higher_is_better,
        recorded=recorded,
    )


def _change_verdict(noise: GateNoise, change: float | None) -> ChangeVerdict:
    unit, ends = noise.unit, noise.interval
    return ChangeVerdict(
        decision=noise.decision,
        why=noise.why,
        change=change,
        interval=Interval(*ends, unit, noise.n, "") if unit and ends else None,
        fixed=noise.fixed,
        broken=noise.broken,
        counted=noise.counted,
        p_value=noise.p_value,
        detectable=noise.detectable,
        lost_fields=noise.lost_fields,
    )


def _gated_change(gate_eval: GateEval, nouns: Nouns) -> GatedChange | None:
    shared = gate_eval.overlap
    if shared is None:
        return None
    return GatedChange(
        overlap=Overlap(
            verdict=shared.verdict, common=shared.common, only_before=shared.only_base, only_after=shared.only_head
        ),
        unit="case" if shared.unit == "case" else nouns.document,
        units="cases" if shared.unit == "case" else nouns.documents,
        fixed=gate_eval.fixed,
        broken=gate_eval.broken,
        flipped=tuple(map(_cell_flip, gate_eval.cells)),
        edits=tuple(
            InstructionChange(
                edit.path,
                tuple(Commit(sha=sha, position=0, author="", committed_at="", subject="") for sha in edit.commits),
            )
            for edit in gate_eval.instructions
        ),
        stale=gate_eval.stale,
        model=Exchange(gate_eval.model.base, gate_eval.model.head) if gate_eval.model else None,
        judge=Exchange(gate_eval.judge.base, gate_eval.judge.head, gate_eval.judge.metrics)
        if gate_eval.judge
        else None,
    )


def _cell_flip(cell: GateCell) -> CellFlip:
    """The flip without the states of the cell, which no form of the report contains."""
    before, after = (
        Period(start=0, state="absent", expected=cell.expected or "", actual=actual or "")
        for actual in (cell.base, cell.head)
    )
    return CellFlip(
        fate=cell.fate,
        cell=Cell(
            document=cell.document,
            path=cell.path,
            attribute="",
            extra=cell.extra_item,
            periods=(),
            named_path=cell.named_path,
        ),
        before=before,
        after=after,
    )
