"""Laws of scoring that hold for every input."""

from datetime import datetime
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from sitegen.model.scorecards import Result
from sitegen.scoring.compare import read_date
from sitegen.scoring.kinds import File, ScoringInputs, scorer
from sitegen.scoring.paths import ANY, parse_path, path_text, with_key
from sitegen.scoring.values import ValueWords
from sitegen.stats import counts as stats
from tests.scored import scored

EMPTY = ValueWords().empty
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 5),
    st.sampled_from([0.5, 1200.0, 1206.0]),
    st.sampled_from(["", " ", "a", "A", "b", "1", "N/A", "x y"]),
)
KEYS = st.sampled_from(["a", "b", "c", "name", "a.b", "0", ""])
FLAT = st.dictionaries(KEYS, SCALARS, max_size=5)
ITEMS = st.lists(st.fixed_dictionaries({"name": st.sampled_from("abc")}, optional={"n": SCALARS}), max_size=4)
TREES = st.dictionaries(KEYS, st.one_of(SCALARS, FLAT, ITEMS, st.lists(SCALARS, max_size=3)), max_size=5)
TEXTS = st.text(st.sampled_from("abcdE \u00e9\u0301ß"), max_size=6)


def score(expected: Any, given_: Any, **rules: Any) -> Result:
    return scored("fields", {"extracted.json": given_}, {"ground_truth.json": expected}, rules)


def leaves(value: Any) -> int:
    """Non-empty attributes: scalars, and lists of scalars as one each."""
    if isinstance(value, dict):
        return sum(map(leaves, value.values()))
    if isinstance(value, list) and any(isinstance(item, dict) for item in value):
        return sum(leaves(item) for item in value if isinstance(item, dict))
    return 0 if EMPTY(value) else 1


def same_shape(expected: Any, actual: Any) -> bool:
    """No container stands where something else was expected."""
    if isinstance(expected, dict) and expected:
        return (isinstance(actual, dict) or EMPTY(actual)) and all(
            same_shape(below, actual.get(key) if isinstance(actual, dict) else None) for key, below in expected.items()
        )
    if isinstance(expected, list) and any(isinstance(item, dict) for item in expected):
        return (isinstance(actual, list) and all(isinstance(item, dict) for item in actual)) or EMPTY(actual)
    if EMPTY(expected) or EMPTY(actual) or not isinstance(actual, dict | list):
        return True
    return isinstance(actual, list) and not any(isinstance(item, dict) for item in actual)


@given(TREES, TREES)
def test_true_and_false_positives_are_the_values_given(expected: Any, actual: Any) -> None:
    counts = score(expected, actual).scorecard.counts
    if same_shape(expected, actual):
        assert counts.tp + counts.fp == leaves(actual)


@given(TREES, TREES)
def test_true_positives_and_false_negatives_are_the_values_expected(expected: Any, actual: Any) -> None:
    card = score(expected, actual).scorecard
    assert card.counts.tp + card.counts.fn == leaves(expected) == card.expected_values


@given(TREES)
def test_a_document_is_all_right_against_itself(tree: Any) -> None:
    counts = score(tree, tree).scorecard.counts
    assert (counts.tp, counts.fp, counts.fn) == (leaves(tree), 0, 0)


@given(TREES, TREES)
def test_f1_lies_between_precision_and_recall(expected: Any, actual: Any) -> None:
    counts = score(expected, actual).scorecard.counts
    precision, recall, f1 = stats.ratios(counts).values()
    if precision is not None and recall is not None and f1 is not None:
        assert min(precision, recall) - 1e-12 <= f1 <= max(precision, recall) + 1e-12


@given(st.dictionaries(st.sampled_from("abcd"), TEXTS), st.dictionaries(st.sampled_from("abcd"), TEXTS))
def test_swapping_the_sides_swaps_precision_and_recall(one: Any, other: Any) -> None:
    there, back = score(one, other).scorecard, score(other, one).scorecard
    assert there.metric("precision") == back.metric("recall")
    assert there.metric("recall") == back.metric("precision")
    assert there.metric("f1") == back.metric("f1")


@given(FLAT, FLAT, ITEMS, ITEMS)
def test_values_with_their_evidence_are_judged_as_without(expected: Any, values: Any, items: Any, others: Any) -> None:
    def stated(members: dict[str, Any]) -> dict[str, Any]:
        return {key: {"value": value, "page": 1, "confidence": 0.5} for key, value in members.items()}

    truth = {**expected, "l": items}
    alone = score(truth, {**values, "l": others})
    wrapped = score(truth, {**stated(values), "l": [stated(item) for item in others]})
    assert [(each.path, each.outcome, each.actual) for each in wrapped.judgements] == [
        (each.path, each.outcome, each.actual) for each in alone.judgements
    ]


