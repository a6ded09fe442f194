"""This repository's own example: its outputs are what the rule followers make of the instructions, and nothing else."""

import csv
import importlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from tests.rows import in_table

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


@in_table
def test_a_rule_does_what_the_readme_says(extractor, rule, document, value):
    assert read(extractor, rule, document) == value


def test_prose_is_no_rule_and_an_unknown_clause_is_refused(extractor):
    assert extractor.read_rules("# Title\n\nLook for `total`.\n\n- a bullet without a field\n") == []
    with pytest.raises(SystemExit, match="no such clause: 'as colour'"):
        read(extractor, "- `a`: line `1`; as colour.", "red")


@in_table
def test_a_rule_for_marking_does_what_the_readme_says(extractor, highlighter, rule, text, marked):
    (parsed,) = extractor.read_rules(rule)
    assert highlighter.mark(parsed, text) == marked


@in_table
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
