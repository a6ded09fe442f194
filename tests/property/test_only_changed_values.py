"""Only changed values are judged again, and an output gets the result that it gets alone.

The scorer keeps what it judged of the last output, and some ground truths with their rules. Each example below changes
the one thing that a comparison of the old and the new must not leave out.
"""

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sitegen.scoring.fields import FieldsScorer
from sitegen.scoring.kinds import File, ScoringInputs
from tests.property.test_scoring_laws import FLAT, ITEMS, KEYS, SCALARS, TREES, score

FIELDS = st.dictionaries(
    st.sampled_from(["a", "b.c", "l[*].n", "l[*].name"]),
    st.sampled_from([{"absolute": 2}, {"type": "numeric"}, {"coerce": True}]),
    max_size=2,
)
LISTS = st.dictionaries(
    st.sampled_from(["l", "x", "b.x"]),
    st.fixed_dictionaries(
        {},
        optional={
            "match_fields": st.sampled_from([["n"], ["name"]]),
            "score_fields": st.sampled_from([["n"], ["name"]]),
            "algorithm": st.sampled_from(["greedy", "hungarian", "position"]),
            "threshold": st.sampled_from([0.1, 0.9]),
        },
    ),
    max_size=2,
)
WORDS = st.lists(st.sampled_from(["x", "a", "1"]), max_size=1)
RULES = st.one_of(
    *(
        st.tuples(st.just("rule"), st.just(name), values)
        for name, values in {
            "convention": st.sampled_from(["standard", "omissions_only"]),
            "coerce": st.booleans(),
            "equality": st.sampled_from(["tolerant", "strict"]),
            "extra_fields": st.sampled_from(["count", "ignore"]),
            "field_types": st.sampled_from([{}, {"string": ["a"]}, {"numeric": ["n"]}]),
            "fields": FIELDS,
            "ignore": st.lists(st.sampled_from(["b.*", "b.d", "l[*].n", "x", "c"]), max_size=1),
            "lists": LISTS,
            "null_values": WORDS,
            "true_values": WORDS,
            "false_values": WORDS,
            "tolerances": st.sampled_from([{}, {"default": {"absolute": 2}}]),
        }.items()
    )
)
"""Each change sets one entry, so that two rules often differ in it alone."""
PLACES = st.integers(0, 3)
CHANGES = st.one_of(
    st.tuples(st.just("set"), KEYS, st.one_of(SCALARS, FLAT, ITEMS, st.lists(SCALARS, max_size=3))),
    st.tuples(st.just("remove"), KEYS, st.none()),
    st.tuples(st.just("item"), PLACES, st.one_of(SCALARS, FLAT)),
    st.tuples(st.just("name"), PLACES, st.sampled_from("abc")),
    st.tuples(st.just("expected item"), PLACES, st.one_of(SCALARS, FLAT)),
    st.tuples(st.just("expected name"), PLACES, st.sampled_from("abc")),
    st.tuples(st.just("expected member"), PLACES, st.sampled_from(["m", "n"])),
    st.tuples(st.just("turn round"), st.none(), st.none()),
    st.tuples(st.just("back"), st.integers(0, 5), st.none()),
    st.tuples(st.just("text"), st.sampled_from(["{", "", "[1]", '{"a": 1.0}', '{"a": true}', '{"a": 1}']), st.none()),
    st.tuples(st.just("truth"), KEYS, st.one_of(SCALARS, FLAT)),
    st.tuples(st.just("truth file"), st.sampled_from(["json", "csv"]), st.none()),
    RULES,
)


class History:
    """An output, its ground truth and its rules, which change."""

    def __init__(self, truth: Any, output: Any) -> None:
        self.truth, self.output, self.rules = truth, output, dict[str, Any]()
        self.ending = "json"
        self.text = json.dumps(output)
        self._before = [self.text]

    def change(self, what: str, key: Any, value: Any) -> None:
        if what == "rule":
            self.rules = {**self.rules, key: value}
        elif what == "truth file":
            self.ending = key
        elif what == "truth" or what.startswith("expected") or what == "turn round":
            self.truth = _changed(self.truth, what.removeprefix("expected "), key, value)
        else:
            self.output = _changed(self.output, what, key, value)
        self.text = json.dumps(self.output)
        if what in ("back", "text"):
            self.text = key if what == "text" else self._before[key % len(self._before)]
        self._before.append(self.text)

    def inputs(self) -> ScoringInputs:
        truth = json.dumps(self.truth)
        if self.ending == "csv":
            flat = {key: value for key, value in self.truth.items() if isinstance(value, str | int | float)}
            truth = "field,value\n" + "".join(f"{json.dumps(key)},{value}\n" for key, value in flat.items())
        expected = File(f"ground_truth.{self.ending}", truth.encode())
        output = File("extracted.json", self.text.encode())
        return ScoringInputs(outputs=(output,), ground_truth=expected, settings=json.dumps(self.rules))


def _changed(side: Any, what: str, key: Any, value: Any) -> Any:
    """The output or the ground truth with one change."""
    if what in ("set", "truth"):
        return {**side, key: value}
    if what == "remove":
        return {name: member for name, member in side.items() if name != key}
    if what in ("item", "name"):
        item = {"name": "b", "n": value} if what == "item" else {"name": value, "n": 2}
        return {**side, "l": [*side["l"][:key], item, *side["l"][key + 1 :]]}
    if what == "member":
        return {**side, "l": [{**item, value: 1} for item in side["l"]]}
    return _turned_round(side) if what == "turn round" else side


def _turned_round(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _turned_round(below) for key, below in reversed(value.items())}
    return list(map(_turned_round, value)) if isinstance(value, list) else value


