"""What was read of the manifest and of mappings is kept between builds, and is the same as if it were read again."""

import json
import os
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from sitegen.config.models import EvalConfig, Manifest, SiteConfig
from sitegen.engine.cached_kinds import TaskCache
from sitegen.engine.template_files import find_templates
from sitegen.engine.timeline import manifest_of
from sitegen.history.files_at_commit import FilesAt, manifest_at
from sitegen.history.layout import Layout, PathRole
from sitegen.history.repository import Repository
from sitegen.recognition import discovery
from tests.gitrepo import GitRepo
from tests.names import MAPPING
from tests.sites import build_site, content, differs_from_cold

TRUTH = "id,name,total\na,Ann,1\n"
MANIFEST = (
    "evals:\n  names:\n    name: Names\n    owner: Kim\n    thresholds: {f1: 0.9}\n    settings: {coerce: true}\n"
)


def output(total: int) -> str:
    return f'{{"docs": [{{"id": "a", "name": "Ann", "total": {total}}}]}}'


@pytest.fixture
def project(repo: GitRepo) -> GitRepo:
    repo.commit({"evals/manifest.yaml": MANIFEST, "evals/field_mapping.yaml": MAPPING})
    repo.check_in({"evals/names/ground_truth.csv": TRUTH, "evals/names/extracted.json": output(3)})
    return repo


def test_the_manifest_that_is_kept_is_read_again_when_it_changes(project: GitRepo) -> None:
    read = partial(manifest_of, TaskCache(()))

    def thresholds() -> list[dict[str, float]]:
        files = FilesAt(Repository.open(project.path).place, project.git("rev-parse", "HEAD"))
        return [entry.thresholds for entry in manifest_at(files, SiteConfig(), read).value.evals]

    assert thresholds() == thresholds() == [{"f1": 0.9}]
    project.check_in({"evals/manifest.yaml": MANIFEST.replace("0.9", "0.8")})
    assert thresholds() == [{"f1": 0.8}]


def test_a_search_that_is_continued_finds_what_one_of_all_history_finds(tmp_path: Path) -> None:
    """Also after a file moved, a prompt came, an eval was named, and history was written again."""
    repo, site = GitRepo(tmp_path / "searched"), tmp_path / "site"

    def rates(number: int) -> str:
        return f'{{"overall_pass_rate": 0.{number}, "total": 9}}'

    repo.commits([{"benchmarks/latest.json": rates(number), "llm/a.txt": f"{number}"} for number in range(3)])
    build_site(repo.path, site)
    assert [path.name for path in site.glob("evals/*")] == ["benchmarks"]
    for files in (
        {"src/a.py": "1"},
        {"benchmarks/latest.json": rates(7)},
        {"benchmarks/latest.json": None, "benchmarks/speed.json": rates(7)},
        {"benchmarks/speed.json": rates(8), "llm/answering_prompt.md": "You are a judge.\n"},
        {"evals/x/ground_truth.csv": TRUTH, "evals/x/extracted.json": output(1)},
        {"llm/answering_prompt.md": "You are the judge.\n", "evals/x/ground_truth.csv": None},
    ):
        repo.commit(files)
        build_site(repo.path, site)
        assert differs_from_cold(site, repo.path) == []
    repo.git("update-ref", "HEAD", "HEAD~3")
    repo.commit({"benchmarks/other.json": rates(5)})
    build_site(repo.path, site)
    assert differs_from_cold(site, repo.path) == []


def test_a_later_build_reads_no_output_again(tmp_path: Path) -> None:
    """The contents of earlier outputs are taken away; what they state of their runs still shows."""
    repo, site = GitRepo(tmp_path / "judged"), tmp_path / "site"

    def results(number: int) -> str:
        run = {"timestamp": f"2026-01-0{number}T10:00:00Z", "git_commit": "abcdef1"}
        return json.dumps({**run, "results": [{"id": name, "passed": name != "a", "score": 0.5} for name in "abc"]})

    shas = repo.commits([{f"results/run_{number}.json": results(number)} for number in range(1, 5)])
    blobs = [repo.git("rev-parse", f"{sha}:results/run_{number}.json") for number, sha in enumerate(shas[:3], 1)]
    build_site(repo.path, site)
    kept = {oid: (repo.path / f".git/objects/{oid[:2]}/{oid[2:]}").read_bytes() for oid in blobs}
    repo.commit({"results/run_5.json": results(5)})
    for oid in kept:
        (repo.path / f".git/objects/{oid[:2]}/{oid[2:]}").unlink()
    build_site(repo.path, site)
    for oid, packed in kept.items():
        (repo.path / f".git/objects/{oid[:2]}/{oid[2:]}").write_bytes(packed)
    assert differs_from_cold(site, repo.path) == []


UNNEEDED = {
    *("typer", "xml", "markdown_it", "rapidfuzz", "pydantic", "yaml"),
    *(
        f"sitegen.{module}"
        for module in (
            *("history.worktree", "model.gate", "pages.report.tree_source", "engine.sources"),
            *("engine.own_templates", "importers.tables", "importers.judge_lines"),
            *("scoring.highlights", "scoring.responses.scorer", "scoring.judged", "scoring.recorded"),
        )
    ),
}


def modules_of_one_more_build(project: GitRepo, out: Path, names: set[str]) -> str:
    """Which of these modules a build imports, as text."""
    program = (
        "import sys; from pathlib import Path; from tests.sites import build_site\n"
        "build_site(Path(sys.argv[1]), Path(sys.argv[2]))\n"
        f"print({names} & sys.modules.keys())"
    )
    arguments = [sys.executable, "-c", program, str(project.path), str(out)]
    done = subprocess.run(arguments, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_one_more_output_imports_nothing_that_only_other_projects_need_and_gives_the_bytes_of_a_cold_build(
    project: GitRepo, tmp_path: Path
) -> None:
    build_site(project.path, tmp_path / "out")
    project.check_in({"evals/names/extracted.json": output(1)})
    assert modules_of_one_more_build(project, tmp_path / "out", UNNEEDED) == "set()"
    build_site(project.path, tmp_path / "cold")
    assert content(tmp_path / "out") == content(tmp_path / "cold")


def test_files_are_recognised_again_by_other_code_of_the_same_version(tmp_path: Path) -> None:
    """Also if no commit was added: the code of a copy is changed between two builds."""
    repo, package, room = GitRepo(tmp_path / "searched"), Path(discovery.__file__).parents[1], tmp_path / "copy"
    repo.commit({"benchmarks/latest.json": '{"overall_pass_rate": 0.5, "total": 9}'})
    shutil.copytree(package, room / "sitegen", ignore=shutil.ignore_patterns("__pycache__"))
    (room / "site_templates").symlink_to(find_templates())
    command = [sys.executable, "-m", "sitegen", "build", str(repo.path), "--out", str(tmp_path / "site")]
    code = room / "sitegen/recognition/recognition.py"
    for said in ("that a run recorded", "that a run wrote"):
        code.write_text(code.read_text(encoding="utf-8").replace("that a run recorded", said), encoding="utf-8")
        subprocess.run(command, check=True, cwd=room, env={**os.environ, "PYTHONPATH": str(room)})
        assert said in (tmp_path / "site/problems.html").read_text(encoding="utf-8")


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
