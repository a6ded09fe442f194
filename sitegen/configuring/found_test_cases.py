"""Test cases that no manifest names, and the evaluation that is configured beside them."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from posixpath import basename, dirname, normpath
from typing import Final

from sitegen.config import EVALUATION_FILE, EvalConfig, EvaluationConfig
from sitegen.configuring.evaluation import read_evaluation
from sitegen.configuring.looked import Looked
from sitegen.model.problems import Finding

TEST_CASES: Final = "test_cases"
"""The folder of test cases: each file of it, and of the folders in it, that holds a list of cases is an eval."""

_MOST_FOLDERS: Final = 100
_MOST_FILES: Final = 200
_LARGEST: Final = 1_000_000
_LARGEST_CASES: Final = 20_000_000


def found_evaluation(looked: Looked) -> EvaluationConfig | Finding | None:
    """The evaluation that the project configures for itself, what is wrong with it, or None if there is none."""
    folder = ""
    for name in EVALUATION_FILE.split("/"):
        if name not in looked.names(folder):  # mostly told by the names in the root, which are known
            return None
        folder = _below(folder, name)
    content = looked.read(EVALUATION_FILE, _LARGEST)
    return None if content is None else read_evaluation(content)


def case_file_entry(path: str, taken: Collection[str] = ()) -> EvalConfig:
    """The eval whose test cases lie in a file of any name: its responses lie in the folder of that name beside it.

    Its id is the name without its ending, with that of the folder before it if the id is *taken*.
    """
    folder, name = dirname(path), basename(path).rpartition(".")[0]
    eval_id = name if name not in taken else f"{basename(folder)}-{name}"
    return EvalConfig(id=eval_id, kind="responses", dir=_below(folder, name), ground_truth=f"../{basename(path)}")


def found_test_cases(
    looked: Looked, evals_dir: str, homes: set[str], stated: Collection[EvalConfig]
) -> Iterator[EvalConfig]:
    """The evals of the files of test cases that no entry of the manifest names, by path."""
    top = looked.names(TEST_CASES) if looked.names("").get(TEST_CASES) else {}
    folders = [TEST_CASES, *(_below(TEST_CASES, name) for name in sorted(top) if top[name])][:_MOST_FOLDERS]
    paths = [
        _below(folder, name)
        for folder in folders
        for name, is_folder in sorted(looked.names(folder).items())
        if not is_folder and name.endswith(".json") and name[0] != "."
    ]
    truths = ((each, each.ground_truth) for each in stated if each.ground_truth)
    named = {normpath(f"{(each.dir or f'{evals_dir}/{each.id}').strip('/')}/{truth}") for each, truth in truths}
    taken = {each for each, is_folder in looked.names(evals_dir).items() if is_folder} if paths else set()
    for path in paths[:_MOST_FILES]:
        if dirname(path) in homes or path in named:
            continue
        if not looked.answer("test cases", path, _LARGEST_CASES, _test_cases):
            continue
        entry = case_file_entry(path, taken)
        taken.add(entry.id)
        yield entry


def _test_cases(content: bytes) -> str:
    """Says something of a file that is a list of test cases: of objects, each with an ``input``."""
    try:
        root = json.loads(content)
    except (ValueError, RecursionError):
        return ""
    if isinstance(root, dict):
        root = root.get("test_cases", root.get("cases"))
    holds = isinstance(root, list) and bool(root) and all(isinstance(each, dict) and "input" in each for each in root)
    return "test cases" if holds else ""


def _below(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name
