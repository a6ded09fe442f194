"""From commits to snapshots: each rule of an eval's series is one short history."""

import hashlib
import json
import os
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from sitegen.config.manifest import manifest_in_force
from sitegen.config.models import EvalConfig, Manifest, SiteConfig
from sitegen.history.eval_state import EvalState
from sitegen.history.folder_tree import FolderTree
from sitegen.history.globs import run_glob, time_in
from sitegen.history.instructions import InstructionHistories
from sitegen.history.layout import Layout, PathRole
from sitegen.history.repository import Repository
from sitegen.history.timeline import FoldedHistory, FoldEnd, advance
from sitegen.model.commits import ChangedPath
from sitegen.model.timeline import Blob, EvalHistory, Snapshot
from tests.gitrepo import Content, GitRepo, Link, Submodule
from tests.pages_sample import commit
from tests.rows import in_table
from tests.scoring.test_tables import tables

TRUTH = "evals/shop/ground_truth.csv"
RESULTS = "evals/shop/results"
HISTORIES = tables(Path(__file__).with_name("histories.md").read_text(encoding="utf-8"))


def output(number: int | str, folder: str = RESULTS) -> str:
    name = f"iteration-{number:03d}" if isinstance(number, int) else number
    return f"{folder}/{name}/extracted.json"


def record(number: int | str, folder: str = RESULTS) -> str:
    return output(number, folder).replace("extracted.json", "eval-results.json")


def fold(
    repo: GitRepo, manifest: Manifest | None = None, site: SiteConfig | None = None, since: FoldEnd | None = None
) -> FoldedHistory:
    repository = Repository.open(repo.path)
    site, head = site or SiteConfig(), repository.resolve("HEAD")
    if manifest is None:
        path = "evals/manifest.yaml"
        there = repo.git("ls-tree", "HEAD", path)
        text = repo.git("show", f"HEAD:{path}") if there else ""
        manifest = manifest_in_force(text.encode(), path, site.evals_dir).value
    return advance(repository, Layout(site, manifest), head=head, since=since)


def histories(repo: GitRepo, manifest: Manifest | None = None) -> dict[str, EvalHistory]:
    return {history.id: history for history in fold(repo, manifest).evals}


def shop(repo: GitRepo, manifest: Manifest | None = None) -> EvalHistory:
    return histories(repo, manifest)["shop"]


def points(history: EvalHistory) -> list[tuple[int, str, str, tuple[str, ...]]]:
    """(commit position, label, slug with the id of a commit replaced, causes) of each snapshot."""
    return [
        (each.commit.position, each.label, each.slug.replace(each.commit.sha[:12], "SHA"), each.cause)
        for each in history.snapshots
    ]


def changes(commit: str) -> dict[str, Content]:
    """The files that a commit of the table of histories sets or deletes."""
    return dict(
        file_named(name, text.strip("'").replace("¶", "\n"))
        for name, text in re.findall(r"(\S+?)=('[^']*'|\S+)", commit)
    )


def file_named(word: str, text: str) -> tuple[str, Content]:
    """The path and the content of a file as the table of histories names them."""
    content = Link(text[2:]) if text[:2] == "->" else None if text == "-" else text
    eval_id, _, name = word.rpartition("/")
    folder = f"evals/{eval_id or 'shop'}"
    files = {"truth": "ground_truth.csv", "here": "extracted.json", "results": "results/extracted.json"}
    if name in files:
        return f"{folder}/{files[name]}", content
    if word == "manifest":
        return "evals/manifest.yaml", content
    if timed := re.fullmatch(r"time-(\d+)", name):
        stated = content and json.dumps({"metadata": {"timestamp": content}})
        return record(int(timed[1]), f"{folder}/results"), stated
    if name.isdigit() or re.fullmatch(r"(?i:iteration|run-)[^.]*", name):
        return output(int(name) if name.isdigit() else name, f"{folder}/results"), content
    return word, content


