"""Finds files of test cases, each of which has its responses in a folder beside it."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from posixpath import basename, dirname, join, normpath
from typing import Final

from sitegen.config import EvalConfig
from sitegen.configuring.evaluation import evaluated_entry
from sitegen.configuring.evaluation_config import EvaluationConfig
from sitegen.configuring.finders.searched_files import LARGEST_CASES, Search, SearchedFiles
from sitegen.configuring.paths import home_of

TEST_CASES: Final = "test_cases"
"""The folder of test cases: each file of it, and of the folders in it, that holds a list of cases is an eval."""

_MOST_FOLDERS: Final = 100
_MOST_FILES: Final = 200


def case_file_entry(path: str, ids_in_use: Collection[str]) -> EvalConfig:
    """Return the eval whose test cases are in a file: its responses are in the folder with the same name beside it.

    Its id is the name without the suffix, prefixed with the name of the folder if that id is in use.
    """
    folder, name = dirname(path), basename(path).rpartition(".")[0]
    eval_id = name if name not in ids_in_use else f"{basename(folder)}-{name}"
    return EvalConfig(id=eval_id, kind="responses", dir=join(folder, name), ground_truth=f"../{basename(path)}")


def test_case_evals(search: Search) -> Iterator[EvalConfig]:
    """Yield the evals of files of test cases that no entry of the manifest names, by path.

    They have the thresholds and settings of the evaluation that the project configures.
    """
    paths = _case_files(search.files)
    truths = ((entry, entry.ground_truth) for entry in search.stated if entry.ground_truth)
    stated = {normpath(join(home_of(entry, search.evals_dir), truth)) for entry, truth in truths}
    ids_in_use = (
        {name for name, is_folder in search.files.names(search.evals_dir).items() if is_folder} if paths else set()
    )
    for path in paths[:_MOST_FILES]:
        if dirname(path) in search.homes or path in stated:
            continue
        if not search.files.answer("test cases", path, LARGEST_CASES, _test_cases):
            continue
        entry = case_file_entry(path, ids_in_use)
        ids_in_use.add(entry.id)
        yield evaluated_entry(entry, search.evaluation) if isinstance(search.evaluation, EvaluationConfig) else entry


def _case_files(files: SearchedFiles) -> list[str]:
    names = files.names(TEST_CASES) if files.names("").get(TEST_CASES) else {}
    folders = [TEST_CASES, *(join(TEST_CASES, name) for name in sorted(names) if names[name])][:_MOST_FOLDERS]
    return [
        join(folder, name)
        for folder in folders
        for name, is_folder in sorted(files.names(folder).items())
        if not is_folder and name.endswith(".json") and name[0] != "."
    ]


def _test_cases(content: bytes) -> str:
    """Return a mark if the content is a list of test cases, objects with an ``input`` each; otherwise an empty text."""
    try:
        root = json.loads(content)
    except (ValueError, RecursionError):
        return ""
    if isinstance(root, dict):
        root = root.get("test_cases", root.get("cases"))
    holds = isinstance(root, list) and bool(root) and all(isinstance(case, dict) and "input" in case for case in root)
    return "test cases" if holds else ""
