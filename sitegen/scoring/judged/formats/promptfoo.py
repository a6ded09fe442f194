"""promptfoo: the JSON that ``promptfoo eval -o output.json`` writes.

Its layout is that of ``results.version`` 3 and 4: ``results.prompts`` has one entry for each prompt of each provider,
and ``results.results`` one for each test of each of them, with the outcome of every assertion. What its server gives
for one run has the same ``results``, below a ``version`` of its own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Final, NamedTuple

from sitegen.data_files.json_reader import read_json
from sitegen.data_files.reading import UnreadableError
from sitegen.model.metrics import Counts
from sitegen.model.problems import Finding, Severity
from sitegen.model.values import Value
from sitegen.scoring.judged.case import Grader, JudgedCase, JudgedResults, JudgedRun, Opinion, Usage, grader_name
from sitegen.scoring.judged.formats.json_values import (
    items,
    members,
    name_of,
    number,
    share,
    text,
    truth,
    whole,
    written,
)
from sitegen.scoring.judged.formats.result_format import ResultFormat
from sitegen.text.plain import cut

VERSIONS: Final = (3, 4)

PASSED: Final = Counts(tp=1)
FAILED: Final = Counts(fp=1, fn=1, wrong_value=1)
"""An assertion is one value: right, or wrong. So F1, precision and recall are the share of assertions that passed."""

MODEL_GRADED: Final = frozenset(
    {
        "agent-rubric",
        "answer-relevance",
        "context-faithfulness",
        "context-recall",
        "context-relevance",
        "conversation-relevance",
        "factuality",
        "g-eval",
        "llm-rubric",
        "model-graded-closedqa",
        "model-graded-factuality",
        "search-rubric",
        "select-best",
        "trajectory:goal-success",
    }
)
"""Assertions that a model judges."""
HUMAN: Final = "human"
"""The assertion that rating an answer by hand adds."""

_BEGINNING = re.compile(
    rb'(?:\xef\xbb\xbf)?\s*\{\s*"(?:(?:evalId|results)"\s*:|version"\s*:\s*4\s*,\s*"createdAt"\s*:)'
)
_FILE = re.compile(r"(?:file://)?([^\s:{}]+\.[A-Za-z0-9]+(?::[A-Za-z_][A-Za-z0-9_]*)?): ")
_ID: Final = 120
_SHORT: Final = 60
"""Characters of a variable that names a test rather than being what it is about."""
_BETWEEN: Final = " · "
_ERROR: Final = 2
"""``failureReason`` where the provider or an assertion failed to answer."""


class PromptOfProvider(NamedTuple):
    """One column of promptfoo's table."""

    prompt: str
    provider: str


def _recognises(ending: str, head: bytes) -> bool:
    return ending == "json" and _BEGINNING.match(head) is not None


def _read(content: bytes) -> JudgedResults:
    parsed = read_json(content)
    root = members(parsed.value)
    results = members(root.get("results"))
    version = results.get("version")
    if version not in VERSIONS or isinstance(version, bool):
        known = " and ".join(map(str, VERSIONS))
        stated = f"version {written(version)[:20]}" if version is not None else "no version"
        raise UnreadableError(
            f"it has {stated} of promptfoo's results, and only versions {known} are known",
            "Write the results with a version of promptfoo that writes one of these.",
        )
    columns = _columns(items(results.get("prompts")))
    of_all = members(members(members(root.get("config")).get("defaultTest")).get("options"))
    reader = _PromptfooReader(columns, of_all)
    rows = [row for row in items(results.get("results")) if isinstance(row, dict)]
    # promptfoo writes rows as answers arrive, which is another order in every run.
    cases = tuple(reader.case(row) for row in sorted(rows, key=_order))
    if not cases:
        reader.report("warning", "There are no results in it")
    metadata = members(root.get("metadata"))
    prompts = (members(each) for each in items(results.get("prompts")))
    run = JudgedRun(
        tool="promptfoo",
        version=text(metadata.get("promptfooVersion")),
        at=text(results.get("timestamp")),
        prompts=tuple(
            dict.fromkeys(
                (column.prompt, name_of(each.get("id"))) for column, each in zip(columns, prompts, strict=False)
            )
        ),
    )
    return JudgedResults(cases, (*parsed.findings, *reader.findings), run)


