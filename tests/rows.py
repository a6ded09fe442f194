"""The cases of a test from the table beside its module: the section that is called as the test is."""

import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

from tests.scoring.test_tables import tables

Test = TypeVar("Test", bound=Callable[..., object])


def in_table(test: Test) -> Test:
    """Run a test for each row of its section of ``NAME.md`` beside ``test_NAME.py``; columns are its parameters."""
    module = Path(inspect.getfile(test))
    document = module.with_name(f"{module.stem.removeprefix('test_')}.md").read_text(encoding="utf-8")
    title = test.__name__.removeprefix("test_").replace("_", " ")
    (table,) = tables(document.partition(f"\n## {title}\n")[2].partition("\n## ")[0])
    rows = [tuple(map(value, row.values())) for row in table]
    decorated: Test = pytest.mark.parametrize(tuple(table[0]), rows)(test)
    return decorated


def value(cell: str) -> Any:
    """The JSON value that a cell is; any other cell is the text that it has."""
    try:
        return json.loads(cell)
    except json.JSONDecodeError:
        return cell
