"""The repositories of the benchmark, what it measures by, and the table it prints; no time is tested."""

import re
import sys
from pathlib import Path

import pytest

from tests.bench import __main__ as bench
from tests.bench.__main__ import KINDS, Row, growth, run, table
from tests.bench.generate import SIZES, generate, git

README = Path(bench.__file__).with_name("README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bench") / "tiny.git"
    generate(folder, SIZES["tiny"])
    return folder


def test_a_process_that_fails_says_why() -> None:
    with pytest.raises(RuntimeError, match=r"exited with 3\nno such thing"):
        run([sys.executable, "-c", "import sys; sys.stderr.write('no such thing'); sys.exit(3)"])


def test_the_cpu_is_that_of_the_process_and_of_the_children_it_waited_for() -> None:
    loop = "import time\nwhile time.process_time() < 0.2: pass"
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {loop!r}])"
    assert run([sys.executable, "-c", parent]).cpu_seconds >= 0.2


def test_the_table_has_a_line_for_every_row_in_the_order_of_the_readme() -> None:
    rows = [
        Row("site", "S", [19.8]),
        *(Row("CPU for an output", size, [cost]) for size, cost in (("M", 9), ("L", 9.9))),
    ]
    rows += [Row("two processes against one", "M", [1.7]), Row("nothing changed", "S", [0.04, 0.05, 0.07])]
    assert table([*rows, *growth(rows)]).splitlines() == [
        *("| | measured | goal | not above | |", "|---|---|---|---|---|"),
        "| CPU for an output: M | 9 ms | 4.5 ms | 8.4 ms | **limit missed** |",
        "| CPU for an output: L | 9.9 ms |  |  |  |",
        "| CPU for an output, against the size before: L | 1.1 x | 1 x | 1.1 x | goal missed |",
        "| nothing changed: S | 0.05 s (0.04 to 0.07) | 0.05 s | 0.1 s | ok |",
        "| two processes against one: M | 1.7 x | at least 1.9 x | at least 1.5 x | goal missed |",
        "| site: S | 19.8 MB | 1000 MB | 1000 MB | ok |",
    ]
    assert re.findall(r"^\| ([^|]+) \| [^|]+ \|$", README, re.MULTILINE)[1:] == list(KINDS)


def test_the_same_seed_gives_the_same_head(repository: Path, tmp_path: Path) -> None:
    assert generate(tmp_path / "again.git", SIZES["tiny"]) == git(repository, "rev-parse", "main").strip()
