"""promptfoo: the JSON that ``promptfoo eval -o output.json`` writes, and the JSON Lines of ``-o output.jsonl``.

In ``results.version`` 3 and 4, ``results.prompts`` has an entry for each prompt of each provider, and
``results.results`` one for each test of each of these, with the outcome of every assertion. In version 2 there are no
``prompts``, and a row tells its prompt by its text alone. A run that is downloaded from its server has the same
``results`` beside a separate ``version``. The JSON Lines are the objects of ``results.results`` alone.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, count
from operator import itemgetter
from sys import intern
from typing import Final

from msgspec.structs import replace

from sitegen.data_files.reading import TWO_LINES, UnreadableError, json_lines, oddities, read_json, split_json, text_of
from sitegen.importers.case import ASSERTED, Grader, JudgedCase, JudgedResults, Opinion, grader_name, texts_of
from sitegen.importers.tool_values import (
    ToolObject,
    anything,
    items,
    list_of,
    members,
    name_of,
    number,
    part,
    share,
    stated_confidence,
    text,
    transcript,
    truth,
    unique,
    value_at,
    whole,
    written,
)
from sitegen.model.frozen import grouped
from sitegen.model.outcomes import Value
from sitegen.model.problems import Finding, Parsed
from sitegen.model.recorded import Recorded
from sitegen.model.scorecards import FieldScore
from sitegen.model.usage import Call, Usage, canonical
from sitegen.text.plain import cut
from sitegen.text.values import short_digest

VERSIONS: Final = (2, 3, 4)
ROWS: Final = ("results", "results")
"""The keys that lead to the rows."""

_MODEL_GRADED: Final = frozenset(
    {
        *("agent-rubric", "answer-relevance", "context-faithfulness", "context-recall", "context-relevance"),
        *("conversation-relevance", "factuality", "g-eval", "llm-rubric", "model-graded-closedqa"),
        *("model-graded-factuality", "search-rubric", "select-best", "trajectory:goal-success"),
    }
)
"""Assertions that a model judges."""
_SILENT: Final = ("Assertion passed", "All assertions passed")  # they say no more than the verdict
_HUMAN: Final = "human"  # the type of assertion that promptfoo adds when a person rates an answer

_FILE = re.compile(r"(?:([^:{}\n]+): )?(?:file://)?([^\s:{}]+\.[A-Za-z0-9]+(?::[A-Za-z_][A-Za-z0-9_]*)?): ")
"""Begins the label of a prompt from a file: the label that the configuration gives it, if any, and the file."""
_NUMBERED: Final = r"^Row #\d+$"
"""The description that promptfoo gives to a row of a file of tests, which is its place there."""
_ID: Final = 120  # characters
_SHORT: Final = 60
"""Characters of a variable that probably names the test. Longer ones are probably the text that the test is about."""
_FIX, _AGAIN = "Let promptfoo write the results again.", "Let promptfoo judge the answers again."
_ERROR: Final = 2  # ``failureReason`` if the provider or an assertion failed to answer


def _name_of_model(provider: Value) -> str:
    """Return the name of a provider, which may be an object that states its id or a text."""
    stated = members(provider)
    return name_of(provider) or (_name_of_model(stated["text"]) if "text" in stated else name_of(stated.get("id")))


class _Outcome(ToolObject):
    """The outcome of an assertion."""

    assertion = part(members, "assertion")
    type = part(name_of, "assertion.type")
    metric = part(name_of, "assertion.metric")
    value = part(written, "assertion.value")
    model = part(_name_of_model, "assertion.provider")
    prompt = part(written, "assertion.rubricPrompt")
    passed = part(truth, "pass")
    score = part(share, "score")
    reason = part(text, "reason")
    error = part(text, "error")
    is_marked = part(truth, "metadata.graderError")

    @property
    def is_model_graded(self) -> bool:
        return self.type.removeprefix("not-") in _MODEL_GRADED

    @property
    def failure(self) -> str:
        """Why the judge gave no grade: promptfoo marks it, or an error has no score. Empty otherwise."""
        if self.is_marked or (self.error and self.members.get("score") is None):
            return self.reason or self.error or "It gave no grade."
        return ""


class _Row(ToolObject):
    """A test, as one prompt and provider answered it."""

    test = part(whole, "testIdx")
    place = part(whole, "promptIdx")
    description = part(lambda stated: re.sub(_NUMBERED, "", name_of(stated)), "testCase.description")
    metadata = part(members, "testCase.metadata")
    asserted = part(list_of(members), "testCase.assert")
    options = part(members, "testCase.options")
    of_answer = part(members, "response.metadata")
    of_row = part(members, "metadata")
    named_scores = part(members, "namedScores")
    texts = part(lambda value: {key: written(own) for key, own in members(value).items() if key[:1] != "_"}, "vars")
    """The variables of the test that are its own, and not promptfoo's."""
    provider = part(name_of, "provider.id")
    label = part(name_of, "provider.label")
    prompt = part(text, "prompt.raw")
    config = part(members, "prompt.config")
    output = part(written, "response.output")
    messages = part(anything, "response.metadata.messages")
    tool_calls = part(anything, "response.metadata.toolCalls")
    score = part(share, "score")
    passed = part(truth, "success")
    reason = part(text, "gradingResult.reason")
    outcomes = part(list_of(_Outcome), "gradingResult.componentResults")
    own_error = part(text, "error")
    answer_error = part(text, "response.error")
    tokens = part(whole, "tokenUsage.total")
    tokens_in = part(whole, "tokenUsage.prompt")
    tokens_out = part(whole, "tokenUsage.completion")
    cost = part(number, "cost")
    milliseconds = part(number, "latencyMs")

    @property
    def error(self) -> str:
        """Why there is no result. Other errors are those of assertions, which failed for them."""
        has_none = self.members.get("failureReason") == _ERROR or not self.members.get("gradingResult")
        return self.own_error or self.answer_error if has_none else ""

    @property
    def column(self) -> int | str:
        """The place of its prompt and provider in the run. In version 2, which states none, these themselves."""
        return written(self.listed_prompt) if self.place is None else self.place

    @property
    def listed_prompt(self) -> dict[str, Value]:
        """Its prompt as ``results.prompts`` lists it: there the text is without the variables of the test."""
        label = text(value_at(self.members, "prompt.label") or value_at(self.members, "prompt.display"))
        is_text = "{{" in label or label == self.prompt
        return {"label": label, "raw": label if is_text else "", "provider": self.label or self.provider}

    @property
    def names(self) -> tuple[str, str]:
        """The test's description, else its short variables, and all of them for tests that have the same short ones.

        Its index would change with every test added before it. Long variables are probably the input of the model.
        """
        variables = sorted(self.texts.items(), key=lambda variable: (len(variable[1]) > _SHORT, variable))
        listed = [f"{key}={value}" for key, value in variables]
        short = listed[: sum(len(value) <= _SHORT for _, value in variables)] or listed
        brief, full = (cut(" ".join((self.description or ", ".join(of)).split()), _ID) for of in (short, listed))
        brief = brief or f"test {(self.test or 0) + 1}"
        return brief, full or brief

    @property
    def digest(self) -> str:
        """What tells the test from others, whatever these are called; repeats have the same."""
        place = None if self.description or self.texts else self.test
        return short_digest(repr((self.description, self.members.get("vars"), self.asserted, place)))

    def case(self, columns: Mapping[int | str, tuple[str, str]], judges: Iterable[Opinion]) -> JudgedCase:
        """Its case, with the digest for an id. ``columns``: (prompt, provider) of each. Many cases share one text."""
        column = columns.get(self.column, ("", self.label or self.provider))
        equals = (each for each in self.asserted if each.get("type") == "equals" and "value" in each)
        outcomes = self.outcomes
        # Without the options of the test that promptfoo adds to those of the call: these are the judge's.
        parameters = {key: value for key, value in self.config.items() if key not in ("provider", "rubricPrompt")}
        usage = Usage(  # promptfoo writes 0 if it does not know the number of tokens
            tokens_in=self.tokens_in if self.tokens else None,
            tokens_out=self.tokens_out if self.tokens else None,
            cost=self.cost,
            latency=None if self.milliseconds is None else self.milliseconds / 1000,
        )
        judged = [each for each in outcomes if each.passed is not None]
        of_models = [each.passed for each in judged if each.is_model_graded]
        of_people = [each.passed for each in judged if each.type == _HUMAN]
        return JudgedCase(
            id=intern(self.digest),
            opinion=Opinion("", self.score, reasoning="" if self.reason in _SILENT else self.reason),
            judges=tuple(judges),
            texts=texts_of({**self.texts, **self.metadata}),
            variant=column[0],
            provider=column[1],
            passed=self.passed,
            # What all prompts were filled with: each is a variant of the case, and asked in other words.
            input="" if self.texts else intern(self.prompt),
            expected=intern(written(next(equals, {}).get("value"))),
            output=self.output,
            error=self.error,
            unjudged=next(filter(None, (each.failure for each in outcomes)), ""),
            call=Call(usage=usage, model=intern(self.provider), parameters=canonical(parameters)),
            confidence=stated_confidence(self.of_answer, self.named_scores, self.of_row),
            transcript=transcript(self.messages, self.tool_calls),
            verdicts=(all(of_models), bool(of_people[-1])) if of_models and of_people else None,
        )

    def opinions(self, options: Mapping[str, Value], known: dict[str, Value]) -> Iterator[Opinion]:
        """Yield the outcome of each assertion, named by its metric, else its type. ``known``: those of other cases."""
        stated = {**options, **self.options}
        used: Counter[str] = Counter()
        for each in self.outcomes:
            name = intern(unique(each.metric or each.type or "assertion", used))
            failed = each.passed is False
            grader = None
            details = each.assertion or None
            if each.is_model_graded:
                model = each.model or _name_of_model(stated.get("provider"))
                grader = Grader(grader_name(model, each.prompt or written(stated.get("rubricPrompt"))), each.value)
            yield Opinion(
                name=name,
                score=each.score,
                misses=(f"{name}: {each.reason}",) if failed else (),
                reasoning="" if failed or each.reason in _SILENT else each.reason,
                counts=() if each.passed is None else (FieldScore(name, ASSERTED[each.passed]),),
                details=known.setdefault(repr(details), details),
                grader=grader,
            )


