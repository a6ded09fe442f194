"""promptfoo's results as cases: sitegen's totals are those that promptfoo wrote into the same file."""

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from sitegen.data_files.reading import UnreadableError
from sitegen.importers import read_results
from sitegen.importers.case import Grader, with_documents
from sitegen.model.metrics import Counts
from sitegen.model.problems import Finding
from sitegen.model.scorecards import NotePanel, Result
from sitegen.model.usage import Usage
from tests.rows import in_table
from tests.scored import scored

FIXTURES = Path(__file__).parent / "fixtures"
RUNS = ("promptfoo-1.json", "promptfoo-2.json", "promptfoo-error.json", "promptfoo-rated.json")
AGAIN = "Let promptfoo write the results again."


def content(name: str) -> bytes:
    return (FIXTURES / name).read_bytes()


def score(body: bytes) -> Result:
    return scored("judged", {"output.json": body})


def changed(name: str, **results: Any) -> bytes:
    """A fixture with other members of ``results``."""
    document = json.loads(content(name))
    document["results"] |= results
    return json.dumps(document).encode()


@pytest.mark.parametrize("name", RUNS)
def test_totals_are_those_of_the_tool(name):
    results = json.loads(content(name))["results"]
    columns, stats = [prompt["metrics"] for prompt in results["prompts"]], results["stats"]
    cases, card = read_results(name, content(name)).cases, score(content(name)).scorecard
    tests = stats["successes"] + stats["failures"] + stats["errors"]
    assert len(card.documents) == len({each.name for each in card.documents}) == tests
    assert sum(case.passed is True for case in cases) == stats["successes"]
    assert sum(bool(case.error) for case in cases) == stats["errors"]
    assert card.metric("pass_rate") == pytest.approx(stats["successes"] / tests)
    assert card.metric("score") == pytest.approx(sum(each["score"] for each in columns) / tests)
    right, wrong = (sum(each[f"assert{what}Count"] for each in columns) for what in ("Pass", "Fail"))
    assert card.counts == Counts(tp=right, fp=wrong, fn=wrong, wrong_value=wrong)
    assert sum(case.call.usage.cost or 0 for case in cases) == sum(each["cost"] for each in columns)
    milliseconds = 1000 * sum(case.call.usage.latency or 0 for case in cases)
    assert milliseconds == pytest.approx(sum(each["totalLatencyMs"] for each in columns))


@pytest.mark.parametrize("name", RUNS)
def test_json_lines_and_json_that_lists_no_prompts_have_the_same_cases(name):
    rows, of_json = json.loads(content(name))["results"]["results"], read_results(name, content(name))
    lines = "".join(f"{json.dumps(row)}\n" for row in rows).encode()
    for other in (read_results("output.jsonl", lines), read_results(name, changed(name, prompts=[]))):
        assert [replace(case, judges=()) for case in other.cases] == [replace(it, judges=()) for it in of_json.cases]
        assert other.findings == of_json.findings


@pytest.mark.parametrize("name", RUNS)
def test_rows_of_version_2_tell_their_prompts_by_the_texts_of_these(name):
    rows = json.loads(content(name))["results"]["results"]
    prompts = ({"raw": row["prompt"]["raw"], "display": row["prompt"]["label"]} for row in rows)
    old = [{**row, "prompt": prompt, "promptIdx": None} for row, prompt in zip(rows, prompts, strict=True)]
    of_old = read_results(name, changed(name, version=2, prompts=None, results=old)).cases
    cases = [
        [(each.id, each.variant, each.model, each.score, each.passed) for each in of]
        for of in (of_old, read_results(name, content(name)).cases)
    ]
    assert sorted(cases[0]) == sorted(cases[1])


