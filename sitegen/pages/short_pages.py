"""Pages in the place of others: short pages, a page that failed, and an unknown address.

Short pages replace the oldest full pages if the site would be too large. That of a field has its numbers, names what it
leaves out, and the command that shows it. That of a report, an edit or a commit only leads to its row in a list, which
has its numbers (``short_lists``).
"""

from __future__ import annotations

from collections.abc import Sequence
from shlex import quote
from typing import Final
from urllib.parse import urlsplit

from sitegen.analysis.blame import Blame
from sitegen.frozen import Frozen
from sitegen.html.formats import day
from sitegen.model.commits import WORKTREE, Commit
from sitegen.model.problems import Problem
from sitegen.model.series import EvalInfo
from sitegen.model.site import Page, RawFile
from sitegen.model.timeline import InstructionHistory, Snapshot
from sitegen.pages import links
from sitegen.pages.field.page import FieldNumbers, FieldWork
from sitegen.text.plain import line

LISTED: Final = 100
"""Number of reports or edits, and of positions of commits, in one list of short pages."""


class ShortNumber(Frozen):
    """A number or an iteration, with its name."""

    label: str
    text: str
    report: str = ""
    """Address of the iteration's report, relative to the page."""
    commit: str = ""
    """Id of the iteration's commit; empty for the uncommitted state."""


class ShortView(Frozen):
    """What ``pages/short.html`` shows: the numbers of a field. Addresses are relative to the page."""

    title: str
    above: str
    """Name of the eval."""
    list: str
    """Address of its trend page."""
    about: str
    wrong: bool
    """Whether any of its values is wrong now."""
    command: str
    """The command that shows the history of its values."""
    numbers: tuple[ShortNumber, ...]
    all_evals: str
    """Address of the same field in all evals, relative to the root of the site; empty if it was never wrong."""
    nav: str = ""
    """None: the page has no navigation but the ways to the overview and to the page that lists it."""


class LeadingView(Frozen):
    """What ``pages/leading.html`` shows: the way to a row of a list."""

    title: str
    to: str
    """Address of the row, relative to the page."""
    nav: str = ""


def short_report(eval_id: str, index: int, at: Snapshot) -> Page:
    """A page at the address of a report, which leads to its row. ``index``: index of the point in its series."""
    file = links.short_reports(eval_id, number_of_list(index))
    return _leading(links.report(eval_id, at.slug), at.label, file, at.slug)


def short_edit(file: InstructionHistory, index: int) -> Page:
    """A page at the address of ``file.edits[index]``, which leads to its row."""
    commit, listed = file.edits[index].commit, links.short_edits(file.path, number_of_list(index))
    return _leading(links.edit(file.path, commit.sha), f"Edit {commit.short}", listed, links.short_sha(commit.sha))


def short_commit(sha: str, position: int) -> Page:
    """A page at the address of a commit, which leads to its row."""
    listed = links.short_commits(number_of_list(position))
    return _leading(links.commit(sha), f"Commit {sha[:7]}", listed, links.short_sha(sha))


def number_of_list(index: int) -> int:
    """Return the number of the list that has a report, an edit (by its index) or a commit (by its position)."""
    return index // LISTED + 1


def lists_of(pages: int) -> range:
    """Return the numbers of all lists to which so many pages would lead if each of them were short."""
    return range(1, number_of_list(pages - 1) + 1)


def _leading(path: str, title: str, listed: str, row: str) -> Page:
    """A page that leads to a row of a list in the folder below."""
    to = listed.removeprefix(f"{path.rpartition('/')[0]}/")
    return Page(path, "pages/leading.html", LeadingView(title, f"{to}#{row}"))


def short_field(info: EvalInfo, snapshots: Sequence[Snapshot], work: FieldWork, blame: Blame) -> Page:
    """A page at the address of a field: its numbers, without the history of its values."""
    traced = work.traced(blame)
    numbers = FieldNumbers.of(traced)
    causes = ", ".join(f"{number:,} by {words}" for words, number in numbers.causes.items())
    points = (("Wrong since", numbers.since), ("Last flip", numbers.flipped))
    view = ShortView(
        title=line(work.attribute, 200),
        above=info.name,
        list="../index.html",
        about=f"{info.nouns.attribute} of {info.name}",
        wrong=bool(numbers.wrong),
        command=f"sitegen blame {quote(line(info.id))} {quote(line(work.attribute))}",
        numbers=(
            ShortNumber("Wrong now", f"{numbers.wrong:,} of {numbers.judged:,} judged"),
            *(_iteration(label, info, snapshots[index]) for label, index in points if index is not None),
            ShortNumber("Flips", f"{numbers.flips:,}{': ' if causes else ''}{causes}"),
        ),
        all_evals=f"{links.fields()}#{links.slug(work.attribute)}" if any(cell.ever_wrong for cell in traced) else "",
    )
    return Page(work.path, "pages/short.html", view)


def _iteration(label: str, info: EvalInfo, at: Snapshot) -> ShortNumber:
    report = f"../{links.file_name(links.report(info.id, at.slug))}"
    return ShortNumber(label, f"{at.label}, {day(at.commit.committed_at)}", report=report, commit=_linked(at.commit))


def _linked(commit: Commit) -> str:
    return "" if commit.sha == WORKTREE else commit.sha


class FailedView(Frozen):
    """What ``pages/failed.html`` shows."""

    problem: Problem
    nav: str = ""


def failed_page(path: str, problem: Problem) -> Page:
    """A page at the address of a page that sitegen failed to make, so that links to it still work."""
    return Page(path, "pages/failed.html", FailedView(problem))


class NotFoundView(Frozen):
    """What ``pages/not_found.html`` shows: there is no such page, or not yet."""

    root: str
    """Address of the root of the site, absolute if ``base_url`` is set; otherwise correct only at the root itself."""
    unfinished: bool = False
    """The page is to be written by a build that has not ended."""
    nav: str = ""


def not_found_page(base_url: str | None) -> Page:
    """``404.html``: servers show it for any address, so that relative links would not work."""
    root = urlsplit(base_url).path.rstrip("/") + "/" if base_url else ""
    return Page(links.not_found(), "pages/not_found.html", NotFoundView(root))


def unfinished_page(root: str) -> Page:
    """A page in the place of several that are not written yet. ``root``: the way from them to the root of the site."""
    return Page(links.not_found(), "pages/not_found.html", NotFoundView(root, unfinished=True))


NO_JEKYLL: Final = RawFile(".nojekyll", b"")
"""Tells GitHub Pages not to run Jekyll."""
