"""sitegen.toml and pyproject.toml of a stranger: a command reads them within bounds, or says why it does not."""

import json
import re
import time

import pytest
from pydantic import TypeAdapter

from sitegen.config.manifest import manifest_in_force
from sitegen.config.models import EvalConfig
from sitegen.data_files.reading import UnreadableError
from sitegen.data_files.yaml_reader import read_toml
from sitegen.history.globs import matches
from tests.faults.test_hostile_projects import BASE
from tests.gitrepo import GitRepo
from tests.sites import problems_text, run

DOTS = ".".join(["a"] * 50_000)
OVER_BOUNDS = {
    "a dotted key": (f"{DOTS} = 1", "a key has more than 10 parts", 1),
    "blanks around dots": (f"\n{DOTS.replace('.', ' . ')} = 1", "a key has more than 10 parts", 2),
    "quoted parts": (".".join(["'a'", '"b"'] * 20) + " = 1", "a key has more than 10 parts", 1),
    "a header": (f"[{DOTS}]", "a key has more than 10 parts", 1),
    "an inline table": (f"x = {{{DOTS} = 1}}", "a key has more than 10 parts", 1),
    "after a text of two lines": (f'x = """\na\n"""\n{DOTS} = 1', "a key has more than 10 parts", 4),
    "digits": (f"x = {'9' * 4301}", "a key or a number is longer than 400 characters", 1),
    "digits with underscores": (f"x = {'9_' * 4301}9", "a key or a number is longer than 400 characters", 1),
    "a hexadecimal number": (
        f"max_blob_bytes = 0x{'f' * 40_000}",
        "a key or a number is longer than 400 characters",
        1,
    ),
    "lists in lists": (f"x = {'[' * 900}{']' * 900}", "it is nested deeper than 100 levels", None),
    "lists without end": (f"x = {'[' * 100_000}", "it is nested deeper than 100 levels", None),
    "size": ("#" * 1_000_001, "it has 1,000,001 bytes", None),
}


@pytest.mark.parametrize("name", OVER_BOUNDS)
def test_toml_over_a_bound_is_refused_before_it_is_parsed(name):
    text, message, line = OVER_BOUNDS[name]
    with pytest.raises(UnreadableError) as error:
        read_toml(text.encode())
    assert (error.value.message, error.value.line) == (message, line)


@pytest.mark.parametrize(
    "text",
    [
        f'x = "{DOTS}"',
        f"x = '{DOTS}'",
        f'x = """\n{DOTS} \\""" {DOTS}"""""\ny = 1',
        f"x = '''\n{DOTS}'''''\ny = 1",
        f"x = 1 # {DOTS} '''",
        f'x = ["{"9" * 500}", "a.b.c.d.e.f.g.h.i.j.k"]',
        "a.b.c.d.e.f.g.h.i.j = 1979-05-27T00:32:00.999999-07:00",
    ],
)
def test_what_texts_and_comments_hold_counts_for_no_bound(text):
    assert read_toml(text.encode())


@pytest.mark.parametrize(
    "command", [["build", "-o", "OUT"], ["check", "--base", "HEAD"], ["verify-all"], ["history", "names"], ["init"]]
)
@pytest.mark.parametrize("file", ["sitegen.toml", "pyproject.toml"])
def test_no_command_ends_with_a_traceback_for_a_number_of_many_digits(tmp_path, command, file):
    repo = GitRepo(tmp_path / "project")
    repo.commit({**BASE, file: f"[tool.other]\nx = {'9' * 4301}\n"})
    repo.checkout()
    ended = run(*[str(tmp_path / "site") if each == "OUT" else each for each in command], cwd=repo.path)
    assert ended.returncode == 2, ended.stdout + ended.stderr
    assert f"{file} cannot be read: a key or a number is longer than 400 characters." in ended.stderr
    assert f"at: {file}:2" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_the_line_of_a_key_is_found_in_linear_time(tmp_path):
    repo = GitRepo(tmp_path / "project")
    repo.commit({**BASE, "sitegen.toml": f'title = """\n[{" " * 200_000}\n"""\nunknown = 1\n'})
    repo.checkout()
    ended = run("build", "-o", tmp_path / "site", cwd=repo.path)
    assert ended.returncode == 0
    assert "sitegen.toml:4" in problems_text(tmp_path / "site")


@pytest.mark.parametrize(
    ("glob", "path"),
    [
        ("**/" * 30 + "b", "a/" * 200 + "c"),
        ("**/a/" * 30 + "b", "a/" * 500 + "c"),
        ("*a" * 40 + "b", "a" * 4000),
        ("**/*a*a/" * 20 + "b", ("a" * 100 + "/") * 40 + "x"),
        ("[" * 100_000, "a"),
    ],
)
def test_a_glob_of_stars_takes_time_in_proportion_to_the_path(glob, path):
    assert not matches(path, [glob])


