"""Finds runs and baselines of AgentV."""

from __future__ import annotations

from collections.abc import Iterator
from posixpath import basename
from typing import Final

from sitegen.config import EvalConfig
from sitegen.configuring.finders.searched_files import OTHER_KINDS, Search, SearchedFiles

AGENTV_RESULTS: Final = ".agentv/results"
"""The folder that AgentV writes its runs into."""

_RUN_INDEXES: Final = ("*/.internal/index.jsonl", "*/index.jsonl", "runs/*/index.jsonl")
"""Paths of the index of a run, newest layout first."""
_BASELINE: Final = ".baseline.jsonl"
_MOST_RUNS: Final = 1_000


def agentv_evals(search: Search) -> Iterator[EvalConfig]:
    """Yield one eval for all runs, because only the lines of a run name its evals, and one for each baseline."""
    globs = [] if AGENTV_RESULTS in search.homes else [glob for glob in _RUN_INDEXES if _has_run(search.files, glob)]
    if globs:
        outputs = globs[0] if len(globs) == 1 else "**/index.jsonl"
        yield EvalConfig(id="agentv", kind="judged", dir=AGENTV_RESULTS, outputs=outputs)
    for folder in search.folders:
        names = search.files.names(folder)
        # An eval in a folder above other evals would own their files.
        holds_evals = folder and f"{search.evals_dir}/".startswith(f"{folder}/")
        if folder not in search.homes and not holds_evals and OTHER_KINDS.isdisjoint(names):
            yield from _baselines_in(folder, names)


def _has_run(files: SearchedFiles, glob: str) -> bool:
    above, _, inside = f"{AGENTV_RESULTS}/{glob}".partition("/*/")
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
