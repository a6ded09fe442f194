"""``sitegen init``: the loop's own files, written where there are none, and never over anything."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from sitegen import __version__
from sitegen.commands.init import discovery_lines, init
from sitegen.config.manifest import manifest_in_force
from sitegen.history.repository import Repository
from sitegen.recognition.files import Discovery, FilesOfHistory, TrackedFile
from sitegen.recognition.initialising import SKELETONS, requirement, source_of, workflows
from sitegen.scoring.rules import compile_rules
from tests.gitrepo import GitRepo, put
from tests.rows import in_table
from tests.sites import content, run

PATHS = [path for _, path in SKELETONS]
ONE_FILE = FilesOfHistory(
    head="", commits=1, boundary=(), met=(TrackedFile(path="README.md", oid="", versions=1, deleted=False),), links=()
)
NOTHING = "".join(f"{row}\n" for row in discovery_lines(Discovery(history=ONE_FILE)))
"""What is said of a project that has neither evals nor instructions."""
NEXT = (
    "next: put a ground_truth.csv and an extracted.json into evals/NAME/, then run sitegen verify-one NAME; "
    "init --skeletons writes files to begin with\n"
)
NO_WORKFLOW = "no workflow: others cannot install this sitegen. init --vendor writes workflows and a wheel of it\n"


@pytest.fixture
def project(repo: GitRepo) -> GitRepo:
    repo.check_in({"README.md": "Ours.\n"}, message="Begin")
    return repo


@pytest.fixture
def installed_from(monkeypatch) -> Callable[[str | None], None]:
    """Sets the address from which sitegen was installed."""
    return lambda address: monkeypatch.setattr("sitegen.recognition.initialising.source", lambda: address)


def test_in_a_project_that_has_nothing_files_to_begin_with_are_written_if_they_are_asked_for(project):
    found = list(workflows(Repository.open(project.path), vendor=False))
    alone = run("init", cwd=project.path).stdout
    assert alone == NOTHING + "".join(f"wrote  {path}\n" for path in found) + ("" if found else NO_WORKFLOW) + NEXT
    assert not {*PATHS} & {*content(project.path)}
    done = run("init", "--skeletons", cwd=project.path)
    assert (done.returncode, done.stderr) == (0, "")
    files = [f"wrote  {path}\n" for path in PATHS] + [f"kept   {path}\n" for path in found]
    assert done.stdout == NOTHING + "".join(files) + ("" if found else NO_WORKFLOW) + NEXT
    assert set(content(project.path)) >= {*PATHS, *found}


COMMIT = "0123456789" * 4


@in_table
def test_only_a_commit_of_a_repository_on_the_web_is_a_source(record, source):
    assert source_of(record) == source


def test_a_workflow_installs_what_wrote_it(project, installed_from):
    origin = f"git+https://example.org/tools/sitegen@{COMMIT}"
    installed_from(origin)
    written = workflows(Repository.open(project.path), vendor=False)
    found = [
        step["run"]
        for name in ("pages", "gate", "gate-comment")
        for job in yaml.safe_load(written[f".github/workflows/{name}.yml"])["jobs"].values()
        for step in job["steps"]
        if "pip install" in step.get("run", "")
    ]
    assert found == [f'pip install --quiet "sitegen-evals @ {origin}"'] * 3


def test_a_clone_that_is_installed_is_its_commit_at_the_web_address_of_its_origin(project):
    record = {"url": project.path.as_uri(), "dir_info": {"editable": True}}
    assert source_of(record) is None
    project.git("remote", "add", "origin", "https://ann:key@example.org/tools/sitegen.git?private_token=key")
    head = project.git("rev-parse", "HEAD")
    assert source_of(record) == f"git+https://example.org/tools/sitegen@{head}"
    (project.path / "inner").mkdir()
    assert source_of({"url": (project.path / "inner").as_uri(), "dir_info": {}}) is None


@pytest.mark.parametrize("published", [False, True])
def test_what_a_workflow_installs_is_always_one_version(monkeypatch, installed_from, published):
    monkeypatch.setattr("sitegen.recognition.initialising.PUBLISHED", published)
    for origin, wanted in (
        (None, f"sitegen-evals=={__version__}" if published else None),
        (f"git+https://example.org/a@{COMMIT}", f"sitegen-evals @ git+https://example.org/a@{COMMIT}"),
    ):
        installed_from(origin)
        assert requirement() == wanted


HOSTS = [
    (None, {}, ".github/workflows/pages.yml"),
    ("git@github.com:ann/shop.git", {".gitlab-ci.yml": ""}, ".github/workflows/pages.yml"),
    ("https://git.example.org/ann/shop", {".github/CODEOWNERS": ""}, ".github/workflows/pages.yml"),
    ("https://gitlab.example.org/ann/shop.git", {}, ".gitlab/sitegen.yml"),
    ("https://git.example.org/ann/shop", {".gitlab-ci.yml": ""}, ".gitlab/sitegen.yml"),
    ("https://codeberg.org/ann/shop.git", {}, "publish-site.sh"),
]


@pytest.mark.parametrize(("origin", "files_", "wanted"), HOSTS)
def test_what_publishes_is_for_the_host_of_the_project(project, installed_from, origin, files_, wanted):
    installed_from(f"git+https://example.org/a@{COMMIT}")
    if origin:
        project.git("remote", "add", "origin", origin)
    for path, text in files_.items():
        put(project.path / path, text)
    assert next(iter(workflows(Repository.open(project.path), vendor=False))) == wanted


def test_without_an_address_workflows_are_written_with_a_wheel_alone_and_init_says_so(project, installed_from, capsys):
    installed_from(None)
    init(project.path)
    assert NO_WORKFLOW in capsys.readouterr().out
    assert not (project.path / ".github").exists()
    init(project.path, vendor=True)
    assert NO_WORKFLOW not in capsys.readouterr().out
    (wheel,) = (project.path / ".github/sitegen").iterdir()
    for name in ("pages", "gate", "gate-comment"):
        text = (project.path / f".github/workflows/{name}.yml").read_text()
        assert f'pip install --quiet "./.github/sitegen/{wheel.name}"' in text


def test_a_pipeline_that_the_project_has_is_left_and_init_says_what_to_include(project):
    project.git("remote", "add", "origin", "https://gitlab.com/ann/shop")
    (project.path / ".gitlab-ci.yml").write_text("test: {script: make}\n")
    done = run("init", "--vendor", project.path)
    assert "in .gitlab-ci.yml, include {local: .gitlab/sitegen.yml}\n" in done.stdout
    assert (project.path / ".gitlab-ci.yml").read_text() == "test: {script: make}\n"
    assert "include {local" not in run("init", "--vendor", project.path).stdout


def test_what_is_there_is_left_as_it_is(project):
    (project.path / "evals").mkdir()
    (project.path / PATHS[0]).write_text("evals: {own: {}}\n")
    (project.path / ".claude" / "agents").mkdir(parents=True)
    (project.path / PATHS[2]).symlink_to("nowhere")
    done = run("init", "--skeletons", project.path)
    told = done.stdout.removeprefix(NOTHING).splitlines()[:3]
    assert told == [f"kept   {PATHS[0]}", f"wrote  {PATHS[1]}", f"kept   {PATHS[2]}"]
    assert (project.path / PATHS[0]).read_text() == "evals: {own: {}}\n"
    assert not (project.path / "nowhere").exists()


def test_a_second_time_changes_nothing(project):
    run("init", "--vendor", "--skeletons", project.path)
    before = content(project.path)
    done = run("init", "--vendor", "--skeletons", project.path)
    (wheel,) = (f".github/sitegen/{path.name}" for path in (project.path / ".github/sitegen").iterdir())
    workflows_ = [f".github/workflows/{name}.yml" for name in ("pages", "gate", "gate-comment")]
    assert done.stdout == NOTHING + "".join(f"kept   {path}\n" for path in (*PATHS, wheel, *workflows_)) + NEXT
    assert content(project.path) == before


def test_a_file_where_a_folder_is_needed_is_an_error_that_says_so(project):
    (project.path / "evals").write_text("not a folder")
    done = run("init", "--skeletons", project.path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "sitegen: A file stands where a folder is needed.\n"
        f"  at: {project.path}/evals\n"
        "  do: Rename it, and run init again.\n"
    )


def test_the_skeletons_are_read_without_a_complaint(project):
    run("init", "--skeletons", project.path)
    manifest = manifest_in_force((project.path / PATHS[0]).read_bytes(), PATHS[0], "evals").value
    _, findings = compile_rules((project.path / PATHS[1]).read_bytes(), "{}")
    assert (manifest.evals, findings) == ((), ())


def test_the_examples_in_the_skeletons_are_right_when_they_are_uncommented(project):
    run("init", "--skeletons", project.path)
    texts = [(project.path / path).read_text() for path in PATHS[:2]]
    manifest, mapping = (text.replace(": {}\n#", ":\n#").replace(": []\n", ": []\n") for text in texts)
    read = manifest_in_force(manifest.replace("\n#  ", "\n  ").encode(), PATHS[0], "evals").value
    _, findings = compile_rules(mapping.replace("\n#  ", "\n  ").encode(), "{}")
    assert ([entry.id for entry in read.evals], findings) == (["receipts"], ())


@in_table
def test_an_agent_is_thin_and_points_to_files_that_are_written_with_it(project, agent, read):
    run("init", "--skeletons", project.path)
    text = (project.path / f".claude/agents/{agent}.md").read_text()
    named = [path for path in PATHS if path.startswith(".claude/instructions/") and path in text]
    assert len(text.splitlines()) < 50
    assert named == [f".claude/instructions/{name}" for name in read]
    assert set(re.findall(r"`(\.claude/\S+)`", text)) == set(named)


def test_the_settings_keep_agents_from_editing_agents_and_ground_truth(project):
    run("init", "--skeletons", project.path)
    settings = json.loads((project.path / ".claude/settings.json").read_bytes())
    assert settings["permissions"]["deny"] == ["Edit(.claude/agents/**)", "Edit(evals/**/ground_truth.*)"]
    assert (project.path / ".claude/instructions/extractors/instructions.md").read_text().startswith("# Extracting, v1")


@pytest.mark.parametrize("vendor", [False, True])
@pytest.mark.parametrize("host", ["github.com", "gitlab.com"])
def test_no_workflow_installs_a_package_without_a_version(project, installed_from, host, vendor):
    installed_from(f"git+https://example.org/a@{COMMIT}")
    project.git("remote", "add", "origin", f"https://{host}/ann/shop")
    written = workflows(Repository.open(project.path), vendor=vendor)
    texts = [text.decode() for path, text in written.items() if path.endswith("yml")]
    installs = [line for text in texts for line in text.splitlines() if "pip install" in line]
    assert len(installs) == {"github.com": 3, "gitlab.com": 1}[host]
    assert all((".whl" if vendor else f"@{COMMIT}") in line for line in installs)


def test_init_says_which_of_its_files_git_ignores(tmp_path: Path):
    project = GitRepo(tmp_path / "shop")
    project.check_in({"CLAUDE.md": "# Rules\n", ".gitignore": "*.whl\n"})
    lines = run("init", "--vendor", project.path).stdout.splitlines()
    (ignored,) = [line for line in lines if line.startswith("git ignores ")]
    wheel = next(line.split()[1] for line in lines if line.endswith(".whl") and line.startswith("wrote"))
    assert ignored == f"git ignores {wheel}, so that neither a build nor a workflow has it: git add -f {wheel}"
    project.git("add", "-f", wheel)
    assert "git ignores" not in run("init", "--vendor", project.path).stdout
