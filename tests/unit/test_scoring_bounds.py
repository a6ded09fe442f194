"""What is too large to score is named with its bound; omitted values that the output has at another path."""

import json
from decimal import Decimal
from typing import Any

import pytest

from sitegen.model.outcomes import Judgement, Outcome, Value
from sitegen.model.scorecards import Result
from sitegen.scoring import fields, pairing
from sitegen.scoring.answerers import Answerer
from sitegen.scoring.compiled_truth import CompiledTruth
from sitegen.scoring.elsewhere import with_places
from sitegen.scoring.fields import MAX_REMEMBERED, FieldsScorer
from sitegen.scoring.ground_truth.truth import GroundTruth, TruthDocument
from sitegen.scoring.kinds import File, ScoringInputs
from sitegen.scoring.mapping import Mapping
from sitegen.scoring.outputs import ReadOutput
from sitegen.scoring.pairing import MAX_ASSIGNED, MAX_SIMILAR
from sitegen.scoring.rules import compile_rules
from tests.scored import Counted, scored


def score(truth: str, output: Any, ending: str = "json", settings: str = "{}") -> Result:
    return scored("fields", {"e.json": output}, {f"ground_truth.{ending}": truth}, settings)


def walls(*names: str) -> dict[str, Any]:
    return {"walls": [{"description": name, "area": 1} for name in names]}


def paired(result: Result) -> list[tuple[int | None, int | None]]:
    return [(pair[0], pair[1]) for alignment in result.alignments for pair in alignment.pairs]


def alike(number: int, word: str) -> list[str]:
    return [f"{word} of yellow and red bricks number {place:04}" for place in range(number)]


