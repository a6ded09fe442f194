"""Laws of scoring responses that hold for every input."""

import json
from itertools import combinations, product
from math import sqrt
from statistics import fmean
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sitegen.analysis.noise.samples import interval_of
from sitegen.analysis.slices import slices_of, whole
from sitegen.model.scorecards import Result
from sitegen.scoring.kinds import scorer, specs_of
from sitegen.stats import counts as stats
from sitegen.stats.agreement import mean_pairwise_cosine
from sitegen.text.similarity import rouge
from tests.scored import scored

JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=4)),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text(max_size=4), below, max_size=3),
    max_leaves=6,
)
NAMES = st.sampled_from(["a", "b", "c", 1, ""])
ROWS = st.lists(
    st.fixed_dictionaries(
        {}, optional={"case_id": NAMES, "output": JSON, "error": JSON, "quality": JSON, "embedding": JSON}
    )
    | JSON,
    max_size=5,
)
CASES = st.lists(
    st.fixed_dictionaries({}, optional={"id": NAMES, "expected": JSON, "category": JSON}) | JSON, max_size=4
)
VECTORS = st.lists(
    st.lists(st.floats(-1e3, 1e3).filter(lambda x: x == 0 or abs(x) > 1e-3), min_size=3, max_size=3), max_size=6
)
WORDS = st.lists(st.sampled_from(["a", "b", "c", "É", "-"]), max_size=6).map(" ".join)


def score(cases: bytes, *outputs: tuple[str, bytes], kind: str = "responses") -> Result:
    return scored(kind, dict(outputs), {"test_cases.json": cases})


@given(cases=st.binary(max_size=60), output=st.binary(max_size=60), name=st.sampled_from(["r.json", "r.jsonl", "r"]))
def test_arbitrary_bytes_never_raise(cases: bytes, output: bytes, name: str) -> None:
    assert score(cases, (name, output)).scorecard.status in ("scored", "unreadable", "no_ground_truth")
    assert score(b'[{"id": "a", "expected": "x"}]', (name, output)).scorecard.counts.tp in (0, 1)


@settings(max_examples=200)
@given(cases=CASES, one=ROWS, other=ROWS)
def test_what_is_counted_adds_up(cases: Any, one: Any, other: Any) -> None:
    files = (("responses-one.json", json.dumps(one).encode()), ("responses-other.json", json.dumps(other).encode()))
    result = score(json.dumps(cases).encode(), *files)
    card = result.scorecard
    judged = [document for document in card.documents if stats.judged(document.counts)]
    assert [document.name for document in judged] == [judgement.document for judgement in result.judgements]
    wrong = {judgement.document for judgement in result.judgements if judgement.outcome != "correct"}
    assert wrong == {document.name for document in judged if stats.errors(document.counts)}
    assert card.counts == stats.total(document.counts for document in card.documents)
    assert card.counts == stats.total(field.counts for field in card.fields)
    assert card.expected_values == sum(stats.judged(document.counts) for document in card.documents)
    assert sum(variant.responses - variant.failed for variant in card.variants.values()) >= len(card.documents)
    for document in card.documents:
        for name, value in document.metrics:
            spec = next(spec for spec in scorer("responses").metrics if spec.name == name)
            assert value is None or spec.low <= value <= spec.high


@pytest.mark.parametrize("kind", ["responses", "judged"])
@settings(max_examples=60)
@given(given_=st.lists(st.lists(st.booleans(), min_size=1, max_size=4), min_size=24, max_size=24))
def test_every_number_is_the_mean_over_cases_of_the_means_of_their_answers(kind: str, given_: list[list[bool]]) -> None:
    keys = [*product(("a early", "b early", "c late", "d late"), ("mini", "opus", "tall"))]
    sides = [dict(zip(keys, answers, strict=True)) for answers in (given_[:12], given_[12:])]
    truth = [{"id": case, "expected": "yes", "category": case[2:]} for case, _ in keys[::3]]
    rows = [
        [
            {"case_id": case, "category": case[2:], "model": model, "output": output, "passed": output == "yes"}
            for (case, model), answers in side.items()
            for output in map(("no", "yes").__getitem__, answers)
        ]
        for side in sides
    ]
    one, other = (score(json.dumps(truth).encode(), ("r.json", json.dumps(each).encode()), kind=kind) for each in rows)
    spec, cards = specs_of(kind, [one.scorecard, other.scorecard])[0], (one.scorecard, other.scorecard)

    def means(name: str) -> list[float]:
        return [fmean(fmean(side[key]) for key in keys if name in " ".join(key)) for side in sides]

    assert [card.metric(spec.name) for card in cards] == pytest.approx(means(""))
    assert {interval.n for interval in map(interval_of, cards) if interval} <= {4}
    verdict, moved = (
        whole(one).verdict_on(whole(other), spec),
        [last - first for first, last in map(means, ("a ", "b ", "c ", "d "))],
    )
    assert verdict is not None
    assert [verdict.change, verdict.n] == pytest.approx([fmean(moved), 4])
    assert verdict.counted == (sum(change > 1e-9 for change in moved), sum(change < -1e-9 for change in moved))
    found = {part.values[0]: (part.value, part.change) for _, part in slices_of(*cards, spec)}
    sought = {name: means(name) for name in ("mini", "opus", "tall", "early", "late")}
    assert found == {name: pytest.approx((last, last - first)) for name, (first, last) in sought.items()}


@given(vectors=VECTORS)
def test_the_closed_form_is_the_mean_over_all_pairs(vectors: list[list[float]]) -> None:
    def cosine(one: list[float], other: list[float]) -> float:
        lengths = sqrt(sum(x * x for x in one)) * sqrt(sum(x * x for x in other))
        return sum(x * y for x, y in zip(one, other, strict=True)) / lengths if lengths else 0.0

    pairs = [cosine(one, other) for one, other in combinations(vectors, 2)]
    expected = sum(pairs) / len(pairs) if pairs else None
    assert mean_pairwise_cosine(vectors) == (None if expected is None else pytest.approx(expected, abs=1e-9))


@given(one=WORDS, other=WORDS)
def test_rouge_does_not_depend_on_which_side_is_expected(one: str, other: str) -> None:
    assert rouge(one, other) == pytest.approx(rouge(other, one))
    assert all(0 <= value <= 1 for value in rouge(one, other))


@given(text=WORDS.filter(lambda text: len(text.replace("-", "").replace("É", "").split()) > 1))
def test_a_text_is_wholly_like_itself(text: str) -> None:
    assert rouge(text, text.upper()) == (1.0, 1.0, 1.0)
