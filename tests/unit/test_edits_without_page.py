"""Of many edits of instruction files, the newest have pages, and the others a row on the page of their commit."""

from pathlib import Path

import pytest

from sitegen.engine import timeline
from sitegen.history import history_fold, instructions
from sitegen.pages import links
from tests.gitrepo import GitRepo
from tests.sites import broken_links, build_site, content, differs_from_cold

EDITS_KEPT = 50
OLD = [f"prompts/old/{number:03}.md" for number in range(30)]
NEW = [f"prompts/new/{number:03}.md" for number in range(EDITS_KEPT - 4)]


@pytest.fixture(autouse=True)
def few_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same bounds, but smaller."""
    bounds = {timeline: "EDITS_KEPT", history_fold: "MOST_ADDED", instructions: "MOST_ADDED"}
    for module, name in bounds.items():
        monkeypatch.setattr(module, name, EDITS_KEPT)


def project(folder: Path, manifest: str = "evals: {}") -> GitRepo:
    """With one edit more than have pages and become rows at once."""
    repo = GitRepo(folder)
    repo.commit({**dict.fromkeys(OLD, "Read it.\n"), "evals/manifest.yaml": f'version: "2.0"\n{manifest}\n'})
    repo.commit({**dict.fromkeys(NEW, "Read it all.\n"), "evals/a/ground_truth.json": '{"who": "Ann"}'})
    repo.commit({"evals/a/extracted.json": '{"who": "Ann"}'})
    return repo


def pages(out: Path) -> set[str]:
    """The pages of instruction files and of their edits."""
    return {path for path in content(out) if path.startswith("instructions/") and path != links.instructions()}


def edits(out: Path) -> int:
    return sum(not path.endswith("/index.html") for path in pages(out))


def test_the_newest_edits_and_files_that_an_eval_names_have_pages_and_older_edits_rows_to_which_all_links_lead(
    tmp_path,
):
    repo, out = project(tmp_path / "project", f"evals:\n  a: {{instructions: [{OLD[-2]}]}}"), tmp_path / "site"
    (repo.path / "sitegen.toml").write_text("[limits]\nreports_kept = 10\n")  # which makes them no fewer
    first, *_ = repo.git("rev-list", "--reverse", "HEAD").split()
    build_site(repo.path, out)
    assert edits(out) == EDITS_KEPT + 1
    assert links.instruction(NEW[0]) in pages(out)
    assert links.instruction(OLD[-1]) not in pages(out)
    assert links.instruction(OLD[-2]) in pages(out)
    assert links.edit(OLD[-2], first) not in pages(out)
    assert broken_links(out, fragments=True) == []
    row = links.of_edits(frozenset())["file"](OLD[-1], first)
    assert row.startswith(f"{links.commit(first)}#")
    assert f'href="../{row}"' in (out / links.instructions()).read_text()
    assert f'id="{row.partition("#")[2]}"' in (out / links.commit(first)).read_text()


def test_one_more_edit_and_those_that_turn_pages_into_rows_leave_the_site_of_a_cold_build(tmp_path):
    repo, out = project(tmp_path / "project"), tmp_path / "site"
    build_site(repo.path, out)
    repo.commit({OLD[0]: "Read it twice.\n"})
    site = build_site(repo.path, out)
    assert (site.written < 25, edits(out)) == (True, EDITS_KEPT + 2)
    assert differs_from_cold(out, repo.path) == []
    repo.commit(dict.fromkeys(NEW[:23], "Read all of it.\n"))
    build_site(repo.path, out)
    assert edits(out) == EDITS_KEPT
    assert differs_from_cold(out, repo.path) == []
    assert broken_links(out, fragments=True) == []


def test_more_pages_are_made_if_as_many_reports_are_kept(tmp_path):
    repo, out = project(tmp_path / "project"), tmp_path / "site"
    (repo.path / "sitegen.toml").write_text(f"[limits]\nreports_kept = {EDITS_KEPT + 2}\n")
    build_site(repo.path, out)
    assert edits(out) == len(OLD) + len(NEW)


def test_of_very_many_files_that_one_commit_adds_the_others_are_followed_since_their_next_edits(tmp_path):
    repo, out = project(tmp_path / "project"), tmp_path / "site"
    many = [f"prompts/many/{number:03}.md" for number in range(EDITS_KEPT + 10)]
    repo.commit(dict.fromkeys(many, "Read it all.\n"))
    build_site(repo.path, out)
    assert {path for path in many if links.instruction(path) in pages(out)} == {*many[:EDITS_KEPT]}
    assert f"{len(many)} instruction files in one commit: {EDITS_KEPT} are" in (out / links.problems()).read_text()
    repo.commit({many[-1]: "Read it all.\nTwice.\n", many[-2]: None})
    build_site(repo.path, out)
    assert links.instruction(many[-1]) in pages(out)
    assert links.instruction(many[-2]) not in pages(out)
    assert "2 lines" in (out / links.edit(many[-1], repo.git("rev-parse", "HEAD").strip())).read_text()
    assert differs_from_cold(out, repo.path) == []
