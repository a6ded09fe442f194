"""Small pages: methods, problems, the shortened report of an old point, and pages in the place of others."""

import json
from collections.abc import Collection, Iterable
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit

from sitegen.analysis.causes import ProblemCause, causes_of
from sitegen.model.commits import WORKTREE, Commit
from sitegen.model.metrics import MetricSpec
from sitegen.model.problems import PROBLEM_TYPES, Problem
from sitegen.model.series import EvalInfo, Series
from sitegen.model.site import Page, RawFile
from sitegen.pages import links
from sitegen.pages.html.formats import count, number
from sitegen.pages.labels import STATUSES
from sitegen.stats.counts import error_numbers
from sitegen.text.plain import counted


def failed_page(path: str, problem: Problem) -> Page:
    """A page at the address of a page that sitegen failed to make, so that links to it still work."""
    return Page(path, "pages/failed.html", problem)


def not_found_page(base_url: str | None) -> Page:
    """``404.html``: servers show it for any address, so that relative links would not work.

    Its view is the address of the root of the site, absolute if ``base_url`` is set; otherwise it is correct only at
    the root itself.
    """
    root = urlsplit(base_url).path.rstrip("/") + "/" if base_url else ""
    return Page(links.not_found(), "pages/not_found.html", (root, False))


NO_JEKYLL: Final = RawFile(".nojekyll", b"")
"""Tells GitHub Pages not to run Jekyll."""


_TOPICS: Final = {
    "metrics": ("Metrics",),
    "counting": ("Counting",),
    "values": ("Values", "fields"),
    "files": ("Files and paths",),
    "lists": ("Lists", "fields"),
    "highlights": ("Highlights", "highlights"),
    "responses": ("Responses", "responses", "judged"),
    "usage": ("Cost and time",),
    "judged": ("Results of other tools", "judged"),
    "recorded": ("Recorded numbers", "recorded"),
    "iterations": ("Iterations",),
    "changes": ("Changes",),
    "noise": ("Noise",),
    "steps": ("Steps",),
    "effects": ("Edits",),
    "shown": ("What is shown where",),
    "differs": ("Where other tools decide differently",),
}
"""The topics of the page by anchor, in order: its name, then the kinds of evals that it is about, if not all."""


def topics(kinds: Collection[str]) -> dict[str, str]:
    """The names of the topics by anchor, for a site with evals of these kinds: for contents and search."""
    return {anchor: name for anchor, (name, *own) in _TOPICS.items() if not own or {*own} & {*kinds}}


KindMetrics: TypeAlias = tuple[str, tuple[MetricSpec, ...]]
"""A kind of evals with its metrics, or with those that packages add to it; the headline first."""


def methods_page(metrics: tuple[KindMetrics, ...]) -> Page:
    """The rules and the metrics of the kinds of evals that the site has."""
    return Page(links.methods(), "pages/methods.html", (metrics, topics([kind for kind, _ in metrics])))


LISTED_PLACES: Final = 200
"""Number of places listed for a cause."""

_BANNER: Final = 130  # number of characters of a banner from which on it does not list all names


def problems_page(causes: tuple[ProblemCause, ...], evals: tuple[EvalInfo, ...], head: Commit, revision: str) -> Page:
    """All problems by cause, past ones separately.

    Its view is the causes, the names of the evals that have a trend page, by id, the newest commit, and the revision.
    """
    names = {info.id: info.name for info in evals}
    return Page(links.problems(), "pages/problems.html", (causes, names, head, revision))


def where(cause: ProblemCause) -> str:
    """``in 23 evals, at 14 commits``; empty for a single problem, whose place is shown, and for places in neither."""
    counts = ((len(cause.evals), "in", "eval"), (cause.commits, "at", "commit"))
    places = ", ".join(f"{word} {counted(count, noun)}" for count, word, noun in counts if count)
    return places if len(cause.problems) > 1 else ""


def cost(cause: ProblemCause) -> str:
    """What a cause costs: ``37 values in 5 evals``, or which scores it concerns."""
    evals = counted(len(cause.evals), "eval")
    if cause.past:
        return "earlier scores only"
    if cause.values:
        return f"{counted(cause.values, 'value')} in {evals} not scored"
    described = PROBLEM_TYPES.get(cause.problems[0].type)
    if described and described.cost:
        return described.cost
    if cause.severity == "error":
        return f"the newest scores of {evals}" if cause.evals else "its default is in force, or a part is missing"
    of_scores = f"scores of {evals}" if cause.evals else "perhaps scores"
    return "nothing" if cause.severity == "note" else of_scores


def blocks(causes: Iterable[ProblemCause]) -> list[tuple[str, str]]:
    """What to write into files against all causes: for each file, what is joined for it, in its format."""
    files: dict[str, Any] = {}
    for cause in causes:
        for problem in cause.problems if not cause.past else ():
            files = _joined(files, json.loads(problem.paste or "{}"))
    return [(path, _written(path, keys)) for path, keys in sorted(files.items())]


def _joined(old: Any, new: Any) -> Any:
    """Both values as one: mappings and lists have what either has; of two others the old one stays."""
    if isinstance(old, dict) and isinstance(new, dict):
        return old | {key: _joined(old[key], value) if key in old else value for key, value in new.items()}
    return [*dict.fromkeys([*old, *new])] if isinstance(old, list) and isinstance(new, list) else old


def _written(path: str, keys: dict[str, Any]) -> str:
    """Keys as lines of TOML, JSON or YAML, of which JSON is a part."""
    if path.endswith(".toml"):
        return "\n".join(f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in keys.items())
    if path.endswith(".json"):
        return json.dumps(keys, ensure_ascii=False, indent=2)
    lines = []
    for key, value in keys.items():
        entries = [[json.dumps(part, ensure_ascii=False) for part in entry] for entry in value.items()]
        lines += [f"{key}:", *(f"  {name}: {entry}" for name, entry in entries)]
    return "\n".join(lines)


def score_changes(problems: Iterable[Problem]) -> tuple[ProblemCause, ...]:
    """The causes of problems that change the scores on a page, the most severe first: its banner names that one."""
    return causes_of(problem for problem in problems if problem.changes_scores)


def banner_text(cause: ProblemCause) -> str:
    """The cause, with one of the names in which its problems differ, and without the end of a long list of names."""
    message, others = cause.message.rstrip("."), len(cause.problems) - 1
    if others and "…" in message:
        message = f"{cause.problems[0].message.rstrip('.')}, and {others:,} more alike"
    listed, comma, _ = message[:_BANNER].rpartition(", ")
    end = f" and {message.removeprefix(listed).count(', '):,} more"
    return listed + end if comma and ": " in listed and len(message) > _BANNER else message


def short_report(series: Series) -> Page:
    """The page of an old point, the last of the series up to it: its numbers, and how its values are seen."""
    info, point = series.info, series.points[-1]
    at, card = point.snapshot, point.scorecard
    numbers = [(spec.label, number(card.metric(spec.name), spec.unit)) for spec in series.specs]
    errors = zip(info.nouns.errors, error_numbers(card.counts), strict=True)
    numbers += [(name.capitalize(), count(errors)) for name, errors in errors if name]
    state = "" if card.status == "scored" else STATUSES[card.status]
    command = None if at.commit.sha == WORKTREE else f"git show {at.commit.short}"
    view = info.name, at.label, at.commit, state, "values were", command, numbers
    return Page(links.report(info.id, at.slug), "pages/short.html", view)
