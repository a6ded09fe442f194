"""Data files: the same numbers as on the pages, for programs. Full precision, no rounding; undefined is null.

Forms: ``sitegen/index/1``, ``sitegen/series/1`` and ``sitegen/eval-results/1``. A key is never renamed within a form.
"""

from __future__ import annotations

import csv
import io
from typing import Any, Final

from sitegen import __version__
from sitegen.model.commits import WORKTREE
from sitegen.model.metrics import Counts
from sitegen.model.outcomes import ERROR_TYPES
from sitegen.model.scorecards import Result, Scorecard
from sitegen.model.series import EvalInfo, Point, Series
from sitegen.model.site import RawFile
from sitegen.model.timeline import Edit, Snapshot
from sitegen.pages import links
from sitegen.pages.tallies import errors_by_type
from sitegen.stats import counts as sums

_RATIOS: Final = ("precision", "recall", "f1")
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")


def index_file(
    head: str, revision: str, evals: tuple[str, ...], instructions: tuple[str, ...], problems: int
) -> RawFile:
    """``data/index.json``: what the site holds. Ids and paths in the order given."""
    body = {
        "schema": "sitegen/index/1",
        "head": head,
        "revision": revision,
        "evals": list(evals),
        "instructions": list(instructions),
        "problems": problems,
    }
    return RawFile(links.index_data(), _json(body))


def series_files(series: Series) -> tuple[RawFile, RawFile]:
    """The series of an eval as JSON and as CSV."""
    info, history = series.info, series.history
    points = [_point(series, index) for index in range(len(series.points))]
    body = {
        "schema": "sitegen/series/1",
        "eval_id": info.id,
        "kind": history.kind,
        "name": info.name,
        "renamed_from": list(history.renamed_from),
        "points": points,
    }
    return (
        RawFile(links.series_data(info.id), _json(body)),
        RawFile(links.series_csv(info.id), _csv(series, points)),
    )


def results_json(result: Result, info: EvalInfo, snapshot: Snapshot) -> bytes:
    """The whole result of one snapshot, in the form of its kind: every discrepancy, every pairing, every detail."""
    dirty = snapshot.commit.sha == WORKTREE
    # Few reports are so long that they need it, and it brings the documents of every kind.
    from sitegen.analysis.documents import document
    from sitegen.scoring.results_file import Metadata, to_json_bytes

    metadata = Metadata(
        iteration=snapshot.iteration,
        timestamp=snapshot.recorded_at,
        git_commit=None if dirty else snapshot.commit.sha,
        dirty=dirty,
        sitegen=__version__,
    )
    whole = document(info.kind, result, eval_id=info.id, metadata=metadata, thresholds=info.thresholds)
    return to_json_bytes(whole, indent=None)


def _point(series: Series, index: int) -> dict[str, Any]:
    point = series.points[index]
    at, card = point.snapshot, point.scorecard
    return {
        "iteration": at.iteration,
        "label": at.label,
        "commit": at.commit.sha,
        "committed_at": at.commit.committed_at,
        "recorded_at": at.recorded_at,
        "subject": at.commit.subject,
        "author": at.commit.author,
        "cause": list(at.cause),
        "status": card.status,
        "stale": False,
        "instructions": _instructions(point.edits),
        "then": _then(card),
        "now": None,
        "delta": _delta(series.points[index - 1], point) if index else None,
        "report": links.report(series.info.id, at.slug),
    }


def _instructions(edits: tuple[Edit, ...]) -> dict[str, str | None]:
    """Files that changed since the previous point: path -> blob id, null if deleted.

    The state at a point is the fold of these over all points up to it.
    """
    state: dict[str, str | None] = {}
    for edit in edits:
        if edit.old is not None and edit.old.path != edit.path:
            state[edit.old.path] = None
        state[edit.path] = edit.new.oid if edit.new else None
    return dict(sorted(state.items()))


def _then(card: Scorecard) -> dict[str, Any]:
    counts = card.counts
    own = {metric.name: metric.value for metric in card.metrics}
    computed = {"precision": sums.precision(counts), "recall": sums.recall(counts), "f1": sums.f1(counts)}
    return {
        "tp": counts.tp,
        "fp": counts.fp,
        "fn": counts.fn,
        "tn": counts.tn,
        **{name: own.get(name, computed[name]) for name in _RATIOS},
        "errors": _errors(counts),
        "metrics": {name: value for name, value in own.items() if name not in _RATIOS},
    }


def _delta(before: Point, after: Point) -> dict[str, Any]:
    """The change of each metric; null unless it is defined on both sides."""
    changes: dict[str, Any] = {}
    for name, value in after.scorecard.metrics:
        earlier = before.scorecard.metric(name)
        changes[name] = None if value is None or earlier is None else value - earlier
    return {**changes, "parts": None}


def _csv(series: Series, points: list[dict[str, Any]]) -> bytes:
    """The points as a table, one a line; the columns of every eval of a kind are the same."""
    more = [spec.name for spec in series.specs if spec.name not in _RATIOS]
    texts = ("label", "commit", "committed_at", "recorded_at", "subject", "author")
    numbers = ("tp", "fp", "fn", "tn", *_RATIOS)
    out = io.StringIO(newline="")
    table = csv.writer(out, lineterminator="\n")
    table.writerow(["iteration", *texts, "cause", "status", *numbers, *ERROR_TYPES, *more, "delta", "report"])
    for point in points:
        then, delta = point["then"], point["delta"]
        table.writerow(
            [
                point["iteration"],
                *(_cell(point[name]) for name in texts),
                " ".join(point["cause"]),
                point["status"],
                *(_cell(then[name]) for name in numbers),
                *(then["errors"][name] for name in ERROR_TYPES),
                *(_cell(then["metrics"].get(name)) for name in more),
                _cell(delta.get(series.specs[0].name) if delta else None),
                point["report"],
            ]
        )
    return out.getvalue().encode("utf-8", "backslashreplace")


def _cell(value: str | float | None) -> str:
    """Empty if undefined. A text that a spreadsheet would run as a formula gets an apostrophe in front."""
    if value is None:
        return ""
    if isinstance(value, str):
        return f"'{value}" if value.startswith(_FORMULA) else value
    return repr(value)


def _errors(counts: Counts) -> dict[str, int]:
    return dict(zip(ERROR_TYPES, errors_by_type(counts), strict=True))


def _json(body: Any) -> bytes:
    """UTF-8 JSON, keys in the order given, Decimals with their own digits."""
    import msgspec

    encoder = msgspec.json.Encoder(decimal_format="number")
    try:
        return encoder.encode(body) + b"\n"
    except UnicodeEncodeError:  # a path or a value holds bytes that are no UTF-8
        return encoder.encode(_printable(body)) + b"\n"


def _printable(body: Any) -> Any:
    if isinstance(body, str):
        return body.encode("utf-8", "backslashreplace").decode()
    if isinstance(body, list | tuple):
        return [_printable(item) for item in body]
    if isinstance(body, dict):
        return {_printable(key): _printable(item) for key, item in body.items()}
    return body
