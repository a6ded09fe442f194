"""Finds case files, which hold expected values and outputs, that no manifest names; and files of test cases.

The finder searches the folder of evals and those folders in it that hold no eval of another kind: each of these, its
``results/``, ``runs/`` and ``outputs/``, and the folders of runs in these.
"""

import dataclasses
import re
from collections.abc import Collection, Iterator
from fnmatch import fnmatchcase
from functools import partial
from itertools import islice
from posixpath import basename, dirname, join, normpath, splitext
from typing import Final

from sitegen.config.findings import folder_path, home_of
from sitegen.config.manifest import evaluated_entry
from sitegen.config.models import GROUND_TRUTHS, EvalConfig, files_of
from sitegen.data_files.reading import ending
from sitegen.history.layout import canonical_settings
from sitegen.importers import ANY_LINES, importer_of
from sitegen.model.metrics import traits_of
from sitegen.recognition.files import table_of, value_of
from sitegen.recognition.output_series import informative_part, names_a_run, numbers_alone, run_globs_of, with_repeats
from sitegen.recognition.searched_files import OTHER_KINDS, Search
from sitegen.text.globs import without_answerers
from sitegen.text.plain import natural_order

_MOST_READ: Final = 100  # the most files whose content is examined
_ENDINGS: Final = (".json", ".jsonl", ".csv")
_NOT_CASES: Final = frozenset({*GROUND_TRUTHS, "eval-results.json", "aggregate.json"})


def case_file_evals(search: Search) -> Iterator[EvalConfig]:
    """Yield an eval for each file or series of runs, first those in folders of evals."""
    if not search.evals_dir:
        return

    def is_free(folder: str) -> bool:
        """Whether nothing in a folder makes it an eval of another kind."""
        names = search.files.names(folder)
        results = search.files.names(f"{folder}/results") if names.get("results") else {}
        return OTHER_KINDS.isdisjoint((*names, *(f"results/{name}" for name in results)))

    examined = (
        (eval_id, folder, outputs)
        for eval_id, folder in (*search.eval_folders.items(), ("", search.evals_dir))
        if folder not in search.homes and (not eval_id or is_free(folder))
        for outputs, newest in candidates_below(search, folder, ("results", "runs", "outputs") if eval_id else ())
        if splitext(newest)[1] in _ENDINGS
    )
    named = set[str]()
    for eval_id, folder, outputs in islice(examined, _MOST_READ):
        paths = [*search.newest_first(folder, outputs)]
        kind = search.kind_of_series(paths)
        if kind is None:
            continue
        names_scores = traits_of(kind).names_scores
        outputs = with_repeats(f"{folder}/{outputs}", paths, search.files.commits).removeprefix(f"{folder}/")
        is_first = bool(eval_id) and eval_id not in named
        named.add(eval_id)
        # A name for the content of the files: ``eval`` for ``results/eval_*.json``.
        name = without_answerers(splitext(basename(outputs))[0]).replace("*", "").strip("-_. ") or "cases"
        stem = informative_part(name) or (name if eval_id else basename(folder))
        yield EvalConfig(
            id=eval_id if is_first else "-".join(filter(None, (eval_id, stem))),
            kind=kind,
            dir=None if is_first else folder,
            outputs=outputs,
            ground_truth=outputs if files_of(kind).ground_truths else None,
            settings=(names_scores and search.answer("columns", paths[0], partial(settings_of_table, paths[0])))
            or "{}",
        )


def settings_of_table(path: str, content: bytes) -> str:
    """Return the settings without which a table has no scores, as JSON: a scale, or columns of labels; else nothing."""
    from sitegen.recognition.recognition import guess_columns  # takes time to import; few evals need it

    table = table_of(value_of(ending(path), content)) if importer_of(path, content) is ANY_LINES else None
    settings = (guess_columns(table) if table else None) or {}
    named = {"list": table.key} if table and table.key else {}
    is_needed = "range" in settings or {"passed", "score", "scores"}.isdisjoint(settings.get("columns", ["score"]))
    return canonical_settings(settings | named) if is_needed else ""


def kind_of_newest(search: Search, entry: EvalConfig) -> EvalConfig:
    """Return the entry with the kind of its newest file, if its files hold both expected values and outputs."""
    if not entry.in_cases or entry.kind is not None:
        return entry
    kind = search.kind_of_series(search.newest_first(home_of(entry, search.evals_dir), folder_path(entry.outputs)))
    if kind and not files_of(kind).ground_truths:
        kind = "responses"  # the manifest asks to compare both sides, whatever the file states besides
    return dataclasses.replace(entry, kind=kind) if kind else entry


