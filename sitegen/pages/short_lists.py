"""Lists of the numbers of short pages: those of a hundred reports of an eval, edits of a file, or commits.

A short page leads to its row here. A list has the pages of its range that are short, so that it never changes once all
of them are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

from markupsafe import Markup

from sitegen.frozen import Frozen
from sitegen.html.cells import text
from sitegen.html.formats import day
from sitegen.model.commits import WORKTREE, Commit
from sitegen.model.metrics import MetricSpec
from sitegen.model.scorecards import Scorecard
from sitegen.model.series import EvalInfo, Headline
from sitegen.model.site import Page
from sitegen.model.timeline import InstructionHistory, Snapshot
from sitegen.pages import links
from sitegen.pages.change_text import MINUS, span_of_change
from sitegen.pages.commit.page import CommitView
from sitegen.pages.edit.effects import EffectRow
from sitegen.pages.edit.page import command_of
from sitegen.pages.labels import STATUSES, subject_of
from sitegen.stats.counts import error_numbers
from sitegen.text.patch import PatchCounts
from sitegen.text.plain import line
from sitegen.text.values import metric_text


class ReportRow(Frozen):
    """One report: its numbers in the order of the columns, and the commit of its output."""

    slug: str
    label: str
    sha: str
    """The commit; empty for the uncommitted state."""
    subject: str
    warning: str
    numbers: tuple[str, ...]


class EvalChange(Frozen):
    """One eval before and after an edit or a commit, as texts."""

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


class ChangeRow(Frozen):
    """One edit or commit, and how the evals changed with it."""

    sha: str
    title: str
    about: str
    """Author, date and place in history, and the size of the change."""
    command: str
    """The command that shows the diff; empty if it is that of the whole commit."""
    changes: tuple[EvalChange, ...]


class ShortListView(Frozen):
    """What ``pages/short_list.html`` shows. Addresses are relative to the page."""

    title: str
    above: str
    """Name of the page that lists all pages of this sort."""
    left_out: str
    """What short pages leave out, as the beginning of a sentence."""
    older: str
    """Address of the list before this one; empty for the first."""
    reports: tuple[ReportRow, ...] = ()
    columns: tuple[str, ...] = ()
    """Names of the numbers of reports."""
    changes: tuple[ChangeRow, ...] = ()
    of_commits: bool = False
    """Whether the changes are commits."""
    nav: str = ""


def list_of_reports(
    info: EvalInfo, number: int, specs: Sequence[MetricSpec], snapshots: Sequence[Snapshot], cards: Sequence[Scorecard]
) -> Page:
    """Make the list of some reports, which shows the newest first.

    Args:
        info: the eval.
        number: the number of the list.
        specs: the metrics that any of the reports has.
        snapshots: the outputs, oldest first.
        cards: their scorecards.

    """
    errors = [name.capitalize() for name in info.nouns.errors]
    path = links.short_reports(info.id, number)
    view = ShortListView(
        title=f"{info.name}, {snapshots[0].label} to {snapshots[-1].label}{', recorded' if info.recorded else ''}",
        above=info.name,
        left_out="Old reports were",
        older=_older(links.short_reports(info.id, number - 1), number),
        columns=(*(spec.label for spec in specs), *filter(None, errors)),
        reports=tuple(map(partial(_report_row, info, specs), reversed(snapshots), reversed(cards))),
    )
    return Page(path, "pages/short_list.html", view)


def _report_row(info: EvalInfo, specs: Sequence[MetricSpec], at: Snapshot, card: Scorecard) -> ReportRow:
    errors = zip(info.nouns.errors, error_numbers(card.counts), strict=True)
    return ReportRow(
        slug=at.slug,
        label=at.label,
        sha="" if at.commit.sha == WORKTREE else at.commit.sha,
        subject=line(at.commit.subject, 200),
        warning="" if card.status == "scored" else STATUSES[card.status],
        numbers=(
            *(_value(card.metric(spec.name), spec.unit) for spec in specs),
            *(f"{count:,}" for name, count in errors if name),
        ),
    )


def list_of_edits(file: InstructionHistory, number: int, rows: Sequence[ChangeRow]) -> Page:
    """Make the list of some edits of a file, which shows the newest first. ``rows``: oldest first."""
    view = ShortListView(
        title=f"Edits of {line(file.path)}",
        above=line(file.path),
        left_out="The diffs of old edits and the flipped fields were",
        older=_older(links.short_edits(file.path, number - 1), number),
        changes=tuple(reversed(rows)),
    )
    return Page(links.short_edits(file.path, number), "pages/short_list.html", view)


def list_of_commits(number: int, rows: Sequence[ChangeRow], older: int | None) -> Page:
    """Make the list of some commits, which shows the newest first.

    ``rows``: oldest first; ``older``: number of the list before it; None for the first.
    """
    view = ShortListView(
        title="Commits",
        above="Commits",
        left_out="The diffs of old commits, the flipped fields, the messages and the paths were",
        older=links.file_name(links.short_commits(older)) if older else "",
        changes=tuple(reversed(rows)),
        of_commits=True,
    )
    return Page(links.short_commits(number), "pages/short_list.html", view)


def edit_row(file: InstructionHistory, index: int, rows: Iterable[EffectRow], counts: PatchCounts | None) -> ChangeRow:
    """The row of ``file.edits[index]``. ``counts``: numbers of added and removed lines; None if unknown."""
    edit = file.edits[index]
    lines = f", +{counts.added:,} −{counts.removed:,} lines" if counts else ""
    return ChangeRow(
        sha=edit.commit.sha,
        title=subject_of(edit.commit, 300),
        about=f"{_by(edit.commit)}, edit {index + 1:,} of the file{lines}",
        command=command_of(edit) or "",
        changes=tuple(map(_eval_change, rows)),
    )


def commit_row(view: CommitView, changed: str) -> ChangeRow:
    """The row of a commit. ``changed``: the changed files, in a few words."""
    commit = view.commit
    return ChangeRow(
        sha=commit.sha,
        title=view.subject,
        about=f"{_by(commit)}, commit {commit.position + 1:,}, changed {changed}",
        command="",
        changes=tuple(map(_eval_change, view.effects.rows)),
    )


def _eval_change(row: EffectRow) -> EvalChange:
    """The row of an eval, without its reason and its remarks."""
    headline, interval = row.headline, row.verdict.interval if row.verdict else None
    changes = [
        f"{move.spec.label} {_signed(move.change, move.spec.unit)}" for move in row.moves if move.change is not None
    ]
    return EvalChange(
        eval_id=row.eval_id,
        name=row.name,
        before=_value(headline.before, headline.spec.unit),
        before_slug=_slug(row.before),
        after=_value(headline.after, headline.spec.unit),
        after_slug=_slug(row.after),
        changes=", ".join(changes) or headline.spec.label,
        interval=span_of_change(interval, headline.spec) if interval else "",
        grade=row.grade,
        fixed=row.fixed,
        broken=row.broken,
    )


def report_rows(view: ShortListView, root: str, archive: str) -> Markup:
    """A table row for each report. ``archive``: address of the folder of its full report; empty without an archive."""
    return Markup("".join([_report_html(row, root, archive) for row in view.reports]))


def _report_html(row: ReportRow, root: str, archive: str) -> str:
    label = text(row.label)
    if archive:
        label = f'<a href="{text(archive)}{text(row.slug)}.html">{label}</a>'
    warning = f' <span class="pill bad">{row.warning}</span>' if row.warning else ""
    numbers = "".join([f"<td>{text(number)}" for number in row.numbers])
    return f"<tr id={text(row.slug)}><th>{label}{warning}<td>{_sha(row.sha, root)}{text(row.subject)}{numbers}\n"


def change_rows(view: ShortListView, root: str) -> Markup:
    """For each edit or commit a body of the table: what it was, then a row for each eval."""
    return Markup("".join([_change_html(row, root, linked=not view.of_commits) for row in view.changes]))


def _change_html(row: ChangeRow, root: str, *, linked: bool) -> str:
    """``linked``: whether the commit is a link."""
    sha = _sha(row.sha, root) if linked else f"<span class=sha>{row.sha[:7]}</span> "
    command = f" <code>{text(row.command)}</code>" if row.command else ""
    evals = "".join([_eval_html(change, root) for change in row.changes])
    return (
        f"<tbody id={text(links.short_sha(row.sha))}><tr><th colspan=8>{sha}{text(row.title)}"
        f" <small>{text(row.about)}</small>{command}\n{evals}"
    )


def _eval_html(change: EvalChange, root: str) -> str:
    folder = root + text(links.eval_trend(change.eval_id)).removesuffix("index.html")
    sides = "".join(
        [
            f"<td><a href={folder}{text(slug)}.html>{text(value)}</a>" if slug else f"<td>{text(value)}"
            for slug, value in ((change.before_slug, change.before), (change.after_slug, change.after))
        ]
    )
    return (
        f"<tr><td><a href={folder}index.html>{text(change.name)}</a>{sides}<td>{text(change.changes)}"
        f"<td>{change.interval or '—'}<td>{change.grade}<td>{change.fixed:,}<td>{change.broken:,}\n"
    )


def _sha(sha: str, root: str) -> str:
    return f"<a class=sha href={root}{links.commit(sha)}>{sha[:7]}</a> " if sha else ""


def _older(path: str, number: int) -> str:
    return links.file_name(path) if number > 1 else ""


def _slug(point: Headline | None) -> str:
    return point.slug if point else ""


def _value(value: float | None, unit: str) -> str:
    return "—" if value is None else metric_text(value, unit=unit)


def _signed(change: float, unit: str) -> str:
    return f"{'+' if change > 0 else MINUS if change else ''}{metric_text(abs(change), unit=unit)}"


def _by(commit: Commit) -> str:
    return f"{line(commit.author, 100)}, {day(commit.committed_at)}"