MANIFEST = "evals:\n  names:\n    {}\n"
LOST = {
    "thresholds: {f1: .inf}": "evals.names.thresholds.f1 is a number (inf), a finite number is wanted.",
    "thresholds: {f1: -.inf}": "evals.names.thresholds.f1 is a number (-inf), a finite number is wanted.",
    "thresholds: {f1: .nan}": "evals.names.thresholds.f1 is a number (nan), a finite number is wanted.",
    "thresholds: {f1: 1e999}": "evals.names.thresholds.f1 is text ('1e999'), a finite number is wanted.",
    "thresholds: {f1: -1.0e+999}": "evals.names.thresholds.f1 is a number (-inf), a finite number is wanted.",
    "settings: {a: [{b: .nan}]}": "evals.names.settings.a is a list, finite numbers are wanted.",
    f"thresholds: {{f1: {'9' * 399}}}": "evals.names.thresholds.f1 is a number (",
}
REFUSED = {
    f"settings: {{a: 0x{'f' * 40_000}}}": "The manifest cannot be read: a number is longer than 400 characters.",
    f"pages: {'9' * 5_000}": "The manifest cannot be read: a number is longer than 400 characters.",
}


@pytest.mark.parametrize("entry", [*LOST, *REFUSED])
def test_numbers_that_nothing_can_be_compared_with_are_refused_where_they_are_read(tmp_path, entry):
    repo = GitRepo(tmp_path / "project")
    repo.commit({**BASE, "evals/manifest.yaml": MANIFEST.format(entry)})
    repo.checkout()
    for command in (["build", "-o", tmp_path / "site"], ["verify-all"], ["check", "--base", "HEAD"]):
        ended = run(*command, cwd=repo.path)
        assert "Traceback" not in ended.stderr
        if entry in LOST and command[0] == "build":
            assert (ended.returncode, LOST[entry] in problems_text(tmp_path / "site")) == (0, True)
        elif entry in REFUSED or command[0] == "check":
            assert ended.returncode == 2, (command, ended.stderr)
            assert (LOST | REFUSED)[entry] in ended.stderr


@pytest.mark.parametrize(
    ("settings", "message", "line"),
    [
        ("{ignor: [b]}", "Unknown key 'ignor'", 3),
        ("\n      ignore: [b]\n      lists:\n        walls: {keyy: a}", "Unknown key 'lists.walls.keyy'", 6),
        ("\n      ignore: [b]\n      equality: wide", "'equality' does not fit", 5),
    ],
)
def test_a_wrong_setting_is_named_with_its_line_in_the_manifest(tmp_path, settings, message, line):
    repo = GitRepo(tmp_path / "project")
    repo.commit({**BASE, "evals/manifest.yaml": f"evals:\n  names:\n    settings: {settings}\n"})
    repo.checkout()
    assert run("build", "-o", tmp_path / "site", cwd=repo.path).returncode == 0
    text = problems_text(tmp_path / "site")
    assert message in text
    assert re.search(rf"evals/manifest\.yaml:{line}\b", text), text


@pytest.mark.parametrize("number", ["inf", "nan", "-inf", "1e999"])
@pytest.mark.parametrize(
    "text",
    ["[llm]\ntimeout = {}\n", "[llm]\ntemperature = {}\n", "[gate]\ndrop = {}\n", "[gate.metrics.f1]\nfloor = {}\n"],
)
def test_limits_of_sitegen_toml_are_finite(tmp_path, text, number):
    repo = GitRepo(tmp_path / "project")
    repo.commit({**BASE, "sitegen.toml": text.format(number)})
    repo.checkout()
    ended = run("build", "-o", tmp_path / "site", cwd=repo.path)
    assert ended.returncode == 0
    assert "a finite number is wanted. It does not count. sitegen.toml:2" in problems_text(tmp_path / "site")


@pytest.mark.parametrize("threshold", ["1.0e+308", "-1.0e+308", "1.0e+30"])
def test_thresholds_beyond_every_chart_are_compared_with_and_not_drawn(tmp_path, threshold):
    repo = GitRepo(tmp_path / "project")
    repo.commit({**BASE, "evals/manifest.yaml": MANIFEST.format(f"thresholds: {{f1: {threshold}}}")})
    repo.checkout()
    built = run("build", "-o", tmp_path / "site", "--strict", cwd=repo.path)
    assert built.returncode == 0, built.stderr
    assert run("verify-all", cwd=repo.path).returncode == 0


