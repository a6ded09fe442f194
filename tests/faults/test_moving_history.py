"""Commit by commit, a site is the one that is built at once, whatever moves in the history."""

from __future__ import annotations

import pytest

from tests.gitrepo import Content
from tests.moving_history import MovingHistory
from tests.rows import in_table
from tests.sites import build_site, differences, differs_from_cold

COMMITS = 12


@pytest.mark.parametrize(("seed", "together"), [(1, 1), (3, 1), (206, 3), (423, 3)])
def test_a_site_built_after_every_few_commits_is_the_one_that_is_built_at_once(tmp_path, seed, together):
    history = MovingHistory(tmp_path / "project", seed)
    for number in range(COMMITS // together):
        said = [history.commit() for _ in range(together)][-1]
        build_site(history.repo.path, tmp_path / "out", jobs=1)
        cold = tmp_path / f"cold-{number}"
        build_site(history.repo.path, cold, jobs=1)
        differing = differences(tmp_path / "out", cold)
        assert differing == [], history.repo.git("log", "--oneline", said)


def test_a_new_instruction_file_in_the_place_of_one_that_was_renamed_since_the_last_build(repo, tmp_path):
    repo.commit({"evals/shop/ground_truth.json": '{"x": 1}', "AGENTS.md": "Read every line of the bill.\n" * 9})
    build_site(repo.path, tmp_path / "out", jobs=1)
    repo.commit({"AGENTS.md": None, "CLAUDE.md": "Read every line of the bill.\n" * 9})
    repo.commit({"AGENTS.md": "Another file.\n", "evals/shop/extracted.json": '{"x": 2}'})
    build_site(repo.path, tmp_path / "out", jobs=1)
    assert differs_from_cold(tmp_path / "out", repo.path) == []
    repo.commit({"CLAUDE.md": "Read each line of the bill.\n" * 9})  # and AGENTS.md is a former path of this file
    build_site(repo.path, tmp_path / "out", jobs=1)
    assert differs_from_cold(tmp_path / "out", repo.path) == []


def test_a_history_follows_from_its_seed(tmp_path):
    heads = set()
    for name in ("one", "two"):
        history = MovingHistory(tmp_path / name, seed=7)
        heads.add([history.commit() for _ in range(5)][-1])
    assert len(heads) == 1


TRUTH, RUN = '{"x": 1, "y": 2}', "results/iteration-001/extracted.json"
SHOP = {"evals/shop/ground_truth.json": TRUTH, f"evals/shop/{RUN}": '{"x": 1, "y": 3}', "CLAUDE.md": "Read.\n"}
TO_STORE: dict[str, Content] = {
    **dict.fromkeys(path for path in SHOP if "shop" in path),
    **{path.replace("shop", "store"): content for path, content in SHOP.items() if "shop" in path},
}


@in_table
def test_pages_of_commits_name_the_eval_that_a_folder_belonged_to_then_whatever_comes_into_it_after_a_rename(
    case, repo, tmp_path, later
):
    shas = []
    commits: list[dict[str, Content]] = [{**SHOP}, TO_STORE, later]
    for files in commits:
        shas.append(repo.commit(files))
        build_site(repo.path, tmp_path / "out", jobs=1, cache=tmp_path / "memo")
        assert differs_from_cold(tmp_path / "out", repo.path) == []
    pages = [(tmp_path / "out" / "commits" / f"{sha[:12]}.html").read_text() for sha in shas]
    assert ["../evals/store/index.html" in page for page in pages] == [True, True, False]


GUIDE = "".join(f"## Part {number}\n\nLine {number} of the guide.\n" for number in range(100))


def of_kind(kind: str) -> dict[str, str]:
    return {"evals/manifest.yaml": f"evals:\n  a:\n    kind: {kind}\n"}


def reading(limit: int) -> dict[str, str]:
    return {"sitegen.toml": f"[limits]\nmax_blob_bytes = {limit}\n"}


def edited(number: int) -> dict[str, str]:
    return {"CLAUDE.md": GUIDE.replace(f"Line {number} ", f"Line number {number} ")}


def answered(answer: str) -> dict[str, str]:
    return {"evals/a/responses.json": f'[{{"case_id": "1", "output": "{answer}"}}]', **edited(len(answer))}


BEGINNING: dict[str, Content] = {
    "CLAUDE.md": GUIDE,
    "evals/a/ground_truth.json": '{"x": 1, "y": 2}',
    "evals/a/extracted.json": '{"x": 1, "y": 3}',
    "evals/a/test_cases.json": '[{"id": "1", "input": "Is it?", "expected": "yes"}]',
}
BETTER = {"evals/a/extracted.json": '{"x": 1, "y": 2}'}
SECOND = "evals/shop/results/iteration-002/"
RECORD = {f"{SECOND}eval-results.json": '{"metadata": {"timestamp": "2023-01-01T00:00:00Z"}}'}  # before all edits


@pytest.mark.parametrize(
    "commits",
    [
        pytest.param([edited(5) | BETTER, reading(1_000), edited(6), {"CLAUDE.md": "Short.\n"}], id="a lower limit"),
        pytest.param([BETTER, reading(17), edited(5)], id="a limit below an output"),
        pytest.param([reading(1_000), edited(5) | BETTER, reading(9_000), edited(6)], id="a higher limit"),
        pytest.param(
            [answered("yes"), BETTER, of_kind("responses"), answered("no"), of_kind("fields"), edited(7)],
            id="another kind",
        ),
        pytest.param(
            [{"evals/a/ground_truth.json": None}, answered("yes"), {"evals/a/ground_truth.json": '{"x": 1}'}],
            id="another kind by another ground truth",
        ),
        pytest.param([SHOP, edited(5), {f"{SECOND}extracted.json": "{}"}, RECORD], id="a later record of the time"),
        pytest.param(
            [{"evals/shop/extracted.json": "{}"}, {f"evals/shop/{RUN}": "{}", "evals/shop/ground_truth.json": TRUTH}],
            id="iterations, which alone count",
        ),
    ],
)
def test_what_is_remembered_is_not_taken_after_what_it_depends_on_has_changed(repo, tmp_path, commits):
    for files in (BEGINNING, *commits):
        repo.check_in(files)
        build_site(repo.path, tmp_path / "out", jobs=1)
        assert differs_from_cold(tmp_path / "out", repo.path) == []
