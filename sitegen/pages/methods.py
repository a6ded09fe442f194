"""The page that explains how every number is computed. Docstrings cite its rules by their numbers."""

from __future__ import annotations

from typing import NamedTuple

from sitegen.model.metrics import MetricSpec
from sitegen.model.site import Page
from sitegen.pages import links
from sitegen.scoring.usage import USAGE_METRICS


class MethodsView(NamedTuple):
    """What ``pages/methods.html`` shows beside its own text."""

    kinds: tuple[tuple[str, tuple[MetricSpec, ...]], ...]
    """Each eval kind with its metrics, the headline first."""
    usage: tuple[MetricSpec, ...] = USAGE_METRICS
    """Metrics that evals of every kind may have."""
    nav: str = "methods"


def methods_page(kinds: tuple[tuple[str, tuple[MetricSpec, ...]], ...]) -> Page:
    """The rules, and the metrics of the kinds."""
    return Page(links.methods(), "pages/methods.html", MethodsView(kinds))
