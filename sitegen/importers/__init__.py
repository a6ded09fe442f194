"""Reads the results that other tools wrote. A tool is a file beside this one and a line in ``IMPORTERS``."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec.structs import replace

from sitegen.data_files.folders import DATA
from sitegen.data_files.reading import LINES, TWO_LINES, UnreadableError, ending
from sitegen.importers.columns import PRESETS, ColumnMap, columns_in, read_settings, stated_grades

if TYPE_CHECKING:
    from sitegen.importers.case import JudgedResults


class Importer(NamedTuple):
    """A format of results. Its files are recognised and read by their bytes, without clock, disk or network.

    The path counts by its ending alone: scorecards are stored by content and ending, so that a moved file is not scored
    again.
    """

    name: str
    """The name in messages."""
    read_by: str | ColumnMap
    """The module in this package whose ``read`` turns the content into JudgedResults, or the columns of a table. It
    raises UnreadableError if nothing of the file can be read. Any other fault is a finding."""
    ending: str = ""
    """The ending of its files' names, in lower case. Empty for any."""
    beginning: bytes = b""
    """A regular expression that its files begin with."""
    names_scores: bool = False
    """Whether its scores are fields only if they are right or wrong in the whole series (``with_fields``)."""


_HEAD: Final = 4096  # number of bytes at the beginning of a file by which it is recognised
_NAMES: Final = ("expected", "expected_output", "ground_truth", "reference", "target", "label", "answer")
_EXPECTED: Final = "|".join(f"datasource_item.{name}" for name in _NAMES)
"""Usual columns of the expected text in the data of an eval, whose names its author chose."""

ANY_LINES: Final = Importer("JSON Lines", "judge_lines")
INDEX, ANSWER = "index.jsonl", "answer.md"
"""The names of the index of a run of AgentV and of the files with its answers."""
IMPORTERS: Final = (
    Importer(
        name="promptfoo",
        read_by="promptfoo",
        ending="json",
        beginning=rb'\s*\{\s*"(?:evalId"\s*:|results"\s*:\s*\{\s*"(?:version|timestamp|results|stats|prompts)"|version"\s*:\s*4\s*,\s*"createdAt"\s*:)',
    ),
    Importer(
        "promptfoo", "promptfoo", "jsonl", beginning=rb'(?s)\s*\{.*?"gradingResult"\s*:\s*(?:null|\{\s*"pass"\s*:)'
    ),
    Importer(
        name="Inspect",
        read_by="inspect_logs",
        ending="json",
        beginning=rb'\s*\{\s*"version"\s*:\s*\d+\s*,\s*"status"\s*:\s*"',
        names_scores=True,
    ),
    Importer("Inspect", "inspect_logs", "eval", names_scores=True),
    Importer("JUnit XML", "junit", "xml"),
    Importer("OpenAI evals", "openai_evals", "jsonl", beginning=rb'\s*\{\s*"spec"\s*:\s*\{', names_scores=True),
    Importer(
        name="lm-eval",
        ending="jsonl",
        beginning=rb'\s*\{\s*"doc_id"\s*:\s*\d+\s*,\s*"doc"\s*:',
        read_by=PRESETS["lm-eval"],
    ),
    Importer(
        name="agent-skills",
        ending="json",
        beginning=rb'(?s)\s*\{.*"runs"\s*:\s*\[\s*\{[^{}]*"configuration"\s*:',
        read_by=columns_in("""
            id=eval_id input=eval_name variant=configuration score=result.pass_rate|pass_rate
            latency=result.time_seconds|time_seconds scores=checks.* list=runs"""),
    ),
    Importer(
        name="grading of a skill",
        read_by="skill_grading",
        ending="json",
        # What precedes the expectations names the run: no list.
        beginning=rb'\s*\{(?:[^{}\[\]]|\{[^{}\[\]]*\})*"(?:(?:expectations|assertion_results)"\s*:\s*\[\s*\{|assertions"\s*:\s*\[\s*\{\s*"(?:text|expectation)")',
        names_scores=True,
    ),
    Importer(
        name="evalite",
        ending="json",
        beginning=rb'(?s)\s*\{\s*"run"\s*:\s*\{[^{}]*\}\s*,\s*"evals"\s*:\s*\[',
        read_by=columns_in("""
            input=input expected=expected output=output error=output.stack variant=group score=averageScore
            scores=scores.* list=evals.*.results"""),
    ),
    Importer(
        name="gh-models",
        ending="json",
        beginning=rb'(?s)\s*\{.*"testResults"\s*:\s*\[\s*\{\s*"testCase"\s*:',
        read_by=columns_in("""
            input=testCase.input expected=testCase.expected output=modelResponse model=model
            scores=evaluationResults.* list=testResults"""),
    ),
    Importer(
        name="openai-evals-api",
        beginning=rb'(?s)\s*[\[{].*"(?:object"\s*:\s*"eval\.run\.output_item"|datasource_item"\s*:)',
        read_by=columns_in(f"""
            id=datasource_item_id input=sample.input|datasource_item.query expected={_EXPECTED}
            output=sample.output.0.content|datasource_item.sample.output_text error=sample.error.message
            tokens_in=sample.usage.prompt_tokens tokens_out=sample.usage.completion_tokens model=sample.model
            confidence=sample.metadata.confidence|datasource_item.confidence scores=checks.* list=data"""),
    ),
    Importer(
        name="Jest and Vitest",
        ending="json",
        beginning=rb'\s*\{\s*"num\w*Test',
        read_by=columns_in("id=fullName passed=status reasoning=failureMessages list=testResults.*.assertionResults"),
    ),
    Importer(
        name="pytest-json-report",
        beginning=rb'\s*\{\s*"created"\s*:[^{}]*"exitcode"\s*:',
        read_by=columns_in("""
            id=nodeid passed=outcome reasoning=call.longrepr error=setup.longrepr latency=call.duration list=tests"""),
    ),
    Importer(
        name="pydantic-evals",
        ending="json",
        beginning=rb'(?s)\s*\{.*"cases"\s*:\s*\[.*?\{[^{}]*"inputs"\s*:',
        read_by=columns_in("""
            id=name input=inputs expected=expected_output output=output error=error_message latency=task_duration
            scores=scores.*|assertions.* list=cases|failures"""),
    ),
    Importer(
        name="Langfuse",
        ending="json",
        beginning=rb'(?s)\s*\{.*"item_?[rR]esults"\s*:\s*\[\s*\{\s*"item"\s*:',
        read_by=columns_in("""
            id=item.id input=item.input expected=item.expected_output|item.expectedOutput output=output
            scores=evaluations.* list=item_results|itemResults"""),
    ),
    Importer(
        name="Langfuse's scores",
        beginning=rb'(?:\s*\{\s*"data"\s*:)?\s*(?:\[\s*)?\{?(?=[^{}]*\b(?:traceId|trace_id)\b)[^{}]*\b(?:dataType|data_type)\b',
        read_by=columns_in("id=id scores=scores.*"),
    ),
    ANY_LINES,
)
"""The first that recognises a file reads it. The last one recognises any file, and names lines that it cannot read."""


