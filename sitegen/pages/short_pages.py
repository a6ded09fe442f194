"""Pages in the place of others: short pages, a page that failed, and an unknown address.

Short pages replace the oldest full pages if the site would be too large, and have only their numbers. A short page has
the address of the full page. It names the omitted parts, and the command that shows them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from shlex import quote
from typing import Final
from urllib.parse import urlsplit

from markupsafe import Markup

from sitegen.analysis.blame import Blame
from sitegen.frozen import Frozen
from sitegen.html.cells import text
from sitegen.html.formats import day
from sitegen.model.commits import WORKTREE, Commit
from sitegen.model.metrics import MetricSpec
from sitegen.model.problems import Problem
from sitegen.model.scorecards import Scorecard
from sitegen.model.series import EvalInfo, Headline
from sitegen.model.site import Page, RawFile
from sitegen.model.timeline import InstructionHistory, Snapshot
from sitegen.pages import links
from sitegen.pages.change_text import MINUS, span_of_change
from sitegen.pages.commit.page import CommitView
from sitegen.pages.edit.effects import EffectRow
from sitegen.pages.edit.page import command_of
from sitegen.pages.field.page import FieldNumbers, FieldWork
from sitegen.pages.labels import STATUSES
from sitegen.scoring.usage import specs_with_usage
from sitegen.stats.counts import errors_by_type
from sitegen.text.patch import PatchCounts
from sitegen.text.plain import line
from sitegen.text.values import metric_text

TEMPLATE: Final = "pages/short.html"


class ShortNumber(Frozen):
    """A number or an iteration, with its name."""

    label: str
    text: str
    report: str = ""
    """Address of the iteration's report, relative to the page."""
    commit: str = ""
    """Id of the iteration's commit; empty for the uncommitted state."""


class ShortChange(Frozen):
    """One eval before and after an edit or a commit, as texts of a short page."""

    eval_id: str
    name: str
    before: str
    before_slug: str
    """The report of the value; empty if there is none."""
    after: str
    after_slug: str
    changes: str
    """The changes of the main metric and of the metrics beside it: ``F1 −0.040, Precision −0.039``."""
    interval: str
    """The 95 % interval of the main metric's change; empty without one."""
    grade: str
    fixed: int
    broken: int


class ShortView(Frozen):
    """What ``pages/short.html`` shows. Addresses are relative to the page."""

    title: str
    above: str
    """Label of the page that lists all pages of this sort."""
    list: str
    """Address of that page."""
    anchor: str
    """The list on that page, by which a script finds the next page; empty if pages of this sort have no order."""
    noun: str
    """The subject of the page: *iteration*, *edit*."""
    sha: str
    """The commit; empty on the page of the commit itself, and for the uncommitted state."""
    about: str
    """Author, date and place in history, or the commit's subject."""
    warning: str
    left_out: str
    """The omitted page or parts, as the beginning of a sentence."""
    command: str
    """The command that shows them; empty if there is none."""
    numbers: tuple[ShortNumber, ...] = ()
    changes: tuple[ShortChange, ...] = ()
    previous: str = ""
    """Address of the previous page; empty for the first."""
    all_evals: str = ""
    """Address of the same field in all evals, relative to the root of the site; empty if the page is of no field."""
    is_report: bool = False
    """Whether it is the page of an iteration, whose full report an archive has."""
    nav: str = ""
    """None: the page has no navigation but the ways to the overview and to the page that lists it."""


def short_report(
    info: EvalInfo, specs: tuple[MetricSpec, ...], at: Snapshot, card: Scorecard, previous: Snapshot | None
) -> Page:
    """A page at the address of the report, so that links to it still work. It depends on no later point.

    ``previous``: the previous snapshot in the series, if there is one.
    """
    metrics = ((spec, card.metric(spec.name)) for spec in specs_with_usage(specs, [card]))
    errors = zip(info.nouns.errors, errors_by_type(card.counts), strict=True)
    recorded = ", recorded" if info.recorded else ""
    view = ShortView(
        title=f"{info.name}, {at.label}{recorded}",
        above=info.name,
        list="index.html",
        anchor="h-c",
        noun="iteration",
        sha=_linked(at.commit),
        about=line(at.commit.subject, 200),
        warning="" if card.status == "scored" else STATUSES[card.status],
        left_out="The full report was",
        command=_show(at.commit),
        numbers=(
            *(ShortNumber(spec.label, _value(value, spec.unit)) for spec, value in metrics),
            *(ShortNumber(name.capitalize(), f"{number:,}") for name, number in errors if name),
        ),
        previous=_file_name(links.report(info.id, previous.slug)) if previous else "",
        is_report=True,
    )
    return Page(links.report(info.id, at.slug), TEMPLATE, view)


def short_edit(file: InstructionHistory, index: int, rows: Iterable[EffectRow], counts: PatchCounts | None) -> Page:
    """A page at the address of ``file.edits[index]``: how the evals changed with the edit, without the diff.

    ``counts``: numbers of added and removed lines; None if unknown.
    """
    edit = file.edits[index]
    lines = (ShortNumber("Lines", f"+{counts.added:,} −{counts.removed:,}"),) if counts else ()
    view = ShortView(
        title=line(edit.commit.subject, 300) or "(no subject)",
        above=line(file.path),
        list="index.html",
        anchor="h-e",
        noun="edit",
        sha=_linked(edit.commit),
        about=f"{_by(edit.commit)}, edit {index + 1:,} of the file",
        warning="",
        left_out="The diff and the flipped fields were",
        command=command_of(edit) or "",
        numbers=lines,
        changes=tuple(map(short_change, rows)),
        previous=_file_name(links.edit(file.path, file.edits[index - 1].commit.sha)) if index else "",
    )
    return Page(links.edit(file.path, edit.commit.sha), TEMPLATE, view)


