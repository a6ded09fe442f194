"""Finds results of a framework that evaluates prompts: a file for each run, which names its prompt."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from posixpath import basename, dirname, normpath
from typing import Any, Final

from msgspec.structs import replace

from sitegen.config import EvalConfig
from sitegen.configuring.finders.recorded_numbers import recorded_entry
from sitegen.configuring.finders.searched_files import LARGEST_READ, Search, SearchedFiles

PROMPT_EVALUATIONS: Final = "evaluations/results"
"""The folder of the results."""

_NOT_IN_A_GLOB: Final = r"[*?\[\]\\]"
_MOST_FILES: Final = 200


def prompt_evaluations(search: Search) -> Iterator[EvalConfig]:
    """Yield an eval for each prompt that results name: the runs that name it, driven by the prompt."""
    if PROMPT_EVALUATIONS in search.homes:
        return
    prompts: dict[str, None] = {}
    for path in sorted(_json_files(search.files, PROMPT_EVALUATIONS), reverse=True)[:_MOST_FILES]:
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
        yield replace(recorded_entry(eval_id, PROMPT_EVALUATIONS, "**/*.json", _glob_of(prompt)), settings=where)


def _json_files(files: SearchedFiles, folder: str) -> Iterator[str]:
    """Yield the JSON files of a folder and of the folders in it."""
    names = files.names(folder)
    for home in (folder, *(f"{folder}/{name}" for name in names if names[name])):
        yield from (
            f"{home}/{name}" for name, below in files.names(home).items() if not below and name.endswith(".json")
        )


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
