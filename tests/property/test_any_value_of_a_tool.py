"""Whatever value stands anywhere in a file that a tool wrote: it is read, and a wrong value of a row is lost alone."""

import json
from codecs import BOM_UTF8
from collections.abc import Iterator
from contextlib import suppress
from functools import reduce
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sitegen.data_files.reading import UnreadableError
from sitegen.importers import read_results
from tests.scored import scored

FIXTURES: Final = Path(__file__).parents[1] / "importers/fixtures"
FILES: Final = sorted(
    path for path in FIXTURES.rglob("*.json*") if path.name not in ("totals.json", "lm-eval-results.json")
)
PRESETS: Final = ("langsmith", "mlflow", "ragas")
ODD: Final[st.SearchStrategy[Any]] = st.sampled_from(
    (
        *(None, True, False, 0, -1, 0.5, 1e308, 10**40, float("nan"), "", "nan", "\ud800", "x" * 300),
        *([], [[]], [None], [1], ["a", "b"], [{"name": "x"}], {}, {"a": 1}, {"score": None}, {"id": []}),
    )
)


LEFT_OUT: Final = object()
"""In the place of an element of a list."""


def places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, below in inner:
        yield from places(below, (*path, key))


def changed(value: Any, path: tuple[str | int, ...], to: Any) -> Any:
    if not path:
        return to
    key, *rest = path
    if isinstance(value, dict):
        return {**value, key: changed(value[key], tuple(rest), to)}
    assert isinstance(key, int)
    there = changed(value[key], tuple(rest), to)
    return [*value[:key], *(() if there is LEFT_OUT else (there,)), *value[key + 1 :]]


def rows_of(path: Path) -> list[Any]:
    """The lines of a file, or its one value."""
    content = path.read_text("utf-8")
    return list(map(json.loads, content.splitlines())) if path.suffix == ".jsonl" else [json.loads(content)]


ROWS: Final = {path: rows_of(path) for path in FILES}
PLACES: Final = {path: [place for place in places(rows) if place] for path, rows in ROWS.items()}


@settings(max_examples=300)
@given(st.sampled_from(FILES).flatmap(lambda path: st.tuples(st.just(path), st.sampled_from(PLACES[path]))), ODD)
def test_any_value_at_any_place_is_read_or_refused_and_takes_no_other_case_along(where, odd):
    path, place = where
    preset = next((preset for preset in PRESETS if path.name.startswith(preset)), None)
    stated = json.dumps({"preset": preset} if preset else {})
    content = "\n".join(map(json.dumps, changed(ROWS[path], place, odd))).encode()
    result = scored("judged", {path.name: content}, settings=stated)
    assert result.scorecard.status in ("scored", "unreadable")
    try:
        cases = read_results(path.name, content, stated).cases
    except UnreadableError:
        return
    lists = [at for at in range(len(place)) if isinstance(place[at], int)]
    if len(lists) > 1 or (lists and path.suffix == ".jsonl"):  # it is within a row of a list, or is one
        least = number_of_cases(path, ROWS[path], stated) - 1
        rows: Any = ROWS[path]
        there = reduce(lambda inner, key: inner[key], place, rows)
        if isinstance(place[-1], int) or isinstance(there, list):  # may be a group of cases, which are lost with it
            without = changed(rows, place, LEFT_OUT if isinstance(place[-1], int) else [])
            least = min(least, number_of_cases(path, without, stated))
        assert len(cases) >= least


def number_of_cases(path: Path, rows: list[Any], stated: str) -> int:
    """Return the number of cases of a file with these lines, or this one value; 0 if it is refused."""
    with suppress(UnreadableError):
        return len(read_results(path.name, "\n".join(map(json.dumps, rows)).encode(), stated).cases)
    return 0


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_byte_order_mark_changes_nothing(path):
    preset = next((preset for preset in PRESETS if path.name.startswith(preset)), None)
    stated = json.dumps({"preset": preset} if preset else {})
    content = path.read_bytes()
    with_mark, without = (
        scored("judged", {path.name: each}, settings=stated) for each in (BOM_UTF8 + content, content)
    )
    assert with_mark == without
