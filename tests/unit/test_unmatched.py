"""What the configuration names and nothing fits, and files that lie under a name that nobody looks for."""

import json
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from sitegen.model.problems import Problem
from tests.gitrepo import GitRepo
from tests.scoring.test_tables import tables
from tests.sites import build_site, differences, differs_from_cold, problems_text, run
from tests.unit.test_layouts import recorded_problems

TRUTH = "id,total,name\na,1,x\nb,2,y\n"
OUTPUT = '[{"id": "a", "total": 1, "name": "x"}, {"id": "b", "total": 2, "name": "y"}]'
EVAL = {"evals/n/ground_truth.csv": TRUTH, "evals/n/results/iteration-001/extracted.json": OUTPUT}
MANIFEST = "evals/manifest.yaml"
STATED = ("severity", "problem", "what to do", "path", "eval", "line")
ROWS = tables(Path(__file__).with_name("unmatched.md").read_text(encoding="utf-8"))[0]
CASES: list[list[dict[str, str]]] = []
for _row in ROWS:
    if _row["case"]:
        CASES.append([])
    CASES[-1].append(_row)


@pytest.fixture
def problems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Commits these files beside an eval that is in order, then what is *later*, builds, and gives the problems."""
    shown = recorded_problems(monkeypatch)

    def build(
        files: dict[str, str | None], later: dict[str, str | None] | None = None, **options: object
    ) -> list[Problem]:
        repo = GitRepo(tmp_path / "project")
        repo.commit({path: text for path, text in {**EVAL, **files}.items() if text is not None})
        if later:
            repo.commit(later)
        repo.checkout()
        build_site(repo.path, tmp_path / "site", jobs=1, **options)
        return [replace(problem, type="") for problem in shown if not problem.past]

    return build


def entry(text: str) -> dict[str, str]:
    return {MANIFEST: f"evals:\n  n: {{{text}}}\n"}


def warning(what: str, fix: str, path: str | None = MANIFEST, eval_id: str | None = "n", **rest: Any) -> Problem:
    return Problem("warning", what, fix, path=path, eval_id=eval_id, **rest)


@pytest.mark.parametrize("rows", CASES, ids=lambda rows: rows[0]["case"])
def test_what_fits_nothing_is_the_problem_of_the_table(problems, rows):
    wanted = [tuple(row[name] for name in STATED) for row in rows if row["severity"]]
    found = [
        (each.severity, each.message, each.fix, each.path or "", each.eval_id or "", str(each.line or ""))
        for each in problems(*json.loads(f"[{rows[0]['files']}]"))
    ]
    assert len(found) == len(wanted)
    for each, stated in zip(found, wanted, strict=True):
        assert [*map(fnmatchcase, each, map(pattern, stated))] == [True] * len(STATED), (each, stated)


def pattern(cell: str) -> str:
    return "".join("*" if letter == "…" else f"[{letter}]" if letter in "*?[" else letter for letter in cell)


def test_results_that_are_not_there_are_a_problem_of_an_eval_without_ground_truth(problems):
    entries = 'evals:\n  n: {}\n  k: {kind: judged, dir: ".", outputs: k.jsonl}\n  l: {kind: recorded}\n'
    files = {MANIFEST: entries, "k.jsonl": '{"id": "a", "passed": true}\n'}
    assert problems(files, {"k.jsonl": None}) == [
        warning(
            "The eval 'k' of the manifest has no results any more.",
            "Commit results below the top of the repository, or correct or remove its entry in the manifest.",
            eval_id="k",
            line=3,
        ),
        warning(
            "The eval 'l' of the manifest never had any results.",
            "Commit results below evals/l/, or correct or remove its entry in the manifest.",
            eval_id="l",
            line=4,
        ),
    ]


NO_FIELD = "matches no field of the ground truth or of the newest output."


def test_where_nothing_can_be_reported_the_names_that_are_nearly_right_are_named(repo):
    repo.commit({"evals/n/groundtruth.csv": TRUTH, MANIFEST: "evals:\n  k: {ground_truht: t.csv}\n"})
    done = run("build", repo.path)
    assert done.returncode == 2
    assert "The key 'evals.k.ground_truht' is not known" in done.stderr
    assert "evals/n/ is not an eval: groundtruth.csv is not the name of a ground truth. Call it one of" in done.stderr


def test_an_entry_that_another_eval_comes_to_use_is_no_note_any_more_also_in_the_next_build(repo, tmp_path):
    other = {path.replace("/n/", "/k/"): text for path, text in EVAL.items()}
    repo.commit({**EVAL, **other, "m.yaml": "ignore: [walls]\n", "sitegen.toml": 'mapping = ["m.yaml"]\n'})
    repo.checkout()
    build_site(repo.path, tmp_path / "step", jobs=1)
    assert NO_FIELD in problems_text(tmp_path / "step")
    repo.commit({"evals/k/results/iteration-002/extracted.json": OUTPUT.replace("}", ', "walls": 1}')})
    build_site(repo.path, tmp_path / "step", jobs=1)
    assert NO_FIELD not in problems_text(tmp_path / "step")
    assert differs_from_cold(tmp_path / "step", repo.path) == []


def test_nothing_is_said_of_a_mapping_where_an_output_that_it_serves_cannot_be_read(problems):
    broken = {"evals/n/results/iteration-002/extracted.json": "{", "evals/n/field_mapping.yaml": "ignore: [walls]\n"}
    assert [each.message for each in problems(broken) if "fits" in each.message] == []


def test_the_work_tree_is_looked_at_where_it_is_built(problems, tmp_path):
    files = {"evals/k/ground_truth.csv": TRUTH, "evals/k/a.txt": "x"}
    repo = GitRepo(tmp_path / "project")  # which ``problems`` builds
    repo.commit({**EVAL, **files, ".gitignore": "*.out.json\n"})
    repo.checkout()
    (repo.path / "evals/k/mine.out.json").write_text(OUTPUT)
    (problem,) = problems(files, worktree=True)
    assert problem.fix.startswith("Commit evals/k/results/")
    (repo.path / "evals/k/extracted.json").write_text(OUTPUT)
    assert problems(files, worktree=True) == []


def test_an_uncommitted_manifest_is_read_and_a_problem_of_the_work_tree_names_it_whole(repo, tmp_path):
    repo.commit(EVAL)
    repo.checkout()
    (repo.path / MANIFEST).write_text("evals: {n: {name: Receipts}}\n")
    (repo.path / "evals/n/extracted.json").symlink_to("/nowhere")
    build_site(repo.path, tmp_path / "site", jobs=1, worktree=True)
    shown = problems_text(tmp_path / "site")
    assert "manifest" not in shown
    assert "at worktree" in shown
    assert "Receipts" in (tmp_path / "site/index.html").read_text()


def test_problems_of_a_build_that_goes_on_are_those_of_one_from_the_beginning(repo, tmp_path):
    repo.commit({**EVAL, **entry("mapping: m.yaml"), "evals/k/groundtruth.csv": TRUTH})
    build_site(repo.path, tmp_path / "one", jobs=1)
    repo.commit({"evals/k/groundtruth.csv": None, "evals/k/ground_truth.csv": TRUTH, **entry("schema: s.json")})
    build_site(repo.path, tmp_path / "one", jobs=1)
    build_site(repo.path, tmp_path / "other", jobs=1)
    assert differences(tmp_path / "one", tmp_path / "other") == []


def test_strict_counts_them(repo, tmp_path):
    repo.commit({**EVAL, **entry("mapping: m.yaml")})
    done = run("build", repo.path, "--strict", "--out", tmp_path / "site")
    assert (done.returncode, "problems.html: 1 warning" in done.stdout) == (3, True)
