"""Files that hold what is expected and what was given: read, scored, followed through history, and found."""

import json
from pathlib import Path
from typing import Any

import pytest

from sitegen.commands.signatures import app
from sitegen.data_files.reading import UnreadableError, check_distinct
from sitegen.errors import ConfigurationError
from sitegen.questions.verify import verify
from sitegen.questions.work_tree import WorktreeProject
from sitegen.scoring.case_files import kind_of_case_file, read_case_file, sides_of
from sitegen.scoring.kinds import File, ScoringInputs, scorer
from sitegen.scoring.mapping import CaseKeys
from tests.gitrepo import Content, GitRepo
from tests.rows import in_table
from tests.scored import Counted
from tests.sites import broken_links, build_site, content, problems_text

SETTINGS = '{"ground_truth_format":"cases"}'
QUESTIONS = [
    {"id": "a", "input": "2 + 2", "expected": "4", "output": "4"},
    {"id": "b", "input": "3 + 3", "expected": "6", "output": "7"},
]
RECEIPTS: list[dict[str, Any]] = [
    {"id": "r1", "expected": {"total": 12.5, "shop": "Kiosk"}, "extracted": {"total": 12.5, "shop": "Cafe"}},
    {"id": "r2", "expected": {"total": 3}, "extracted": {"total": 3, "note": "paid"}},
]


def as_json(value: object) -> bytes:
    return json.dumps(value).encode()


def both(path: str, value: object, keys: CaseKeys | None = None) -> list[tuple[str, Any, Any]]:
    content = value if isinstance(value, bytes) else as_json(value)
    return [(case.id, case.expected, case.output) for case in read_case_file(path, content, keys or CaseKeys()).cases]


@in_table
def test_cases_are_the_first_list_whose_members_have_both_sides(case, value):
    assert both("x.json", value) == [("a", "4", "4"), ("b", "6", "7")]


TABLE = b"Case ID,Question,Expected Answer,Actual\na,2 + 2,4,4\nb,3 + 3,6,\nc,5 + 5,,10\n"


def test_rows_of_csv_are_cases_whose_columns_are_known_by_the_same_names():
    assert both("x.csv", TABLE) == [("a", "4", "4"), ("b", "6", ""), ("c", None, "10")]
    assert kind_of_case_file("x.csv", TABLE) == "responses"
    judged = b"Case ID,Is_Correct,Expected Answer,Actual\na,1,4,4\nb,0,6,\n"
    assert kind_of_case_file("x.csv", judged) == "judged", "somebody else has judged it"
    assert kind_of_case_file("x.csv", b"id,expected\na,4\n") is None


@in_table
def test_a_verdict_or_a_score_beside_texts_makes_the_file_judged(beside, kind):
    case = {"id": "a", "expected": "Lima", "output": "It is Lima."}
    assert kind_of_case_file("x.json", as_json([{**case, **beside}])) == kind
    structured = {**case, "expected": {"city": "Lima"}, "output": {"city": "Lima"}}
    assert kind_of_case_file("x.json", as_json([{**structured, **beside}])) == "fields", "fields are judged one by one"
    with pytest.raises(UnreadableError, match="'Actual' stands twice"):
        read_case_file("x.csv", TABLE.replace(b"Question", b"Actual"), CaseKeys())


def test_the_columns_of_a_header_of_any_length_are_compared_once():
    Counted.compared = 0
    names = [Counted(f"column {number}") for number in range(2_000)]
    check_distinct([*names, Counted("")])
    with pytest.raises(UnreadableError, match="'column 7' stands twice"):
        check_distinct([*names, names[7]])
    assert Counted.compared < 10 * len(names)


def test_json_lines_are_cases_and_other_lines_are_told():
    lines = b'{"run": "of today"}\n' + b"\n".join(map(as_json, QUESTIONS)) + b'\n{"id": "caf\xe9"}\n'
    read = read_case_file("x.jsonl", lines, CaseKeys())
    assert [(case.id, case.line) for case in read.cases] == [("a", 2), ("b", 3)]
    assert [(finding.severity, finding.line) for finding in read.findings] == [("error", 4), ("note", None)]


def test_a_key_that_occurs_twice_in_a_line_is_reported_with_the_line():
    lines = b'{"id": "a", "expected": "1", "output": "1"}\n{"id": "b", "expected": "1", "output": "2", "output": "1"}\n'
    (finding,) = read_case_file("x.jsonl", lines, CaseKeys()).findings
    assert (finding.severity, finding.line, finding.value) == ("warning", 2, "'output'")


