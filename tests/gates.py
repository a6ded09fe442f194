"""Evals of the gate with few words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sitegen.analysis.gate import check_eval
from sitegen.model.changes import Comparability
from sitegen.model.gate import GateEval, GateMetric, GateOverlap, Presence


def gate_eval(eval_id: str, presence: Presence, metrics: Iterable[GateMetric] = (), **more: Any) -> GateEval:
    """An eval of the gate with its verdict. ``more``: further fields; its name is its id unless stated."""
    fields = {"name": eval_id, "kind": "fields", **more}
    return check_eval(GateEval(eval_id=eval_id, presence=presence, metrics=tuple(metrics), **fields))


def overlap(verdict: Comparability, common: int, *alone: tuple[str, ...]) -> GateOverlap:
    """Documents in common, and those of the base and of the head alone."""
    return GateOverlap(verdict, "document", "documents", common, *alone)
