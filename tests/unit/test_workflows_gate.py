"""The workflows of pull requests: one that runs anything and may write nothing, and one the other way round."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.gitrepo import GitRepo
from tests.runner import ROOT, Runner, load, script

GATES = [".github/workflows/gate.yml", "sitegen/skeletons/gate.yml"]
COMMENTS = [".github/workflows/gate-comment.yml", "sitegen/skeletons/gate-comment.yml"]
MARK = "<!-- sitegen check -->"

GH = r"""
import json, pathlib, sys

here = pathlib.Path(__file__).parent
words = sys.argv[1:]
with open(here / "asked", "a") as log:
    log.write(json.dumps(words) + "\n")
if words[:2] == ["run", "download"]:
    folder = pathlib.Path(words[words.index("--dir") + 1])
    report = here / "report"
    if not report.exists():
        sys.exit(1)
    folder.mkdir()
    (folder / "gate.md").write_bytes(report.read_bytes())
elif "--jq" in words:
    answer = here / ("number" if any(word.endswith("/pulls") for word in words) else "earlier")
    print(answer.read_text() if answer.exists() else "", end="")
"""


class GitHub:
    """A stand-in for ``gh``: answers from files, and writes down what it was asked."""

    def __init__(self, runner: Runner) -> None:
        self.folder = runner.folder / "github"
        self.folder.mkdir()
        (self.folder / "gh.py").write_text(GH)
        runner.command(runner.bin / "gh", f'exec {sys.executable} {self.folder / "gh.py"} "$@"')

    def has(self, **answers: str) -> None:
        for name, text in answers.items():
            (self.folder / name).write_text(text, encoding="utf-8")

    def asked(self) -> list[list[str]]:
        return [json.loads(line) for line in (self.folder / "asked").read_text().splitlines()]


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    return Runner(tmp_path / "runner", workspace)


@pytest.fixture
def github(runner: Runner) -> GitHub:
    return GitHub(runner)


def post(runner: Runner) -> subprocess.CompletedProcess[str]:
    (step,) = load(COMMENTS[1])["jobs"]["comment"]["steps"]
    event = {"GH_REPO": "o/r", "RUN": "7", "BRANCH": "someone:a$(touch x)", "COMMIT": "c" * 40}
    return runner.run(step["run"], **event, MARK=MARK, LC_ALL="C.UTF-8")


@pytest.mark.parametrize("name", GATES)
def test_what_runs_a_pull_requests_code_can_only_read(name):
    workflow = load(name)
    jobs = workflow["jobs"]
    assert (list(workflow[True]), workflow["permissions"]) == (["pull_request"], {})
    assert {job: each["permissions"] for job, each in jobs.items()} == {"gate": {"contents": "read"}}
    (checkout,) = [step["with"] for step in jobs["gate"]["steps"] if "actions/checkout" in step.get("uses", "")]
    assert checkout == {"fetch-depth": 0, "persist-credentials": False}


@pytest.mark.parametrize("name", COMMENTS)
def test_what_may_write_runs_nothing_of_the_pull_request(name):
    workflow = load(name)
    (job,) = workflow["jobs"].values()
    assert workflow[True] == {"workflow_run": {"workflows": ["Gate"], "types": ["completed"]}}
    assert (workflow["permissions"], job["permissions"]) == ({}, {"actions": "read", "pull-requests": "write"})
    assert [list(step) for step in job["steps"]] == [["name", "shell", "env", "run"]]
    assert "${{" not in job["steps"][0]["run"]


def test_this_repository_uses_what_it_gives_to_others():
    ours, theirs = ((ROOT / name).read_text(encoding="utf-8") for name in COMMENTS)
    assert ours == theirs
    assert load(GATES[0])["name"] == load(GATES[1])["name"] == "Gate"
    steps = [[step.get("uses", step.get("run")) for step in load(name)["jobs"]["gate"]["steps"]] for name in GATES]
    assert [pair for pair in zip(*steps, strict=True) if pair[0] != pair[1]] == [
        ("pip install --quiet .", "pip install --quiet sitegen-evals")
    ]


def test_the_gate_fails_and_leaves_its_report_and_the_preview(runner):
    repo = GitRepo(runner.workspace)
    truth = "".join(f"{number},{number}\n" for number in range(12))
    repo.commit({"evals/a/ground_truth.csv": f"id,total\n{truth}", "evals/a/extracted.json": output(0)})
    repo.git("update-ref", "refs/remotes/origin/main", "main")
    repo.commit({"evals/a/extracted.json": output(1)})
    repo.checkout()
    runner.command(runner.bin / "sitegen", f'exec {sys.executable} -m sitegen "$@"')
    steps = load(GATES[1])["jobs"]["gate"]["steps"]
    gate = runner.run(script(steps, "sitegen check"), PYTHONPATH=str(ROOT), GITHUB_BASE_REF="main")
    report = (runner.folder / "gate" / "gate.md").read_text(encoding="utf-8")
    assert (gate.returncode, gate.stderr) == (1, "")
    assert report.startswith("**Evals: fail.** ")
    assert gate.stdout.startswith(report)
    assert "::error file=evals/a/extracted.json," in gate.stdout
    assert runner.run(script(steps, "sitegen build"), PYTHONPATH=str(ROOT)).returncode == 0
    uploads = [step["with"]["path"] for step in steps if "upload-artifact" in step.get("uses", "")]
    assert uploads == ["${{ runner.temp }}/gate", "public"]
    assert (runner.workspace / "public" / "index.html").is_file()


def output(plus: int) -> str:
    return json.dumps([{"id": str(number), "total": number + plus} for number in range(12)])


def test_the_first_report_is_posted_and_a_later_one_takes_its_place(runner, github):
    github.has(number="12\n", report="**Evals: fail.**\n")
    assert post(runner).returncode == 0
    body = f"body=@{runner.folder}/comment.md"
    assert github.asked()[-1] == ["api", "--silent", "--method", "POST", "repos/o/r/issues/12/comments", "-F", body]
    assert (runner.folder / "comment.md").read_text() == f"{MARK}\n**Evals: fail.**\n"
    (runner.folder / "gate" / "gate.md").unlink()
    (runner.folder / "gate").rmdir()
    github.has(earlier="99\n100\n")
    assert post(runner).returncode == 0
    assert github.asked()[-1] == ["api", "--silent", "--method", "PATCH", "repos/o/r/issues/comments/99", "-F", body]


def test_the_pull_request_is_found_by_the_event_whatever_its_branch_is_called(runner, github):
    github.has(number="12\n", report="12345 is another number\n")
    assert post(runner).returncode == 0
    assert github.asked()[0][:7] == ["api", "--method", "GET", "repos/o/r/pulls", "-f", "state=open", "-f"]
    assert github.asked()[0][7] == "head=someone:a$(touch x)"
    assert list(runner.workspace.iterdir()) == []


def test_a_report_of_any_length_fits_into_a_comment(runner, github):
    github.has(number="12\n", report="ü" * 200_000)
    assert post(runner).returncode == 0
    assert (runner.folder / "comment.md").read_text(encoding="utf-8") == f"{MARK}\n{'ü' * 65_000}\n"


@pytest.mark.parametrize("answers", [{"number": "", "report": "text"}, {"number": "12\n"}])
def test_without_a_pull_request_or_a_report_nothing_is_posted(runner, github, answers):
    github.has(**answers)
    done = post(runner)
    assert (done.returncode, done.stderr) == (0, "")
    assert not any("--silent" in words for words in github.asked())
