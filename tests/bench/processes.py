"""Whole processes, measured: wall time, CPU time, memory at its peak, and when the first page can be opened."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple, TypeVar

from tests.bench.table import number

T = TypeVar("T")

ROOT: Final = Path(__file__).parents[2]
PYTHON: Final = sys.executable
KILOBYTE: Final = 1024 if sys.platform != "darwin" else 1
"""Bytes in the unit of ``ru_maxrss``."""
LOOK_SECONDS: Final = 0.05
"""How often the memory of processes is read; the workers of a build live much longer."""


class Measured(NamedTuple):
    """One finished process."""

    seconds: float
    cpu_seconds: float
    """Of the process and the children that it waited for."""
    peak_bytes: int
    """Of the largest process among them; without git if the tree of processes was watched."""
    first_page_seconds: float
    """Until a build said that the site can be opened; its whole time if it said so at its end."""
    messages: str
    """Standard error."""


class Samples(NamedTuple):
    """The same number, measured several times."""

    values: tuple[float, ...]

    @property
    def median(self) -> float:
        return median(self.values)

    @property
    def spread(self) -> float:
        """The largest minus the smallest value, as a part of the median; 0 of a single value."""
        return (max(self.values) - min(self.values)) / self.median

    @property
    def least(self) -> str:
        """The smallest value, and of how many."""
        return f"least {number(min(self.values))} of {len(self.values)}" if self.values[1:] else "once"

    def __str__(self) -> str:
        return f"{number(self.median)} s, {self.least}"


def alternately(runs: int, *measures: Callable[[], T]) -> list[list[T]]:
    """Run A B A B ...; the results of each, so that what slows the machine for a while slows all of them."""
    rounds = [[measure() for measure in measures] for _ in range(runs)]
    return [list(results) for results in zip(*rounds, strict=True)]


def run(command: Sequence[str], *, stdin: Path | None = None, watch: bool = False) -> Measured:
    """Run a command to its end, its output thrown away. Raises ``RuntimeError`` with its messages if it fails.

    With *watch*, the memory of the whole tree of processes is looked at from time to time, where there is ``/proc``.
    """
    peaks = [0]
    with open(stdin or os.devnull, "rb") as source, open(os.devnull, "wb") as nowhere:
        began = time.perf_counter()
        process = subprocess.Popen(command, stdin=source, stdout=nowhere, stderr=subprocess.PIPE, env=environment())
        ended = threading.Event()
        if watch:
            threading.Thread(target=_watch, args=(process.pid, ended, peaks), daemon=True).start()
        assert process.stderr is not None
        lines, first_page = [], None
        for line in process.stderr:
            lines.append(line)
            if b" can be opened" in line:
                first_page = time.perf_counter() - began
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - began
        ended.set()
        process.returncode = os.waitstatus_to_exitcode(status)
        process.stderr.close()
    messages = b"".join(lines).decode(errors="replace")
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} exited with {process.returncode}\n{messages}")
    return Measured(
        seconds=seconds,
        cpu_seconds=usage.ru_utime + usage.ru_stime,
        peak_bytes=max(peaks) or usage.ru_maxrss * KILOBYTE,
        first_page_seconds=first_page or seconds,
        messages=messages,
    )


def _watch(pid: int, ended: threading.Event, peaks: list[int]) -> None:
    while not ended.wait(LOOK_SECONDS):
        peaks += [max(_high_water(process) for process in tree(pid))]


def tree(pid: int) -> list[int]:
    """A process and all below it, without those that end meanwhile."""
    processes, waiting = [], [pid]
    while waiting:
        process = waiting.pop()
        processes.append(process)
        try:
            for task in os.listdir(f"/proc/{process}/task"):
                waiting += map(int, Path(f"/proc/{process}/task/{task}/children").read_text().split())
        except OSError:
            continue
    return processes


def _high_water(pid: int) -> int:
    """``VmHWM`` in bytes; 0 for git, and for what has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    values = dict(line.split(":", 1) for line in lines if ":" in line)
    return 0 if values["Name"].strip() == "git" else int(values.get("VmHWM", "0 kB").split()[0]) * 1024


def environment() -> dict[str, str]:
    """The environment of every measured process: the code of this project, with its bytecode on disk."""
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**inherited, "PYTHONPATH": str(ROOT)}


def sitegen(*arguments: str) -> list[str]:
    """The command line of sitegen."""
    return [PYTHON, "-m", "sitegen", *arguments]
