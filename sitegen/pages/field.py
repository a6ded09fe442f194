"""The page of one field, with the commits that changed its cells, and the page of all fields."""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import accumulate, chain
from typing import Final, TypeAlias

from markupsafe import Markup
from msgspec.structs import replace

from sitegen.analysis.blame import Blame, CellBlame, ChangePoint, ExplainedPeriod, change_points
from sitegen.analysis.notes import PlacedNote
from sitegen.importers.case import BETWEEN
from sitegen.model.answers import AnsweredCase
from sitegen.model.commits import WORKTREE, Commit
from sitegen.model.frozen import Frozen, grouped
from sitegen.model.outcomes import ERROR_TYPES, Cell, Flips, State
from sitegen.model.series import EvalInfo, EvalSummary, FieldSummary, Point, Series
from sitegen.model.site import Page
from sitegen.model.timeline import Role
from sitegen.pages import links
from sitegen.pages.html import tables
from sitegen.pages.html.cells import shown_run, text, value, where
from sitegen.pages.html.tables import Column
from sitegen.pages.instructions import EditEffects
from sitegen.pages.labels import NO_ERROR, ROLES, doubts_of
from sitegen.pages.report.discrepancies import TOP_LEVEL, section
from sitegen.pages.report.grid import LONG, CaseGrid
from sitegen.pages.report.report_rows import type_name
from sitegen.text.plain import counted, day, line
from sitegen.text.values import MINUS

CELLS: Final = 100
"""Number of cells that a page lists: cells that are wrong now, then cells that flipped most often."""
COLUMNS: Final = 60
"""Number of points of change that are drawn: the newest ones."""
TURNS: Final = 60
"""Number of points of change that are listed: the newest ones."""
RUNS: Final = 400
"""Number of periods that are listed in total; each cell has the same share, its newest periods."""
FEWEST_PERIODS: Final = 3  # rows of a cell, at least
_ITEMS: Final = "Errors that appeared or went with their documents or expected items"
_WRONG: Final = '{} <span class="muted">of {}</span>'
_TONES: Final = {"fixed": "good", "broken": "bad"}
_ROOT: Final = "../../../"  # the way from a page to the root of the site
_ANSWERS: Final = 250_000  # characters of markup of answers, after which further ones are as short as on a report
_SUBJECT: Final = 80  # characters of a commit's subject in a table; its page has all of it


