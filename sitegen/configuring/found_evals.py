"""Evals that no manifest names: results of other tools where those tools leave them, and folders of test cases.

What is found becomes entries of the manifest and instruction globs of the site, as if somebody had written them. So all
of history is read by them, and nothing after the configuration knows how an eval was found.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from posixpath import basename, normpath
from typing import Any, Final

from sitegen.config import GROUND_TRUTHS, SCORED_FILES, EvalConfig, EvaluationConfig, Manifest, SiteConfig, files_of
from sitegen.configuring.evaluation import evaluated_entry, stated_llm
from sitegen.configuring.found_cases import LARGEST_CASES, FoundCases, newest_named
from sitegen.configuring.found_recorded import found_recorded
from sitegen.configuring.found_test_cases import found_evaluation, found_test_cases
from sitegen.configuring.looked import Looked
from sitegen.data_files.reading import UnreadableError
from sitegen.data_files.yaml_reader import read_configuring_yaml
from sitegen.model.problems import Finding

PROMPTFOO_CONFIGURATIONS: Final = ("promptfooconfig.yaml", "promptfooconfig.yml", "promptfooconfig.json")
PROMPTFOO_RESULTS: Final = ("output.json", "results.json")

INSPECT_LOGS: Final = "logs"
"""The folder that Inspect writes its logs into."""

_LOG = re.compile(r"20\d{2}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}[^_/]*_([^_/*?\[\]]+)_[^_/]+\.(eval|json)")
"""The name of a log: time, task, id. In each of them Inspect writes ``-`` for ``_``."""
_LOG_ENDINGS: Final = {("eval",): "eval", ("json",): "json", ("eval", "json"): "[ej][vs][ao][ln]"}
"""What a glob of a task's logs ends with, by the endings that they have."""

AGENTV_RESULTS: Final = ".agentv/results"
"""The folder that AgentV writes its runs into."""

_AGENTV_RUNS: Final = ("*/.internal/index.jsonl", "*/index.jsonl", "runs/*/index.jsonl")
"""Where the index of a run lies in it, newest layout first."""
_BASELINE: Final = ".baseline.jsonl"
_MOST_RUNS: Final = 1_000

_MOST_FOLDERS: Final = 100
_DEEPEST: Final = 3
_MOST_PROMPTS: Final = 200
_OTHER_KINDS: Final = frozenset(
    {*GROUND_TRUTHS, *(name for files in SCORED_FILES for name in files.overwritten)} - {*files_of("judged").outputs}
)
"""Names of files that make an eval of another kind."""
_LARGEST: Final = 1_000_000
_SKIPPED: Final = frozenset({"node_modules", "public", "dist", "build"})
_PROMPT_FILE = re.compile(r".+\.(?:txt|json|jsonl|yaml|yml|md|j2)")
_FUNCTION = re.compile(r"(\.(?:py|js|cjs|mjs|ts)):[^/]*$")


def with_found_evals(config: SiteConfig, manifest: Manifest, looked: Looked) -> tuple[SiteConfig, Manifest]:
    """The configuration with the evals that lie where tools leave them. An entry of the manifest goes first.

    What lies in one folder under one id is one eval, as that which is looked for first. In another folder it is an eval
    of its own, called by its folder where the id is taken.

    Never raises: a configuration of a tool that cannot be read names no prompts.
    """
    evaluation = found_evaluation(looked)
    if isinstance(evaluation, EvaluationConfig):
        config = replace(config, llm=stated_llm(config.llm, evaluation))
    manifest = replace(manifest, evals=tuple(_with_kind(config.evals_dir, looked, entry) for entry in manifest.evals))
    taken = {entry.id: _home(entry, config.evals_dir) for entry in manifest.evals}
    homes = set(taken.values())
    found: dict[str, EvalConfig] = {}
    finders = (
        _promptfoo(looked, homes),
        _inspect(looked, homes),
        _agentv_runs(looked, homes),
        _baselines(config.evals_dir, looked, homes),
        FoundCases(_path(config.evals_dir), looked, homes).entries(),
        _lone_results(config.evals_dir, looked, homes),
        _with_evaluation(found_test_cases(looked, _path(config.evals_dir), homes, manifest.evals), evaluation),
        found_recorded(_path(config.evals_dir), looked, homes, tuple(_folders(looked)), _OTHER_KINDS),
    )
    for finder in finders:
        before = set(taken)
        for entry in finder:
            home, own = _home(entry, config.evals_dir), _below(_path(config.evals_dir), entry.id)
            if entry.id not in taken and home != own and not _OTHER_KINDS.isdisjoint(looked.names(own)):
                taken[entry.id] = own
            if entry.id in before and taken[entry.id] == home:
                continue
            apart = (
                entry if entry.id not in taken else replace(entry, id=_other_id(entry.id, home, taken), dir=home or ".")
            )
            found[apart.id] = apart
            taken[apart.id] = home
    if not found:
        return config, manifest
    prompts = [glob for entry in found.values() for glob in entry.instructions]
    globs = tuple(dict.fromkeys((*config.instructions, *prompts)))
    return replace(config, instructions=globs), replace(manifest, evals=(*manifest.evals, *found.values()))


