"""The problems page: everything that could not be read or scored."""

from __future__ import annotations

from typing import Final, NamedTuple

from sitegen.model.commits import Commit
from sitegen.model.problems import Problem, Severity
from sitegen.model.series import EvalInfo
from sitegen.model.site import Page
from sitegen.pages import links

LISTED: Final = 500
"""Problems of one group that the page lists. A project with more has the same cause many times over."""

_ORDER: Final[dict[Severity, int]] = {"error": 0, "warning": 1, "note": 2}


class ProblemGroup(NamedTuple):
    """The problems of one eval, or of the project as a whole."""

    eval_id: str | None
    name: str
    problems: tuple[Problem, ...]
    """Current ones before past ones, errors first; within a severity in the order of the build."""
    left_out: int
    has_trend: bool = False
    """False for an eval that never had ground truth or could not be built."""


class ProblemsView(NamedTuple):
    """What ``pages/problems.html`` shows."""

    head: Commit
    revision: str
    totals: tuple[tuple[Severity, int, int], ...]
    """(severity, current problems, past ones)."""
    groups: tuple[ProblemGroup, ...]
    nav: str = "problems"


def problems_page(problems: tuple[Problem, ...], evals: tuple[EvalInfo, ...], head: Commit, revision: str) -> Page:
    """Problems grouped by eval, those of the project first; an eval that no longer exists goes by its id."""
    names = {info.id: info.name for info in evals}
    by_eval: dict[str | None, list[Problem]] = {}
    for problem in problems:
        by_eval.setdefault(problem.eval_id, []).append(problem)
    order = [None, *names, *sorted(key for key in by_eval if key is not None and key not in names)]
    totals = tuple((severity, *_count_by_time(problems, severity)) for severity in _ORDER)
    groups = tuple(_problem_group(key, names, by_eval[key]) for key in order if key in by_eval)
    return Page(
        links.problems(),
        "pages/problems.html",
        ProblemsView(head=head, revision=revision, totals=totals, groups=groups),
    )


def _count_by_time(problems: tuple[Problem, ...], severity: Severity) -> tuple[int, int]:
    past = [problem.past for problem in problems if problem.severity == severity]
    return past.count(False), past.count(True)


def _problem_group(eval_id: str | None, names: dict[str, str], problems: list[Problem]) -> ProblemGroup:
    ranked = sorted(problems, key=lambda problem: (problem.past, _ORDER[problem.severity]))
    name = "The project" if eval_id is None else names.get(eval_id, eval_id)
    return ProblemGroup(
        eval_id=eval_id,
        name=name,
        problems=tuple(ranked[:LISTED]),
        left_out=max(0, len(ranked) - LISTED),
        has_trend=eval_id in names,
    )
