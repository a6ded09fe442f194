"""The page in the place of one that sitegen failed to make."""

from __future__ import annotations

from typing import NamedTuple

from sitegen.model.problems import Problem
from sitegen.model.site import Page


class FailedView(NamedTuple):
    """What ``pages/failed.html`` shows."""

    problem: Problem
    nav: str = ""


def failed_page(path: str, problem: Problem) -> Page:
    """At the address of the page that could not be made: links to it lead here."""
    return Page(path, "pages/failed.html", FailedView(problem))