def _home(entry: EvalConfig, evals_dir: str) -> str:
    """The folder of an eval, from the root."""
    return _path(entry.dir or f"{evals_dir}/{entry.id}")


def _other_id(eval_id: str, home: str, taken: Collection[str]) -> str:
    """An id by the folder, else with a number, for an eval whose own id another one has."""
    folder = home.replace("/", "-").lstrip(".")
    by_folder = folder if folder.endswith(eval_id) else f"{folder}-{eval_id}"
    names = (by_folder, *(f"{eval_id}-{number}" for number in range(2, len(taken) + 3)))
    return next(name for name in names if name[0] != "-" and name not in taken)


def _with_evaluation(
    entries: Iterator[EvalConfig], evaluation: EvaluationConfig | Finding | None
) -> Iterator[EvalConfig]:
    """Entries with the thresholds and settings that the project's evaluation names."""
    for entry in entries:
        yield evaluated_entry(entry, evaluation) if isinstance(evaluation, EvaluationConfig) else entry


def _promptfoo(looked: Looked, homes: set[str]) -> Iterator[EvalConfig]:
    """Folders with promptfoo's configuration and its results beside it."""
    for folder in _folders(looked):
        names = looked.names(folder)
        configuration = next((name for name in PROMPTFOO_CONFIGURATIONS if names.get(name) is False), None)
        results = next((name for name in PROMPTFOO_RESULTS if names.get(name) is False), None)
        if configuration is None or results is None or folder in homes:
            continue
        yield EvalConfig(
            id=basename(folder) or "promptfoo",
            kind="judged",
            dir=folder or ".",
            outputs=results,
            instructions=_prompts(looked, _below(folder, configuration), folder),
        )


def _inspect(looked: Looked, homes: set[str]) -> Iterator[EvalConfig]:
    """Folders of Inspect's logs: an eval for each task, a run for each log."""
    taken: set[str] = set()
    for folder in _folders(looked):
        home = _below(folder, INSPECT_LOGS)
        if home in homes or not looked.names(folder).get(INSPECT_LOGS):
            continue
        endings: dict[str, set[str]] = {}
        for name, is_folder in looked.names(home).items():
            if not is_folder and (match := _LOG.fullmatch(name)):
                endings.setdefault(match[1], set()).add(match[2])
        for task in sorted(endings):
            eval_id = f"{basename(folder)}-{task}" if task in taken else task
            taken |= {task, eval_id}
            ending = _LOG_ENDINGS[tuple(sorted(endings[task]))]
            yield EvalConfig(id=eval_id, kind="judged", dir=home, outputs=f"*_{task}_*.{ending}")


def _agentv_runs(looked: Looked, homes: set[str]) -> Iterator[EvalConfig]:
    """AgentV's runs together: which evals a run was of, only its lines say."""
    layouts = [glob for glob in _AGENTV_RUNS if _has_run(looked, glob)] if AGENTV_RESULTS not in homes else []
    if layouts:
        outputs = layouts[0] if len(layouts) == 1 else "**/index.jsonl"
        yield EvalConfig(id="agentv", kind="judged", dir=AGENTV_RESULTS, outputs=outputs)


def _has_run(looked: Looked, glob: str) -> bool:
    above, _, inside = f"{AGENTV_RESULTS}/{glob}".partition("/*/")
    folder, _, name = inside.rpartition("/")
    runs = sorted(each for each, is_folder in looked.names(above).items() if is_folder)[-_MOST_RUNS:]
    homes = (_below(f"{above}/{run}", folder) if folder else f"{above}/{run}" for run in runs)
    return any(looked.names(home).get(name) is False for home in homes)


