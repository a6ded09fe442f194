"""``sitegen history``: prints the series of an eval."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from sitegen.commands.printing import print_document, print_line
from sitegen.model.series import Point, Series
from sitegen.project import Options
from sitegen.questions.study import read_series
from sitegen.text.plain import line
from sitegen.text.values import metric_text

METRICS: Final = 3
"""Number of metrics that fit on a line."""


def history(repo: Path, eval_id: str, *, rev: str | None, as_json: bool, cache: Path | None) -> None:
    """Print the series of an eval, oldest first."""
    series = read_series(Options(repo=repo, rev=rev, cache=cache), eval_id)
    if as_json:
        from sitegen.pages.data.series import whole_series

        print_document(whole_series(series))
    else:
        for row in history_lines(series):
            print_line(row)


def history_lines(series: Series) -> list[str]:
    """A line for each iteration: its metrics, the change of the headline in its own unit, errors and commit.

    A second line explains a change that has other causes than the outputs or does not cover all documents, and marks a
    stale output. Another one names the iteration that an output is a copy of.
    """
    from sitegen.analysis.series import defined_specs
    from sitegen.pages.labels import how_copied, iterations_and_outputs

    series = replace(series, specs=defined_specs(series))
    first = series.specs[0].name
    both = any(point.now and point.now.metric(first) != point.scorecard.metric(first) for point in series.points)
    labels = [f"{spec.label[:9]:>9}" for spec in series.specs[:METRICS]]
    if both:
        labels.insert(1, f"{'now':>9}")
    labels.insert(1, f"{'95 %':>14}")
    lines = [f"{'iteration':20} {' '.join(labels)} {'change':>8} {'errors':>7}  commit"]
    before: Point | None = None
    for index, point in enumerate(series.points):
        lines.extend(_point_lines(series, before, point, both=both))
        if copied := series.copied_label(index):
            lines.append(f"    {how_copied(series.points, index)} {line(copied, 40)}")
        before = point
    if series.outputs < series.iterations:
        lines.append(iterations_and_outputs(series.iterations, series.outputs))
    return lines


def _point_lines(series: Series, before: Point | None, point: Point, *, both: bool) -> Iterator[str]:
    """Yield the lines of a point; with *both*, the headline by both clocks."""
    from sitegen.analysis.series import variant_spread
    from sitegen.pages.change_text import changes, origin, own_unit, span, verdict_words
    from sitegen.pages.labels import STALE, spread_words
    from sitegen.stats.counts import errors

    card, at = point.scorecard, point.snapshot
    spec = series.specs[0]
    values = [(card.metric(column.name), column.unit) for column in series.specs[:METRICS]]
    if both:
        values.insert(1, ((point.now or card).metric(spec.name), spec.unit))
    change = next(iter(changes((spec,), series.info.nouns, before, point) if before else ()), None)
    moved = "" if change is None else "—" if change.amount is None else own_unit(change.amount, spec)
    numbers = [f"{'—' if value is None else metric_text(value, unit=unit):>9}" for value, unit in values]
    numbers.insert(1, f"{span(point.interval):>14}")
    label = line(at.label, 16) + (" (re-)" if "outputs" not in at.cause else "")
    subject = line(at.commit.subject, 60)
    yield f"{label:20} {' '.join(numbers)} {moved:>8} {errors(card.counts):7,}  {at.commit.short} {subject}"
    if spread := variant_spread(series.info.kind, series.specs[0], card):
        yield f"    {line(spread_words(spread))}"
    if change and (change.note or (change.parts and not change.by_outputs)):
        yield f"    change: {line(origin(change, spec))}"
    if point.change and (verdict := point.change.verdict):
        yield f"    {verdict.decision}: {line(verdict_words(verdict, spec, series.info.nouns), 400)}"
    if point.stale:
        yield f"    {STALE}"
