"""Table rows of the trend page as escaped f-strings: points, attributes, and usage of outputs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from markupsafe import Markup

from sitegen.html.cells import text
from sitegen.html.formats import NIL, bounded, day, number, printable, signed
from sitegen.html.tables import Column, cells, class_name
from sitegen.model.metrics import MetricSpec, Nouns
from sitegen.model.outcomes import ERROR_TYPES, ErrorType
from sitegen.model.series import EvalInfo
from sitegen.model.site import RawFile
from sitegen.pages import links
from sitegen.pages.change_text import DisplayedChange, origin, own_unit
from sitegen.pages.data.scripts import script_file
from sitegen.pages.labels import STALE
from sitegen.pages.report.discrepancies import field_file
from sitegen.pages.report.report_rows import error_types, type_label, type_mark
from sitegen.pages.trend.numbers import ROWS, OutputUsage, TrendPoint, UsageView
from sitegen.pages.trend.page import TrendView
from sitegen.pages.trend.panels import HeatRow
from sitegen.pages.trend.trend_chart import TrendChart, trend
from sitegen.pages.trend.trend_island import COLUMNS
from sitegen.stats.counts import errors, judged
from sitegen.text.plain import line
from sitegen.text.values import SMALL, amount

SHOWN_FIRST = 25
"""Number of rows of the table of iterations above *Show more*."""

LINKED = 100
"""Number of rows whose counts of cells are links; in older rows only the label is a link, for a smaller page."""

EDITED = 3
"""Number of instruction files that a row names; further ones are counted."""

_NIL = str(number(None))


def columns(view: TrendView, root: str) -> tuple[Column, ...]:
    """The table of iterations. A row is the index of a point, with the texts that follow its label."""
    points, specs, newest = view.points, view.specs[: view.drawn], len(view.points) - 1
    now = [
        Column(
            name="now",
            head="Now",
            cell=lambda at, _: _trend_ratio_cell(view.clocks.values[at][0]),
            title=f"{specs[0].label} by today's ground truth and rules",
        )
    ]
    return (
        Column(name="iteration", head="Iteration", cell=lambda at, words: _name_cell(view, at, root, words)),
        Column(
            name="headline",
            head=specs[0].label,
            cell=lambda at, _: _trend_ratio_cell(points[at].values[0], specs[0].unit),
        ),
        *(now if view.clocks.values else ()),
        Column(name="change", head="Change", cell=lambda at, _: _change_cell(points[at], specs[0])),
        *(
            Column(
                name=class_name(spec.label),
                head=spec.label,
                cell=lambda at, _, k=k, unit=spec.unit: _trend_ratio_cell(points[at].values[k], unit),
            )
            for k, spec in enumerate(specs[1:], 1)
        ),
        *(
            Column(
                name=f"variant-{k + 1}",
                head=bounded(name, 80),
                cell=lambda at, _, k=k: _trend_ratio_cell(points[at].variants[k]),
                classes="vhead",
            )
            for k, name in enumerate(view.drawn_variants)
        ),
        *(_counted_columns(view.info.nouns, points, newest) if view.counted else ()),
    )


def _counted_columns(nouns: Nouns, points: Sequence[TrendPoint], newest: int) -> Iterable[Column]:
    for fate, title in _FATES.items():
        yield Column(
            name=fate,
            head=fate.capitalize(),
            cell=lambda at, _, fate=fate: _flips_cell(points[at], fate, linked=newest - at < LINKED),
            title=title,
        )
    yield Column(name="errors", head="Errors", cell=lambda at, _: sum(points[at].errors))
    for k, kind in enumerate(ERROR_TYPES):
        if nouns.errors[k]:
            yield Column(
                name=kind,
                head=type_mark(kind, nouns),
                cell=lambda at, _, k=k: points[at].errors[k] or "",
                title=type_label(kind, nouns),
            )


_FATES: Final = {
    "fixed": "Values that were wrong in the iteration before and are right",
    "broken": "Values that were right in the iteration before and are wrong",
    "still": "Values that are wrong in both",
}


def iterations(view: TrendView, root: str, *, older: bool = False) -> Markup:
    """A row for each point, newest first: the numbers of the chart, and the texts that its script shows.

    These are the rows of the page or, with ``older``, of the file beside it. A point that repeats the one before has a
    thin row, which also names the points before it that do the same; their own rows are only for the script. Only one
    point of a commit has the commit's subject: the newest point that does not repeat the one before.
    """
    rows = []
    by_rank = sorted(range(len(view.points)), key=lambda index: (not view.points[index].repeats, index))
    with_subject = {view.points[index].commit.sha: index for index in by_rank}
    drawn = range(view.older - 1, -1, -1) if older else range(len(view.points) - 1, view.older - 1, -1)
    groups = _groups_of_repeats(view.points, drawn)
    named_above = {index for group in groups.values() for index in group}
    listed = columns(view, root)
    for index in drawn:
        point = view.points[index]
        named = with_subject[point.commit.sha] == index
        subject = f" <i>{text(point.commit.subject)}</i>" if named else ""
        same = "".join([_same_output(view.points[before]) for before in groups.get(index, ())])
        start = f"<tr class={'named' if index in named_above else 'copied'}>" if point.repeats else "<tr>"
        rows.append(f"{start}{cells(listed, index, same + subject)}\n")
    return Markup("".join(rows))


def _groups_of_repeats(points: Sequence[TrendPoint], drawn: Sequence[int]) -> dict[int, list[int]]:
    """Map the newest of neighbouring points that repeat the one before to the others, unless these have remarks.

    ``drawn``: the indices of the points, newest first.
    """
    groups: dict[int, list[int]] = {}
    newest: int | None = None
    for index in drawn:
        point = points[index]
        if not point.repeats:
            newest = None
        elif newest is None or point.edited or point.exchanged or point.deleted != points[newest].deleted:
            newest = index
        else:
            groups.setdefault(newest, []).append(index)
    return groups


def _same_output(point: TrendPoint) -> str:
    return f", <a href={text(point.file)}>{text(point.label.removeprefix('iteration-'))}</a>"


def column(view: TrendView, metric: int) -> list[float | None]:
    """A metric at every point."""
    return [point.values[metric] for point in view.points]


def _name_cell(view: TrendView, index: int, root: str, words: str) -> Markup:
    point = view.points[index]
    commit = text(point.commit.short)
    if point.commit.short != point.commit.sha:  # they are equal for uncommitted changes, which have no page
        commit = f"<a href={root}{links.commit(point.commit.sha)}>{commit}</a>"
    pills = _pills(point, None if point.copy_of is None else view.points[point.copy_of])
    return Markup(
        f"<div><a href={text(point.file)}>{text(point.label)}</a>{words}</div>"
        f"{commit} <span>{text(point.commit.author)} · {text(day(point.commit.committed_at))}</span>"
        f"{pills}{_note(point.changes[0] if point.changes else None, view.specs[0])}"
    )


def _change_cell(point: TrendPoint, spec: MetricSpec) -> str:
    """A signed change, to which the style sheet adds a colour; empty at the first point."""
    if not point.changes:
        return ""
    change = point.changes[0]
    if change.amount is None:
        return NIL
    if change.amount == 0:
        return "0"
    tone = "up" if (change.amount > 0) is spec.higher_is_better else "dn"
    return Markup(f"<b class={tone}>{own_unit(change.amount, spec)}</b>")


def _note(change: DisplayedChange | None, spec: MetricSpec) -> str:
    """A remark below the number: the parts of the change, and its restrictions."""
    if change is None:
        return ""
    remarks = change.note if change.by_outputs else f"{'change: ' if change.parts else ''}{origin(change, spec)}"
    return f"<small>{text(remarks)}</small>" if remarks else ""


def _flips_cell(point: TrendPoint, fate: str, *, linked: bool) -> str:
    cells = getattr(point.flipped, fate) if point.flipped else 0
    if not cells or fate == "still":
        return str(cells or "")
    return Markup(f"<a href={text(point.file)}>{cells:,}</a>") if linked else f"{cells:,}"


def _pills(point: TrendPoint, copied: TrendPoint | None) -> str:
    """Remarks on a point. ``copied``: the point whose output it copies, if any."""
    pills = ""
    if copied is not None:
        words = "same output as" if point.repeats else "back to the output of"
        pills += f' <span class="pill">{words} <a href={text(copied.file)}>{text(copied.label)}</a></span>'
    if point.status != "scored":
        pills += f' <span class="pill bad">{point.remark}</span>'
    if point.rescored:
        pills += f' <span class="pill warn">{point.cause}</span>'
    if point.stale:
        pills += f' <span class="pill warn" title="{STALE}">stale</span>'
    pills += "".join(f' <span class="pill warn">another {who}</span>' for who in point.exchanged)
    pills += "".join(f' <span class="pill acc">{text(line(name, 60))}</span>' for name in _edited_names(point.edited))
    return pills + ' <span class="pill">deleted since</span>' if point.deleted else pills


def _edited_names(paths: Sequence[str]) -> list[str]:
    """Names of instruction files, with the folder if names are equal, and the number of further files."""
    steps = [path.split("/")[-2:] for path in paths]
    names = [parts[-1] for parts in steps]
    listed = ["/".join(parts) if names.count(parts[-1]) > 1 else parts[-1] for parts in steps[:EDITED]]
    return listed + ([f"{len(paths) - EDITED:,} more"] if len(paths) > EDITED else [])


def moved(change: DisplayedChange | None, spec: MetricSpec) -> Markup | str:
    """The change beside a number, in its unit; a dash with the reason if undefined, empty at the first point."""
    if change is None:
        return ""
    if change.amount is None:
        return Markup('<span class="nil" title="{}">—</span>').format(printable(change.note))
    return signed(change.amount, 3, not spec.higher_is_better, spec.unit)


def field_history(rows: Iterable[HeatRow], info: EvalInfo) -> Markup:
    """A row for each attribute: its errors now and over all points, and a link to its page."""
    types = error_types(info.nouns)
    return Markup("".join([_field_history(row, field_file(info.id, row.attribute), types) for row in rows]))


def _field_history(row: HeatRow, file: str, types: tuple[ErrorType, ...]) -> str:
    attribute, now, wrong, total = row
    share = f"{100 * wrong / total:.0f}\u202f%" if total else _NIL
    if now is None:
        current = f"<td>{_NIL}" * (2 + len(types))
    else:
        current = f"<td>{errors(now)}<td>{judged(now)}" + "".join(f"<td>{getattr(now, kind) or ''}" for kind in types)
    return f"<tr><td><a href={text(file)}>{text(attribute)}</a>{current}<td>{wrong}<td>{total}<td>{share}\n"


def _trend_ratio_cell(value: float | None, unit: str = "") -> str:
    is_share = not unit and value is not None and SMALL <= value <= 1  # as most are
    return f"{value:.3f}" if is_share else number(value, unit=unit)


def outputs(view: UsageView) -> Markup:
    """A row for each output, newest first; the units are in the head."""
    return Markup("".join([_output(output, view.specs) for output in reversed(view.outputs[-ROWS:])]))


def _output(usage: OutputUsage, specs: tuple[MetricSpec, ...]) -> str:
    values = "".join([f"<td>{_usage_amount(value, spec)}" for value, spec in zip(usage.values, specs, strict=True)])
    made_by = text(usage.made_by[:160]) or str(NIL)
    return (
        f"<tr><td><a href={text(usage.file)}>{text(usage.label)}</a><td>{made_by}<td>{number(usage.headline)}{values}\n"
    )


def _usage_amount(value: float | None, spec: MetricSpec) -> str:
    return str(NIL) if value is None else amount(value, spec.unit).removesuffix(f" {spec.unit}")


ROOT: Final = "../../"

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
    rows = script_file(path, "ROWS", _folded(f"<tbody>{iterations(view, ROOT, older=True)}"))
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
        "path.champ": [chart.champion],
        "path.rec": [chart.recorded.path, chart.recorded.lone],
        ".pl > .ln": [variant.line.path for variant in chart.variants],
        ".pl > .lone": [variant.line.lone for variant in chart.variants],
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
        ".h-heat .pl path": [chart.unjudged, *chart.heat],
    }