def short_commit(view: CommitView, changed: str) -> ShortView:
    """The view of the short page of a commit. ``changed``: the changed files, in a few words."""
    commit = view.commit
    return ShortView(
        title=view.subject,
        above="Commits",
        list="index.html",
        anchor="h-c",
        noun="commit",
        sha="",
        about=f"{_by(commit)}, commit {commit.position + 1:,}, {commit.sha[: links.SHA_DIGITS]}",
        warning="",
        left_out="The diffs, the flipped fields, the message and the paths were",
        command=_show(commit),
        numbers=(ShortNumber("Changed", changed),),
        changes=tuple(map(short_change, view.effects.rows)),
        previous=_file_name(links.commit(view.earlier)) if view.earlier else "",
    )


def short_commit_page(sha: str, view: ShortView) -> Page:
    """A page at the address of the commit."""
    return Page(links.commit(sha), TEMPLATE, view)


def short_change(row: EffectRow) -> ShortChange:
    """The row of an eval, without its reason and its remarks."""
    moves = row.moves
    headline, interval = moves[0], row.verdict.interval if row.verdict else None
    changes = [f"{move.label} {_signed(move.change, move.unit)}" for move in moves if move.change is not None]
    return ShortChange(
        eval_id=row.eval_id,
        name=row.name,
        before=_value(headline.before, headline.unit),
        before_slug=_slug(row.before),
        after=_value(headline.after, headline.unit),
        after_slug=_slug(row.after),
        changes=", ".join(changes) or headline.label,
        interval=span_of_change(interval, row.spec) if interval else "",
        grade=row.grade,
        fixed=row.fixed,
        broken=row.broken,
    )


def short_field(info: EvalInfo, snapshots: Sequence[Snapshot], work: FieldWork, blame: Blame) -> Page:
    """A page at the address of a field: its numbers, without the history of its values."""
    numbers = FieldNumbers.of(work.traced(blame))
    causes = ", ".join(f"{number:,} by {words}" for words, number in numbers.causes.items())
    points = (("Wrong since", numbers.since), ("Last flip", numbers.flipped))
    view = ShortView(
        title=line(work.attribute, 200),
        above=info.name,
        list="../index.html",
        anchor="",
        noun="field",
        sha="",
        about=f"{info.nouns.attribute} of {info.name}",
        warning="wrong now" if numbers.wrong else "",
        left_out="The history of its values was",
        command=f"sitegen blame {quote(line(info.id))} {quote(line(work.attribute))}",
        numbers=(
            ShortNumber("Wrong now", f"{numbers.wrong:,} of {numbers.judged:,} judged"),
            *(_iteration(label, info, snapshots[index]) for label, index in points if index is not None),
            ShortNumber("Flips", f"{numbers.flips:,}{': ' if causes else ''}{causes}"),
        ),
        all_evals=f"{links.fields()}#{links.slug(work.attribute)}",
    )
    return Page(work.path, TEMPLATE, view)


def _iteration(label: str, info: EvalInfo, at: Snapshot) -> ShortNumber:
    report = f"../{_file_name(links.report(info.id, at.slug))}"
    return ShortNumber(label, f"{at.label}, {day(at.commit.committed_at)}", report=report, commit=_linked(at.commit))


def change_rows(changes: Sequence[ShortChange], root: str) -> Markup:
    """Table rows: eval, before, after, changes, interval, verdict, fixed, broken."""
    return Markup("".join([_change_row(change, root) for change in changes]))


def _change_row(change: ShortChange, root: str) -> str:
    folder = root + text(links.eval_trend(change.eval_id)).removesuffix("index.html")
    sides = "".join(
        [
            f'<td><a href="{folder}{text(slug)}.html">{text(value)}</a>' if slug else f"<td>{text(value)}"
            for slug, value in ((change.before_slug, change.before), (change.after_slug, change.after))
        ]
    )
    return (
        f'<tr><td><a href="{folder}index.html">{text(change.name)}</a>{sides}<td>{text(change.changes)}'
        f"<td>{change.interval or '—'}<td>{change.grade}<td>{change.fixed:,}<td>{change.broken:,}\n"
    )


def _slug(point: Headline | None) -> str:
    return point.slug if point else ""


def _value(value: float | None, unit: str) -> str:
    return "—" if value is None else metric_text(value, unit=unit)


def _signed(change: float, unit: str) -> str:
    return f"{'+' if change > 0 else MINUS if change else ''}{metric_text(abs(change), unit=unit)}"


def _file_name(path: str) -> str:
    return path.rpartition("/")[2]


def _linked(commit: Commit) -> str:
    return "" if commit.sha == WORKTREE else commit.sha


def _by(commit: Commit) -> str:
    return f"{line(commit.author, 100)}, {day(commit.committed_at)}"


def _show(commit: Commit) -> str:
    return "" if commit.sha == WORKTREE else f"git show -m --first-parent {commit.short}"


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
