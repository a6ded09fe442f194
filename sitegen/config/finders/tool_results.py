"""Finds judged results where promptfoo, Inspect and AgentV leave them, and in folders of evals."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from posixpath import basename, join
from typing import Any, Final

from sitegen.config.finders.searched_files import LARGEST_READ, OTHER_KINDS, Search, SearchedFiles
from sitegen.config.kind_files import files_of
from sitegen.config.models import EvalConfig
from sitegen.config.paths import folder_path
from sitegen.data_files.reading import UnreadableError
from sitegen.data_files.yaml_reader import read_configuring_yaml

PROMPTFOO_CONFIGURATIONS: Final = ("promptfooconfig.yaml", "promptfooconfig.yml", "promptfooconfig.json")
PROMPTFOO_RESULTS: Final = ("output.json", "results.json")

_MOST_PROMPTS: Final = 200
_PROMPT_FILE: Final = r".+\.(?:txt|json|jsonl|yaml|yml|md|j2)"
_FUNCTION: Final = r"(\.(?:py|js|cjs|mjs|ts)):[^/]*$"


def promptfoo_evals(search: Search) -> Iterator[EvalConfig]:
    """Yield an eval for each folder with a configuration and results of promptfoo, driven by its prompts' files."""
    for folder in search.folders:
        names = search.files.names(folder)
        configuration = next((name for name in PROMPTFOO_CONFIGURATIONS if names.get(name) is False), None)
        results = next((name for name in PROMPTFOO_RESULTS if names.get(name) is False), None)
        if configuration is None or results is None or folder in search.homes:
            continue
        yield EvalConfig(
            id=basename(folder) or "promptfoo",
            kind="judged",
            dir=folder or ".",
            outputs=results,
            instructions=_prompt_globs(search.files, join(folder, configuration), folder),
        )


def _prompt_globs(files: SearchedFiles, configuration: str, folder: str) -> tuple[str, ...]:
    """Return the files of a configuration's prompts, as globs from the root, without files outside the project.

    Never raises: a configuration that cannot be read names no prompts.
    """
    stated = json.loads(files.answer("prompts of promptfoo", configuration, LARGEST_READ, _stated_prompts) or "[]")
    globs = (_prompt_glob(text, folder) for text in stated)
    return tuple(dict.fromkeys(glob for glob in globs if glob))


def _stated_prompts(content: bytes) -> str:
    """Return the prompts of a configuration, as JSON."""
    try:
        root, _ = read_configuring_yaml(content)
    except UnreadableError:
        return "[]"
    stated: Any = root.get("prompts") if isinstance(root, dict) else None
    prompts = (stated if isinstance(stated, list) else [stated])[:_MOST_PROMPTS]
    texts = (prompt.get("id", prompt.get("raw")) if isinstance(prompt, dict) else prompt for prompt in prompts)
    return json.dumps([text.strip() for text in texts if isinstance(text, str)])


def _prompt_glob(text: str, folder: str) -> str | None:
    is_file = text.startswith("file://")
    path = re.sub(_FUNCTION, r"\1", text.removeprefix("file://"))
    if "\n" in path or "{" in path or "://" in path or path.startswith(("/", "\\")):
        return None
    if not is_file and (" " in path or not re.fullmatch(_PROMPT_FILE, path)):
        return None  # the prompt itself
    glob = folder_path(join(folder, path))
    return None if not glob or glob.startswith("..") else glob


INSPECT_LOGS: Final = "logs"
"""The folder that Inspect writes its logs into."""

_LOG: Final = r"20\d{2}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}[^_/]*_([^_/*?\[\]]+)_[^_/]+\.(eval|json)"
"""Matches the name of a log: time, task, id. In each part Inspect writes ``-`` for ``_``."""
_LOG_ENDINGS: Final = {("eval",): "eval", ("json",): "json", ("eval", "json"): "[ej][vs][ao][ln]"}
"""The suffix of the glob of a task's logs, by the suffixes of the logs."""


def inspect_evals(search: Search) -> Iterator[EvalConfig]:
    """Yield an eval for each task, with a run for each log."""
    ids_in_use: set[str] = set()
    for folder in search.folders:
        home = join(folder, INSPECT_LOGS)
        if home in search.homes or not search.files.names(folder).get(INSPECT_LOGS):
            continue
        endings: dict[str, set[str]] = {}
        for name, is_folder in search.files.names(home).items():
            if not is_folder and (match := re.fullmatch(_LOG, name)):
                endings.setdefault(match[1], set()).add(match[2])
        for task in sorted(endings):
            eval_id = f"{basename(folder)}-{task}" if task in ids_in_use else task
            ids_in_use |= {task, eval_id}
            ending = _LOG_ENDINGS[tuple(sorted(endings[task]))]
            yield EvalConfig(id=eval_id, kind="judged", dir=home, outputs=f"*_{task}_*.{ending}")


_AGENTV_RESULTS: Final = ".agentv/results"
"""The folder that AgentV writes its runs into."""

_RUN_INDEXES: Final = ("*/.internal/index.jsonl", "*/index.jsonl", "runs/*/index.jsonl")
"""Paths of the index of a run, newest layout first."""
_BASELINE: Final = ".baseline.jsonl"
_MOST_RUNS: Final = 1_000


def agentv_evals(search: Search) -> Iterator[EvalConfig]:
    """Yield one eval for all runs, because only the lines of a run name its evals, and one for each baseline."""
    globs = [] if _AGENTV_RESULTS in search.homes else [glob for glob in _RUN_INDEXES if _has_run(search.files, glob)]
    if globs:
        outputs = globs[0] if len(globs) == 1 else "**/index.jsonl"
        yield EvalConfig(id="agentv", kind="judged", dir=_AGENTV_RESULTS, outputs=outputs)
    for folder in search.folders:
        names = search.files.names(folder)
        # An eval in a folder above other evals would own their files.
        holds_evals = folder and f"{search.evals_dir}/".startswith(f"{folder}/")
        if folder not in search.homes and not holds_evals and OTHER_KINDS.isdisjoint(names):
            yield from _baselines_in(folder, names)


def _has_run(files: SearchedFiles, glob: str) -> bool:
    above, _, inside = f"{_AGENTV_RESULTS}/{glob}".partition("/*/")
    folder, _, name = inside.rpartition("/")
    runs = sorted(run for run, is_folder in files.names(above).items() if is_folder)[-_MOST_RUNS:]
    return any(files.is_file(f"{above}/{run}/{folder}".rstrip("/"), name) for run in runs)


def _baselines_in(folder: str, names: dict[str, bool]) -> Iterator[EvalConfig]:
    """Yield the baselines beside AgentV's evals. Each is overwritten from commit to commit."""
    for name in sorted(name for name, is_folder in names.items() if name.endswith(_BASELINE) and not is_folder):
        stem = name.removesuffix(_BASELINE).removesuffix(".eval")
        eval_id = basename(folder) if stem == "suite" and folder else stem
        if eval_id:
            yield EvalConfig(id=eval_id, kind="judged", dir=folder or ".", outputs=name)


def judged_evals(search: Search) -> Iterator[EvalConfig]:
    """Yield an eval for each folder of evals with judged results and nothing of another kind."""
    for eval_id, folder in search.eval_folders.items():
        names = search.files.names(folder)
        if folder in search.homes or not OTHER_KINDS.isdisjoint(names):
            continue
        if any(names.get(name) is False for name in files_of("judged").outputs):
            yield EvalConfig(id=eval_id, kind="judged")
