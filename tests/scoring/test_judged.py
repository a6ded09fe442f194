"""Kind ``judged``: the tables of ``judged.md``, and what a report gets to show."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from sitegen.data_files.reading import DUPLICATE_KEY
from sitegen.importers.case import JudgedCase, Opinion
from sitegen.model.outcomes import REDACTED
from sitegen.model.problems import Finding
from sitegen.model.scorecards import NotePanel, Result, TablePanel
from sitegen.scoring.answers import answered_cases
from sitegen.scoring.documents import results_document
from sitegen.scoring.kinds import File, ScoringInputs, scorer
from sitegen.scoring.redaction import redaction
from sitegen.scoring.results_file import Metadata
from sitegen.stats.counts import total
from tests.scored import scored
from tests.scoring.test_tables import NOTHING, titled_rows

JUDGE = "Correct the judge's results."


def score(content: bytes | None) -> Result:
    output = File("results.jsonl", content, "" if content is not None else "a Git LFS pointer")
    return scorer("judged").score(ScoringInputs(outputs=(output,)))


def lines(*cases: dict[str, Any]) -> bytes:
    return "\n".join(map(json.dumps, cases)).encode()


@pytest.mark.parametrize("row", titled_rows("judged.md"))
def test_the_result_is_what_the_table_says(row):
    result = score("\n".join(row["lines"].split("¶")).encode())
    card = result.scorecard
    attributes = [f"{name} {' '.join(map(str, counts[:4]))}" for name, counts in card.fields]
    outcomes = [
        f"{each.document} {each.path} {each.outcome}: {each.expected or NOTHING}, {each.actual or NOTHING}"
        + (f" ({each.note})" if each.note else "")
        for each in result.judgements
    ]
    said = {
        "numbers": " ".join(NOTHING if value is None else f"{value:.3f}" for _, value in card.metrics[:4]),
        "counts": " ".join(map(str, card.counts[:4])),
        "status": card.status,
        "attributes": "; ".join(attributes) or NOTHING,
        "outcomes": "; ".join(outcomes) or NOTHING,
    }
    checks = {name: row[name] for name in said if name in row}
    assert {name: said[name] for name in checks} == checks


def test_a_line_that_cannot_be_read_is_reported_with_its_number_and_the_rest_is_scored():
    result = score(b'{"id": "a", "score": 1}\n\n{"id": \n[]\n{"id": "b", "score": 0}\n')
    why = "it is not valid JSON: Expecting value at line 3, column 8"
    assert [each.name for each in result.scorecard.documents] == ["a", "b"]
    assert result.scorecard.findings == (
        Finding(severity="error", message=f"Line 3 cannot be read: {why}", fix=JUDGE, line=3),
        Finding(severity="error", message="Line 4 is not an object", fix=JUDGE, line=4),
    )


TABLE = b"id,target,answer,ok\na,yes,no,0\nb,yes,Yes!,1\nc,yes,,0\nd,,no,0\n"
COLUMNS = '{"columns": {"id": "id", "expected": "target", "output": "answer", "passed": "ok"}}'


def judged_table() -> Result:
    return scored("judged", {"results.csv": TABLE}, settings=COLUMNS)


def test_a_judgement_holds_the_expected_and_the_actual_answer_where_the_file_has_them():
    assert [(row.document, row.outcome, row.expected, row.actual) for row in judged_table().judgements] == [
        ("a", "wrong_value", "yes", "no"),
        ("b", "correct", "yes", "Yes!"),
        ("c", "wrong_value", "yes", "failed"),
        ("d", "wrong_value", "passed", "failed: no"),
    ]


def test_a_redaction_hides_every_answer_because_it_may_hold_the_values_of_any_attribute():
    hiding = redaction(("tone",))
    assert hiding
    sides = [(row.expected, row.actual) for row in hiding.applied(judged_table()).judgements]
    assert sides == [(REDACTED, REDACTED)] * 4
    answered = {"id": "a", "output": "call 555 0100", "input": "whom?", "expected": "555", "error": "5"}
    result = score(lines(*({"score": passed, "model": "m", "reason": "5", **answered} for passed in (0, 1))))
    (case,), (hidden,) = result.cases, hiding.applied(result).cases
    assert "555" not in repr(hidden)
    assert [answer.passed for answer in hidden.answers] == [answer.passed for answer in case.answers]


def test_a_redaction_removes_the_reasons_of_a_judge_which_may_quote_an_answer():
    metrics = {"phone": {"fn": 1}}
    result = score(lines({"id": "a", "misses": ["phone: it says 555 0100"], "details": {"metrics": metrics}}))
    assert [judgement.note for judgement in result.judgements] == ["it says 555 0100"]
    hiding = redaction(("phone",))
    assert hiding
    hidden = hiding.applied(replace(result, prompts={"short": "call 555 0100"}))
    assert ([judgement.note for judgement in hidden.judgements], hidden.prompts) == ([""], {})


def test_what_is_odd_is_said_with_its_line():
    result = score(lines({"id": "a", "sample_index": 1, "score": 2}, {"id": "a", "sample_index": 1, "error": "no key"}))
    assert result.scorecard.findings == (
        Finding(
            severity="error",
            message="The score of the case 'a' is not a number from 0 to 1, and is left out",
            fix=JUDGE,
            line=1,
        ),
        Finding(
            severity="warning", message="A sample of the case 'a' occurs twice; the last one counts", fix=JUDGE, line=2
        ),
        Finding(severity="warning", message="The judge failed at the case 'a'", fix=JUDGE, line=2, value="no key"),
    )


def test_a_key_that_stands_twice_is_said_with_its_line():
    result = score(b'{"id": "a", "score": 1}\n{"id": "b", "score": 0, "score": 1}\n')
    assert result.scorecard.findings == (
        Finding(severity="warning", message=DUPLICATE_KEY, fix="Remove one.", line=2, value="'score'"),
    )


@pytest.mark.parametrize(
    ("content", "why"), [(None, "a Git LFS pointer"), (b" \n", "it is empty"), (b"\xff", "it is not UTF-8 text")]
)
def test_a_file_that_cannot_be_read_has_no_numbers(content, why):
    card = score(content).scorecard
    assert (card.status, [metric.value for metric in card.metrics]) == ("unreadable", [None] * 5)
    assert card.findings[0].message == f"The output cannot be read: {why}"


def test_a_missing_output_has_no_numbers():
    card = scored("judged", {}).scorecard
    assert (card.status, card.findings[0].message) == ("unreadable", "The output cannot be read: the output is missing")


@pytest.mark.parametrize(
    ("answered_in", "files", "documents"),
    [
        ("e/out/{model}/**", ("e/out/b/q1.json", "e/out/a/q1.json"), ["q1 · b", "q1 · a"]),
        ("out/{model}.json", ("out/a.json",), ["What? · a"]),
        ("runs/{repeat}/**", ("runs/1/q1.json", "runs/2/q1.json"), ["q1"]),
        ("{model}/**", ("a/q1.json", "a/q1.graded.json"), ["q1 · a"]),
        ("{model}/{variant}/**", ("a/s/q/run-1.json", "a/s/q/run-2.json", "a/t/q.json"), ["q · s · a", "q · t · a"]),
    ],
)
def test_a_case_is_named_by_the_path_of_its_file_and_so_is_who_answered(answered_in, files, documents):
    outputs = dict.fromkeys(files, '{"question": "What?", "passed": true}')
    card = scored("judged", outputs, settings={"answered_in": answered_in}).scorecard
    assert [each.name for each in card.documents] == documents


def test_the_answers_of_agentv_are_read_from_the_files_of_the_run_and_from_no_other():
    places = {"a": "a/outputs/answer.md", "b": "../other/answer.md", "c": "/etc/answer.md"}
    rows = [{"test_id": name, "score": 1, "answer_path": place} for name, place in places.items()]
    index = "\n".join(map(json.dumps, rows)).encode()
    files = {"runs/r/.internal/index.jsonl": index, "runs/r/a/outputs/answer.md": b"Yes\xff"}
    cases = scored("judged", files).cases
    assert [(case.id, case.answers[0].output) for case in cases] == [("a", "Yes\ufffd"), ("b", ""), ("c", "")]


CASE = {
    "id": "a",
    "score": 0.5,
    "hits": ["n: right"],
    "misses": ["m: wrong", "k: missing"],
    "reasoning": "Half.",
    "evaluator_results": [
        {
            "name": "lists",
            "score": 0.25,
            "reasoning": "One of four.",
            "details": {
                "metrics": {"items.n": {"tp": 1, "fn": 3}},
                "alignment": [{"expectedIdx": 0, "parsedIdx": 2, "similarity": 0.95}],
                "unmatched_expected": [1],
                "unmatched_parsed": [0],
            },
        },
        {"name": "tone", "score": 0.75, "assertions": [{"text": "kind", "passed": True}]},
    ],
}


def test_a_report_shows_the_case_its_judges_and_the_alignment():
    result = score(lines(CASE))
    details = json.dumps(CASE["evaluator_results"][0]["details"])  # type: ignore[index]
    assert [(case.id, [tuple(judge) for judge in case.answers[0].judges]) for case in result.cases] == [
        (
            "a",
            [
                ("", 0.5, "Half.\n✓ n: right\n✗ m: wrong\n✗ k: missing", ""),
                ("lists", 0.25, "One of four.", details),
                ("tone", 0.75, "✓ kind", ""),
            ],
        )
    ]
    assert [(panel.title, panel.rows) for panel in result.panels if isinstance(panel, TablePanel)] == [
        (
            "Alignment",
            (
                ("a", "lists", "", "0", "2", "0.95"),
                ("a", "lists", "", "1", "—", "—"),
                ("a", "lists", "", "—", "0", "—"),
            ),
        )
    ]


def test_a_pairing_may_be_written_as_sitegen_writes_it():
    alignment = {"items": [[0, 1, 0.9], [1, None, None], "x"]}
    (table,) = score(lines({"id": "a", "score": 1, "details": {"alignment": alignment}})).panels
    assert isinstance(table, TablePanel)
    assert table.rows == (("a", "", "items", "0", "1", "0.9"), ("a", "", "items", "1", "—", "—"))


def test_texts_are_bounded_and_the_data_are_whole():
    long = {"text": "x" * 10_000}
    cases = [{"id": f"c{number}", "output": "y" * 9_000, "score": 0, "details": long} for number in range(3)]
    result = score(lines(*cases))
    (answer,) = result.cases[0].answers
    assert (len(answer.output), len(answer.judges[0].details)) == (4_026, 1_026)
    data: Any = result.data
    assert data[2] == {"id": "c2", "judges": [{"name": "", "details": long}]}


def test_the_more_text_there_is_the_shorter_each_is_cut():
    case = JudgedCase(id="", opinion=Opinion("", 0), judges=(), output="y" * 5_000)
    for number, kept in ((10_000, 4_000), (10_001, 1_000)):  # 40 million characters together
        cases = answered_cases([replace(case, id=f"c{n}") for n in range(number)])
        assert cases[9].answers[0].output == f"{'y' * kept} … ({5_000 - kept:,} more characters)"


def test_cases_without_a_score_are_counted():
    panels = score(lines({"id": "a", "score": 1}, {"id": "b"})).panels
    assert panels[0] == NotePanel("The mean leaves out 1 of 2 cases that have no score.")


def test_the_document_holds_the_numbers_and_the_details_as_they_were_written():
    document = results_document(score(lines(CASE)), eval_id="e", metadata=Metadata())
    body = json.loads(msgspec.json.Encoder(decimal_format="number").encode(document))
    row = {"tp": 1, "fp": 0, "fn": 3, "tn": 0, "precision": 1.0, "recall": 0.25, "f1": 0.4}
    assert {key: body[key] for key in ("schema", "eval_id", "status", "metrics", "totals", "by_attribute")} == {
        "schema": "sitegen/judged-results/1",
        "eval_id": "e",
        "status": "scored",
        "metrics": {"score": 0.5, "f1": 0.4, "precision": 1.0, "recall": 0.25, "pass_rate": None},
        "totals": row,
        "by_attribute": {"items.n": row},
    }
    judge: Any = CASE["evaluator_results"][0]  # type: ignore[index]
    assert body["cases"] == [
        {
            **dict.fromkeys(("id", "case"), "a"),
            **dict.fromkeys(("variant", "model", "repeat")),
            "tags": {},
            "score": 0.5,
            **dict.fromkeys(("fp", "tn"), 0),
            "tp": 1,
            "fn": 3,
            "judges": [{"name": "lists", "details": judge["details"]}],
        }
    ]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 3) | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
CELLS = st.dictionaries(st.sampled_from(["tp", "fp", "fn", "tn", "f1"]), st.integers(0, 3) | JSON, max_size=4)
DETAILS = st.fixed_dictionaries(
    {},
    optional={
        "metrics": st.dictionaries(st.sampled_from(["n", "m", "total"]), CELLS | JSON) | st.lists(CELLS) | JSON,
        "alignment": st.lists(JSON) | st.dictionaries(st.text(max_size=2), JSON),
        "unmatched_expected": JSON,
    },
)
OPINION: Any = st.fixed_dictionaries(
    {}, optional=dict.fromkeys(("name", "score", "hits", "misses", "reasoning", "assertions"), JSON)
)
LINES = st.lists(
    st.tuples(OPINION, st.sampled_from(["a", "b"]) | JSON, DETAILS | JSON, st.lists(DETAILS) | JSON), max_size=3
)


@given(LINES)
def test_whatever_a_judge_writes_is_summed_up_without_contradiction(cases):
    written = []
    for opinion, name, details, judges in cases:
        scores = [{"name": "j", "details": each} for each in judges] if isinstance(judges, list) else judges
        written.append({**opinion, "id": name, "details": details, "scores": scores})
    result = score("\n".join(json.dumps(case) for case in written).encode())
    card = result.scorecard
    assert card.counts == total([each.counts for each in card.documents] or [card.counts])
    assert card.counts.fp == card.counts.hallucination + card.counts.wrong_value
    assert card.counts.fn == card.counts.omission + card.counts.wrong_value
    assert all(value is None or 0 <= value <= 1 for _, value in card.metrics)
    document: Any = results_document(result, eval_id="e", metadata=Metadata())
    assert len(document.cases) == len(card.documents)
