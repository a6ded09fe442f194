"""sitegen.toml and pyproject.toml of a stranger: a command reads them within bounds, or says why it does not."""

import json
import re
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from sitegen.config.manifest import manifest_in_force
from sitegen.config.models import EvalConfig
from sitegen.config.site import read_rules, read_site
from sitegen.data_files.reading import UnreadableError
from sitegen.data_files.yaml_reader import read_toml
from sitegen.text.globs import matches
from tests.faults.test_hostile_projects import BASE
from tests.gitrepo import Content, GitRepo
from tests.rows import in_table
from tests.sites import problems_text, run


def project(folder: Path, *commits: Mapping[str, Content]) -> GitRepo:
    """The ordinary project with these files besides."""
    repo = GitRepo(folder / "project")
    repo.commit({**BASE, **commits[0]})
    for files in commits[1:]:
        repo.commit(files)
    repo.checkout()
    return repo


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


@pytest.mark.parametrize("file", ["sitegen.toml", "pyproject.toml"])
def test_no_command_ends_with_a_traceback_for_a_number_of_many_digits(tmp_path, file):
    repo = project(tmp_path, {file: f"[tool.other]\nx = {'9' * 4301}\n"})
    for command in (["build"], ["check", "--base", "HEAD"], ["verify-all"], ["history", "names"], ["init"]):
        ended = run(*command, cwd=repo.path)
        assert ended.returncode == 2, ended.stdout + ended.stderr
        assert f"{file} cannot be read: a key or a number is longer than 400 characters." in ended.stderr
        assert f"at: {file}:2" in ended.stderr
        assert "Traceback" not in ended.stderr


def test_the_line_of_a_key_is_found_in_linear_time(tmp_path):
    repo = project(tmp_path, {"sitegen.toml": f'title = """\n[{" " * 200_000}\n"""\nunknown = 1\n'})
    ended = run("build", "-o", tmp_path / "site", cwd=repo.path)
    assert ended.returncode == 0
    assert "sitegen.toml:4" in problems_text(tmp_path / "site")


def test_lists_of_thousands_of_entries_take_time_in_proportion_to_their_number(tmp_path):
    """Each of these lists took minutes."""
    many = [f"x{number}/y.md" for number in range(4_000)]
    listed = json.dumps(many)
    mutes = "".join(f'[[regressions.mute]]\neval = "{name}"\ncommit = "1234567"\nwhy = "w"\n' for name in many)
    entry = f"{{aliases: {listed}, instructions: {listed}, redact: {listed}, thresholds: {dict.fromkeys(many, 0.5)}}}"
    evals = "".join(f"  {name.replace('/', '-')}: {{kind: judged}}\n" for name in many)
    files = {
        "sitegen.toml": f"instructions = {listed}\nmapping = {listed}\n{mutes}",
        "evals/manifest.yaml": f"evals:\n  names: {entry}\n{evals}",
    }
    ended = run("build", "-o", tmp_path / "site", cwd=project(tmp_path, files).path)
    assert ended.returncode == 0
    assert "sitegen.toml:3" in problems_text(tmp_path / "site")


