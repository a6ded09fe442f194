"""The gate's document from another machine, made into a report again that trusts nothing of it but its numbers.

The run that wrote it ran the code of a pull request, so it can hold anything. Labels and nouns are those that sitegen
itself has for the kind, and every verdict is concluded once more from values and limits.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any, Final

from sitegen.analysis.gate import check_eval, check_metric, check_stranger, gate_report
from sitegen.comparing.gate.document import SCHEMA, GateCell, GateDocument, GateEval, GateMetric, GateNoise
from sitegen.errors import SitegenError
from sitegen.model.cells import Cell, CellFlip, Run
from sitegen.model.commits import WORKTREE, Commit
from sitegen.model.deltas import DeltaParts, MetricDelta, Overlap
from sitegen.model.gate import EvalCheck, GatedChange, GateReport, InstructionChange, MetricCheck, MetricLimits
from sitegen.model.kinds import traits_of
from sitegen.model.metrics import MetricSpec, Nouns
from sitegen.model.noise import ChangeVerdict
from sitegen.model.series import EvalInfo
from sitegen.model.usage import Exchange, regraded
from sitegen.scoring.kinds import SCORERS
from sitegen.scoring.usage import all_specs
from sitegen.text.plain import line

LARGEST: Final = 20_000_000
"""Bytes of a document that is read."""

MOST: Final = 10_000
"""Entries of a list, and characters of a text."""

HIGHEST: Final = 1e9
"""How far from zero a number may be."""

_COMMIT: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_KIND: Final = re.compile(r"[A-Za-z][\w-]{0,40}", re.ASCII)
_DERIVED: Final = ("nothing in common", "undefined")
"""Reasons of an eval as a whole that follow from the rest of it."""


def read_report(content: bytes) -> GateReport:
    """The report that a document was made from, as far as Markdown shows it. Raises SitegenError if it is none."""
    try:
        document = _checked_document(content)
        evals = tuple(map(_eval_check, document.evals))
    except (ValueError, RecursionError, IndexError) as error:
        raise _no_report(str(error)) from None
    report = gate_report(document.base, document.head, evals, allow_incomparable=document.passed)
    if (report.verdict, report.passed, report.matched) != (document.verdict, document.passed, document.matched):
        raise _no_report("its verdict does not follow from its evals")
    return report


def _no_report(why: str) -> SitegenError:
    return SitegenError(f"The file is no report of the gate: {why}.", fix="Write one by sitegen check --json.")


def _checked_document(content: bytes) -> GateDocument:
    """Its form and its bounds. Raises ValueError or RecursionError."""
    import msgspec

    if len(content) > LARGEST:
        raise ValueError(f"it has more than {LARGEST:,} bytes")
    body: Any = json.loads(content)
    _check_bounds(body)
    if not isinstance(body, dict) or body.get("schema") != SCHEMA:
        raise ValueError(f"it does not say that it is a {SCHEMA}")
    document = msgspec.convert(body, GateDocument)
    edits = [edit for one in document.evals for edit in one.instructions]
    commits = [document.base, document.head, *(commit for edit in edits for commit in edit.commits)]
    if not all(_COMMIT.fullmatch(commit) or commit == WORKTREE for commit in commits):
        raise ValueError("an id of a commit is none")
    return document


def _check_bounds(value: Any) -> None:
    if isinstance(value, str | list | dict) and len(value) > MOST:
        raise ValueError(f"a text or a list of it is longer than {MOST:,}")
    if isinstance(value, int | float) and not abs(value) <= HIGHEST:  # what is no number is not within either
        raise ValueError(f"a number of it is beyond {HIGHEST:,.0f}")
    for each in (*value, *value.values()) if isinstance(value, dict) else value if isinstance(value, list) else ():
        _check_bounds(each)


def _eval_check(one: GateEval) -> EvalCheck:
    if not _KIND.fullmatch(one.kind):
        raise ValueError("there is no such kind of eval")
    own = next((each for each in SCORERS if each.kind == one.kind), None)  # the reader need not have it installed
    nouns, specs = (own.nouns, own.metrics) if own else (Nouns(), ())
    compared, recorded = _gated_change(one, nouns), traits_of(one.kind).is_recorded
    return check_eval(
        EvalInfo(one.eval_id, one.name, kind=one.kind, nouns=nouns),
        one.presence,
        [_metric_check(metric, all_specs(specs), compared, recorded=recorded) for metric in one.metrics],
        [reason for reason in one.reasons if reason not in _DERIVED],
        compared=compared,
        file=one.file or "",
    )


def _metric_check(
    one: GateMetric, specs: Iterable[MetricSpec], compared: GatedChange | None, *, recorded: bool
) -> MetricCheck:
    limits = MetricLimits(one.floor, one.drop)
    spec = next((spec for spec in specs if spec.name == one.name), None)
    if spec is None and "no such metric" not in one.reasons:
        spec = _metric_spec(one, recorded=recorded)
    if spec is None:
        return check_stranger(one.name, limits)
    parts = DeltaParts(one.parts.outputs, one.parts.ground_truth, one.parts.rules) if one.parts else None
    delta = MetricDelta(one.name, one.change, parts) if compared else None
    told = _change_verdict(one.noise) if one.noise else None
    anew = regraded(compared.judge if compared else None, one.name)
    return check_metric(spec, limits, (one.base, one.head), delta, lambda _: told, regraded=anew)


def _metric_spec(one: GateMetric, *, recorded: bool) -> MetricSpec:
    """A number that no kind of ours describes, as the report does. Raises ValueError if its range is none."""
    low, high = one.range
    if high is None or not low < high:
        raise ValueError("the range of a metric is none")
    higher = one.higher_is_better
    return MetricSpec(one.name, line(one.name, 60), "", low, high, higher_is_better=higher, recorded=recorded)


def _change_verdict(noise: GateNoise) -> ChangeVerdict:
    return ChangeVerdict(
        decision=noise.decision,
        why=noise.why,
        change=None,
        interval=None,
        fixed=0,
        broken=0,
        p_value=noise.p_value,
        detectable=noise.detectable,
        fields=(),
    )


def _gated_change(one: GateEval, nouns: Nouns) -> GatedChange | None:
    shared = one.overlap
    if shared is None:
        return None
    return GatedChange(
        overlap=Overlap(shared.verdict, shared.common, shared.only_base, shared.only_head),
        units=("case", "cases") if shared.unit == "case" else (nouns.document, nouns.documents),
        fixed=one.fixed,
        broken=one.broken,
        flipped=tuple(map(_cell_flip, one.cells)),
        edits=tuple(
            InstructionChange(edit.path, tuple(Commit(sha, 0, "", "", "") for sha in edit.commits))
            for edit in one.instructions
        ),
        stale=one.stale,
        model=Exchange(one.model.base, one.model.head) if one.model else None,
        judge=Exchange(one.judge.base, one.judge.head, one.judge.metrics) if one.judge else None,
    )


def _cell_flip(cell: GateCell) -> CellFlip:
    """Without the states of the cell, which no form of the report shows."""
    sides = (Run(0, "absent", cell.expected or "", actual or "") for actual in (cell.base, cell.head))
    return CellFlip(cell.fate, Cell(cell.document, cell.path, "", cell.extra_item, (), cell.named_path), *sides)
