"""The command line as a whole, ``demo`` and ``history``, and a plain ``build``, which is read without typer."""

import re
import subprocess
import sys
from importlib.metadata import version
from itertools import chain, permutations
from pathlib import Path

import pytest
from msgspec.structs import replace
from typer.main import get_command

import sitegen
from sitegen.commands.history import history_lines
from sitegen.commands.main import plain_build
from sitegen.commands.signatures import app
from sitegen.model.changes import Change, DeltaParts, MetricDelta, Overlap
from sitegen.model.commits import Commit
from sitegen.model.metrics import Metric
from sitegen.model.series import Series
from sitegen.project import Options
from sitegen.text.plain import day
from tests import pages_sample as sample
from tests.rows import in_table
from tests.sites import run

COMMANDS = [
    *("build", "watch", "verify-one", "verify-all", "history", "blame", "compare", "check", "respond", "judge"),
    "code-judge",
]
COMMANDS += ["init", "extract", "export", "schema", "demo"]


@pytest.mark.parametrize("flag", ["--version", "-V"])
def test_the_version_is_that_of_the_installed_package(flag):
    done = run(flag)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"sitegen {sitegen.__version__}\n", "")
    assert version("sitegen-evals") == sitegen.__version__


def test_help_lists_every_command_and_the_version():
    done = run("--help")
    assert (done.returncode, done.stderr) == (0, "")
    listed = done.stdout.partition("Commands:\n")[2].splitlines()
    assert [line.split()[0] for line in listed] == COMMANDS
    assert all(line.endswith(".") and not line.endswith("...") for line in listed)
    assert "--version" in done.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command):
    done = run(command, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"Usage: sitegen {command} ")