def judged_by_responses(search: Search, entry: EvalConfig) -> EvalConfig:
    """Return the entry with kind ``judged`` if it states no kind, and its newest responses state verdicts or scores.

    The test cases stay its ground truth, for their expected texts. Several files of one run, as of variants, are
    compared as texts.
    """
    home = home_of(entry, search.evals_dir)
    names, of_responses = search.files.names(home), files_of("responses")
    truth = entry.ground_truth or next((name for name in GROUND_TRUTHS if names.get(name) is False), "")
    if entry.kind is not None or entry.in_cases or basename(truth) not in of_responses.ground_truths:
        return entry
    stated = () if entry.outputs in ("auto", "iterations") else (entry.outputs,)
    overwritten = () if entry.outputs == "iterations" else of_responses.overwritten
    for outputs in stated or ("results/iteration-*/responses.json*", *overwritten):
        paths = tuple(search.newest_first(home, folder_path(outputs)))
        if paths:
            folders = {dirname(path) for path in paths}
            beside = [name for folder in folders for name in search.files.names(folder)]
            several = sum(name in of_responses.outputs for name in beside) > len(folders)
            variants = any(re.fullmatch(of_responses.variants, name) for name in beside)
            if several or variants or search.kind_of_series(paths) != "judged":
                return entry
            return dataclasses.replace(
                entry, kind="judged", ground_truth=truth, outputs=outputs.replace("iteration-*", "*")
            )
    return entry


def candidates_below(search: Search, folder: str, inner: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield (file or glob of runs, its newest file) of a folder and of its ``inner`` folders, relative to the folder.

    Files whose names differ by a time or a number are runs of one eval.
    """
    names = search.files.names(folder)
    by_outputs: dict[str, list[str]] = {}
    for name in sorted(name for name in names if not names[name] and splitext(name)[1] in _ENDINGS):
        if name not in _NOT_CASES and name[0] != ".":
            above = f"{basename(folder)}/"
            globs = (glob.removeprefix(above) for glob in run_globs_of(f"{above}{name}") if glob.startswith(above))
            by_outputs.setdefault(next(globs, name), []).append(name)
    for outputs, files in by_outputs.items():
        if not any("*" in glob and glob != outputs and fnmatchcase(outputs, glob) for glob in by_outputs):
            yield numbers_alone(outputs, names), max(files, key=natural_order)
    for below in filter(names.get, inner):
        for outputs, newest in candidates_below(search, join(folder, below), ()):
            yield f"{below}/{outputs}", f"{below}/{newest}"
        inside = search.files.names(join(folder, below))
        runs = sorted((name for name in inside if inside[name] and names_a_run(name)), key=natural_order)
        if runs:
            of_run = search.files.names(join(folder, below, runs[-1]))
            for name in sorted(name for name in of_run if not of_run[name] and name not in _NOT_CASES):
                yield f"{below}/*/{name}", f"{below}/{runs[-1]}/{name}"


_TEST_CASES: Final = "test_cases"
"""The folder of test cases: each file of it, and of the folders in it, that holds a list of cases is an eval."""
_MOST_FOLDERS: Final = 100  # of test cases
_MOST_FILES: Final = 200  # of test cases in a folder


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
    names = search.files.names(_TEST_CASES) if search.files.names("").get(_TEST_CASES) else {}
    folders = [_TEST_CASES, *(join(_TEST_CASES, name) for name in sorted(names) if names[name])][:_MOST_FOLDERS]
    paths = [
        join(folder, name)
        for folder in folders
        for name, is_folder in sorted(search.files.names(folder).items())
        if not is_folder and name.endswith(".json") and name[0] != "."
    ]
    truths = ((entry, entry.ground_truth) for entry in search.stated if entry.ground_truth)
    stated = {normpath(join(home_of(entry, search.evals_dir), truth)) for entry, truth in truths}
    ids_in_use = (
        {name for name, is_folder in search.files.names(search.evals_dir).items() if is_folder} if paths else set()
    )
    for path in paths[:_MOST_FILES]:
        if dirname(path) in search.homes or path in stated:
            continue
        if search.answer("test cases", path, _test_cases):
            entry = case_file_entry(path, ids_in_use)
            ids_in_use.add(entry.id)
            yield evaluated_entry(entry, search.evaluation.value) if search.evaluation.value else entry


def _test_cases(content: bytes) -> str:
    """Return a mark if the content is a list of test cases, objects with an ``input`` each; otherwise an empty text."""
    root = value_of("json", content)
    if isinstance(root, dict):
        root = root.get("test_cases", root.get("cases"))
    holds = isinstance(root, list) and bool(root) and all(isinstance(case, dict) and "input" in case for case in root)
    return "test cases" if holds else ""
