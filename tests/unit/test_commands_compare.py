"""``sitegen compare`` as a user runs it, and named baselines, which the gate and pages compare with too."""

import json
from math import hypot
from pathlib import Path

import pytest
from msgspec.structs import replace

from sitegen import api
from sitegen.commands.compare import read_sides
from sitegen.errors import ConfigurationError
from sitegen.questions.comparison import snapshot_named
from tests import pages_sample as sample
from tests.gitrepo import GitRepo, put
from tests.rows import in_table
from tests.sites import build_site, problems_text, run, text_of

CASES = json.dumps(
    [{"id": f"case-{index:02}", "input": "?", "expected": "yes", "category": "ab"[index // 10]} for index in range(20)]
)
WRITTEN = ["comparison_plots.svg", "comparison_report.md", "comparison_results.json"]


def responses(right: int) -> str:
    answers = ({"case_id": f"case-{index:02}", "output": "yes" if index < right else "no"} for index in range(20))
    return "".join(f"{json.dumps(answer)}\n" for answer in answers)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three commits: an eval of kind fields with two iterations, and one with two variants of a prompt."""
    repo = GitRepo(tmp_path_factory.mktemp("compared") / "project")
    truth, second = "id,total,date\nnote,12,today\n", '{"id": "note", "total": 13, "date": "today"}'
    repo.commit(
        {
            **{f"evals/{name}/ground_truth.csv": truth for name in ("notes", "old", "other")},
            "evals/notes/results/iteration-001/extracted.json": '{"id": "note", "total": 12}',
            "evals/old/extracted.json": "{}",
            "evals/other/extracted.json": '{"id": "note", "total": 12, "date": "today"}',
        }
    )
    repo.commit({f"evals/{of}/extracted.json": second for of in ("notes/results/iteration-002", "other")})
    repo.check_in(
        {
            "evals/old/ground_truth.csv": None,
            "evals/old/extracted.json": None,
            "evals/faq/test_cases.json": CASES,
            "evals/faq/responses-plain.jsonl": responses(4),
            "evals/faq/responses-kind.jsonl": responses(16),
        }
    )
    return repo.path


def compared(project: Path, *arguments: str | Path):
    done = run("compare", *arguments, "--json", "--repo", project)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def test_tags_without_a_common_case_differ_as_samples(repo):
    """The values are 7 of 8 and 2 of 8; the squares of the distances to the ends of their intervals are added."""
    rows = [{"id": n, "lang": "de" if n < 8 else "fr", "output": "y", "passed": n < 7 or n > 13} for n in range(16)]
    repo.check_in({"evals/qa/results.json": json.dumps(rows)})
    (change,) = compared(repo.path, "qa", "lang=de", "lang=fr")["changes"]
    before, after = change["interval_before"], change["interval_after"]
    ends = -hypot(0.25 - after["low"], before["high"] - 0.875), hypot(after["high"] - 0.25, 0.875 - before["low"])
    words = " to ".join(f"\N{MINUS SIGN}{0.625 - end:.3f}" for end in ends)
    assert change["words"].endswith(f"as samples of different cases they differ by \N{MINUS SIGN}0.625 ({words})")


def test_without_a_folder_the_report_is_printed_and_nothing_written(project):
    done = run("compare", "--eval", "faq", "--repo", project)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("# faq: kind against plain\n")
    assert not (project / "comparison_report.md").exists()


def test_three_files_are_written_and_are_the_same_every_time(project, tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    for out in (one, two):
        done = run("compare", "--eval", "faq", "-o", out, "--format", "svg", "--repo", project)
        assert (done.returncode, done.stdout) == (0, "")
        assert sorted(path.name for path in out.iterdir()) == WRITTEN
        assert sorted(done.stderr.splitlines()) == [f"wrote {out / name}" for name in WRITTEN]
    assert [(one / name).read_bytes() == (two / name).read_bytes() for name in WRITTEN] == [True] * 3


def test_without_matplotlib_two_files_are_written_and_it_says_what_to_install(project, tmp_path, monkeypatch):
    hidden = tmp_path / "hidden"
    put(hidden / "matplotlib.py", "raise ImportError('not here')\n")
    monkeypatch.setenv("PYTHONPATH", str(hidden))
    done = run("compare", "--eval", "faq", "-o", tmp_path / "out", "--repo", project)
    assert done.returncode == 0
    assert done.stderr.startswith(
        "sitegen: There is no picture of the comparison: matplotlib is not installed.\n"
        "  do: In a clone of sitegen: pip install '.[plots]'\n"
    )
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == WRITTEN[1:]


@in_table
def test_sides_are_variants_iterations_or_revisions(sides, eval_id, expected):
    kind, of, names = read_sides(sides.split(), eval_id)
    assert f"{kind} {of}: {' '.join(names)}".strip() == expected


@in_table
def test_sides_that_do_not_go_together_are_refused(sides):
    with pytest.raises(ConfigurationError):
        read_sides(sides, None)


@in_table
def test_an_iteration_is_named_by_its_number_or_label_as_last_scored_or_by_its_report(slug, names):
    first, ten = sample.snapshot(1, sample.commit(0)), sample.snapshot(10, sample.commit(1))
    again = replace(first, slug="0001-abc", commit=sample.commit(2))
    history = replace(sample.history("waybills", ()), snapshots=(first, ten, again))
    assert {snapshot_named(history, name).slug for name in names.split()} == {slug}


def test_an_iteration_that_is_not_there_is_answered_with_the_first_and_the_last_one():
    for numbers, stated in (([], "none"), ([1, 2], "1, 2"), ([1, 2, 3], "1 to 3"), ([1, 3, 4], "1, 3, 4")):
        snapshots = [sample.snapshot(number, sample.commit(number)) for number in numbers]
        with pytest.raises(ConfigurationError) as error:
            snapshot_named(replace(sample.history("waybills", ()), snapshots=(*snapshots,)), "9")
        assert error.value.fix == f"It has {stated}."


TREND, COMPARE = "evals/notes/index.html", "evals/notes/compare.html"


@pytest.fixture
def marked(repo: GitRepo) -> GitRepo:
    """Three outputs with 1, 2 and 3 of 4 values right; the second one has the tag v1."""
    right = {"a": 1, "b": 2, "c": 3, "d": 4}
    for number in (1, 2, 3):
        answer = {name: value if place < number else 0 for place, (name, value) in enumerate(right.items())}
        files = {f"evals/notes/results/iteration-00{number}/extracted.json": json.dumps(answer)}
        repo.commit({"evals/notes/ground_truth.json": json.dumps(right), **files})
        if number == 2:
            repo.git("tag", "v1")
    repo.checkout()
    (repo.path / "sitegen.toml").write_text('[baselines]\nlive = "v1"\ngone = "v9"\n')
    return repo


def test_a_baseline_stands_for_its_revision(marked):
    by_revision = run("compare", "live", "HEAD", "--repo", marked.path).stdout
    assert by_revision.startswith("# notes: live against HEAD\n")
    by_iteration = run("compare", "notes@live", "notes@3", "--repo", marked.path).stdout
    assert by_iteration.startswith("# notes: live against iteration-003\n")
    assert api.check(marked.path, "live").report.base == marked.git("rev-parse", "v1").strip()
    marked.git("branch", "live", "HEAD~2")  # which no baseline takes the place of
    assert api.check(marked.path, "live").report.base == marked.git("rev-parse", "HEAD~2").strip()


@pytest.mark.parametrize("command", [("compare", "gone", "HEAD"), ("check", "--base", "gone")])
def test_a_baseline_that_the_clone_does_not_have_ends_a_command_with_its_line(marked, command):
    done = run(*command, "--repo", marked.path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "The baseline 'gone' is the revision 'v9', which this clone does not have." in done.stderr
    assert "at: sitegen.toml:3" in done.stderr


def test_a_baseline_that_cannot_be_a_revision_never_reaches_git(marked):
    (marked.path / "sitegen.toml").write_text('[baselines]\nlive = "--output=x"\n')
    with pytest.raises(ConfigurationError, match="cannot be a revision"):
        api.check(marked.path, "HEAD~1")


def test_pages_mark_a_baseline_and_follow_it_when_it_moves(marked, tmp_path):
    site = tmp_path / "site"
    build_site(marked.path, site)
    assert "live has iteration-002, F1 0.500; since then ▲ up 0.250" in text_of(site / TREND)
    assert 'data-base="0002" data-name="live">Newest and live<' in (site / COMPARE).read_text()
    assert "The baseline 'gone' is the revision 'v9', which this clone does not have." in problems_text(site)
    marked.git("tag", "-f", "v1", "HEAD~2")
    assert build_site(marked.path, site).written
    assert "live has iteration-001, F1 0.250; since then ▲ up 0.500" in text_of(site / TREND)
    assert 'data-base="0001" data-name="live">Newest and live<' in (site / COMPARE).read_text()
