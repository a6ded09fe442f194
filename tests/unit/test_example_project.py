"""This repository's own example: its outputs are what the rule followers make of the instructions, and nothing else."""

import csv
import importlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

EVALS = Path(__file__).parents[2] / "evals"


Load = Callable[[str], ModuleType]


@pytest.fixture(scope="module")
def load() -> Iterator[Load]:
    """Imports a rule follower by its name, as it is imported when it runs: from its own folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(EVALS))
        patch.setattr("sys.dont_write_bytecode", True)
        yield importlib.import_module


@pytest.fixture(scope="module")
def extractor(load: Load) -> ModuleType:
    return load("extractor")


@pytest.fixture(scope="module")
def highlighter(load: Load) -> ModuleType:
    return load("highlighter")


@pytest.fixture(scope="module")
def responder(load: Load) -> ModuleType:
    return load("responder")


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def read(extractor: ModuleType, rule: str, document: str) -> object:
    (parsed,) = extractor.read_rules(rule)
    return extractor.apply(parsed, document)


@pytest.mark.parametrize("eval_id", ["delivery-notes", "plant-labels"])
def test_the_newest_output_is_what_the_instructions_of_today_give(extractor, eval_id):
    iterations = sorted((EVALS / eval_id).glob("results/iteration-*/extracted.json"))
    newest = iterations[-1] if iterations else EVALS / eval_id / "extracted.json"
    assert json.loads(newest.read_text(encoding="utf-8")) == extractor.extract(eval_id)


def test_the_newest_run_of_the_log_is_what_the_instructions_of_today_mark(highlighter):
    newest = [line for line in lines(highlighter.LOG) if line["run_id"] == f"run-{highlighter.runs_done():03}"]
    assert newest == highlighter.run(highlighter.runs_done())


def test_the_responses_are_what_the_prompts_of_today_answer(responder):
    assert responder.variants() == ["friendly", "plain"]
    for variant in responder.variants():
        assert lines(EVALS / "shop-questions" / f"responses-{variant}.jsonl") == responder.responses(variant)


def test_the_judged_cases_are_what_the_judge_of_today_says_of_the_labels(load):
    checker = load("checker")
    assert lines(checker.RESULTS) == checker.check()


def test_the_gold_standard_marks_only_texts_that_stand_in_their_paragraph(highlighter):
    gold = json.loads((EVALS / "plant-talks" / "gold-standard.json").read_text(encoding="utf-8"))["paragraphs"]
    assert [(each["id"], each["text"]) for each in gold] == highlighter.paragraphs()
    marked = [(each["text"], text) for each in gold for texts in each["highlights"].values() for text in texts]
    assert [text for paragraph, text in marked if text not in paragraph] == []


def test_every_document_has_its_ground_truth():
    with (EVALS / "delivery-notes" / "ground_truth.csv").open(encoding="utf-8", newline="") as file:
        notes = [row["id"] for row in csv.DictReader(file)]
    labels = [line["id"] for line in lines(EVALS / "plant-labels" / "ground_truth.jsonl")]
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
def test_a_rule_does_what_the_readme_says(extractor, rule, document, value):
    assert read(extractor, rule, document) == value


def test_prose_is_no_rule_and_an_unknown_clause_is_refused(extractor):
    assert extractor.read_rules("# Title\n\nLook for `total`.\n\n- a bullet without a field\n") == []
    with pytest.raises(SystemExit, match="no such clause: 'as colour'"):
        read(extractor, "- `a`: line `1`; as colour.", "red")


@pytest.mark.parametrize(
    ("rule", "text", "marked"),
    [
        ("- `terms`: the words `graft`, `bud`.", "A bud, a Graft, grafting.", ["bud", "Graft"]),
        ("- `terms`: words that end in `stock`.", "rootstock in stocks and stock", ["rootstock"]),
        ("- `concepts`: sentences with `means`.", "It grows. It means well! He is mean.", ["It means well!"]),
        ("- `examples`: what follows `such as`.", "Trees such as an ash, an elm; such as yews.", ["an ash", "yews"]),
        ("- `terms`: between `(`, `)`.", "Ash (Fraxinus) and elm (Ulmus).", ["Fraxinus", "Ulmus"]),
        ("- `terms`: the words `ash`, `elm`; but not `elm`.", "Elm and ash.", ["ash"]),
        ("- `examples`: what follows `such as`; without `an`, `a`.", "Trees such as an ash.", ["ash"]),
        ("- `terms`: the words `elm`.", "elm, elm", ["elm"]),
    ],
)
def test_a_rule_for_marking_does_what_the_readme_says(extractor, highlighter, rule, text, marked):
    (parsed,) = extractor.read_rules(rule)
    assert highlighter.mark(parsed, text) == marked


@pytest.mark.parametrize(
    ("prompt", "question", "answer"),
    [
        ("- if asked `price`, `cost`: `{price}`", "What does a FERN cost?", "2 EUR"),
        ("- if asked `price`: `{price}`", "What is the price of an ash?", ""),
        ("- if asked `price`: `{price}`", "Is the fern green?", ""),
        ("- if asked `fern`: `first`\n- if asked `fern`: `second`", "A fern?", "first"),
        ("- if asked `price`: `{price}`\n- else: `Please ask.`", "What is the price of an ash?", "Please ask."),
        ("- begin: `Hello!`\n- if asked `water`: `{water}`\n- end: `Bye!`", "Water for the fern?", "Hello! daily Bye!"),
        ("- begin: `Hello!`\n- if asked `water`: `{water}`", "Open?", ""),
    ],
)
def test_a_rule_for_answering_does_what_the_readme_says(responder, prompt, question, answer):
    plants = [responder.Plant("fern", "2 EUR", "shade", "daily")]
    assert responder.answer(responder.read_rules(prompt), question, plants) == answer


def test_the_rules_for_checking_are_a_configuration_of_the_judge(load):
    rules = "# Checks\n\n- `id`: not checked.\n- `colours`: in any order.\n- `height_cm`: within `0.5`.\n"
    assert load("checker").config(rules) == {
        "ignore": ["id"],
        "fields": {"colours": {"ordered": False}, "height_cm": {"type": "numeric", "absolute": 0.5}},
    }


def test_an_unknown_rule_of_marking_answering_or_checking_is_refused(load, extractor, highlighter, responder):
    with pytest.raises(SystemExit, match="no such check: 'roughly'"):
        load("checker").config("- `height_cm`: roughly.")
    (rule,) = extractor.read_rules("- `terms`: guess `a`.")
    with pytest.raises(SystemExit, match="no such clause: 'guess'"):
        highlighter.mark(rule, "a")
    with pytest.raises(SystemExit, match="no such rule: '- if told: `a`'"):
        responder.read_rules("- if told: `a`")
