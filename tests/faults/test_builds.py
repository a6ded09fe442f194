"""However a build comes about, in whatever company and however it ends, the site is the one of a cold build."""

import json
import os
import subprocess
import time
from pathlib import Path
from typing import NamedTuple

import pytest

from sitegen.engine.built_site import Site
from sitegen.errors import Notice
from tests.gitrepo import GitRepo
from tests.names import TRUTH, names_project, output
from tests.rows import in_table
from tests.sites import build_site, clone_bare, content, differences, differs_from_cold, run, start


@pytest.fixture
def small(tmp_path: Path) -> GitRepo:
    return names_project(tmp_path / "project", 3, 1)


class Shorter(NamedTuple):
    """A repository, its site, and what the build of it told."""

    repo: Path
    folder: Path
    site: Site


@pytest.fixture(scope="module")
def shorter(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Shorter:
    """The demonstration after 90 commits, in half the time of all commits."""
    folder = tmp_path_factory.mktemp("shorter")
    repo = clone_bare(demo, folder / demo.name)
    move(repo, revisions(repo)[89])
    site = build_site(repo, folder / "public", jobs=1)
    return Shorter(repo, folder / "public", site)


def revisions(repo: Path) -> list[str]:
    listing = ["git", "-C", str(repo), "rev-list", "--first-parent", "--reverse", "HEAD"]
    return subprocess.run(listing, capture_output=True, text=True, check=True).stdout.split()


def move(repo: Path, sha: str) -> None:
    subprocess.run(["git", "-C", str(repo), "update-ref", "refs/heads/main", sha], check=True)


@pytest.mark.parametrize("every", [1, 47])
def test_any_number_of_increments_ends_with_the_bytes_of_a_cold_build(bare_demo, demo_site, tmp_path, every):
    out = tmp_path / "public"
    line = revisions(bare_demo)
    for sha in [*(line[-4:-1] if every == 1 else line[12:-1:every]), line[-1]]:
        move(bare_demo, sha)
        build_site(bare_demo, out, jobs=1)
    assert differences(out, demo_site) == []


def test_several_processes_write_the_bytes_of_one_with_three_reports_in_each_task(
    demo, demo_site, tmp_path, monkeypatch
):
    monkeypatch.setattr("sitegen.engine.evals.AT_ONCE", 3)
    build_site(demo, tmp_path / "public", jobs=2)
    assert differences(tmp_path / "public", demo_site) == []


def test_a_build_with_nothing_to_do_writes_nothing(shorter):
    again = build_site(shorter.repo, shorter.folder, jobs=1)
    assert again == shorter.site._replace(written=0, unchanged=shorter.site.written)


@in_table
def test_what_is_deleted_or_renamed_is_so_in_the_next_build(case, small, tmp_path, files):
    build_site(small.path, tmp_path / "public")
    small.commit(files)
    build_site(small.path, tmp_path / "public")
    assert differs_from_cold(tmp_path / "public", small.path) == []


def test_deltas_runs_and_commits_with_several_points_are_the_same_in_increments(small, tmp_path):
    here = "evals/names/results/iteration-00"
    runs = {f"{here}1/runs/{number}/extracted.json": output(number) for number in (1, 2, 3)}
    build_site(small.path, tmp_path / "public")
    for files in (
        {f"{here}1/extracted.json": output(1), f"{here}2/extracted.json": output(2), **runs},
        {f"{here}3/extracted.json": output(4), "evals/names/ground_truth.csv": TRUTH.replace("Bob", "Rob")},
        {f"{here}2/runs/1/extracted.json": output(5), "CLAUDE.md": "# Rules\n"},
        {
            f"{here}4/extracted.json": output(1),
            f"{here}5/extracted.json": output(1),
            "evals/names/ground_truth.csv": TRUTH,
        },
    ):
        small.commit(files)
        build_site(small.path, tmp_path / "public")
    assert differs_from_cold(tmp_path / "public", small.path) == []
    assert "Repeated runs" in (tmp_path / "public/evals/names/0001.html").read_text()


def test_runs_that_arrive_later_judge_the_change_on_the_page_of_its_own_commit(small, tmp_path):
    def right(number: int) -> str:
        return json.dumps({f"field {index}": index < number for index in range(12)})

    here = "evals/flags/results/iteration-00"
    own = {"evals/flags/field_mapping.yaml": "{}\n", "evals/flags/ground_truth.json": right(12)}
    small.commit({**own, f"{here}1/extracted.json": right(2)})
    small.commit({f"{here}2/extracted.json": right(10)})
    build_site(small.path, tmp_path / "public")
    page = f"commits/{small.git('rev-parse', '--short=12', 'HEAD')}.html"
    before = (tmp_path / "public" / page).read_text()
    runs = {f"{here}2/runs/{number}/extracted.json": right(2 + number % 2 * 8) for number in range(6)}
    small.commit(runs)
    build_site(small.path, tmp_path / "public")
    build_site(small.path, tmp_path / "cold")
    assert differences(tmp_path / "public", tmp_path / "cold") == []
    assert "vary as much" not in before
    assert "vary as much" in (tmp_path / "cold" / page).read_text()


def test_another_name_of_the_revision_writes_only_what_shows_the_name(small, tmp_path):
    out, sha = tmp_path / "public", small.git("rev-parse", "HEAD")
    build_site(small.path, out, rev="HEAD~1")
    for rev in ("HEAD", sha, "main"):
        before = content(out)
        site = build_site(small.path, out, rev=rev)
        assert build_site(small.path, out, rev=rev).written == 0
        build_site(small.path, tmp_path / rev, rev=rev)
        assert differences(out, tmp_path / rev) == []
    changed = {path for path, here in content(out).items() if before[path] != here}
    assert changed == {"data/index.json", "index.html", "problems.html"}
    assert site.written == len(changed) < site.written + site.unchanged < len(before)  # the rest is not looked at


def test_one_more_commit_writes_its_own_pages_and_the_few_that_list_them(small, tmp_path):
    out = tmp_path / "public"
    build_site(small.path, out)
    before = content(out)
    sha = small.commit({"evals/names/extracted.json": output(2)}, message="Third run")
    build_site(small.path, out)
    after = content(out)
    changed = {path for path in after if before.get(path) != after[path]}
    assert changed == {
        *(f"commits/{sha[:12]}.html", "commits/index.html", "badges/names.json", "badges/names.svg"),
        *("data/evals/names.csv", "data/evals/names.json", "data/index.json"),
        *("evals/names/0003.html", "evals/names/compare.html", "evals/names/fields/total.html"),
        *("evals/names/index.html", "fields.html", "index.html", "instructions/index.html"),
        *("problems.html", "regressions.html", "search/0.js", "search/values-names.js", "summary.md"),
    }


def test_rewritten_history_leaves_no_page_of_the_old_one(small, tmp_path):
    out, head = tmp_path / "public", small.git("rev-parse", "HEAD")
    build_site(small.path, out, jobs=1)
    before = content(out)
    small.commit({"evals/names/results/iteration-099/extracted.json": "{}"}, parent="HEAD~1")
    build_site(small.path, out, jobs=1)
    assert differs_from_cold(out, small.path) == []
    move(small.path, head)
    build_site(small.path, out, jobs=1)
    assert content(out) == before


@pytest.mark.parametrize("files", [1, 60, 300])
def test_a_killed_build_leaves_whole_pages_and_the_next_one_makes_the_site_right(shorter, tmp_path, files):
    """Killed as soon as it has written so many files of the site or of the memo."""
    out, memo = tmp_path / "public", tmp_path / "memo"
    build = start("build", shorter.repo, "-o", out, "--cache", memo, "--jobs", "2", stdout=subprocess.PIPE)
    while build.poll() is None and sum(len(names) for *_, names in os.walk(tmp_path)) < files:
        time.sleep(0.02)
    build.kill()
    build.communicate()  # until its workers have noticed, and ended
    halves = [path for path in out.rglob("*.html") if not path.read_bytes().rstrip().endswith(b"</html>")]
    assert halves == []
    assert run("build", shorter.repo, "-o", out, "--cache", memo).returncode == 0
    assert differences(out, shorter.folder) == []


def test_builds_of_one_folder_and_of_another_at_once_share_a_memo_and_do_not_harm_each_other(shorter, tmp_path):
    builds = [
        start("build", shorter.repo, "-o", tmp_path / name, "--cache", tmp_path / "memo")
        for name in ("one", "one", "other")
    ]
    assert [each.wait() for each in builds] == [0, 0, 0]
    assert differences(tmp_path / "one", shorter.folder) == []
    assert differences(tmp_path / "other", shorter.folder) == []


def test_two_folders_that_are_built_in_turn_each_stay_right(small, tmp_path):
    memo = tmp_path / "memo"
    one, two = tmp_path / "one", tmp_path / "two"
    build_site(small.path, one, cache=memo)
    small.commit({"evals/names/extracted.json": output(2)})
    build_site(small.path, two, cache=memo)
    small.commit({"evals/names/extracted.json": output(1)})
    build_site(small.path, one, cache=memo)
    build_site(small.path, two, cache=memo)
    build_site(small.path, tmp_path / "cold")
    assert differences(one, tmp_path / "cold") == []
    assert differences(two, tmp_path / "cold") == []


@pytest.mark.parametrize("name", ["0001.html", "compare-0.js"])
def test_a_page_that_somebody_deleted_comes_back_and_so_does_a_file_that_a_page_loads(
    small, tmp_path, monkeypatch, name
):
    monkeypatch.setattr("sitegen.pages.compare_cells.BOUND", 600)
    out = tmp_path / "public"
    build_site(small.path, out, jobs=1)
    (out / "evals" / "names" / name).unlink()
    build_site(small.path, out, jobs=1)
    assert differs_from_cold(out, small.path) == []


def test_a_page_that_somebody_edited_in_place_is_mended_if_asked_for(small, tmp_path):
    out = tmp_path / "public"
    build_site(small.path, out)
    for page in (out / "index.html", out / "evals" / "names" / "0001.html"):
        with page.open("ab") as file:
            file.write(b"edited")
    assert build_site(small.path, out).written == 0, "folders do not show that a file in them was edited"
    assert build_site(small.path, out, force=True).written == 2
    assert differs_from_cold(out, small.path) == []
    assert build_site(small.path, out).written == 0


def test_a_memo_that_is_gone_costs_time_and_nothing_else(small, tmp_path):
    out = tmp_path / "public"
    build_site(small.path, out)
    (out / "left-over.html").write_text("of a version long ago")
    for file in (tmp_path / "public-memo").iterdir():
        if file.is_file():
            file.unlink()
    with pytest.warns(Notice, match=r"no build wrote, and it stays: 1 file: left-over\.html"):
        site = build_site(small.path, out)
    build_site(small.path, tmp_path / "cold")
    assert (site.written, site.removed) == (0, 0)
    assert differences(out, tmp_path / "cold") == ["left-over.html"]


def test_a_renamed_eval_leaves_its_old_address(small, tmp_path):
    out = tmp_path / "public"
    build_site(small.path, out)
    small.commit(
        {
            "evals/names/ground_truth.csv": None,
            "evals/names/extracted.json": None,
            "evals/people/ground_truth.csv": TRUTH,
            "evals/people/extracted.json": output(1),
        },
        message="Rename",
    )
    build_site(small.path, out)
    assert differs_from_cold(out, small.path) == []
    assert sorted(path.name for path in (out / "evals").iterdir()) == ["people"]
    assert (out / "evals" / "people" / "0001.html").exists()


def test_a_build_never_changes_the_project(small, tmp_path):
    small.checkout()
    before = (small.git("status", "--porcelain"), small.git("for-each-ref"), content(small.path / "evals"))
    index = (small.path / ".git" / "index").read_bytes()
    build_site(small.path, tmp_path / "public")
    after = (small.git("status", "--porcelain"), small.git("for-each-ref"), content(small.path / "evals"))
    assert after == before
    assert (small.path / ".git" / "index").read_bytes() == index


def test_one_more_commit_reads_no_style_script_or_picture(small, tmp_path, monkeypatch):
    build_site(small.path, tmp_path / "more", jobs=1)
    small.commit({"evals/names/extracted.json": output(2)})
    with monkeypatch.context() as patched:
        patched.setattr(
            "sitegen.engine.worker_context.Renderer.assets", lambda renderer: pytest.fail("assets were read")
        )
        build_site(small.path, tmp_path / "more", jobs=1)
    assert differs_from_cold(tmp_path / "more", small.path) == []
