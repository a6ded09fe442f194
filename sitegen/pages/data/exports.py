"""Data files: the same numbers as on the pages, for programs. Full precision, no rounding; undefined is null.

Forms: ``sitegen/index/1``, ``sitegen/series/1`` and ``sitegen/eval-results/1``. A key is never renamed within a form.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from sitegen import __version__, schemas
from sitegen.analysis.deltas import ROLES
from sitegen.analysis.series import variant_spread
from sitegen.frozen import Frozen
from sitegen.model.commits import WORKTREE
from sitegen.model.deltas import Delta
from sitegen.model.error_summaries import PatternSummary
from sitegen.model.kinds import traits_of
from sitegen.model.outcomes import ERROR_TYPES
from sitegen.model.scorecards import Result, Scorecard
from sitegen.model.series import EvalInfo, Series
from sitegen.model.site import RawFile
from sitegen.model.timeline import Edit, Snapshot
from sitegen.pages import links
from sitegen.pages.change_text import flipped
from sitegen.stats.counts import errors_by_type, in_file_order, ratios
from sitegen.text.json_bytes import to_json_bytes
from sitegen.text.plain import spreadsheet_safe

if TYPE_CHECKING:
    from sitegen.pages.data.forms import ErrorPatternData, IndexDocument

_RATIOS: Final = tuple(ratio.name for ratio in in_file_order())
_TEXTS: Final = ("label", "commit", "committed_at", "recorded_at", "subject", "author")
_NUMBERS: Final = ("tp", "fp", "fn", "tn", *_RATIOS)
_FATES: Final = ("fixed", "broken", "still")
_WHY: Final = ("now", *ROLES, "comparable", "common", "stale", *_FATES, "interval_low", "interval_high", "same_as")
"""Columns of the table on the causes and the uncertainty of the headline's change, and on copies."""

_VARIANTS: Final = ("variants_worst", "variants_best")
"""Columns for kinds whose headline averages the variants of a prompt."""


def index_file(
    head: str,
    revision: str,
    evals: tuple[str, ...],
    instructions: tuple[str, ...],
    problems: int,
    patterns: Mapping[str, Sequence[PatternSummary]] = MappingProxyType({}),
) -> RawFile:
    """``data/index.json``: what the site holds. Ids and paths in the order given; ``patterns`` by the eval's id."""
    body: IndexDocument = {
        "schema": "sitegen/index/1",
        "head": head,
        "revision": revision,
        "evals": list(evals),
        "instructions": list(instructions),
        "problems": problems,
        "error_patterns": {eval_id: _patterns_data(of_eval) for eval_id, of_eval in patterns.items()},
    }
    return RawFile(links.index_data(), to_json_bytes(body, indent=None))


def _patterns_data(patterns: Iterable[PatternSummary]) -> list[ErrorPatternData]:
    return [
        {
            "name": pattern.name,
            "errors": pattern.errors,
            "of": pattern.total,
            "fields": pattern.fields,
            "since": pattern.since or None,
            "headline_without": pattern.without,
        }
        for pattern in patterns
    ]


class SeriesData(Frozen):
    """The beginnings of the two data files of a series, up to some point."""

    points: int
    """Number of points in the files, from the first point on."""
    json: bytes
    csv: bytes


def series_data(series: Series, points: int, start: SeriesData | None = None) -> SeriesData:
    """Make the files of the first *points* points. ``start``: the files of fewer points to continue, if available."""
    start = start or _start_of_series(series)
    new_points = [_exported_point(series, index) for index in range(start.points, points)]
    every = [to_json_bytes(point, indent=None).rstrip() for point in new_points]
    comma = b"," if start.points and new_points else b""
    states_usage = _states_usage(series)
    return SeriesData(
        points,
        start.json + comma + b",".join(every),
        start.csv + _csv_bytes([_csv_row(series, point, states_usage=states_usage) for point in new_points]),
    )


class SeriesFiles(NamedTuple):
    """The series of an eval."""

    json: RawFile
    csv: RawFile


def series_files(
    series: Series, start: SeriesData | None = None, patterns: Sequence[PatternSummary] | None = None
) -> SeriesFiles:
    """The data files of an eval.

    ``start``: the beginning of the files, if available. ``patterns``: error patterns of the newest output; None if
    unknown.
    """
    data = series_data(series, len(series.points), start)
    end = (
        b""
        if patterns is None
        else b',"error_patterns":' + to_json_bytes(_patterns_data(patterns), indent=None).rstrip()
    )
    return SeriesFiles(
        json=RawFile(links.series_data(series.info.id), data.json + b"]" + end + b"}\n"),
        csv=RawFile(links.series_csv(series.info.id), data.csv),
    )


def results_json(result: Result, info: EvalInfo, snapshot: Snapshot) -> bytes:
    """The whole result of one snapshot, in the form of its kind: every discrepancy, every pairing, every detail."""
    dirty = snapshot.commit.sha == WORKTREE
    # Imported here, because few reports need it, and it imports the documents of every kind.
    from sitegen.scoring.documents import results_document
    from sitegen.scoring.results_file import Metadata

    metadata = Metadata(
        iteration=snapshot.iteration,
        timestamp=snapshot.recorded_at,
        git_commit=None if dirty else snapshot.commit.sha,
        dirty=dirty,
        sitegen=__version__,
    )
    whole = results_document(info.kind, result, eval_id=info.id, metadata=metadata, thresholds=info.thresholds)
    return to_json_bytes(whole, indent=None)


def _start_of_series(series: Series) -> SeriesData:
    body = {
        "schema": "sitegen/series/1",
        "eval_id": series.info.id,
        "kind": series.history.kind,
        "name": series.info.name,
        "renamed_from": list(series.history.renamed_from),
    }
    json = to_json_bytes(body, indent=None).removesuffix(b"}\n") + b',"points":['
    return SeriesData(0, json, table_head(series))


