"""Finds case files, which hold expected values and outputs, that no manifest names; and files of test cases.

The finder searches the folder of evals and those folders in it that hold no eval of another kind: each of these, its
``results/``, ``runs/`` and ``outputs/``, and the folders of runs in these.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from fnmatch import fnmatchcase
from posixpath import basename, dirname, join, normpath, splitext
from typing import Final

from msgspec.structs import replace

from sitegen.config.findings import folder_path, home_of
from sitegen.config.manifest import evaluated_entry
from sitegen.config.models import GROUND_TRUTHS, SCORED_FILES, EvalConfig, Kind, files_of
from sitegen.config.searched_files import LARGEST_CASES, Search, SearchedFiles
from sitegen.model.frozen import Frozen
from sitegen.text.plain import natural_order

_MOST_READ: Final = 100
"""The most files whose content is examined."""
_BELOW: Final = ("results", "runs", "outputs")
_ENDINGS: Final = (".json", ".jsonl", ".csv")
_DIGITS: Final = r"[0-9]+(?:[-_.:TZ]*[0-9]+)*Z?"
_OF_A_RUN: Final = r"(?i)(?:run|results?|outputs?|iter(?:ation)?|attempt|trial|eval|v(?:ersion)?)[-_. ]?\*"
_TIME_DIGITS: Final = 6
"""The least number of digits in a date in a name."""
_JUDGED: Final = rb'"(?:score|scores|evaluator_results)"\s*:'
_NOT_CASES: Final = frozenset({*GROUND_TRUTHS, "eval-results.json", "aggregate.json"})
_CONVENTIONAL: Final = frozenset((*GROUND_TRUTHS, *(name for files in SCORED_FILES for name in files.overwritten)))
_MAYBE_JUDGED: Final = frozenset(files_of("judged").outputs)


class _Candidate(Frozen):
    """A file that is overwritten, or a glob of runs, with its newest file."""

    outputs: str
    """Relative to the eval's folder."""
    newest: str
    """The path of the newest file, relative to the same folder."""


def case_file_evals(search: Search) -> Iterator[EvalConfig]:
    """Yield an eval for each file or series of runs, first those in folders of evals."""
    if search.evals_dir:
        kinds = _Kinds(search.files)
        for name, folder in search.eval_folders.items():
            if folder not in search.homes and _is_free(search.files, folder):
                yield from _evals_of_folder(search.files, kinds, name, folder)
        if search.evals_dir not in search.homes:
            names = search.files.names(search.evals_dir)
            for candidate in _candidates({name: is_folder for name, is_folder in names.items() if not is_folder}):
                if kind := kinds.of(search.evals_dir, candidate):
                    yield _case_entry(_stem(candidate.outputs), candidate, kind, search.evals_dir)


def kind_of_newest(files: SearchedFiles, evals_dir: str, entry: EvalConfig) -> EvalConfig:
    """Return the entry with the kind of its newest file, if its files hold both expected values and outputs."""
    if not entry.in_cases or entry.kind is not None:
        return entry
    kind = files.kind_of_series(_newest_first(files, home_of(entry, evals_dir), folder_path(entry.outputs).split("/")))
    if kind and not files_of(kind).ground_truths:
        kind = "responses"  # the manifest asks to compare both sides, whatever the file states besides
    return replace(entry, kind=kind) if kind else entry


def judged_response_evals(search: Search) -> Iterator[EvalConfig]:
    """Yield an eval for each folder of evals whose responses state verdicts or scores beside a file of test cases."""
    for eval_id, folder in search.eval_folders.items():
        entry = EvalConfig(id=eval_id)
        if folder not in search.homes and (judged := judged_by_responses(search.files, search.evals_dir, entry)).kind:
            yield judged


def judged_by_responses(files: SearchedFiles, evals_dir: str, entry: EvalConfig) -> EvalConfig:
    """Return the entry with kind ``judged`` if it states no kind, and its newest responses state verdicts or scores.

    The test cases stay its ground truth, for their expected texts. Several files of one run, as of variants, are
    compared as texts.
    """
    home = home_of(entry, evals_dir)
    names = files.names(home)
    of_responses = files_of("responses")
    truth = entry.ground_truth or next((name for name in GROUND_TRUTHS if names.get(name) is False), "")
    if entry.kind is not None or entry.in_cases or basename(truth) not in of_responses.ground_truths:
        return entry
    stated = () if entry.outputs in ("auto", "iterations") else (entry.outputs,)
    overwritten = () if entry.outputs == "iterations" else of_responses.overwritten
    for outputs in stated or ("results/iteration-*/responses.json*", *overwritten):
        paths = tuple(_newest_first(files, home, folder_path(outputs).split("/")))
        if paths:
            folders = {dirname(path) for path in paths}
            beside = [name for folder in folders for name in files.names(folder)]
            several = sum(name in of_responses.outputs for name in beside) > len(folders)
            variants = any(re.fullmatch(of_responses.variants, name) for name in beside)
            if several or variants or files.kind_of_series(paths) != "judged":
                return entry
            return replace(entry, kind="judged", ground_truth=truth, outputs=outputs.replace("iteration-*", "*"))
    return entry


