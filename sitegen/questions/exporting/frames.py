"""Histories, judgements and exports as pandas tables. No other module imports pandas.

Undefined numbers are NaN. Values of outputs and of the ground truth stay as they were read, with Decimals for numbers
that have a fraction.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from sitegen.model.metrics import Counts
from sitegen.model.outcomes import ERROR_TYPES, Judgement
from sitegen.model.series import Point, Series
from sitegen.stats.counts import in_file_order, ratios
from sitegen.text.plain import encodable
from sitegen.text.values import json_value

if TYPE_CHECKING:
    from pandas import DataFrame as DataFrame

_COUNTS: Final = ("tp", "fp", "fn", "tn", *ERROR_TYPES)
_RATIOS: Final = tuple(ratio.name for ratio in in_file_order())


def points(series: Series) -> DataFrame:
    """One row for each point, oldest first, with its commit, the metrics of the eval's kind, and counts.

    Columns: ``iteration``, ``label``, ``commit``, ``committed_at`` (UTC), ``author``, ``subject``, ``cause``,
    ``same_as`` (label of the iteration that the output is a copy of), ``status``, ``edits`` (number of instruction
    edits since the previous point), each metric under its name, ``tp``, ``fp``, ``fn``, ``tn`` and the four error
    types.
    """
    metrics = [spec.name for spec in series.specs]
    rows = [_point_record(series, index, metrics) for index in range(len(series.points))]
    texts = ("label", "commit", "author", "subject", "cause", "same_as", "status")
    columns = ("iteration", "label", "commit", "committed_at", *texts[2:], "edits", *metrics, *_COUNTS)
    return _with_moments(
        _typed_table(rows, columns, texts=texts, whole=("iteration", "edits", *_COUNTS), numbers=metrics)
    )


def fields(series: Series) -> DataFrame:
    """One row for each point and attribute, oldest point first, attributes in the order of the ground truth.

    Columns: ``iteration``, ``label``, ``commit``, ``committed_at`` (UTC), ``attribute``, the ratios
    ``precision``, ``recall`` and ``f1``, ``tp``, ``fp``, ``fn``, ``tn`` and the four error types.
    """
    rows = [
        {
            **_place_of_point(point),
            "attribute": encodable(field.attribute),
            **ratios(field.counts),
            **_counts_by_name(field.counts),
        }
        for point in series.points
        for field in point.scorecard.fields
    ]
    columns = ("iteration", "label", "commit", "committed_at", "attribute", *_RATIOS, *_COUNTS)
    return _with_moments(
        _typed_table(
            rows, columns, texts=("label", "commit", "attribute"), whole=("iteration", *_COUNTS), numbers=_RATIOS
        )
    )


def judgements(judgements: Iterable[Judgement]) -> DataFrame:
    """One row for each judgement.

    Columns: ``document``, ``path``, ``attribute``, ``outcome``, ``expected``, ``actual`` (Python values, None for a
    missing value) and ``note``.
    """
    texts = ("document", "path", "attribute", "outcome", "note")
    rows = [
        {
            **{name: encodable(getattr(judgement, name)) for name in texts},
            "expected": json_value(judgement.expected),
            "actual": json_value(judgement.actual),
        }
        for judgement in judgements
    ]
    return _typed_table(rows, Judgement.__struct_fields__, texts=texts)


def rows_of(columns: Sequence[str], rows: Iterable[Iterable[object]]) -> DataFrame:
    """Rows of an export, with their cells as they are."""
    import pandas

    return pandas.DataFrame(rows, columns=list(columns), dtype=object)


def _point_record(series: Series, index: int, metrics: Sequence[str]) -> dict[str, Any]:
    point = series.points[index]
    at, card = point.snapshot, point.scorecard
    return {
        **_place_of_point(point),
        "author": encodable(at.commit.author),
        "subject": encodable(at.commit.subject),
        "cause": " ".join(at.cause),
        "same_as": series.copied_label(index),
        "status": card.status,
        "edits": len(point.edits),
        **{name: card.metric(name) for name in metrics},
        **_counts_by_name(card.counts),
    }


def _place_of_point(point: Point) -> dict[str, Any]:
    at = point.snapshot
    return {
        "iteration": at.iteration,
        "label": encodable(at.label),
        "commit": at.commit.sha,
        "committed_at": at.commit.committed_at,
    }


def _counts_by_name(counts: Counts) -> dict[str, int]:
    return {name: getattr(counts, name) for name in _COUNTS}


def _typed_table(
    rows: Sequence[dict[str, Any]],
    columns: Sequence[str],
    *,
    texts: Sequence[str],
    whole: Sequence[str] = (),
    numbers: Sequence[str] = (),
) -> DataFrame:
    """A table whose column types do not depend on its rows. Columns of other types hold Python objects."""
    import pandas

    table = pandas.DataFrame(rows, columns=list(columns), dtype=object)
    kinds = [(texts, "str"), (whole, "int64"), (numbers, "float64")]
    return table.astype({name: kind for names, kind in kinds for name in names})


def _with_moments(table: DataFrame) -> DataFrame:
    """The table with texts of ``committed_at`` parsed; dates that do not exist become missing."""
    import pandas

    moments = pandas.to_datetime(table["committed_at"], utc=True, format="ISO8601", errors="coerce")
    return table.assign(committed_at=moments)