def _exported_point(series: Series, index: int) -> dict[str, Any]:
    point = series.points[index]
    at, card = point.snapshot, point.scorecard
    spread = variant_spread(series.info.kind, series.specs[0], card)
    counts = flipped(point.flips) if point.flips else None
    return {
        "iteration": at.iteration,
        "label": at.label,
        "commit": at.commit.sha,
        "committed_at": at.commit.committed_at,
        "recorded_at": at.recorded_at,
        "subject": at.commit.subject,
        "author": at.commit.author,
        "cause": list(at.cause),
        "same_as": series.copied_label(index),
        "status": card.status,
        "stale": point.stale,
        "instructions": _changed_instructions(point.edits),
        "then": _clock(card),
        "now": _clock(point.now) if point.now and not series.info.recorded else None,
        "delta": _exported_delta(point.delta, split=not series.info.recorded) if point.delta else None,
        "interval": point.interval and [point.interval.low, point.interval.high],
        **({"variants": asdict(spread)} if spread else {}),
        **({"usage": card.usage._asdict()} if card.usage else {}),
        **{name: counts and getattr(counts, name) for name in _FATES},
        "report": links.report(series.info.id, at.slug),
    }


def _changed_instructions(edits: tuple[Edit, ...]) -> dict[str, str | None]:
    """Files that changed since the previous point: path -> blob id, null if deleted.

    The state at a point is the fold of these over all points up to it.
    """
    state: dict[str, str | None] = {}
    for edit in edits:
        if edit.old is not None and edit.old.path != edit.path:
            state[edit.old.path] = None
        state[edit.path] = edit.new.oid if edit.new else None
    return dict(sorted(state.items()))


def _clock(card: Scorecard) -> dict[str, Any]:
    """The counts and metrics of a scorecard; each point of the series has two of them, then and now."""
    counts = card.counts
    own = {metric.name: metric.value for metric in card.metrics}
    computed = ratios(counts)
    return {
        "tp": counts.tp,
        "fp": counts.fp,
        "fn": counts.fn,
        "tn": counts.tn,
        **{name: own.get(name, computed[name]) for name in _RATIOS},
        "errors": dict(zip(ERROR_TYPES, errors_by_type(counts), strict=True)),
        "metrics": {name: value for name, value in own.items() if name not in _RATIOS},
    }


def _exported_delta(delta: Delta, *, split: bool) -> dict[str, Any]:
    """The change of each metric, null if refused or undefined; the parts name their metric, the headline.

    A changed model or judge is included.
    """
    name, parts = delta.headline.name, delta.headline.parts if split else None
    return {
        **{metric.name: metric.change for metric in delta.metrics},
        "parts": parts and {"metric": name, **parts._asdict()},
        **({"model": {"before": delta.model.before, "after": delta.model.after}} if delta.model else {}),
        **({"judge": delta.judge._asdict()} if delta.judge else {}),
        "comparable": delta.overlap._asdict(),
    }


def table_head(series: Series) -> bytes:
    """The head of the table; the same for every eval of a kind, except for usage columns if an output states usage."""
    measured = (*_NUMBERS, *ERROR_TYPES, *map(spreadsheet_safe, _further_metrics(series)))
    averaged = _VARIANTS if traits_of(series.info.kind).answers_cases else ()
    made_by = ("models", "judges") if _states_usage(series) else ()
    return _csv_bytes(
        [["iteration", *_TEXTS, "cause", "status", *measured, "delta", "report", *_WHY, *averaged, *made_by]]
    )


def _states_usage(series: Series) -> bool:
    return any(point.scorecard.usage for point in series.points)


def _csv_row(series: Series, point: dict[str, Any], *, states_usage: bool) -> list[str]:
    """A point as a line of the table. ``states_usage``: whether any point of the series states usage."""
    headline = series.specs[0].name
    then, delta = point["then"], point["delta"] or {}
    shared, parts = delta.get("comparable") or {}, delta.get("parts") or {}
    row = [
        point["iteration"],
        *(point[name] for name in _TEXTS),
        " ".join(point["cause"]),
        point["status"],
        *(then[name] for name in _NUMBERS),
        *(then["errors"][name] for name in ERROR_TYPES),
        *(then["metrics"].get(name) for name in _further_metrics(series)),
        delta.get(headline),
        point["report"],
        point["now"] and {**point["now"]["metrics"], **point["now"]}.get(headline),
        *(parts.get(role) for role in ROLES),
        shared.get("verdict"),
        shared.get("common"),
        "yes" if point["stale"] else "no",
        *(point[name] for name in _FATES),
        *(point["interval"] or (None, None)),
        point["same_as"],
    ]
    if traits_of(series.info.kind).answers_cases:
        row += (point.get("variants", {}).get(end) for end in ("worst", "best"))
    if states_usage:
        usage = point.get("usage", {})
        row += (", ".join(usage.get(name, ())) for name in ("models", "judges"))
    return [spreadsheet_safe(cell) for cell in row]


def _further_metrics(series: Series) -> list[str]:
    """The metrics that the kind has besides the ratios."""
    return [spec.name for spec in series.specs if spec.name not in _RATIOS]


def _csv_bytes(rows: Iterable[Sequence[str]]) -> bytes:
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue().encode("utf-8", "backslashreplace")


def schema_files() -> Iterator[RawFile]:
    """Every schema, as it ships with sitegen."""
    for name in schemas.TITLES:
        yield RawFile(links.schema(schemas.file_name(name)), schemas.content(name))
