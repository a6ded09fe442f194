"""Tables of results: what columns mean, what presets know, and that totals are those of the columns."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from sitegen.data_files.reading import MOST_ROWS, UnreadableError
from sitegen.importers import read_results
from sitegen.importers.case import JudgedCase, JudgedResults, Opinion, with_documents
from sitegen.model.metrics import Counts
from sitegen.model.problems import Finding
from sitegen.model.recorded import Recorded
from sitegen.model.scorecards import FieldScore, Scorecard
from sitegen.model.usage import Call, Usage
from sitegen.scoring.kinds import scorer
from sitegen.scoring.scorer import File, ScoringInputs
from tests.gitrepo import GitRepo
from tests.sites import broken_links, build_site, problems_text

RIGHT, WRONG = Counts(tp=1), Counts(fp=1, fn=1, wrong_value=1)


def read(path: str, content: bytes | str, **settings: Any) -> JudgedResults:
    body = content if isinstance(content, bytes) else content.encode()
    return read_results(path, body, json.dumps({"ground_truth_format": "auto", **settings}))


def card(path: str, content: str, **settings: Any) -> Scorecard:
    inputs = ScoringInputs(outputs=(File(path, content.encode()),), settings=json.dumps(settings))
    return scorer("judged").score(inputs).scorecard


def lines(*objects: dict[str, Any]) -> str:
    return "\n".join(map(json.dumps, objects))


def scores(results: JudgedResults) -> list[dict[str, float | None]]:
    return [{judge.name: judge.score for judge in case.judges} for case in results.cases]


def refused(path: str, content: bytes | str, **settings: Any) -> tuple[str, str]:
    with pytest.raises(UnreadableError) as error:
        read(path, content, **settings)
    return error.value.message, error.value.fix


ANSWERS = """case,question,gold,answer,rating,ok,which,ms,price,tokens,note
a,"Is it, ""so""?",yes,Yes ,0.75,true,one,2,0.5,12,close
b,Why?,because,<b>no</b>,nan,false,one,,,,
c,,,,1e-1,,one,,,,
"""
COLUMNS = {
    "id": "case",
    "input": "question",
    "expected": "gold",
    "output": "answer",
    "score": "rating",
    "passed": "ok",
    "variant": "which",
    "latency": "ms",
    "cost": "price",
    "tokens_in": "tokens",
    "reasoning": "note",
}


def test_a_row_is_a_case_by_what_the_manifest_says_of_its_columns() -> None:
    results = read("results.csv", ANSWERS, columns=COLUMNS)
    assert results.findings == ()
    assert results.cases == (
        JudgedCase(
            id="a",
            opinion=Opinion(name="", score=None, counts=(FieldScore("passed", RIGHT),)),
            judges=(Opinion("rating", 0.75, reasoning="close"),),
            variant="one",
            passed=True,
            input='Is it, "so"?',
            expected="yes",
            output="Yes ",
            call=Call(Usage(tokens_in=12, cost=0.5, latency=2.0)),
        ),
        JudgedCase(
            id="b",
            opinion=Opinion(name="", score=None, misses=("passed",), counts=(FieldScore("passed", WRONG),)),
            judges=(Opinion("rating", None),),
            variant="one",
            passed=False,
            input="Why?",
            expected="because",
            output="<b>no</b>",
        ),
        JudgedCase(id="c", opinion=Opinion("", None), judges=(Opinion("rating", 0.1),), variant="one"),
    )
    scored = card("r.csv", ANSWERS, columns=COLUMNS)
    assert (scored.metric("score"), scored.metric("pass_rate")) == ((0.75 + 0.1) / 2, 1 / 2)


def test_a_score_that_is_right_or_wrong_in_every_row_is_a_field_and_any_other_is_not() -> None:
    table = "id,exact,f1,overall\na,1,0.5,0.2\nb,0,1,0.4\n"
    results = read("r.csv", table, columns={"id": "id", "score": "overall", "scores": {"exact": "exact", "F": "f1"}})
    assert [(case.score, case.passed, [judge.counts for judge in case.judges]) for case in results.cases] == [
        (0.2, True, [(("exact", RIGHT),), ()]),
        (0.4, False, [(("exact", WRONG),), ()]),
    ]
    assert scores(results) == [{"exact": 1.0, "F": 0.5}, {"exact": 0.0, "F": 1.0}]


def test_expected_and_output_alone_are_held_against_each_other_by_rule_29() -> None:
    table = "id,gold,said,error\na,Yes, yes ,\nb,Yes,,\nc, ,x,\nd,Yes,yes,timeout\n"
    results = read("r.csv", table, columns={"id": "id", "expected": "gold", "output": "said", "error": "error"})
    assert scores(results) == [{"exact match": 1.0}, {"exact match": 0.0}, {}, {}]
    assert [case.passed for case in results.cases] == [True, False, None, None]
    assert [each.message for each in results.findings] == ["1 of 4 rows state an error"]


def test_a_range_is_brought_to_zero_to_one_and_what_lies_outside_is_said() -> None:
    table = "id,rating\na,1\nb,3\nc,5\nd,7\ne,inf\nf,often\n"
    results = read("r.csv", table, columns={"id": "id", "score": "rating"}, range=[1, 5])
    assert [case.score for case in results.cases] == [0.0, 0.5, 1.0, None, None, None]
    assert [each.message for each in results.findings] == [
        "Scores in the column 'rating' are not numbers from 1 to 5: 3 of 6"
    ]


def test_a_column_that_is_not_there_is_a_problem_that_names_those_that_are() -> None:
    columns = {"id": "case", "score": "rating", "input": ["question", "context"], "error": "none failed"}
    results = read("r.csv", "case,rating,question\na,1,why\n", columns=columns)
    what = "The table has no column 'context'"
    assert results.findings == (
        Finding(severity="error", message=what, fix="Its columns are: case, rating, question.", about="settings"),
    )
    assert (results.cases[0].input, results.cases[0].score) == ("why", 1.0)
    assert refused("r.csv", "a,b\n1,2\n", columns={"id": "a", "score": "c"}) == (
        "none of its columns says how good an answer is; its columns are: a, b",
        "Name a column for score, scores or passed, or for both expected and output.",
    )


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("r.csv", "a,b\n1,2\n"),
        ("r.json", '[{"a": 1}]'),
        ("r.json", '{"runs": [{"expected": "x", "actual": "x"}]}'),
        ("r.csv", "id,success\na,maybe\n"),
    ],
)
def test_a_table_that_nothing_explains_is_a_problem_that_names_the_presets(path: str, content: str) -> None:
    what, fix = refused(path, content)
    assert what == (
        "it is in no format that is known, and no column with the usual name of a score or a verdict holds one"
    )
    assert "langsmith, lm-eval, mlflow, ragas" in fix


def test_settings_that_nobody_knows_are_said_and_the_rest_counts() -> None:
    columns = {"id": "id", "score": "s", "outptu": "s"}
    scored = card("r.csv", "id,s\na,1\n", columns=columns, preset="ragsa", rnage=1)
    assert [(each.message, each.fix) for each in scored.findings] == [
        ("Unknown key 'rnage'", "Write 'range' instead."),
        ("There is no preset 'ragsa'", "Use one of: langsmith, lm-eval, mlflow, ragas; or `columns`."),
        ("Unknown part of a case 'outptu'", "Write 'output' instead."),
    ]
    assert [each.about for each in scored.findings] == ["settings"] * 3
    assert scored.metric("score") == 1.0
    several: tuple[dict[str, Any], ...] = (
        {"columns": 1},
        {"columns": {"id": []}},
        {"columns": {"score": "s"}, "range": [5, 1]},
    )
    for unfit in several:
        abouts = [each.about for each in card("r.jsonl", '{"id": "a", "s": 1}', **unfit).findings]
        assert abouts.count("settings") == 1


def test_rows_without_an_id_are_named_by_their_input_and_variants_tell_them_apart() -> None:
    table = "q,model,s\nwhy,one,1\nwhy,two,0\nwhy,two,1\n,one,1\n"
    results = read("r.csv", table, columns={"input": "q", "variant": "model", "score": "s"})
    assert [case.document for case in with_documents(results.cases)] == [
        "why · one",
        "why · two",
        "why · two",
        "row 4 · one",
    ]
    assert results.findings == ()


def test_rows_of_one_id_are_answers_to_one_case_unless_they_ask_or_expect_something_else() -> None:
    columns = {"id": "id", "input": "q", "expected": "gold", "score": "s"}
    rows = "a,why,yes,1\na,why,yes,0\na,how,yes,1\na,why,no,1\n"
    results = read("r.csv", f"id,q,gold,s\n{rows}", columns=columns)
    assert [case.id for case in results.cases] == ["a", "a", "a (2)", "a (3)"]
    assert [each.message for each in results.findings] == [
        "Names of cases are on rows with different inputs, which are told apart by order: 1"
    ]


def test_a_case_that_several_models_answered_is_one_of_each_model() -> None:
    columns = {"id": "id", "model": "model", "score": "s"}
    results = read("r.csv", "id,model,s\na,one,1\na,two,0\na,two,1\nb,one,1\n", columns=columns)
    assert [case.document for case in with_documents(results.cases)] == ["a · one", "a · two", "a · two", "b · one"]
    alone = read("r.csv", "id,model,s\na,one,1\nb,two,1\n", columns=columns)
    assert [case.id for case in alone.cases] == ["a", "b"]
    rows = "a,short,one,1\na,short,two,0\na,short,two,1\na,long,one,1\n"
    both = read("r.csv", f"id,prompt,model,s\n{rows}", columns={**columns, "variant": "prompt"})
    assert [case.document for case in with_documents(both.cases)] == [
        "a · short · one",
        *["a · short · two"] * 2,
        "a · long · one",
    ]
    of_variants = read("r.csv", "id,prompt,model,s\na,x,one,1\na,y,two,1\n", columns={**columns, "variant": "prompt"})
    assert [case.document for case in with_documents(of_variants.cases)] == ["a · x", "a · y"]


def test_a_repeat_more_or_less_is_no_other_case_and_moves_no_other_value() -> None:
    columns = {"id": "id", "passed": "ok"}
    settings = json.dumps({"columns": columns})
    tables = ("id,ok\na,1\na,0\nb,1\n", "id,ok\na,1\na,0\na,1\na,0\nb,1\nb,1\n")
    results = [
        scorer("judged").score(ScoringInputs(outputs=(File("r.csv", table.encode()),), settings=settings))
        for table in tables
    ]
    before, after = (result.scorecard for result in results)
    sides = [[(row.document, row.outcome, row.expected, row.actual) for row in result.judgements] for result in results]
    assert sides[0] == sides[1]
    assert [document.id for document in before.documents] == [document.id for document in after.documents] == ["a", "b"]
    assert before.metric("pass_rate") == after.metric("pass_rate") == 0.75


def test_a_preset_knows_ragas() -> None:
    table = (
        "user_input,retrieved_contexts,response,reference,faithfulness,answer_relevancy,passed_check\n"
        "why,['x'],because,cause,0.5,0.25,1\nhow,['y'],so,thus,,0.75,0\n"
    )
    results = read("r.csv", table, preset="ragas")
    assert scores(results) == [
        {"faithfulness": 0.5, "answer_relevancy": 0.25, "passed_check": 1.0},
        {"faithfulness": None, "answer_relevancy": 0.75, "passed_check": 0.0},
    ]
    case = results.cases[0]
    assert (case.id, case.input, case.output, case.expected, case.passed) == ("why", "why", "because", "cause", True)
    old = read("r.jsonl", lines({"question": "why", "answer": "so", "ground_truth": "x", "bleu": 0.5}), preset="ragas")
    assert (old.cases[0].output, scores(old)) == ("so", [{"bleu": 0.5}])


@pytest.mark.parametrize(
    ("path", "mark", "time", "cost"),
    [("r.csv", ";", "1500", "0,25"), ("r.tsv", "\t", "1500 ms", "$0.25"), ("r.csv", ";", "00:01.5", "0,25 USD")],
)
def test_usage_is_read_from_columns_with_usual_names_and_units_and_commas_may_be_of_decimals(path, mark, time, cost):
    head = "id;output;score;latency_ms;prompt_tokens;completion_tokens;cost\n"
    (case,) = read(path, f"{head}a;1,5;0,9;{time};12;3;{cost}\n".replace(";", mark)).cases
    assert (case.output, case.judges[0].score) == ("1,5", 0.9)
    assert case.call.usage == Usage(tokens_in=12, tokens_out=3, cost=0.25, latency=1.5)


@pytest.mark.parametrize(
    ("name", "time"), [("latency_ms", 1312), ("latency", 1.312), ("latency_ms", "1.312 s"), ("duration", 1312)]
)
def test_a_time_inside_an_object_has_the_unit_of_its_name(name, time):
    row, columns = lines({"score": 0.5, "reply": {name: time}}), {"score": "score", "latency": f"reply.{name}"}
    assert read("r.jsonl", row, columns=columns).cases[0].call.usage.latency == 1.312


@pytest.mark.parametrize("ending", ["jsonl", "csv"])
def test_what_rows_with_a_score_say_of_their_case_are_its_texts(ending) -> None:
    row = {"id": "a", "question": "Why?", "reference": "So", "answer": "No", "score": "0.5", "topic": "hats"}
    csv = f"{','.join(row)}\n{','.join(row.values())}\n"
    (case,) = read(f"r.{ending}", lines({**row, "score": 0.5}) if ending == "jsonl" else csv).cases
    assert (case.input, case.expected, case.output, case.score) == ("Why?", "So", "No", 0.5)
    assert dict(case.texts) == {"topic": "hats"}


def test_a_preset_knows_langsmith() -> None:
    table = (
        "inputs.question,inputs.context,outputs.output,error,reference.answer,feedback.correct,feedback.tone,"
        "execution_time,example_id,id\n"
        "why,here,because,,cause,True,0.5,1.25,e1,r1\nhow,,,Timeout,so,,,9,e2,r2\n"
    )
    results = read("r.csv", table, preset="langsmith")
    assert scores(results) == [{"correct": 1.0, "tone": 0.5}, {"correct": None, "tone": None}]
    first, second = results.cases
    assert (first.input, first.call.usage.latency) == ("inputs.question: why\ninputs.context: here", 1.25)
    assert (first.id, second.id, second.error, second.score, second.passed) == ("e1", "e2", "Timeout", None, None)


def test_a_preset_knows_the_tables_of_mlflow() -> None:
    columns = [
        "inputs",
        "ground_truth",
        "outputs",
        "token_count",
        "toxicity/v1/score",
        "tone/v1/score",
        "tone/v1/justification",
    ]
    data = [["why", "cause", "because", 9, 0.25, 5, "kind"], ["how", "so", "thus", 7, float("nan"), 3, "curt"]]
    table = json.dumps({"columns": columns, "data": data})
    results = read("eval_results_table.json", table, preset="mlflow")
    assert scores(results) == [{"toxicity": 0.25, "tone": None}, {"toxicity": None, "tone": None}]
    graded = read("t.json", table, preset="mlflow", columns={"scores": {"tone": "tone/v1/score"}}, range=[1, 5])
    assert scores(graded) == [{"tone": 1.0}, {"tone": 0.5}]
    assert graded.cases[0].judges[0].reasoning == "kind"
    row = {"request_id": "r1", "inputs": {"q": "why"}, "outputs": "x", "safe/value": "yes", "safe/rationale": "calm"}
    (case,) = read("t.jsonl", lines(row), preset="mlflow").cases
    assert (case.id, case.input, case.passed, case.judges[0].reasoning) == ("r1", "why", True, "calm")


SAMPLE = {
    "doc_id": 0,
    "doc": {"question": "2+2?"},
    "target": "4",
    "arguments": {"gen_args_0": {"arg_0": "Q: 2+2?", "arg_1": {"until": []}}},
    "resps": [["It is 4"]],
    "filtered_resps": ["4"],
    "filter": "strict",
    "metrics": ["exact_match", "perplexity"],
    "doc_hash": "d",
    "exact_match": 1.0,
    "perplexity": 12.5,
}


def test_samples_of_lm_eval_are_read_without_a_setting() -> None:
    flexible = {**SAMPLE, "filter": "flexible", "filtered_resps": ["5"], "exact_match": 0.0}
    results = read("samples_sums_2026-01-02.jsonl", lines(SAMPLE, flexible))
    assert [(case.document, case.passed, case.score) for case in with_documents(results.cases)] == [
        ("0 · strict", True, 1.0),
        ("0 · flexible", False, 0.0),
    ]
    case = results.cases[0]
    assert (case.input, case.expected, case.output) == ("Q: 2+2?", "4", "4")
    assert [each.message for each in results.findings] == [
        "Scores in the column 'perplexity' are not numbers from 0 to 1: 2 of 2"
    ]
    old = {
        "doc_id": 3,
        "doc": {},
        "target": "1",
        "arguments": [["Q", " a"]],
        "resps": [],
        "filtered_resps": [[-1.5, False]],
    }
    older = read("s.jsonl", lines({**old, "acc": 1.0, "acc_norm": 0.0}))
    assert (older.cases[0].id, older.cases[0].input, scores(older)) == ("3", "Q", [{"acc": 1.0, "acc_norm": 0.0}])


EVENTS = (
    {"spec": {"completion_fns": ["gpt-x"], "eval_name": "sums.dev.v0", "base_eval": "sums", "split": "dev",
              "run_config": {}, "created_by": "", "run_id": "r", "created_at": "2026-01-02 03:04:05.678"}},
    {"run_id": "r", "event_id": 0, "sample_id": "sums.dev.10", "type": "sampling",
     "data": {"prompt": [{"role": "system", "content": "Add."}, {"role": "user", "content": "1+1"}], "sampled": ["3"]}},
    {"run_id": "r", "event_id": 1, "sample_id": "sums.dev.10", "type": "match",
     "data": {"correct": False, "expected": "2", "picked": None, "sampled": "3"}},
    {"run_id": "r", "event_id": 2, "sample_id": "sums.dev.2", "type": "match",
     "data": {"correct": True, "expected": "4", "picked": "4"}},
    {"run_id": "r", "event_id": 3, "sample_id": "sums.dev.2", "type": "metrics", "data": {"bleu": 40.5, "f1": 0.5}},
    {"run_id": "r", "event_id": 4, "sample_id": "sums.dev.3", "type": "error",
     "data": {"type": "TimeoutError", "message": "too late"}},
    {"final_report": {"accuracy": 0.5}, "run_id": "r"},
)  # fmt: skip


def test_events_of_openai_evals_are_cases_whose_matches_are_the_report_of_the_tool() -> None:
    results = read("run.jsonl", lines(*EVENTS))
    assert [(case.id, case.passed) for case in results.cases] == [
        ("sums.dev.2", True),
        ("sums.dev.3", None),
        ("sums.dev.10", False),
    ]
    matches = [judge.score or 0 for case in results.cases for judge in case.judges if judge.name == "match"]
    assert sum(matches) / len(matches) == EVENTS[-1]["final_report"]["accuracy"]  # type: ignore[index]
    last = results.cases[2]
    assert (last.call.model, last.input, last.expected, last.output) == ("gpt-x", "system: Add.\n\nuser: 1+1", "2", "3")
    assert last.judges[0].counts == (("match", WRONG),)
    assert results.run == Recorded(timestamp="2026-01-02 03:04:05.678", grades=("f1",))
    assert [each.message for each in results.findings] == [
        "The sample 'sums.dev.3' ended with an error",
        "Scores of 'bleu' are not numbers from 0 to 1, and are left out: 1",
    ]
    assert refused("run.jsonl", lines(EVENTS[0]))[0] == "it has no events of samples"


def test_a_table_that_is_overwritten_is_a_history_and_its_settings_are_rules(repo: GitRepo, tmp_path: Path) -> None:
    manifest = "evals: {desk: {kind: judged, outputs: results.csv, settings: {columns: {id: id, score: %s}}}}\n"
    table = "id,strict,loose\na,<b>,1\nb,%s,0.5\n"
    for column, value in (("strict", 0), ("strict", 1), ("loose", 1)):
        repo.commit({"evals/manifest.yaml": manifest % column, "evals/desk/results.csv": table % value})
    build_site(repo.path, tmp_path / "public")
    series = json.loads((tmp_path / "public/data/evals/desk.json").read_bytes())
    points = [(point["cause"], point["then"]["metrics"]["score"]) for point in series["points"]]
    assert points == [(["outputs"], 0.0), (["outputs"], 1.0), (["settings"], 0.75)]
    assert "Scores in the column 'strict' are not numbers from 0 to 1: 1 of 2" in problems_text(tmp_path / "public")
    assert broken_links(tmp_path / "public") == []


def test_pages_of_scores_alone_leave_out_what_takes_counts(repo: GitRepo, tmp_path: Path) -> None:
    manifest = "evals: {desk: {kind: judged, outputs: results.csv, settings: {columns: {id: id, score: rating}}}}\n"
    for rating in (0.5, 0.75):
        table = f"id,rating\na,{rating}\nb,0.25\n"
        repo.commit({"evals/manifest.yaml": manifest, "evals/desk/results.csv": table})
    build_site(repo.path, tmp_path / "public")

    def heads(page: str) -> tuple[list[str], list[str], list[str]]:
        text = (tmp_path / "public/evals/desk" / page).read_text("utf-8")
        heads = (re.findall(rf"<{tag}[^>]*>(.*?)</{tag}>", text, re.DOTALL) for tag in ("h2", "dt", "th"))
        return tuple([re.sub("<[^>]+>", "", each).strip() for each in found] for found in heads)  # type: ignore[return-value]

    cards, numbers, columns = heads("index.html")
    assert numbers == ["Score", "Id", "Kind", "Output", "Data"]
    last = (tmp_path / "public/evals/desk/index.html").read_text("utf-8").split('<p class="last">')[1].split("</p>")[0]
    assert "Score" in last
    assert "fixed" not in last
    assert columns[:3] == ["Iteration", "Score", "Change"]
    assert "Errors" not in (tmp_path / "public/evals/desk/index.html").read_text("utf-8").partition("</figure>")[0]
    cards, numbers, columns = heads("0002.html")
    assert cards == ["Where it comes from", "Cases"]
    assert numbers[:4] == ["Since iteration-001", "Instructions", "Edited", "Instructions"]
    assert columns == ["Case", "Score"]


@pytest.mark.parametrize(
    ("path", "content", "what"),
    [
        ("r.csv", b"id,id\na,b\n", "the column 'id' stands twice"),
        ("r.csv", b"id,score\na,1\nb", "its last row has fewer cells than all others, and no line end"),
        ("r.csv", b"\xff\xfe", "it is not UTF-8 text"),
        ("r.csv", b"id,s\na,1\n%b HEAD\nb,2\n" % (b"<" * 7), "two versions of it stand side by side, by a merge"),
        ("r.json", b"{}", "it has no rows"),
        ("r.jsonl", b"[]\n{", "it has no rows"),
        ("r.xlsx", b"PK", "it is not a table: its name ends in 'xlsx'"),
        ("r.parquet", b"PAR1", "it is not a table: its name ends in 'parquet'"),
    ],
)
def test_what_is_no_table_is_refused(path: str, content: bytes, what: str) -> None:
    assert refused(path, content, columns={"id": "id", "score": "s"})[0] == what


@pytest.mark.parametrize(("name", "content"), [("r.csv", "id,s\n"), ("r.json", "[]"), ("r.jsonl", "3\n")])
def test_a_table_without_rows_is_not_read(name: str, content: str) -> None:
    assert refused(name, content, columns={"score": "s"})[0] == "it has no rows"


def test_tables_are_bounded() -> None:
    columns = {"id": "id", "score": "s"}
    wide = ",".join(f"c{number}" for number in range(1_001))
    assert refused("r.csv", f"{wide}\n{wide}0\n", columns=columns)[0] == "it has more than 1,000 columns"
    number = MOST_ROWS + 1
    assert refused("r.csv", "id,s\n" + "a,1\n" * number, columns=columns)[0] == "it has more than 250,000 rows"


def test_rows_of_json_may_stand_at_a_key_that_is_named() -> None:
    content = json.dumps({"made": "now", "runs": {"rows": [{"id": "a", "ok": True}, {"id": "b", "ok": False}]}})
    columns = {"id": "id", "passed": "ok"}
    assert [case.passed for case in read("r.json", content, columns=columns, list="runs.rows").cases] == [True, False]
    what, fix = refused("r.json", content, columns=columns)
    assert what == "it has no rows"
    assert "`list: results`" in fix
    assert card("r.json", content, columns=columns, list=3).findings[0].text == "'list' is not a key"


def test_a_row_whose_judge_failed_is_not_judged() -> None:
    rows = lines(
        {"id": "a", "passed": True, "judge_error": None}, {"id": "b", "passed": False, "judge_error": "no answer"}
    )
    scored = card("r.json", f"[{rows.replace(chr(10), ',')}]")
    assert (scored.metric("pass_rate"), [each.id for each in scored.documents]) == (1, ["a"])
    what = "A judge failed at 1 of 2 rows, which are not judged"
    assert [(each.message, each.value) for each in scored.findings] == [(what, "no answer")]
    scores = [{"id": name, "scores": {"tone": {"score": value, "error": error}}} for name, value, error in _TONES]
    assert [each.id for each in card("r.jsonl", lines(*scores)).documents] == ["a", "c"]


_TONES = (("a", 1, None), ("b", None, "timed out"), ("c", 0.5, "slow"))


def test_objects_with_more_keys_than_a_table_may_have_columns_are_refused() -> None:
    row = {"id": "a", "scores": {f"judge {number}": 1 for number in range(201)}}
    message, _ = refused("r.json", f"[{lines(row)}]")
    assert message == "the objects in its columns have more than 200 keys"


def test_a_prompt_beside_an_input_names_the_variant_unless_it_has_the_input_in_it() -> None:
    rows: list[dict[str, Any]] = [
        {"input": asked, "prompt": of, "passed": True} for asked in "abc" for of in ("1", "2")
    ]
    filled = [{**row, "prompt": f"{row['prompt']} {row['input']}"} for row in rows] * 2
    assert {case.variant for case in read("x.jsonl", lines(*rows)).cases} == {"1", "2"}
    assert {case.variant for case in read("x.jsonl", lines(*filled)).cases} == {""}
