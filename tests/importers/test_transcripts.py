"""Transcripts of agents, in the forms in which tools write them."""

import json
from typing import Any

import pytest

from sitegen.analysis.noise.samples import interval_of
from sitegen.importers import read_results
from sitegen.importers.tool_values import transcript
from sitegen.model.answers import Turn
from tests.importers.test_inspect import changed as changed_log
from tests.importers.test_inspect import stated
from tests.importers.test_promptfoo import _row, changed
from tests.scored import scored

ASKED, CALLED = Turn("message", "user", "How warm is it?"), Turn("call", "weather", '{"city": "Graz"}')
SAID = Turn("message", "assistant", "It is 20 degrees.")
ARGUMENTS = {"city": "Graz"}
QUESTION = {"role": "user", "content": "How warm is it?"}
SAID_IN_PARTS = [{"type": "text", "text": "It is 20 degrees."}]
NO, REFUSED = {"error": "no"}, {"type": "error-text", "value": "no"}
ANSWER = {"role": "assistant", "content": SAID_IN_PARTS}
OF_API = [
    QUESTION,
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "1", "function": {"name": "weather", "arguments": json.dumps(ARGUMENTS)}}],
    },
    {"role": "tool", "tool_call_id": "1", "content": "20"},
    ANSWER,
]
OF_INSPECT = [
    QUESTION,
    {"role": "assistant", "content": "", "tool_calls": [{"id": "1", "function": "weather", "arguments": ARGUMENTS}]},
    {"role": "tool", "function": "weather", "content": "", "error": {"type": "timeout", "message": "too slow"}},
    ANSWER,
]
IN_PARTS = [
    QUESTION,
    {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "weather", "input": ARGUMENTS}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "no", "is_error": True}]},
    ANSWER,
]
WITH_RESULTS = [QUESTION, {"role": "assistant", "tool_calls": [{"tool": "weather", "input": ARGUMENTS, "output": 20}]}]
OF_RESPONSES = [
    QUESTION,
    {"type": "reasoning", "id": "rs_1", "summary": []},
    {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "weather", "arguments": json.dumps(ARGUMENTS)},
    {"type": "function_call_output", "call_id": "call_1", "output": json.dumps(NO)},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "It is 20 degrees."}]},
]
OF_AI_SDK = [
    QUESTION,
    {"role": "assistant", "content": [{"type": "tool-call", "toolName": "weather", "input": ARGUMENTS}]},
    {"role": "tool", "content": [{"type": "tool-result", "toolName": "weather", "output": REFUSED}]},
    ANSWER,
]
OF_GEMINI = [
    {"role": "user", "parts": [{"text": "How warm is it?"}]},
    {"role": "model", "parts": [{"functionCall": {"name": "weather", "args": ARGUMENTS}}]},
    {"role": "user", "parts": [{"functionResponse": {"name": "weather", "response": NO}}]},
    {"role": "assistant", "parts": [{"text": "It is 20 degrees."}]},
]
IN_TYPE = {"type": "tool-weather", "toolCallId": "1", "input": ARGUMENTS, "errorText": "no"}
INVOKED = {"type": "tool-invocation", "toolInvocation": {"toolName": "weather", "args": ARGUMENTS, "result": NO}}
OF_UI = [
    [QUESTION, {"role": "assistant", "parts": [{"type": "reasoning", "text": "Hm."}, called, *SAID_IN_PARTS]}]
    for called in (IN_TYPE, INVOKED)
]
FORMS_OF_PARTS = (IN_PARTS, OF_AI_SDK, OF_GEMINI, *OF_UI)
CALLS_ALONE = [{"id": "1", "name": "weather", "input": ARGUMENTS, "output": "20", "is_error": False}]


