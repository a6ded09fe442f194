"""The series of an eval as data files: all numbers of its points, as JSON and as a table. Undefined is null.

The form is ``sitegen/series/1``. A key is never renamed within a form.
"""

import csv
import io
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Any, Final

from msgspec.structs import asdict

from sitegen.analysis.flips import number_of_cells
from sitegen.analysis.slices import axes_of, headlines_by
from sitegen.model.changes import Change
from sitegen.model.outcomes import ERROR_TYPES
from sitegen.model.scorecards import Scorecard
from sitegen.model.series import PatternSummary, Series
from sitegen.model.site import RawFile
from sitegen.model.timeline import ROLES, Edit
from sitegen.pages import links
from sitegen.pages.data.exports import patterns_data
from sitegen.pages.labels import verdict_words
from sitegen.stats.counts import CELLS, cells, errors_by_type, in_file_order, ratios
from sitegen.text.plain import spreadsheet_safe
from sitegen.text.values import to_json_bytes

_RATIOS: Final = tuple(ratio.name for ratio in in_file_order())
_TEXTS: Final = ("label", "commit", "committed_at", "recorded_at", "subject", "author")
_NUMBERS: Final = (*CELLS, *_RATIOS)
_FATES: Final = ("fixed", "broken", "still")
_WHY: Final = ("now", *ROLES, "comparable", "common", "stale", *_FATES, "interval_low", "interval_high", "same_as")
"""Columns of the table on the causes and the uncertainty of the headline's change, and on copies."""


def series_files(series: Series, patterns: Sequence[PatternSummary] | None = None) -> tuple[RawFile, RawFile]:
    """All points of an eval, JSON and CSV. ``patterns``: error patterns of the newest output; None if unknown."""
    points = [_exported_point(series, index) for index in range(len(series.points))]
    head = {
        "schema": "sitegen/series/1",
        "eval_id": series.info.id,
        "kind": series.history.kind,
        "name": series.info.name,
        "renamed_from": list(series.history.renamed_from),
        "points": points,
        **({} if patterns is None else {"error_patterns": patterns_data(patterns)}),
    }
    return (
        RawFile(links.series_data(series.info.id), to_json_bytes(head, indent=None)),
        csv_file(links.series_csv(series.info.id), _table(series, points)),
    )


def csv_file(path: str, rows: Iterable[Sequence[Any]]) -> RawFile:
    """A table, the heads of its columns first, in which no cell runs as a formula."""
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\n").writerows(map(spreadsheet_safe, row) for row in rows)
    return RawFile(path, out.getvalue().encode("utf-8", "backslashreplace"))


def _exported_point(series: Series, index: int) -> dict[str, Any]:
    point = series.points[index]
    at, card = point.snapshot, point.scorecard
    flips = point.change.flips if point.change and not series.info.recorded else None
    slices = {axis: headlines_by(card, (axis,), series.specs[0].name) for axis in axes_of(card)}
    same = series.info.uncounted
    then = _clock(card, same)
    now = point.now if not series.info.recorded else None
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
        "then": then,
        "now": then if now is card else now and _clock(now, same),
        "delta": _exported_delta(point.change, series) if point.change else None,
        "interval": point.interval and [point.interval.low, point.interval.high],
        **({"usage": asdict(card.usage)} if card.usage else {}),
        **({"slices": slices} if slices else {}),
        **{name: flips and number_of_cells(getattr(flips, name)) for name in _FATES},
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
    return {path: state[path] for path in sorted(state)}


def _clock(card: Scorecard, same: Container[str]) -> dict[str, Any]:
    """The counts and metrics of a scorecard, then or now, without those that are the ``same`` number as another one."""
    counts = card.counts
    own = {metric.name: metric.value for metric in card.metrics}
    return {
        **cells(counts, same),
        **{name: value if name in same else own.get(name, value) for name, value in ratios(counts, same).items()},
        "errors": {} if "tp" in same else errors_by_type(counts),
        "metrics": {name: value for name, value in own.items() if name not in _RATIOS and name not in same},
    }


def _exported_delta(delta: Change, series: Series) -> dict[str, Any]:
    """The change of each metric, null if refused or undefined; the parts name their metric, the headline.

    A changed model or judge is included, and the verdict on a change of the output as pages say it.
    """
    name, parts = delta.headline.name, None if series.info.recorded else delta.headline.parts
    words = verdict_words(delta.verdict, series.specs[0], series.info.nouns) if delta.verdict else ""
    return {
        **{metric.name: metric.change for metric in delta.metrics},
        "parts": parts and {"metric": name, **asdict(parts)},
        **({"model": {"before": delta.model.before, "after": delta.model.after}} if delta.model else {}),
        **({"judge": asdict(delta.judge)} if delta.judge else {}),
        "comparable": {"verdict": delta.overlap.verdict, **delta.overlap._asdict()},
        **({"verdict": {"decision": delta.verdict.decision, "words": words}} if delta.verdict else {}),
    }


def _table(series: Series, points: Iterable[dict[str, Any]]) -> Iterator[Sequence[str]]:
    """A line for each point. Evals of a kind have the same columns, but for usage columns if an output states usage."""
    states_usage = any(point.scorecard.usage for point in series.points)
    further = [spec.name for spec in series.specs if spec.name not in _RATIOS]
    head = ["iteration", *_TEXTS, "cause", "status", *_NUMBERS, *ERROR_TYPES, *further]
    head += ["delta", "report", *_WHY, *("models", "judges") * states_usage]
    yield head
    for point in points:
        then, delta = point["then"], point["delta"] or {}
        shared, parts = delta.get("comparable") or {}, delta.get("parts") or {}
        row = [
            point["iteration"],
            *(point[name] for name in _TEXTS),
            " ".join(point["cause"]),
            point["status"],
            *(then[name] for name in _NUMBERS),
            *(then["errors"].get(name) for name in ERROR_TYPES),
            *(then["metrics"].get(name) for name in further),
            delta.get(series.specs[0].name),
            point["report"],
            point["now"] and {**point["now"]["metrics"], **point["now"]}.get(series.specs[0].name),
            *(parts.get(role) for role in ROLES),
            shared.get("verdict"),
            shared.get("common"),
            "yes" if point["stale"] else "no",
            *(point[name] for name in _FATES),
            *(point["interval"] or (None, None)),
            point["same_as"],
        ]
        of_usage = ("models", "judges") * states_usage
        yield [*row, *(", ".join(point.get("usage", {}).get(name, ())) for name in of_usage)]
