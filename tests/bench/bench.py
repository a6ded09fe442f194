"""The benchmark: what sitegen's commands cost as whole processes, beside the goals.

python -m tests.bench --sizes S,M [--runs 3] [--work DIR] [--hugo] [--out FILE]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from compileall import compile_dir
from itertools import pairwise
from pathlib import Path

from tests.bench.generate import SIZES
from tests.bench.measures import (
    Folders,
    OneEval,
    SizeResult,
    cpu,
    measure_imports,
    measure_one_eval,
    measure_size,
    seconds,
)
from tests.bench.processes import PYTHON, ROOT, Measured, Samples, alternately, run, sitegen
from tests.bench.table import Row, number, table

LOOP = "for _ in range(5_000_000): pass"
"""Uses one core for some tenths of a second, so that its wall time tells how much else the machine does."""
SHORT_RUNS = 9
"""How often commands that take tenths of a second are measured, at least."""
HUGO_AT = "M"
"""The size that is compared with Hugo, or the largest of those asked for."""


def size_rows(result: SizeResult) -> list[Row]:
    """The rows of one size."""
    name, first, pages = result.name, seconds(result.first), result.weights["page"]
    reference, unchanged, one_more = map(seconds, (result.reference, result.unchanged, result.one_more.builds))
    build_cpu = cpu(result.first)
    rows = [
        Row(
            kind="CPU for a page",
            label=name,
            value=1000 * build_cpu.median / pages.files,
            note=f"{build_cpu}; {pages.files:,} pages",
        ),
        Row(
            kind="pages written per CPU second",
            label=name,
            value=pages.total / 1e6 / build_cpu.median,
            note=f"{pages.total / 1e6:.0f} MB",
        ),
        Row(kind="first build", label=name, value=first.median / reference.median, note=f"{first}; R {reference}"),
        Row(kind="nothing changed", label=name, value=unchanged.median, note=unchanged.least),
        Row(kind="one more commit", label=name, value=one_more.median, note=one_more.least),
        Row(
            kind="memory of the largest process",
            label=name,
            value=max(build.peak_bytes for build in result.first) / 1e6,
            note="without git",
        ),
    ]
    early = Samples(tuple(build.first_page_seconds for build in result.first))
    rows.append(
        Row(kind="overview, trends and newest reports written", label=name, value=early.median, note=early.least)
    )
    if result.first_one_process:
        alone = seconds(result.first_one_process)
        rows.append(
            Row(kind="two processes against one", label=name, value=alone.median / first.median, note=f"one: {alone}")
        )
    for kind, weight in result.weights.items():
        if kind == "site":
            rows.append(Row(kind=kind, label=name, value=weight.total / 1e6, note=f"{weight.files:,} files"))
        elif kind == "largest trend page":
            rows.append(Row(kind, name, weight.largest / 1e3))
        elif kind != "page":
            rows.append(
                Row(
                    kind=kind,
                    label=name,
                    value=weight.total / 1e3,
                    note=f"{weight.files} files, the largest {number(weight.largest / 1e3)}",
                )
            )
    return rows + page_rows(result) + hugo_rows(result)


def page_rows(result: SizeResult) -> list[Row]:
    """The rows of pages in a browser."""
    if not result.pages:
        return []
    empty = result.pages[""].ready
    return [
        Row(
            kind="page ready",
            label=f"{name}, {result.name}",
            value=load.ready,
            note=f"{load}; an empty page {number(empty)}",
        )
        for name, load in result.pages.items()
        if name
    ]


def hugo_rows(result: SizeResult) -> list[Row]:
    """The row that compares with Hugo."""
    if not result.hugo:
        return []
    theirs, weight = seconds(result.hugo), result.hugo_weight
    note = f"Hugo {theirs}; CPU {cpu(result.hugo)}; {weight.files:,} pages, {weight.total / 1e6:.0f} MB"
    value = seconds(result.first).median / theirs.median
    return [Row(kind="first build against Hugo", label=result.name, value=value, note=note)]


def growth_rows(results: Sequence[SizeResult]) -> list[Row]:
    """The rows that compare a size with a smaller one."""
    rows = []
    for before, after in pairwise(results):
        page = [cpu(result.first).median / result.weights["page"].files for result in (before, after)]
        rows.append(
            Row(
                kind="CPU for a page against the size before",
                label=after.name,
                value=page[1] / page[0],
                note=f"{before.name} before",
            )
        )
    smallest = results[0]
    for result in results[1:]:
        unchanged = seconds(result.unchanged).median / seconds(smallest.unchanged).median
        one_more = seconds(result.one_more.builds).median / seconds(smallest.one_more.builds).median
        rows.append(
            Row(
                kind="nothing changed, against the smallest size",
                label=result.name,
                value=unchanged,
                note=smallest.name,
            )
        )
        rows.append(
            Row(
                kind="one more commit, against the smallest size", label=result.name, value=one_more, note=smallest.name
            )
        )
    return rows


def one_eval_rows(builds: OneEval) -> list[Row]:
    """The rows of a single eval."""
    short, long = cpu(builds.short), cpu(builds.long)
    alone, together = seconds(builds.long), seconds(builds.long_two_processes)
    return [
        Row(
            kind="CPU of one eval with 7.7 times the commits",
            label="",
            value=long.median / short.median,
            note=f"{long}; {short}",
        ),
        Row(
            kind="two processes against one",
            label="one eval",
            value=alone.median / together.median,
            note=f"{alone}; {together}",
        ),
    ]


def start_rows(result: SizeResult, runs: int) -> list[Row]:
    """The rows of what every command pays before it works."""
    ours, bare = map(seconds, alternately(runs, lambda: run(sitegen("--help")), lambda: run([PYTHON, "-c", "pass"])))
    modules = result.one_more.modules
    imports = measure_imports(modules, runs)
    sitegens = sum(name.split(".")[0] == "sitegen" for name in modules)
    return [
        Row(
            kind="`sitegen --help` against `python -c pass`",
            label="",
            value=ours.median / bare.median,
            note=f"{ours}; {bare}",
        ),
        Row(
            kind="imports of one more commit",
            label="",
            value=imports.median,
            note=f"{imports.least}; {len(modules)} modules, {sitegens} of sitegen",
        ),
    ]


def noise(results: Sequence[SizeResult], loops: Sequence[Measured]) -> str:
    """A sentence on how much the machine did besides."""
    spreads = [
        seconds(builds).spread
        for result in results
        for builds in (result.first, result.first_one_process, result.unchanged)
        if builds[1:]
    ]
    repeated = f"between {min(spreads):.0%} and {max(spreads):.0%}" if spreads else "unknown (measured once)"
    share = min(loop.cpu_seconds / loop.seconds for loop in loops)
    return (
        f"Noise: a loop that uses one core took {seconds(loops)}, and got at least {share:.0%} of the core. "
        f"Largest minus smallest time of repeated builds, as a part of the median: {repeated}."
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write."""
    options = read_options(arguments)
    names, runs = options.sizes.split(","), options.runs
    options.work.mkdir(parents=True, exist_ok=True)
    memory = Path("/dev/shm")
    compile_dir(ROOT / "sitegen", quiet=2)
    with tempfile.TemporaryDirectory(prefix="sitegen-bench-", dir=memory if memory.is_dir() else options.work) as fast:
        folders = Folders(options.work, Path(fast))
        compared = HUGO_AT if HUGO_AT in names else names[-1]
        try:
            loops, results = [run([PYTHON, "-c", LOOP])], []
            for name in names:
                results.append(measure_size(folders, name, runs, with_hugo=options.hugo and name == compared))
                loops.append(run([PYTHON, "-c", LOOP]))
            rows = [row for result in results for row in size_rows(result)] + growth_rows(results)
            rows += one_eval_rows(measure_one_eval(folders, runs)) + start_rows(results[-1], max(runs, SHORT_RUNS))
            loops.append(run([PYTHON, "-c", LOOP]))
        except RuntimeError as error:
            print(error, file=sys.stderr)
            return 1
    by_commit = [f"{result.name}: {'the same' if result.same else 'OTHER'} bytes" for result in results]
    text = "\n".join((table(rows), "", f"Built commit by commit: {', '.join(by_commit)}.", noise(results, loops)))
    print(text)
    if options.out:
        options.out.write_text(f"{text}\n", encoding="utf-8")
    return 0 if all(result.same for result in results) else 1


def read_options(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description="Measure sitegen as whole processes.")
    parser.add_argument("--sizes", default="S,M", help="of tiny, S, M, L and XL, smallest first (default: S,M)")
    parser.add_argument("--runs", type=int, default=3, help="runs of each command (default: 3; L and XL run once)")
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "sitegen-bench", help="kept folder")
    parser.add_argument("--hugo", action="store_true", help="also against Hugo, at size M or the largest asked for")
    parser.add_argument("--out", type=Path, help="write the table to this file too")
    options = parser.parse_args(arguments)
    if unknown := [name for name in options.sizes.split(",") if name not in SIZES]:
        parser.error(f"no such size: {', '.join(unknown)}")
    return options
