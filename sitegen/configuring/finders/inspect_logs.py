"""Finds folders of Inspect's logs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from posixpath import basename, join
from typing import Final

from sitegen.config import EvalConfig
from sitegen.configuring.finders.searched_files import Search

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
