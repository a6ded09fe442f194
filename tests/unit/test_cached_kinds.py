"""A value that the memo keeps comes back for the inputs that decided it, and goes when it is out of date."""

from itertools import starmap
from math import inf
from pathlib import Path

import pytest

from sitegen.engine import cached_kinds
from sitegen.engine.cached_kinds import (
    CELLS,
    COUNTED_EDITS,
    END_OF_WALK,
    KINDS,
    SCORECARDS,
    VECTORS,
    CachedKind,
    EndOfWalk,
    TaskCache,
    decode,
    encode,
    forget_earlier_walk,
)
from sitegen.engine.memo import CachedRow, Memo, within
from sitegen.engine.writer import INPUTS_OF, digest_of_inputs
from sitegen.model.metrics import MetricSpec

NUMBERS = CachedKind(name="numbers", type=dict[str, int], until="inputs")


def test_a_value_of_another_form_is_none():
    cache = TaskCache([CachedRow("numbers", "key", b'{"one":"two"}'), CachedRow("numbers", "bytes", b"\xff")])
    assert (NUMBERS.get(cache, "key"), NUMBERS.get(cache, "bytes"), NUMBERS.get(cache, "other")) == (None, None, None)
    assert NUMBERS.get(cache, "bytes", ["inputs"]) is None


def test_an_amount_without_an_upper_bound_is_decoded_as_it_was():
    spec = MetricSpec("cost", "Cost", "", high=inf)
    assert decode(encode(spec), MetricSpec) == spec


def test_a_process_gives_back_what_it_added_and_nothing_else():
    cache = TaskCache([CachedRow("vector", "known", b"1")])
    VECTORS.keep(cache, within("caf\udce9", "text"), b"2")
    assert cache.new == (("vector", "caf\\xe9\x1ftext", b"2"),)
    assert VECTORS.get(cache, within("caf\udce9", "text")) == b"2"
    assert VECTORS.get(cache, "known") == b"1"


def test_the_values_of_an_eval_are_those_within_it(tmp_path: Path):
    with Memo.open(tmp_path) as memo:
        VECTORS.keep(memo, within("letters", 3), b"3")
        edits = [("letters", 3), ("letters", 30), ("other", 3)]
        assert [VECTORS.get(memo, within(*edit)) for edit in edits] == [b"3", None, None]
        assert [key for _, key, _ in memo.rows_within(VECTORS.name, "letters")] == [within("letters", 3)]
        assert list(memo.rows_within(VECTORS.name, "letter")) == []


def test_another_walk_forgets_the_last_one_and_what_belongs_to_no_eval_or_file(tmp_path: Path):
    with Memo.open(tmp_path) as memo:
        END_OF_WALK.keep(memo, "", EndOfWalk(head="1", structure="s", revisions=(), listed=()))
        COUNTED_EDITS.keep(memo, "old.md", {})
        COUNTED_EDITS.keep(memo, "new.md", {})
        rows = [
            (SCORECARDS.name, "digest", b"1"),
            (CELLS.name, "gone", b"2"),
            (CELLS.name, "names", b"3"),
            (VECTORS.name, within("gone", "x"), b"4"),
            (VECTORS.name, within("names", "x"), b"5"),
        ]
        memo.put_rows(starmap(CachedRow, rows))
        forget_earlier_walk(memo, ["names"], ["new.md"])
        left = [(kind.name, key) for kind in KINDS for key in memo.keys(kind.name)]
    assert sorted(left) == [
        ("cells", "names"),
        ("counted edits", "new.md"),
        ("scorecard", "digest"),
        ("vector", within("names", "x")),
    ]


def test_every_kind_is_in_the_table_under_a_name_of_its_own():
    declared = [value for value in vars(cached_kinds).values() if isinstance(value, CachedKind)]
    assert declared == list(KINDS)
    assert len({kind.name for kind in KINDS}) == len(KINDS)


@pytest.mark.parametrize(("owner", "page"), [(owner, page) for owner, pages in INPUTS_OF.items() for page in pages])
def test_each_input_of_the_table_decides_the_digest_of_its_page_and_no_other_is_taken(owner: str, page: str):
    inputs = dict.fromkeys(INPUTS_OF[owner][page], "same")
    same = digest_of_inputs(owner, page, **inputs)
    assert digest_of_inputs(owner, page, **dict(reversed(inputs.items()))) == same
    assert (
        len({same, *(digest_of_inputs(owner, page, **inputs | {name: "other"}) for name in inputs)}) == len(inputs) + 1
    )
    for wrong in (inputs | {"clock": "now"}, {}):
        with pytest.raises(ValueError, match="The inputs of"):
            digest_of_inputs(owner, page, **wrong)