def _baselines(evals_dir: str, looked: Looked, homes: set[str]) -> Iterator[EvalConfig]:
    """AgentV's baselines, which lie beside its evals: each is overwritten from commit to commit."""
    top = _path(evals_dir)
    for folder in _folders(looked):
        here = looked.names(folder)
        # What lies above other evals would take their files.
        if folder in homes or (folder and f"{top}/".startswith(f"{folder}/")) or not _OTHER_KINDS.isdisjoint(here):
            continue
        for name in sorted(name for name, is_folder in here.items() if name.endswith(_BASELINE) and not is_folder):
            of_eval = name.removesuffix(_BASELINE).removesuffix(".eval")
            eval_id = basename(folder) if of_eval == "suite" and folder else of_eval
            if eval_id:
                yield EvalConfig(id=eval_id, kind="judged", dir=folder or ".", outputs=name)


def _folders(looked: Looked) -> Iterator[str]:
    """The root and what is below, nearest first; so many folders and no more."""
    level, left = [""], _MOST_FOLDERS
    for _ in range(_DEEPEST):
        below: list[str] = []
        for folder in level:
            if not left:
                return
            left -= 1
            yield folder
            names = looked.names(folder)
            inside = sorted(name for name in names if names[name] and name[0] != "." and name not in _SKIPPED)
            below += [_below(folder, name) for name in inside]
        level = below


def _prompts(looked: Looked, configuration: str, folder: str) -> tuple[str, ...]:
    """The files of the prompts that a configuration names, as globs from the root; nothing outside the project."""
    stated = json.loads(looked.answer("prompts of promptfoo", configuration, _LARGEST, _stated_prompts) or "[]")
    globs = (_prompt_glob(text, folder) for text in stated)
    return tuple(dict.fromkeys(glob for glob in globs if glob))


def _stated_prompts(content: bytes) -> str:
    """The prompts of a configuration, as JSON."""
    try:
        root, _ = read_configuring_yaml(content)
    except UnreadableError:
        return "[]"
    stated: Any = root.get("prompts") if isinstance(root, dict) else None
    listed = (stated if isinstance(stated, list) else [stated])[:_MOST_PROMPTS]
    texts = (each.get("id", each.get("raw")) if isinstance(each, dict) else each for each in listed)
    return json.dumps([text.strip() for text in texts if isinstance(text, str)])


def _prompt_glob(text: str, folder: str) -> str | None:
    named = text.startswith("file://")
    path = _FUNCTION.sub(r"\1", text.removeprefix("file://"))
    if "\n" in path or "{" in path or "://" in path or path.startswith(("/", "\\")):
        return None
    if not named and (" " in path or not _PROMPT_FILE.fullmatch(path)):
        return None  # the prompt itself
    glob = _path(_below(folder, path))
    return None if not glob or glob.startswith("..") else glob


def _with_kind(evals_dir: str, looked: Looked, entry: EvalConfig) -> EvalConfig:
    """An entry whose expected values and outputs stand in one file, with the kind that the newest such file is of."""
    if not entry.in_cases or entry.kind is not None:
        return entry
    folder = _path(entry.dir or f"{evals_dir}/{entry.id}")
    newest = newest_named(looked, folder, _path(entry.outputs).split("/"))
    kind = looked.kind_of_file(newest, LARGEST_CASES) if newest else None
    return replace(entry, kind=kind) if kind else entry


def _lone_results(evals_dir: str, looked: Looked, homes: set[str]) -> Iterator[EvalConfig]:
    """Folders of evals with judged results, and nothing that makes them an eval of another kind."""
    names = files_of("judged").outputs
    top = _path(evals_dir)
    inside = looked.names(top)
    for eval_id in sorted(name for name in inside if inside[name] and name[0] != "."):
        folder = _below(top, eval_id)
        here = looked.names(folder)
        if folder in homes or not _OTHER_KINDS.isdisjoint(here):
            continue
        if any(here.get(name) is False for name in names):
            yield EvalConfig(id=eval_id, kind="judged")


def _below(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def _path(path: str) -> str:
    folder = normpath(path.strip("/"))
    return "" if folder == "." else folder
