"""What the benchmark measures by, and the table it prints; no time is tested."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.bench import hugo, processes, reference
from tests.bench.bench import Site, SizeResult, alternately, rows_of
from tests.bench.generate import SIZES, generate, git
from tests.bench.processes import run
from tests.bench.table import WANTED, Row, table, verdict, wanted


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bench") / "tiny.git"
    generate(folder, SIZES["tiny"])
    return folder


def test_needed_blobs_are_those_of_every_needed_path_ever(repository: Path) -> None:
    listed = {
        line.split()[2]
        for commit in git(repository, "rev-list", "--first-parent", "main").split()
        for line in git(repository, "ls-tree", "-r", commit, "--", *reference.PATHS).splitlines()
    }
    needed = reference.needed_blobs(repository)
    assert set(needed) == listed
    assert len(needed) == len(set(needed))


def test_the_reference_runs(repository: Path, tmp_path: Path) -> None:
    needed = tmp_path / "needed"
    assert reference.write_needed(repository, needed) == len(needed.read_text().split())
    assert reference.seconds(repository, needed) > 0


def test_a_process_that_fails_says_why() -> None:
    with pytest.raises(RuntimeError, match=r"exited with 3\nno such thing"):
        run([sys.executable, "-c", "import sys; sys.stderr.write('no such thing'); sys.exit(3)"])


def test_the_cpu_is_that_of_the_process_and_of_the_children_it_waited_for() -> None:
    loop = "import time\nwhile time.process_time() < 0.2: pass"
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {loop!r}])"
    assert run([sys.executable, "-c", parent]).cpu_seconds >= 0.2


def test_the_peak_is_that_of_the_process() -> None:
    assert run([sys.executable, "-c", "x = b'x' * 90_000_000"]).peak_bytes > 90_000_000


def test_the_first_round_is_not_counted_and_medians_are_taken() -> None:
    first, second = iter([100.0, 1.0, 9.0, 2.0]), iter([100.0, 5.0, 5.0, 4.0])
    assert alternately(3, lambda: next(first), lambda: next(second)) == [2.0, 5.0]


def test_a_single_round_is_counted() -> None:
    only = iter([7.0])
    assert alternately(1, lambda: next(only)) == [7.0]


def test_a_row_is_held_against_what_is_wanted_of_it() -> None:
    assert wanted("nothing changed, M") == WANTED["nothing changed"]
    largest = "nothing changed, largest against smallest"
    assert wanted(largest) == WANTED[largest]
    assert wanted("cold build tiny") is None
    verdicts = [verdict(Row("cold build S", value)) for value in (16.0, 16.1, 25.0, 25.1)]
    assert verdicts == ["reached", "near", "near", "ABOVE"]


def test_the_table_has_a_line_for_every_row() -> None:
    assert table([Row("cold build S", 20, "0.5 s"), Row("cold build tiny", 3)]).splitlines() == [
        "| | measured | goal | not above | ratio | |",
        "|---|---|---|---|---|---|",
        "| cold build S | 20 R (0.5 s) | 16 R | 25 R | 1.25 | near |",
        "| cold build tiny | 3 | | | | |",
    ]


def test_two_sizes_are_compared_with_each_other() -> None:
    small = SizeResult(
        name="S",
        reference=0.1,
        cold=1.0,
        unchanged=0.1,
        one_more=0.2,
        peak=50_000_000,
        peak_without_git=40_000_000,
        pages=9,
        cpu=0.9,
        same=True,
    )
    large = small._replace(
        name="L",
        reference=2.0,
        cold=6.0,
        unchanged=0.12,
        one_more=0.25,
        peak=210_000_000,
        peak_without_git=None,
        pages=900,
        cpu=99.0,
    )
    values = {row.name: round(row.value, 3) for row in rows_of([small, large])}
    assert values == {
        "cold build S": 10.0,
        "cold build L": 3.0,
        "nothing changed, S": 0.1,
        "nothing changed, L": 0.12,
        "nothing changed, largest against smallest": 1.2,
        "one more commit, S": 0.2,
        "one more commit, L": 0.25,
        "one more commit, largest against smallest": 1.25,
        "CPU a page, largest against smallest": 1.1,
        "peak memory of ours, S": 40.0,
        "peak memory of ours, L": 210.0,
    }


def test_the_site_for_hugo_has_a_row_for_every_field(tmp_path: Path) -> None:
    hugo.write_site(tmp_path, 7, SIZES["tiny"])
    pages = sorted(path.relative_to(tmp_path / "content").as_posix() for path in tmp_path.glob("content/*/*.md"))
    assert len(pages) == 7
    assert pages[0] == "eval-000/00000.md"
    assert (tmp_path / "content" / pages[0]).read_text(encoding="utf-8").count('"outcome"') == SIZES["tiny"].fields


def test_the_digest_of_a_site_knows_names_and_bytes(tmp_path: Path) -> None:
    site = Site(tmp_path, tmp_path / "out", tmp_path / "cache")
    site.out.mkdir()
    digests = [site.digest()]
    for name, text in (("a.html", "1"), ("a.html", "2"), ("b.html", "2")):
        (site.out / name).write_text(text)
        digests.append(site.digest())
    (site.out / "b.html").unlink()
    assert len(set(digests)) == 4
    assert site.digest() == digests[2]


def test_the_tree_of_a_process_that_has_ended_is_the_process_alone() -> None:
    with subprocess.Popen([sys.executable, "-c", "pass"]) as process:
        process.wait()
    assert processes._tree(process.pid) == [process.pid]
    assert processes._high_water(process.pid) == 0
