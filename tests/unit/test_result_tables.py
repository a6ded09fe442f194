"""Tables of results: what columns mean, what presets know, and that totals are those of the columns."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from sitegen.data_files.reading import MOST_ROWS, UnreadableError
from sitegen.importers import read_results
from sitegen.importers.case import JudgedCase, JudgedResults, Opinion
from sitegen.model.metrics import Counts
from sitegen.model.scorecards import FieldScore, Scorecard
from sitegen.model.usage import Call, Usage
from tests.gitrepo import GitRepo
from tests.scored import scored
from tests.sites import build_site

RIGHT, WRONG = Counts(tp=1), Counts(fp=1, fn=1, wrong_value=1)


def read(path: str, content: bytes | str, **settings: Any) -> JudgedResults:
    body = content if isinstance(content, bytes) else content.encode()
    return read_results(path, body, json.dumps({"ground_truth_format": "auto", **settings}))


def card(path: str, content: str, **settings: Any) -> Scorecard:
    return scored("judged", {path: content}, settings=settings).scorecard


def lines(*objects: dict[str, Any]) -> str:
    return "\n".join(map(json.dumps, objects))


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


def test_a_repeat_more_or_less_is_no_other_case_and_moves_no_other_value() -> None:
    columns = {"id": "id", "passed": "ok"}
    settings = json.dumps({"columns": columns})
    tables = ("id,ok\na,1\na,0\nb,1\n", "id,ok\na,1\na,0\na,1\na,0\nb,1\nb,1\n")
    results = [scored("judged", {"r.csv": table}, settings=settings) for table in tables]
    before, after = (result.scorecard for result in results)
    sides = [[(row.document, row.outcome, row.expected, row.actual) for row in result.judgements] for result in results]
    assert sides[0] == sides[1]
    assert [each.name for each in before.documents] == [each.name for each in after.documents] == ["a", "b"]
    assert before.metric("pass_rate") == after.metric("pass_rate") == 0.75


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
    assert cards == ["Where it comes from", "How these numbers are computed", "Cases"]
    assert numbers[:4] == ["Since iteration-001", "Instructions as of", "Edited", "Instructions"]
    assert columns == ["Case", "Score"]


@pytest.mark.parametrize(
    ("path", "content", "what"),
    [
        ("r.csv", b"id,id\na,b\n", "the column 'id' stands twice"),
        ("r.csv", b"id,score\na,1\nb", "its last row has fewer cells than all others, and no line end"),
        ("r.csv", b"\xff\xfe", "it is not UTF-8 text"),
        ("r.csv", b"id,s\na,1\n%b HEAD\nb,2\n" % (b"<" * 7), "two versions of it stand side by side, by a merge"),
        ("r.xlsx", b"PK", "it is not a table: its name ends in 'xlsx'"),
        ("r.parquet", b"PAR1", "it is not a table: its name ends in 'parquet'"),
    ],
)
def test_what_is_no_table_is_refused(path: str, content: bytes, what: str) -> None:
    assert refused(path, content, columns={"id": "id", "score": "s"})[0] == what


def test_tables_are_bounded() -> None:
    columns = {"id": "id", "score": "s"}
    wide = ",".join(f"c{number}" for number in range(1_001))
    assert refused("r.csv", f"{wide}\n{wide}0\n", columns=columns)[0] == "it has more than 1,000 columns"
    number = MOST_ROWS + 1
    assert refused("r.csv", "id,s\n" + "a,1\n" * number, columns=columns)[0] == "it has more than 250,000 rows"


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