def read(content: bytes) -> JudgedResults:
    """Read results of promptfoo. Raises UnreadableError."""
    findings: list[Finding] = []
    root, prompts, found_rows = _parts(content, findings)
    columns = _columns(prompts)
    # A test that states no options has those of the run.
    options = members(value_at(root, "config.defaultTest.options"))
    assertions: dict[str, Value] = {}
    tests: dict[str, tuple[str, str]] = {}  # repeats of one test have one id, another test of its names has a number
    places = {column: place for place, column in enumerate(columns)}
    rows: list[tuple[tuple[int, int], JudgedCase, bool]] = []
    try:
        for found, odd in found_rows:
            findings += () if findings else odd
            if not isinstance(found, dict):
                continue
            row = _Row(found)
            case = row.case(columns, row.opinions(options, assertions))
            tests[case.id] = tests.get(case.id) or row.names
            is_off = row.score is None and found.get("score") is not None
            rows.append(((row.test or 0, places.get(row.column, 0)), case, is_off))
    except UnreadableError:
        read_json(content)  # raises an error with the line in the file
        raise
    if root and findings:  # whose lines are those of parts
        findings = oddities(text_of(content))
    # promptfoo writes rows as answers arrive, which is a different order in every run.
    rows.reverse()
    rows.sort(key=itemgetter(0), reverse=True)
    used, ids, cases = Counter[str](), dict[str, str](), list[JudgedCase]()
    same = Counter(brief for brief, _ in tests.values())
    while rows:
        _, case, is_off = rows.pop()  # each is dropped for the one with an id: a large file has many
        brief, full = tests[case.id]
        ids[case.id] = ids.get(case.id) or unique(full if same[brief] > 1 else brief, used)
        cases.append(replace(case, id=ids[case.id]))
        if is_off:
            message = f"The score of the case {cases[-1].id!r} is not a number from 0 to 1, and is left out"
            findings.append(Finding("error", message, _FIX))
    errors = grouped((case.error, case.id) for case in cases if case.error)
    broken = grouped((case.unjudged, case.id) for case in cases if case.unjudged)
    for said, reasons, fix in (("promptfoo has no result of", errors, _FIX), ("A judge failed at", broken, _AGAIN)):
        for reason, failed in reasons.items():
            first = f"{len(failed):,} answers, the first to the case" if failed[1:] else "the case"
            findings.append(Finding("warning", f"{said} {first} {failed[0]!r}", fix, value=reason[:200]))
    if not cases:
        findings.append(Finding("warning", "There are no results in it", _FIX))
    hashes = dict.fromkeys(filter(None, (name_of(prompt.get("id")).lower() for prompt in prompts.values())))
    run = Recorded(
        timestamp=text(value_at(root, "results.timestamp")).strip() or None,
        instruction_hashes=tuple(("", digest) for digest in hashes),
    )
    texts = {name: written(prompts[place].get("raw")) for place, (name, _) in columns.items()}
    return JudgedResults(cases=tuple(cases), findings=tuple(findings), run=run, prompts=texts).with_confidences()


