"""The tables of a field's page, as escaped f-strings: a row for a cell, a period, or a point at which cells changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

from markupsafe import Markup

from sitegen.analysis.deltas import Role
from sitegen.html.cells import for_each, shown_run, text, value, where
from sitegen.html.formats import day
from sitegen.model.cells import Fate, State
from sitegen.model.metrics import Nouns
from sitegen.model.outcomes import ERROR_TYPES
from sitegen.pages import links
from sitegen.pages.field.page import Band, CellRow, PeriodRow, PointName, TurnRow
from sitegen.pages.labels import FATES, ROLES, outputs
from sitegen.pages.report.report_rows import letter_of, type_name

_RIGHT: Final[dict[State, str]] = {"correct": "right", "true_negative": "right: blank", "absent": "not there"}
_COUNTED: Final[tuple[Fate, ...]] = ("fixed", "broken", "still_wrong")
_TONES: Final = {"fixed": "good", "broken": "bad"}
_SUBJECT: Final = 80
"""Characters of a commit's subject in a table; its page has all of it."""
_SIDES: Final = 1024
"""Number of pairs of values that are remembered."""


def heads(columns: Iterable[PointName]) -> Markup:
    """A column head for each point, with a link to its report."""
    return Markup(
        "".join(
            f'<th scope="col"><a href="{text(at.file)}" title="{text(at.label)}: {_subject(at)}">{text(at.number)}</a>'
            for at in columns
        )
        + "<td>"
    )


@for_each
def strip(cell: CellRow, nouns: Nouns) -> str:
    """The table row of a cell with its state in each column, as a letter and a colour."""
    bands = "".join([_band(band, nouns) for band in cell.bands])
    return f'<tr><th scope="row">{_cell_name(cell)}{bands}<td>\n'


def _band(band: Band, nouns: Nouns) -> str:
    state, columns = band
    wide = f" colspan={columns}" if columns > 1 else ""
    if state is None or state == "absent":
        return f"<td{wide}>"
    return f"<td{wide} class={state}>{letter_of(state, nouns) if state in ERROR_TYPES else '✓'}"


@for_each
def turns(row: TurnRow, root: str) -> str:
    """The table row of a point at which cells changed: the commit, and how many cells it fixed and broke."""
    change = row.change
    net_appeared = change.number("appeared") - change.number("vanished")
    counts = [change.number(fate) or "" for fate in _COUNTED]
    numbers = "".join(
        [f'<td class="num">{number}' for number in (*counts, f"{net_appeared:+}" if net_appeared else "")]
    )
    return (
        f"<tr><td>{_link_to_report(row.at)}<td>{_commit_of_run(row.at, root)}{numbers}"
        f'<td class="num">{change.wrong} <span class="muted">of {change.judged}</span>'
        f'<td class="nowrap">{_causes(change.causes)}\n'
    )


def runs(cells: Iterable[CellRow], nouns: Nouns, root: str) -> Markup:
    """For each cell a row that names it and the rows of its runs, newest first."""
    return Markup("".join(f"<tbody>{''.join(_field_cell_rows(cell, nouns, root))}</tbody>\n" for cell in cells))


def _field_cell_rows(cell: CellRow, nouns: Nouns, root: str) -> Iterator[str]:
    since = f'<span class="pill bad">wrong since {text(cell.since.label)}</span>' if cell.since else ""
    flips = cell.blame.flips
    times = f"flipped {flips} {'time' if flips == 1 else 'times'}" if flips else "never flipped"
    yield f'<tr class="cellname"><th scope="rowgroup" colspan="5">{_cell_name(cell)} {since} <span>{times}</span>\n'
    for period in cell.periods:
        yield _period_row(period, nouns, root)
    if cell.earlier:
        yield f'<tr><td colspan="5" class="muted">{cell.earlier:,} earlier</td></tr>\n'


def _period_row(row: PeriodRow, nouns: Nouns, root: str) -> str:
    explained = row.explained
    state = explained.period.state
    lasted = "" if row.lasts else f"<i> for {outputs(explained.outputs)}</i>"
    sides = _sides(state, explained.period.expected, explained.period.actual)
    name = type_name(state, nouns) if state in ERROR_TYPES else f'<span class="ok">{_RIGHT[state]}</span>'
    why = _cause_words(explained.fate, _causes(explained.causes))
    return f"<tr><td>{_link_to_report(row.at)}{lasted}<td>{name}{sides}<td>{why}{_sha(row.at, root)}\n"


@lru_cache(maxsize=_SIDES)
def _sides(state: State, expected: str, actual: str) -> str:
    """Table cells with both values of a period. Cached, because cells often return to the same values."""
    if state == "absent":
        return '<td class="sides"><td class="sides">'
    return "".join([f'<td class="sides" dir=auto>{value(side)}' for side in shown_run(state, expected, actual)])


def _causes(roles: Iterable[Role]) -> str:
    return ", ".join([ROLES[role] for role in roles])


def _cause_words(fate: str | None, causes: str) -> str:
    flipped = f'<span class="pill {_TONES[fate]}">{FATES[fate]}</span> ' if fate in _TONES else ""  # type: ignore[index]
    return f"{flipped}{causes} " if causes else flipped


def _link_to_report(at: PointName) -> str:
    return f'<a href="{text(at.file)}">{text(at.label)}</a> <i>{text(day(at.commit.committed_at))}</i>'


def _commit_of_run(at: PointName, root: str) -> str:
    edits = f' <span class="pill acc">{"instructions" if at.edits == 1 else f"{at.edits} edits"}</span>'
    return f"{_sha(at, root)} {_subject(at)}{edits if at.edits else ''}"


def _sha(at: PointName, root: str) -> str:
    """The commit with a link to its page; the uncommitted state has none."""
    commit = at.commit
    short = text(commit.short)
    return (
        short if commit.sha == commit.short else f'<a class="sha" href="{root}{links.commit(commit.sha)}">{short}</a>'
    )


def _subject(at: PointName) -> str:
    subject = at.commit.subject
    return text(subject if len(subject) <= _SUBJECT else f"{subject[:_SUBJECT]} …")


def _cell_name(cell: CellRow) -> str:
    of = cell.blame.cell
    return where(of.label, of.document, extra=of.extra)