def test_a_case_is_the_test_and_of_the_variant_what_several_have():
    cases = read_results("output.json", content("promptfoo-1.json")).cases
    columns = [(f"prompts/{prompt}", label) for label in ("first", "second") for prompt in ("plain.txt", "chat.json")]
    tests = ("names the guest", "language=French, name=Grace", "language=Old English, name=Alan")
    assert [case.id for case in cases] == [test for test in tests for _ in columns]
    assert [(case.variant, case.model) for case in cases[:4]] == columns
    documents = [case.document for case in with_documents(cases)]
    assert documents == [f"{test} · {variant} · {model}" for test in tests for variant, model in columns]
    alone = json.loads(content("promptfoo-1.json"))["results"]
    one = {"prompts": alone["prompts"][:1], "results": [row for row in alone["results"] if not row["promptIdx"]]}
    assert [case.id for case in read_results("o.json", changed("promptfoo-1.json", **one)).cases] == list(tests)


def test_an_edit_of_a_prompt_leaves_the_names_of_cases_and_their_order():
    before, after = (read_results("o.json", content(name)) for name in RUNS[:2])
    assert [case.id for case in before.cases] == [case.id for case in after.cases]
    shuffled = list(reversed(json.loads(content(RUNS[0]))["results"]["results"]))
    assert read_results("o.json", changed(RUNS[0], results=shuffled)) == before
    prompts = json.loads(content(RUNS[0]))["results"]["prompts"]
    named = changed(RUNS[0], prompts=[{**each, "label": f"short: {each['label']}"} for each in prompts])
    assert {case.variant for case in read_results("o.json", named).cases} == {"short", "short (2)"}


def test_a_case_holds_what_was_asked_answered_and_asserted():
    case = read_results("output.json", content("promptfoo-2.json")).cases[4]
    asked, text = {"name": "Grace", "language": "French"}, "Welcome, Grace! Please answer in French."
    assert (case.texts, case.output, case.call.model, case.passed, case.score) == (asked, text, "echo", False, 0.75)
    assert [(each.name, each.score, each.misses) for each in case.judges] == [
        ("contains", 1.0, ()),
        ("warmth", 1.0, ()),
        ("not-contains", 0.0, ('not-contains: Expected output to not contain "Grace"',)),
    ]
    assert case.call.usage == Usage(cost=0.0, latency=case.call.usage.latency)


def test_the_run_says_its_time_and_the_hashes_of_its_prompts():
    run = read_results("output.json", content("promptfoo-1.json")).run
    document = json.loads(content("promptfoo-1.json"))
    prompts = document["results"]["prompts"]
    assert run.timestamp == document["results"]["timestamp"]
    assert run.instruction_hashes == (("", prompts[0]["id"]), ("", prompts[1]["id"]))


@pytest.mark.parametrize(("times", "of"), [(1, "the case"), (2, "2 answers, the first to the case")])
def test_a_provider_that_fails_is_said_once_with_its_first_case(times, of):
    rows = json.loads(content("promptfoo-error.json"))["results"]["results"]
    card = score(changed("promptfoo-error.json", results=rows * times)).scorecard
    what = f"promptfoo has no result of {of} 'name=Ada'"
    assert card.findings == (Finding("warning", what, AGAIN, value="No answer."),)


@in_table
def test_a_version_that_is_not_known_is_a_problem_that_names_those_that_are(version, stated):
    card = score(changed("promptfoo-1.json", version=version)).scorecard
    what = f"it has {stated} of promptfoo's results, and only versions 2 to 4 are known"
    assert (card.status, card.findings[0].message) == ("unreadable", f"The output cannot be read: {what}")
    assert read_results("o.json", changed("promptfoo-1.json", version=4)).cases


@in_table
def test_an_odd_row_is_read_like_the_others(case, old, new, said):
    body = changed("promptfoo-1.json")
    read, odd = read_results("o.json", body), read_results("o.json", body.replace(old.encode(), new.encode()))
    assert odd.cases == read.cases
    assert [finding.message.startswith(said) for finding in odd.findings if said] == [True] * bool(said)


