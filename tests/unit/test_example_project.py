"""This repository's own example: its outputs are what the rule follower makes of the instructions, and nothing else."""

import csv
import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest

EVALS = Path(__file__).parents[2] / "evals"


@pytest.fixture(scope="module")
def extractor() -> ModuleType:
    spec = importlib.util.spec_from_file_location("example_extractor", EVALS / "extractor.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def read(extractor: ModuleType, rule: str, document: str) -> object:
    (parsed,) = extractor.read_rules(rule)
    return extractor.apply(parsed, document)


@pytest.mark.parametrize("eval_id", ["delivery-notes", "plant-labels"])
def test_the_newest_output_is_what_the_instructions_of_today_give(extractor: ModuleType, eval_id: str) -> None:
    iterations = sorted((EVALS / eval_id).glob("results/iteration-*/extracted.json"))
    newest = iterations[-1] if iterations else EVALS / eval_id / "extracted.json"
    assert json.loads(newest.read_text(encoding="utf-8")) == extractor.extract(eval_id)


def test_every_document_has_its_ground_truth() -> None:
    with (EVALS / "delivery-notes" / "ground_truth.csv").open(encoding="utf-8", newline="") as file:
        notes = [row["id"] for row in csv.DictReader(file)]
    lines = (EVALS / "plant-labels" / "ground_truth.jsonl").read_text(encoding="utf-8").splitlines()
    labels = [json.loads(line)["id"] for line in lines]
    assert notes == sorted(path.stem for path in (EVALS / "delivery-notes" / "documents").iterdir())
    assert labels == sorted(path.stem for path in (EVALS / "plant-labels" / "documents").iterdir())


@pytest.mark.parametrize(
    ("rule", "document", "value"),
    [
        ("- `total`: after `Sum:`, `Total:`; as number `last`.", "Total: 1.415,00 EUR", 1415.0),
        ("- `total`: after `Total:`; as number `.`.", "Total: 2,265.00", 2265.0),
        ("- `total`: after `Total:`; as number `.`.", "Total: ask", "ask"),
        ("- `day`: after `Date :`; as date `DD.MM.YYYY`, `D MONTH YYYY`.", "Date : 9 avril 2026", "2026-04-09"),
        ("- `day`: after `Date:`; as date `DD.MM.YYYY`.", "Date: 05/06/2026", "05/06/2026"),
        ("- `name`: line `2`; up to ` (`.", "first\n\nHilltop (by hand)", "Hilltop"),
        ("- `price`: line `-1`.", "first\nlast\n", "last"),
        ("- `name`: line `7`.", "first", None),
        ("- `ok`: after `Checked:`; true if `yes`, `ja`.", "Checked: no", False),
        ("- `ok`: anywhere, true if `poison`.", "POISONOUS", True),
        ("- `height`: after `Height`; as centimetres `ft`.", "Height 2 ft, wide", 61.0),
        ("- `height`: after `Height`; as centimetres `cm`.", "Height 2 ft, wide", 2.0),
        ("- `to`: after `Sow:`; from ` - `; as month.", "Sow: March - April", "04"),
        ("- `to`: after `Sow:`; from ` - `; as month.", "Sow: March", None),
        ("- `colours`: after `Flowers:`; as list, split at `, `.", "Flowers: pink, white", ["pink", "white"]),
        ("- `light`: the line `sonne`, `soleil`; say `sonne = full sun`.", "x\nSonne", "full sun"),
        ("- `currency`: after `Total:`; last word.", "Total: 9 EUR", "EUR"),
        ("- `currency`: after `Total:`; if nothing is found `EUR`.", "no total", "EUR"),
        ("- `cultivar`: a line like `{name} '{value}'`.", "Aster 'Blue'", "Blue"),
        (
            "- `items`: lines like `{quantity#} x {description} @ {price#}`; quantity as number `.`.",
            "2 x Fern @ 1.50\nthe end\n10 x Moss @ 3",
            [
                {"quantity": 2, "description": "Fern", "price": "1.50"},
                {"quantity": 10, "description": "Moss", "price": "3"},
            ],
        ),
    ],
)
def test_a_rule_does_what_the_readme_says(extractor: ModuleType, rule: str, document: str, value: object) -> None:
    assert read(extractor, rule, document) == value


def test_prose_is_no_rule_and_an_unknown_clause_is_refused(extractor: ModuleType) -> None:
    assert extractor.read_rules("# Title\n\nLook for `total`.\n\n- a bullet without a field\n") == []
    with pytest.raises(SystemExit, match="no such clause: 'as colour'"):
        read(extractor, "- `a`: line `1`; as colour.", "red")
