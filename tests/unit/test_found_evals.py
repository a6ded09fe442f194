"""Results of other tools that no manifest names, through history and in the configuration."""

import json
import shutil
from pathlib import Path

import pytest

from sitegen.config.models import EvalConfig, Manifest, SiteConfig
from sitegen.engine.cached_kinds import TaskCache
from sitegen.engine.timeline import timeline_of
from sitegen.history.files_at_commit import FilesAt
from sitegen.history.layout import Layout
from sitegen.history.repository_place import RepositoryPlace
from sitegen.project import Options, open_project
from sitegen.questions.verify import verify
from sitegen.questions.work_tree import WorktreeProject
from sitegen.recognition.places import skill_evals, with_found_evals
from sitegen.recognition.searched_files import Search
from tests.gitrepo import GitRepo, put
from tests.scoring.test_tables import tables
from tests.sites import broken_links, build_site, problems_text

FIXTURES = Path(__file__).parents[1] / "importers/fixtures"
FOUND = tables(Path(__file__).with_name("found_evals.md").read_text(encoding="utf-8"))[0]


def on_disk(root: Path, files: dict[str, str]) -> FilesAt:
    for path, content in files.items():
        put(root / path, content)
    return FilesAt(RepositoryPlace(git_dir=root, common_dir=root, root=root, shallow=False), "", on_disk=True)


def found(files: FilesAt, manifest: Manifest) -> tuple[tuple[str, ...], tuple[EvalConfig, ...]]:
    """(instructions beyond the defaults, entries)."""
    config, entries = with_found_evals(SiteConfig(), manifest, Search(files))
    return config.instructions[len(SiteConfig().instructions) :], entries.evals


def test_a_search_lists_no_folder_twice(tmp_path: Path) -> None:
    names = ("evals/sums/results.jsonl", "evals/desk/out.json", "qa/promptfooconfig.yaml", "qa/output.json")
    files = on_disk(tmp_path, dict.fromkeys(names, "{}"))
    assert [entry.id for entry in found(files, Manifest())[1]] == ["qa", "sums"]
    shutil.rmtree(tmp_path)
    assert [entry.id for entry in found(files, Manifest())[1]] == ["qa", "sums"]


def entries(cell: str) -> tuple[EvalConfig, ...]:
    stated = ({"instructions": (), **entry} for entry in json.loads(cell or "[]"))
    return tuple(EvalConfig(**{**entry, "instructions": tuple(entry["instructions"])}) for entry in stated)


@pytest.mark.parametrize("row", FOUND, ids=[row["files of"] for row in FOUND])
def test_evals_and_their_instructions_are_found_as_the_table_says(row: dict[str, str], tmp_path: Path) -> None:
    stated, wanted = entries(row["stated"]), (tuple(row["instructions"].split()), entries(row["entries"]))
    assert found(on_disk(tmp_path, json.loads(row["files"])), Manifest(evals=stated)) == wanted


def test_lists_of_test_cases_are_evals_whose_responses_lie_beside_them(tmp_path: Path) -> None:
    cases = '[{"input": "1+1", "expected": "2"}]'
    files = {
        "test_cases/sums.json": cases,
        "test_cases/examples/sums.json": f'{{"cases": {cases}}}',
        "test_cases/examples/reading.json": cases,
        "test_cases/examples/named.json": cases,
        "test_cases/examples/deeper/sums.json": cases,
        "test_cases/examples/other.json": '[{"x": 1}]',
        "test_cases/examples/empty.json": "[]",
        "test_cases/examples/broken.json": "[" * 100_000,
        "evals/reading/ground_truth.csv": "id\n",
    }
    stated = Manifest(evals=(EvalConfig(id="own", ground_truth="../../test_cases/examples/named.json"),))

    def of(eval_id: str, path: str) -> EvalConfig:
        name = path.rpartition("/")[2]
        return EvalConfig(id=eval_id, kind="responses", dir=f"test_cases/{path}", ground_truth=f"../{name}.json")

    found_cases = (of("sums", "sums"), of("examples-reading", "examples/reading"), of("examples-sums", "examples/sums"))
    assert found(on_disk(tmp_path, files), stated) == ((), (*stated.evals, *found_cases))


