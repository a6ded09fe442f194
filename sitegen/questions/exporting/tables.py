"""The tables of an export (``sitegen/export/1``): names, columns, keys and references.

No name is a keyword of SQL, so that none needs quotes.
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from sitegen.model.frozen import Frozen
from sitegen.model.outcomes import ERROR_TYPES

SCHEMA: Final = "sitegen/export/1"

ExportFormat: TypeAlias = Literal["csv", "sqlite"]
ColumnType: TypeAlias = Literal["text", "integer", "real", "boolean"]
ExportCell: TypeAlias = str | float | bool | None
ExportRow: TypeAlias = tuple[ExportCell, ...]


class ExportColumn(Frozen):
    """A column of a table."""

    name: str
    type: ColumnType = "text"
    optional: bool = False
    """Whether cells may be undefined."""


class Reference(Frozen):
    """Columns whose values are a key of another table."""

    columns: tuple[str, ...]
    table: str
    key: tuple[str, ...]


class Table(Frozen):
    """A table, whose rows are tuples in the order of its columns."""

    name: str
    columns: tuple[ExportColumn, ...]
    key: tuple[str, ...]
    references: tuple[Reference, ...] = ()


def _columns(*names: str, type: ColumnType = "text", optional: bool = False) -> tuple[ExportColumn, ...]:
    return tuple(ExportColumn(name, type, optional) for name in names)


_COUNTS: Final = _columns("tp", "fp", "fn", "tn", *ERROR_TYPES, type="integer")
_COMMIT: Final = (
    *_columns("commit_id"),
    *_columns("position", type="integer"),
    *_columns("committed_at", "author", "subject"),
)
_EVAL: Final = Reference(("eval_id",), "evals", ("eval_id",))
_AT: Final = (*_columns("eval_id"), *_columns("point", type="integer"))
_POINT: Final = Reference(("eval_id", "point"), "points", ("eval_id", "point"))

TABLES: Final = (
    Table("about", _columns("name", "value"), ("name",)),
    Table(
        "instructions",
        (
            *_columns("edit", type="integer"),
            *_columns("path", "status"),
            *_columns("old_path", "old_blob", "new_blob", optional=True),
            *_COMMIT,
        ),
        ("edit",),
    ),
    Table(
        "evals",
        (*_columns("eval_id", "name", "kind", "description", "headline"), *_columns("deleted", type="boolean")),
        ("eval_id",),
    ),
    Table(
        name="points",
        columns=(
            *_AT,
            *_columns("iteration", type="integer"),
            *_columns("label"),
            *_COMMIT,
            *_columns("recorded_at", optional=True),
            *_columns("cause", "status"),
            *_columns("stale", type="boolean"),
            *_COUNTS,
            *_columns("report"),
            *_columns("models", "parameters", "judges", optional=True),
            *_columns("same_as", type="integer", optional=True),
        ),
        key=("eval_id", "point"),
        references=(_EVAL,),
    ),
    Table(
        name="scores",
        columns=(
            *_AT,
            *_columns("metric"),
            *_columns("score_then", "score_now", "change", type="real", optional=True),
            *_columns("by_outputs", "by_ground_truth", "by_rules", type="real", optional=True),
            *_columns("interval_low", "interval_high", type="real", optional=True),
            *_columns("variants_worst", "variants_best", type="real", optional=True),
        ),
        key=("eval_id", "point", "metric"),
        references=(_POINT,),
    ),
    Table(
        name="fields",
        columns=(*_AT, *_columns("attribute"), *_COUNTS),
        key=("eval_id", "point", "attribute"),
        references=(_POINT,),
    ),
    Table(
        name="cells",
        columns=(
            *_columns("eval_id"),
            *_columns("cell", type="integer"),
            *_columns("document", "path", "attribute"),
            *_columns("extra", type="boolean"),
            *_columns("from_point", "to_point", type="integer"),
            *_columns("state"),
            *_columns("expected", "actual", optional=True),
        ),
        key=("eval_id", "cell", "from_point"),
        references=(
            Reference(("eval_id", "from_point"), "points", ("eval_id", "point")),
            Reference(("eval_id", "to_point"), "points", ("eval_id", "point")),
        ),
    ),
    Table(
        name="point_edits",
        columns=(*_AT, *_columns("edit", type="integer")),
        key=("eval_id", "point", "edit"),
        references=(_POINT, Reference(("edit",), "instructions", ("edit",))),
    ),
)
"""A table comes after the tables that it refers to."""
