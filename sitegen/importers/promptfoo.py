"""promptfoo: the JSON that ``promptfoo eval -o output.json`` writes.

In ``results.version`` 3 and 4, ``results.prompts`` has an entry for each prompt of each provider, and
``results.results`` one for each test of each of these, with the outcome of every assertion. A run that is downloaded
from its server has the same ``results`` beside a separate ``version``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain, count
from typing import Final

from sitegen.data_files.reading import UnreadableError, read_json
from sitegen.importers.case import Grader, JudgedCase, JudgedResults, Opinion, grader_name
from sitegen.importers.tool_values import items, members, name_of, number, share, text, truth, whole, written
from sitegen.model.metrics import Counts
from sitegen.model.outcomes import Value
from sitegen.model.problems import Finding
from sitegen.model.recorded import Recorded
from sitegen.model.scorecards import FieldScore
from sitegen.model.usage import Call, Usage, canonical
from sitegen.text.plain import cut

VERSIONS: Final = (3, 4)

_PASSED: Final = Counts(tp=1)
FAILED: Final = Counts(fp=1, fn=1, wrong_value=1)
"""An assertion is one value that is right or wrong: F1, precision and recall are the share of passed assertions."""

_MODEL_GRADED: Final = frozenset(
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
_HUMAN: Final = "human"
"""The type of assertion that promptfoo adds when a person rates an answer."""

_FILE = re.compile(r"(?:file://)?([^\s:{}]+\.[A-Za-z0-9]+(?::[A-Za-z_][A-Za-z0-9_]*)?): ")
_ID: Final = 120
_SHORT: Final = 60
"""Characters of a variable that probably names the test. Longer ones are probably the text that the test is about."""
_BETWEEN: Final = " · "
_FIX: Final = "Let promptfoo write the results again."
_ERROR: Final = 2
"""``failureReason`` if the provider or an assertion failed to answer."""


def read(content: bytes, grades: Collection[str]) -> JudgedResults:
    """Read results of promptfoo, whose assertions are never grades. Raises UnreadableError."""
    value, findings = read_json(content)
    root = members(value)
    results = members(root.get("results"))
    version = results.get("version")
    if version not in VERSIONS or isinstance(version, bool):
        stated = f"version {written(version)[:20]}" if version is not None else "no version"
        raise UnreadableError(
            f"it has {stated} of promptfoo's results, and only versions {' and '.join(map(str, VERSIONS))} are known",
            "Write the results with a version of promptfoo that writes one of these.",
        )
    prompts = list(map(members, items(results.get("prompts"))))
    reader = _PromptfooReader(_columns(prompts), _members_at(root, "config", "defaultTest", "options"))
    rows = [row for row in items(results.get("results")) if isinstance(row, dict)]
    # promptfoo writes rows as answers arrive, which is a different order in every run.
    rows.sort(key=lambda row: (whole(row.get("testIdx")) or 0, whole(row.get("promptIdx")) or 0))
    cases = tuple(map(reader.case, rows))
    if not cases:
        reader.findings.append(Finding("warning", "There are no results in it", _FIX))
    hashes = dict.fromkeys(filter(None, (name_of(prompt.get("id")).lower() for prompt in prompts)))
    run = Recorded(
        timestamp=text(results.get("timestamp")).strip() or None,
        instruction_hashes=tuple(("", digest) for digest in hashes),
    )
    return JudgedResults(cases, (*findings, *reader.findings), run)


def _members_at(root: Mapping[str, Value], *keys: str) -> Mapping[str, Value]:
    """The object below these keys, else an empty one."""
    for key in keys:
        root = members(root.get(key))
    return root


def _columns(prompts: list[dict[str, Value]]) -> list[tuple[str, str]]:
    """(prompt, provider) of each column, with names of prompts that stay the same when a prompt is edited.

    By default a label contains the text of the prompt. In the name of a case it would start new cases with every edit
    of the prompt.
    """
    names: dict[tuple[str, str], str] = {}
    columns = []
    for prompt in prompts:
        label, raw = text(prompt.get("label")), written(prompt.get("raw"))
        if (label, raw) not in names:
            file = _FILE.match(label)
            states_text = not label or label == raw or "\n" in label or len(label) > _ID
            name = file[1] if file else f"prompt {len(names) + 1}" if states_text else label
            numbered = (f"{name} ({place})" for place in count(2))
            names[label, raw] = next(unique for unique in chain([name], numbered) if unique not in names.values())
        columns.append((names[label, raw], name_of(prompt.get("provider"))))
    return columns


class _PromptfooReader:
    def __init__(self, columns: list[tuple[str, str]], default_options: Mapping[str, Value]) -> None:
        """``default_options``: the options of tests that do not state their own."""
        self.findings: list[Finding] = []
        self._default_options = default_options
        self._columns = columns
        self._prompts = len({prompt for prompt, _ in columns})
        self._providers = len({provider for _, provider in columns})
        self._ids: dict[tuple[str, str], str] = {}
        """The id of each test, by its name and as JSON."""
        self._tests: dict[str, int] = {}
        """Number of tests of each name."""

    def case(self, row: Mapping[str, Value]) -> JudgedCase:
        prompt, provider_name = self._column(row)
        # A case is a test, with its prompt and its provider if there are several of these. The cases of a run with a
        # single provider therefore keep their names when the model is replaced.
        parts = (_test_name(row), prompt if self._prompts > 1 else "", provider_name if self._providers > 1 else "")
        case_id = self._id_of_test(row, _BETWEEN.join(filter(None, parts)))
        grading, response = members(row.get("gradingResult")), members(row.get("response"))
        score = share(row.get("score"))
        if score is None and row.get("score") is not None:
            message = f"The score of the case {case_id!r} is not a number from 0 to 1, and is left out"
            self.findings.append(Finding("error", message, _FIX))
        failed = row.get("failureReason") == _ERROR
        error = text(row.get("error")) or text(response.get("error")) if failed or not grading else ""
        if error:
            message = f"promptfoo has no result of the case {case_id!r}"
            self.findings.append(Finding("warning", message, _FIX, value=error[:200]))
        components = list(map(members, items(grading.get("componentResults"))))
        unjudged = next(filter(None, map(_failure_of_judge, components)), "")
        if unjudged:
            message = f"A judge failed at the case {case_id!r}, which is not judged"
            fix = "Let promptfoo judge the answers again."
            self.findings.append(Finding("warning", message, fix, value=unjudged[:200]))
        provider = members(row.get("provider"))
        asserted = map(members, items(members(row.get("testCase")).get("assert")))
        equals = (assertion for assertion in asserted if assertion.get("type") == "equals" and "value" in assertion)
        # Without the options of the test that promptfoo adds to those of the call: these are the judge's.
        config = _members_at(row, "prompt", "config").items()
        parameters = {key: value for key, value in config if key not in ("provider", "rubricPrompt")}
        options = {**self._default_options, **_members_at(row, "testCase", "options")}
        tokens, latency = members(row.get("tokenUsage")), number(row.get("latencyMs"))
        has_tokens = bool(whole(tokens.get("total")))  # promptfoo writes 0 if it does not know their number
        usage = Usage(
            tokens_in=whole(tokens.get("prompt")) if has_tokens else None,
            tokens_out=whole(tokens.get("completion")) if has_tokens else None,
            cost=number(row.get("cost")),
            latency=None if latency is None else latency / 1000,
        )
        return JudgedCase(
            id=case_id,
            opinion=Opinion("", score, reasoning=text(grading.get("reason"))),
            judges=tuple(_assertions(components, options)),
            variant=_BETWEEN.join(filter(None, (prompt, provider_name))),
            passed=truth(row.get("success")),
            input=text(members(row.get("prompt")).get("raw")),
            expected=written(next(equals, {}).get("value")),
            output=written(response.get("output")),
            error=error,
            unjudged=unjudged,
            call=Call(usage=usage, model=name_of(provider.get("id")), parameters=canonical(parameters)),
            verdicts=_verdicts(components),
        )

    def _column(self, row: Mapping[str, Value]) -> tuple[str, str]:
        index = whole(row.get("promptIdx"))
        if index is not None and index < len(self._columns):
            return self._columns[index]
        provider = members(row.get("provider"))
        return "", name_of(provider.get("label")) or name_of(provider.get("id"))

    def _id_of_test(self, row: Mapping[str, Value], name: str) -> str:
        """Return the name, with a number if another test has it. Repeats of one test have one id."""
        test = written([row.get("vars"), members(row.get("testCase")).get("assert")])
        if (name, test) not in self._ids:
            tests = self._tests[name] = self._tests.get(name, 0) + 1
            self._ids[name, test] = name if tests == 1 else f"{name} ({tests})"
        return self._ids[name, test]


def _test_name(row: Mapping[str, Value]) -> str:
    """Return the test's description, else its variables. Its index would change with every test added before it.

    Short variables, such as the number of a task, come first. Long ones are probably the input of the model.
    """
    description = name_of(members(row.get("testCase")).get("description"))
    variables = [(key, written(value)) for key, value in members(row.get("vars")).items() if key[:1] != "_"]
    variables.sort(key=lambda variable: (len(variable[1]) > _SHORT, variable))
    listed = ", ".join(f"{key}={value}" for key, value in variables)
    return cut(" ".join((description or listed).split()), _ID) or f"test {(whole(row.get('testIdx')) or 0) + 1}"


def _failure_of_judge(component: Mapping[str, Value]) -> str:
    """Why the judge of an assertion gave no grade: promptfoo marks it, or an error has no score. Empty otherwise."""
    error = text(component.get("error"))
    marked = truth(_members_at(component, "metadata").get("graderError"))
    if marked or (error and component.get("score") is None):
        return text(component.get("reason")) or error or "It gave no grade."
    return ""


def _assertions(results: Iterable[Mapping[str, Value]], options: Mapping[str, Value]) -> Iterator[Opinion]:
    """The outcome of each assertion, named by its metric, else by its type. ``options`` are the options of the test."""
    used: Counter[str] = Counter()
    for result in results:
        assertion = members(result.get("assertion"))
        name = name_of(assertion.get("metric")) or name_of(assertion.get("type")) or "assertion"
        used[name] += 1
        unique = name if used[name] == 1 else f"{name} ({used[name]})"
        passed, reason = truth(result.get("pass")), text(result.get("reason"))
        yield Opinion(
            name=unique,
            score=share(result.get("score")),
            misses=(f"{unique}: {reason}",) if passed is False else (),
            reasoning=reason if passed is not False else "",
            counts=() if passed is None else (FieldScore(unique, _PASSED if passed else FAILED),),
            details=dict(assertion) or None,
            grader=_grader_of_assertion(assertion, options),
        )


def _grader_of_assertion(assertion: Mapping[str, Value], options: Mapping[str, Value]) -> Grader | None:
    """The model that judged, if any. The assertion overrides the options of its test."""
    if not _is_model_graded(assertion):
        return None
    provider = assertion.get("provider") or options.get("provider")
    provider = members(provider).get("text") or provider
    model = name_of(provider) or name_of(members(provider).get("id"))
    prompt = written(assertion.get("rubricPrompt") or options.get("rubricPrompt"))
    return Grader(grader_name(model, prompt), written(assertion.get("value")))


def _is_model_graded(assertion: Mapping[str, Value]) -> bool:
    return name_of(assertion.get("type")).removeprefix("not-") in _MODEL_GRADED


def _verdicts(results: Iterable[Mapping[str, Value]]) -> tuple[bool, bool] | None:
    """Whether all assertions of a model passed, and whether those of a person did. None unless there are both."""
    outcomes = [(members(result.get("assertion")), truth(result.get("pass"))) for result in results]
    judge = [passed for assertion, passed in outcomes if _is_model_graded(assertion) and passed is not None]
    person = [passed for assertion, passed in outcomes if assertion.get("type") == _HUMAN and passed is not None]
    return (all(judge), person[-1]) if judge and person else None
