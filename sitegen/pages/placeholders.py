"""Pages that stand in the place of others: of one that failed, of an unknown address, of a report that made room."""

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
    """At the address of the page that could not be made: links to it lead here."""
    return Page(path, "pages/failed.html", FailedView(problem))


class NotFoundView(NamedTuple):
    """What ``pages/not_found.html`` needs."""

    root: str
    """The way to the root of the site from any depth; without ``base_url`` only right at the root itself."""
    nav: str = ""


def not_found_page(base_url: str | None) -> Page:
    """``404.html``: a server shows it for any address, so that no relative link would do."""
    root = urlsplit(base_url).path.rstrip("/") + "/" if base_url else ""
    return Page(links.not_found(), "pages/not_found.html", NotFoundView(root))


NO_JEKYLL: Final = RawFile(".nojekyll", b"")
"""Tells GitHub Pages to serve the files as they are."""


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
