"""The table of iterations as escaped f-strings, because a file beside the page has those of older iterations."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Final

from markupsafe import Markup

from sitegen.analysis.flips import number_of_cells
from sitegen.analysis.series import repeats_the_point_before
from sitegen.model.commits import WORKTREE
from sitegen.model.outcomes import ERROR_TYPES
from sitegen.model.series import Point
from sitegen.model.site import RawFile
from sitegen.pages import links
from sitegen.pages.data.search import script_file
from sitegen.pages.html.cells import text
from sitegen.pages.html.formats import NIL, bounded, number
from sitegen.pages.html.tables import Column, cells, class_name
from sitegen.pages.labels import CAUSES, STALE, STATUSES, how_copied, own_unit
from sitegen.pages.report.report_rows import type_label, type_mark
from sitegen.pages.trend.page import TrendView
from sitegen.pages.trend.trend_chart import COLUMNS, TrendChart, trend
from sitegen.stats.counts import error_numbers
from sitegen.text.plain import day, line
from sitegen.text.values import NO_CHANGE

_LINKED = 100
"""Number of rows whose counts of cells are links; in older rows only the label is a link, for a smaller page."""

ROOT: Final = "../../"
"""The way from the page to the root of the site."""

EDITED = 3
"""Number of instruction files that a row names; further ones are counted."""


def columns(view: TrendView) -> tuple[Column, ...]:
    """The table of iterations. A row is the index of a point, with the texts that follow its label.

    The box beside a point of the chart shows all of them, those of the class ``drawn`` as the chart has them.
    """
    values, specs, heads = view.values, view.specs[: view.drawn], view.values_of_lines[: len(view.lines[1])]
    now = Column(
        "now",
        "Today",
        lambda at, _: "" if view.now[at][0] == values[at][0] else number(view.now[at][0]),
        classes="drawn hide-s",
        title=f"{specs[0].label} as judged today, where that is another number",
    )
    return (
        Column(name="iteration", head="Iteration", cell=partial(_name_cell, view), classes="drawn"),
        Column("headline", specs[0].label, lambda at, _: number(values[at][0], specs[0].unit), classes="drawn"),
        *([now] if view.now else ()),
        Column(name="change", head="Change", cell=lambda at, _: _change_cell(view, at), classes="drawn"),
        *(
            Column(
                class_name(spec.label),
                spec.label,
                lambda at, _, k=k, unit=spec.unit: number(values[at][k], unit),
                classes="drawn hide-s",
            )
            for k, spec in enumerate(() if view.lines[1] and view.info.recorded else specs[1:], 1)
        ),
        *(
            Column(
                f"variant-{k + 1}",
                bounded(name, 80),
                lambda at, _, k=k: number(heads[k][at]),
                classes="drawn vhead hide-s",
            )
            for k, name in enumerate(view.lines[1])
        ),
        *(_counted_columns(view) if view.series.is_counted else ()),
    )


def _counted_columns(view: TrendView) -> Iterable[Column]:
    points, nouns, linked = view.points, view.info.nouns, len(view.points) - _LINKED
    wrong = [error_numbers(point.scorecard.counts) for point in points]

    def flips(at: int, fate: str) -> str:
        change = points[at].change
        number = number_of_cells(getattr(change.flips, fate)) if change else 0
        if not number or fate == "still":
            return str(number or "")
        return Markup(f"<a href={_file(points[at])}>{number:,}</a>") if at >= linked else f"{number:,}"

    for fate, (head, those) in _FATES.items():
        title = f"{nouns.value.capitalize()}s {those}"
        yield Column(name=fate, head=head, cell=lambda at, _, fate=fate: flips(at, fate), classes="hide-s", title=title)
    yield Column(name="errors", head="Errors", cell=lambda at, _: sum(wrong[at]))
    for k, kind in enumerate(ERROR_TYPES):
        if nouns.errors[k]:
            yield Column(
                kind,
                type_mark(kind, nouns),
                lambda at, _, k=k: wrong[at][k] or "",
                classes="hide-m",
                title=type_label(kind, nouns),
            )


_FATES: Final = {
    "fixed": ("Fixed", "that were wrong in the iteration before and are right"),
    "broken": ("Broken", "that were right in the iteration before and are wrong"),
    "still": ("Still wrong", "that are wrong in both"),
}


def iterations(view: TrendView, *, older: bool = False) -> Markup:
    """A row for each point, newest first: the numbers of the chart, and the texts that its script shows.

    These are the rows of the page or, with ``older``, of the file beside it. A point that repeats the one before has a
    thin row, which also names the points before it that do the same; their own rows are only for the script. Only one
    point of a commit has the commit's subject: the newest point that does not repeat the one before.
    """
    rows, points = [], view.points
    repeats = [repeats_the_point_before(points, index) for index in range(len(points))]
    by_rank = sorted(range(len(points)), key=lambda index: (not repeats[index], index))
    with_subject = {points[index].snapshot.commit.sha: index for index in by_rank}
    drawn = range(view.older - 1, -1, -1) if older else range(len(points) - 1, view.older - 1, -1)
    groups = _groups_of_repeats(view, repeats, drawn)
    named_above = {index for group in groups.values() for index in group}
    listed = columns(view)
    for index in drawn:
        commit = points[index].snapshot.commit
        subject = f" <i>{text(commit.subject)}</i>" if with_subject[commit.sha] == index else ""
        same = "".join(
            f", <a href={_file(point)}>{text(point.snapshot.label.removeprefix('iteration-'))}</a>"
            for point in map(points.__getitem__, groups.get(index, ()))
        )
        start = f"<tr class={'named' if index in named_above else 'copied'}>" if repeats[index] else "<tr>"
        rows.append(f"{start}{cells(listed, index, same + subject)}\n")
    return Markup("".join(rows))


def _groups_of_repeats(view: TrendView, repeats: Sequence[bool], drawn: Sequence[int]) -> dict[int, list[int]]:
    """Map the newest of neighbouring points that repeat the one before to the others, unless these have remarks."""
    groups: dict[int, list[int]] = {}
    newest: int | None = None
    for index in drawn:
        point = view.points[index]
        if not repeats[index]:
            newest = None
        elif (
            newest is None
            or view.edited[index]
            or _exchanged(point)
            or point.snapshot.deleted != view.points[newest].snapshot.deleted
        ):
            newest = index
        else:
            groups.setdefault(newest, []).append(index)
    return groups


def _exchanged(point: Point) -> list[str]:
    return [who for who in ("model", "judge") if point.change is not None and getattr(point.change, who)]


def _file(point: Point) -> str:
    return text(f"{point.snapshot.slug}.html")


def _name_cell(view: TrendView, index: int, words: str) -> Markup:
    at, changes = view.points[index].snapshot, view.changes[index]
    commit, remarks = text(at.commit.short), ""
    if changes:
        start = "change: " if changes[0].parts and not changes[0].by_outputs else ""
        remarks = f"{start}{changes[0].origin(view.specs[0])}"
    if at.commit.sha != WORKTREE:  # uncommitted changes have no page
        commit = f"<a href={ROOT}{links.commit(at.commit.sha)}>{commit}</a>"
    return Markup(
        f"<div><a href={_file(view.points[index])}>{text(at.label)}</a>{words}</div>"
        f"{commit} <span>{text(at.commit.author)} · {text(day(at.commit.committed_at))}</span>"
        f"{_pills(view, index)}{f'<small>{text(remarks)}</small>' if remarks else ''}"
    )


def _change_cell(view: TrendView, index: int) -> str:
    """A signed change, to which the style sheet adds a colour if it is no mere chance; empty at the first point."""
    if not view.changes[index]:
        return ""
    amount, change, spec = view.changes[index][0].amount, view.points[index].change, view.specs[0]
    if amount is None:
        return NIL
    if amount == 0:
        return NO_CHANGE
    unknown = change is not None and change.verdict is not None and change.verdict.decision == "cannot tell"
    tone = "unknown" if unknown else "up" if (amount > 0) is spec.higher_is_better else "dn"
    return Markup(f"<b class={tone}>{own_unit(amount, spec)}</b>")


def _pills(view: TrendView, index: int) -> str:
    point, pills = view.points[index], ""
    at, status = point.snapshot, point.scorecard.status
    if point.copy_of is not None:
        words = how_copied(view.points, index)
        copied = view.points[point.copy_of]
        pills += f' <span class="pill">{words} <a href={_file(copied)}>{text(copied.snapshot.label)}</a></span>'
    if status != "scored":
        pills += f' <span class="pill bad">{STATUSES[status]}</span>'
    if "outputs" not in at.cause:
        pills += f' <span class="pill warn">{", ".join(CAUSES[cause] for cause in at.cause)}</span>'
    if point.stale:
        pills += f' <span class="pill warn" title="{STALE}">older instructions</span>'
    pills += "".join(f' <span class="pill warn">another {who}</span>' for who in _exchanged(point))
    paths = view.edited[index]
    steps = [path.split("/")[-2:] for path in paths]
    last = [parts[-1] for parts in steps]
    names = ["/".join(parts) if last.count(parts[-1]) > 1 else parts[-1] for parts in steps[:EDITED]]  # with the folder
    names += [f"{len(paths) - EDITED:,} more"] if len(paths) > EDITED else []
    pills += "".join(f' <span class="pill acc">{text(line(name, 60))}</span>' for name in names)
    return pills + ' <span class="pill">deleted since</span>' if at.deleted else pills


_PARTS: Final = (
    r"<span class=.*?</span>|<i>[^<]*</i>|</div><a href=[./]*commits/|</a> <span>[^<·]*· |(?:<tr>)?<td class=[^>]*>"
)
"""Parts of rows that may repeat: remarks, subjects, the way to commits, authors, beginnings of cells."""


def older_rows(view: TrendView) -> RawFile | None:
    """The rows of older iterations, and the chart with every value; None if the page has all of them."""
    if not view.older:
        return None
    path, chart = links.trend_rows(view.info.id), trend(view, whole=True)
    values = {name: chart.island[name] for name in COLUMNS if name in chart.island}
    # The script adds one body at a time.
    bodies = re.sub(r"(?:.*\n){1,50}", r"<tbody>\g<0>", str(iterations(view, older=True)))
    rows = script_file(path, "ROWS", _folded(bodies))
    return RawFile(path, rows.content + script_file(path, "CHART", [_paths(chart), values]).content)


def _folded(rows: str) -> tuple[str, list[str]]:
    """Rows with a number in angle brackets, ``<3>``, in the place of each part that repeats; and these parts.

    No text of a project looks like such a number, because texts are escaped. Rows of outputs whose
    instructions change often take half the room.
    """
    counts = Counter(re.findall(_PARTS, rows))
    repeated = [part for part, number in counts.items() if number > 1]
    places = {part: f"<{place}>" for place, part in enumerate(repeated)}
    return re.sub(_PARTS, lambda part: places.get(part[0], part[0]), rows), repeated


def _paths(chart: TrendChart) -> dict[str, list[str]]:
    """The paths of the chart, by the selector of the elements that draw them, in their order."""
    return {
        "path.band": [chart.band],
        "path.champ": [chart.best_line],
        "path.rec": [chart.recorded.path, chart.recorded.lone],
        ".pl > .ln": [variant.path for variant in chart.variants],
        ".pl > .lone": [variant.lone for variant in chart.variants],
        ".then .ln": [line.path for line in reversed(chart.lines)],
        ".then .lone": [line.lone for line in reversed(chart.lines)],
        ".now .ln": [line.path for line in reversed(chart.now)],
        ".now .lone": [line.lone for line in reversed(chart.now)],
        ".pts:not(.copied)": [chart.dots],
        ".pts.copied": [chart.copies],
        "path.stale": [chart.stale],
        ".hollow": [chart.stale],
        "path.broken": [chart.broken],
        "path.ed": [chart.edits],
        "path.re": [chart.rescored],
        ".stack:not(.grouped) path": list(chart.errors),
        ".h-heat .pl path": list(chart.heat),
    }