def stated(history: EvalHistory, beside: Sequence[str] = ()) -> str:
    """An eval as the table of histories states it. ``beside``: further fields of each snapshot."""
    remarks = [f"from {', '.join(history.renamed_from)}"] if history.renamed_from else []
    remarks += ["overwritten"] * (history.layout == "overwritten") + ["deleted"] * history.deleted
    snapshots = []
    for (position, label, slug, cause), snapshot in zip(points(history), history.snapshots, strict=True):
        own = "" if label == f"iteration-{slug[1:4]}" else f" {label}"
        at = f" at {snapshot.recorded_at}" if snapshot.recorded_at else ""
        gone = " (deleted)" if snapshot.deleted else ""
        more = "".join(f" [{as_words(getattr(snapshot, name))}]" for name in beside)
        snapshots.append(f"{position} {slug.replace('SHA', '+')}{own} {' '.join(cause)}{at}{gone}{more}")
    about = f" ({', '.join(remarks)})" if remarks else ""
    return f"{history.id}{about}: {', '.join(snapshots)}"


def as_words(value: Blob | tuple[Blob, ...] | str | None) -> str:
    """The paths of files, or settings."""
    if isinstance(value, Blob):
        return value.path
    return value or "" if isinstance(value, str | None) else " ".join(blob.path for blob in value)


@pytest.mark.parametrize("case", [*HISTORIES[0], *HISTORIES[1]], ids=lambda case: case["case"])
def test_commits_make_the_snapshots_of_the_table(repo, case):
    repo.commits(map(changes, case["commits"].split(" / ")))
    advanced = fold(repo)
    found = advanced.evals
    assert "; ".join(stated(one, case.get("beside", "").split()) for one in found) == case["evals"]
    assert " ".join(f"{problem.path}{' (past)' * problem.past}" for problem in advanced.problems) == case["problems"]
    listed = sorted(snapshot for record in advanced.new_records for snapshot in record.snapshots)
    assert listed == sorted((history.id, each.slug) for history in found for each in history.snapshots)


def test_a_snapshot_holds_everything_that_scoring_depends_on(repo):
    manifest = """
version: "2.0"
evals:
  shop:
    ground_truth_format: wide
    schema: schemas/shop.json
    settings: {tolerances: {default: {percent: 2}}, ignore: [b, a]}
"""
    sha = repo.commit(
        {
            TRUTH: "truth",
            "schemas/field_mapping.yaml": "mapping",
            "schemas/shop.json": "schema",
            "evals/manifest.yaml": manifest,
            output(12): "{}",
            record(12): '{"metadata": {"timestamp": "2026-02-05T23:59:08Z", "git_commit": "ABCDEF0123"}}',
            f"{RESULTS}/iteration-012/runs/10/extracted.json": "{10}",
            f"{RESULTS}/iteration-012/runs/9/extracted.json": "{9}",
            f"{RESULTS}/iteration-012/notes.md": "not read",
        },
        message="Add the shop",
    )

    def blob(path: str) -> Blob:
        return Blob(path, repo.oid(sha, path))

    (snapshot,) = shop(repo).snapshots
    assert snapshot == Snapshot(
        iteration=12,
        label="iteration-012",
        slug="0012",
        commit=snapshot.commit,
        cause=("outputs",),
        outputs=(blob(output(12)),),
        ground_truth=blob(TRUTH),
        mapping=blob("schemas/field_mapping.yaml"),
        schema=blob("schemas/shop.json"),
        settings='{"ground_truth_format":"wide","ignore":["b","a"],"tolerances":{"default":{"percent":2}}}',
        recorded=(blob(record(12)),),
        recorded_at="2026-02-05T23:59:08Z",
        made_at="abcdef0123",
        runs=tuple(blob(f"{RESULTS}/iteration-012/runs/{number}/extracted.json") for number in (9, 10)),
    )
    assert (snapshot.commit.sha, snapshot.commit.subject) == (sha, "Add the shop")


@pytest.mark.parametrize(
    "form",
    [
        lambda content, oid: {"instruction_hashes": {"CLAUDE.md": hashlib.sha256(content).hexdigest()}},
        lambda content, oid: {"prompt_hash": "sha256:" + hashlib.sha256(content).hexdigest()[:12]},
        lambda content, oid: {"prompt_hash": hashlib.sha1(content).hexdigest()},
        lambda content, oid: {"prompt_hash": hashlib.md5(content).hexdigest().upper()},
        lambda content, oid: {"prompt_hash": oid},
        lambda content, oid: {"prompt_hash": oid[:7]},
    ],
    ids=["sha256 by path", "sha256 in part", "sha1", "md5", "blob", "blob in part"],
)
def test_a_recorded_hash_of_an_instruction_file_names_the_commit_that_left_it_so(repo, form):
    first = repo.commit({TRUTH: "t", "CLAUDE.md": "Read the plan.\n"})
    repo.commit({"CLAUDE.md": "Read the plan twice.\n"})
    stated = form(b"Read the plan.\n", repo.oid(first, "CLAUDE.md"))
    repo.commit({"CLAUDE.md": "Read.\n", output(1): "{}", record(1): json.dumps({"metadata": stated})})
    assert [snapshot.made_at for snapshot in shop(repo).snapshots] == [first]


