"""``comparison_results.json``: every number of a comparison (``sitegen/comparison/1``)."""

from __future__ import annotations

from dataclasses import dataclass
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
