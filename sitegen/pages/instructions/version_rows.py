"""HTML of the table of best versions of all instructions, with the command to go back and what that would cost."""

from __future__ import annotations

from typing import Final

from markupsafe import Markup

from sitegen.analysis.go_back import EvalThen
from sitegen.html.cells import escape, for_each
from sitegen.html.formats import bounded, count, date, number
from sitegen.model.commits import WORKTREE
from sitegen.pages import links
from sitegen.pages.change_text import own_unit
from sitegen.pages.instructions.page import BestVersionRow

CHECK: Final = (
    '<svg viewBox="0 0 12 12" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round"'
    ' stroke-linejoin="round" aria-hidden="true">\n<path d="m2.5 6.4 2.4 2.4 4.6-5.2"/></svg>'
)
"""The icon of what is as it should be."""


def commit(sha: str, root: str) -> Markup:
    """The short id of a commit, as a link to its page; the uncommitted state has none."""
    if sha == WORKTREE:
        return Markup(f'<span class="sha">{WORKTREE}</span>')
    return Markup(f'<a class="sha" href="{root}{links.commit(sha)}">{sha[:7]}</a>')


@for_each
def versions(row: BestVersionRow, root: str) -> str:
    """A table row: the edit, the evals for which its version is the best, how to go back and what that would change."""
    at = row.version.commit
    subject = escape(row.subject)
    if at.sha != at.short:
        subject = f'<a href="{root}{links.commit(at.sha)}">{subject}</a>'
    best_for = "".join([_best_eval(then, root) for then in row.best_for])
    return (
        f'<tr><td><div>{subject}</div><div class="by">{commit(at.sha, root)} {date(at.committed_at)}</div></td>\n'
        f'<td><ul class="plain">{best_for}</ul></td>\n<td>{_going_back(row, root)}</td></tr>\n'
    )


def _best_eval(then: EvalThen, root: str) -> str:
    spec = then.spec
    now = f", now {escape(own_unit(-then.change, spec))}" if then.change and then.decision != "same" else ""
    made_with = f", made with this or {commit(then.or_edit.sha, root)}" if then.or_edit else ""
    return (
        f'<li>{_trend_link(then, root)} <span class="nowrap">{escape(spec.label)}'
        f' {number(then.value, 3, spec.unit)}</span>\n<span class="by">in'
        f' <a href="{root}{links.report(then.eval_id, then.then.slug)}">{bounded(then.then.label, 40)}</a>'
        f"{made_with}{now}</span></li>"
    )


def _going_back(row: BestVersionRow, root: str) -> str:
    files = len(row.version.files)
    if not files:
        if all(then.or_edit for then in row.best_for):
            return '<span class="pill">in use now, if the outputs were made with them</span>'
        return f'<span class="pill good">{CHECK}in use</span>'
    how = (
        f'<p class="muted">{count(files)} files differ, and no safe command can be given for them all: see the page of'
        " each file.</p>"
    )
    if row.command:
        copy = '<button class="btn js-only" type="button" data-copy aria-live="polite">Copy</button>'
        how = f'<span class="cmd"><code>{escape(row.command)}</code>{copy}</span>'
    costs = "".join([f"<li>{_trend_link(then, root)} {_cost(then)}</li>" for then in row.best_for + row.others])
    more = f"<li>and {count(row.more)} more, each of which would lose less or gain</li>" if row.more else ""
    return (
        f'{how}<p class="by">{count(files)} file{"" if files == 1 else "s"} would change; uncommitted changes in'
        f" {'it' if files == 1 else 'them'} would be overwritten. By the outputs made with that version:</p>\n"
        f'<ul class="costs">{costs}{more}</ul>'
    )


def _trend_link(then: EvalThen, root: str) -> str:
    return f'<a href="{root}{links.eval_trend(then.eval_id)}">{bounded(then.name, 80)}</a>'


def _cost(then: EvalThen) -> str:
    """What an eval would gain or lose, with the verdict if these outputs were compared."""
    if then.change == 0:
        return "would stay the same"
    verdict = f": {then.decision}" if then.decision else ' <span class="muted">(not tested)</span>'
    return f"would {'gain' if then.better > 0 else 'lose'} {escape(own_unit(then.change, then.spec)[1:])}{verdict}"
