"""Finds folders with promptfoo's configuration and its results beside it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from posixpath import basename, join
from typing import Any, Final

from sitegen.config import EvalConfig
from sitegen.configuring.finders.searched_files import LARGEST_READ, Search, SearchedFiles
from sitegen.configuring.paths import folder_path
from sitegen.data_files.reading import UnreadableError
from sitegen.data_files.yaml_reader import read_configuring_yaml

PROMPTFOO_CONFIGURATIONS: Final = ("promptfooconfig.yaml", "promptfooconfig.yml", "promptfooconfig.json")
PROMPTFOO_RESULTS: Final = ("output.json", "results.json")

_MOST_PROMPTS: Final = 200
_PROMPT_FILE: Final = r".+\.(?:txt|json|jsonl|yaml|yml|md|j2)"
_FUNCTION: Final = r"(\.(?:py|js|cjs|mjs|ts)):[^/]*$"


def promptfoo_evals(search: Search) -> Iterator[EvalConfig]:
    """Yield an eval for each such folder, driven by the files of the prompts that the configuration names."""
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