@given(st.lists(FLAT, min_size=2, max_size=4), st.randoms())
def test_the_order_of_documents_does_not_matter(roots: list[Any], random: Any) -> None:
    truth = [{**root, "id": f"d{number}"} for number, root in enumerate(roots)]
    output = [{**truth[-1 - number], "id": f"d{number}"} for number in range(len(truth))]
    straight = score(truth, output).scorecard
    random.shuffle(output)
    mixed = score(truth, output).scorecard
    assert straight == mixed


@given(ITEMS, ITEMS, st.sampled_from(["greedy", "hungarian", "position"]))
def test_items_are_paired_one_to_one(expected: Any, actual: Any, algorithm: str) -> None:
    result = score({"l": expected, "x": 1}, {"l": actual, "x": 1}, lists={"l": {"algorithm": algorithm}})
    for alignment in result.alignments:
        left = [row.expected for row in alignment.rows if row.expected is not None]
        right = [row.actual for row in alignment.rows if row.actual is not None]
        assert sorted(left) == list(range(len(expected)))
        assert len(set(right)) == len(right)
        assert set(right) <= set(range(len(actual)))


@given(st.text(max_size=30))
def test_every_key_can_be_shown_and_read_again(key: str) -> None:
    steps = parse_path(with_key("a", key))
    assert steps == ("a", key)
    assert path_text(steps) == with_key("a", key) or key == ANY


def test_a_character_that_this_python_does_not_know_yet_is_shown_as_a_later_one_shows_it() -> None:
    """Else a field would have another path, and its page another address, by another Python."""
    assert with_key("a", "b.\u0378") == 'a["b.\u0378"]'
    assert with_key("a", "b.\u202e") == 'a["b.\\u202e"]'


FRAGMENTS = st.sampled_from(
    [
        *("{", "}", "[", "]", ":", ",", '"a"', '"', "1", "1e999999999", "NaN", "null", "true", "\\ud800", '"\\ud800"'),
        *("id,a\n1,2\n", ",Walls:, Name, Area\n,,x,1\n", "field,value\n", "csv_to_json:\n  a: b\n"),
        *("- ", "? ", "&x ", "*x ", "\n", " ", "\t", "\x00", "!!python/x "),
        *("fields: {a: {type: integer}}\n", "lists: {a: {algorithm: hungarian}}\n"),
        *('{"a": [{"name": 1}]}', '{"$ref": "#/a"}', '{"properties": {"a": {"$ref": "#"}}}', "[" * 200, "9" * 5000),
    ]
)
BYTES = st.one_of(
    st.binary(max_size=60), st.lists(FRAGMENTS, max_size=8).map(lambda parts: "".join(parts).encode("utf-8"))
)
ENDINGS = st.sampled_from(["json", "jsonl", "yaml", "csv", "txt"])


@settings(max_examples=400)
@given(BYTES, ENDINGS, BYTES, ENDINGS, BYTES, BYTES, st.one_of(st.just("{}"), FRAGMENTS))
@example(b"[" * 100_000, "json", b'{"a": 1}', "json", b"", b"", "{}")
@example(b"[" * 100_000, "yaml", b"[" * 100_000, "yaml", b"[" * 100_000, b"[" * 100_000, "{}")
@example(b'{"a":' * 100_000, "json", b'{"a": 1}', "json", b"- " * 50_000, b"", "{}")
@example(b"a: &a [1]\nb: *a\n", "yaml", b"a: &a {b: *a}\n", "yaml", b"a: &a {b: *a}\n", b"", "{}")
@example(b"{}", "json", b'{"a": ' + b"9" * 5000 + b"}", "json", b"", b"", "{}")
def test_no_bytes_make_scoring_fail(output, ending, truth, truth_ending, mapping, schema, rules):
    result = scorer("fields").score(
        ScoringInputs(
            outputs=(File(f"extracted.{ending}", output),),
            ground_truth=File(f"ground_truth.{truth_ending}", truth),
            mapping=File("mapping.yaml", mapping),
            schema=File("schema.json", schema),
            settings=rules,
        )
    )
    counts = result.scorecard.counts
    assert counts == stats.tally(result.judgements, result.scorecard.convention)
    if result.scorecard.status != "scored":
        assert any(finding.severity == "error" for finding in result.scorecard.findings)
    assert not [finding.message for finding in result.scorecard.findings if finding.message[0].islower()]


@given(
    st.one_of(
        st.dates().map(str), st.text(alphabet="0129-W +T٣", max_size=12), st.from_regex(r"\d{1,4}-\d{1,2}-\d{1,2}")
    )
)
def test_a_date_of_the_usual_format_is_read_as_by_strptime(text: str) -> None:
    try:
        expected = datetime.strptime(text.strip(), "%Y-%m-%d")
    except ValueError:
        expected = None
    assert read_date(text, ("%Y-%m-%d",)) == expected
