"""A build deletes and replaces only what a build wrote; everything else in its folder stays, and is named."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from sitegen.engine.output_folder import LIST, content_digest
from sitegen.errors import Notice, OutputFolderError
from sitegen.project import MARKER
from tests.gitrepo import GitRepo, put
from tests.names import MAPPING, TRUTH, output
from tests.sites import build_site, content, differences, differs_from_cold, run

FIRST = {
    "CLAUDE.md": "# Rules\n\nRead well.\n",
    "evals/field_mapping.yaml": MAPPING,
    "evals/names/ground_truth.csv": TRUTH,
    "evals/names/extracted.json": output(3),
}
RENAMED = {
    "evals/names/ground_truth.csv": None,
    "evals/names/extracted.json": None,
    "evals/people/ground_truth.csv": TRUTH,
    "evals/people/extracted.json": output(1),
}


@pytest.fixture
def small(repo: GitRepo) -> GitRepo:
    repo.commit(FIRST)
    return repo


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    done = subprocess.run(["git", *identity, *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


def forget_memo(out: Path) -> None:
    for file in out.with_name(f"{out.name}-memo").iterdir():
        if file.is_file():
            file.unlink()


def test_a_repository_and_files_that_a_user_adds_to_a_site_stay_and_are_named_once(small, tmp_path):
    out = tmp_path / "public"
    build_site(small.path, out)
    git(out, "init", "-q")
    git(out, "add", "--force", ".")
    git(out, "commit", "-q", "-m", "Publish")
    (out / "CNAME").write_text("example.org")
    put(out / "mine" / "notes.txt", "mine")
    (out / "evals" / "names" / "mine.txt").write_text("mine")
    named = r"it stays: 4 files: \.git/, CNAME, evals/names/mine\.txt, mine/$"
    with pytest.warns(Notice, match=named):
        assert build_site(small.path, out).removed == 0
    small.commit(RENAMED)
    assert build_site(small.path, out).removed > 0
    assert git(out, "fsck") == ""
    build_site(small.path, tmp_path / "cold")
    theirs = ["CNAME", "evals/names/mine.txt", "mine/notes.txt"]
    assert [path for path in differences(out, tmp_path / "cold") if not path.startswith(".git/")] == theirs


def test_a_file_that_is_added_to_a_forced_folder_later_stays(small, tmp_path):
    out = tmp_path / "docs"
    put(out / "guide.md", "mine")
    assert run("build", small.path, "-o", out, "--cache", tmp_path / "memo", "--force").returncode == 0
    (out / "later.md").write_text("mine")
    done = run("build", small.path, "-o", out, "--cache", tmp_path / "memo")
    assert (done.returncode, done.stderr.count("later.md"), done.stderr.count("guide.md")) == (0, 1, 0)
    assert run("build", small.path, "-o", out, "--cache", tmp_path / "memo").stderr == "", "it was named once"
    assert ((out / "later.md").read_text(), (out / "guide.md").read_text()) == ("mine", "mine")


def test_a_file_of_the_user_where_a_page_goes_is_replaced_only_if_forced(small, tmp_path):
    out = tmp_path / "docs"
    put(out / "mine.txt", "mine")
    with pytest.warns(Notice):
        build_site(small.path, out, force=True)
    page = out / "evals" / "people" / "index.html"
    put(page, "mine")
    small.commit(RENAMED)
    with pytest.raises(OutputFolderError, match="no build wrote stands where a page goes"):
        build_site(small.path, out)
    assert page.read_text() == "mine"
    with pytest.warns(Notice) as said:
        build_site(small.path, out, force=True)
    found = [str(one.message).partition("wrote, and it ")[2] for one in said]
    assert found == ["stays: 1 file: mine.txt", "was replaced by a page: 1 file: evals/people/index.html"]
    assert page.read_text() != "mine"
    assert (out / "mine.txt").read_text() == "mine"


def test_a_folder_in_the_place_of_a_page_is_refused_by_name(small, tmp_path):
    page = tmp_path / "public" / "evals" / "names" / "index.html"
    page.mkdir(parents=True)
    with pytest.raises(OutputFolderError) as refused:
        build_site(small.path, tmp_path / "public", force=True)
    assert str(refused.value) == (
        f"A folder stands where a page goes.\n  at: {page}\n  do: Move it away, or choose another -o."
    )


def test_without_its_memo_a_build_still_tells_its_own_pages_by_the_list(small, tmp_path):
    out = tmp_path / "public"
    build_site(small.path, out)
    (out / "evals" / "names" / "index.html").write_text("mine, where a page was")
    forget_memo(out)
    small.commit(RENAMED)
    with pytest.warns(Notice, match=r"it stays: 1 file: evals/names/"):
        site = build_site(small.path, out)
    build_site(small.path, tmp_path / "cold")
    assert differences(out, tmp_path / "cold") == ["evals/names/index.html"]
    assert site.removed > 0


def test_without_memo_and_list_no_page_is_replaced_and_force_mends_it(small, tmp_path):
    out = tmp_path / "public"
    build_site(small.path, out)
    forget_memo(out)
    (out / LIST).unlink()
    small.commit(RENAMED)
    before = content(out)
    with pytest.raises(OutputFolderError, match="no build wrote stands where a page goes"):
        build_site(small.path, out)
    assert {path: body for path, body in content(out).items() if path in before} == before
    with pytest.warns(Notice) as said:
        build_site(small.path, out, force=True)
    assert [str(one.message).partition("wrote, and it ")[2][:10] for one in said] == ["stays: 9 f", "was replac"]
    build_site(small.path, tmp_path / "cold")
    assert all(path.startswith("evals/names") or "names" in path for path in differences(out, tmp_path / "cold"))


@pytest.fixture
def of_a_stranger(small: GitRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A site with its list, which another user built."""
    out = tmp_path / "elsewhere"
    with monkeypatch.context() as stranger:
        stranger.setenv("XDG_STATE_HOME", str(tmp_path / "state of a stranger"))
        build_site(small.path, out)
    return out