def _parts(
    content: bytes, findings: list[Finding]
) -> tuple[dict[str, Value], dict[int | str, dict[str, Value]], Iterable[Parsed[Value]]]:
    """Return what results say of the run, its prompts by their column, and the rows; add what is odd to ``findings``.

    Raises UnreadableError.
    """
    rest, listed = split_json(content, *ROWS)
    value, odd = Parsed[Value]({}) if re.match(TWO_LINES, content) else read_json(rest)
    root = members(value)
    if not root or "promptIdx" in root:  # JSON Lines
        prompts = _prompts_of(line for _, line in json_lines(content, [], _FIX))
        return {}, prompts, (Parsed(line) for _, line in json_lines(content, findings, _FIX))
    findings += odd
    version, in_list = value_at(root, "results.version"), items(value_at(root, "results.results"))
    if version not in VERSIONS or isinstance(version, bool):
        stated = f"version {written(version)[:20]}" if version is not None else "no version"
        why = f"it has {stated} of promptfoo's results, and only versions {VERSIONS[0]} to {VERSIONS[-1]} are known"
        raise UnreadableError(why, "Write the results with a version of promptfoo that writes one of these.")
    rows: Iterable[Parsed[Value]] = map(read_json, map(bytes, listed)) if listed else map(Parsed, in_list)
    prompts = dict(enumerate(list_of(members)(value_at(root, "results.prompts"))))
    if not prompts or version < VERSIONS[1]:
        rows = [*rows]
        prompts = _prompts_of(row.value for row in rows)
    return root, prompts, rows


