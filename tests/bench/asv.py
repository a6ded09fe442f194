"""``asv publish`` of a number for every output of a repository, each recorded before it began."""

from __future__ import annotations

import json
import random
import sys
from collections import defaultdict
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from tests.bench.generate import git
from tests.bench.processes import Measured, run
from tests.bench.reference import LOG

MACHINE: Final = {
    "arch": "any",
    "cpu": "any",
    "machine": "bench",
    "num_cpu": "2",
    "os": "any",
    "ram": "0",
    "version": 1,
}


def installed() -> bool:
    """Whether asv can be run."""
    return find_spec("asv") is not None


def outputs_by_commit(repository: Path) -> dict[str, set[str]]:
    """The evals whose output each commit of the first-parent line added or changed."""
    evals: dict[str, set[str]] = defaultdict(set)
    commit = ""
    for token in git(repository, *LOG, "--format=commit %H", "main", "--", "evals").split("\0"):
        for line in token.split("\n"):
            if line.startswith("commit "):
                commit = line.split()[1]
            elif line.endswith("/extracted.json"):
                evals[commit].add(line.split("/")[1])
    return evals


def write_results(repository: Path, folder: Path) -> int:
    """Write what a run of asv would have recorded, a number for each output; returns how many."""
    chance = random.Random(1)
    recorded = outputs_by_commit(repository)
    dates = dict(
        line.split() for line in git(repository, "log", "--first-parent", "--format=%H %ct", "main").splitlines()
    )
    results = folder / "results"
    (results / "bench").mkdir(parents=True)
    configuration = {"version": 1, "project": "bench", "repo": str(repository), "branches": ["main"], "dvcs": "git"}
    _write(folder / "asv.conf.json", {**configuration, "results_dir": "results", "html_dir": "html"})
    _write(results / "bench" / "machine.json", MACHINE)
    names = sorted({name for evals in recorded.values() for name in evals})
    _write(results / "benchmarks.json", {**{f"f1.{name}": _benchmark(f"f1.{name}") for name in names}, "version": 2})
    params = {key: value for key, value in MACHINE.items() if key != "version"} | {"python": "3"}
    for commit, evals in recorded.items():
        document = {
            "commit_hash": commit,
            "env_name": "python",
            "date": int(dates[commit]) * 1000,
            "params": params,
            "python": "3",
            "requirements": {},
            "env_vars": {},
            "result_columns": ["result", "params", "version"],
            "results": {f"f1.{name}": [[round(chance.uniform(0.8, 1), 4)], [], "1"] for name in sorted(evals)},
            "durations": {},
            "version": 2,
        }
        _write(results / "bench" / f"{commit[:8]}-python.json", document)
    return sum(map(len, recorded.values()))


def _benchmark(name: str) -> dict[str, object]:
    track = {"type": "track", "unit": "F1", "version": "1", "timeout": 60.0}
    return {"name": name, "code": "", "param_names": [], "params": [], **track}


def _write(path: Path, document: object) -> None:
    path.write_text(json.dumps(document), encoding="utf-8")


def publish(folder: Path) -> Measured:
    """Publish from the recorded results into an empty folder."""
    command = [sys.executable, "-m", "asv", "publish", "--config", str(folder / "asv.conf.json"), "--no-pull"]
    return run(command)
