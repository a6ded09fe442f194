"""``sitegen blame``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Final, TypedDict

from sitegen.analysis.blame import Blame, CellBlame, ExplainedRun
from sitegen.analysis.deltas import Role
from sitegen.analysis.noise.repeats import noise_of, repeats_among
from sitegen.commands.printing import print_document, print_line
from sitegen.errors import ConfigurationError
from sitegen.model.cells import Cell, CellMap, Fate, State
from sitegen.model.series import Point, Series
from sitegen.pages.labels import FATES, ROLES
from sitegen.project import Options
from sitegen.questions.study import read_series
from sitegen.text.plain import line

SHOWN: Final = 40
"""Characters of a value on the terminal; ``--json`` has 200."""


def blame(options: Options, eval_id: str, field: str, *, document: str | None, as_json: bool) -> None:
    """Print the runs of every cell of a field, newest first."""
    series = read_series(options, eval_id)
    whose = Blame(series.cells, [point.snapshot for point in series.points])
    found = [whose.trace(cell) for cell in matching_cells(series.cells.cells, field, document)]
    if as_json:
        text = json.dumps(blame_document(series, field, found), ensure_ascii=False, indent=1)
        print_document(text.encode("utf-8", "backslashreplace") + b"\n")
    else:
        for row in (*blame_lines(series, found), *repeat_lines(series, [one.cell for one in found])):
            print_line(row)


def matching_cells(cells: Sequence[Cell], field: str, document: str | None) -> list[Cell]:
    """The cells of an attribute, at a path, with items by index or by name; ``*`` and ``?`` stand for any characters.

    Raises ConfigurationError if there are none, with the names that come near.
    """
    known = list(dict.fromkeys(cell.document for cell in cells))
    if document is not None and document not in known:
        raise ConfigurationError(
            f"No point has judged a document {line(document, 80)!r}.", fix=_nearest(document, known)
        )
    there = [cell for cell in cells if document is None or cell.document == document]
    pattern = re.compile("".join({"*": ".*", "?": "."}.get(one, re.escape(one)) for one in field), re.DOTALL)
    for matches in (field.__eq__, pattern.fullmatch):
        found = [cell for cell in there if any(map(matches, (cell.attribute, cell.path, cell.label)))]
        if found:
            return found
    names = dict.fromkeys(name for cell in there for name in (cell.attribute, cell.label))
    raise ConfigurationError(f"No point has judged a field {line(field, 80)!r}.", fix=_nearest(field, list(names)))


def _nearest(name: str, known: Sequence[str]) -> str:
    from difflib import get_close_matches

    names = [one for one in known if one]
    near = get_close_matches(name, names, 5, 0.5) or names[:5]
    return f"Did you mean {', '.join(line(one, 80) for one in near)}?" if near else "There is none with a name."


def blame_lines(series: Series, cells: Sequence[CellBlame]) -> Iterator[str]:
    """A line that names the cell, then one a run."""
    for number, one in enumerate(cells):
        if number:
            yield ""
        yield _cell_summary(series, one)
        for stretch in reversed(one.stretches):
            yield _run_line(series.points[stretch.run.start], stretch)


def repeat_lines(series: Series, cells: Sequence[Cell]) -> Iterator[str]:
    """How often the outcomes of these cells differ between outputs made again under the same instructions."""
    found = noise_of(repeats_among(series.points, CellMap(series.cells.points, tuple(cells))))
    if found is None or found.pooled.rate is None:
        return
    yield ""
    outputs = f"{found.outputs:,} outputs made again under the same instructions"
    for rate in found.fields:
        share = 100 * (rate.rate or 0)
        differ = f"{rate.flips:,} of {rate.pairs:,} pairs differ ({share:.1f} %)"
        yield f"{line(rate.attribute, 120)}: {differ}, of {outputs}"


def _cell_summary(series: Series, blame: CellBlame) -> str:
    cell = blame.cell
    name = line(cell.label, 120) + (" (extra item)" if cell.extra else "")
    document = f", {line(cell.document, 80)}" if cell.document else ""
    flips = f"{blame.flips} {'flip' if blame.flips == 1 else 'flips'}"
    right = f"right at {blame.judged - blame.wrong} of {blame.judged} points, {flips}"
    if blame.wrong_since is None:
        return f"{name}{document}: {right}"
    streak = len(series.points) - blame.wrong_since
    since = series.points[blame.wrong_since].snapshot.label
    return f"{name}{document}: wrong since {line(since, 40)} ({streak} points), {right}"


def _run_line(point: Point, stretch: ExplainedRun) -> str:
    at, run = point.snapshot, stretch.run
    values = "" if run.state == "absent" else f"expected {_shortened(run.expected)}, got {_shortened(run.actual)}"
    because = " and ".join(ROLES[role] for role in stretch.causes)
    why = ": ".join(part for part in (FATES[stretch.fate] if stretch.fate else "", because) if part)
    told = [f"  {line(at.label, 20):16} {at.commit.short:8} {at.commit.committed_at[:10]}  {run.state:13}", values, why]
    return "  ".join(part for part in told if part).rstrip()


def _shortened(text: str) -> str:
    return line(text, SHOWN) if text else "nothing"


class BlameDocument(TypedDict):
    """When a field was right and wrong."""

    schema: str
    eval_id: str
    field: str
    """As it was asked for."""
    cells: list[BlamedCell]


class BlamedCell(TypedDict):
    """One attribute of one document, or of one list item."""

    document: str
    """Empty if the eval has only one."""
    path: str
    attribute: str
    extra_item: bool
    """An item that only outputs have."""
    wrong_since: str | None
    """Label of the point since which it is wrong without a break; None if it is not."""
    wrong_for_points: int
    flips: int
    points_judged: int
    points_wrong: int
    runs: list[BlamedRun]
    """Consecutive points at which nothing about the cell changed, oldest first."""


BlamedRun = TypedDict(
    "BlamedRun",
    {
        "from": Annotated[str, "Label of its first point."],
        "report": Annotated[str, "The report's file name without `.html`."],
        "commit": str,
        "committed_at": str,
        "points": Annotated[int, "How many points it lasts."],
        "state": State,
        "expected": Annotated[str | None, "Bounded JSON text; null if there was no value."],
        "actual": str | None,
        "became": Annotated[
            Fate | None, "Against the run before; null at the first, and where it is right on both sides."
        ],
        "causes": Annotated[list[Role], "What changed at its first point that can have made it so."],
    },
)


def blame_document(series: Series, field: str, cells: Sequence[CellBlame]) -> BlameDocument:
    """The same as JSON, form ``sitegen/blame/1``."""
    return {
        "schema": "sitegen/blame/1",
        "eval_id": series.info.id,
        "field": field,
        "cells": [_cell_document(series, cell) for cell in cells],
    }


def _cell_document(series: Series, cell_blame: CellBlame) -> BlamedCell:
    since = cell_blame.wrong_since
    return {
        "document": cell_blame.cell.document,
        "path": cell_blame.cell.path,
        "attribute": cell_blame.cell.attribute,
        "extra_item": cell_blame.cell.extra,
        "wrong_since": None if since is None else series.points[since].snapshot.label,
        "wrong_for_points": 0 if since is None else len(series.points) - since,
        "flips": cell_blame.flips,
        "points_judged": cell_blame.judged,
        "points_wrong": cell_blame.wrong,
        "runs": [_run_document(series.points[stretch.run.start], stretch) for stretch in cell_blame.stretches],
    }


def _run_document(point: Point, stretch: ExplainedRun) -> BlamedRun:
    at, run = point.snapshot, stretch.run
    return {
        "from": at.label,
        "report": at.slug,
        "commit": at.commit.sha,
        "committed_at": at.commit.committed_at,
        "points": stretch.points,
        "state": run.state,
        "expected": run.expected or None,
        "actual": run.actual or None,
        "became": stretch.fate,
        "causes": list(stretch.causes),
    }
