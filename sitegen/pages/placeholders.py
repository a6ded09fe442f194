"""Pages in place of others: of a failed page, of an unknown address, of a report left out to save space."""

from __future__ import annotations

from typing import Final, NamedTuple
from urllib.parse import urlsplit

from sitegen.model.commits import Commit
from sitegen.model.metrics import MetricSpec
from sitegen.model.problems import Problem
from sitegen.model.scorecards import Scorecard, Status
from sitegen.model.series import EvalInfo
from sitegen.model.site import Page, RawFile
from sitegen.model.timeline import Snapshot
from sitegen.pages import links
from sitegen.scoring.usage import specs_with_usage
from sitegen.stats.counts import errors_by_type


class FailedView(NamedTuple):
    """What ``pages/failed.html`` shows."""

    problem: Problem
    nav: str = ""


def failed_page(path: str, problem: Problem) -> Page:
    """A page at the address of the one that could not be made, so that links to it still work."""
    return Page(path, "pages/failed.html", FailedView(problem))


class NotFoundView(NamedTuple):
    """What ``pages/not_found.html`` needs."""

    root: str
    """Address of the root of the site, absolute if ``base_url`` is set; else it is right only at the root itself."""
    nav: str = ""


def not_found_page(base_url: str | None) -> Page:
    """``404.html``: servers show it for any address, so that relative links would not work."""
    root = urlsplit(base_url).path.rstrip("/") + "/" if base_url else ""
    return Page(links.not_found(), "pages/not_found.html", NotFoundView(root))


NO_JEKYLL: Final = RawFile(".nojekyll", b"")
"""Tells GitHub Pages not to run Jekyll."""


class MetricValue(NamedTuple):
    """A metric of a point, with its value."""

    spec: MetricSpec
    value: float | None


class ErrorCount(NamedTuple):
    """The number of errors of one type."""

    name: str
    """In the terms of the eval's kind."""
    number: int


class ThinnedView(NamedTuple):
    """What ``pages/thinned.html`` shows: the metrics of a point, without its cells."""

    info: EvalInfo
    label: str
    commit: Commit
    status: Status
    metrics: tuple[MetricValue, ...]
    errors: tuple[ErrorCount, ...]
    previous: str
    """Address of the report before it, relative to this page; empty for the first."""
    nav: str = "evals"


def thinned_page(
    info: EvalInfo, specs: tuple[MetricSpec, ...], at: Snapshot, card: Scorecard, previous: Snapshot | None
) -> Page:
    """A page at the address of the report, so that links to it still work. It depends on no later point.

    ``previous``: the snapshot before it in the series, if there is one.
    """
    view = ThinnedView(
        info=info,
        label=at.label,
        commit=at.commit,
        status=card.status,
        metrics=tuple(MetricValue(spec, card.metric(spec.name)) for spec in specs_with_usage(specs, [card])),
        errors=tuple(
            ErrorCount(name, number)
            for name, number in zip(info.nouns.errors, errors_by_type(card.counts), strict=True)
            if name
        ),
        previous=links.report(info.id, previous.slug).rpartition("/")[2] if previous else "",
    )
    return Page(links.report(info.id, at.slug), "pages/thinned.html", view)