def test_a_recorded_hash_of_a_file_that_an_earlier_build_read_names_its_commit(repo):
    first = repo.commit({TRUTH: "t", "CLAUDE.md": "Read the plan.\n"})
    earlier = fold(repo)
    repo.commit({output(1): "{}", record(1): json.dumps({"prompt_hash": repo.oid(first, "CLAUDE.md")})})
    (history,) = fold(repo, since=earlier.end).evals
    assert [snapshot.made_at for snapshot in history.snapshots] == [first]


@in_table
def test_a_recorded_hash_that_fits_no_edit_says_nothing_and_a_recorded_commit_goes_first(case, repo, stated, made_at):
    first = repo.commit({TRUTH: "t", "CLAUDE.md": "Read the plan.\n"})
    text = json.dumps(stated).replace("<blob>", repo.oid(first, "CLAUDE.md"))
    repo.commit({output(1): "{}", record(1): text})
    assert [snapshot.made_at for snapshot in shop(repo).snapshots] == [made_at]


def test_a_record_that_cannot_be_read_is_a_problem_and_the_iteration_counts(repo):
    sha = repo.commit({TRUTH: "t", output(1): "1", record(1): "{", output(2): "2", record(2): "[1]"})
    advanced = fold(repo)
    assert [each.recorded_at for each in advanced.evals[0].snapshots] == [None, None]
    assert [(each.message, each.path, each.commit, each.eval_id) for each in advanced.problems] == [
        ("The recorded results cannot be read: no object.", record(1), sha, "shop")
    ]


def test_a_manifest_of_a_commit_after_a_rename_is_a_problem_if_it_cannot_be_read(repo):
    moved = {path: path.replace("shop", "store") for path in (TRUTH, output(1))}
    repo.commit(dict.fromkeys(moved, "1"))
    repo.commit({**dict.fromkeys(moved), **dict.fromkeys(moved.values(), "1")})
    sha = repo.commit({"evals/manifest.yaml": "evals: ["})
    (problem,) = fold(repo, Manifest()).problems
    assert (problem.commit, problem.message[:29]) == (sha, "The manifest cannot be read: ")


def test_an_eval_may_live_where_the_manifest_says_under_any_id(repo):
    repo.commits([{"data/a/truth/gold.yaml": "t", output(1, "data/a/results"): "1", "m.yaml": "m", TRUTH: "t"}])
    entry = EvalConfig(id="Case № 1", dir="data/a", ground_truth="truth/gold.yaml", mapping="m.yaml", kind="fields")
    with_manifest = {"evals/manifest.yaml": 'evals: {"Case № 1": {ground_truth: truth/gold.yaml, mapping: m.yaml}}'}
    repo.commits([with_manifest, {}])
    found = histories(repo, Manifest(evals=(entry,)))
    assert found.keys() == {"Case № 1", "shop"}
    assert [(each.ground_truth, each.mapping) for each in found["Case № 1"].snapshots] == [
        (
            Blob("data/a/truth/gold.yaml", repo.oid("HEAD", "data/a/truth/gold.yaml")),
            Blob("m.yaml", repo.oid("HEAD", "m.yaml")),
        )
    ]


def test_history_is_read_again_when_the_manifest_that_speaks_for_the_past_says_something_else(repo):
    def manifest(tolerance: int) -> dict[str, Content]:
        return {"evals/manifest.yaml": f"evals: {{shop: {{settings: {{coerce: {'true' if tolerance else 'false'}}}}}}}"}

    repo.commits([{TRUTH: "t", output(1): "1"}, manifest(0)])
    first = fold(repo)
    repo.commits([manifest(1)])
    again = fold(repo, since=first.end)
    assert again == fold(repo)
    assert again.is_complete
    repo.commits([{output(2): "2"}])
    assert not fold(repo, since=again.end).is_complete


