"""The workflows of pull requests: one that runs anything and may write nothing, and one the other way round."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sitegen.questions.gate_markdown import LONGEST_REPORT
from tests.gitrepo import GitRepo
from tests.runner import ROOT, Runner, load, script

GATES = [".github/workflows/gate.yml", "sitegen/recognition/skeletons/gate.yml"]
COMMENTS = [".github/workflows/gate-comment.yml", "sitegen/recognition/skeletons/gate-comment.yml"]
MARK = "<!-- sitegen check -->"
RUN = "https://github.com/o/r/actions/runs/7"
CLOSING = f"\nMade of what [this run]({RUN}) of the code of the pull request says.\n"

GH = r"""
import json, pathlib, sys

here = pathlib.Path(__file__).parent
words = sys.argv[1:]
with open(here / "asked", "a") as log:
    log.write(json.dumps(words) + "\n")
if words[:2] == ["run", "download"]:
    folder = pathlib.Path(words[words.index("--dir") + 1])
    name = {"gate": "gate.json", "comment": "comment.md"}[words[words.index("--name") + 1]]
    answer = here / name
    if not answer.exists():
        sys.exit(1)
    folder.mkdir()
    (folder / name).write_bytes(answer.read_bytes())
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

    def has(self, answers: dict[str, str]) -> None:
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


def write_comment(runner: Runner) -> str:
    """What the first job writes."""
    runner.command(runner.bin / "sitegen", f'exec {sys.executable} -m sitegen "$@"')
    commands = script(load(COMMENTS[1])["jobs"]["write"]["steps"], "sitegen check")
    event = {"GH_REPO": "o/r", "RUN": "7", "ADDRESS": RUN, "GH_TOKEN": "token"}
    done = runner.run(commands, PYTHONPATH=str(ROOT), **event)
    assert done.returncode == 0, done.stderr
    return (runner.folder / "comment" / "comment.md").read_text(encoding="utf-8")


def post(runner: Runner) -> subprocess.CompletedProcess[str]:
    (step,) = load(COMMENTS[1])["jobs"]["post"]["steps"]
    event = {"GH_REPO": "o/r", "GITHUB_RUN_ID": "8", "BRANCH": "someone:a$(touch x)", "COMMIT": "c" * 40}
    return runner.run(step["run"], **event, MARK=MARK)


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
    write, posting = workflow["jobs"]["write"], workflow["jobs"]["post"]
    assert workflow[True] == {"workflow_run": {"workflows": ["Gate"], "types": ["completed"]}}
    assert (workflow["permissions"], posting["permissions"]) == ({}, {"actions": "read", "pull-requests": "write"})
    assert set(write["permissions"].values()) == {"read"}
    assert [list(step) for step in posting["steps"]] == [["name", "shell", "env", "run"]]
    assert not any("${{" in step.get("run", "") for job in (write, posting) for step in job["steps"])
    assert not any("ref" in step.get("with", {}) for step in write["steps"])  # a checkout is of the default branch


def test_this_repository_uses_what_it_gives_to_others():
    ours, theirs = (load(name) for name in COMMENTS)
    assert ours["jobs"]["post"] == theirs["jobs"]["post"]
    assert ours["jobs"]["write"]["steps"][-2:] == theirs["jobs"]["write"]["steps"][-2:]
    assert load(GATES[0])["name"] == load(GATES[1])["name"] == "Gate"
    steps = [[step.get("uses", step.get("run")) for step in load(name)["jobs"]["gate"]["steps"]] for name in GATES]
    assert [pair for pair in zip(*steps, strict=True) if pair[0] != pair[1]] == [
        ("pip install --quiet .", 'pip install --quiet "sitegen-evals"')
    ]


class PullRequest:
    """A fresh clone of a project as a runner checks a pull request out: detached, at its merge into the main branch."""

    def __init__(self, runner: Runner, plus: int) -> None:
        origin = GitRepo(runner.folder / "origin")
        truth = "".join(f"{number},{number}\n" for number in range(12))
        origin.commit({"evals/a/ground_truth.csv": f"id,total\n{truth}", "evals/a/extracted.json": output(0)})
        origin.git("branch", "work")
        origin.commit({"CLAUDE.md": "# Rules\n"}, message="Say more")
        edit = {"evals/a/extracted.json": output(plus), "prompts/a.md": "Read on.\n"}
        origin.commit(edit, message="Try it", branch="work")
        workspace = GitRepo(runner.workspace)
        workspace.git("fetch", "--quiet", str(origin.path), "+refs/heads/*:refs/remotes/origin/*")
        workspace.git("checkout", "--quiet", "--detach", "origin/main")
        author = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")
        workspace.git(*author, "merge", "--quiet", "--no-ff", "-m", "Merge work into main", "origin/work")
        runner.command(runner.bin / "sitegen", f'exec {sys.executable} -m sitegen "$@"')
        self.workspace = workspace
        self._runner = runner
        self._steps = load(GATES[1])["jobs"]["gate"]["steps"]

    def run(self, word: str) -> subprocess.CompletedProcess[str]:
        """The step that says a word."""
        return self._runner.run(script(self._steps, word), PYTHONPATH=str(ROOT), GITHUB_BASE_REF="main")

    def report(self) -> str:
        """What the comment will say; the same as the job's summary."""
        text = (self._runner.folder / "gate" / "gate.md").read_text(encoding="utf-8")
        assert Path(self._runner.environment["GITHUB_STEP_SUMMARY"]).read_text(encoding="utf-8") == text
        return text


