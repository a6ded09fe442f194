"""Reads the results that other tools wrote. A tool is a file beside this one and a line in ``IMPORTERS``."""

from __future__ import annotations

import re
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Final, NamedTuple

from sitegen.data_files.reading import TWO_LINES, UnreadableError, ending

if TYPE_CHECKING:
    from sitegen.importers.case import JudgedResults


class Importer(NamedTuple):
    """A format of results. Its files are recognised and read by their bytes, without clock, disk or network.

    The path counts by its ending alone: scorecards are stored by content and ending, so that a moved file is not scored
    again.
    """

    name: str
    """The name in messages. A format without a module is a table, whose columns ``REPORTS`` describes."""
    module: str = ""
    """The module in this package whose ``read`` turns the content into JudgedResults. It raises UnreadableError if
    nothing of the file can be read. Any other fault is a finding."""
    ending: str = ""
    """The ending of its files' names, in lower case. Empty for any."""
    beginning: bytes = b""
    """A regular expression that its files begin with."""
    names_scores: bool = False
    """Whether its scores are fields only if they are right or wrong in the whole series (``with_fields``)."""


_HEAD: Final = 4096
"""Number of bytes at the beginning of a file by which it is recognised."""

ANY_LINES: Final = Importer("JSON Lines", "judge_lines")
IMPORTERS: Final = (
    Importer(
        name="promptfoo",
        module="promptfoo",
        ending="json",
        beginning=rb'(?:\xef\xbb\xbf)?\s*\{\s*"(?:evalId"\s*:|results"\s*:\s*\{\s*"(?:version|timestamp|results|stats|prompts)"|version"\s*:\s*4\s*,\s*"createdAt"\s*:)',
    ),
    Importer(
        "promptfoo", "promptfoo", "jsonl", beginning=rb'(?s)\s*\{.*?"gradingResult"\s*:\s*(?:null|\{\s*"pass"\s*:)'
    ),
    Importer(
        name="Inspect",
        module="inspect_logs",
        ending="json",
        beginning=rb'(?:\xef\xbb\xbf)?\s*\{\s*"version"\s*:\s*\d+\s*,\s*"status"\s*:\s*"',
        names_scores=True,
    ),
    Importer("Inspect", "inspect_logs", "eval", names_scores=True),
    Importer("JUnit XML", "junit", "xml"),
    Importer("OpenAI evals", "openai_evals", "jsonl", beginning=rb'\s*\{\s*"spec"\s*:\s*\{', names_scores=True),
    Importer("lm-eval", ending="jsonl", beginning=rb'\s*\{\s*"doc_id"\s*:\s*\d+\s*,\s*"doc"\s*:'),
    Importer("agent-skills", ending="json", beginning=rb'(?s)\s*\{.*"runs"\s*:\s*\[\s*\{[^{}]*"configuration"\s*:'),
    Importer(
        name="grading of a skill",
        module="skill_grading",
        ending="json",
        # What precedes the expectations names the run: no list.
        beginning=rb'\s*\{(?:[^{}\[\]]|\{[^{}\[\]]*\})*"(?:(?:expectations|assertion_results)"\s*:\s*\[\s*\{|assertions"\s*:\s*\[\s*\{\s*"(?:text|expectation)")',
        names_scores=True,
    ),
    Importer("evalite", ending="json", beginning=rb'(?s)\s*\{\s*"run"\s*:\s*\{[^{}]*\}\s*,\s*"evals"\s*:\s*\['),
    Importer("gh-models", ending="json", beginning=rb'(?s)\s*\{.*"testResults"\s*:\s*\[\s*\{\s*"testCase"\s*:'),
    Importer("openai-evals-api", beginning=rb'(?s)\s*\{.*"object"\s*:\s*"eval\.run\.output_item"'),
    Importer("pydantic-evals", ending="json", beginning=rb'(?s)\s*\{.*"cases"\s*:\s*\[.*?\{[^{}]*"inputs"\s*:'),
    Importer("Langfuse", ending="json", beginning=rb'(?s)\s*\{.*"item_?[rR]esults"\s*:\s*\[\s*\{\s*"item"\s*:'),
    Importer(
        name="Langfuse's scores",
        beginning=rb'(?:\s*\{\s*"data"\s*:)?\s*(?:\[\s*)?\{?[^{}]*\b(?:traceId|trace_id)\b[^{}]*\b(?:dataType|data_type)\b',
    ),
    ANY_LINES,
)
"""The first one that recognises a file reads it. The last one recognises any file, and names the lines that it cannot
read."""


def importer_of(path: str, content: bytes) -> Importer:
    """Return the format of a file that no settings describe."""
    head, suffix = content[:_HEAD], ending(path)
    return next(each for each in IMPORTERS if each.ending in ("", suffix) and re.match(each.beginning, head))


def read_results(path: str, content: bytes, settings: str = "{}", *, without_cases: bool = False) -> JudgedResults:
    """Read a file of results: as a table if the settings describe its columns, else in the format that it has.

    A list of cases in no known format is a table with the usual names of columns, if it has scores or verdicts.

    ``settings``: the settings of the eval as canonical JSON; ``read_settings`` reports their faults.
    ``without_cases``: whether only what the file says of its run and of grades is asked for, so that the cases of a
    table need not be made. Raises UnreadableError.
    """
    from sitegen.importers.columns import REPORTS, read_settings, stated_grades
    from sitegen.importers.tables import read_table

    importer, suffix, stated = importer_of(path, content), ending(path), stated_grades(settings)
    grades = None if without_cases else stated
    columns = read_settings(settings).value or REPORTS.get(importer.name)
    if columns is not None:
        return read_table(suffix, content, columns, grades)
    module = import_module(f"sitegen.importers.{importer.module}")
    if importer is ANY_LINES and suffix in ("csv", "json") and not re.match(TWO_LINES, content[:_HEAD]):
        return read_table(suffix, content, None, grades)
    if importer is ANY_LINES and not module.is_of_a_judge(content):
        with suppress(UnreadableError):  # the format reports each line that cannot be read
            return read_table("jsonl", content, None, grades)
    results: JudgedResults = module.read(content)
    return results.with_fields(stated) if importer.names_scores else results