def _order(row: Mapping[str, Value]) -> tuple[int, int]:
    return whole(row.get("testIdx")) or 0, whole(row.get("promptIdx")) or 0


def _columns(prompts: list[Value]) -> tuple[PromptOfProvider, ...]:
    """The columns, with names of prompts that do not change with the prompt.

    By default a label is the prompt itself, or its file and the prompt. As part of a name it would make other cases of
    the same tests with every edit.
    """
    names: dict[tuple[str, str], str] = {}
    columns = []
    for each in map(members, prompts):
        label, raw = text(each.get("label")), written(each.get("raw"))
        if (label, raw) not in names:
            names[label, raw] = _numbered(_prompt_name(label, raw, len(names) + 1), names.values())
        columns.append(PromptOfProvider(names[label, raw], name_of(each.get("provider"))))
    return tuple(columns)


def _prompt_name(label: str, raw: str, place: int) -> str:
    if file := _FILE.match(label):
        return file[1]
    if not label or label == raw or "\n" in label or len(label) > _ID:
        return f"prompt {place}"
    return label


def _numbered(wanted: str, taken: Collection[str]) -> str:
    place, unique = 1, wanted
    while unique in taken:
        place += 1
        unique = f"{wanted} ({place})"
    return unique


class _PromptfooReader:
    def __init__(self, columns: tuple[PromptOfProvider, ...], of_all: Mapping[str, Value]) -> None:
        """``of_all``: the options of all tests that do not state their own."""
        self.findings: list[Finding] = []
        self._of_all = of_all
        self._columns = columns
        self._prompts = len({column.prompt for column in columns})
        self._providers = len({each.provider for each in columns})
        self._ids: set[str] = set()

    def case(self, row: Mapping[str, Value]) -> JudgedCase:
        """One row as a case."""
        column = self._column(row)
        case_id = _numbered(self._case_id(row, column), self._ids)
        self._ids.add(case_id)
        grading, response = members(row.get("gradingResult")), members(row.get("response"))
        score = share(row.get("score"))
        if score is None and row.get("score") is not None:
            self.report("error", f"The score of the case {case_id!r} is no number from 0 to 1, and is left out")
        failed = row.get("failureReason") == _ERROR
        error = text(row.get("error")) or text(response.get("error")) if failed or not grading else ""
        if error:
            self.report("warning", f"promptfoo has no result of the case {case_id!r}", error[:200])
        provider = members(row.get("provider"))
        options = {**self._of_all, **members(members(row.get("testCase")).get("options"))}
        return JudgedCase(
            id=case_id,
            opinion=Opinion("", score, reasoning=text(grading.get("reason"))),
            judges=tuple(_assertions(items(grading.get("componentResults")), options)),
            variant=_BETWEEN.join(filter(None, column)),
            passed=truth(row.get("success")),
            input=text(members(row.get("prompt")).get("raw")),
            expected=next((written(each["value"]) for each in _stated(row) if each.get("type") == "equals"), ""),
            output=written(response.get("output")),
            error=error,
            model=name_of(provider.get("id")),
            parameters=_parameters(members(members(row.get("prompt")).get("config"))),
            usage=_usage(row),
            verdicts=_verdicts(items(grading.get("componentResults"))),
        )

    def report(self, severity: Severity, message: str, value: str = "") -> None:
        """Say something of the file."""
        self.findings.append(Finding(severity, message, "Let promptfoo write the results again.", value=value))

    def _column(self, row: Mapping[str, Value]) -> PromptOfProvider:
        index = whole(row.get("promptIdx"))
        if index is not None and index < len(self._columns):
            return self._columns[index]
        provider = members(row.get("provider"))
        return PromptOfProvider("", name_of(provider.get("label")) or name_of(provider.get("id")))

    def _case_id(self, row: Mapping[str, Value], column: PromptOfProvider) -> str:
        """The test, and of its variant what several have: a run with one prompt goes on when the model is replaced."""
        prompt = column.prompt if self._prompts > 1 else ""
        provider = column.provider if self._providers > 1 else ""
        return _BETWEEN.join(filter(None, (_test_name(row), prompt, provider)))


