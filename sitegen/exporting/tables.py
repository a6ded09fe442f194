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


class Column(NamedTuple):
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
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    references: tuple[Reference, ...] = ()


_COUNTS: Final = tuple(Column(name, "integer") for name in ("tp", "fp", "fn", "tn", *ERROR_TYPES))
_COMMIT: Final = (
    Column("commit_id"),
    Column("position", "integer"),
    Column("committed_at"),
    Column("author"),
    Column("subject"),
)
_EVAL: Final = Reference(("eval_id",), "evals", ("eval_id",))
_AT: Final = (Column("eval_id"), Column("point", "integer"))
_POINT: Final = Reference(("eval_id", "point"), "points", ("eval_id", "point"))

TABLES: Final = (
    Table("about", (Column("name"), Column("value")), ("name",)),
    Table(
        "instructions",
        (
            Column("edit", "integer"),
            Column("path"),
            Column("status"),
            Column("old_path", optional=True),
            Column("old_blob", optional=True),
            Column("new_blob", optional=True),
            *_COMMIT,
        ),
        ("edit",),
    ),
    Table(
        "evals",
        (
            Column("eval_id"),
            Column("name"),
            Column("kind"),
            Column("description"),
            Column("headline"),
            Column("deleted", "boolean"),
        ),
        ("eval_id",),
    ),
    Table(
        "points",
        (
            *_AT,
            Column("iteration", "integer"),
            Column("label"),
            *_COMMIT,
            Column("recorded_at", optional=True),
            Column("cause"),
            Column("status"),
            Column("stale", "boolean"),
            *_COUNTS,
            Column("report"),
            Column("models", optional=True),
            Column("parameters", optional=True),
            Column("judges", optional=True),
        ),
        ("eval_id", "point"),
        (_EVAL,),
    ),
    Table(
        "scores",
        (
            *_AT,
            Column("metric"),
            Column("score_then", "real", optional=True),
            Column("score_now", "real", optional=True),
            Column("change", "real", optional=True),
            Column("by_outputs", "real", optional=True),
            Column("by_ground_truth", "real", optional=True),
            Column("by_rules", "real", optional=True),
            Column("interval_low", "real", optional=True),
            Column("interval_high", "real", optional=True),
        ),
        ("eval_id", "point", "metric"),
        (_POINT,),
    ),
    Table("fields", (*_AT, Column("attribute"), *_COUNTS), ("eval_id", "point", "attribute"), (_POINT,)),
    Table(
        "cells",
        (
            Column("eval_id"),
            Column("cell", "integer"),
            Column("document"),
            Column("path"),
            Column("attribute"),
            Column("extra", "boolean"),
            Column("from_point", "integer"),
            Column("to_point", "integer"),
            Column("state"),
            Column("expected", optional=True),
            Column("actual", optional=True),
        ),
        ("eval_id", "cell", "from_point"),
        (
            Reference(("eval_id", "from_point"), "points", ("eval_id", "point")),
            Reference(("eval_id", "to_point"), "points", ("eval_id", "point")),
        ),
    ),
    Table(
        "point_edits",
        (*_AT, Column("edit", "integer")),
        ("eval_id", "point", "edit"),
        (_POINT, Reference(("edit",), "instructions", ("edit",))),
    ),
)
"""Every table after those that it refers to."""
