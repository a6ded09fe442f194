"""The workflows: pinned, with the least permissions, and their commands run as a runner runs them."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from tests.gitrepo import GitRepo
from tests.runner import ROOT, Runner, load, script
from tests.sites import content, run

FILES = [
    *("action.yml", ".github/workflows/ci.yml", ".github/workflows/pages.yml"),
    *("sitegen/recognition/skeletons/pages.yml", ".github/workflows/gate.yml"),
    *("sitegen/recognition/skeletons/gate.yml", ".github/workflows/gate-comment.yml"),
    "sitegen/recognition/skeletons/gate-comment.yml",
]
PUBLISHING = FILES[2:4]
PIN = re.compile(r"uses: (actions/[a-z-]+)@([0-9a-f]{40}) # (v\d+\.\d+\.\d+)\n")


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    """With a fresh clone of a project, whole."""
    repo = GitRepo(tmp_path / "project")
    repo.commit({"CLAUDE.md": "# Rules\n", "evals/a/ground_truth.json": '{"who": "Ann"}'})
    repo.commit({"evals/a/extracted.json": '{"who": "Ann"}'}, message="Extract")
    clone = tmp_path / "workspace"
    subprocess.run(["git", "clone", "--quiet", str(repo.path), str(clone)], check=True, capture_output=True)
    return Runner(tmp_path / "runner", clone)


def inputs(**given: str) -> dict[str, str]:
    """The environment of the action's steps, from its inputs."""
    action = load("action.yml")
    values = {name: str(each["default"]) for name, each in action["inputs"].items()} | given
    return {
        name: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda match: values[match[1]], text)
        for step in action["runs"]["steps"]
        for name, text in step.get("env", {}).items()
    }


