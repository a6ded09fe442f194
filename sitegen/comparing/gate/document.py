"""The gate's report with every number (``sitegen/gate/1``)."""

from __future__ import annotations

import json
from typing import Any, Final

from sitegen.model.flips import CellFlip
from sitegen.model.gate import Compared, EvalCheck, GateReport, MetricCheck
from sitegen.model.noise import ChangeVerdict
from sitegen.pages.changes import in_points

SCHEMA: Final = "sitegen/gate/1"


def to_json_bytes(report: GateReport) -> bytes:
    """UTF-8 JSON with full precision; undefined is null."""
    body = {
        "schema": SCHEMA,
        "base": report.base,
        "head": report.head,
        "verdict": report.verdict,
        "passed": report.passed,
        "matched": report.matched,
        "evals": [_eval(one) for one in report.evals],
    }
    text = json.dumps(body, ensure_ascii=False, indent=2, allow_nan=False)
    return text.encode("utf-8", "backslashreplace") + b"\n"


def _eval(one: EvalCheck) -> dict[str, Any]:
    return {
        "eval_id": one.info.id,
        "name": one.info.name,
        "kind": one.info.kind,
        "presence": one.presence,
        "verdict": one.verdict,
        "reasons": one.reasons,
        "matched": one.matched,
        "file": one.file or None,
        "metrics": [_metric(metric) for metric in one.metrics],
        **(_compared(one.compared) if one.compared else {}),
    }


def _metric(one: MetricCheck) -> dict[str, Any]:
    return {
        "name": one.spec.name,
        "base": one.before,
        "head": one.after,
        "change": one.change,
        "points": None if one.change is None else in_points(one.change, one.spec),
        "parts": one.parts and one.parts._asdict(),
        "floor": one.limits.floor,
        "drop": one.limits.drop,
        "verdict": one.verdict,
        "reasons": one.reasons,
        "noise": one.chance and _chance(one.chance),
    }


def _chance(one: ChangeVerdict) -> dict[str, Any]:
    interval = one.interval
    return {
        "decision": one.decision,
        "why": one.why,
        "interval": interval and [interval.low, interval.high],
        "p_value": one.p_value,
        "detectable": one.detectable,
    }


def _compared(one: Compared) -> dict[str, Any]:
    overlap = one.overlap
    return {
        "overlap": {
            "verdict": overlap.verdict,
            "unit": one.units[0],
            "common": overlap.common,
            "only_base": overlap.only_before,
            "only_head": overlap.only_after,
        },
        "fixed": one.fixed,
        "broken": one.broken,
        "cells": [_cell(flip) for flip in one.flipped],
        "instructions": [
            {
                "path": edit.path,
                "commits": [{"sha": commit.sha, "subject": commit.subject} for commit in edit.commits],
            }
            for edit in one.edits
        ],
        "stale": one.stale,
    }


def _cell(flip: CellFlip) -> dict[str, Any]:
    before, after = flip.before, flip.after
    return {
        "fate": flip.fate,
        "document": flip.cell.document,
        "path": flip.cell.path,
        "extra_item": flip.cell.extra,
        "expected": (after or before) and ((after and after.expected) or (before and before.expected) or None),
        "base": (before and before.actual) or None,
        "head": (after and after.actual) or None,
        "by_truth": flip.by_truth,
    }
