"""The page that explains how every number is computed. Docstrings cite its rules by their numbers."""

from __future__ import annotations

from typing import Final, TypeAlias

from sitegen.model.metrics import MetricSpec
from sitegen.model.site import Page
from sitegen.pages import links

TOPICS: Final = {
    "metrics": "Metrics",
    "counting": "Counting",
    "values": "Values",
    "files": "Files and paths",
    "lists": "Lists",
    "highlights": "Highlights",
    "responses": "Responses",
    "usage": "Cost and time",
    "judged": "Results of other tools",
    "recorded": "Recorded numbers",
    "iterations": "Iterations",
    "changes": "Changes",
    "noise": "Noise",
    "steps": "Steps",
    "effects": "Edits",
    "shown": "What is shown where",
    "differs": "Where other tools decide differently",
}
"""The topics of the page, name by anchor, in order, for its table of contents and for search."""


KindMetrics: TypeAlias = tuple[str, tuple[MetricSpec, ...]]
"""A kind of evals with its metrics, or with those that packages add to it; the headline first."""


def methods_page(kinds: tuple[KindMetrics, ...]) -> Page:
    """The rules, and the metrics of the kinds."""
    return Page(links.methods(), "pages/methods.html", kinds)
