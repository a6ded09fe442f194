"""Findings of a result, kept to what fits on a page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sitegen.model.problems import Finding

MAX_FINDINGS: Final = 100


def bounded_findings(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Findings that fit on a page; the number of those that do not stands for them."""
    if len(findings) <= MAX_FINDINGS:
        return tuple(findings)
    left = len(findings) - MAX_FINDINGS
    more = "1 more finding is not listed" if left == 1 else f"{left} more findings are not listed"
    return (*findings[:MAX_FINDINGS], Finding("warning", more, "Correct those above first."))
