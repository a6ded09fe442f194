"""Running the steps of a workflow as GitHub's runner does."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[1]


def load(name: str) -> dict[Any, Any]:
    loaded: dict[Any, Any] = yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))
    return loaded


def script(steps: list[dict[Any, Any]], word: str) -> str:
    """The commands of the one step that says a word."""
    (found,) = [step["run"] for step in steps if word in step.get("run", "")]
    return str(found)


class Runner:
    """What a runner gives to a step: a workspace, places to write to, and nothing of the user's."""

    def __init__(self, folder: Path, workspace: Path) -> None:
        self.folder = folder
        self.workspace = workspace
        self.bin = folder / "bin"
        self.bin.mkdir(parents=True)
        self.environment = {
            "PATH": f"{self.bin}:/usr/local/bin:/usr/bin:/bin",
            "HOME": str(folder),
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_ACTION_PATH": str(ROOT),
            "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
            "GITHUB_OUTPUT": str(folder / "output"),
            "RUNNER_TEMP": str(folder),
        }

    def run(self, commands: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """As ``shell: bash`` runs them."""
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", commands],
            cwd=self.workspace,
            env={**self.environment, **environment},
            capture_output=True,
            text=True,
            check=False,
        )

    def job(self, steps: list[dict[Any, Any]], **known: str) -> dict[str, dict[str, str]]:
        """Run the steps of a job one after the other, as a runner does. Returns what each action was given, by name.

        Actions do nothing: a checkout is the workspace. ``known``: what expressions stand for, such as ``github_sha``.
        """
        values = {"runner_temp": str(self.folder), **known}

        def filled(text: object) -> str:
            return re.sub(r"\$\{\{ ([\w.]+) \}\}", lambda found: values[found[1].replace(".", "_")], str(text))

        given = {}
        for step in steps:
            if "uses" in step:
                action = step["uses"].partition("@")[0].removeprefix("actions/")
                given[action] = {name: filled(text) for name, text in step.get("with", {}).items()}
                continue
            done = self.run(filled(step["run"]), **{name: filled(text) for name, text in step.get("env", {}).items()})
            assert done.returncode == 0, done.stderr
        return given

    def installs(self) -> Path:
        """Let ``pip`` install packages without what they need, which is here, and ``sitegen`` be what it installed."""
        home = self.folder / "installed"
        install = f"{sys.executable} -m pip install --no-compile --no-deps --no-index --target {home}"
        pip = f'shift; exec {install} "$@"'
        self.command(self.bin / "pip", pip)
        self.command(self.bin / "sitegen", f'PYTHONPATH={home} exec {sys.executable} -m sitegen "$@"')
        return home

    def command(self, path: Path, text: str) -> None:
        """Put a command in its place."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
