"""Recognises the kind of eval that an output could belong to by its content: a function for each kind of evidence."""

from __future__ import annotations

import re
from posixpath import splitext
from typing import Any, Final

from sitegen.data_files.reading import UnreadableError
from sitegen.discovery.columns import guessed_columns
from sitegen.discovery.contents import table_of, value_of
from sitegen.discovery.output_series import OutputSeries
from sitegen.discovery.pairing import TruthFinder
from sitegen.frozen import Frozen
from sitegen.model.kinds import traits_of
from sitegen.scoring.case_files import kind_of_case_file
from sitegen.scoring.judged.case import JudgedCase
from sitegen.scoring.judged.formats import FORMATS, read_results
from sitegen.scoring.judged.formats.lines import LINES
from sitegen.scoring.judged.formats.result_format import HEAD
from sitegen.scoring.recorded.directions import headline_rank, is_headline, is_measure
from sitegen.scoring.recorded.layouts import read_numbers
from sitegen.text.plain import counted

_MOST_NUMBERS: Final = 200
"""The most numbers in a file with the metrics of a run."""

_LARGEST_SUMS: Final = 300_000
"""The size of the largest file that is read as the metrics of a run, in bytes."""

_TABLE_IN: Final = frozenset({"csv", "json", "jsonl"})
_OUTPUT_IN: Final = frozenset({"json", "jsonl", "yaml", "yml"})
_OUTPUT = re.compile(r"output|extract|predict|result|respon|actual|generat|answer|(?:^|/)runs?(?:/|$)", re.IGNORECASE)


class Recognition(Frozen):
    """The kind of eval that was recognised for an output."""

    keys: dict[str, Any]
    """Keys of the manifest entry, except those that locate the eval."""
    why: str
    """The evidence, for the comment above the entry."""
    truth: str = ""
    """Path of the file with the expected values, if they are in a separate file."""


def recognised(series: OutputSeries, content: bytes, truths: TruthFinder) -> Recognition | None:
    """Recognise the kind of eval that an output could belong to, trying the most specific evidence first."""
    path = series.newest.path
    cases = _case_file(path, content) if series.hinted else None
    if cases and traits_of(cases.keys["kind"]).is_structured:
        return cases
    graded = _tool_results(path, content) or _graded_table(series, content) or cases
    return graded or _paired_output(series, truths) or _recorded_numbers(series, content)


def _tool_results(path: str, content: bytes) -> Recognition | None:
    """Recognise a known format of results in which most cases have a verdict or a score."""
    ending, head = splitext(path)[1][1:].lower(), content[:HEAD]
    form = next(form for form in FORMATS if form.recognises(ending, head))
    if form is LINES and ending not in ("jsonl", "ndjson"):
        return None
    try:
        cases = read_results(path, content).cases
    except UnreadableError:
        return None
    judged = [case for case in cases if case.passed is not None or case.score is not None]
    if form is LINES and not any(_is_named(case) for case in judged):
        return None
    if not judged or len(judged) * 2 < len(cases):
        return None
    return Recognition({"kind": "judged"}, f"results in the format {form.name}, with {counted(len(cases), 'case')}")


def _is_named(case: JudgedCase) -> bool:
    """Whether a line names its case; a line with only a score may be the total of a run."""
    return bool(case.judges) or not re.fullmatch(r"line [0-9]+", case.id)


def _graded_table(series: OutputSeries, content: bytes) -> Recognition | None:
    """Recognise a table with a verdict or a score in each row."""
    table = table_of(value_of(series.newest.ending, content)) if series.newest.ending in _TABLE_IN else None
    settings = guessed_columns(table) if table and series.hinted else None
    if table is None or settings is None:
        return None
    columns = settings["columns"]
    graded = [*columns.get("scores", ()), *(columns[part] for part in ("score", "passed") if part in columns)]
    list_key = {"list": table.key} if table.key else {}
    why = f"a table of {counted(table.size, 'row')}, graded by {', '.join(graded)}"
    return Recognition({"kind": "judged", "settings": {**list_key, **settings}}, why)


def _case_file(path: str, content: bytes) -> Recognition | None:
    """Recognise a file with the expected value and the output of each case."""
    if splitext(path)[1][1:].lower() not in _OUTPUT_IN:
        return None
    kind = kind_of_case_file(path, content)
    if kind is None:
        return None
    keys = {"kind": kind, "ground_truth_format": "cases"}
    return Recognition(keys, "cases with what was expected beside what was given")


def _paired_output(series: OutputSeries, truths: TruthFinder) -> Recognition | None:
    """Recognise an output with a file of expected values near it."""
    if series.newest.ending not in _OUTPUT_IN or not _OUTPUT.search(series.path):
        return None
    pair = truths.paired(series)
    if pair is None:
        return None
    file, settings = pair
    why = f"expected values in {file.path}, with the fields of these outputs"
    return Recognition({"settings": settings} if settings else {}, why, file.path)


def _recorded_numbers(series: OutputSeries, content: bytes) -> Recognition | None:
    """Recognise numbers that a run recorded, one of which has the name of a metric."""
    if not series.hinted or series.newest.ending not in _OUTPUT_IN or len(content) > _LARGEST_SUMS:
        return None
    try:
        numbers = read_numbers(series.newest.path, content, {}).value
    except UnreadableError:
        return None
    names = [
        number.name
        for number in numbers
        if number.value is not None and not number.is_sample and is_measure(number.name)
    ]
    of_the_run = (name for name in names if not any(part.isdecimal() for part in name.split(".")))  # not of a list
    headline = min(of_the_run, key=headline_rank, default="")
    if not headline or not is_headline(headline) or len(names) > _MOST_NUMBERS:
        return None
    # Without the setting, the headline would be an arbitrary number: the first of the first run.
    keys = {"kind": "recorded", "settings": {"headline": headline}}
    return Recognition(keys, f"{counted(len(names), 'number')} that a run recorded, such as {headline[:80]}")
