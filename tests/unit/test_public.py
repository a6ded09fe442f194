"""``build --public``: a site that may hold secrets ends the build with 1, and the secret itself is never printed."""

from pathlib import Path

import pytest

from sitegen import api
from sitegen.errors import SecretsError
from sitegen.project import MARKER, Options
from sitegen.questions.public import PublicCheck
from sitegen.text.secrets import Detector
from tests.gitrepo import GitRepo, put
from tests.sites import build_site, differences, run

# In two parts each, or whoever looks for secrets in this repository would find them.
TOKEN = "gh" + "p_" + "x9Q2" * 9
KEY = "sk-" + "ant-api03-" + "Ab1_" * 12
JSON = '{"who": "%s"}'


@pytest.fixture
def project(repo: GitRepo) -> GitRepo:
    repo.commit({"CLAUDE.md": "# Rules\n", "evals/a/ground_truth.json": JSON % "Ann"})
    repo.check_in({"evals/a/extracted.json": JSON % "Ann"}, message="Extract")
    return repo


def leak(project: GitRepo, text: str) -> None:
    """The model writes what it should not, and later does not."""
    project.commit({"evals/a/extracted.json": JSON % text}, message="Extract again")
    project.check_in({"evals/a/extracted.json": JSON % "Ann"}, message="Correct")


def test_a_site_without_secrets_passes(project):
    done = run("build", project.path, "--public")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, f"{project.path}/site/index.html")


def test_a_secret_in_an_old_output_ends_the_build_with_file_line_and_rule_and_is_not_printed(project):
    leak(project, TOKEN)
    run("build", project.path)
    lines = (project.path / "site/evals/a/0002.html").read_text().splitlines()
    line = next(number for number, text in enumerate(lines, 1) if TOKEN in text)
    done = run("build", project.path, "--public")
    said = done.stderr.partition("sitegen: ")[2]
    assert (done.returncode, done.stdout) == (1, "")
    assert TOKEN[:12] not in done.stderr
    assert "look like a secret: the site must not be published. It was deleted from the output folder.\n" in said
    assert f"evals/a/0002.html:{line} (GitHub Token)\n" in said
    assert said.splitlines()[-1].startswith("  do: Revoke the secret")


def test_a_redact_glob_that_fits_nothing_is_refused_and_the_site_deleted(project):
    (project.path / "sitegen.toml").write_text('redact = ["whom"]\n')
    plain = run("build", project.path)
    assert (plain.returncode, "1 warning" in plain.stdout) == (0, True)
    for _ in range(2):
        done = run("build", project.path, "--public")
        assert (done.returncode, done.stdout) == (1, "")
        assert "sitegen: Under redact, 'whom' fits no field of any output or ground truth" in done.stderr
        assert sorted(path.name for path in (project.path / "site").iterdir()) == [".gitignore", MARKER]
    (project.path / "sitegen.toml").write_text('redact = ["who"]\n')
    assert run("build", project.path, "--public").returncode == 0


def test_a_redact_glob_that_fits_nothing_is_refused_in_a_notebook_too(project):
    (project.path / "sitegen.toml").write_text('redact = ["whom"]\n')
    with pytest.raises(SecretsError, match="'whom' fits no field"):
        api.build(project.path, public=True)
    assert left(project.path / "site") == [".gitignore", MARKER]


def left(folder: Path) -> list[str]:
    """What stands in an output folder."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


def test_a_secret_is_refused_every_time_until_it_is_gone_and_nothing_of_the_site_stays_in_the_folder(project):
    out = project.path / "site"
    assert run("build", project.path, "--public").returncode == 0
    leak(project, TOKEN)
    assert [run("build", project.path, "--public").returncode for _ in range(2)] == [1, 1]
    assert left(out) == [".gitignore", MARKER]
    project.path.joinpath("sitegen.toml").write_text('redact = ["who"]\n')
    assert run("build", project.path, "--public").returncode == 0
    build_site(project.path, project.path / "cold")
    assert differences(out, project.path / "cold") == []


def test_files_of_others_stay_where_a_site_is_refused(project):
    out = project.path / "site"
    put(out / "notes.txt", "one")
    leak(project, TOKEN)
    assert run("build", project.path, "--public", "--force").returncode == 1
    assert left(out) == [MARKER, "notes.txt"]
    assert run("build", project.path).returncode == 0


def test_a_secret_in_a_file_of_others_deletes_nothing(project):
    assert run("build", project.path).returncode == 0
    before = left(project.path / "site")
    (project.path / "site/notes.txt").write_text(TOKEN)
    gate = PublicCheck(Options(project.path))
    with pytest.raises(SecretsError) as refused:
        gate.check(unmatched_redactions=())
    assert refused.value.where == "notes.txt:1 (GitHub Token)"
    assert left(project.path / "site") == sorted([*before, "notes.txt"])


def test_what_looks_like_a_secret_and_is_none_can_be_allowed(project):
    leak(project, TOKEN)
    (project.path / "sitegen.toml").write_text(f'[public]\nallow = ["{TOKEN}"]\n')
    assert run("build", project.path, "--public").returncode == 0


def test_files_that_sitegen_did_not_write_are_searched_too(project):
    put(project.path / "site/notes.txt", f"one\n{KEY}\n")
    done = run("build", project.path, "--public", "--force")
    assert done.returncode == 1
    assert "at: notes.txt:2 (Anthropic API Key)\n" in done.stderr


def test_a_file_that_cannot_be_read_ends_the_build(project):
    (project.path / "site").mkdir()
    (project.path / "site/notes.txt").symlink_to("nowhere")
    done = run("build", project.path, "--public", "--force")
    assert (done.returncode, "sitegen: The system says" in done.stderr) == (2, True)


def test_a_secret_that_markup_divides_is_found():
    html = f"<p>\n<b>{TOKEN[:9]}</b><ins>{TOKEN[9:]}</ins> postgres&#58;//ann&#58;{'hunter' + '2'}@db/x</p>"
    assert Detector().search(html, markup=True) == ((2, "Basic Auth Credentials"), (2, "GitHub Token"))
    assert Detector().search(html, markup=False) == ()


def test_the_demonstration_site_holds_none(demo_site):
    detector = Detector()
    found = {
        path.name: secrets
        for path in demo_site.rglob("*")
        if path.is_file()
        and (secrets := detector.search(path.read_text(encoding="utf-8"), markup=path.suffix == ".html"))
    }
    assert found == {}
