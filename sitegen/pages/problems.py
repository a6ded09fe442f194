"""The problems page, and the banner on other pages about problems that change the scores there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from sitegen.analysis.causes import ProblemCause, causes_of, count_causes
from sitegen.analysis.problem_counts import ProblemCounts
from sitegen.frozen import Frozen
from sitegen.model.commits import Commit
from sitegen.model.problems import SEVERITIES, Problem, Severity
from sitegen.model.series import EvalInfo
from sitegen.model.site import Page
from sitegen.pages import links
from sitegen.text.plain import counted

LISTED: Final = 200
"""Number of places listed for a cause."""


BANNER: Final = 110
"""Number of characters of a banner from which on it does not list all names."""


class Banner(Frozen):
    """The most severe cause of problems that change the scores on a page."""

    severity: Severity
    cause: ProblemCause
    where: str
    """The number of evals with the cause, in words; empty if it is clear."""
    more: int
    """Number of further causes."""

    @property
    def lead(self) -> str:
        """The effect of the cause on the scores."""
        return "Scores are missing or say nothing:" if self.severity == "error" else "This changes the scores:"

    @property
    def message(self) -> str:
        """The cause, without the end of a long list of names: the problems page has all of them."""
        message = self.cause.message.rstrip(".")
        listed, comma, _ = message[:BANNER].rpartition(", ")
        return f"{listed.rstrip(':')} and more" if comma and ": " in listed and len(message) > BANNER else message

    @property
    def href(self) -> str:
        """Address of the cause on the problems page, relative to the root of the site."""
        return links.problems() if self.more else f"{links.problems()}#{self.cause.id}"


class CauseRow(Frozen):
    """A cause on the problems page."""

    cause: ProblemCause
    where: str
    """``in 23 evals, at 14 commits``; empty for a single problem, whose place is shown."""
    places: tuple[Problem, ...]
    """The first problems."""
    left_out: int


class ProblemsView(Frozen):
    """What ``pages/problems.html`` shows."""

    head: Commit
    revision: str
    counts: ProblemCounts
    current: tuple[CauseRow, ...]
    past: tuple[CauseRow, ...]
    names: dict[str, str]
    """Names of the evals that have a trend page, by id."""
    severities: tuple[Severity, ...] = SEVERITIES
    nav: str = "problems"


def problems_page(causes: tuple[ProblemCause, ...], evals: tuple[EvalInfo, ...], head: Commit, revision: str) -> Page:
    """All problems by cause, past ones separately."""
    view = ProblemsView(
        head=head,
        revision=revision,
        counts=count_causes(causes),
        current=tuple(_cause_row(cause) for cause in causes if not cause.past),
        past=tuple(_cause_row(cause) for cause in causes if cause.past),
        names={info.id: info.name for info in evals},
    )
    return Page(links.problems(), "pages/problems.html", view)


def banner(problems: Iterable[Problem], *, of_site: bool = False) -> Banner | None:
    """The banner of a page; None if no problem changes its scores. ``of_site``: the page shows all evals."""
    causes = causes_of(problem for problem in problems if problem.changes_scores)
    if not causes:
        return None
    first = causes[0]
    evals = len(first.evals) if of_site else 0
    return Banner(
        severity=first.severity,
        cause=first,
        where=f"in {counted(evals, 'eval')}" if evals > 1 else "",
        more=len(causes) - 1,
    )


def _cause_row(cause: ProblemCause) -> CauseRow:
    counts = ((len(cause.evals), "in", "eval"), (cause.commits, "at", "commit"))
    several = len(cause.problems) > 1
    where = ", ".join(f"{word} {counted(count, noun)}" for count, word, noun in counts if count) if several else ""
    return CauseRow(
        cause=cause,
        where=where or (counted(len(cause.problems), "place") if several else ""),
        places=cause.problems[:LISTED],
        left_out=max(0, len(cause.problems) - LISTED),
    )
