"""The report of the gate as JSON (``sitegen/gate/1``), and the reading of one from an untrusted machine.

The run that wrote such a report executed the code of a pull request, so the file may contain anything. Labels and nouns
come from sitegen's own kinds, and every verdict is derived again from values and limits.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from sitegen.analysis.gate import check_eval, check_metric, check_stranger, gate_report, without_excuse
from sitegen.errors import SitegenError
from sitegen.model.changes import MetricDelta
from sitegen.model.commits import WORKTREE
from sitegen.model.gate import SCHEMA, GateEval, GateMetric, GateReport
from sitegen.model.metrics import MetricSpec, Nouns, traits_of
from sitegen.scoring.kinds import BUILTIN_KINDS, scorer
from sitegen.scoring.usage import all_specs
from sitegen.text.json_bytes import schema_first
from sitegen.text.plain import line

LARGEST: Final = 20_000_000
"""Bytes of the largest document that is read."""

MOST: Final = 10_000
"""Largest number of entries of a list or characters of a text."""

_HIGHEST: Final = 1e9
"""The largest absolute value of a number."""

_COMMIT: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_KIND: Final = re.compile(r"[A-Za-z][\w-]{0,40}", re.ASCII)
_UNIT: Final = re.compile(r"[A-Za-z%/ ]{0,20}", re.ASCII)
_DERIVED: Final = ("nothing in common", "undefined", "too many broken", "too few cases")
"""Reasons of an eval that ``check_eval`` derives again."""


def gate_json(report: GateReport) -> bytes:
    """UTF-8 JSON with full precision; undefined is null."""
    return schema_first(report)


def read_report(content: bytes) -> GateReport:
    """Read a report, and derive its verdicts again. Raises SitegenError if the document is not a valid report."""
    try:
        said = _checked_document(content)
        evals = [_derived(gate_eval, strict_floors=said.strict_floors) for gate_eval in said.evals]
    except (ValueError, RecursionError, IndexError) as error:
        raise _invalid(str(error)) from None
    report = gate_report(said.base, said.head, evals, allow_incomparable=said.passed, strict_floors=said.strict_floors)
    if (report.verdict, report.passed, report.matched) != (said.verdict, said.passed, said.matched):
        raise _invalid("its verdict does not follow from its evals")
    return report


def _invalid(why: str) -> SitegenError:
    return SitegenError(f"The file is not a report of the gate: {why}.", fix="Write one by sitegen check --json.")


def _checked_document(content: bytes) -> GateReport:
    """The document, if it has the right form and keeps the bounds. Raises ValueError or RecursionError."""
    if len(content) > LARGEST:
        raise ValueError(f"it has more than {LARGEST:,} bytes")
    body: Any = json.loads(content)
    _check_bounds(body)
    if not isinstance(body, dict) or body.get("schema") != SCHEMA:
        raise ValueError(f"it does not say that it is a {SCHEMA}")
    document = msgspec.convert(body, GateReport)
    edits = [edit for gate_eval in document.evals for edit in gate_eval.instructions]
    commits = [document.base, document.head, *(commit for edit in edits for commit in edit.commits)]
    commits += [gate_eval.or_edit for gate_eval in document.evals if gate_eval.or_edit is not None]
    if not all(_COMMIT.fullmatch(commit) or commit == WORKTREE for commit in commits):
        raise ValueError("the id of a commit is not valid")
    return document


def _check_bounds(value: Any) -> None:
    if isinstance(value, str | list | dict) and len(value) > MOST:
        raise ValueError(f"one of its texts or lists is longer than {MOST:,}")
    if isinstance(value, int | float) and not abs(value) <= _HIGHEST:  # NaN compares false
        raise ValueError(f"one of its numbers is larger than {_HIGHEST:,.0f}")
    for member in (*value, *value.values()) if isinstance(value, dict) else value if isinstance(value, list) else ():
        _check_bounds(member)


def _derived(gate_eval: GateEval, *, strict_floors: bool) -> GateEval:
    """The eval with verdicts that follow from its values and limits, and with the words of sitegen's own kinds."""
    if not _KIND.fullmatch(gate_eval.kind):
        raise ValueError("there is no such kind of eval")
    # A kind of an installed package may be missing on the machine that reads.
    own = scorer(gate_eval.kind) if gate_eval.kind in BUILTIN_KINDS else None
    nouns, specs = (own.nouns, own.metrics) if own else (Nouns(), ())
    by_name = {spec.name: spec for spec in all_specs(specs)}
    overlap = gate_eval.overlap
    if overlap:
        is_case = overlap.unit == "case"
        unit, units = ("case", "cases") if is_case else (nouns.document, nouns.documents)
        overlap = replace(overlap, unit=unit, units=units)
    return check_eval(
        replace(
            gate_eval,
            overlap=overlap,
            reasons=tuple(reason for reason in gate_eval.reasons if reason not in _DERIVED),
            metrics=tuple(
                _derived_metric(metric, by_name.get(metric.name), gate_eval, strict_floors=strict_floors)
                for metric in gate_eval.metrics
            ),
        )
    )


def _derived_metric(
    metric: GateMetric, spec: MetricSpec | None, gate_eval: GateEval, *, strict_floors: bool
) -> GateMetric:
    """The metric, checked again. ``spec``: what sitegen knows of it; None for a metric that no built-in kind has."""
    if "no such metric" in metric.reasons:
        return check_stranger(metric.name, metric.limits)
    spec = spec or _strange_spec(metric, recorded=traits_of(gate_eval.kind).is_recorded)
    verdict = metric.noise and replace(metric.noise, change=metric.change)
    judge = gate_eval.judge
    check = check_metric(
        spec,
        metric.limits,
        metric.base,
        metric.head,
        MetricDelta(metric.name, metric.change, metric.parts) if gate_eval.overlap else None,
        lambda _: verdict,
        regraded=judge is not None and metric.name in judge.metrics,
        is_headline=metric is gate_eval.metrics[0],
        same_output=gate_eval.same_output,
        strict_floors=strict_floors,
    )
    if "worse by the repeats of the base" in metric.reasons:
        check = without_excuse(check)
    return replace(check, base_variants=metric.base_variants, head_variants=metric.head_variants)


def _strange_spec(metric: GateMetric, *, recorded: bool) -> MetricSpec:
    """The spec of a metric that no built-in kind has. Raises ValueError if its range is invalid."""
    low, high = metric.range
    if high is None or not low < high:
        raise ValueError("the range of a metric is not valid")
    unit = metric.unit if _UNIT.fullmatch(metric.unit) else ""
    return replace(metric.spec, label=line(metric.label or metric.name, 60), unit=unit, recorded=recorded)
