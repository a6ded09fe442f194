"""``sitegen history`` prints the series of an eval, and ``sitegen blame`` when each cell of a field was right."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from sitegen.analysis.blame import Blame, CellBlame
from sitegen.commands.printing import print_document, print_line
from sitegen.errors import ConfigurationError
from sitegen.model.commits import Commit
from sitegen.model.outcomes import Cell
from sitegen.model.series import Series
from sitegen.pages.labels import NO_ERROR, ROLES, same_output
from sitegen.project import Options
from sitegen.questions.study import open_study, read_series
from sitegen.text.plain import counted, day, line
from sitegen.text.values import metric_text, to_json_bytes

METRICS: Final = 3
"""Number of metrics that fit on a line."""

COLUMNS: Final = 8
"""Largest number of values of an axis that have a column."""

_LONGEST_LABEL: Final = 24  # characters of the name of a metric

_EDITS: Final = 3  # number of instruction edits that are named at an iteration; further ones are counted


def history(options: Options, eval_id: str, *, by: str | None, as_json: bool) -> None:
    """Print the series of an eval, oldest first. ``by``: an axis, or several with commas between, for columns."""
    series = read_series(options, eval_id)
    if as_json:
        from sitegen.pages.data.series import series_files

        print_document(series_files(series)[0].content)
    else:
        print_line(*(slice_columns(series, by) if by else history_lines(series)))


def slice_columns(series: Series, axis: str) -> list[str]:
    """Return a line for each iteration: the headline of all answers and of the answers with each value on an axis.

    The values of the newest output come first. Several axes have commas between; their columns are the pairs of values
    that occur. Raises ConfigurationError if the answers of no output differ on one of them.
    """
    from sitegen.analysis.slices import axes_of, headlines_by

    spec, points = series.specs[0], series.points
    axes = dict.fromkeys(name for point in reversed(points) for name in axes_of(point.scorecard))
    wanted = (axis,) if axis in axes else tuple(axis.split(","))
    for unknown in (name for name in wanted if name not in axes):
        raise ConfigurationError(
            f"The answers of no output differ on the axis {line(unknown, 80)!r}.", fix=_nearest(unknown, list(axes))
        )
    heads = [headlines_by(point.scorecard, wanted, spec.name) for point in points]
    values = list(dict.fromkeys(value for of_point in reversed(heads) for value in of_point))
    shown = values[:COLUMNS]
    labels = [line(spec.label, _LONGEST_LABEL), *(line(value, 24) for value in shown)]
    widths = [max(9, len(label)) for label in labels]
    rows = [f"{'iteration':20} {' '.join(f'{label:>{width}}' for label, width in zip(labels, widths, strict=True))}"]
    for point, of_point in zip(points, heads, strict=True):
        numbers = [point.scorecard.metric(spec.name), *map(of_point.get, shown)]
        cells = ("—" if number is None else metric_text(number, spec.unit) for number in numbers)
        columns = " ".join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
        at = point.snapshot
        rows.append(f"{line(at.label, 20):20} {columns}  {_commit_words(at.commit)}")
    if len(values) > len(shown):
        rows.append(f"... and {len(values) - len(shown)} more values: --json has all")
    return rows


def _commit_words(commit: Commit) -> str:
    """Return the date of a commit, in a column, then its id and its subject."""
    return f"{day(commit.committed_at):11}  {commit.short} {line(commit.subject, 60)}"


def history_lines(series: Series) -> list[str]:
    """Return a line for each iteration: metrics, the change of the headline in its own unit, errors, date and commit.

    Lines below it state the verdict with its reason, the instruction edits before the output, a change that has other
    causes than the outputs or does not cover all documents, a stale output, and which iteration an output copies.
    """
    from sitegen.pages.labels import how_copied, iterations_and_outputs

    series = replace(series, specs=series.defined_specs)
    first = series.specs[0].name
    both = any(point.now and point.now.metric(first) != point.scorecard.metric(first) for point in series.points)
    labels = [line(spec.label, _LONGEST_LABEL) for spec in series.specs[:METRICS]]
    if both:
        labels.insert(1, "today")
    labels.insert(1, "95 %")
    widths = [max(14 if label == "95 %" else 9, len(label)) for label in labels]
    heads = " ".join(f"{label:>{width}}" for label, width in zip(labels, widths, strict=True))
    lines = [f"{'iteration':25} {heads} {'change':>9} {'errors':>7}  {'date':11}  commit"]
    for index in range(len(series.points)):
        lines.extend(_point_lines(series, index, widths, both=both))
        if copied := series.copied_label(index):
            lines.append(f"    {how_copied(series.points, index)} {line(copied, 40)}")
    if both:
        lines.append(f"{series.specs[0].label} as judged then; today: by the newest ground truth and rules")
    if series.outputs < series.iterations:
        lines.append(iterations_and_outputs(series.iterations, series.outputs))
    return lines


def _point_lines(series: Series, index: int, widths: Sequence[int], *, both: bool) -> Iterator[str]:
    """Yield the lines of a point; ``both``: with the headline as judged today, too."""
    from sitegen.analysis.slices import averaged
    from sitegen.pages.labels import STALE, STATUSES, changes, signed, span, verdict_word, verdict_words
    from sitegen.stats.counts import errors

    point, before = series.points[index], series.points[index - 1] if index else None
    card, at = point.scorecard, point.snapshot
    spec = series.specs[0]
    values = [(card.metric(column.name), column.unit) for column in series.specs[:METRICS]]
    if both:
        values.insert(1, ((point.now or card).metric(spec.name), spec.unit))
    change = next(iter(changes((spec,), series.info.nouns, before, point) if before else ()), None)
    moved = "" if change is None else signed(change.amount, spec)
    texts = ["—" if value is None else metric_text(value, unit) for value, unit in values]
    texts.insert(1, span(point.interval))
    numbers = " ".join(f"{text:>{width}}" for text, width in zip(texts, widths, strict=True))
    wrong = "—" if series.info.recorded else f"{errors(card.counts):,}"
    label = line(at.label, 16) + ("" if "outputs" in at.cause else " rescored")
    yield f"{label:25} {numbers} {moved:>9} {wrong:>7}  {_commit_words(at.commit)}"
    if card.status != "scored":
        yield f"    {STATUSES[card.status]}"
    if average := averaged(spec, card):
        yield f"    {line(average)}"
    if change and (origin := change.origin(spec)):
        yield f"    change: {line(origin)}"
    if point.change and (verdict := point.change.verdict):
        words = line(verdict_words(verdict, spec, series.info.nouns), 400)
        yield f"    {verdict_word(verdict, spec.higher_is_better)}: {words}"
    named = point.edits[:_EDITS] if index else ()
    for edit in named:
        yield f"    edit: {line(edit.path, 80)} {edit.commit.short} {line(edit.commit.subject, 60)}"
    if more := len(point.edits) - len(named):
        yield f"    {'and ' if named else ''}{counted(more, 'more edit' if named else 'earlier edit')} of instructions"
    if point.stale:
        yield f"    {STALE}"


SHOWN: Final = 40
"""Characters of a value on the terminal; ``--json`` shows 200."""


def blame(options: Options, eval_id: str, field: str, *, document: str | None, as_json: bool) -> None:
    """Print the runs of every cell of a field, newest first."""
    with open_study(options) as study:
        history = study.history(eval_id)
        series = study.series(history)
        blame = Blame(series.cells, history.snapshots, study.scorecards(history).result)
        cells = series.cells.cells
        of_case = [cell for cell in cells if series.cells.cases.get(cell.document) == document]
        blamed = [blame.trace(cell) for cell in matching_cells(of_case or cells, field, None if of_case else document)]
    if as_json:
        print_document(to_json_bytes(blame_document(series, field, blamed)))
    else:
        print_line(*blame_lines(series, blamed))


def matching_cells(cells: Sequence[Cell], field: str, document: str | None) -> list[Cell]:
    """Return the cells whose attribute, path or label is ``field``, else those that it matches with ``*`` and ``?``.

    Raises ConfigurationError with similar names if there are none.
    """
    documents = list(dict.fromkeys(cell.document for cell in cells))
    if document is not None and document not in documents:
        raise ConfigurationError(
            f"No iteration has a document {line(document, 80)!r}.", fix=_nearest(document, documents)
        )
    candidates = [cell for cell in cells if document is None or cell.document == document]
    pattern = re.compile(
        "".join({"*": ".*", "?": "."}.get(character, re.escape(character)) for character in field), re.DOTALL
    )
    named = [(cell, (cell.attribute, cell.path, cell.label, *cell.earlier_attributes)) for cell in candidates]
    for fits in (field.__eq__, pattern.fullmatch):
        if matches := [cell for cell, names in named if any(map(fits, names))]:
            return matches
    shown = dict.fromkeys(name for cell in candidates for name in (cell.attribute, cell.label))
    raise ConfigurationError(f"No iteration has a field {line(field, 80)!r}.", fix=_nearest(field, list(shown)))


def _nearest(name: str, names: Sequence[str]) -> str:
    from difflib import get_close_matches

    names = list(filter(None, names))
    close = [repr(line(other, 80)) for other in get_close_matches(name, names, 5, 0.5) or names[:5]]
    return (
        f"Did you mean {' or '.join(filter(None, (', '.join(close[:-1]), *close[-1:])))}?"
        if close
        else "There is none."
    )


def blame_lines(series: Series, cells: Sequence[CellBlame]) -> Iterator[str]:
    """Yield a line for each cell, followed by a line for each of its runs, the newest first."""
    for number, blame in enumerate(cells):
        cell = blame.cell
        name = line(cell.label, 120) + (" (extra item)" if cell.extra else "")
        document = f", {line(cell.document, 80)}" if cell.document else ""
        flips = f"flipped {counted(blame.flips, 'time')}" if blame.flips else "never flipped"
        several = any(re.match(r'"?\d+ of \d+ answers', explained.period.actual) for explained in blame.periods)
        one, all_of = ("an answer ", "every answer ") if several else ("", "")
        right = f"{all_of}right in {blame.judged - blame.wrong} of {counted(blame.judged, 'output')}, {flips}"
        if blame.wrong_since is not None:
            since = series.points[blame.wrong_since].snapshot.label
            right = f"{one}wrong since {line(since, 40)} ({counted(blame.wrong_for, 'output')}), {right}"
        yield from ("",) if number else ()
        yield f"{name}{document}: {right}"
        for explained in reversed(blame.periods):
            period = explained.period
            at = series.points[period.start].snapshot
            expected = line(period.expected, SHOWN) or "blank"
            actual = line(period.actual, SHOWN) or ("missing" if period.expected else "blank")
            because = " and ".join(ROLES[role] for role in explained.causes)
            state = NO_ERROR.get(period.state) or period.state.replace("_", " ")
            columns = [
                f"  {line(at.label, 20):16} {at.commit.short:8} {day(at.commit.committed_at):11}  {state:13}",
                "" if period.state == "absent" else f"expected {expected}, actual {actual}",
                ": ".join(part for part in ((explained.fate or "").replace("_", " "), because) if part),
                same_output(series.copied_label(period.start)),
            ]
            yield "  ".join(part for part in columns if part).rstrip()


def blame_document(series: Series, field: str, cells: Sequence[CellBlame]) -> dict[str, object]:
    """Return the same as JSON (``sitegen/blame/1``)."""
    blamed: list[dict[str, object]] = []
    for blame in cells:
        since = blame.wrong_since
        runs = []
        for explained in blame.periods:
            period = explained.period
            at = series.points[period.start].snapshot
            runs.append(
                {
                    "from": at.label,
                    "report": at.slug,
                    "commit": at.commit.sha,
                    "committed_at": at.commit.committed_at,
                    "points": explained.points,
                    "outputs": explained.outputs,
                    "same_as": series.copied_label(period.start),
                    "state": period.state,
                    "expected": period.expected or None,
                    "actual": period.actual or None,
                    "became": explained.fate,
                    "causes": list(explained.causes),
                }
            )
        blamed.append(
            {
                "document": blame.cell.document,
                "path": blame.cell.path,
                "attribute": blame.cell.attribute,
                "extra_item": blame.cell.extra,
                "wrong_since": None if since is None else series.points[since].snapshot.label,
                "wrong_for_points": 0 if since is None else len(series.points) - since,
                "wrong_for_outputs": blame.wrong_for,
                "flips": blame.flips,
                "points_judged": sum(period.points for period in blame.periods if period.period.state != "absent"),
                "points_wrong": sum(period.points for period in blame.periods if period.period.is_wrong),
                "outputs_judged": blame.judged,
                "outputs_wrong": blame.wrong,
                "runs": runs,
            }
        )
    return {"schema": "sitegen/blame/1", "eval_id": series.info.id, "field": field, "cells": blamed}
