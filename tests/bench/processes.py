"""Whole processes, measured: wall time, and memory at its peak."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).parents[2]
PYTHON: Final = sys.executable
KILOBYTE: Final = 1024 if sys.platform != "darwin" else 1
"""What ``ru_maxrss`` counts in, in bytes."""


class Measured(NamedTuple):
    """One finished process."""

    seconds: float
    cpu_seconds: float
    """Of it and the children that it waited for."""
    peak_bytes: int
    """Of the largest process among it and the children that it waited for."""


def run(command: Sequence[str], *, given: Path | None = None) -> Measured:
    """Run a command to its end, its output thrown away. Raises ``RuntimeError`` with its last words if it fails."""
    with open(given or os.devnull, "rb") as stdin, open(os.devnull, "wb") as stdout:
        began = time.perf_counter()
        process = subprocess.Popen(command, stdin=stdin, stdout=stdout, stderr=subprocess.PIPE, env=environment())
        assert process.stderr is not None
        words = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        process.stderr.close()
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} exited with {process.returncode}\n{words.decode(errors='replace')}")
    return Measured(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * KILOBYTE)


def peak_without_git(command: Sequence[str]) -> int | None:
    """Bytes of the largest process of a command's tree that is not git, by looking every 5 ms; None without /proc."""
    if not Path("/proc/self/status").exists():
        return None
    peak = 0
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment()) as process:
        while process.poll() is None:
            peak = max(peak, *(_high_water(pid) for pid in _tree(process.pid)))
            time.sleep(0.005)
    return peak


def _tree(pid: int) -> list[int]:
    """A process and all below it; what ends meanwhile is left out."""
    found, open_ = [], [pid]
    while open_:
        one = open_.pop()
        found.append(one)
        try:
            for task in os.listdir(f"/proc/{one}/task"):
                open_ += map(int, Path(f"/proc/{one}/task/{task}/children").read_text().split())
        except OSError:  # it ended while we looked
            continue
    return found


def _high_water(pid: int) -> int:
    """``VmHWM`` in bytes; 0 for git, and for what has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    values = dict(line.split(":", 1) for line in lines if ":" in line)
    return 0 if values["Name"].strip() == "git" else int(values.get("VmHWM", "0 kB").split()[0]) * 1024


def environment() -> dict[str, str]:
    """The environment of every measured process: this project's code, its bytecode kept as it is for any user."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPATH": str(ROOT)}


def sitegen(*arguments: str) -> list[str]:
    """The command line of sitegen."""
    return [PYTHON, "-m", "sitegen", *arguments]