def _test_name(row: Mapping[str, Value]) -> str:
    """The test's description, else its variables: a place in the list would change with every test before it.

    Of the variables the short ones go first, such as the number of a task: the text that the model is given is long.
    """
    description = name_of(members(row.get("testCase")).get("description"))
    variables = members(row.get("vars"))
    stated = sorted((key, written(value)) for key, value in variables.items() if key[:1] != "_")
    stated.sort(key=lambda each: len(each[1]) > _SHORT)
    listed = ", ".join(f"{key}={value}" for key, value in stated)
    return cut(" ".join((description or listed).split()), _ID) or f"test {(whole(row.get('testIdx')) or 0) + 1}"


def _stated(row: Mapping[str, Value]) -> Iterator[dict[str, Value]]:
    stated = items(members(row.get("testCase")).get("assert"))
    return (each for each in stated if isinstance(each, dict) and "value" in each)


def _assertions(results: list[Value], options: Mapping[str, Value]) -> Iterator[Opinion]:
    """What each assertion said, under its metric if it has one, else its type. ``options``: of the test."""
    given: Counter[str] = Counter()
    for result in map(members, results):
        assertion = members(result.get("assertion"))
        wanted = name_of(assertion.get("metric")) or name_of(assertion.get("type")) or "assertion"
        given[wanted] += 1
        unique = wanted if given[wanted] == 1 else f"{wanted} ({given[wanted]})"
        passed, reason = truth(result.get("pass")), text(result.get("reason"))
        yield Opinion(
            name=unique,
            score=share(result.get("score")),
            misses=(f"{unique}: {reason}",) if passed is False else (),
            reasoning=reason if passed is not False else "",
            counts=() if passed is None else ((unique, PASSED if passed else FAILED),),
            details=dict(assertion) or None,
            grader=_grader(assertion, options),
        )


def _parameters(config: Mapping[str, Value]) -> Value:
    """Of the call that answered: promptfoo mixes the options of the test among them, which are those of the judge."""
    return {key: value for key, value in config.items() if key not in ("provider", "rubricPrompt")} or None


def _grader(assertion: Mapping[str, Value], options: Mapping[str, Value]) -> Grader | None:
    """Who judged, if a model did: what the assertion states goes before the options of its test."""
    if not _is_model_graded(assertion):
        return None
    provider = assertion.get("provider") or options.get("provider")
    if typed := members(provider).get("text"):
        provider = typed
    model = name_of(provider) or name_of(members(provider).get("id"))
    prompt = written(assertion.get("rubricPrompt") or options.get("rubricPrompt"))
    return Grader(grader_name(model, prompt), written(assertion.get("value")))


def _is_model_graded(assertion: Mapping[str, Value]) -> bool:
    return name_of(assertion.get("type")).removeprefix("not-") in MODEL_GRADED


def _verdicts(results: list[Value]) -> tuple[bool, bool] | None:
    """Whether all assertions passed that a model graded, and whether a person's did; None unless there are both."""
    given = [(members(each.get("assertion")), truth(each.get("pass"))) for each in map(members, results)]
    judge = [passed for assertion, passed in given if _is_model_graded(assertion) and passed is not None]
    person = [passed for assertion, passed in given if assertion.get("type") == HUMAN and passed is not None]
    return (all(judge), person[-1]) if judge and person else None


def _usage(row: Mapping[str, Value]) -> Usage:
    """As promptfoo gives it. It writes no tokens at all as 0, which is none known."""
    tokens, latency = members(row.get("tokenUsage")), number(row.get("latencyMs"))
    known = bool(whole(tokens.get("total")))
    return Usage(
        tokens_in=whole(tokens.get("prompt")) if known else None,
        tokens_out=whole(tokens.get("completion")) if known else None,
        cost=number(row.get("cost")),
        latency=None if latency is None else latency / 1000,
    )


PROMPTFOO: Final = ResultFormat(
    name="promptfoo", file_names=("output.json", "results.json"), recognises=_recognises, read=_read
)