@pytest.mark.parametrize("name", FILES)
def test_every_action_is_pinned_to_a_commit_and_says_its_version(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    used = [line for line in text.splitlines() if "uses: " in line and "uses: ./" not in line]
    assert len(used) == len(PIN.findall(text)) > 0


def test_an_action_is_of_one_version_everywhere():
    pins = {pin for name in FILES for pin in PIN.findall((ROOT / name).read_text(encoding="utf-8"))}
    assert len(pins) == len({action for action, _, _ in pins})


@pytest.mark.parametrize("name", PUBLISHING)
def test_publishing_fetches_all_history_and_writes_to_pages_alone(name):
    workflow = load(name)
    jobs = workflow["jobs"]
    assert (workflow["permissions"], workflow["concurrency"]["group"]) == ({}, "pages")
    assert {job: each["permissions"] for job, each in jobs.items()} == {
        "build": {"contents": "read", "pages": "read"},
        "deploy": {"pages": "write", "id-token": "write"},
    }
    (checkout,) = [step["with"] for step in jobs["build"]["steps"] if "actions/checkout" in step.get("uses", "")]
    assert checkout == {"fetch-depth": 0, "persist-credentials": False}
    assert not any("run" in step for step in jobs["deploy"]["steps"])


def test_every_supported_python_runs_all_tests_and_the_wheel_those_that_need_no_checkout():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = re.findall(r"Python :: (3\.\d+)", " ".join(project["classifiers"]))
    jobs = load(".github/workflows/ci.yml")["jobs"]
    assert jobs["test"]["strategy"]["matrix"]["python"] == named
    assert jobs["test"]["steps"][-1]["run"] == "make test PYTHON=python"
    held = script(jobs["wheel"]["steps"], "pytest")
    folders = re.findall(r"tests/\w+", held)
    assert held.startswith("rm -r sitegen site_templates\n")
    found = (folders, [folder for folder in folders if not (ROOT / folder).is_dir()])
    assert found == (["tests/golden", "tests/scoring", "tests/property", "tests/faults"], [])


def test_the_action_builds_what_the_command_line_builds_and_tells_the_runner(runner):
    runner.command(runner.folder / "sitegen/bin/sitegen", f'exec {sys.executable} -m sitegen "$@"')
    steps = load("action.yml")["runs"]["steps"]
    told = inputs(strict="true", public="true", base_url="https://owner.github.io/project")
    done = runner.run(script(steps, 'sitegen" build'), PYTHONPATH=str(ROOT), **told)
    assert done.returncode == 0, done.stderr
    page = (runner.workspace / "site/evals/a/index.html").read_text()
    assert '<link rel="canonical" href="https://owner.github.io/project/evals/a/">' in page
    summary = Path(runner.environment["GITHUB_STEP_SUMMARY"]).read_text()
    assert summary == "".join(f"    {line}\n" for line in done.stdout.splitlines())
    assert done.stdout.startswith("2 commits, 1 eval, 1 iteration; ")
    assert Path(runner.environment["GITHUB_OUTPUT"]).read_text() == "folder=site\n"
    assert (runner.folder / "sitegen-memo/memo.sqlite3").is_file()
    again = runner.run(script(steps, 'sitegen" build'), PYTHONPATH=str(ROOT), **told)
    assert " 0 files written" in again.stdout


@pytest.mark.parametrize("name", ["action.yml", "sitegen/recognition/skeletons/pages.yml"])
def test_what_a_build_prints_is_no_markdown_in_the_summary_of_a_job(runner, name):
    hostile = "![x](http:e) <img src=x> @org: 9 of 10 errors come down to rounding\n```\n-n\n\\n # title\n"
    (runner.folder / "lines").write_text(hostile)
    for program in (runner.bin / "sitegen", runner.folder / "sitegen/bin/sitegen"):
        runner.command(program, f"cat {runner.folder}/lines; exit 3")
    loaded = load(name)
    steps = loaded["runs"]["steps"] if "runs" in loaded else loaded["jobs"]["build"]["steps"]
    done = runner.run(script(steps, "GITHUB_STEP_SUMMARY"), **inputs())
    assert (done.returncode, done.stdout) == (3, hostile)
    summary = Path(runner.environment["GITHUB_STEP_SUMMARY"]).read_text()
    assert summary == "".join(f"    {line}\n" for line in hostile.splitlines())


def test_the_action_fails_with_the_build_and_names_no_folder(runner):
    runner.command(runner.folder / "sitegen/bin/sitegen", "echo '1 error'; exit 3")
    done = runner.run(script(load("action.yml")["runs"]["steps"], 'sitegen" build'), **inputs(strict="true"))
    assert (done.returncode, done.stdout) == (3, "1 error\n")
    assert not Path(runner.environment["GITHUB_OUTPUT"]).exists()


def test_the_action_installs_its_own_checkout(runner):
    pip = runner.folder / "sitegen/bin/pip"
    runner.command(runner.bin / "python", f'echo "$@" > {runner.folder}/venv')
    runner.command(pip, f'echo "$@" > {runner.folder}/installed')
    done = runner.run(script(load("action.yml")["runs"]["steps"], "pip"), **inputs())
    assert (done.returncode, done.stderr) == (0, "")
    assert (runner.folder / "venv").read_text() == f"-m venv {runner.folder}/sitegen\n"
    assert (runner.folder / "installed").read_text() == f"install --quiet {ROOT}\n"


def initialised(folder: Path, origin: str) -> GitRepo:
    """A project with another main branch and a folder public/, after ``init --vendor``, committed as it was written."""
    repo = GitRepo(folder)
    repo.commit({"CLAUDE.md": "# Rules\n", "public/next.svg": "<svg/>", "evals/a/ground_truth.json": '{"who": "Ann"}'})
    repo.commit({"evals/a/extracted.json": '{"who": "Ann"}'}, message="Extract")
    repo.git("branch", "--quiet", "-m", "trunk")
    repo.git("remote", "add", "origin", origin)
    repo.checkout()
    done = run("init", "--vendor", cwd=repo.path)
    assert done.stdout.splitlines()[-1] == "next: review these files, commit them, then run sitegen build"
    repo.git("add", "--all")
    repo.git("-c", "user.name=Ann", "-c", "user.email=ann@example.org", "commit", "--quiet", "-m", "Publish")
    return repo


def cloned(repo: GitRepo, folder: Path) -> Runner:
    """A runner with a fresh clone."""
    subprocess.run(["git", "clone", "--quiet", str(repo.path), str(folder / "clone")], check=True, capture_output=True)
    return Runner(folder / "runner", folder / "clone")


def test_the_workflow_of_init_publishes_a_site_without_being_edited(tmp_path):
    runner = cloned(initialised(tmp_path / "project", "git@github.com:ann/shop.git"), tmp_path)
    home = runner.installs()
    workflow = yaml.safe_load((runner.workspace / ".github/workflows/pages.yml").read_text())
    assert workflow[True]["push"] == {"branches": ["trunk"]}
    address = "https://ann.github.io/shop"
    known = {"github_ref_name": "trunk", "github_sha": "1", "steps_pages_outputs_base_url": address}
    given = runner.job(workflow["jobs"]["build"]["steps"], **known)
    assert given["checkout"]["fetch-depth"] == "0"
    assert (home / "sitegen/site_templates/base.html").is_file()
    site = Path(given["upload-pages-artifact"]["path"])
    assert {"index.html", "404.html", ".nojekyll"} <= content(site).keys()
    assert 'href="/shop/assets/app.css"' in (site / "404.html").read_text()
    assert (Path(given["cache"]["path"]) / "memo.sqlite3").is_file()
    assert f'<link rel="canonical" href="{address}/evals/a/">' in (site / "evals/a/index.html").read_text()


def test_the_gate_of_init_judges_a_branch_without_being_edited(tmp_path):
    runner = cloned(initialised(tmp_path / "project", "git@github.com:ann/shop.git"), tmp_path)
    runner.installs()
    runner.environment["GITHUB_BASE_REF"] = "trunk"
    workflow = yaml.safe_load((runner.workspace / ".github/workflows/gate.yml").read_text())
    given = runner.job(workflow["jobs"]["gate"]["steps"])
    assert (runner.folder / "gate/gate.md").read_text().startswith("**Evals: pass.**")
    assert (Path(given["upload-artifact"]["path"]) / "index.html").is_file()


def test_the_pipeline_of_init_publishes_a_site_without_being_edited(tmp_path):
    runner = cloned(initialised(tmp_path / "project", "https://gitlab.com/ann/shop.git"), tmp_path)
    runner.installs()
    pipeline = yaml.safe_load((runner.workspace / ".gitlab-ci.yml").read_text())
    (included,) = (runner.workspace / each["local"] for each in pipeline["include"])
    job = yaml.safe_load(included.read_text())["pages"]
    address = "https://ann.gitlab.io/shop"
    done = runner.run("\n".join(job["script"]), CI_PROJECT_DIR=str(runner.workspace), CI_PAGES_URL=address)
    assert done.returncode == 0, done.stderr
    (site,) = (runner.workspace / path for path in job["artifacts"]["paths"])
    assert f'<link rel="canonical" href="{address}/evals/a/">' in (site / "evals/a/index.html").read_text()
    assert not (site / "next.svg").exists()
    assert job["variables"]["GIT_DEPTH"] == "0"


def test_the_script_of_init_copies_a_site_to_a_server_without_what_only_sitegen_reads(tmp_path):
    repo = initialised(tmp_path / "project", "https://codeberg.org/ann/shop.git")
    runner = Runner(tmp_path / "runner", repo.path)
    runner.command(runner.bin / "sitegen", f'PYTHONPATH={ROOT} exec {sys.executable} -m sitegen "$@"')
    runner.command(runner.bin / "rsync", f'echo "$@" > {runner.folder}/asked')
    done = runner.run("sh publish-site.sh ann@example.org:/var/www/evals")
    assert done.returncode == 0, done.stderr
    asked = (runner.folder / "asked").read_text().split()
    assert asked[-2:] == ["site/", "ann@example.org:/var/www/evals/"]
    assert {"--delete", "--exclude=.sitegen*", "--exclude=.gitignore"} <= set(asked)
    assert (repo.path / "site/evals/a/index.html").is_file()
    assert "Say where to" in runner.run("sh publish-site.sh").stderr
