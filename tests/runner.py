"""Running the steps of a workflow as GitHub's runner does."""

from __future__ import annotations

import subprocess
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

    def command(self, path: Path, text: str) -> None:
        """Put a command in its place."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
