"""What commands refuse, as ``tests/unit/refusals.md`` states it."""

from pathlib import Path

import pytest

from tests.scoring.test_tables import tables

_TABLES = tables((Path(__file__).parent / "unit" / "refusals.md").read_text(encoding="utf-8"))


def refusals(number: int) -> pytest.MarkDecorator:
    """Give each row of a table to a test, as the arguments of a command and what it prints."""
    rows = [(row["arguments"], _printed(row)) for row in _TABLES[number]]
    return pytest.mark.parametrize(("arguments", "printed"), rows, ids=[arguments for arguments, _ in rows])


def _printed(row: dict[str, str]) -> str:
    place = f"  at: {row['at']}\n" if row["at"] else ""
    return f"sitegen: {row['said']}\n{place}  do: {row['do']}\n"