@pytest.mark.parametrize(
    "numbers",
    [["1", "1e308", "-1e308", "1e308", "5e-324", "0"], ["1e30", "-1e30", "9.9e29", "1e-300", "3"], ["1e31", "1e200"]],
)
def test_recorded_numbers_of_any_size_make_pages(tmp_path, numbers):
    repo = GitRepo(tmp_path / "project")
    manifest = "evals:\n  runs: {kind: recorded, outputs: metrics.json}\n"
    repo.commit({"CLAUDE.md": "Run.\n", "evals/manifest.yaml": manifest})
    for number in numbers:
        names = ("loss", "accuracy", "cost", "tokens", "latency_ms", "n")
        repo.commit({"evals/runs/metrics.json": json.dumps(dict.fromkeys(names, float(number)))})
    repo.checkout()
    built = run("build", "-o", tmp_path / "site", cwd=repo.path)
    assert built.returncode == 0, built.stderr
    assert "sitegen failed" not in built.stdout + built.stderr
    points = json.loads((tmp_path / "site/data/evals/runs.json").read_bytes())["points"]
    assert [point["then"]["metrics"]["loss"] for point in points] == [
        float(number) if abs(float(number)) <= 1e30 else None for number in numbers
    ]


@pytest.mark.parametrize("number", [2**63 - 1, 2**63, 10**30])
def test_a_limit_beyond_every_size_is_no_limit(tmp_path, number):
    repo = GitRepo(tmp_path / "project")
    manifest = MANIFEST.format("name: Names")
    repo.commit({**BASE, "sitegen.toml": f"[limits]\nmax_blob_bytes = {number}\n", "evals/manifest.yaml": manifest})
    repo.checkout()
    (repo.path / "evals/names/extracted.json").write_text("{}")
    for command in (["build", "--worktree", "-o", tmp_path / "site"], ["verify-all"]):
        ended = run(*command, cwd=repo.path)
        assert (ended.returncode, "Traceback" in ended.stderr) == (0, False), ended.stderr


def test_a_revision_that_nothing_can_be_called_does_not_exist(tmp_path):
    repo = GitRepo(tmp_path / "project")
    repo.commit({**BASE, "sitegen.toml": 'rev = "\\u0000"\n'})
    repo.checkout()
    ended = run("build", "-o", tmp_path / "site", cwd=repo.path)
    assert (ended.returncode, "Traceback" in ended.stderr) == (2, False), ended.stderr


NULLS = {
    **{f"sitegen.toml: {key}": f'{key} = "\\u0000"\n' for key in ("rev", "evals_dir", "title", "base_url")},
    **{f"sitegen.toml: {key}": f'{key} = ["a\\u0000/**"]\n' for key in ("instructions", "mapping", "redact")},
    **{
        f"evals/manifest.yaml: {key}": MANIFEST.format(f'{key}: "a\\0"')
        for key in ("dir", "ground_truth", "outputs", "mapping", "schema", "kind")
    },
    "evals/manifest.yaml: texts": MANIFEST.format('{name: "a\\0", description: "a\\0", notes: "a\\0"}'),
    "evals/manifest.yaml: patterns": MANIFEST.format(
        '{outputs: "\\0*", source: "a\\0.png", aliases: ["\\0/**"], instructions: ["\\0/**"], redact: ["\\0/**"]}'
    ),
    "evals/manifest.yaml: an id": 'evals:\n  "a\\0": {}\n',
    "evals/manifest.yaml: an id that leads out": "evals:\n  ../../a: {}\n",
}


@pytest.mark.parametrize("place", NULLS)
def test_no_command_ends_with_a_traceback_for_a_null_character(tmp_path, place):
    repo = GitRepo(tmp_path / "project")
    repo.commit(BASE)
    repo.commit({place.partition(":")[0]: NULLS[place]})
    repo.checkout()
    for command in (
        ["build", "--worktree", "-o", tmp_path / "site"],
        ["verify-all"],
        ["check", "--base", "HEAD~1"],
        ["init", "--dry-run"],
    ):
        ended = run(*command, cwd=repo.path)
        assert ended.returncode in (0, 1, 2), (command, ended.stderr)
        assert "Traceback" not in ended.stderr, command
        assert ended.returncode != 2 or "\n  do: " in ended.stderr


def test_a_manifest_of_many_evals_is_read_with_one_validator():
    """A validator for each of 60,000 entries, which fit into 1 MB, took ten minutes."""
    many = b"evals:\n" + b"".join(b"  e%d: {}\n" % number for number in range(600))
    begun = time.process_time()
    assert len(manifest_in_force(many, "evals/manifest.yaml", "evals").value.evals) == 600
    read = time.process_time()
    for _ in range(200):
        TypeAdapter(EvalConfig)
    assert read - begun < time.process_time() - read