@pytest.mark.parametrize("broken", [b'"half', b"\xff", b"[" * 200 + b"]" * 200])
def test_a_row_that_cannot_be_read_is_named_with_its_line(broken):
    body = changed("promptfoo-1.json").replace(b'"results": [', b'"results": [\n{},\n' + broken + b",")
    with pytest.raises(UnreadableError) as raised:
        read_results("o.json", body)
    assert raised.value.line in (3, None)


def test_what_is_no_score_is_left_out_and_the_rest_counts():
    row = {"testIdx": 0, "promptIdx": 9, "score": 7, "success": True, "vars": {"q": {"a": 1}}, "gradingResult": []}
    result = score(changed("promptfoo-1.json", results=[row, "x", {}]))

    assert [each.name for each in result.scorecard.documents] == ['q={"a": 1}'], "the other one is not judged"
    assert result.scorecard.metric("pass_rate") == 1
    what = "The score of the case 'q={\"a\": 1}' is not a number from 0 to 1, and is left out"
    assert result.scorecard.findings == (Finding("error", what, AGAIN),)


def _row(number: int, **component: Any) -> dict[str, Any]:
    """A row with one assertion of a model."""
    judged = {"assertion": {"type": "llm-rubric", "value": "Polite."}, **component}
    score, passed = component.get("score"), component.get("pass")
    grading = {"pass": passed, "score": score, "componentResults": [judged]}
    test = {"testIdx": number, "promptIdx": 0, "vars": {"q": number}, "success": passed, "score": score}
    return {**test, "gradingResult": grading, "response": {"output": "Hi"}}


@in_table
def test_a_case_whose_judge_failed_is_not_judged_and_counted_beside_the_others(component, why):
    rows = [_row(0, **{"pass": True, "score": 1}), _row(1, **{"pass": True, "score": 1}), _row(2, **component)]
    result = score(changed("promptfoo-1.json", results=rows))
    card = result.scorecard
    assert (card.metric("pass_rate"), card.metric("score"), card.counts) == (1, 1, Counts(tp=2))
    assert [judgement.document for judgement in result.judgements] == [each.name for each in card.documents]
    case = card.documents[0].name.replace("q=0", "q=2")
    what = f"A judge failed at the case {case!r}"
    assert card.findings == (Finding("warning", what, "Let promptfoo judge the answers again.", value=why),)
    notes = [panel.text for panel in result.panels if isinstance(panel, NotePanel)]
    assert "A judge failed at 1 of 3 cases. They are not judged, and count in no number." in notes


def test_repeats_of_a_test_are_one_case_and_tests_of_one_name_are_not():
    described = {"testCase": {"description": "t1"}}
    repeats = [{**_row(0, **{"pass": passed, "score": passed}), **described} for passed in (True, False, True)]
    others = [{**_row(1, **{"pass": True, "score": 1}), **described}]
    results = read_results("o.json", changed("promptfoo-1.json", prompts=[], results=[*repeats, *others]))
    assert [case.id for case in results.cases] == ["t1", "t1", "t1", "t1 (2)"]
    card = score(changed("promptfoo-1.json", prompts=[], results=[*repeats, *others])).scorecard
    assert [round(dict(each.metrics)["pass_rate"] or 0, 3) for each in card.documents] == [0.667, 1]
    assert card.metric("pass_rate") == pytest.approx((2 / 3 + 1) / 2)


def test_an_error_beside_a_grade_leaves_the_grade():
    rows = [_row(0, **{"pass": False, "score": 0, "error": "slow"})]
    assert score(changed("promptfoo-1.json", results=rows)).scorecard.metric("pass_rate") == 0


def test_pages_have_the_answers_with_what_failed():
    result = score(content("promptfoo-error.json"))
    (case,) = result.cases
    assert result.prompts == {"prompt 1": "Hi {{name}}"}
    assert (case.id, case.asked, case.expected) == ("name=Ada", {"name": "Ada"}, "")
    told = [(answer.model, answer.passed, answer.output, answer.error) for answer in case.answers]
    assert told == [("echo", 1.0, "Hi Ada", ""), ("broken", 0.0, "", "No answer.")]