@pytest.mark.parametrize(
    ("messages", "turns"),
    [
        (OF_API, [ASKED, CALLED, Turn("result", "weather", "20"), SAID]),
        (OF_RESPONSES, [ASKED, CALLED, Turn("result", "weather", '{"error": "no"}', failed=True), SAID]),
        (OF_INSPECT, [ASKED, CALLED, Turn("result", "weather", "too slow", failed=True), SAID]),
        *((form, [ASKED, CALLED, Turn("result", "weather", "no", failed=True), SAID]) for form in FORMS_OF_PARTS),
        (WITH_RESULTS, [ASKED, CALLED, Turn("result", "weather", "20")]),
        (CALLS_ALONE, [CALLED, Turn("result", "weather", "20")]),
        ("no list", []),
        ([1, None, {}, {"role": []}], []),
    ],
)
def test_every_form_of_messages_and_calls_is_one_list_of_turns(messages: Any, turns: list[Turn]) -> None:
    assert list(transcript(messages)) == turns


def _of_lines(*rows: dict[str, Any]) -> bytes:
    return "\n".join(map(json.dumps, rows)).encode()


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("log.json", changed_log(samples=[{**stated("json")["samples"][0], "messages": OF_INSPECT}])),
        (
            "o.json",
            changed(
                "promptfoo-1.json",
                results=[{**_row(0, **{"pass": True, "score": 1}), "response": {"metadata": {"messages": IN_PARTS}}}],
            ),
        ),
        ("r.jsonl", _of_lines({"test_id": "a", "score": 1, "output": IN_PARTS})),
        ("r.jsonl", _of_lines({"id": "a", "output": "x", "passed": True, "messages": IN_PARTS})),
    ],
)
def test_the_files_of_tools_tell_what_the_model_did(path: str, content: bytes) -> None:
    (case,) = read_results(path, content).cases
    assert [turn.kind for turn in case.transcript] == ["message", "call", "result", "message"]
    card = scored("judged", {path: content}).scorecard
    assert [card.metric(name) for name in ("turns", "tool_calls", "tool_errors")] == [2, 1, 1]


@pytest.mark.parametrize("messages", [OF_API, OF_GEMINI])
def test_the_answer_of_an_agent_is_its_last_message(messages: Any) -> None:
    (case,) = read_results("r.jsonl", _of_lines({"test_id": "a", "score": 1, "output": messages})).cases
    assert case.output == "It is 20 degrees."


@pytest.mark.parametrize(
    ("messages", "numbers"),
    [
        ([QUESTION, ANSWER], [None, None, None]),
        ([QUESTION, ANSWER, QUESTION, ANSWER], [2, None, None]),
        (OF_API, [2, 1, 0]),
    ],
)
def test_turns_are_counted_if_there_are_several_and_tools_if_any_is_called(messages: Any, numbers: list[Any]) -> None:
    content = _of_lines({"test_id": "a", "score": 1, "output": messages})
    card = scored("judged", {"r.jsonl": content}).scorecard
    assert [card.metric(name) for name in ("turns", "tool_calls", "tool_errors")] == numbers


def test_the_interval_of_turns_is_that_of_a_mean_without_bounds() -> None:
    rows = [{"test_id": n, "score": 1, "output": [QUESTION, ANSWER] * n} for n in (2, 4, 6)]
    card = scored("judged", {"r.jsonl": rows}).scorecard
    interval = interval_of(card, "turns")
    assert interval is not None
    assert (card.metric("turns"), interval.low < 0 < 8 < interval.high) == (4, True)


def test_half_of_a_surrogate_pair_is_shown_as_the_replacement_character_and_named() -> None:
    answer = {"role": "assistant", "content": "cut \ud83d"}
    row = {"test_id": "a", "score": 1, "target": "mini \ud83d", "messages": [QUESTION, answer]}
    results = read_results("r.jsonl", _of_lines(row))
    assert (results.cases[0].transcript[-1].text, results.cases[0].model) == ("cut \ufffd", "mini \ufffd")
    (finding,) = results.findings
    assert (finding.line, "half of a surrogate pair" in finding.message) == (1, True)