def test_the_version_is_told_without_importing_what_takes_long():
    code = (
        "import sys; sys.argv = ['sitegen', '--version']\n"
        "from sitegen.commands.main import run; run()\n"
        "print(sorted({'typer', 'git', 'jinja2', 'pydantic', 'numpy', 'yaml', 'msgspec'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == f"sitegen {sitegen.__version__}\n[]\n"


def test_demo_writes_a_project_and_says_how_to_go_on(tmp_path: Path):
    done = run("demo", "two words", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "wrote two words, head d0cf95d\nnext: cd 'two words' && sitegen build\n"
    assert (tmp_path / "two words" / "evals" / "manifest.yaml").exists()
    again = run("demo", "two words", cwd=tmp_path)
    assert (again.returncode, again.stdout) == (2, "")
    assert again.stderr == (
        "sitegen: The demo needs a folder of its own.\n"
        f"  at: {tmp_path / 'two words'}\n"
        "  do: Name a folder that is new or empty.\n"
    )


def test_a_reader_that_goes_away_is_no_traceback(demo: Path):
    command = [sys.executable, "-m", "sitegen", "history", "lab-reports", "--repo", str(demo)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as history:
        assert history.stdout is not None
        assert history.stderr is not None
        history.stdout.close()
        said = history.stderr.read()
    assert b"Traceback" not in said


def test_names_that_a_terminal_cannot_show_are_spelled_out(repo, tmp_path: Path):
    repo.commit({"CLAUDE.md": "Read.\n", "evals/a/ground_truth.json": "{}"})
    command = [sys.executable, "-m", "sitegen", "build", str(repo.path), "-o", str(tmp_path / "größe"), "--cache"]
    done = subprocess.run(
        [*command, str(tmp_path / "memo")],
        env={"PATH": "/usr/bin:/bin", "PYTHONIOENCODING": "ascii", "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, f"{tmp_path}/gr\\xf6\\xdfe/index.html".encode())


def _series(delta: Change, *, stale: bool = False) -> Series:
    series = sample.series(2)
    first, second = (replace(point, now=point.scorecard) for point in series.points)
    return replace(series, points=(first, replace(second, change=delta, stale=stale)))


def _values(series: Series, index: int) -> str:
    card, interval = series.points[index].scorecard, series.points[index].interval
    assert interval is not None
    first, *others = (f"{card.metric(spec.name):9.3f}" for spec in series.specs[:3])
    return " ".join([first, f"{interval.low:.3f} to {interval.high:.3f}", *others])


def _made(commit: Commit) -> str:
    return f"{day(commit.committed_at):11}  {commit.short} {commit.subject}"


def test_a_change_of_several_roles_is_followed_by_its_parts():
    parts = DeltaParts(0.05, -0.011, 0.003)
    series = _series(Change(Overlap(1), (MetricDelta("f1", 0.042, parts),)))
    first, second = (point.snapshot.commit for point in series.points)
    assert history_lines(series) == [
        f"{'iteration':25}        F1           95 % Precision    Recall    change  errors  date         commit",
        f"{'iteration-001':25} {_values(series, 0)}                16  {_made(first)}",
        f"{'iteration-002':25} {_values(series, 1)}    +0.042      23  {_made(second)}",
        "    change: outputs +0.050, ground truth −0.011, rules +0.003",
    ]


@in_table
def test_a_change_says_where_it_comes_from_unless_outputs_alone_made_it(overlap, change, parts, moved, origin):
    common, *alone = overlap
    delta = MetricDelta("f1", change, DeltaParts(*parts) if parts else None)
    lines = history_lines(_series(Change(Overlap(common, *map(tuple, alone)), (delta,))))
    assert (lines[2].split()[7], lines[3:]) == (moved, [f"    change: {origin}"] * bool(origin))


def test_a_stale_output_is_called_stale():
    delta = Change(Overlap(1), (MetricDelta("f1", 0.02, DeltaParts(0.02, 0.0, 0.0)),))
    lines = history_lines(_series(delta, stale=True))
    assert lines[2].split()[7] == "+0.020"
    assert lines[3:] == ["    older than its instructions: these were edited after this output was made"]


def test_where_the_clocks_part_the_headline_has_both():
    series = sample.series(2)
    lines = history_lines(series)
    now = series.points[0].now
    assert now is not None
    assert " ".join(lines[0].split()) == "iteration F1 95 % today Precision Recall change errors date commit"
    assert lines[1].split()[5] == f"{now.metric('f1'):.3f}"


def test_a_number_of_things_is_whole():
    series = sample.series(1)
    (point,) = series.points
    card = replace(point.scorecard, metrics=(Metric("f1", 22.0), *point.scorecard.metrics[1:]))
    specs = (replace(series.specs[0], unit="count"), *series.specs[1:])
    counted = replace(series, specs=specs, points=(replace(point, scorecard=card, now=None, interval=None),))
    assert history_lines(counted)[1].split()[1] == "22"


def test_metrics_that_no_iteration_has_are_left_out():
    series = sample.series(2)
    specs = (series.specs[0], replace(series.specs[1], name="unknown", label="Unknown"), *series.specs[2:])
    heads = history_lines(replace(series, specs=specs))[0]
    assert ("Unknown" in heads, series.specs[2].label in heads) == (False, True)


ROOT = Path(__file__).parents[2]

NOT_PLAIN: tuple[list[str], ...] = (
    *([], ["verify-all"], ["build", "--help"], ["build", "--open"], ["build", "-osite"], ["build", "--out=site"]),
    *(["build", "--out"], ["build", "-o", "--strict"], ["build", "-o", "site", "--out", "other"]),
    *(["build", "--jobs", number] for number in ("0", "two", "-1", "", "1_0")),
    *(["build", "--strict", "--strict"], ["build", "one", "two"], ["build", "--", "project"]),
)
PARTS = (
    *(["project"], [""], ["--"], ["-"], ["-o", "site"], ["--out", ""], ["--out", "--strict"], ["--cache", "memo"]),
    *(["--jobs", "2"], ["--jobs", "007"], ["--jobs", " 3"], ["--jobs", "0"], ["--strict"], ["--public"], ["--no-such"]),
    *(["--base-url", "https://evals.example.org/"], ["--base-url", "-"], ["--open"], ["--cache"], ["--rev", "v1"]),
    *(["--rev", "--strict"], ["--worktree"], ["--force"]),
)


@pytest.fixture
def read_by_typer(monkeypatch: pytest.MonkeyPatch):
    asked: list[tuple[Options, bool, bool]] = []

    def command(options: Options, *, strict: bool, public: bool, open_browser: bool) -> None:
        assert not open_browser
        asked.append((options, strict, public))

    monkeypatch.setattr("sitegen.commands.build.command", command)
    parser = get_command(app)

    def read(arguments: list[str]) -> tuple[Options, bool, bool]:
        parser.main(arguments, standalone_mode=False)
        return asked.pop()

    return read


def test_whatever_is_read_without_typer_is_read_as_typer_reads_it(read_by_typer):
    calls = [["build", *chain(*parts)] for length in (1, 2, 3) for parts in permutations(PARTS, length)]
    plain = [(call, read) for call in calls if (read := plain_build(call))]
    assert len(plain) > 500
    assert [(call, read) for call, read in plain if read != read_by_typer(call)] == []


def test_a_plain_build_is_of_this_folder_unless_one_is_named():
    assert plain_build(["build"]) == (Options(repo=Path()), False, False)
    assert plain_build(["build", "there", "--jobs", "3"]) == (Options(repo=Path("there"), jobs=3), False, False)


@pytest.mark.parametrize("arguments", NOT_PLAIN, ids=" ".join)
def test_anything_else_is_left_to_typer(arguments):
    assert plain_build(arguments) is None


@in_table
def test_every_option_that_a_workflow_builds_with_is_plain(file):
    lines = (ROOT / file).read_text(encoding="utf-8").splitlines()
    builds = [line for line in lines if "sitegen build" in line or ("arguments" in line and "(" in line)]
    options = set(re.findall(r"--[a-z-]+", " ".join(builds)))
    assert options
    values = {"--out": "site", "--cache": "memo", "--base-url": "https://evals.example.org/"}
    words = [word for option in sorted(options) for word in (option, *filter(None, [values.get(option)]))]
    assert plain_build(["build", *words]) is not None
