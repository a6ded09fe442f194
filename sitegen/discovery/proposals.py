"""What the data files of a history could be evals of: entries of a manifest, each with what speaks for it.

A proposal is a guess, made from places, names and columns. Whether it holds is told afterwards, by the real fold and
the real scorer (``trial``); what gives no numbers there is not written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from posixpath import relpath, splitext
from typing import Any, Final, NamedTuple, TypeAlias

from sitegen.data_files.reading import UnreadableError
from sitegen.discovery.columns import guessed_columns
from sitegen.discovery.contents import LARGEST, Shelf, leaf_paths, table_of, texts, value_of
from sitegen.discovery.output_series import (
    OutputSeries,
    data_files,
    is_truth_by_name,
    near,
    output_series,
    run_globs_of,
)
from sitegen.discovery.tracked import TrackedFile
from sitegen.model.kinds import traits_of
from sitegen.model.values import Value
from sitegen.scoring.case_files import kind_of_case_file
from sitegen.scoring.judged.case import JudgedCase
from sitegen.scoring.judged.formats import FORMATS, read_results
from sitegen.scoring.judged.formats.lines import LINES
from sitegen.scoring.judged.formats.result_format import HEAD
from sitegen.scoring.recorded.directions import headline_rank, is_headline, is_measure
from sitegen.scoring.recorded.layouts import read_numbers

MOST: Final = 40
"""Evals that are proposed."""

MOST_SINGLE: Final = 10
"""Of them, with one output: a history of which nothing can be seen yet."""

MOST_BESIDE: Final = 6
"""Of them, in one folder, or in the folders of one glob: of more, each is a case and not an eval."""

_LEAST_AGREEMENT: Final = 0.5
"""The share of expected fields that an output has."""

_EXPECTED_IN: Final = frozenset({"csv", "json", "jsonl", "yaml", "yml"})
_OUTPUT_IN: Final = frozenset({"json", "jsonl", "yaml", "yml"})
_MOST_NUMBERS: Final = 200
"""Of a file of sums; one with more holds something else."""

_LARGEST_SUMS: Final = 300_000
"""Bytes of it."""

_TABLE_IN: Final = frozenset({"csv", "json", "jsonl"})
_OUTPUT = re.compile(r"output|extract|predict|result|respon|actual|generat|answer|(?:^|/)runs?(?:/|$)", re.IGNORECASE)

_NO_TRUTH = re.compile(
    r"output|extract|predict|result|respon|actual|generat|report|checkpoint|metric|example", re.IGNORECASE
)
"""What a file is called that is not the expected values, unless another word says that it is."""

_TRUTHS_TRIED: Final = 12
"""Files, the nearest ones, that may be the expected values of one output."""

_IDS: Final = (
    "id",
    "case_id",
    "test_id",
    "document_id",
    "doc_id",
    "document",
    "doc",
    "name",
    "key",
    "file",
    "filename",
    "number",
)
_NOT_IN_AN_ID = re.compile(r"[^A-Za-z0-9._-]+")
_PLAIN_NAMES: Final = frozenset(
    (
        *("evals", "eval", "evaluation", "evaluations", "results", "result", "outputs", "output", "runs", "reports"),
        *("src", "data", "apps", "app", "web", "public", "static", "lib", "packages", "files", "experiments", "logs"),
    )
)
"""Folders whose names say nothing of what lies in them."""


class Proposal(NamedTuple):
    """An entry of the manifest, before its numbers are known."""

    id: str
    entry: dict[str, Any]
    """Its keys as they are written, in order."""
    why: str
    """A sentence: what was found."""
    series: OutputSeries
    truth: str = ""
    """Path of the file with the expected values, if it is another one."""


Found: TypeAlias = tuple[dict[str, Any], str, str]
"""Keys of an entry beside its place, what was found, and the path of the expected values."""


class Shape(NamedTuple):
    """The fields of the documents of a file, and the names of the documents."""

    fields: frozenset[str]
    keys: tuple[tuple[str, frozenset[str]], ...] = ()
    """(field, values) of the fields that tell the documents of a list apart, those that are named so first."""
    list_at: str = ""
    """Key of the list of documents; empty: the file is the list, or one document."""
    is_list: bool = False


class Material:
    """The files that proposals are made from, each read and parsed once."""

    def __init__(self, files: Iterable[TrackedFile], shelf: Shelf) -> None:
        self.files = data_files(files)
        self.shelf = shelf
        self._shapes: dict[str, Shape | None] = {}
        expected = [file for file in self.files if not file.deleted and file.ending in _EXPECTED_IN]
        self._by_name = [file for file in expected if is_truth_by_name(file.path)]
        self._expected = expected

    def content(self, series: OutputSeries) -> bytes | None:
        """What the newest file of a series holds; None if it cannot be had."""
        content = self.shelf.content(series.newest.oid)
        return None if content is None or len(content) > LARGEST else content

    def shape(self, file: TrackedFile) -> Shape | None:
        """The documents of a file; None if there are none."""
        if file.oid not in self._shapes:
            content = self.shelf.content(file.oid)
            value = None if content is None or len(content) > LARGEST else value_of(file.ending, content)
            self._shapes[file.oid] = _shape(value)
        return self._shapes[file.oid]

    def truths(self, series: OutputSeries) -> list[TrackedFile]:
        """The files that may be the expected values of an output, the nearest first: by name, else any that stay."""
        own = {file.path for file in series.files}
        by_name = [file for file in self._by_name if file.path not in own and _may_belong(file, series)]
        others = [
            file
            for file in (self._expected if series.versions > 2 else ())
            if file.versions * 2 < series.versions
            and not _NO_TRUTH.search(file.path)
            and file.path not in own
            and _may_belong(file, series)
        ]
        return list(dict.fromkeys((*near(by_name, series.folder), *near(others, series.folder))))[:_TRUTHS_TRIED]


def proposals(files: Iterable[TrackedFile], shelf: Shelf, taken: Iterable[str]) -> Iterator[Proposal]:
    """What the files could be evals of, the surest first. *taken* are ids of evals that are known already."""
    material = Material(files, shelf)
    ids = set(taken)
    truths: set[str] = set()
    proposed_beside: dict[str, int] = {}
    proposed = single = 0
    for series in output_series(material.files):
        if proposed >= MOST or shelf.full:
            return
        if not _worth_a_look(series) or series.newest.path in truths:
            continue
        content = material.content(series)
        found = None if content is None else _recognised(series, content, material)
        if found is None:
            continue
        if series.versions == 1:
            single += 1
            if single > MOST_SINGLE:
                continue
        beside = series.path.rpartition("/")[0]
        proposed_beside[beside] = proposed_beside.get(beside, 0) + 1
        if proposed_beside[beside] > MOST_BESIDE:
            continue
        keys, why, truth = found
        if truth:
            truths.add(truth)
        eval_id = _free_id(series, ids)
        ids.add(eval_id)
        proposed += 1
        yield Proposal(id=eval_id, entry={**keys, **_placed(series, truth)}, why=why, series=series, truth=truth)


def _worth_a_look(series: OutputSeries) -> bool:
    """Not a file that was written once and lies anywhere, nor one that sounds like expected values."""
    if is_truth_by_name(series.newest.path) and not series.is_glob and series.versions < 3:
        return False
    return series.hinted or series.versions >= 3


def _recognised(series: OutputSeries, content: bytes, material: Material) -> Found | None:
    path = series.newest.path
    cases = _cases(path, content) if series.hinted else None
    if cases and traits_of(cases[0]["kind"]).is_structured:
        return cases
    graded = _results_of_a_tool(path, content) or _graded(series, content) or cases
    return graded or _paired(series, material) or _sums(series, content)


def _results_of_a_tool(path: str, content: bytes) -> Found | None:
    """A file in a format of results that sitegen reads, with cases that somebody judged."""
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
    return {"kind": "judged"}, f"results in the format {form.name}, with {_number(len(cases), 'case')}", ""


def _graded(series: OutputSeries, content: bytes) -> Found | None:
    """A table that says how good each row is."""
    table = table_of(value_of(series.newest.ending, content)) if series.newest.ending in _TABLE_IN else None
    settings = guessed_columns(table) if table and series.hinted else None
    if table is None or settings is None:
        return None
    where = {"list": table.key} if table.key else {}
    columns = settings["columns"]
    graded = ", ".join(
        [*columns.get("scores", ()), *(columns[part] for part in ("score", "passed") if part in columns)]
    )
    why = f"a table of {_number(table.size, 'row')}, graded by {graded}"
    return {"kind": "judged", "settings": {**where, **settings}}, why, ""


def _sums(series: OutputSeries, content: bytes) -> Found | None:
    """Numbers that a run recorded, one of which is called as a metric is."""
    if not series.hinted or series.newest.ending not in _OUTPUT_IN or len(content) > _LARGEST_SUMS:
        return None
    try:
        numbers, _ = read_numbers(series.newest.path, content, {})
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
    entry = {"kind": "recorded", "settings": {"headline": headline}}  # else the first run's, which may be any number
    return entry, f"{_number(len(names), 'number')} that a run recorded, such as {headline[:80]}", ""


def without_sums_of(proposed: Iterable[Proposal]) -> tuple[Proposal, ...]:
    """Without the recorded sums of runs whose cases are proposed as well: these can be computed again."""
    every = tuple(proposed)
    detailed = {_folder_of(proposal) for proposal in every if not _only_records(proposal)}
    return tuple(proposal for proposal in every if not (_only_records(proposal) and _folder_of(proposal) in detailed))


def _only_records(proposal: Proposal) -> bool:
    return traits_of(proposal.entry.get("kind")).is_recorded


def _folder_of(proposal: Proposal) -> str:
    return proposal.series.path.rpartition("/")[0]


def _is_named(case: JudgedCase) -> bool:
    """Whether a line names its case: one that gives a score alone may be the sum of a run."""
    return bool(case.judges) or not re.fullmatch(r"line [0-9]+", case.id)


def _cases(path: str, content: bytes) -> Found | None:
    """Expected values and outputs in one file, case by case."""
    if splitext(path)[1][1:].lower() not in _OUTPUT_IN:
        return None
    kind = kind_of_case_file(path, content)
    if kind is None:
        return None
    return {"kind": kind, "ground_truth_format": "cases"}, "cases with what was expected beside what was given", ""


def _paired(series: OutputSeries, material: Material) -> Found | None:
    """An output, and near it a file of expected values with the same fields and, where it is a list, the same ids."""
    if series.newest.ending not in _OUTPUT_IN or not _OUTPUT.search(series.path):
        return None
    shape = material.shape(series.newest)
    best: tuple[float, TrackedFile, Shape] | None = None
    for file in material.truths(series) if shape else ():
        expected = material.shape(file)
        agreement = _agreement(expected, shape) if expected and shape else 0.0
        if expected and agreement >= _LEAST_AGREEMENT:
            agreement += 0.5 * is_truth_by_name(file.path)
            if best is None or agreement > best[0]:
                best = agreement, file, expected
    if best is None or shape is None:
        return None
    _, file, expected = best
    settings = _documents(expected, shape)
    keys: dict[str, Any] = {"settings": settings} if settings else {}
    return keys, f"expected values in {file.path}, with the fields of these outputs", file.path


def _may_belong(truth: TrackedFile, series: OutputSeries) -> bool:
    """Not a file of another run, nor of another part of the project."""
    of_a_run = truth.name == series.newest.name or (series.is_glob and bool(run_globs_of(truth.path)))
    return not of_a_run and _related(truth.folder, series.folder)


def _shape(value: Value) -> Shape | None:
    table = table_of(value)
    if table is not None and (isinstance(value, list) or table.size > 1):
        rows = table.rows
        columns = dict.fromkeys((*(name for name in _IDS if name in table.columns), *table.columns))
        named = ((column, texts(row.get(column) for row in rows)) for column in columns)
        keys = tuple((column, ids) for column, ids in named if len(ids) == len(rows))
        fields = frozenset(path.removeprefix("[].") for path in leaf_paths(list(rows)))
        return Shape(fields=fields, keys=keys, list_at=table.key, is_list=True)
    return Shape(leaf_paths(value)) if isinstance(value, dict) else None


def _agreement(expected: Shape, actual: Shape) -> float:
    """The share of expected fields that outputs have, 0 where documents cannot be the same."""
    if expected.is_list != actual.is_list or len(expected.fields & actual.fields) < 2:
        return 0.0
    if expected.is_list and not _common_key(expected, actual):
        return 0.0
    return len(expected.fields & actual.fields) / len(expected.fields)


def _common_key(expected: Shape, actual: Shape) -> str:
    """The first field that tells documents apart on both sides, and names the same ones; empty without any."""
    given = dict(actual.keys)
    return next((key for key, ids in expected.keys if len(ids & given.get(key, frozenset())) * 2 >= len(ids)), "")


def _documents(expected: Shape, actual: Shape) -> dict[str, Any]:
    """Where documents stand and what names them, if that is not what is taken for granted."""
    where: dict[str, str] = {}
    if expected.is_list and (actual.list_at or expected.list_at):
        where["path"] = actual.list_at or expected.list_at
    key = _common_key(expected, actual)
    if expected.is_list and (where or key != "id"):
        where["key"] = key
    return {"documents": where} if where else {}


def _related(one: str, other: str) -> bool:
    """Whether two folders lie in each other, or below a folder that is not the root."""
    if not one or not other or one.startswith(other) or other.startswith(one):
        return True
    return one.partition("/")[0] == other.partition("/")[0]


def _placed(series: OutputSeries, truth: str) -> dict[str, Any]:
    keys = {"dir": series.folder or ".", "outputs": series.outputs}
    return {**keys, "ground_truth": relpath(truth, series.folder or ".")} if truth else keys


def _free_id(series: OutputSeries, taken: set[str]) -> str:
    """A name that no other eval has: of the file if it says something, else of the nearest folder that does."""
    stem = splitext(series.outputs.rpartition("/")[2])[0].replace("*", "")
    names = [*filter(None, series.folder.split("/"))]
    telling = next((name for name in reversed(names) if name.casefold() not in _PLAIN_NAMES), "")
    parts = [_NOT_IN_AN_ID.sub("-", part).strip("-._") for part in (telling, stem)]
    wanted = [parts[0] or parts[1], "-".join(filter(None, parts)), "-".join(filter(None, (*names[-2:], parts[1])))]
    for name in wanted:
        if name and name not in taken:
            return name
    return next(
        f"{wanted[0] or 'eval'}-{number}"
        for number in range(2, 10_000)
        if f"{wanted[0] or 'eval'}-{number}" not in taken
    )


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
