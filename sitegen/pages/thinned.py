"""The page that stands where a full report stood, once newer ones took its place (``limits.reports_kept``)."""

from __future__ import annotations

from typing import NamedTuple

from sitegen.model.commits import Commit
from sitegen.model.metrics import MetricSpec
from sitegen.model.scorecards import Scorecard, Status
from sitegen.model.series import EvalInfo
from sitegen.model.site import Page
from sitegen.model.timeline import Snapshot
from sitegen.pages import links
from sitegen.pages.tallies import errors_by_type
from sitegen.scoring.usage import specs_with_usage


class ThinnedView(NamedTuple):
    """What ``pages/thinned.html`` shows: every number of the output, and none of its values."""

    info: EvalInfo
    label: str
    commit: Commit
    status: Status
    metrics: tuple[tuple[MetricSpec, float | None], ...]
    errors: tuple[tuple[str, int], ...]
    """(what the kind calls them, how many), by type."""
    nav: str = "overview"


def thinned_page(info: EvalInfo, specs: tuple[MetricSpec, ...], at: Snapshot, card: Scorecard) -> Page:
    """At the address of the report: links to it lead here. Nothing of later points is on it."""
    view = ThinnedView(
        info=info,
        label=at.label,
        commit=at.commit,
        status=card.status,
        metrics=tuple((spec, card.metric(spec.name)) for spec in specs_with_usage(specs, [card])),
        errors=tuple(each for each in zip(info.nouns.errors, errors_by_type(card.counts), strict=True) if each[0]),
    )
    return Page(links.report(info.id, at.slug), "pages/thinned.html", view)
