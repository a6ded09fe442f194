"""The benchmark: what sitegen's commands cost as whole processes, beside the goals.

python -m tests.bench --sizes S,M [--runs 3] [--work DIR] [--hugo] [--out FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from compileall import compile_dir
from itertools import pairwise
from pathlib import Path
from shutil import rmtree
from statistics import mean, median
from typing import Final, NamedTuple

from tests.bench import hugo
from tests.bench.generate import SIZES, generate, generate_cases

ROOT: Final = Path(__file__).parents[2]
KILOBYTE: Final = 1024 if sys.platform != "darwin" else 1
"""Bytes in the unit of ``ru_maxrss``."""
CASES: Final = "10,000 cases"
"""The size of one output with 10,000 cases, each of which four models answered five times."""
ONCE: Final = ("L", "XL")
"""Sizes of which a first build takes minutes: it is measured once, and not with one process."""
MORE_COMMITS: Final = 3
"""How many further commits are built one by one; commits differ in what they change."""
LOOP: Final = "for _ in range(5_000_000): pass"
"""Uses one core for some tenths of a second, so that its wall time tells how much else the machine does."""


class Goal(NamedTuple):
    """What a number should reach, and the limit beyond which it is missed. More is better if the goal is above it."""

    goal: float
    limit: float


KINDS: Final[dict[str, tuple[str, dict[str, Goal]]]] = {
    "first build": ("s", {CASES: Goal(20, 30)}),
    "first build against Hugo": ("x", {"M": Goal(0.6, 1.0)}),
    "CPU for an output": ("ms", {"M": Goal(4.5, 8.4)}),
    "CPU for an output, against the size before": ("x", {"L": Goal(1.0, 1.1)}),
    "one more commit": ("s", {"S": Goal(0.25, 0.5), "M": Goal(0.35, 0.8)}),
    "nothing changed": ("s", {"": Goal(0.05, 0.1)}),
    "two processes against one": ("x", {"M": Goal(1.9, 1.5)}),
    "memory of the largest process": ("MB", {"M": Goal(80, 100), "L": Goal(150, 220), CASES: Goal(400, 500)}),
    "a report page": ("kB", {"M": Goal(40, 60)}),
    "site": ("MB", {"": Goal(1000, 1000)}),
}
"""The unit of each kind of row, and its goals by size; under the empty name for every size. In the order of the table.