def test_ratings_by_hand_are_held_against_the_judge_of_the_same_answers():
    found = read_results("run.json", content("promptfoo-rated.json"))
    assert [case.verdicts for case in found.cases] == [(True, False), (False, True), None]
    assert [[judge.name for judge in case.judges] for case in found.cases] == [
        ["llm-rubric", "contains", "human"],
        ["llm-rubric", "contains", "human"],
        ["llm-rubric", "equals"],
    ]
    result = score(content("promptfoo-rated.json"))
    assert result.agreement is not None
    assert (result.agreement.agreed, result.agreement.judged) == (0, 2)


def rated(**assertion: Any) -> bytes:
    """The rated run with another assertion in the place of the judged one."""
    document = json.loads(content("promptfoo-rated.json"))
    for row in document["results"]["results"]:
        row["gradingResult"]["componentResults"][0]["assertion"] |= assertion
    return json.dumps(document).encode()


def test_the_judge_is_the_provider_and_the_prompt_of_its_assertion_or_else_of_its_test():
    judges = [judge.grader for judge in read_results("run.json", content("promptfoo-rated.json")).cases[0].judges]
    assert judges == [Grader("file://judge.js prompt 9bb2175e21d9", "kind"), None, None]
    stated = rated(provider={"id": "j-2", "config": {}}, rubricPrompt="Is it?", value="curt", type="not-llm-rubric")
    assert read_results("run.json", stated).cases[0].judges[0].grader == Grader("j-2 prompt ecde693842a9", "curt")
    typed = rated(provider={"text": {"id": "j-3"}, "embedding": "e"}, type="g-eval")
    assert (read_results("run.json", typed).cases[0].judges[0].grader or Grader()).name.startswith("j-3 prompt")
    alone = json.loads(content("promptfoo-rated.json"))
    for row in alone["results"]["results"]:
        row["testCase"].pop("options")
    assert read_results("run.json", json.dumps(alone).encode()).cases[0].judges[0].grader == judges[0]
    assert read_results("run.json", rated(type="equals")).cases[0].judges[0].grader is None


def test_options_of_the_judge_are_no_parameters_of_the_answer():
    assert {case.call.parameters for case in read_results("run.json", content("promptfoo-rated.json")).cases} == {""}


def test_what_a_model_judged_and_what_rules_did_is_one_headline_and_counts_as_judged():
    result = score(content("promptfoo-rated.json"))
    usage = result.scorecard.usage
    assert usage is not None
    assert usage.judges == ("file://judge.js prompt 9bb2175e21d9",)
    assert usage.graded == ("score", "f1", "precision", "recall", "pass_rate")
    assert len({document.rubric for document in result.scorecard.documents}) == 1
    said = "A model gave 3 of these 8 opinions, rules or people the others."
    assert next(panel.text[: len(said)] for panel in result.panels if isinstance(panel, NotePanel)) == said
    mechanical = score(rated(type="contains")).scorecard
    assert (mechanical.usage and mechanical.usage.graded, mechanical.documents[0].rubric) == ((), "")


def test_a_test_is_named_by_its_short_variables_and_by_the_text_that_the_model_is_given_if_these_are_the_same():
    rows = [
        {"testIdx": place, "vars": {"document": f"{text} begins alike. " * 10, "task": task}, "score": 1}
        | {"testCase": {"description": f"Row #{place + 1}"}}
        for place, (text, task) in enumerate((("A", 1), ("B", 2), ("C", 2)))
    ]
    cases = read_results("o.json", changed("promptfoo-1.json", results=rows)).cases
    assert [case.id.partition(" begins")[0] for case in cases] == ["task=1", "task=2, document=B", "task=2, document=C"]