@pytest.mark.parametrize("folder", ["", "qa/"])
def test_a_history_of_promptfoo_needs_no_configuration(repo: GitRepo, tmp_path: Path, folder: str) -> None:
    start = {f"{folder}promptfooconfig.yaml": "prompts: prompts/*.txt\n", "README.md": "Greetings\n"}
    for number, prompt in ((1, "Hello\n"), (2, "Welcome\n")):
        results = (FIXTURES / f"promptfoo-{number}.json").read_bytes()
        repo.commit(start | {f"{folder}prompts/plain.txt": prompt, f"{folder}output.json": results})
    site = tmp_path / "public"
    build_site(repo.path, site)
    eval_id = folder.strip("/") or "promptfoo"
    series = json.loads((site / f"data/evals/{eval_id}.json").read_bytes())
    points = [(point["cause"], point["then"]["metrics"]["pass_rate"]) for point in series["points"]]
    assert points == [(["outputs"], pytest.approx(2 / 12)), (["outputs"], pytest.approx(4 / 12))]
    assert series["kind"] == "judged"
    assert list(series["points"][1]["instructions"]) == [f"{folder}prompts/plain.txt"]
    assert len(list((site / "instructions").glob("*/*.html"))) == 3
    assert broken_links(site) == []
    assert "promptfoo" not in problems_text(site).replace("promptfooTrend", "").split("What to do")[-1]


@pytest.mark.parametrize("folder", ["", "qa/"])
def test_what_lies_in_the_work_tree_is_scored_without_a_configuration(repo: GitRepo, folder: str) -> None:
    results = (FIXTURES / "promptfoo-2.json").read_bytes()
    repo.check_in(
        {
            f"{folder}promptfooconfig.yaml": "prompts: [prompts/*.txt, Say hi]\nproviders: [echo]\n",
            f"{folder}output.json": results,
        }
    )
    bench = WorktreeProject.open(repo.path)
    eval_id = folder.strip("/") or "promptfoo"
    assert bench.eval_ids == (eval_id,)
    assert verify(bench, eval_id).result.scorecard.metric("pass_rate") == pytest.approx(4 / 12)


def test_a_folder_of_logs_that_grows_is_a_history_of_runs(repo: GitRepo, tmp_path: Path) -> None:
    commits: list[str] = []
    for number, ending in enumerate(("json", "eval", "json"), 1):
        name = f"logs/2026-11-22T06-33-1{number}-00-00_capital-cities_id{number}.{ending}"
        log = (FIXTURES / f"inspect.{ending}").read_bytes()
        if number == 3:  # made with the instructions of the first commit, as the log itself says
            document = json.loads(log)
            document["eval"]["revision"]["commit"] = commits[0][:7]
            log = json.dumps(document).encode()
        commits.append(repo.commit({"prompts/ask.md": f"Ask {number}\n", name: log}))
    repo.checkout()
    assert verify(WorktreeProject.open(repo.path), "capital-cities").result.scorecard.metric(
        "pass_rate"
    ) == pytest.approx(1 / 3)
    build_site(repo.path, tmp_path / "public")
    series = json.loads((tmp_path / "public/data/evals/capital-cities.json").read_bytes())
    assert [(point["label"][:19], point["then"]["metrics"]["pass_rate"]) for point in series["points"]] == [
        ("2026-11-22T06-33-11", pytest.approx(1 / 3)),
        ("2026-11-22T06-33-12", pytest.approx(2 / 3)),
        ("2026-11-22T06-33-13", pytest.approx(1 / 3)),
    ]
    created = (FIXTURES / "inspect.json").read_text("utf-8").partition('"created": "')[2][:25]
    assert series["points"][0]["recorded_at"] == created
    reports = [(tmp_path / "public" / point["report"]).read_text("utf-8") for point in series["points"]]
    assert f">{commits[0][:7]}</a>" in reports[2].partition("<dt>Instructions as of</dt>")[2].partition("</dd>")[0]
    assert "<dt>Instructions</dt><dd>the commit that the output records" in reports[2]
    assert broken_links(tmp_path / "public") == []