def test_of_too_many_items_that_are_alike_only_equal_ones_are_paired():
    result = score(
        json.dumps(walls("roof", *alike(MAX_SIMILAR // 1_000 + 1, "wall"))), walls(*alike(1_000, "walls"), "roof")
    )
    assert paired(result) == [(0, 1_000)]
    assert [each.message for each in result.scorecard.findings] == [
        "The list 'walls' has 1,002 expected and 1,001 given items: too many that are alike but not equal; only equal "
        "items are paired by their key"
    ]


def test_a_thousand_unequal_items_on_each_side_are_within_the_bounds_and_six_thousand_are_not_compared():
    many = walls(*(f"wall {number}" for number in range(6_000)))
    result = score(json.dumps(many), walls(*(f"{number} wall" for number in range(6_000))))
    assert paired(result) == []
    assert "too many that are alike but not equal" in result.scorecard.findings[0].message


def test_lists_too_long_for_hungarian_are_paired_by_greedy_and_a_finding_says_so():
    settings = json.dumps({"lists": {"walls": {"algorithm": "hungarian", "threshold": 0.5}}})
    assert 30 * 30 < MAX_ASSIGNED < 510 * 510
    best, within = (
        score(json.dumps(walls(*alike(number, "wall"))), walls(*alike(number, "walls")), settings=settings)
        for number in (30, 510)
    )
    assert best.alignments[0].algorithm == "hungarian"
    assert within.alignments[0].algorithm == "greedy"
    assert best.scorecard.findings == ()
    assert "too long for hungarian, so that greedy paired them" in within.scorecard.findings[0].message


@pytest.mark.parametrize(
    ("truth", "reason"),
    [
        (
            "id,total\n" + "".join(f"{number},1\n" for number in range(100_001)),
            "100,001 documents, more than the 100,000 that an eval can have",
        ),
        (f"id{',total' * 999}\n" + "1," * 999 * 1_001, "more than 1,000,000 cells, counted up to this line"),
    ],
    ids=["documents", "cells"],
)
def test_a_ground_truth_with_more_documents_or_cells_than_the_bound_is_a_problem_that_names_it(truth: str, reason: str):
    card = score(truth, [{"id": "a", "total": 1}], "csv").scorecard
    assert card.status == "no_ground_truth"
    assert card.findings[0].message == f"The ground truth cannot be read: it has {reason}"


def test_documents_are_found_by_their_names_without_comparing_each_with_each():
    rules, _ = compile_rules(None, "{}")
    number = 300
    documents = tuple(TruthDocument(str(one), {}) for one in range(number))
    truth = GroundTruth(documents=documents, written=False, key="id", findings=())
    output = ReadOutput((File("extracted.json", b"[]"),), Mapping(), truth)
    output.documents = {Counted(one + 10): {} for one in range(number)}
    Counted.compared = 0
    fields._FieldsScoring(CompiledTruth(truth, rules), [(Answerer(), output)], ()).result()
    assert Counted.compared < 10 * number


@pytest.mark.parametrize("others", [0, MAX_REMEMBERED])  # beyond this bound, what was compiled is forgotten
def test_a_ground_truth_that_changes_forth_and_back_is_compiled_for_each_output(others: int):
    scorer = FieldsScorer()
    rest = {"b": [1] * others}
    files = [File("ground_truth.json", json.dumps({"a": value, **rest}).encode()) for value in (1, 1, 2, 1, 2)]
    for file in files:
        inputs = ScoringInputs(outputs=(File("extracted.json", b'{"a": 1}'),), ground_truth=file)
        assert scorer.score(inputs).scorecard.counts.tp == (file is not files[2] and file is not files[4])


def test_long_lists_without_a_key_are_paired_by_how_similar_all_their_fields_are():
    def sales(year: int) -> list[dict[str, Any]]:
        return [{"day": f"{year}-{n // 28 + 1:02}-{n % 28 + 1:02}", "sum": 7 * n} for n in range(300)]

    result = score(json.dumps({"sales": sales(2024)}), {"sales": sales(1999)[::-1]})
    assert pairing.MOST < 300 * 300
    assert paired(result) == [(number, 299 - number) for number in range(300)]
    assert (result.scorecard.counts.tp, result.scorecard.counts.wrong_value) == (300, 300)
    assert result.scorecard.findings == ()


def test_equal_items_of_a_long_list_without_a_key_are_paired():
    items = [{"code": f"v{number}", "size": number % 5} for number in range(5_001)]
    counts = score(json.dumps({"items": items}), {"items": items[::-1]}).scorecard.counts
    assert (counts.tp, counts.fp, counts.fn) == (10_002, 0, 0)


@pytest.mark.parametrize("key", ["code", "name"])
def test_partly_equal_items_of_a_long_list_are_paired_by_the_rare_values_that_they_share(key: str):
    items = [{key: f"v{n}", "payee": f"p{n}", "sum": 1_000 + n, "kind": n % 5} for n in range(600)]
    given = [
        item | ({"sum": -1} if n % 2 else {"payee": "?"}) | {key: f"unlike {n * 7919}"} for n, item in enumerate(items)
    ]
    result = score(json.dumps({"l": items}), {"l": given[::-1]})
    assert paired(result) == [(number, 599 - number) for number in range(600)]
    assert (result.scorecard.counts.tp, result.scorecard.counts.wrong_value) == (1_200, 1_200)
    assert result.scorecard.findings == ()


def test_a_value_that_every_item_has_costs_no_comparison_of_each_with_each():
    compared: list[tuple[int, int]] = []
    items = {number: (f"v{number}", "what all have") for number in range(200)}

    def equal_fields(one: int, other: int) -> int:
        compared.append((one, other))
        return 1

    assert pairing.rare_pairs(items, items, lambda _: 1, equal_fields) == [(number, number) for number in items]
    assert len(compared) == 200


def judgement(outcome: Outcome, path: str, value: Value) -> Judgement:
    actual = None if outcome == "omission" else value
    return Judgement(document="", path=path, attribute=path, outcome=outcome, expected=value, actual=actual)


ITEM = judgement("omission", "items[0].price", Decimal("120.50"))


@pytest.mark.parametrize(
    ("omitted", "output", "pairs"),
    [
        (ITEM, {"price": 120.5}, ["items[0].price at price"]),
        (ITEM, {"items": [{"net": 120.5}]}, ["items[0].price at items[0].net"]),
        (ITEM, {"items": {"0": {"price": 120.5}}}, ['items[0].price at items["0"].price']),
        (ITEM, {"items": [{"price": 120.5}]}, []),
        (ITEM, {"items": [{"price": 120.5}], "total": 120.5}, []),
        (ITEM, {"net": 120.5, "total": 120.5}, []),
        (ITEM, {"paid": 120.5}, []),
        (judgement("omission", "a", "yes"), {"b": "yes"}, []),
        (judgement("omission", "a", "EUR 12"), {"b": " eur 12 "}, ["a at b"]),
    ],
)
def test_an_omitted_value_is_noted_where_it_stands_once_at_another_path(omitted, output, pairs):
    judgements = [judgement("correct", "paid", Decimal("120.5")), omitted] if "paid" in output else [omitted]
    for text in ("", json.dumps(output).casefold()):
        assert with_places(judgements, output, text)[1] == pairs


ONE_DOCUMENT = GroundTruth(documents=(TruthDocument("", {}),), written=False, key=None, findings=())


@pytest.mark.parametrize("value", ["ABC", "Grün", "Straße", "İzmir", "\u212aELVIN", "\ufb01n", "ŐZ", "ÜBER"])
def test_the_text_of_an_output_is_case_folded_to_be_searched(value):
    content = json.dumps({"Key": value}, ensure_ascii=False)
    output = ReadOutput((File("extracted.json", content.encode()),), Mapping(), ONE_DOCUMENT)
    assert output.text == content.casefold()
