"""The repositories of the benchmark, what it measures by, and the table it prints; no time is tested."""

import json
import re
import sys
from pathlib import Path

import pytest

from tests.bench import content, processes, reference
from tests.bench.bench import growth_rows, noise, size_rows
from tests.bench.generate import SIZES, generate, git
from tests.bench.measures import WEIGHTS, OneMore, SizeResult, Weight
from tests.bench.processes import Measured, run
from tests.bench.ready import Load, least
from tests.bench.table import KINDS, Row, table, verdict

README = Path(processes.__file__).with_name("README.md").read_text(encoding="utf-8")


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


def test_a_process_that_fails_says_why() -> None:
    with pytest.raises(RuntimeError, match=r"exited with 3\nno such thing"):
        run([sys.executable, "-c", "import sys; sys.stderr.write('no such thing'); sys.exit(3)"])


def test_the_cpu_is_that_of_the_process_and_of_the_children_it_waited_for() -> None:
    loop = "import time\nwhile time.process_time() < 0.2: pass"
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {loop!r}])"
    assert run([sys.executable, "-c", parent]).cpu_seconds >= 0.2


def test_the_time_of_the_first_page_is_when_the_process_said_so() -> None:
    script = (
        "import sys, time; sys.stderr.write('index.html can be opened; more\\n'); sys.stderr.flush(); time.sleep(.2)"
    )
    measured = run([sys.executable, "-c", script])
    assert measured.first_page_seconds + 0.2 <= measured.seconds
    assert measured.messages == "index.html can be opened; more\n"
    silent = run([sys.executable, "-c", "pass"])
    assert silent.first_page_seconds == silent.seconds


def test_a_row_reaches_its_goal_or_misses_it_or_its_limit() -> None:
    assert [verdict(Row("first build", "S", value)) for value in (20.0, 20.1, 30.1)] == [
        "ok",
        "goal missed",
        "**limit missed**",
    ]
    assert [verdict(Row("two processes against one", "M", value)) for value in (1.9, 1.89, 1.79)] == [
        "ok",
        "goal missed",
        "**limit missed**",
    ]
    assert [verdict(Row("nothing changed", size, 0.07)) for size in ("S", "L")] == ["goal missed"] * 2
    assert verdict(Row("first build", "tiny", 3)) == verdict(Row("feed", "S", 3)) == ""


def test_the_table_has_a_line_for_every_row_in_the_order_of_the_readme() -> None:
    rows = [
        Row("feed", "S", 8_618),
        Row("two processes against one", "M", 1.85),
        Row(kind="first build", label="S", value=20.04, note="0.5 s"),
    ]
    assert table(rows).splitlines() == [
        "| | measured | goal | not above | |",
        "|---|---|---|---|---|",
        "| first build: S | 20 R (0.5 s) | 20 R | 30 R | goal missed |",
        "| two processes against one: M | 1.85 x | at least 1.9 x | at least 1.8 x | goal missed |",
        "| feed: S | 8,618 kB |  |  |  |",
    ]
    assert re.findall(r"^\| ([^|]+) \| [^|]+ \|$", README, re.MULTILINE)[1:] == list(KINDS)


def builds(*seconds: float) -> list[Measured]:
    return [
        Measured(seconds=value, cpu_seconds=2 * value, peak_bytes=50_000_000, first_page_seconds=value / 2, messages="")
        for value in seconds
    ]


def loads(*ready: float) -> list[Load]:
    return [
        Load(
            paint=value, parsed=30.0, loaded=value / 2, ready=value, style=5.0, layout=9.0, scripts=4.0, cpu=300 - value
        )
        for value in ready
    ]


def test_of_every_number_of_a_page_the_least_counts() -> None:
    assert least(loads(100.0, 200.0)) == loads(100.0)[0]._replace(cpu=100.0)
    assert str(loads(100.0)[0]) == "painted 100, parsed 30, loaded 50; CPU 200"


def test_every_number_of_a_size_is_in_the_table() -> None:
    small = SizeResult(
        name="S",
        reference=builds(0.1),
        first=builds(1.0, 3.0, 1.0),
        first_one_process=builds(1.5, 1.5, 1.6),
        unchanged=builds(0.1),
        hugo=builds(0.5),
        hugo_weight=Weight(0, 0, 0),
        one_more=OneMore(start=builds(1.0)[0], builds=builds(0.2), modules=("sitegen",)),
        weights=dict.fromkeys(WEIGHTS, Weight(3_000, 4_000_000, 20)),
        pages={"": loads(40)[0], "trend": loads(250)[0]},
        same=True,
    )
    large = small._replace(name="M", first=builds(6.0), unchanged=builds(0.12))
    values = {(row.kind, row.label): round(row.value, 3) for row in size_rows(small) + growth_rows([small, large])}
    assert values == {
        ("CPU for a page", "S"): 100.0,
        ("pages written per CPU second", "S"): 2.0,
        ("first build", "S"): 10.0,
        ("nothing changed", "S"): 0.1,
        ("one more commit", "S"): 0.2,
        ("memory of the largest process", "S"): 50.0,
        ("overview, trends and newest reports written", "S"): 0.5,
        ("two processes against one", "S"): 1.5,
        ("site", "S"): 4.0,
        ("largest trend page", "S"): 3.0,
        ("page ready", "trend, S"): 250.0,
        ("search index", "S"): 4000.0,
        ("feed", "S"): 4000.0,
        ("pages of comparisons", "S"): 4000.0,
        ("data files", "S"): 4000.0,
        ("first build against Hugo", "S"): 2.0,
        ("CPU for a page against the size before", "M"): 6.0,
        ("nothing changed, against the smallest size", "M"): 1.2,
        ("one more commit, against the smallest size", "M"): 1.0,
    }
    assert noise([small], builds(0.4)) == (
        "Noise: a loop that uses one core took 0.4 s, once, and got at least 200% of the core. "
        "Largest minus smallest time of repeated builds, as a part of the median: between 7% and 200%."
    )


def flattened(value: object, path: str = "") -> dict[str, object]:
    if isinstance(value, dict):
        inner = [flattened(item, f"{path}.{key}" if path else key) for key, item in value.items()]
    elif isinstance(value, list):
        inner = [flattened(item, f"{path}[{index}]") for index, item in enumerate(value)]
    else:
        return {path: value}
    return {key: leaf for part in inner for key, leaf in part.items()}


def test_the_same_seed_gives_the_same_head(repository: Path, tmp_path: Path) -> None:
    assert generate(tmp_path / "again.git", SIZES["tiny"]) == git(repository, "rev-parse", "main").strip()


def test_every_path_of_an_output_stands_in_its_ground_truth_or_is_ignored(repository: Path) -> None:
    tiny = SIZES["tiny"]
    listed = git(repository, "ls-tree", "-r", "--name-only", "main").splitlines()
    outputs = [path for path in listed if path.endswith("extracted.json")]
    assert len(outputs) > tiny.evals
    for path in outputs:
        document = json.loads(git(repository, "show", f"main:{path}"))
        assert document.pop("eval_id") == path.split("/")[1]
        assert document.pop("run") >= 1
        confidences = flattened(document.pop("confidence"))
        expected = set(content.field_paths(tiny.fields, tiny.line_items))
        assert flattened(document).keys() <= expected
        assert confidences.keys() == flattened(document).keys()
