"""Omitted values that the output has at another path."""

import json
from decimal import Decimal

import pytest

from sitegen.model.outcomes import Judgement, Outcome, Value
from sitegen.scoring.ground_truth.truth import GroundTruth, TruthDocument
from sitegen.scoring.judge import with_places
from sitegen.scoring.mapping import Mapping
from sitegen.scoring.outputs import ReadOutput
from sitegen.scoring.scorer import File


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
