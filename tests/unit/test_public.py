"""``build --public``: a site that may hold secrets ends the build with 1, and the secret itself is never printed."""

import subprocess
import sys
from pathlib import Path

import pytest

from sitegen.errors import ConfigurationError
from sitegen.text.secrets import Detector, Secret
from tests.gitrepo import GitRepo
from tests.sites import run

# In two parts each, or whoever looks for secrets in this repository would find them.
TOKEN = "ghp_" + "x9Q2" * 9
KEY = "sk-ant-" + "api03-" + "Ab1_" * 12
JSON = '{"who": "%s"}'


@pytest.fixture
def project(tmp_path: Path) -> GitRepo:
    repo = GitRepo(tmp_path / "project")
    repo.commit({"CLAUDE.md": "# Rules\n", "evals/a/ground_truth.json": JSON % "Ann"})
    repo.commit({"evals/a/extracted.json": JSON % "Ann"}, message="Extract")
    repo.checkout()
    return repo


def leak(project: GitRepo, text: str) -> None:
    """The model writes what it should not, and later does not."""
    project.commit({"evals/a/extracted.json": JSON % text}, message="Extract again")
    project.commit({"evals/a/extracted.json": JSON % "Ann"}, message="Correct")
    project.checkout()


def test_a_site_without_secrets_passes(project):
    done = run("build", project.path, "--public")
    assert (done.returncode, done.stdout.splitlines()[1]) == (0, f"{project.path}/public/index.html")


def test_a_secret_in_an_old_output_ends_the_build_with_file_line_and_rule_and_is_not_printed(project):
    leak(project, TOKEN)
    done = run("build", project.path, "--public")
    said = done.stderr.partition("sitegen: ")[2]
    assert done.returncode == 1
    assert TOKEN[:12] not in done.stdout + done.stderr
    lines = (project.path / "public/evals/a/0002.html").read_text().splitlines()
    line = next(number for number, text in enumerate(lines, 1) if TOKEN in text)
    assert "look like a secret: the site must not be published.\n" in said
    assert f"evals/a/0002.html:{line} (GitHub Token)\n" in said
    assert said.splitlines()[-1].startswith("  do: Revoke it")


def test_it_is_refused_every_time_until_it_is_gone(project):
    leak(project, TOKEN)
    assert [run("build", project.path, "--public").returncode for _ in range(2)] == [1, 1]
    assert run("build", project.path).returncode == 0
    (project.path / "sitegen.toml").write_text('redact = ["who"]\n')
    assert run("build", project.path, "--public").returncode == 0


def test_what_looks_like_a_secret_and_is_none_can_be_allowed(project):
    leak(project, TOKEN)
    (project.path / "sitegen.toml").write_text(f'[public]\nallow = ["{TOKEN}"]\n')
    assert run("build", project.path, "--public").returncode == 0


def test_files_that_sitegen_did_not_write_are_searched_too(project):
    (project.path / "public").mkdir()
    (project.path / "public/notes.txt").write_text(f"one\n{KEY}\n")
    done = run("build", project.path, "--public", "--force")
    assert done.returncode == 1
    assert "at: notes.txt:2 (Anthropic API Key)\n" in done.stderr


def test_a_file_that_cannot_be_read_ends_the_build(project):
    (project.path / "public").mkdir()
    (project.path / "public/notes.txt").symlink_to("nowhere")
    done = run("build", project.path, "--public", "--force")
    assert (done.returncode, "sitegen: The system says" in done.stderr) == (2, True)


def test_without_the_detector_nothing_is_built(project):
    code = (
        "import sys; sys.modules['detect_secrets'] = None; "
        f"sys.argv = ['sitegen', 'build', {str(project.path)!r}, '--public']; "
        "from sitegen.commands.main import run; run()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-1] == "  do: pip install 'sitegen-evals[public]'"
    assert not (project.path / "public").exists()


def test_a_release_of_the_detector_without_a_rule_is_refused(monkeypatch):
    monkeypatch.setattr("sitegen.text.secrets._DETECTORS", ("NoSuchDetector",))
    with pytest.raises(ConfigurationError, match="NoSuchDetector"):
        Detector()


def test_a_secret_that_markup_divides_is_found():
    html = f"<p>\n<b>{TOKEN[:9]}</b><ins>{TOKEN[9:]}</ins> postgres&#58;//ann&#58;{'hunter' + '2'}@db/x</p>"
    assert Detector().search(html, markup=True) == (Secret(2, "Basic Auth Credentials"), Secret(2, "GitHub Token"))
    assert Detector().search(html, markup=False) == ()


@pytest.mark.parametrize(
    "text",
    [
        "3d3c42e5aac5ba805825da76410c181273ba90b1",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "550e8400-e29b-41d4-a716-446655440000",
        'password = "the name of the field", token: "12345678"',
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4",
        "git@example.org:team/project.git and 203.0.113.7",
    ],
)
def test_hashes_ids_and_words_are_no_secrets(text):
    assert Detector().search(text, markup=True) == ()


def test_the_demonstration_site_holds_none(demo_site):
    detector = Detector()
    found = {
        path.name: secrets
        for path in demo_site.rglob("*")
        if path.is_file()
        and (secrets := detector.search(path.read_text(encoding="utf-8"), markup=path.suffix == ".html"))
    }
    assert found == {}
