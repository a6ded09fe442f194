"""Recorded numbers that no manifest names, where the name of a file leaves no doubt that they are results of an eval.

A ``metrics.json`` may be anything: alone it counts only in a folder of evals, or beside instructions, and only with a
number that is called what evals measure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from posixpath import basename, dirname, normpath
from typing import Any, Final

from sitegen.config import EvalConfig, files_of
from sitegen.configuring.looked import Looked

PROMPT_EVALUATIONS: Final = "evaluations/results"
"""Where an evaluation framework of prompts leaves its results: one file a run, which names its prompt."""

_DVCLIVE: Final = "dvclive"
_LM_EVAL = re.compile(r"results_20\d{2}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}[.\d]*\.json")
_HIGHLIGHT_RUN = re.compile(r"run-.+\.json")
_INSTRUCTIONS: Final = ("prompts", "templates")
"""Folders of instructions by convention, in which numbers may lie beside them."""
_MEASURE = re.compile(
    rb'"[^"\n]{0,60}(?:accuracy|bleu|exact_match|f1|loss|pass_rate|perplexity|precision|recall|rouge|score)[^"\n]{0,60}"\s*:\s*-?[0-9]',
    re.IGNORECASE,
)
"""A number that is called what evals measure."""
_NOT_IN_A_GLOB = re.compile(r"[*?\[\]\\]")

_LARGEST: Final = 1_000_000
_MOST_FILES: Final = 200


def found_recorded(
    evals_dir: str, looked: Looked, homes: set[str], folders: Iterable[str], others: Collection[str]
) -> Iterator[EvalConfig]:
    """The evals of kind ``recorded``.

    ``homes`` are folders of evals that the manifest names, ``folders`` those that are looked into, ``others`` names of
    files that make a folder an eval of another kind.
    """
    for folder in folders:
        if folder not in homes:
            yield from _of_tools(looked, folder)
            yield from _beside_instructions(looked, folder)
    yield from _in_evals(evals_dir, looked, homes, others)
    yield from _runs_over_highlights(evals_dir, looked, homes, others)
    if PROMPT_EVALUATIONS not in homes:
        yield from _of_prompts(looked)


def _of_tools(looked: Looked, folder: str) -> Iterator[EvalConfig]:
    """What DVCLive overwrites, and the results of lm-evaluation-harness, a file for each run."""
    names = looked.names(folder)
    if basename(folder) == _DVCLIVE:
        overwritten = next((name for name in files_of("recorded").outputs if names.get(name) is False), None)
        if overwritten and overwritten.startswith("metrics."):
            yield _entry(basename(dirname(folder)) or _DVCLIVE, folder, overwritten)
    if any(_LM_EVAL.fullmatch(name) and not names[name] for name in names):
        yield _entry(basename(folder) or "lm-eval", folder or ".", "results_20*.json")


def _beside_instructions(looked: Looked, folder: str) -> Iterator[EvalConfig]:
    names = looked.names(folder)
    if folder.partition("/")[0] not in _INSTRUCTIONS or names.get("metrics.json") is not False:
        return
    written = any(name.endswith(".md") and not names[name] and name.lower() != "readme.md" for name in names)
    if written and _measures(looked, _below(folder, "metrics.json")):
        yield _entry(basename(folder), folder, "metrics.json", (f"{folder}/**/*.md",))


def _in_evals(evals_dir: str, looked: Looked, homes: set[str], others: Collection[str]) -> Iterator[EvalConfig]:
    """Folders of evals that hold nothing but numbers."""
    inside = looked.names(evals_dir)
    judged = files_of("judged").outputs
    for eval_id in sorted(name for name in inside if inside[name] and name[0] != "."):
        folder = _below(evals_dir, eval_id)
        names = looked.names(folder)
        if folder in homes or any(name in others or name in judged for name in names):
            continue
        there = next((path for path in files_of("recorded").overwritten if _is_file(looked, f"{folder}/{path}")), None)
        if there and _measures(looked, f"{folder}/{there}"):
            yield EvalConfig(id=eval_id, kind="recorded", outputs=there)


def _runs_over_highlights(
    evals_dir: str, looked: Looked, homes: set[str], others: Collection[str]
) -> Iterator[EvalConfig]:
    """Results of runs, ``results/run-*.json``, as an eval of their own beside the one that is scored."""
    if evals_dir and evals_dir not in homes and _holds_runs(looked, f"{evals_dir}/results"):
        yield EvalConfig(id="results", name="Highlights, as runs recorded them", kind="recorded", outputs="run-*.json")
    inside = looked.names(evals_dir)
    for eval_id in sorted(name for name in inside if inside[name] and name[0] != "."):
        folder = _below(evals_dir, eval_id)
        names = looked.names(folder)
        is_marked = any(name in names for name in files_of("highlights").ground_truths)
        if (folder in homes and not is_marked) or not _holds_runs(looked, f"{folder}/results"):
            continue
        if is_marked or any(name in others for name in names):
            yield EvalConfig(id=eval_id)  # two evals share a folder only if both are named
            yield _entry(f"{eval_id}-runs", folder, "results/run-*.json")
        else:
            yield EvalConfig(id=eval_id, kind="recorded", outputs="results/run-*.json")


def _holds_runs(looked: Looked, folder: str) -> bool:
    names = looked.names(folder)
    runs = sorted(name for name in names if not names[name] and _HIGHLIGHT_RUN.fullmatch(name))
    return bool(runs) and _measures(looked, _below(folder, runs[-1]))


def _of_prompts(looked: Looked) -> Iterator[EvalConfig]:
    """An eval for each prompt that results name: the runs that name it, driven by it."""
    prompts: dict[str, None] = {}
    for path in sorted(_json_files(looked, PROMPT_EVALUATIONS), reverse=True)[:_MOST_FILES]:
        prompts |= dict.fromkeys(json.loads(looked.answer("prompts of results", path, _LARGEST, _prompts_of) or "[]"))
    taken: set[str] = set()
    for prompt in sorted(prompts):
        stem = basename(prompt).rpartition(".")[0] or basename(prompt)
        eval_id = stem if stem not in taken else f"{basename(dirname(prompt))}-{stem}"
        if not eval_id:
            continue
        taken.add(eval_id)
        where = json.dumps(
            {"where": {"prompt_path": prompt}}, sort_keys=True, separators=(",", ":"), ensure_ascii=False
        )
        yield replace(_entry(eval_id, PROMPT_EVALUATIONS, "**/*.json", _only(prompt)), settings=where)


def _json_files(looked: Looked, folder: str) -> Iterator[str]:
    """Those of a folder and of the folders in it."""
    names = looked.names(folder)
    for home in (folder, *(f"{folder}/{name}" for name in names if names[name])):
        yield from (
            f"{home}/{name}" for name, below in looked.names(home).items() if not below and name.endswith(".json")
        )


def _prompts_of(content: bytes) -> str:
    """The prompts that results name, as JSON."""
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


def _only(prompt: str) -> tuple[str, ...]:
    """The glob of one file; none of one outside the project, or with a name that no glob can say."""
    path = normpath(prompt)
    unsayable = path.startswith(("/", "..")) or _NOT_IN_A_GLOB.search(path) or "\0" in path or not path.isprintable()
    return () if unsayable else (path,)


def _is_file(looked: Looked, path: str) -> bool:
    return looked.names(dirname(path)).get(basename(path)) is False


def _measures(looked: Looked, path: str) -> bool:
    return bool(looked.answer("accuracy of highlights", path, _LARGEST, _measured))


def _measured(content: bytes) -> str:
    return "measured" if _MEASURE.search(content) else ""


def _entry(eval_id: str, folder: str, outputs: str, instructions: tuple[str, ...] = ()) -> EvalConfig:
    return EvalConfig(id=eval_id, kind="recorded", dir=folder, outputs=outputs, instructions=instructions)


def _below(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name