def test_a_regression_fails_the_gate_and_leaves_its_report_and_the_preview(runner):
    asked = PullRequest(runner, plus=1)
    gate = asked.run("sitegen check")
    assert gate.returncode == 1
    assert asked.report().startswith("**Evals: fail.** ")
    assert "12 broken" in asked.report()
    assert "prompts/a.md" in asked.report()
    assert "CLAUDE.md" not in asked.report()
    assert gate.stdout == ""
    assert gate.stderr == ""
    assert asked.run("sitegen build").returncode == 0
    steps = load(GATES[1])["jobs"]["gate"]["steps"]
    uploads = [step["with"]["path"] for step in steps if "upload-artifact" in step.get("uses", "")]
    assert uploads == ["${{ runner.temp }}/gate", "${{ runner.temp }}/site"]
    assert (runner.folder / "site" / "index.html").is_file()


def test_a_shallow_clone_fails_the_gate_and_says_what_to_do_in_the_comment_too(runner):
    asked = PullRequest(runner, plus=0)
    head = asked.workspace.git("rev-parse", "HEAD")
    (asked.workspace.path / ".git/shallow").write_text(f"{head}\n", encoding="utf-8")
    gate = asked.run("sitegen check")
    assert gate.returncode == 2
    assert "fetch-depth: 0" in gate.stderr
    assert asked.report().startswith("**Evals: fail.**\n\nThe gate cannot compare. ")
    assert "fetch-depth: 0" in asked.report()


def output(plus: int) -> str:
    return json.dumps([{"id": str(number), "total": number + plus} for number in range(12)])


def hand_over(runner: Runner, github: GitHub, plus: int) -> str:
    """Run the gate of a pull request, give its artifact to what comments, and return its own Markdown."""
    asked = PullRequest(runner, plus)
    asked.run("sitegen check")
    folder = runner.folder / "gate"
    github.has({"gate.json": (folder / "gate.json").read_text(encoding="utf-8")})
    text = (folder / "gate.md").read_text(encoding="utf-8")
    shutil.rmtree(folder)
    return text


@pytest.mark.parametrize("plus", [0, 1])
def test_the_comment_is_written_from_the_json_of_the_gate(runner, github, plus):
    text = hand_over(runner, github, plus)
    assert write_comment(runner) == text + CLOSING


def test_nothing_that_a_fork_wrote_as_text_reaches_the_comment(runner, github):
    evil = "@everyone ![x](https://example.org/x.png) [look](https://example.org) #1"
    hand_over(runner, github, plus=1)
    document = json.loads((github.folder / "gate.json").read_text())
    for one in document["evals"]:
        one["name"] = evil
    github.has({"gate.json": json.dumps({**document, "note": evil}), "gate.md": evil})
    text = write_comment(runner)
    assert text.startswith("**Evals: fail.** ")
    assert "@everyone" not in text
    assert "](https://example.org" not in text
    assert "#1" not in text


@pytest.mark.parametrize("answer", ["", "{}", "Approved, @everyone", '{"schema": "sitegen/gate/1", "passed": true}'])
def test_what_is_no_report_is_not_posted(runner, github, answer):
    github.has({"gate.json": answer})
    assert write_comment(runner) == f"**Evals: no report.** The gate left none that can be read.\n{CLOSING}"


def test_the_first_report_is_posted_and_a_later_one_takes_its_place(runner, github):
    github.has({"number": "12\n", "comment.md": "**Evals: fail.**\n"})
    assert post(runner).returncode == 0
    body = f"body=@{runner.folder}/comment.md"
    assert github.asked()[-1] == ["api", "--silent", "--method", "POST", "repos/o/r/issues/12/comments", "-F", body]
    assert (runner.folder / "comment.md").read_text() == f"{MARK}\n**Evals: fail.**\n"
    shutil.rmtree(runner.folder / "comment")
    github.has({"earlier": "99\n100\n"})
    assert post(runner).returncode == 0
    assert github.asked()[-1] == ["api", "--silent", "--method", "PATCH", "repos/o/r/issues/comments/99", "-F", body]


def test_the_pull_request_is_found_by_the_event_whatever_its_branch_is_called(runner, github):
    github.has({"number": "12\n", "comment.md": "12345 is another number\n"})
    assert post(runner).returncode == 0
    assert github.asked()[0][:7] == ["api", "--method", "GET", "repos/o/r/pulls", "-f", "state=open", "-f"]
    assert github.asked()[0][7] == "head=someone:a$(touch x)"
    assert list(runner.workspace.iterdir()) == []


def test_a_report_of_the_greatest_length_fits_into_a_comment():
    assert LONGEST_REPORT + len(MARK) + len(CLOSING) + 100 <= 65_536  # the address of a run may be longer than here


@pytest.mark.parametrize("answers", [{"number": "", "comment.md": "text"}, {"number": "12\n"}])
def test_without_a_pull_request_or_a_report_nothing_is_posted(runner, github, answers):
    github.has(answers)
    done = post(runner)
    assert (done.returncode, done.stderr) == (0, "")
    assert not any("--silent" in words for words in github.asked())


def test_without_a_report_nothing_is_written(runner, github):
    commands = script(load(COMMENTS[1])["jobs"]["write"]["steps"], "sitegen check")
    done = runner.run(commands, GH_REPO="o/r", RUN="7", ADDRESS=RUN)
    assert (done.returncode, done.stdout) == (0, "There is no report.\n")
    assert not (runner.folder / "comment").exists()
