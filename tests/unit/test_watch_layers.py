"""A watched site in two layers: however it comes about, it is the site of a cold build with the work tree."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from sitegen.errors import ConfigurationError
from sitegen.project import Options
from sitegen.serve.watch import Layers, build_layers
from tests.gitrepo import GitRepo, put
from tests.receipts import EVAL, FIRST, MAPPING, SECOND, TRUTH, write_receipts
from tests.sites import build_site, content

NEWEST = f"{EVAL}/results/iteration-002/extracted.json"
MANIFEST = "evals:\n  receipts:\n    name: Receipts from the till\n"


def write(path: str, text: str) -> Callable[[GitRepo], None]:
    def edit(repo: GitRepo) -> None:
        put(repo.path / path, text)

    return edit


def drop(path: str) -> Callable[[GitRepo], None]:
    return lambda repo: (repo.path / path).unlink()


def rename_instructions(repo: GitRepo) -> None:
    (repo.path / "CLAUDE.md").rename(repo.path / "AGENTS.md")


def rename_eval(repo: GitRepo) -> None:
    (repo.path / EVAL).rename(repo.path / "evals" / "tills")


def commit_all(repo: GitRepo) -> None:
    repo.git("add", "--all")
    repo.git("-c", "user.name=Ann", "-c", "user.email=ann@example.org", "commit", "-q", "-m", "Keep it")


def undo(repo: GitRepo) -> None:
    repo.git("clean", "-qfd")
    repo.git("restore", ".")


EDITS = {
    "an output": write(NEWEST, SECOND.replace("12.5", "13")),
    "an older output": write(f"{EVAL}/results/iteration-001/extracted.json", SECOND),
    "a new output": write(f"{EVAL}/results/iteration-003/extracted.json", FIRST),
    "an output that cannot be read": write(NEWEST, "{"),
    "no output": drop(NEWEST),
    "ground truth": write(f"{EVAL}/ground_truth.csv", TRUTH.replace("12.50", "12.40")),
    "a mapping": write(f"{EVAL}/field_mapping.yaml", MAPPING.replace("total: total", "total: shop")),
    "instructions": write("CLAUDE.md", "Read the receipt. Slowly.\n"),
    "new instructions": write("prompts/tills.md", "A till prints receipts.\n"),
    "instructions under another name": rename_instructions,
    "a manifest": write("evals/manifest.yaml", MANIFEST),
    "a new eval": write("evals/tills/ground_truth.csv", TRUTH),
    "an eval under another name": rename_eval,
    "what no page is made from": write("src/code.py", "print()\n"),
    "the title": write("sitegen.toml", 'title = "Receipts"\n'),
}


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    return write_receipts(tmp_path / "project")


def watched(repo: GitRepo, jobs: int = 1) -> Layers:
    return build_layers(Options(repo=repo.path, jobs=jobs))


def shown(layers: Layers) -> dict[str, bytes]:
    """Every file of a watched site, by path."""
    upper, lower = map(content, layers.folders)
    return {path: body for path, body in (lower | upper).items() if path not in layers.gone}


def cold(repo: GitRepo, folder: Path) -> dict[str, bytes]:
    """Every file of the site that a cold build makes."""
    build_site(repo.path, folder / "cold", worktree=True, jobs=1)
    found = content(folder / "cold")
    shutil.rmtree(folder / "cold")
    shutil.rmtree(folder / "cold-memo")
    return found


@pytest.fixture(scope="module")
def committed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The site of a cold build without an edit."""
    folder = tmp_path_factory.mktemp("committed")
    return cold(write_receipts(folder / "project"), folder)


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_an_edit_its_end_and_its_commit_each_make_the_site_of_a_cold_build(repo, tmp_path, edit, committed):
    assert shown(watched(repo)) == committed
    edit(repo)
    assert shown(watched(repo)) == cold(repo, tmp_path)
    undo(repo)
    assert shown(watched(repo)) == committed
    edit(repo)
    write("CLAUDE.md", "Read the receipt. Hurry.\n")(repo)
    commit_all(repo)
    assert shown(watched(repo)) == cold(repo, tmp_path)


@pytest.mark.parametrize(("limit", "short"), [("reports_kept = 3", 4), ("site_bytes = 1000", 0)])
def test_with_limits_too_the_layers_are_the_site_of_a_cold_build(repo, tmp_path, limit, short):
    for number in range(3, 8):
        write(f"{EVAL}/results/iteration-{number:03}/extracted.json", FIRST.replace("1", str(number)))(repo)
        commit_all(repo)
    write("sitegen.toml", f"[limits]\n{limit}\n")(repo)
    full = cold(repo, tmp_path)
    assert sum(b"Its values were left out" in body for body in full.values()) == short
    assert (b"more than the 1,000 of site_bytes" in full["problems.html"]) == (short == 0)
    assert shown(watched(repo)) == full
    for edit in ("a new output", "an output", "ground truth"):
        EDITS[edit](repo)
        assert shown(watched(repo)) == cold(repo, tmp_path)
    commit_all(repo)
    assert shown(watched(repo)) == cold(repo, tmp_path)
    write("sitegen.toml", "")(repo)
    assert shown(watched(repo)) == cold(repo, tmp_path)


def test_what_is_committed_leaves_the_upper_layer(repo):
    EDITS["an output"](repo)
    before = watched(repo)
    assert "evals/receipts/0002-worktree.html" in content(before.folders[0])
    commit_all(repo)
    after = watched(repo)
    assert sorted(content(after.folders[0])) == ["index.html"]
    assert b"None in what the site is made from" in shown(after)["index.html"]


def test_only_what_an_edit_changed_is_written(repo):
    watched(repo)
    EDITS["an output"](repo)
    layers = watched(repo)
    assert layers.site is not None
    assert layers.site.written == len(content(layers.folders[0])) < len(content(layers.folders[1]))
    again = watched(repo)
    assert again.site is not None
    assert (again.site.written, again.site.removed) == (0, 0)


def test_the_published_site_and_its_memo_are_left_alone(repo):
    build_site(repo.path, repo.path / "public", cache=repo.path / ".sitegen")
    before = content(repo.path / "public"), (repo.path / ".sitegen/memo.sqlite3").read_bytes()
    EDITS["an output"](repo)
    watched(repo)
    assert (content(repo.path / "public"), (repo.path / ".sitegen/memo.sqlite3").read_bytes()) == before


@pytest.mark.parametrize("broken", [("sitegen.toml", "redcat = 1\n"), ("evals/manifest.yaml", "evals: [")])
def test_a_wrong_configuration_leaves_the_last_good_site(repo, broken):
    EDITS["an output"](repo)
    good = shown(watched(repo))
    path, text = broken
    write(path, text)(repo)
    with pytest.raises(ConfigurationError) as caught:
        watched(repo)
    assert str(caught.value.where).startswith(path)
    folder = repo.path / ".sitegen" / "watch"
    assert content(folder / "committed") | content(folder / "uncommitted") == good
    drop(path)(repo)
    assert shown(watched(repo)) == good


def test_a_bare_repository_is_watched_without_an_uncommitted_state(repo, tmp_path):
    repo.git("clone", "-q", "--bare", ".", str(tmp_path / "bare"))
    layers = build_layers(Options(repo=tmp_path / "bare", jobs=1))
    assert b"Uncommitted" not in shown(layers)["index.html"]
