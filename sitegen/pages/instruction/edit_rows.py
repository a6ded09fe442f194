"""HTML of the table of the edits of one file, up to a thousand, and what became of the evals with each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from typing import Final

from markupsafe import Markup

from sitegen.html.formats import NIL, count, day
from sitegen.model.commits import WORKTREE
from sitegen.pages import links
from sitegen.pages.edit.effect_rows import change_of, pills
from sitegen.pages.edit.effects import EffectRow, EffectsView
from sitegen.pages.instruction.page import EditRow
from sitegen.pages.labels import EDITS
from sitegen.text.patch import VersionSlip

_SLIPS: Final[dict[VersionSlip, str]] = {
    "text alone": "without a new version",
    "version alone": "a new version without an edit",
}
SHOWN_FIRST: Final = 50
"""Number of rows before "show more"."""

LISTED: Final = 200
"""Number of edits in the list: the newest ones; the page of each edit leads to the one before it."""

NAMED: Final = 3
"""Number of evals that the row of an edit names."""


def edits(rows: Iterable[EditRow], file: str, root: str, versioned: bool) -> Markup:
    """Table rows: subject with commit, author and day, effects on the evals, lines added and removed, lines.

    ``versioned``: with a column of the version after each edit.
    """
    return Markup("".join(_edit_list_rows(rows, file, root, versioned)))


def _edit_list_rows(rows: Iterable[EditRow], file: str, root: str, versioned: bool) -> Iterator[str]:
    for index, row in enumerate(rows):
        commit = row.commit
        sha = commit.short
        if commit.sha != WORKTREE:
            sha = f'<a class="sha" href="{root}{links.commit(commit.sha)}">{sha}</a>'
        remark = "" if row.status == "modified" else f' <span class="pill">{EDITS[row.status]}</span>'
        if row.moved_from:
            remark += f' from <span class="mono">{escape(row.moved_from)}</span>'
        if row.slip:
            remark += f' <span class="pill warn">{_SLIPS[row.slip]}</span>'
        version = f'<td class="num hide-s">{escape(row.version) if row.version else NIL}</td>' if versioned else ""
        yield (
            f'<tr{" class=more" if index >= SHOWN_FIRST else ""}><td><div class="one">'
            f'<a href="{root}{links.edit(file, commit.sha)}">{escape(row.subject)}</a></div>'
            f'<div class="by">{sha} {escape(commit.author[:60])}, {escape(day(commit.committed_at))}{remark}</div></td>'
            f"<td>{outcome(row.effects, root)}</td>"
            f'<td class="num">{_line_counts(row)}</td>'
            f'<td class="num hide-s">{count(row.lines)}{_words_changed(row)}</td>{version}</tr>\n'
        )


def outcome(view: EffectsView, root: str) -> Markup:
    """The number of evals with each verdict, and the changes of the evals that changed most."""
    marks = pills(view.counts) or Markup('<span class="subtle">no output around it</span>')
    return marks + changes(view, root)


def changes(view: EffectsView, root: str) -> Markup:
    """The evals that changed most, each with its change; empty if none changed."""
    changed = sorted((row for row in view.rows if row.headline.change), key=lambda row: -row.share)
    names = ", ".join([f'<span class="nowrap">{_eval_change(row, root)}</span>' for row in changed[:NAMED]])
    more = f" and {len(changed) - NAMED:,} more" if len(changed) > NAMED else ""
    return Markup(f'<div class="by evs">{names}{more}</div>') if changed else Markup("")


def _eval_change(row: EffectRow, root: str) -> str:
    change = change_of(row.headline)
    return f'<a href="{root}{links.eval_trend(row.eval_id)}">{escape(row.name)}</a> {change}'


def _words_changed(row: EditRow) -> str:
    return "" if row.words is None else f'<div class="by">{row.words:,} words</div>'


def _line_counts(row: EditRow) -> str:
    if row.counts is None:
        return str(NIL)
    return f'<span class="delta up">+{row.counts.added:,}</span> <span class="delta dn">−{row.counts.removed:,}</span>'