@pytest.mark.parametrize("committed", [True, False])
def test_the_list_of_a_stranger_deletes_and_replaces_nothing(small, tmp_path, of_a_stranger, committed):
    files = {f"docs/{path}": body for path, body in content(of_a_stranger).items()}
    files |= {f"docs/{name}": (of_a_stranger / name).read_bytes() for name in (MARKER, LIST)}
    small.check_in(RENAMED | (files if committed else {}))
    docs = small.path / "docs"
    if not committed:
        shutil.copytree(of_a_stranger, docs)
    before = content(docs)
    with pytest.raises(OutputFolderError, match="no build wrote stands where a page goes"):
        build_site(small.path, docs, cache=tmp_path / "memo")
    assert {path: body for path, body in content(docs).items() if path in before} == before


def test_a_list_that_names_files_by_their_digests_deletes_none_of_them(small, tmp_path):
    out = tmp_path / "public"
    out.mkdir()
    (out / "LICENSE").write_bytes(b"mine")
    (out / MARKER).write_text(json.dumps({"schema": "sitegen/site/2"}) + "\n")
    (out / LIST).write_text(f"\n{content_digest(b'mine')} LICENSE")
    with pytest.warns(Notice, match="it stays: 1 file: LICENSE"):
        build_site(small.path, out)
    assert (out / "LICENSE").read_bytes() == b"mine"


def test_a_site_that_came_without_its_memo_is_brought_up_to_date(small, tmp_path):
    out = tmp_path / "public"
    build_site(small.path, out)
    small.commit(RENAMED)
    build_site(small.path, out, cache=tmp_path / "another")
    assert differs_from_cold(out, small.path) == []


def test_the_list_does_not_grow_for_ever(small, tmp_path):
    out = tmp_path / "public"
    build_site(small.path, out)
    size = (out / LIST).stat().st_size
    with (out / LIST).open("a") as file:
        file.write(f"{0:032} no-more.html\n" * 10_000)  # as builds of long ago would have left it
    for number in range(2):
        small.commit({"evals/names/ground_truth.csv": TRUTH.replace("Bob", f"Bob{number}")})
        build_site(small.path, out)
    lines = (out / LIST).read_text().split("\n")
    assert (out / LIST).stat().st_size < 3 * size
    assert {line[33:] for line in lines if line} >= content(out).keys()


def test_no_link_below_the_output_is_followed(small, tmp_path):
    out, elsewhere = tmp_path / "public", tmp_path / "elsewhere"
    out.mkdir()
    (elsewhere / "names").mkdir(parents=True)
    (elsewhere / "names" / "index.html").write_text("theirs")
    (out / MARKER).write_text(json.dumps({"schema": "sitegen/site/1", "foreign": []}))
    (out / "evals").symlink_to(elsewhere)
    with pytest.raises(OutputFolderError, match="is a link or a file"):
        build_site(small.path, out)
    assert content(elsewhere) == {"names/index.html": b"theirs"}


@pytest.mark.parametrize("place", ["..", ".", ".git", ".git/x", "evals/../.git/hooks", "bare.git", "bare.git/x/y"])
@pytest.mark.parametrize("force", [True, False])
def test_the_project_and_what_is_gits_own_are_no_output_folder(small, tmp_path, place, force):
    small.checkout()
    git(small.path, "init", "-q", "--bare", "bare.git")
    before = git(small.path, "status", "--porcelain"), sorted(content(tmp_path))
    with pytest.raises(OutputFolderError, match=r"the project itself, or holds it|a folder of git's own"):
        build_site(small.path, small.path / place, force=force, cache=tmp_path / "memo")
    assert (git(small.path, "status", "--porcelain"), sorted(content(tmp_path))) == before


def test_a_link_of_the_project_is_no_output_folder(small, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    small.checkout()
    (small.path / "site").symlink_to(elsewhere)
    done = run("build", small.path, "--cache", tmp_path / "memo")
    assert (done.returncode, "The output folder is a link" in done.stderr) == (2, True)
    assert list(elsewhere.iterdir()) == []
    assert run("build", small.path, "-o", elsewhere, "--cache", tmp_path / "memo").returncode == 0