@pytest.mark.parametrize(
    ("glob", "path"),
    [
        ("**/" * 30 + "b", "a/" * 200 + "c"),
        ("**/a/" * 30 + "b", "a/" * 500 + "c"),
        ("*a" * 40 + "b", "a" * 4000),
        ("**/*a*a/" * 20 + "b", ("a" * 100 + "/") * 40 + "x"),
        ("{model}_*{variant}_" * 20 + "b", "a_" * 2000),
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
    'outputs: "{model}/{model}.json"': "in which {model} stands twice; write * in one of these places.",
    'outputs: "{model}**"': "in which nothing divides a name from what is beside it; write a text between them",
    'outputs: "**/{model}.json"': "in which ** stands before {model}; write the folders, or * for each of them.",
    f"thresholds: {{f1: {'9' * 399}}}": "evals.names.thresholds.f1 is a number (",
}
REFUSED = {
    f"settings: {{a: 0x{'f' * 40_000}}}": "The manifest cannot be read: a number is longer than 400 characters.",
    f"pages: {'9' * 5_000}": "The manifest cannot be read: a number is longer than 400 characters.",
}


@pytest.mark.parametrize("entries", [LOST, *({entry: said} for entry, said in REFUSED.items())])
def test_numbers_that_nothing_can_be_compared_with_are_refused_where_they_are_read(tmp_path, entries):
    listed = "".join(f"  names{number}: {{{entry}}}\n" for number, entry in enumerate(entries))
    repo = project(tmp_path, {"evals/manifest.yaml": f"evals:\n{listed}"})
    said = [text.replace("names.", f"names{number}.") for number, text in enumerate(entries.values())]
    for command in (["build", "-o", tmp_path / "site"], ["verify-all"], ["check", "--base", "HEAD"]):
        ended = run(*command, cwd=repo.path)
        assert "Traceback" not in ended.stderr
        if entries is LOST and command[0] == "build":
            assert ended.returncode == 0
            assert [text for text in said if text not in problems_text(tmp_path / "site")] == []
        elif entries is not LOST or command[0] == "check":
            assert ended.returncode == 2, (command, ended.stderr)
            assert any(text in ended.stderr for text in said)


@in_table
def test_a_wrong_setting_is_named_with_its_line_in_the_manifest(tmp_path, settings, message, line):
    repo = project(tmp_path, {"evals/manifest.yaml": f"evals:\n  names:\n    settings: {settings}\n"})
    assert run("build", "-o", tmp_path / "site", cwd=repo.path).returncode == 0
    text = problems_text(tmp_path / "site")
    assert message in text
    assert re.search(rf"evals/manifest\.yaml:{line}\b", text), text


@pytest.mark.parametrize("number", ["inf", "nan", "-inf", "1e999"])
def test_limits_of_sitegen_toml_are_finite(tmp_path, number):
    keys = ("[llm]\ntimeout", "temperature", "[gate]\ndrop", "[gate.metrics.f1]\nfloor")
    (tmp_path / "sitegen.toml").write_text("".join(f"{key} = {number}\n" for key in keys))
    findings = read_site(lambda name, largest: read_rules(tmp_path, name, largest)).findings
    assert sorted(finding.line or 0 for finding in findings) == [2, 3, 5, 7]
    assert all("a finite number is wanted. It does not count." in finding.message for finding in findings)


@pytest.mark.parametrize(("threshold", "strict"), [("1.0e+308", 3), ("-1.0e+308", 0)])
def test_thresholds_beyond_every_chart_are_compared_with_and_not_drawn(tmp_path, threshold, strict):
    repo = project(tmp_path, {"evals/manifest.yaml": MANIFEST.format(f"thresholds: {{f1: {threshold}}}")})
    built = run("build", "-o", tmp_path / "site", "--strict", cwd=repo.path)
    assert built.returncode == strict, built.stderr
    assert ("The floor of 'f1'" in problems_text(tmp_path / "site")) is bool(strict)
    assert run("verify-all", cwd=repo.path).returncode == 0


@in_table
def test_recorded_numbers_of_any_size_make_pages(repo, tmp_path, numbers):
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


@pytest.mark.parametrize("number", [2**63 - 1, 10**30])
def test_a_limit_beyond_every_size_is_no_limit(repo, tmp_path, number):
    manifest = MANIFEST.format("name: Names")
    repo.check_in({**BASE, "sitegen.toml": f"[limits]\nmax_blob_bytes = {number}\n", "evals/manifest.yaml": manifest})
    (repo.path / "evals/names/extracted.json").write_text("{}")
    for command in (["build", "--worktree", "-o", tmp_path / "site"], ["verify-all"]):
        ended = run(*command, cwd=repo.path)
        assert (ended.returncode, "Traceback" in ended.stderr) == (0, False), ended.stderr


ENTRIES_WITH_NULLS = (
    *(f'{key}: "a\\0"' for key in ("dir", "ground_truth", "outputs", "mapping", "schema", "kind")),
    'name: "a\\0", description: "a\\0", notes: "a\\0"',
    'outputs: "\\0*", source: "a\\0.png", aliases: ["\\0/**"], instructions: ["\\0/**"], redact: ["\\0/**"]',
)
NULLS = {
    "rev": {"sitegen.toml": 'rev = "\\u0000"\n'},
    "redact": {"sitegen.toml": 'redact = ["a\\u0000/**"]\n'},
    "sitegen.toml": {
        "sitegen.toml": "".join(f'{key} = "\\u0000"\n' for key in ("evals_dir", "title", "base_url"))
        + "".join(f'{key} = ["a\\u0000/**"]\n' for key in ("instructions", "mapping"))
    },
    "a manifest": {
        "evals/manifest.yaml": "evals:\n"
        + "".join(f"  names{number}: {{{entry}}}\n" for number, entry in enumerate(ENTRIES_WITH_NULLS)),
        **{
            path.replace("names", f"names{number}"): content
            for number in range(len(ENTRIES_WITH_NULLS))
            for path, content in BASE.items()
            if "names" in path
        },
    },
    "ids": {"evals/manifest.yaml": 'evals:\n  "a\\0": {}\n  ../../a: {}\n'},
}


@pytest.mark.parametrize("files", NULLS.values(), ids=NULLS)
def test_no_command_ends_with_a_traceback_for_a_null_character(tmp_path, files):
    repo = project(tmp_path, {}, files)
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