class _Kinds:
    """Determines the kinds of up to ``_MOST_READ`` files."""

    def __init__(self, files: SearchedFiles) -> None:
        self._files = files
        self._remaining = _MOST_READ

    def of(self, folder: str, candidate: _Candidate) -> Kind | None:
        if not self._remaining or splitext(candidate.newest)[1] not in _ENDINGS:
            return None
        self._remaining -= 1
        path = f"{folder}/{candidate.newest}"
        if candidate.newest in _MAYBE_JUDGED and self._files.answer(
            "scores", path, LARGEST_CASES, lambda content: "judged" if re.search(_JUDGED, content) else ""
        ):
            return None
        return self._files.kind_of_series(_newest_first(self._files, folder, candidate.outputs.split("/")))


def _is_free(files: SearchedFiles, folder: str) -> bool:
    """Whether nothing in a folder makes it an eval of another kind."""
    names = files.names(folder)
    results = files.names(f"{folder}/results") if names.get("results") else {}
    return {*names, *(f"results/{name}" for name in results)} & _CONVENTIONAL <= _MAYBE_JUDGED


def _evals_of_folder(files: SearchedFiles, kinds: _Kinds, eval_id: str, folder: str) -> Iterator[EvalConfig]:
    number = 0
    for candidate in _candidates_below(files, folder):
        if kind := kinds.of(folder, candidate):
            name = f"{eval_id}-{_stem(candidate.outputs)}" if number else eval_id
            yield _case_entry(name, candidate, kind, folder if number else None)
            number += 1


def _candidates_below(files: SearchedFiles, folder: str) -> Iterator[_Candidate]:
    names = files.names(folder)
    yield from _candidates(names)
    for below in _BELOW:
        if not names.get(below):
            continue
        inside = files.names(f"{folder}/{below}")
        for candidate in _candidates(inside):
            yield _Candidate(f"{below}/{candidate.outputs}", f"{below}/{candidate.newest}")
        runs = sorted((name for name in inside if inside[name] and re.search(_DIGITS, name)), key=natural_order)
        if runs:
            of_run = files.names(f"{folder}/{below}/{runs[-1]}")
            for name in sorted(name for name in of_run if not of_run[name] and name not in _NOT_CASES):
                yield _Candidate(f"{below}/*/{name}", f"{below}/{runs[-1]}/{name}")


def _newest_first(files: SearchedFiles, folder: str, segments: list[str]) -> Iterator[str]:
    """Yield the files that match a path or a glob below a folder, the last in natural order first."""
    names = files.names(folder)
    fitting = sorted((name for name in names if fnmatchcase(name, segments[0])), key=natural_order, reverse=True)
    for name in fitting[:_MOST_READ]:
        path = f"{folder}/{name}" if folder else name
        if len(segments) > 1 and names[name]:
            yield from _newest_first(files, path, segments[1:])
        elif len(segments) == 1 and not names[name]:
            yield path


def _candidates(names: dict[str, bool]) -> Iterator[_Candidate]:
    """Yield the case files of a folder. Files whose names differ by a time or a number are runs of one eval."""
    by_outputs: dict[str, list[str]] = {}
    for name in sorted(name for name in names if not names[name] and splitext(name)[1] in _ENDINGS):
        if name not in _NOT_CASES and name[0] != ".":
            by_outputs.setdefault(_glob_of_runs(name), []).append(name)
    for outputs, files in by_outputs.items():
        yield _Candidate(outputs, max(files, key=natural_order))


def _glob_of_runs(name: str) -> str:
    stem, ending = splitext(name)
    glob = re.sub(_DIGITS, "*", stem) + ending
    longest = max((sum(map(str.isdigit, digits)) for digits in re.findall(_DIGITS, stem)), default=0)
    return glob if longest >= _TIME_DIGITS or re.search(_OF_A_RUN, glob) else name


def _case_entry(eval_id: str, candidate: _Candidate, kind: Kind, folder: str | None) -> EvalConfig:
    truth = candidate.outputs if files_of(kind).ground_truths else None
    return EvalConfig(id=eval_id, kind=kind, dir=folder, outputs=candidate.outputs, ground_truth=truth)


def _stem(outputs: str) -> str:
    """Return a name for the content of the files: ``eval`` for ``results/eval_*.json``."""
    words = splitext(outputs.rpartition("/")[2])[0].replace("*", "").strip("-_. ")
    return words or "cases"


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
        yield evaluated_entry(entry, search.evaluation) if search.evaluation else entry


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