def test_of_runs_that_append_lines_the_newest_counts_on_both_sides():
    rows = [{"run_id": run, **case, "expected": run} for run in ("1", "2") for case in QUESTIONS]
    assert both("x.jsonl", b"\n".join(map(as_json, rows))) == [("a", "2", "4"), ("b", "2", "7")]


def test_keys_that_no_name_tells_are_stated():
    value = {"report": {"rows": [{"n": 1, "meta": {"truth": "4"}, "said": "5"}]}}
    keys = CaseKeys(list="report.rows", id="n", expected="meta.truth", output="said")
    assert both("x.json", value, keys) == [("1", "4", "5")]
    with pytest.raises(UnreadableError, match="no list of cases"):
        both("x.json", value)


@in_table
def test_a_case_is_called_by_its_id_else_by_what_was_asked_else_by_its_number(cases, names):
    assert [name for name, _, _ in both("x.json", cases)] == names


@in_table
def test_what_is_expected_tells_how_a_file_is_scored(value, kind):
    assert kind_of_case_file("x.json", as_json(value)) == kind


@pytest.mark.parametrize("content", [as_json(QUESTIONS)[:-10], b"[", b"", b"[]", b"{}", b"null"])
def test_a_file_that_was_cut_off_or_is_empty_does_not_tell_its_kind(content):
    with pytest.raises(UnreadableError):
        kind_of_case_file("x.json", content)


def test_each_side_has_a_digest_of_its_own_whatever_the_order_and_what_else_is_there():
    def sides(cases: list[dict[str, Any]], **others: object) -> tuple[str, str]:
        found = sides_of("x.json", as_json({"results": cases, **others}), SETTINGS)
        assert found is not None
        return found

    relabelled = [QUESTIONS[0] | {"expected": "5"}, QUESTIONS[1]]
    answered = [QUESTIONS[0] | {"output": "5"}, QUESTIONS[1]]
    expected, output = sides(QUESTIONS)
    assert sides(QUESTIONS[::-1], accuracy=0.5) == (expected, output)
    assert (sides(relabelled)[0] == expected, sides(relabelled)[1]) == (False, output)
    assert (sides(answered)[0], sides(answered)[1] == output) == (expected, False)
    assert sides_of("x.jsonl", b'{"expected": 1, "output": 2}\n{"exp', SETTINGS) is None


def scored(kind: str, truth: object, output: object) -> Any:
    files = [File("x.json", as_json(each)) for each in (truth, output)]
    return scorer(kind).score(ScoringInputs(outputs=(files[1],), ground_truth=files[0], settings=SETTINGS))


def test_objects_are_scored_cell_by_cell_against_the_expected_side_of_the_other_file():
    truth = [RECEIPTS[1], RECEIPTS[0] | {"expected": {"total": 12.5, "shop": "Cafe"}}]
    told = [scored("fields", each, RECEIPTS).scorecard.counts[:3] for each in (RECEIPTS, truth)]
    assert told == [(2, 2, 1), (3, 1, 0)]


def test_an_output_that_is_text_is_read_as_json_where_an_object_is_expected():
    cases = [
        {"id": "a", "expected": {"x": 1}, "output": '{"x": 1}'},
        {"id": "b", "expected": {"x": 1}, "output": "I found nothing."},
        {"id": "c", "expected": {"x": 1}, "output": None, "error": "timeout"},
        {"id": "d", "expected": [1, 2], "output": "[1, 3]"},
    ]
    result = scored("fields", cases, cases)
    outcomes = [(each.document, each.path, each.outcome) for each in result.judgements]
    assert outcomes == [
        ("a", "x", "correct"),
        ("b", "x", "omission"),
        ("c", "x", "omission"),
        ("d", "value", "wrong_value"),
    ]
    assert [each.note for each in result.judgements[1:3]] == ["it is not an object", "there is no output: timeout"]


def test_texts_are_scored_as_responses():
    result = scored("responses", QUESTIONS, [*QUESTIONS[:1], {"id": "b", "expected": "", "error": "timeout"}])
    assert [(each.document, each.outcome) for each in result.judgements] == [("a", "correct")]
    assert [each.failed for each in result.scorecard.variants.values()] == [1]
    assert [(case.id, case.question) for case in result.cases] == [("a", "2 + 2"), ("b", "3 + 3")]