``s``: seconds; ``x``: a ratio.
"""


class Row(NamedTuple):
    """A measured number; of several runs, the median."""

    kind: str
    size: str
    values: Sequence[float]


class Measured(NamedTuple):
    """One finished process, with the children that it waited for."""

    seconds: float
    cpu_seconds: float
    peak_bytes: int
    """Of the largest of them."""


def run(command: Sequence[str]) -> Measured:
    """Run a command to its end. Raises ``RuntimeError`` with its messages if it fails."""
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment = {**inherited, "PYTHONPATH": str(ROOT)}
    with tempfile.TemporaryFile() as messages:
        began = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=messages, env=environment)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            messages.seek(0)
            text = messages.read().decode(errors="replace")
            raise RuntimeError(f"{' '.join(command)} exited with {process.returncode}\n{text}")
    return Measured(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * KILOBYTE)


class Site(NamedTuple):
    """A repository, and where its site is built."""

    repository: Path
    folder: Path

    def build(self, *arguments: str) -> Measured:
        """Build into whatever is there."""
        places = ("-o", str(self.folder / "site"), "--cache", str(self.folder / "cache"))
        return run([sys.executable, "-m", "sitegen", "build", str(self.repository), *places, *arguments])

    def first_build(self, *arguments: str, jobs: int = 2) -> Measured:
        """Build from nothing, by the same number of processes on any machine."""
        rmtree(self.folder, ignore_errors=True)
        return self.build("--jobs", str(jobs), *arguments)

    def bytes_of(self, pattern: str) -> list[int]:
        return [path.stat().st_size for path in (self.folder / "site").glob(pattern) if path.is_file()]

    def outputs(self) -> int:
        series = (self.folder / "site/data/evals").glob("*.json")
        return sum(len(json.loads(file.read_bytes())["points"]) for file in series)


def measured(site: Site, size: str, runs: int, *, with_hugo: bool) -> Iterator[Row]:
    """Measure the repository of a size; the commands take turns, so that what slows the machine slows all of them."""
    runs = 1 if size in ONCE else runs
    source, printed = site.folder.with_name("hugo"), site.folder.with_name("hugo-site")
    alone: list[Measured] = []
    first, unchanged, hugos = [], [], []
    for _ in range(runs):
        alone += [] if size in ONCE else [site.first_build(jobs=1)]
        first.append(site.first_build())
        unchanged.append(site.build())
        if with_hugo:
            if not source.exists():
                hugo.write_site(source, len(site.bytes_of("**/*.html")), SIZES[size])
            rmtree(printed, ignore_errors=True)
            hugos.append(run(hugo.command(source, printed)))
    seconds = [build.seconds for build in first]
    yield Row("first build", size, seconds)
    if with_hugo:
        yield Row("first build against Hugo", size, ratios(seconds, [each.seconds for each in hugos]))
    yield Row("CPU for an output", size, [1000 * build.cpu_seconds / site.outputs() for build in first])
    yield Row("nothing changed", size, [build.seconds for build in unchanged])
    if alone:
        yield Row("two processes against one", size, ratios([build.seconds for build in alone], seconds))
    yield Row("memory of the largest process", size, [build.peak_bytes / 1e6 for build in first])
    yield Row("a report page", size, [mean(site.bytes_of("evals/*/[0-9]*.html")) / 1e3])
    yield Row("site", size, [sum(site.bytes_of("**/*")) / 1e6])
    site.first_build("--rev", f"main~{MORE_COMMITS}")
    more = [site.build("--rev", f"main~{behind}") for behind in reversed(range(MORE_COMMITS))]
    yield Row("one more commit", size, [build.seconds for build in more])
    for folder in (site.folder, source, printed):
        rmtree(folder, ignore_errors=True)


def measured_cases(site: Site) -> Iterator[Row]:
    """Measure a large output, once and with one process."""
    build = site.first_build(jobs=1)
    yield Row("first build", CASES, [build.seconds])
    yield Row("memory of the largest process", CASES, [build.peak_bytes / 1e6])
    yield Row("a report page", CASES, [mean(site.bytes_of("evals/*/[0-9]*.html")) / 1e3])
    rmtree(site.folder, ignore_errors=True)


def ratios(above: Sequence[float], below: Sequence[float]) -> list[float]:
    """The ratio of each pair of neighbours in time."""
    return [one / other for one, other in zip(above, below, strict=True)]


def growth(rows: Sequence[Row]) -> list[Row]:
    """The CPU for an output at each size, against the size before."""
    costs = [row for row in rows if row.kind == "CPU for an output"]
    kind = "CPU for an output, against the size before"
    return [Row(kind, after.size, [median(after.values) / median(before.values)]) for before, after in pairwise(costs)]


def table(rows: Sequence[Row]) -> str:
    """The rows as a Markdown table, in the order of their kinds."""
    lines = ["| | measured | goal | not above | |", "|---|---|---|---|---|"]
    for row in sorted(rows, key=lambda row: list(KINDS).index(row.kind)):
        unit, goals = KINDS[row.kind]
        goal = goals.get(row.size) or goals.get("")
        least = "at least " if goal and goal.goal > goal.limit else ""
        limits = [f"{least}{limit:g} {unit}" for limit in goal] if goal else ["", ""]
        times = f" ({number(min(row.values))} to {number(max(row.values))})" if row.values[1:] else ""
        words = f"{number(median(row.values))} {unit}{times}"
        lines.append("| " + " | ".join([f"{row.kind}: {row.size}", words, *limits, verdict(row, goal)]) + " |")
    return "\n".join(lines)


def verdict(row: Row, goal: Goal | None) -> str:
    """``ok``, ``goal missed`` or ``limit missed``; empty for what is for information."""
    if goal is None:
        return ""
    sign, value = (-1 if goal.goal > goal.limit else 1), median(row.values)
    if sign * value <= sign * goal.goal:
        return "ok"
    return "goal missed" if sign * value <= sign * goal.limit else "**limit missed**"


def number(value: float) -> str:
    """Three digits, without an exponent."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description="Measure sitegen as whole processes.")
    parser.add_argument("--sizes", default="S,M", help="of tiny, S, M, L and XL, smallest first (default: S,M)")
    parser.add_argument("--runs", type=int, default=3, help="runs of each command (default: 3; L and XL run once)")
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "sitegen-bench", help="kept folder")
    parser.add_argument("--hugo", action="store_true", help="also against Hugo")
    parser.add_argument("--cases", action="store_true", help="also one output with 10,000 cases")
    parser.add_argument("--out", type=Path, help="write the table to this file too")
    options = parser.parse_args(arguments)
    sizes = options.sizes.split(",")
    if unknown := [name for name in sizes if name not in SIZES]:
        parser.error(f"no such size: {', '.join(unknown)}")
    compile_dir(ROOT / "sitegen", quiet=2)
    memory = Path("/dev/shm")
    rows: list[Row] = []
    loops = [run([sys.executable, "-c", LOOP]).seconds]
    with tempfile.TemporaryDirectory(prefix="sitegen-bench-", dir=memory if memory.is_dir() else None) as fast:
        for size in sizes:
            print(f"measuring {size} ...", file=sys.stderr, flush=True)
            site = Site(generated(options.work, size), Path(fast) / size)
            rows += measured(site, size, options.runs, with_hugo=options.hugo)
            loops.append(run([sys.executable, "-c", LOOP]).seconds)
        if options.cases:
            repository = Path(fast) / "cases"
            generate_cases(repository)
            rows += measured_cases(Site(repository, Path(fast) / "built"))
    noise = f"A loop that uses one core took {number(min(loops))} to {number(max(loops))} s."
    text = f"{table([*rows, *growth(rows)])}\n\n{noise}"
    print(text)
    if options.out:
        options.out.write_text(f"{text}\n", encoding="utf-8")
    return 0


def generated(work: Path, size: str) -> Path:
    """The repository of a size, made if it is not there yet."""
    repository, unfinished = work / f"{size}.git", work / f"{size}.unfinished"
    if not repository.exists():
        work.mkdir(parents=True, exist_ok=True)
        rmtree(unfinished, ignore_errors=True)
        generate(unfinished, SIZES[size])
        unfinished.rename(repository)
    return repository


if __name__ == "__main__":
    sys.exit(main())