def importer_of(path: str, content: bytes) -> Importer:
    """Return the format of a file that no settings describe."""
    head, suffix = content[:_HEAD].removeprefix(BOM_UTF8), ending(path)
    return next(each for each in IMPORTERS if each.ending in ("", suffix) and re.match(each.beginning, head))


def read_results(path: str, content: bytes, settings: str = "{}", *, without_cases: bool = False) -> JudgedResults:
    """Read a file of results: as a table if the settings describe its columns, else in the format that it has.

    A list of cases in no known format is a table with the usual names of columns, if it has scores or verdicts.

    ``settings``: the settings of the eval as canonical JSON; ``read_settings`` reports their faults.
    ``without_cases``: whether only what the file says of its run and of grades is asked for, so that the cases of a
    table need not be made. Raises UnreadableError.
    """
    from sitegen.importers.tables import read_table

    content = content.removeprefix(BOM_UTF8)
    importer, suffix, stated = importer_of(path, content), ending(path), stated_grades(settings)
    grades = None if without_cases else stated
    described, read_by = read_settings(settings).value, importer.read_by
    if described and (described.parts or described.scores):
        read_by = described
    elif described and isinstance(read_by, ColumnMap):
        read_by = replace(read_by, low=described.low, high=described.high)
    if isinstance(read_by, ColumnMap):
        return read_table(suffix, content, read_by, grades)
    module = import_module(f"sitegen.importers.{read_by}")
    if importer is ANY_LINES and suffix in DATA and suffix not in LINES and not re.match(TWO_LINES, content[:_HEAD]):
        return read_table(suffix, content, described, grades)
    if importer is ANY_LINES and (described or not module.is_of_a_judge(content)):
        with suppress(UnreadableError):  # the format reports each line that cannot be read
            return read_table("jsonl", content, described, grades)
    results: JudgedResults = module.read(content)
    return results.with_fields(stated) if importer.names_scores else results