AB = [{"name": "a", "n": 1}, {"name": "b", "n": 2}]
BY_N = {"l": {"match_fields": ["n"]}}
NUMBER = {"l[*].n": {"type": "numeric"}}
NUMBERS = {"numeric": ["b.c", "b.d"]}
EXTRAS = [{"name": "a", "n": 1}, {"name": "z", "m": 5, "n": 9}]


@settings(max_examples=200)
@given(TREES, TREES, st.lists(CHANGES, max_size=8))
@example({"a": 1}, {}, [("text", text, None) for text in ('{"a": true}', '{"a": 1}', '{"a": 1.0}', '{"a": 1.00}')])
@example({"a": "X"}, {"a": "x"}, [("rule", "equality", "strict")])
@example({"b": ["x", 1]}, {"b": [None, 1]}, [("rule", "null_values", ["x"])])
@example({"a": None}, {"a": "x"}, [("rule", "null_values", ["x"])])
@example({"a": True}, {"a": "x"}, [("rule", "true_values", ["x"])])
@example({"a": False}, {"a": "x"}, [("rule", "false_values", ["x"])])
@example({"a": 1}, {"a": 3}, [("rule", "fields", {"a": {"absolute": 2}}), ("rule", "fields", {})])
@example({"b": {"c": 1}}, {"b": {"c": 1, "d": 2}}, [("rule", "extra_fields", "ignore")])
@example({"b": {"c": 1}}, {"b": {"c": 1, "d": 2}}, [("rule", "ignore", ["b.d"])])
@example({"b": {"c": 1}}, {"b": {"c": 1, "x": EXTRAS}}, [("rule", "lists", {"b.x": {"match_fields": ["n"]}})])
@example({"a": "1"}, {"a": 1.0}, [("truth file", "csv", None), ("truth file", "json", None)])
@example({"a": 1}, {"a": 2}, [("rule", "convention", "omissions_only")])
@example({"b": {"c": 1, "d": 2}}, {"b": {"c": 3, "d": 4}}, [("turn round", None, None)])
@example({}, {}, [("item", 0, 3), ("name", 0, "b"), ("name", 0, "a")])
@example({}, {"l": [{"n": "1,200"}]}, [("expected item", 0, 1200), ("rule", "lists", BY_N), ("rule", "fields", NUMBER)])
@example({}, {}, [("set", "l", [*AB, {"name": "z"}, {"name": name}]) for name in "yz"])
@example({}, {}, [("set", "l", [{"n": 1}]), ("expected name", 0, "b")])
@example({"b": {"c": "x"}}, {"b": {"d": 5}}, [("rule", "field_types", NUMBERS), ("truth", "b", {"d": "x"})])
@example({"b": {"c": 1}}, {"b": {"d": 1}}, [("rule", "ignore", ["b.c"]), ("rule", "extra_fields", "ignore")])
@example({}, {"l": EXTRAS}, [("rule", "extra_fields", "ignore"), ("expected member", 0, "m")])
@example({}, {"l": EXTRAS}, [("rule", "lists", {"l": {"score_fields": ["n"]}})])
@example({}, {}, [("rule", "lists", {"l": {"algorithm": "position"}})])
def test_an_output_gets_the_same_result_whatever_was_scored_before_it(truth: Any, output: Any, changes: Any) -> None:
    """Values, lists and items that come, change and go back, broken outputs, other ground truths and other rules."""
    long_lived = FieldsScorer()
    history = History(
        {**truth, "l": [{"name": "a", "n": 1}, {"name": "b", "n": 2}]},
        {"l": [{"name": "a", "n": 1}, {"name": "b", "n": 3}], **output},
    )
    if not isinstance(history.output["l"], list):
        history.output["l"] = []
    for change in [("set", "c", 1), *changes]:
        history.change(*change)
        assert repr(long_lived.score(history.inputs())) == repr(FieldsScorer().score(history.inputs()))


ONE = b'[{"id": "x", "a": 1}]'
TWO = b'[{"id": "x", "a": 1}, {"id": "y", "a": 1}]'


@pytest.mark.parametrize(
    ("output", "first", "second"),
    [
        (b'{"id": "y", "a": 1}', (ONE, {}), (TWO, {})),
        (b'[{"id": "y", "a": 1}]', (b'{"a": 1}', {}), (ONE, {})),
        (b'{"id": "x", "a": 2, "r": [{"id": "x", "a": 1}]}', (ONE, {}), (ONE, {"documents": {"path": "r"}})),
    ],
    ids=["number of documents", "names of documents", "place of documents"],
)
def test_an_output_is_read_again_if_other_documents_are_expected(output: bytes, first: Any, second: Any) -> None:
    inputs = [
        ScoringInputs(
            outputs=(File("extracted.json", output),),
            ground_truth=File("ground_truth.json", truth),
            settings=json.dumps(rules),
        )
        for truth, rules in (first, second)
    ]
    alone = [repr(FieldsScorer().score(each)) for each in inputs]
    scorer = FieldsScorer()
    assert [repr(scorer.score(each)) for each in inputs] == alone
    assert alone[0] != alone[1]


def test_a_value_that_did_not_change_keeps_its_very_judgement() -> None:
    """So that whatever follows a cell through outputs can see at once that nothing happened to it."""
    truth = {"a": 1, "b": {"c": "x"}, "l": [{"name": "a", "n": 1}, {"name": "b", "n": 2}]}
    output = {"a": 2, "b": {"c": "y", "d": 4}}
    first, second = (
        score(truth, {**output, "l": [{"name": "a", "n": 5}, {"name": "b", "n": value}]}).judgements for value in (6, 7)
    )
    assert [one is other for one, other in zip(first, second, strict=True)] == [True] * 6 + [False]
