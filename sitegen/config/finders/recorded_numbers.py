"""Finds recorded numbers that no manifest names, in files whose names clearly show that they are results of an eval.

A ``metrics.json`` may have any content: it counts only in a folder of evals, or beside instructions, and only if a
number in it has the name of a common metric.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from posixpath import basename, dirname, join, normpath, split
from typing import Any, Final

from msgspec.structs import replace

from sitegen.config.finders.searched_files import LARGEST_READ, OTHER_KINDS, Search, SearchedFiles
from sitegen.config.kind_files import files_of
from sitegen.config.models import EvalConfig

_DVCLIVE: Final = "dvclive"
_LM_EVAL: Final = r"results_20\d{2}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}[.\d]*\.json"
_HIGHLIGHT_RUN: Final = r"run-.+\.json"
_INSTRUCTIONS: Final = ("prompts", "templates")
"""Conventional folders of instructions, in which numbers may be beside the instructions."""
_MEASURE: Final = (
    rb'(?i)"[^"\n]{0,60}(?:accuracy|bleu|exact_match|f1|loss|pass_rate|perplexity|precision|recall|rouge|score)'
    rb'[^"\n]{0,60}"\s*:\s*-?[0-9]'
)
"""Matches a number under the name of a common metric."""


def recorded_evals(search: Search) -> Iterator[EvalConfig]:
    """Yield the evals of kind ``recorded``, except prompt evaluations."""
    for folder in search.folders:
        if folder not in search.homes:
            yield from _of_tools(search.files, folder)
            yield from _beside_instructions(search.files, folder)
    yield from _folders_of_numbers(search)
    yield from _runs_over_highlights(search)


def _of_tools(files: SearchedFiles, folder: str) -> Iterator[EvalConfig]:
    """Yield the file that DVCLive overwrites, and the results of lm-evaluation-harness with a file for each run."""
    names = files.names(folder)
    if basename(folder) == _DVCLIVE:
        overwritten = next((name for name in files_of("recorded").outputs if names.get(name) is False), None)
        if overwritten and overwritten.startswith("metrics."):
            yield recorded_entry(basename(dirname(folder)) or _DVCLIVE, folder, overwritten)
    if any(re.fullmatch(_LM_EVAL, name) and not names[name] for name in names):
        yield recorded_entry(basename(folder) or "lm-eval", folder or ".", "results_20*.json")


def _beside_instructions(files: SearchedFiles, folder: str) -> Iterator[EvalConfig]:
    names = files.names(folder)
    if folder.partition("/")[0] not in _INSTRUCTIONS or names.get("metrics.json") is not False:
        return
    written = any(name.endswith(".md") and not names[name] and name.lower() != "readme.md" for name in names)
    if written and _measures(files, join(folder, "metrics.json")):
        yield recorded_entry(basename(folder), folder, "metrics.json", (f"{folder}/**/*.md",))


def _folders_of_numbers(search: Search) -> Iterator[EvalConfig]:
    judged = files_of("judged").outputs
    for eval_id, folder in search.eval_folders.items():
        names = search.files.names(folder)
        if folder in search.homes or any(name in OTHER_KINDS or name in judged for name in names):
            continue
        paths = (path for path in files_of("recorded").overwritten if search.files.is_file(*split(f"{folder}/{path}")))
        path = next(paths, None)
        if path and _measures(search.files, f"{folder}/{path}"):
            yield EvalConfig(id=eval_id, kind="recorded", outputs=path)


def _runs_over_highlights(search: Search) -> Iterator[EvalConfig]:
    """Yield results of runs, ``results/run-*.json``, as a separate eval beside the scored one."""
    evals_dir, files = search.evals_dir, search.files
    if evals_dir and evals_dir not in search.homes and _holds_runs(files, f"{evals_dir}/results"):
        yield EvalConfig(id="results", name="Highlights, as runs recorded them", kind="recorded", outputs="run-*.json")
    for eval_id, folder in search.eval_folders.items():
        names = files.names(folder)
        is_marked = any(name in names for name in files_of("highlights").ground_truths)
        if (folder in search.homes and not is_marked) or not _holds_runs(files, f"{folder}/results"):
            continue
        if is_marked or any(name in OTHER_KINDS for name in names):
            yield EvalConfig(id=eval_id)  # two evals share a folder only if both are named
            yield recorded_entry(f"{eval_id}-runs", folder, "results/run-*.json")
        else:
            yield EvalConfig(id=eval_id, kind="recorded", outputs="results/run-*.json")


def _holds_runs(files: SearchedFiles, folder: str) -> bool:
    names = files.names(folder)
    runs = sorted(name for name in names if not names[name] and re.fullmatch(_HIGHLIGHT_RUN, name))
    return bool(runs) and _measures(files, join(folder, runs[-1]))


def _measures(files: SearchedFiles, path: str) -> bool:
    def mark(content: bytes) -> str:
        return "measured" if re.search(_MEASURE, content) else ""

    return bool(files.answer("accuracy of highlights", path, LARGEST_READ, mark))


def recorded_entry(eval_id: str, folder: str, outputs: str, instructions: tuple[str, ...] = ()) -> EvalConfig:
    """Return an entry of kind ``recorded`` in a folder of its own."""
    return EvalConfig(id=eval_id, kind="recorded", dir=folder, outputs=outputs, instructions=instructions)


_PROMPT_EVALUATIONS: Final = "evaluations/results"
"""The folder in which a framework that evaluates prompts writes a file for each run, which names its prompt."""

_NOT_IN_A_GLOB: Final = r"[*?\[\]\\]"
_MOST_FILES: Final = 200


def prompt_evaluations(search: Search) -> Iterator[EvalConfig]:
    """Yield an eval for each prompt that results name: the runs that name it, driven by the prompt."""
    if _PROMPT_EVALUATIONS in search.homes:
        return
    folders = (name for name, is_folder in search.files.names(_PROMPT_EVALUATIONS).items() if is_folder)
    paths = (
        f"{home}/{name}"
        for home in (_PROMPT_EVALUATIONS, *(f"{_PROMPT_EVALUATIONS}/{folder}" for folder in folders))
        for name, is_folder in search.files.names(home).items()
        if not is_folder and name.endswith(".json")
    )
    prompts: dict[str, None] = {}
    for path in sorted(paths, reverse=True)[:_MOST_FILES]:
        prompts |= dict.fromkeys(
            json.loads(search.files.answer("prompts of results", path, LARGEST_READ, _prompts_of) or "[]")
        )
    ids_in_use: set[str] = set()
    for prompt in sorted(prompts):
        stem = basename(prompt).rpartition(".")[0] or basename(prompt)
        eval_id = stem if stem not in ids_in_use else f"{basename(dirname(prompt))}-{stem}"
        if not eval_id:
            continue
        ids_in_use.add(eval_id)
        where = json.dumps(
            {"where": {"prompt_path": prompt}}, sort_keys=True, separators=(",", ":"), ensure_ascii=False
        )
        yield replace(recorded_entry(eval_id, _PROMPT_EVALUATIONS, "**/*.json", _glob_of(prompt)), settings=where)


def _prompts_of(content: bytes) -> str:
    """Return the prompts that results name, as JSON."""
    try:
        root: Any = json.loads(content)
    except (ValueError, RecursionError):
        return "[]"
    paths: list[Any] = []
    if isinstance(root, dict):
        if isinstance(root.get("results"), dict):
            paths = [root.get("prompt_path")]
        if not any(isinstance(path, str) for path in paths) and isinstance(root.get("individual_results"), dict):
            stated = root.get("prompt_paths")
            paths = stated if isinstance(stated, list) else []
    return json.dumps([path for path in paths if isinstance(path, str)])


def _glob_of(prompt: str) -> tuple[str, ...]:
    """Return the glob of a file; none for a file outside the project, or with a name that no glob can express."""
    path = normpath(prompt)
    is_inexpressible = (
        path.startswith(("/", "..")) or re.search(_NOT_IN_A_GLOB, path) or "\0" in path or not path.isprintable()
    )
    return () if is_inexpressible else (path,)