def test_evals_that_are_not_committed_are_found_in_the_work_tree_alone(repo: GitRepo) -> None:
    repo.check_in({"CLAUDE.md": "Answer.\n", "evals/kept/results.jsonl": '{"id": "a", "score": 1}\n'})
    for path, content in {
        "qa/promptfooconfig.yaml": "prompts: prompts/*.txt\n",
        "qa/output.json": (FIXTURES / "promptfoo-1.json").read_text(),
        "qa/prompts/plain.txt": "Hello\n",
        "evals/letters/results.jsonl": '{"id": "a", "score": 0.25}\n',
        "evals/sums.json": '[{"id": 1, "expected": "a", "output": "b"}]',
    }.items():
        put(repo.path / path, content)

    def evals(**options: bool) -> tuple[list[str], list[str]]:
        project = open_project(Options(repo=repo.path, **options), "")  # type: ignore[arg-type]
        timeline = timeline_of(project, TaskCache(()))
        return [*timeline.changed], [file.path for file in timeline.instructions]

    assert evals() == (["kept"], ["CLAUDE.md"])
    assert evals(worktree=True) == (["kept", "letters", "qa", "sums"], ["CLAUDE.md", "qa/prompts/plain.txt"])


def test_what_the_search_for_evals_remembers_of_files_is_what_it_would_read(tmp_path: Path) -> None:
    repo, parts = GitRepo(tmp_path / "repo"), TaskCache(())
    cases = '[{"id": 1, "expected": "a", "output": "b"}]'
    searched = {
        "promptfooconfig.yaml": "prompts: prompts/*.txt\n",
        "evals/sums.json": cases,
        "evals/desk/results/out.json": cases.replace("1", "2"),
        "evals/stated/run.json": cases.replace("1", "3"),
        "evals/judged/results.jsonl": '{"id": "a", "score": 0.25}\n',
        "test_cases/letters.json": '[{"input": "a", "expected": "b"}]',
        "evaluations/results/run.json": '{"prompt_path": "prompts/one.txt", "results": {"accuracy": 1}}',
    }
    manifest = "evals: {stated: {outputs: run.json, ground_truth: run.json}}\n"
    repo.commit({**searched, "output.json": "{}", "evals/manifest.yaml": manifest})

    def evals() -> dict[str, str | None]:
        """The evals by what is remembered, which are those that are found without it."""
        found, anew = (
            {each.id: each.kind for each in timeline_of(open_project(Options(repo=repo.path), ""), kept).manifest.evals}
            for kept in (parts, TaskCache(()))
        )
        assert found == anew
        return found

    first = evals()
    assert len(first) == len(searched)
    repo.commit({"README.md": "Other words.\n"})
    assert evals() == first
    repo.commit({"evals/sums.json": cases.replace('"a"', '{"b": 1}'), "evals/moved.json": cases})
    changed = evals()
    assert (first["sums"], changed["sums"], changed["moved"]) == ("responses", "fields", "responses")


def test_what_a_run_of_a_skill_wrote_is_no_instruction_unless_a_glob_of_the_project_names_it() -> None:
    home = ".claude/skills/totals-workspace"
    outputs = "iteration-*/**/{grading,timing,feedback}.json"
    evals = Manifest(evals=(EvalConfig(id="totals", kind="judged", dir=home, outputs=outputs),))
    layout = Layout(SiteConfig(), evals)
    report = f"{home}/iteration-1/eval-a/with_skill/outputs/report.md"
    assert not layout.is_instruction(report)
    assert layout.is_instruction(".claude/skills/totals/SKILL.md")
    assert layout.is_instruction(f"{home}/notes.md")
    assert Layout(SiteConfig(instructions=("**/outputs/*.md",)), evals).is_instruction(report)


def test_a_folder_of_evals_without_a_benchmark_costs_no_reading(tmp_path: Path) -> None:
    read, files = list[str](), on_disk(tmp_path, {"evals/a/truth.csv": ""})
    files.read = lambda path, largest=0: read.append(path)  # type: ignore[method-assign]
    assert (list(skill_evals(Search(files))), read) == ([], [])