class FieldView(Frozen, dict=True, gc=True):
    """What ``pages/field.html`` shows of a field, or of a case."""

    info: EvalInfo
    attribute: str
    points: Sequence[Point]
    cells: tuple[CellBlame, ...]
    notes: tuple[PlacedNote, ...] = ()
    noun: str = ""
    """What it is: a field, a case."""
    answers: tuple[tuple[Point, CaseGrid], ...] = ()
    """The answers to a case at the newest points that have any, newest first."""

    @cached_property
    def wrong(self) -> list[CellBlame]:
        """The cells that were ever wrong: first those that are wrong now, then those that flipped most."""
        ever_wrong = (cell for cell in self.cells if cell.ever_wrong)
        return sorted(ever_wrong, key=lambda cell: (cell.wrong_since is None, -cell.flips, -cell.wrong))

    @cached_property
    def changes(self) -> list[ChangePoint]:
        """The points at which one of these changed, oldest first."""
        starts = {explained.period.start for cell in self.wrong for explained in cell.periods}
        return [change for change in change_points(self.cells, len(self.points)) if change.point in starts]

    @property
    def wrong_now(self) -> list[int]:
        """For each cell that is wrong now, the first point of its streak of errors."""
        return [cell.wrong_since for cell in self.cells if cell.wrong_since is not None]

    @property
    def judged(self) -> int:
        """Number of cells that are judged now."""
        return sum(cell.periods[-1].period.state != "absent" for cell in self.cells)

    @property
    def flips(self) -> list[ExplainedPeriod]:
        """The periods that begin with a flip."""
        return [period for cell in self.cells for period in cell.periods if period.is_flip]

    @cached_property
    def columns(self) -> list[int]:
        """The points that are drawn."""
        return [change.point for change in self.changes[-COLUMNS:]]

    @property
    def outputs(self) -> Markup:
        """What was answered at each point, and before that what was asked, where it is another question."""
        rows, room = [], _ANSWERS
        newer: tuple[AnsweredCase | None, str] = None, ""  # the case as the row above has it, and where
        for point, grid in self.answers:
            ((case,), (above, label)) = grid.cases, newer
            newer = case, point.snapshot.label
            is_asked_again = above and (case.asked, case.expected) == (above.asked, above.expected)
            shown = f"<p class=said>The same as in {text(label)}."
            if above is None or case.said != above.said:
                lengths = (replace(grid, longest=longest).cells(case) for longest in (LONG, LONG // 4))
                shown = next((cells for cells in lengths if len(cells) <= room), grid.cells(case))
            room -= len(shown)
            question = "" if is_asked_again else replace(grid, longest=LONG).asked(case)
            rows.append(f"<li><p class=case>{self._report(point)} {_sha(point)}</p>{question}{shown}\n")
        return Markup("".join(rows))

    @property
    def periods(self) -> int:
        """Number of periods of each cell that are listed."""
        return max(FEWEST_PERIODS, RUNS // max(1, len(self.wrong[:CELLS])))

    def file(self, point: Point) -> str:
        """Address of the report of a point, relative to the page."""
        return f"../{links.file_name(links.report(self.info.id, point.snapshot.slug))}"

    def _head(self, place: int) -> Markup:
        """The link to the report of a point that is drawn: the iterations up to the next column, ``3–7``.

        With ``*`` an earlier output that was scored again.
        """
        first, last = self.columns[place], ([at - 1 for at in self.columns[1:]] + self.columns[-1:])[place]
        shown = [self.points[at].snapshot for at in (first, last)]
        numbers = dict.fromkeys(f"{at.iteration}{'' if 'outputs' in at.cause else '*'}" for at in shown)
        title = f"{text(shown[0].label)}: {_subject(shown[0].commit)}"
        return Markup(f'<a href="{text(self.file(self.points[first]))}" title="{title}">{"–".join(numbers)}</a>')

    @property
    def strip(self) -> Markup:
        """A table with a row for each cell: its states, as letters and colours, over the columns in which it had them.

        Its name leads to its values, which the page of a case with answers lacks.
        """
        link = "{1}" if self.answers else "<a href=#d{0}>{1}</a>"
        named = Column("where", "Where", lambda *row: Markup(link.format(row[0], _name(row[1]))), names_row=True)
        points = Column("point", self._head, "").each(len(self.columns))
        rows = (f"{tables.cells([named], *row)}{self._bands(row[1])}" for row in enumerate(self.wrong[:CELLS], 1))
        return tables.heads([named, *points]) + Markup("<tbody>" + "".join([f"\n<tr>{row}" for row in rows]))

    def _bands(self, blame: CellBlame) -> str:
        """The periods of a cell over the columns; earlier periods are cut at the first column."""
        columns = self.columns
        done = bisect_left(columns, blame.periods[0].period.start)
        cells = [self._band(None, done)] if done else []
        for explained in blame.periods:
            end = bisect_left(columns, explained.end)
            if end > done:
                cells.append(self._band(explained.period.state, end - done))
            done = end
        return "".join(cells)

    def _band(self, state: State | None, columns: int) -> str:
        wide = f" colspan={columns}" if columns > 1 else ""
        if state is None or state == "absent":
            return f"<td{wide}>"
        letter = self.info.nouns.letter(state) if state in ERROR_TYPES else "✓"
        return f"<td{wide} class={state}>{f'<b>{letter}</b>' if wide else letter}"

    @property
    def turns(self) -> list[Column]:
        """The table of points at which cells changed: the commit, named at its newest, and what it fixed and broke."""
        newest = {self.points[change.point].snapshot.commit: change for change in self.changes}

        def commit(change: ChangePoint) -> Markup:
            at = self.points[change.point]
            named = _subject(at.snapshot.commit) if newest[at.snapshot.commit] is change else "the same commit"
            return Markup(f"{_sha(at)} {named}{_after(at)}")

        def items(change: ChangePoint) -> str:
            appeared = change.fates.get("appeared", 0) - change.fates.get("vanished", 0)
            return f"{appeared:+}".replace("-", MINUS) if appeared else ""

        return [
            Column("iteration", "Iteration", lambda change: self._report(self.points[change.point]), classes="nowrap"),
            Column("commit", "Commit", commit),
            Column("fixed", "Fixed", lambda change: change.fates.get("fixed", ""), classes="num"),
            Column("broken", "Broken", lambda change: change.fates.get("broken", ""), classes="num"),
            Column("other", "Wrong in another way", lambda change: change.fates.get("still_wrong", ""), classes="num"),
            Column("items", "Item added or dropped", items, classes="num", title=_ITEMS),
            Column("wrong", "Wrong after it", lambda at: Markup(_WRONG.format(at.wrong, at.judged)), classes="num"),
            Column("causes", "Changed by", lambda change: _causes(change.causes, self.points[change.point])),
        ]

    @property
    def runs(self) -> Markup:
        """For each cell a row that names it, and the rows of its runs, newest first, below the heads of these."""
        columns = (
            Column("from", "From", self._since, classes="nowrap"),
            Column(
                "state",
                "State",
                lambda of: (
                    type_name(of.period.state, self.info.nouns)
                    if of.period.state in ERROR_TYPES
                    else Markup(f'<span class="ok">{NO_ERROR[of.period.state]}</span>')
                ),
            ),
            Column("expected", "Expected", lambda of: _sides(*of.period[1:])[0], classes="sides", label="Expected"),
            Column("actual", "Actual", lambda of: _sides(*of.period[1:])[1], classes="sides", label="Actual"),
            Column("why", "Why", self._why),
        )
        bodies = (self._runs(columns, place) for place in range(len(self.wrong[:CELLS])))
        return tables.heads(columns) + Markup("".join([f"\n<tbody>{''.join(rows)}</tbody>" for rows in bodies]))

    def _runs(self, columns: Sequence[Column], place: int) -> Iterator[str]:
        cell = self.wrong[place]
        since = "" if cell.wrong_since is None else self.points[cell.wrong_since].snapshot.label
        pill = f'<span class="pill bad">wrong since {text(since)}</span>' if since else ""
        times = f"<span>flipped {counted(cell.flips, 'time')}</span>" if cell.flips else "<span>never flipped</span>"
        head, wide = f"{_name(cell)} {pill} {times}", f"colspan={len(columns)}"
        yield f'<tr class="cellname" id=d{place + 1}><th scope="rowgroup" {wide}>{head}\n'
        for explained in reversed(cell.periods[-self.periods :]):
            yield f"<tr>{tables.cells(columns, explained)}\n"
        if (earlier := len(cell.periods) - self.periods) > 0:
            yield f'<tr><td {wide} class="muted">{earlier:,} earlier</td></tr>\n'

    def _since(self, explained: ExplainedPeriod) -> Markup:
        lasted = "" if explained.end == len(self.points) else f"<i> for {counted(explained.outputs, 'output')}</i>"
        return Markup(f"{self._report(self.points[explained.period.start])}{lasted}")

    def _why(self, explained: ExplainedPeriod) -> Markup:
        fate, at = explained.fate, self.points[explained.period.start]
        pill, causes = f'<span class="pill {_TONES[fate]}">{fate}</span> ' if fate in _TONES else "", explained.causes
        return Markup(f"{pill}{_causes(causes, at)}{' ' if causes else ''}{_sha(at)}")

    def _report(self, at: Point) -> Markup:
        shown = text(day(at.snapshot.commit.committed_at))
        return Markup(f'<a href="{text(self.file(at))}">{text(at.snapshot.label)}</a> <i>{shown}</i>')


def last_change(cells: Iterable[Cell]) -> int:
    """Index of the newest point at which one of the cells changed; their page shows nothing later."""
    return max(cell.periods[-1].start for cell in cells)


def field_page(
    series: Series, blame: Blame, attribute: str, of_attribute: Sequence[Cell], notes: tuple[PlacedNote, ...] = ()
) -> Page:
    """The page of one attribute, from its cells and what people noted. ``series``: up to their ``last_change``."""
    view = history_of(blame, series, of_attribute)
    view = replace(view, attribute=attribute, noun=series.info.nouns.attribute, notes=notes)
    return Page(links.field(series.info.id, attribute), "pages/field.html", view)


CASES: Final = 500
"""The most cases of an eval that have a page: the first ones ever, so that no link to one is broken later."""
ANSWERED: Final = 20
"""Number of the newest points whose answers the page of a case shows."""


def case_page(series: Series, history: FieldView, answers: Mapping[int, AnsweredCase]) -> Page:
    """The page of one case. ``history``: of its values; ``answers``: by points."""
    grids: list[tuple[Point, CaseGrid]] = []
    for index, case in sorted(answers.items()):
        label, earlier = (grids[-1][0].snapshot.label, grids[-1][1].cases) if grids else ("", ())
        at = series.points[index]
        notes = [one.note for one in history.notes if one.snapshot and one.snapshot.label == at.snapshot.label]
        grid = CaseGrid(place=None, cases=(case,), earlier=earlier, earlier_label=label, notes=notes)
        grids.append((at, grid))
    who = [each.cell.document.removeprefix(history.attribute).removeprefix(BETWEEN) for each in history.cells]
    cells = [replace(each, cell=each.cell._replace(document=by)) for each, by in zip(history.cells, who, strict=True)]
    view = replace(history, noun=series.info.nouns.document, answers=tuple(reversed(grids)), cells=tuple(cells))
    return Page(links.case(series.info.id, history.attribute), "pages/field.html", view)


def history_of(blame: Blame, series: Series, of_all: Sequence[Cell]) -> FieldView:
    """What a page shows of cells through all points of a series, which may be its first ones. It has no name yet."""
    end = len(series.points)
    cells = tuple(blame.trace(cell, end) for cell in of_all if cell.periods[0].start < end)
    return FieldView(info=series.info, attribute="", points=series.points, cells=cells)


@lru_cache(maxsize=1024)
def _sides(state: State, expected: str, actual: str) -> tuple[Markup, Markup]:
    """Both values of a period. Cached, because cells often return to the same values."""
    if state == "absent":
        return Markup(), Markup()
    first, second = map(value, shown_run(state, expected, actual))
    return Markup(first), Markup(second)


def _causes(roles: Iterable[Role], at: Point) -> Markup:
    """What changed a cell, and who, if it was the ground truth."""
    by = f" by {text(line(at.snapshot.commit.author, 60))}"
    return Markup(", ".join([f"{ROLES[role]}{by if role == 'ground_truth' else ''}" for role in roles]))


def _sha(at: Point) -> str:
    commit, short = at.snapshot.commit, text(at.snapshot.commit.short)
    linked = f'<a class="sha" href="{_ROOT}{links.commit(commit.sha)}">{short}</a>'
    return short if commit.sha == WORKTREE else linked


def _after(at: Point) -> str:
    """The newest edit of instructions since the point before, with a link to its commit, and the number of others."""
    if not at.edits:
        return ""
    (edited, *earlier), own = [*dict.fromkeys(edit.commit for edit in reversed(at.edits))], at.snapshot.commit
    others = f" or {counted(len(earlier), 'earlier edit')}" if earlier else ""
    linked = f'<a href="{_ROOT}{links.commit(edited.sha)}">{_subject(edited)}</a>'
    return f", {'with an edit of instructions' if edited == own else f'after {linked}'}{others}"


def _subject(commit: Commit) -> str:
    subject = commit.subject
    return text(subject if len(subject) <= _SUBJECT else f"{subject[:_SUBJECT]} …")


def _name(blame: CellBlame) -> str:
    return where(blame.cell.label, blame.cell.document, extra=blame.cell.extra)


ROWS: Final = 150
"""Largest number of rows, one for each eval of a field: as many of the fields with most errors now as fit."""
NAMED_FIELDS: Final = 1_000
"""Number of further field paths that the page names, each with a link to its page in one eval."""


FieldOverEvals: TypeAlias = tuple[tuple[EvalSummary, FieldSummary], ...]
"""A field path in each eval that has it, most errors first."""


MOVED_BY: Final = 20
"""The most edits in the table of edits by fields, the newest ones."""
MOVED: Final = 12
"""The most fields and sections in it: those of which most values flipped."""

_NO_SECTIONS: Final = "Fields of evals without sections"
_CHANGED_WITH: Final = 2  # the most edits named beside a field of an eval: those after which most values flipped

Moves: TypeAlias = dict[str, list[int]]
"""How many values of all evals were fixed, and how many broke, by field or section."""


def fields_page(summaries: Iterable[EvalSummary], edits: Iterable[EditEffects] = ()) -> Page:
    """Make the page of all fields that were ever wrong; fields of deleted evals only are just named.

    ``edits``: the commits with edits, newest first.
    """
    every, edits = list(summaries), list(edits)
    fields = _by_path(summary for summary in every if not summary.deleted)
    of_living = {of_evals[0][1].attribute for of_evals in fields}
    deleted = _by_path(summary for summary in every if summary.deleted)
    gone = [of_evals for of_evals in deleted if of_evals[0][1].attribute not in of_living]
    drawn = sum(rows <= ROWS for rows in accumulate(map(len, fields)))
    named = fields[drawn:] + gone
    every_move = ((edit, *move) for edit in edits for move in _moves(edit).items())
    changed = grouped(((eval_id, attribute), (edit, *counts)) for edit, (eval_id, _, attribute), counts in every_move)
    often: dict[tuple[str, str], tuple[int, str, str, str]] = {}
    for effect in chain.from_iterable(edit.effects for edit in edits):
        for name, number, _ in effect.window.flips.doubts if effect.window.flips else ():
            often.setdefault((effect.info.id, name), (-number, name, effect.info.name, effect.info.id))
    flaky = sorted(one for one in often.values() if one[0])[:NAMED_FIELDS]
    for moves in changed.values():
        moves[:] = sorted(sorted(moves, key=lambda move: -move[1] - move[2])[:_CHANGED_WITH], key=moves.index)
    of_sections: list[tuple[str, FieldOverEvals]] = []
    for of_evals in fields:
        (summary, field), *_ = of_evals
        name = section(field.attribute)
        # The overview lists fields of evals without sections each by itself.
        of_sections.append(
            (_NO_SECTIONS if name == TOP_LEVEL and not summary.info.nouns.are_fields else name, of_evals)
        )
    whole, shown = grouped(of_sections), grouped(of_sections[:drawn])
    sections = [(name, len(whole[name]), sum(map(wrong_in, whole[name])), of_name) for name, of_name in shown.items()]
    view = {
        "shown": fields[:drawn],
        "named": named[:NAMED_FIELDS],
        "more": len(named[NAMED_FIELDS:]),
        "sections": sections,
        "moves": moved_by(edits),
        "moved_with": changed,
        "flaky": flaky,
    }
    return Page(links.fields(), "pages/fields.html", view)


def moved_by(edits: Iterable[EditEffects]) -> tuple[Moves, list[tuple[EditEffects, Moves]], int, dict[str, list[str]]]:
    """Return what all of the newest edits moved together, what each of them did, and how many edits are not counted.

    From the last output before an edit to the first one made with it. The attributes of one section are counted
    together. Behind the sums of all edits stand the least that fixed less broken is after one of them, and the evals.
    """
    attributes, uncounted = list[tuple[EditEffects, dict[tuple[str, str, str], tuple[int, int, str]]]](), 0
    for edit in edits:
        if moves := _moves(edit):
            if len(attributes) == MOVED_BY:
                break
            attributes.append((edit, moves))
        uncounted += not moves and any(effect.change and effect.window.flips is None for effect in edit.effects)
    sizes = Counter(map(section, {attribute for _, moves in attributes for _, _, attribute in moves}))
    rows: list[tuple[EditEffects, Moves]] = []
    total: Moves = {}
    evals = defaultdict[str, dict[str, None]](dict)
    for edit, moves in attributes:
        of_edit: Moves = {}
        for (_, name, attribute), (*counts, _) in moves.items():
            group = section(attribute)
            column = attribute if group == TOP_LEVEL or sizes[group] == 1 else group
            evals[column][name] = None
            for sums in (of_edit.setdefault(column, [0, 0]), total.setdefault(column, [0, 0])):
                sums[:] = [of_sums + number for of_sums, number in zip(sums, counts, strict=True)]
        rows.append((edit, of_edit))
    most = sorted(total, key=lambda column: (-sum(total[column]), column))[:MOVED]
    least = {column: min(of[column][0] - of[column][1] for _, of in rows if column in of) for column in most}
    names = {column: list(evals[column]) for column in most}
    return {column: [*total[column], least[column]] for column in most}, rows, uncounted, names


def _moves(edit: EditEffects) -> dict[tuple[str, str, str], tuple[int, int, str]]:
    """For the fields that an edit moved, by eval: how many values were fixed and broke, and doubts about the latter.

    What several edits before one output moved stands once, with the newest of them. What an output moved that differs
    in more than what was written is no move of an edit.
    """
    moves = {}
    for effect in edit.effects:
        window = effect.window
        flips = Flips() if window.model or window.unlike or window.is_shared else window.flips or Flips()
        fixed, broken, doubts = dict(flips.fixed), dict(flips.broken), {name: of for name, *of in flips.doubts}
        for name in fixed | broken:
            said = doubts_of(doubts[name]) if name in doubts else ""
            moves[effect.info.id, effect.info.name, name] = fixed.get(name, 0), broken.get(name, 0), said
    return moves


def _by_path(summaries: Iterable[EvalSummary]) -> list[FieldOverEvals]:
    by_path = grouped((field.attribute, (summary, field)) for summary in summaries for field in summary.fields)
    fields = [tuple(sorted(evals, key=lambda entry: (-entry[1].wrong, entry[0].info.id))) for evals in by_path.values()]
    return sorted(fields, key=lambda evals: (-wrong_in(evals), evals[0][1].attribute))


def wrong_in(evals: FieldOverEvals) -> int:
    """Number of values of a field that are wrong in the newest outputs."""
    return sum(field.wrong for _, field in evals)
