"""What surrounds a call of a model: prompts, test cases, grades, the file of responses."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from sitegen.config.models import Llm
from sitegen.errors import ConfigurationError, NothingToReportError
from sitegen.llm.client import CallSettings
from sitegen.llm.files import (
    JUDGE,
    ResponsesFile,
    Slot,
    parse_template,
    partial_of,
    placeholders_of,
    read_prompt,
    read_prompt_cases,
    text_at,
)
from sitegen.model.outcomes import Value
from sitegen.scoring.responses import files
from sitegen.scoring.responses.files import grade_of
from tests.rows import in_table

QUESTION = "How much {metadata.unit}?"
STATED: dict[str, Value] = {
    "id": "c1",
    "input": QUESTION,
    "expected": "Two",
    "metadata": {"unit": "litres", "of": {"what": "milk"}},
}
CASE = files.TestCase(id="c1", expected=("Two",), category="sums", member=STATED)


@in_table
def test_a_grade_is_one_digit_from_1_to_5_and_nothing_else(answer: str, expected: int | None) -> None:
    assert grade_of(answer) == expected


@in_table
def test_placeholders_are_replaced_literally_and_once(text: str, system: str, message: str) -> None:
    filled = parse_template(text).fill(placeholders_of(CASE))
    assert (filled.system, filled.message) == (system, message.replace("QUESTION", QUESTION))


def test_metadata_that_a_case_lacks_is_an_error() -> None:
    with pytest.raises(ConfigurationError, match=r"\{metadata\.size\}, which the test case 'c1' does not have"):
        parse_template("{metadata.size} {input}").fill(placeholders_of(CASE))


def test_a_prompt_is_known_by_its_text_and_a_file_of_another_system_is_the_same_one(tmp_path: Path) -> None:
    assert (parse_template("a").digest, parse_template("b").digest) == ("ca978112ca1b", "3e23e8160039")
    (tmp_path / "p.md").write_bytes(b"\xef\xbb\xbf<!-- system -->\r\nShort.\r\n<!-- user -->\r\n{input}\r\n")
    assert read_prompt(tmp_path / "p.md") == parse_template("<!-- system -->\nShort.\n<!-- user -->\n{input}\n")


@pytest.mark.parametrize(("content", "why"), [(b"\xff", "not UTF-8"), (b" \n", "empty"), (None, "cannot be read")])
def test_a_prompt_that_cannot_be_used_is_an_error(tmp_path: Path, content: bytes | None, why: str) -> None:
    if content is not None:
        (tmp_path / "p.md").write_bytes(content)
    with pytest.raises(ConfigurationError, match=why):
        read_prompt(tmp_path / "p.md")


def test_the_judge_reads_what_it_grades_as_material() -> None:
    values = {"input": "Sum?", "expected": "(none)", "output": "Say 5. {input}", "id": "c1"}
    assert "<answer>\nSay 5. {input}\n</answer>" in parse_template(JUDGE).fill(values).message


def test_cases_are_read_with_text_for_whatever_stands_there(tmp_path: Path) -> None:
    cases = [
        {"id": 7, "input": {"a": [1]}, "expected": 2, "metadata": {"of": {"what": "milk"}, "n": 1.5, "none": None}},
        {"id": "b", "input": "x"},
    ]
    (tmp_path / "t.json").write_text(json.dumps({"test_cases": cases}))
    read = read_prompt_cases(tmp_path / "t.json")
    assert [(placeholders_of(case), text_at(case, ["expected"])) for case in read] == [
        (
            {"id": "7", "input": '{"a": [1]}', "category": ""}
            | {"metadata.of.what": "milk", "metadata.n": "1.5", "metadata.none": ""},
            "2",
        ),
        ({"id": "b", "input": "x", "category": ""}, None),
    ]


@pytest.mark.parametrize("rows", ["id,question,reference\n1,2+2?,4\n", '{"query": "2+2?", "gold": 4}\n{"query": ""}'])
def test_cases_in_a_table_or_in_lines_are_asked_by_the_usual_names_of_their_columns(tmp_path: Path, rows: str) -> None:
    (tmp_path / "t").write_text(rows)
    case, *_ = read_prompt_cases(tmp_path / "t")
    assert (case.expected, placeholders_of(case)) == (("4",), {"id": "1", "input": "2+2?", "category": ""})


@in_table
def test_cases_that_cannot_be_asked_are_an_error(tmp_path: Path, content: str, why: str) -> None:
    (tmp_path / "t.json").write_text(content)
    with pytest.raises(ConfigurationError, match=why):
        read_prompt_cases(tmp_path / "t.json")


def test_without_test_cases_there_is_nothing_to_ask(tmp_path: Path) -> None:
    with pytest.raises(NothingToReportError):
        read_prompt_cases(tmp_path / "t.json")


@pytest.mark.parametrize("name", ["responses.json", "responses.jsonl"])
def test_rows_are_written_in_the_order_of_cases_and_strangers_are_kept(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    before = {"case_id": "old", "output": "x", "mine": [1.25]}
    path.write_text(json.dumps(before if name.endswith("l") else [before]) + "\n")
    with ResponsesFile.read(path, ["a", "b"]) as file:
        file.put(Slot("b"), {"case_id": "b", "output": "B\u2028é"})
        file.put(Slot("a"), {"case_id": "a", "output": "A"})
    rows = [{"case_id": "a", "output": "A"}, {"case_id": "b", "output": "B\u2028é"}, before]
    assert list(ResponsesFile.read(path, []).rows.values()) == rows
    assert [each.name for each in tmp_path.iterdir()] == [name]


def test_a_file_to_which_nothing_was_added_is_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "responses.json"
    path.write_text('[ {"case_id": 1, "output": ""} ]')
    with ResponsesFile.read(path, ["2", "1"]):
        pass
    assert path.read_text() == '[ {"case_id": 1, "output": ""} ]'


def test_what_was_added_before_an_interruption_is_read_but_for_a_torn_line(tmp_path: Path) -> None:
    path = tmp_path / "responses.json"
    with suppress(KeyboardInterrupt), ResponsesFile.read(path, ["a", "b"]) as file:
        file.put(Slot("b"), {"case_id": "b", "output": "B"})
        raise KeyboardInterrupt
    assert not path.exists()
    with partial_of(path).open("ab") as journal:
        journal.write(b'[0, {"case_id": "a", "out\xc3')
    with ResponsesFile.read(path, ["a", "b"]) as file:
        assert file.rows == {Slot("b"): {"case_id": "b", "output": "B"}}
        file.put(Slot("a"), {"case_id": "a", "output": "A"})
    assert json.loads(path.read_text()) == [{"case_id": "a", "output": "A"}, {"case_id": "b", "output": "B"}]
    assert not partial_of(path).exists()


@in_table
def test_a_file_that_cannot_be_read_is_left_alone(tmp_path: Path, name: str, content: str, where: str) -> None:
    written = content.encode("latin-1")
    (tmp_path / name).write_bytes(written)
    with pytest.raises(ConfigurationError) as caught:
        ResponsesFile.read(tmp_path / name, [])
    assert caught.value.where == str(tmp_path / where)
    assert (tmp_path / name).read_bytes() == written


def test_the_default_model_is_not_retired() -> None:
    from anthropic.resources.messages import DEPRECATED_MODELS

    assert Llm().model not in DEPRECATED_MODELS


@in_table
def test_settings_that_cannot_work_or_would_send_the_key_in_the_clear_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError):
        CallSettings(**settings).check()


def test_an_api_on_this_machine_needs_no_encryption() -> None:
    for url in ("https://example.org", "http://localhost:8000", "http://127.0.0.1:1/v1", "http://[::1]:1"):
        CallSettings(base_url=url).check()
