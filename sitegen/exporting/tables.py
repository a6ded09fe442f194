"""The tables of an export: names, columns and how they refer to each other. Form ``sitegen/export/1``.

No name is a keyword of SQL, so that none needs quotes.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple, TypeAlias

from sitegen.model.outcomes import ERROR_TYPES

SCHEMA: Final = "sitegen/export/1"

ColumnType: TypeAlias = Literal["text", "integer", "real", "boolean"]
Cell: TypeAlias = str | float | bool | None
Row: TypeAlias = tuple[Cell, ...]


class ExportColumn(NamedTuple):
    """A column of a table."""

    name: str
    type: ColumnType = "text"
    optional: bool = False
    """May be undefined."""


class Reference(NamedTuple):
    """Columns whose values are a key of another table."""

    columns: tuple[str, ...]
    table: str
    key: tuple[str, ...]


class Table(NamedTuple):
    """A table. Its rows are tuples in the order of its columns."""

    name: str
    columns: tuple[ExportColumn, ...]
    key: tuple[str, ...]
    references: tuple[Reference, ...] = ()


_COUNTS: Final = tuple(ExportColumn(name, "integer") for name in ("tp", "fp", "fn", "tn", *ERROR_TYPES))
_COMMIT: Final = (
    ExportColumn("commit_id"),
    ExportColumn("position", "integer"),
    ExportColumn("committed_at"),
    ExportColumn("author"),
    ExportColumn("subject"),
)
_EVAL: Final = Reference(("eval_id",), "evals", ("eval_id",))
_AT: Final = (ExportColumn("eval_id"), ExportColumn("point", "integer"))
_POINT: Final = Reference(("eval_id", "point"), "points", ("eval_id", "point"))

TABLES: Final = (
    Table("about", (ExportColumn("name"), ExportColumn("value")), ("name",)),
    Table(
        "instructions",
        (
            ExportColumn("edit", "integer"),
            ExportColumn("path"),
            ExportColumn("status"),
            ExportColumn("old_path", optional=True),
            ExportColumn("old_blob", optional=True),
            ExportColumn("new_blob", optional=True),
            *_COMMIT,
        ),
        ("edit",),
    ),
    Table(
        "evals",
        (
            ExportColumn("eval_id"),
            ExportColumn("name"),
            ExportColumn("kind"),
            ExportColumn("description"),
            ExportColumn("headline"),
            ExportColumn("deleted", "boolean"),
        ),
        ("eval_id",),
    ),
    Table(
        name="points",
        columns=(
            *_AT,
            ExportColumn("iteration", "integer"),
            ExportColumn("label"),
            *_COMMIT,
            ExportColumn("recorded_at", optional=True),
            ExportColumn("cause"),
            ExportColumn("status"),
            ExportColumn("stale", "boolean"),
            *_COUNTS,
            ExportColumn("report"),
            ExportColumn("models", optional=True),
            ExportColumn("parameters", optional=True),
            ExportColumn("judges", optional=True),
        ),
        key=("eval_id", "point"),
        references=(_EVAL,),
    ),
    Table(
        name="scores",
        columns=(
            *_AT,
            ExportColumn("metric"),
            ExportColumn("score_then", "real", optional=True),
            ExportColumn("score_now", "real", optional=True),
            ExportColumn("change", "real", optional=True),
            ExportColumn("by_outputs", "real", optional=True),
            ExportColumn("by_ground_truth", "real", optional=True),
            ExportColumn("by_rules", "real", optional=True),
            ExportColumn("interval_low", "real", optional=True),
            ExportColumn("interval_high", "real", optional=True),
        ),
        key=("eval_id", "point", "metric"),
        references=(_POINT,),
    ),
    Table(
        name="fields",
        columns=(*_AT, ExportColumn("attribute"), *_COUNTS),
        key=("eval_id", "point", "attribute"),
        references=(_POINT,),
    ),
    Table(
        name="cells",
        columns=(
            ExportColumn("eval_id"),
            ExportColumn("cell", "integer"),
            ExportColumn("document"),
            ExportColumn("path"),
            ExportColumn("attribute"),
            ExportColumn("extra", "boolean"),
            ExportColumn("from_point", "integer"),
            ExportColumn("to_point", "integer"),
            ExportColumn("state"),
            ExportColumn("expected", optional=True),
            ExportColumn("actual", optional=True),
        ),
        key=("eval_id", "cell", "from_point"),
        references=(
            Reference(("eval_id", "from_point"), "points", ("eval_id", "point")),
            Reference(("eval_id", "to_point"), "points", ("eval_id", "point")),
        ),
    ),
    Table(
        name="point_edits",
        columns=(*_AT, ExportColumn("edit", "integer")),
        key=("eval_id", "point", "edit"),
        references=(_POINT, Reference(("edit",), "instructions", ("edit",))),
    ),
)
"""Every table after those that it refers to."""
