"""Redaction, whatever the documents: no hidden value is anywhere in a result, and no number of it changes."""

import json
from itertools import count
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from sitegen.model.scorecards import Result
from sitegen.scoring.fields import FieldsScorer
from sitegen.scoring.kinds import File, ScoringInputs
from sitegen.scoring.redaction import Redaction

HIDDEN = "hidden"
MAPPING = b"lists:\n  items: {match_fields: [hidden], threshold: 0.5}\n"

leaves = st.one_of(st.integers(0, 9), st.sampled_from(["", "a", "b", "a b c"]), st.none(), st.booleans())
keys = st.sampled_from(["items", "plain", "other", HIDDEN])
values = st.recursive(
    leaves, lambda below: st.one_of(st.dictionaries(keys, below, max_size=3), st.lists(below, max_size=3)), max_leaves=8
)
items = st.lists(st.fixed_dictionaries({HIDDEN: st.integers(0, 9), "plain": leaves}), max_size=3)
documents = st.one_of(
    st.dictionaries(keys, values, max_size=4), st.fixed_dictionaries({"items": items}, optional={"other": values})
)
globs = st.sampled_from([(HIDDEN,), (HIDDEN, "nothing.*"), (f"*.{HIDDEN}", HIDDEN)])


def marked(value: Any, side: str, numbers: Any, *, hidden: bool = False) -> Any:
    """The same shape, with a text of its own wherever a hidden value stands."""
    if isinstance(value, dict):
        return {key: marked(each, side, numbers, hidden=hidden or key == HIDDEN) for key, each in value.items()}
    if isinstance(value, list):
        return [marked(each, side, numbers, hidden=hidden) for each in value]
    # Some of them equal on both sides, so that some are correct and list items find each other.
    return (
        f"SECRET {next(numbers) % 3}{side if isinstance(value, int) else ''}" if hidden and value is not None else value
    )


def scored(truth: Any, output: Any, mapping: bytes | None) -> Result:
    files = (File("t.json", json.dumps(truth).encode()), File("o.json", json.dumps(output).encode()))
    rules = None if mapping is None else File("m.yaml", mapping)
    return FieldsScorer().score(ScoringInputs(outputs=(files[1],), ground_truth=files[0], mapping=rules))


@settings(max_examples=200)
@given(documents, documents, globs, st.sampled_from([None, MAPPING]))
def test_no_hidden_value_is_left_anywhere_and_no_number_changes(truth, output, hidden, mapping):
    numbers = count()
    result = scored(marked(truth, "t", numbers), marked(output, "o", numbers), mapping)
    left = Redaction(hidden).applied(result)
    assert "SECRET" not in repr(left)
    assert replace(left.scorecard, findings=()) == replace(result.scorecard, findings=())
    assert [one.outcome for one in left.judgements] == [one.outcome for one in result.judgements]
    assert [[row[:4] for row in panel.rows] for panel in left.alignments] == [
        [row[:4] for row in panel.rows] for panel in result.alignments
    ]


@settings(max_examples=50)
@given(documents, documents, globs)
def test_to_redact_twice_is_to_redact_once(truth, output, hidden):
    once = Redaction(hidden).applied(scored(truth, output, None))
    assert Redaction(hidden).applied(once) == once


@settings(max_examples=50)
@given(documents, documents)
def test_what_fits_no_glob_stays(truth, output):
    result = scored(truth, output, None)
    without_names = tuple(replace(each, named_path="") for each in result.judgements)
    assert Redaction(("elsewhere.*",)).applied(result).judgements == without_names
