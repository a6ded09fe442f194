"""``comparison_results.json``: every number of a comparison (``sitegen/comparison/1``)."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Final

from sitegen.analysis.comparison.change import ResultChange
from sitegen.analysis.comparison.values import VariantComparison

SCHEMA: Final = "sitegen/comparison/1"


@dataclass(frozen=True, slots=True)
class ComparisonDocument:
    """The comparisons of one call, in the order in which they are written."""

    variants: tuple[VariantComparison, ...] = ()
    """For each eval, the prompts that answered the same cases."""
    changes: tuple[ResultChange, ...] = ()
    """For each eval, a result and a later one."""
    passed_over: tuple[str, ...] = ()
    """Evals that only one side has."""
    schema: str = SCHEMA


def comparison_json(document: ComparisonDocument) -> bytes:
    """UTF-8 JSON with full precision; undefined is null, never NaN."""
    body = asdict(document)
    body = {"schema": body.pop("schema"), **body}
    text = json.dumps(body, ensure_ascii=False, indent=2, allow_nan=False)
    return text.encode("utf-8", "backslashreplace") + b"\n"