@in_table
def test_a_run_is_called_by_what_the_glob_leaves_open(outputs, inside, name):
    runs = run_glob(outputs)
    assert runs.name(inside) == name
    if name is not None:
        files = FolderTree.of(["e/other"])
        files.put(f"e/{inside}", "1")
        assert runs.outputs("e", name, files) == (Blob(f"e/{inside}", "1"),)


def test_the_time_in_a_name_is_in_the_time_zone_of_the_commit_unless_it_says_otherwise():
    committed = "2026-02-08T01:00:00-08:00"
    assert time_in("run-20260207-154530", committed) == "2026-02-07T15:45:30-08:00"
    assert time_in("2025-10-01T06-51-41-191Z", committed) == "2025-10-01T06:51:41.191+00:00"
    assert time_in("2026-11-22T06-33-16-00-00_task_id", committed) == "2026-11-22T06:33:16+00:00"
    assert [time_in(name, committed) for name in ("baseline_20260207", "run-7", "20261399-999999")] == [None] * 3


def test_links_and_submodules_where_files_are_read_are_problems(repo):
    files: dict[str, Content] = {
        TRUTH: "t",
        output(1): "1",
        output(2): Link("../iteration-001/extracted.json"),
        f"{RESULTS}/iteration-003": Submodule("1" * 40),
        "evals/other": Submodule("2" * 40),
        "CLAUDE.md": Link("AGENTS.md"),
        "prompts/team": Submodule("3" * 40),
        "src/link": Link("x"),
        "evals/shop/notes": Link("x"),
        "evals/stall/ground_truth.csv": Link("../shop/ground_truth.csv"),
    }
    sha = repo.commit(files)
    advanced = fold(repo)
    assert [each.label for each in advanced.evals[0].snapshots] == ["iteration-001"]
    assert [(each.severity, each.message, each.path, each.commit) for each in advanced.problems] == [
        ("note", "This is a symbolic link, which is not followed.", "CLAUDE.md", sha),
        ("warning", "This is a submodule, which is not followed.", "evals/other", sha),
        ("warning", "This is a symbolic link, which is not followed.", output(2), sha),
        ("warning", "This is a submodule, which is not followed.", f"{RESULTS}/iteration-003", sha),
        ("warning", "This is a symbolic link, which is not followed.", "evals/stall/ground_truth.csv", sha),
        ("note", "This is a submodule, which is not followed.", "prompts/team", sha),
    ]
    assert [each.eval_id for each in advanced.problems] == [None, None, "shop", "shop", None, None]


def test_evals_may_lie_in_another_folder_or_at_the_root(repo):
    repo.commit({"quality/cases/a/ground_truth.csv": "t", output(1, "quality/cases/a/results"): "1"})
    advanced = fold(repo, Manifest(), SiteConfig(evals_dir="./quality/cases/"))
    assert [*advanced.changed] == ["a"]
    repo.commit({"b/ground_truth.csv": "t", output(1, "b/results"): "1"})
    advanced = fold(repo, Manifest(), SiteConfig(evals_dir="."))
    assert [*advanced.changed] == ["b"]


def test_paths_that_are_no_text_are_kept_as_they_are(repo):
    folder = os.fsdecode(b"evals/\xff\xfe")
    repo.commit({f"{folder}/ground_truth.csv": "t", output(1, f"{folder}/results"): "1"})
    (history,) = histories(repo).values()
    assert history.id == "\udcff\udcfe"
    assert history.snapshots[0].outputs[0].path == "evals/\udcff\udcfe/results/iteration-001/extracted.json"


def test_the_newest_run_is_known_whatever_comes_and_goes(repo: GitRepo):
    state = EvalState(
        id="a",
        folders=["e"],
        entry=EvalConfig(id="a", outputs="run-*.json"),
        repository=Repository.open(repo.path),
        problems=[],
        instructions=InstructionHistories(lambda _: None, lambda _: None),
        commit=commit(0),
        active="e",
    )

    def change(number: int, oid: str | None) -> str | None:
        role = PathRole(eval_id="a", folder="e", role="output", iteration=f"run-{number}")
        state.changes = {ChangedPath(f"e/run-{number}.json", None, oid): role}
        state.update_files()
        newest = state.newest_case_file()
        return newest and newest.path

    assert [change(number, "1") for number in range(1, 41)] == [f"e/run-{number}.json" for number in range(1, 41)]

    assert [change(number, None) for number in (7, 40, 39)] == ["e/run-40.json", "e/run-39.json", "e/run-38.json"]
