"""``comparison_results.json``: every number of a comparison (``sitegen/comparison/1``)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sitegen.analysis.comparison.values import VariantComparison
from sitegen.questions.comparison_files.changes import ResultChange

SCHEMA: Final = "sitegen/comparison/1"


@dataclass(frozen=True, slots=True)
class ComparisonDocument:
    """The comparisons of one call, in the order in which they are written."""

    variants: tuple[VariantComparison, ...] = ()
    """For each eval of kind ``responses``, the sides as prompts that answered the same cases."""
    changes: tuple[ResultChange, ...] = ()
    """For each eval, what became of it from one side to the next."""
    passed_over: tuple[str, ...] = ()
    """Evals that only one side has."""
    schema: str = SCHEMA