@in_table
def test_an_output_with_the_answers_of_several_prompts_has_variants(case, second, accuracies):
    first = {"short": "ham", "long": "It asks." if "It greets." in as_json(second).decode() else "spam"}
    cases = [{"expected": "spam", "response": first}, {"expected": "ham", "response": second}]
    card = scored("responses", cases, cases).scorecard
    assert {name: dict(each.metrics).get("accuracy") for name, each in card.variants.items()} == accuracies
    swapped = [{**each, "response": dict(zip(first, reversed(first.values()), strict=True))} for each in cases]
    assert sides_of("c.json", as_json(cases), SETTINGS) != sides_of("c.json", as_json(swapped), SETTINGS)


def test_what_cases_and_their_file_state_of_usage_is_read():
    cases = {"cost": 0.5, "cases": [{**case, "model": "m", "quality": 4} for case in QUESTIONS]}
    card = scored("responses", cases, cases).scorecard
    assert (card.usage.models, card.metric("cost"), card.metric("average_quality")) == (("m",), 0.5, 4.0)


FIXED = [RECEIPTS[0] | {"extracted": {"total": 12.5, "shop": "Kiosk"}}, RECEIPTS[1]]
RELABELLED = [case | {"expected": {"total": case["expected"]["total"]}} for case in FIXED]
BOTH = [case | {"expected": {"total": 3}, "extracted": {"total": 3}} for case in RELABELLED]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose manifest names nothing: one file that is overwritten, runs with both sides, a file at the top."""
    folder = tmp_path_factory.mktemp("cases")
    repo = GitRepo(folder / "repo")
    runs = [QUESTIONS, [QUESTIONS[0], QUESTIONS[1] | {"output": "6"}], [QUESTIONS[0] | {"expected": "5"}, QUESTIONS[1]]]
    for day, (cases, run) in enumerate(zip((RECEIPTS, FIXED, RELABELLED, None), (*runs, None), strict=True), 1):
        files: dict[str, Content] = {"CLAUDE.md": f"Day {day}\n"}
        if run is not None:
            lines = b"".join(as_json(each) + b"\n" for each in run)
            files |= {"evals/receipts/cases.json": as_json({"accuracy": day, "cases": cases})}
            files |= {f"evals/qa/runs/run-2026020{day}-120000/results.jsonl": lines, "evals/top.json": as_json(run)}
        else:
            files |= {"evals/receipts/cases.json": b'{"cases": [', "evals/plain/ground_truth.json": "{}"}
        repo.commit(files)
    repo.check_in({"evals/receipts/cases.json": as_json(BOTH)})
    build_site(repo.path, folder / "public")
    return folder


def test_an_attribution_names_the_side_that_moved_a_metric(project):
    series = json.loads((project / "public/data/evals/receipts.json").read_bytes())
    parts = [point["delta"]["parts"] for point in series["points"][1:3]]
    told = [sorted(name for name, value in each.items() if value) for each in parts]
    assert told == [["metric", "outputs"], ["ground_truth", "metric"]]


def test_evals_by_convention_beside_a_file_at_the_top_stay_what_they_are(project):
    series = json.loads((project / "public/data/evals/plain.json").read_bytes())
    assert (series["kind"], series["points"]) == ("fields", [])


def test_pages_of_such_evals_link_and_report_nothing_but_the_broken_file(project):
    assert broken_links(project / "public") == []
    problems = problems_text(project / "public")
    assert "The output cannot be read" in problems
    assert problems.count("no output") == 1  # of the eval by convention
    assert [words for words in ("no ground truth", "not there") if words in problems] == []


def test_what_lies_in_the_work_tree_is_scored(project):
    bench = WorktreeProject.open(project / "repo")
    assert bench.eval_ids == ("plain", "qa", "receipts", "top")
    assert verify(bench, "qa").result.scorecard.metric("accuracy") == 0.0
    assert verify(bench, "receipts").result.scorecard.metric("f1") == 1.0


@in_table
def test_no_command_writes_over_both_sides_or_copies_them(project, command, said):
    before = content(project / "repo/evals")
    with pytest.raises(ConfigurationError, match=said):
        app([*command, "--repo", str(project / "repo")], standalone_mode=False)
    assert content(project / "repo/evals") == before


@in_table
def test_a_report_of_a_tool_is_judged_wherever_its_cases_are_in_it(name):
    content = (Path(__file__).parents[1] / "importers/fixtures" / name).read_bytes()
    assert kind_of_case_file(f"evals/desk/{name}", content) == "judged"
