"""Entries of the manifest that share a folder: each has every file of it."""

import json
from pathlib import Path

from sitegen.config.models import EvalConfig, Manifest, SiteConfig
from sitegen.history.layout import Layout, PathRole
from tests.gitrepo import GitRepo
from tests.sites import build_site, differs_from_cold, problems_text

TRUTH = "id,total\na,1\nb,2\n"
OUTPUT = '[{"id": "a", "total": 1}, {"id": "b", "total": 3}]'
MANIFEST = "evals/manifest.yaml"


def of(text: str) -> Layout:
    """The layout of entries written as ``id folder alias``."""
    written = (entry.split() for entry in text.split(","))
    entries = tuple(
        EvalConfig(id=one[0], dir=None if one[1] == "-" else one[1], aliases=tuple(one[2:])) for one in written
    )
    return Layout(SiteConfig(), Manifest(evals=entries))


def owners(layout: Layout, folder: str) -> list[str]:
    places = layout.places(f"{folder}/ground_truth.csv")
    assert all(place == PathRole(place.eval_id, folder, "ground_truth") for place in places)
    return [place.eval_id for place in places]


def test_a_folder_belongs_to_every_entry_that_states_it_and_to_the_entry_of_its_name():
    layout = of("m x/y,k x/y,n evals/o,o -")
    assert owners(layout, "x/y") == ["k", "m"]
    assert owners(layout, "evals/o") == ["n", "o"]
    assert owners(of("n evals/o"), "evals/o") == ["n"]


def test_an_alias_is_shared_only_by_entries_that_share_their_folder():
    assert owners(of("m x/y old,k x/y old,n x/y"), "evals/old") == ["k", "m"]
    assert owners(of("m x/y old,k z old"), "evals/old") == ["m"]


def points(site: Path) -> dict[str, list[float | None]]:
    """F1 of every point, by eval."""
    series = [json.loads(path.read_text()) for path in sorted((site / "data" / "evals").glob("*.json"))]
    return {each["eval_id"]: [point["then"]["f1"] for point in each["points"]] for each in series}


def shared(tmp_path: Path) -> GitRepo:
    repo = GitRepo(tmp_path / "project")
    files = {"evals/n/ground_truth.csv": TRUTH, "evals/n/results/iteration-001/extracted.json": OUTPUT}
    repo.commit({**files, MANIFEST: "evals:\n  n: {}\n"})
    return repo


def test_two_entries_over_one_folder_have_all_its_points_each_by_its_own_rules(tmp_path):
    repo = shared(tmp_path)
    loose = "{dir: evals/n, settings: {tolerances: {default: {percent: 60}}, field_types: {numeric: [total]}}}"
    repo.commit({MANIFEST: f"evals:\n  n: {{}}\n  loose: {loose}\n"})
    build_site(repo.path, tmp_path / "step")
    repo.commit({"evals/n/results/iteration-002/extracted.json": OUTPUT.replace("3", "2.9")})
    build_site(repo.path, tmp_path / "step")
    assert points(tmp_path / "step") == {"n": [0.5, 0.5], "loose": [1.0, 1.0]}
    assert "1 problem" not in problems_text(tmp_path / "step")
    page = (tmp_path / "step" / "commits" / f"{repo.git('rev-parse', 'HEAD').strip()[:12]}.html").read_text()
    assert page.count("1 iteration added") == 2
    assert differs_from_cold(tmp_path / "step", repo.path) == []


def test_files_that_move_within_a_shared_folder_do_not_move_from_one_eval_to_the_other(repo, tmp_path):
    truth, one, other = "evals/truth.csv", OUTPUT, OUTPUT.replace("3", "2")
    repo.commit({truth: TRUTH, "evals/n/x/1.json": one, "evals/n/x/2.json": other, MANIFEST: (
        "evals:\n"
        "  x: {dir: evals/n, ground_truth: ../truth.csv, outputs: 'x/*.json'}\n"
        "  y: {dir: evals/n, ground_truth: ../truth.csv, outputs: 'y/*.json'}\n"
    )})  # fmt: skip
    repo.commit(
        {"evals/n/x/1.json": None, "evals/n/x/2.json": None, "evals/n/y/1.json": one, "evals/n/y/2.json": other}
    )
    build_site(repo.path, tmp_path / "site")
    assert points(tmp_path / "site") == {"x": [0.5, 1.0], "y": [0.5, 1.0]}
