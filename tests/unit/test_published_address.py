"""A site under its own address: canonical links where it is known, by the configuration or the command line."""

import json
import re
from pathlib import Path

import pytest

from tests.gitrepo import GitRepo
from tests.sites import build_site, content, differs_from_cold, run

OPTION = "https://owner.github.io/project"


@pytest.fixture
def project(tmp_path: Path) -> GitRepo:
    repo = GitRepo(tmp_path / "project")
    repo.commit({"CLAUDE.md": "# Rules\n", "evals/a/ground_truth.json": '{"who": "Ann"}'})
    repo.commit({"evals/a/extracted.json": '{"who": "Ann"}'}, message='Say "<b>" & more')
    repo.checkout()
    return repo


def addresses(site: Path) -> dict[str, str | None]:
    """The canonical link of each page, by path."""
    pages = {path: text.decode() for path, text in content(site).items() if path.endswith(".html")}
    found = {path: re.search(r'<link rel="canonical" href="([^"]*)">', text) for path, text in pages.items()}
    return {path: link[1] if link else None for path, link in found.items()}


@pytest.mark.parametrize("option", [OPTION, f"{OPTION}/"])
def test_every_page_but_that_for_wrong_addresses_names_its_own(project, tmp_path, option):
    build_site(project.path, tmp_path / "out", base_url=option)
    wanted = {path: f"{OPTION}/{path.removesuffix('index.html')}" for path in addresses(tmp_path / "out")}
    assert addresses(tmp_path / "out") == {**wanted, "404.html": None}


def test_without_an_address_no_page_names_one(project, tmp_path):
    build_site(project.path, tmp_path / "out", base_url="")
    assert set(addresses(tmp_path / "out").values()) == {None}


def test_the_configuration_goes_before_the_option(project, tmp_path):
    (project.path / "sitegen.toml").write_text('base_url = "https://evals.example.org"\n')
    build_site(project.path, tmp_path / "out", base_url=OPTION)
    assert addresses(tmp_path / "out")["index.html"] == "https://evals.example.org/"


def test_another_address_is_on_every_page_at_once(project, tmp_path):
    build_site(project.path, tmp_path / "out")
    build_site(project.path, tmp_path / "out", base_url=OPTION)
    assert differs_from_cold(tmp_path / "out", project.path, base_url=OPTION) == []


def test_what_a_preview_shows_of_a_page_is_escaped(project, tmp_path):
    build_site(project.path, tmp_path / "out", base_url=OPTION)
    (page,) = [
        text
        for path, text in content(tmp_path / "out").items()
        if b"Say &#34;&lt;b&gt;" in text and path.startswith("commits/") and path != "commits/index.html"
    ]
    assert b'<meta property="og:title" content="Say &#34;&lt;b&gt;&#34; &amp; more">' in page


@pytest.mark.parametrize("address", ["owner.github.io/project", "javascript:alert(1)", "https://[", "https://a/?q=1"])
def test_what_is_no_address_of_a_site_is_an_error(project, address):
    done = run("build", project.path, "--base-url", address)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"The base_url {address!r} is not an address of a site." in done.stderr


def test_noindex_is_on_every_page_and_no_robots_txt_hides_it(project, tmp_path):
    (project.path / "sitegen.toml").write_text("noindex = true\n")
    build_site(project.path, tmp_path / "out")
    files = content(tmp_path / "out")
    pages = {path for path in files if path.endswith(".html")}
    assert {path for path in pages if b'<meta name="robots" content="noindex, nofollow">' in files[path]} == pages
    assert "robots.txt" not in files


@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert(1)",
        "JavaScript:alert(1)//https://example.org",
        "data:text/html,x",
        "//example.org/x",
        "https://user:secret@example.org/x",
        "https://example.org/x?private_token=secret",
        "https://example.org/x#y",
        "https://example.org/x\ty",
    ],
)
@pytest.mark.parametrize("key", ["repository_url", "base_url"])
def test_a_project_makes_no_link_but_to_a_web_address_without_secrets(project, key, address):
    (project.path / "sitegen.toml").write_text(f"{key} = {json.dumps(address)}\n")
    done = run("build", project.path)
    assert done.returncode == 0
    pages = [page.read_text(encoding="utf-8") for page in (project.path / "site").rglob("*.html")]
    assert pages
    assert [page for page in pages if "secret@" in page or "token=secret" in page] == []
    assert [page for page in pages if f'href="{address}' in page or f"href={address}" in page] == []


def test_a_token_in_the_address_of_the_remote_is_in_no_file_of_the_site(project, tmp_path):
    project.git("remote", "add", "origin", "https://ann:geheim@example.org/org/repo.git?private_token=geheim#geheim")
    build_site(project.path, tmp_path / "out")
    files = content(tmp_path / "out")
    assert [path for path, body in files.items() if b"geheim" in body] == []
    assert b'<a href="https://example.org/org/repo">Repository</a>' in files["index.html"]
