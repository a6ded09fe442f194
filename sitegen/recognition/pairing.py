"""Pairs an output with the file of its expected values, by shared fields and, for lists of documents, shared ids.

Where each document has files of its own, one for each side, those of one name belong together.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

from sitegen.model.frozen import Frozen
from sitegen.model.values import Value
from sitegen.recognition.files import BlobReader, TrackedFile, leaf_paths, table_of, texts, value_of
from sitegen.recognition.output_series import OutputSeries, is_truth_by_name, nearest_first, run_globs_of

_LEAST_AGREEMENT: Final = 0.5
"""The least share of expected fields that an output must have."""

_BY_NAME: Final = 0.5
"""Added to the agreement of a file whose name suggests expected values."""

_EXPECTED_IN: Final = frozenset({"csv", "json", "jsonl", "yaml", "yml"})
_NO_TRUTH = re.compile(
    r"output|extract|predict|result|respon|actual|generat|report|checkpoint|metric|example", re.IGNORECASE
)
"""Words in the path of a file that does not hold expected values, unless another word says that it does."""

_TRUTHS_TRIED: Final = 12
"""Number of the nearest files that are tried as the expected values of an output."""

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


class Shape(Frozen):
    """The fields of the documents of a file, and the ids of the documents."""

    fields: frozenset[str]
    keys: Mapping[str, frozenset[str]] = MappingProxyType({})
    """The values of each field that is unique in the list; fields named like an id come first."""
    list_at: str = ""
    """Key of the list of documents; empty if the file is the list itself, or a single document."""
    is_list: bool = False


class TruthFinder:
    """Finds expected values among the data files of a history. Each file is read and parsed at most once."""

    def __init__(self, files: Iterable[TrackedFile], reader: BlobReader) -> None:
        self._reader = reader
        self._shapes: dict[str, Shape | None] = {}
        self._candidates = [file for file in files if not file.deleted and file.ending in _EXPECTED_IN]

    def paired(self, series: OutputSeries) -> tuple[TrackedFile, dict[str, Any]] | None:
        """Return the file with the expected values of an output, and the settings that match their documents."""
        actual = self._shape(series.newest)
        if actual is None:
            return None
        scored: list[tuple[float, TrackedFile, Shape]] = []
        for file in self._truths(series):
            expected = self._shape(file)
            agreement = _agreement(expected, actual) if expected else 0.0
            if expected and agreement >= _LEAST_AGREEMENT:
                scored.append((agreement + _BY_NAME * is_truth_by_name(file.path), file, expected))
        if not scored:
            return None
        # Of equally good files, this is the first, which is the nearest.
        _, file, expected = max(scored, key=lambda row: row[0])
        return file, _document_settings(expected, actual)

    def _truths(self, series: OutputSeries) -> list[TrackedFile]:
        """Return candidates for the expected values of an output: by name, then rarely edited ones; nearest first."""
        own_paths = {file.path for file in series.files}
        beside = {_stem(file) for file in self._candidates if file.folder == series.newest.folder}
        eligible = [
            file
            for file in self._candidates
            if file.path not in own_paths and _may_belong(file, series) and not _is_of_another(file, series, beside)
        ]
        by_name = [file for file in eligible if is_truth_by_name(file.path)]
        stable = [file for file in eligible if file.versions * 2 < series.versions and not _NO_TRUTH.search(file.path)]
        if series.versions <= 2:  # too few versions for another file to be relatively stable
            stable = []
        ordered = (*nearest_first(by_name, series.folder), *nearest_first(stable, series.folder))
        return sorted(dict.fromkeys(ordered), key=lambda file: not _is_namesake(file, series))[:_TRUTHS_TRIED]

    def _shape(self, file: TrackedFile) -> Shape | None:
        if file.oid not in self._shapes:
            content = self._reader.content(file.oid)
            self._shapes[file.oid] = None if content is None else _shape_of(value_of(file.ending, content))
        return self._shapes[file.oid]


def _stem(file: TrackedFile) -> str:
    return file.name.rpartition(".")[0]


def _is_namesake(truth: TrackedFile, series: OutputSeries) -> bool:
    """Whether both have one name, in folders of expected values and of outputs: ``truth/a.json``, ``output/a.json``."""
    in_place = is_truth_by_name(truth.folder) and not is_truth_by_name(series.folder)
    return in_place and _stem(truth) == _stem(series.newest)


def _is_of_another(truth: TrackedFile, series: OutputSeries, beside: Container[str]) -> bool:
    """Whether a file has the expected values of another output, which is called like it and lies beside this one."""
    is_elsewhere = truth.folder != series.newest.folder
    return is_elsewhere and not _is_namesake(truth, series) and _stem(truth) in beside


def _may_belong(truth: TrackedFile, series: OutputSeries) -> bool:
    """Whether a file is neither an output of another run nor in another part of the project."""
    if _is_namesake(truth, series):
        return True
    is_output = truth.name == series.newest.name or (series.is_glob and bool(run_globs_of(truth.path)))
    above, below = sorted((truth.folder, series.folder), key=len)
    return not is_output and (below.startswith(above) or below.partition("/")[0] == above.partition("/")[0])


def _shape_of(value: Value) -> Shape | None:
    table = table_of(value)
    if table is not None and (isinstance(value, list) or table.size > 1):
        rows = table.rows
        columns = dict.fromkeys((*(name for name in _IDS if name in table.columns), *table.columns))
        values_by_column = ((column, texts(row.get(column) for row in rows)) for column in columns)
        keys = {column: ids for column, ids in values_by_column if len(ids) == len(rows)}
        fields = frozenset(path.removeprefix("[].") for path in leaf_paths(list(rows)))
        return Shape(fields=fields, keys=keys, list_at=table.key, is_list=True)
    return Shape(leaf_paths(value)) if isinstance(value, dict) else None


def _agreement(expected: Shape, actual: Shape) -> float:
    """Return the share of expected fields that the output has; 0 if the documents cannot be the same."""
    if expected.is_list != actual.is_list or len(expected.fields & actual.fields) < 2:
        return 0.0
    if expected.is_list and not _common_key(expected, actual):
        return 0.0
    return len(expected.fields & actual.fields) / len(expected.fields)


def _common_key(expected: Shape, actual: Shape) -> str:
    """Return the first unique field of both sides with at least half of its expected values in common; else empty."""
    sides = ((key, ids, actual.keys.get(key, frozenset())) for key, ids in expected.keys.items())
    return next((key for key, ids, actual_ids in sides if len(ids & actual_ids) * 2 >= len(ids)), "")


def _document_settings(expected: Shape, actual: Shape) -> dict[str, Any]:
    """Return the settings for the list of documents and the field with their ids, unless the defaults apply."""
    where: dict[str, str] = {}
    if expected.is_list and (actual.list_at or expected.list_at):
        where["path"] = actual.list_at or expected.list_at
    key = _common_key(expected, actual)
    if expected.is_list and (where or key != "id"):
        where["key"] = key
    return {"documents": where} if where else {}
