"""Makes the pages that show all points of one eval, and the eval's record for the pages of the whole site."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import repeat
from typing import Final

from msgspec.structs import replace

from sitegen.analysis.best import best_points, values_now
from sitegen.analysis.blame import Blame
from sitegen.analysis.cached import CacheStore
from sitegen.analysis.deltas import comparable_since, under_rules_of
from sitegen.analysis.effects import peak
from sitegen.analysis.field_summaries import field_summaries
from sitegen.analysis.recorded import recorded_otherwise
from sitegen.analysis.series import headline, problems_of_point, problems_of_points, variant_spread
from sitegen.analysis.standing import since_best
from sitegen.analysis.suspect_truth import suspect_truth
from sitegen.history.fold_state import encode
from sitegen.model.commits import Commit
from sitegen.model.error_summaries import Correction, PatternSummary, SuspectTruth
from sitegen.model.regressions import Step
from sitegen.model.scorecards import Result
from sitegen.model.series import HEADLINES, EvalSummary, Series, Window
from sitegen.model.site import Page, RawFile
from sitegen.model.timeline import Snapshot
from sitegen.pages import links
from sitegen.pages.compare import compare_page
from sitegen.pages.compare_data import compare_data
from sitegen.pages.field import FieldWork, field_page
from sitegen.pages.overview.focus import focus_of
from sitegen.pages.suspect_truth import suspect_truth_page
from sitegen.pages.trend.page import TrendView, trend_page
from sitegen.pages.trend.trend_rows import older_rows
from sitegen.render.environment import Renderer
from sitegen.render.writer import Writer, digest
from sitegen.scoring.kinds import scorer
from sitegen.scoring.mapping_use import MappedColumn, mapping_use
from sitegen.scoring.scorer import ScoringInputs
from sitegen.stages.cached_kinds import CORRECTIONS, EvalRecord
from sitegen.stages.scoring import all_inputs
from sitegen.stages.worker_context import WorkerContext

LOCATED: Final = 25
"""Largest number of suspect labels whose line is looked up: each lookup scores the output a few times."""


def eval_pages(
    series: Series,
    steps: tuple[Step, ...],
    summary: EvalSummary,
    columns: tuple[MappedColumn, ...],
) -> Iterator[Page | RawFile]:
    """Make the pages that every new point changes, and the data files that one of these pages loads.

    ``columns``: the columns of the ground truth, with the fields that they are mapped to.
    """
    trend = trend_page(series, steps, len(summary.suspects), columns, summary.patterns)
    yield trend
    if isinstance(trend.view, TrendView) and (rows := older_rows(trend.view)):
        yield rows
    if summary.suspects:
        yield suspect_truth_page(summary)


def write_comparison(
    writer: Writer, renderer: Renderer, owner: str, series: Series, steps: tuple[Step, ...], page_keys: Sequence[str]
) -> None:
    """Write the page that compares two points and the files that it loads, unless they show no more than before.

    It shows nothing that the reports do not, so their digests ``page_keys`` together decide what it shows.
    """
    path, key = links.compare(series.info.id), digest("comparison", *page_keys)
    if len(series.points) < 2 or writer.are_fresh(owner, path, key):
        return
    data = compare_data(series, steps)
    writer.write(owner, path, renderer.render(compare_page(series, data)), key)
    for piece in data.pieces:
        writer.write(owner, piece.path, piece.content, key)


def write_fields(
    writer: Writer,
    renderer: Renderer,
    owner: str,
    series: Series,
    works: Sequence[FieldWork],
    page_keys: Sequence[str],
    result_of: Callable[[Snapshot], Result],
) -> None:
    """Write the pages of fields with a changed cell.

    ``page_keys``: for each report, the digest of its content; ``result_of``: as for ``Blame``.
    """
    snapshots = series.history.snapshots
    blame: Blame | None = None
    for work in works:
        key = digest(page_keys[work.last], encode(work.cells))
        if not writer.is_fresh(owner, work.path, key):
            blame = blame or Blame(series.cells, snapshots, result_of)
            writer.write(owner, work.path, renderer.render(field_page(series, blame, work)), key)


def suspects_of(
    context: WorkerContext, series: Series, key: Callable[[Snapshot], str], store: CacheStore
) -> tuple[SuspectTruth, ...]:
    """Return the suspect labels at the newest point, with the line of the ground truth that would have to change.

    Lines are cached by everything that decides them. ``key``: the digest of everything that decides a scorecard.
    """
    newest = series.points[-1].snapshot if series.points else None
    truth = newest.ground_truth if newest else None
    if newest is None or truth is None:  # outputs that another tool judged have no labels
        return ()
    suspects = suspect_truth(series.cells, series.points)
    if context.redact:  # a line of the file can hold hidden fields
        return suspects
    snapshots = [under_rules_of(series.points[suspect.first].snapshot, newest) for suspect in suspects[:LOCATED]]
    keys = [
        digest(key(snapshot), repr((truth.path, suspect.document, suspect.path, suspect.expected, suspect.actual)))
        for suspect, snapshot in zip(suspects, snapshots, strict=False)
    ]
    cached = CORRECTIONS.get(store, series.info.id) or {}
    corrections = {inputs_key: cached[inputs_key] for inputs_key in keys if inputs_key in cached}
    missing = [index for index, inputs_key in enumerate(keys) if inputs_key not in corrections]
    score = scorer(series.info.kind).score
    for index, inputs in zip(missing, all_inputs(context, [snapshots[index] for index in missing]), strict=True):
        from sitegen.scoring.truth_correction import corrected_line

        line = corrected_line(score, inputs, suspects[index])
        corrections[keys[index]] = (
            None
            if line is None
            else Correction(path=truth.path, oid=truth.oid, line=line.number, before=line.before, after=line.after)
        )
    if corrections != cached:
        CORRECTIONS.keep(store, series.info.id, corrections)
    located = (
        replace(suspect, correction=corrections[inputs_key])
        for suspect, inputs_key in zip(suspects, keys, strict=False)
    )
    return (*located, *suspects[LOCATED:])


def record_of(
    series: Series,
    made_with: Sequence[Sequence[Commit]],
    windows: tuple[Window, ...],
    steps: tuple[Step, ...],
    suspects: tuple[SuspectTruth, ...],
    patterns: tuple[PatternSummary, ...],
    newest: ScoringInputs | None,
    works: Sequence[FieldWork],
) -> EvalRecord:
    """Reduce a series to the record that pages of the whole site need: a few numbers for each point, and problems.

    ``made_with``: as in ``OutputEdits``; ``newest``: the scoring inputs of the newest point, if it has rules that name
    fields; ``works``: the pages of its fields.
    """
    point = series.points[-1] if series.points else None
    then = [point.scorecard.metric(series.specs[0].name) for point in series.points]
    now = values_now(series.points, series.specs[0].name)
    since = comparable_since([point.scorecard for point in series.points], series.specs[0].name)
    best = peak(series.points, made_with, series.specs[0], series.info.kind)
    summary = EvalSummary(
        info=series.info,
        specs=series.specs[:HEADLINES],
        headlines=tuple(map(headline, series.points, repeat(series.specs), since)),
        deleted=series.history.deleted,
        layout=series.history.layout,
        without_output=series.history.without_output,
        stale=point is not None and point.stale,
        change=point.change if point else None,
        focus=focus_of(series),
        suspects=suspects,
        steps=steps,
        windows=windows,
        peak=best,
        now=() if now == then else tuple(now),
        best=best_points(series.points, series.specs[0], series.info.kind),
        interval=point.interval if point else None,
        metrics=tuple(spec.name for spec in series.specs),
        usage=point.scorecard.usage if point else None,
        recorded_otherwise=recorded_otherwise(point.snapshot, point.scorecard, series.specs[0].name)
        if point and not series.info.recorded
        else None,
        since_best=since_best(series, best.at if best else None),
        iterations=series.iterations,
        outputs=series.outputs,
        spread=variant_spread(series.info.kind, series.specs[0], point.scorecard) if point else None,
        patterns=patterns,
        fields=field_summaries(series),
    )
    problems = [problems_of_point(series.info.id, point.snapshot, point.scorecard) for point in series.points]
    return EvalRecord(
        summary=summary,
        attributes=tuple(sorted(work.attribute for work in works)),
        problems=problems_of_points(problems, deleted=series.history.deleted),
        mapping_use=mapping_use(newest) if newest else None,
    )