def _prompts_of(rows: Iterable[Value]) -> dict[int | str, dict[str, Value]]:
    """Return the prompts of a run that lists none, by their column, as its rows state them."""
    stated = {row.column: row.listed_prompt for row in map(_Row, rows)}
    return dict(sorted(stated.items(), key=lambda prompt: prompt[0] if isinstance(prompt[0], int) else 0))


def _columns(prompts: Mapping[int | str, dict[str, Value]]) -> dict[int | str, tuple[str, str]]:
    """(prompt, provider) of each column, with names of prompts that stay the same when a prompt is edited.

    By default a label contains the text of the prompt. As the name of a variant it would start new variants with every
    edit of the prompt.
    """
    names: dict[tuple[str, str], str] = {}
    columns = {}
    for place, prompt in prompts.items():
        label, raw = text(prompt.get("label")), written(prompt.get("raw"))
        if (label, raw) not in names:
            file = _FILE.match(label)
            states_text = not label or label == raw or "\n" in label or len(label) > _ID
            name = (file[1] or file[2]) if file else f"prompt {len(names) + 1}" if states_text else label
            numbered = (f"{name} ({place})" for place in count(2))
            names[label, raw] = next(unused for unused in chain([name], numbered) if unused not in names.values())
        columns[place] = names[label, raw], name_of(prompt.get("provider"))
    return columns
