"""The problems page, and the banner on other pages about problems that change the scores there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from sitegen.analysis.causes import ProblemCause, causes_of
from sitegen.model.commits import Commit
from sitegen.model.problems import Problem
from sitegen.model.series import EvalInfo
from sitegen.model.site import Page
from sitegen.pages import links
from sitegen.text.plain import counted

LISTED: Final = 200
"""Number of places listed for a cause."""

_BANNER: Final = 110
"""Number of characters of a banner from which on it does not list all names."""


def problems_page(causes: tuple[ProblemCause, ...], evals: tuple[EvalInfo, ...], head: Commit, revision: str) -> Page:
    """All problems by cause, past ones separately.

    Its view is the causes, the names of the evals that have a trend page, by id, the newest commit, and the revision.
    """
    names = {info.id: info.name for info in evals}
    return Page(links.problems(), "pages/problems.html", (causes, names, head, revision))


def where(cause: ProblemCause) -> str:
    """``in 23 evals, at 14 commits``; empty for a single problem, whose place is shown."""
    if len(cause.problems) == 1:
        return ""
    counts = ((len(cause.evals), "in", "eval"), (cause.commits, "at", "commit"))
    places = ", ".join(f"{word} {counted(count, noun)}" for count, word, noun in counts if count)
    return places or counted(len(cause.problems), "place")


def score_changes(problems: Iterable[Problem]) -> tuple[ProblemCause, ...]:
    """The causes of problems that change the scores on a page, the most severe first: its banner names that one."""
    return causes_of(problem for problem in problems if problem.changes_scores)


def banner_text(cause: ProblemCause) -> str:
    """The cause, without the end of a long list of names: the problems page has all of them."""
    message = cause.message.rstrip(".")
    listed, comma, _ = message[:_BANNER].rpartition(", ")
    return f"{listed.rstrip(':')} and more" if comma and ": " in listed and len(message) > _BANNER else message


def banner_address(causes: Sequence[ProblemCause]) -> str:
    """Address of the causes on the problems page, relative to the root of the site."""
    return links.problems() if len(causes) > 1 else f"{links.problems()}#{causes[0].id}"
