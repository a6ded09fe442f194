"""Results of other tools that no manifest names, through history and in the configuration."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sitegen.config.models import EvalConfig, Manifest, SiteConfig
from sitegen.config.searched_files import Search
from sitegen.engine.cached_kinds import TaskCache
from sitegen.engine.timeline import timeline_of
from sitegen.history.files_at_commit import folders_of
from sitegen.history.layout import Layout
from sitegen.project import Options, open_project
from sitegen.questions.verify import verify
from sitegen.questions.work_tree import WorktreeProject
from sitegen.recognition.places import skill_evals, with_found_evals
from tests.gitrepo import GitRepo
from tests.sites import broken_links, build_site, problems_text

FIXTURES = Path(__file__).parents[1] / "importers/fixtures"
CONFIGURATION = """prompts: [file://prompts/*.txt, "file://prompts/chat.json", "prompts/third.md", "Say hi to {{name}}"]
providers: [echo]
"""


def found(files: dict[str, str], manifest: Manifest | None = None) -> tuple[tuple[str, ...], tuple[EvalConfig, ...]]:
    """(instructions beyond the defaults, entries)."""
    listed = {folder: folders_of(files)(folder) for folder in ("", *_folders(files))}

    def read(path: str, largest: int) -> bytes | None:
        return files[path].encode() if path in files else None

    site = SiteConfig()
    top = {path.partition("/")[0]: "/" in path for path in files}
    searched = _searched(lambda folder: listed.get(folder, {}) if folder else top, read)
    config, entries = with_found_evals(site, manifest or Manifest(), searched)
    return config.instructions[len(site.instructions) :], entries.evals


def test_a_search_lists_no_folder_twice_however_many_finders_ask_for_it() -> None:
    files = folders_of(["evals/sums/results.jsonl", "evals/desk/out.json", "qa/promptfooconfig.yaml", "qa/output.json"])
    asked = list[str]()

    def names(folder: str) -> dict[str, bool]:
        asked.append(folder)
        return {"evals": True, "qa": True} if not folder else files(folder)

    _, manifest = with_found_evals(SiteConfig(), Manifest(), _searched(names, lambda path, largest: b"{}"))
    assert [entry.id for entry in manifest.evals] == ["qa", "sums"]
    assert {"", "evals", "evals/sums", "evals/desk", "qa"} <= set(asked)
    assert sorted(asked) == sorted(set(asked))


def _searched(names: Callable[[str], dict[str, bool]], read: Callable[[str, int], bytes | None]) -> Search:
    """Files without earlier versions, none of which is a case file."""
    return Search(names=names, read=read, kind_of_cases=lambda path, content: None)


def _folders(files: dict[str, str]) -> set[str]:
    return {"/".join(path.split("/")[:depth]) for path in files for depth in range(1, path.count("/") + 1)}


def entry(eval_id: str, **stated: Any) -> EvalConfig:
    return EvalConfig(id=eval_id, kind="judged", **stated)


def test_results_of_promptfoo_are_found_by_their_format_whatever_they_are_called() -> None:
    globs = ("qa/prompts/*.txt", "qa/prompts/chat.json", "qa/prompts/third.md")
    results = '{"evalId": "x", "results": {}}'
    files = {
        "qa/promptfooconfig.yaml": CONFIGURATION,
        "qa/package.json": "{}",
        "qa/june.json": results,
        "qa/results/eval-2026-06-01.json": results,
        "qa/results/eval-2026-06-02.json": results,
    }
    instructions, evals = found(files)
    assert instructions == globs
    assert evals == (
        entry("qa", dir="qa", outputs="june.json", instructions=globs),
        entry("qa-eval", dir="qa", outputs="results/eval-*.json", instructions=globs),
    )


def test_results_of_gh_models_are_driven_by_the_prompt_file_beside_them() -> None:
    results = '{"name": "Trades", "testResults": [{"testCase": {}}]}'
    of_trade = {"prompts/trade.prompt.yml": "name: Trades", "prompts/results/trade.json": results}
    text = ("prompts/trade.prompt.yml",)
    one = entry("trade", dir="prompts", outputs="results/trade.json", instructions=text)
    assert found({**of_trade, "prompts/tone.prompt.yml": "name: Tone", "prompts/data.json": "{}"}) == (text, (one,))
    assert found({"prompts/trade.prompt.yml": "name: Trades", "prompts/data.json": "{}"}) == ((), ())


@pytest.mark.parametrize(
    "prompts",
    [
        "file:///etc/passwd",
        "file://../../x.txt",
        "https://example.org/p.txt",
        "[{a: 1}]",
        "!!python/name:os.system",
        "}",
    ],
)
def test_a_prompt_outside_the_project_or_none_at_all_is_no_instruction(prompts: str) -> None:
    files = {"promptfooconfig.yaml": f"prompts: {prompts}\n", "output.json": "{}"}
    assert found(files) == ((), (entry("promptfoo", dir=".", outputs="output.json"),))


def test_prompts_that_results_name_are_instructions_of_their_eval() -> None:
    prompts = ["file://texts/a.txt", {"id": "file://texts/b.md", "label": "B"}, "Say {{it}}", "file:///c.txt"]
    results = json.dumps({"evalId": "x", "results": {"results": [{}]}, "config": {"prompts": prompts}})
    named = ("llm/texts/a.txt", "llm/texts/b.md")
    files = {"llm/texts/a.txt": "Say it", "llm/qa/june/run-1.json": "{}", "llm/qa/june/run-2.json": results}
    stated = EvalConfig(id="qa", kind="judged", dir="llm/qa", outputs="june/run-*.json")
    assert found(files, Manifest(evals=(stated,))) == (named, (replace(stated, instructions=named),))


def test_lists_of_test_cases_are_evals_whose_responses_lie_beside_them() -> None:
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
    assert found(files, stated) == ((), (*stated.evals, *found_cases))


def test_the_evaluation_of_a_project_is_that_of_its_test_cases() -> None:
    text = "metrics: {accuracy_threshold: 0.5}\nevaluation_methods: [rouge]\nsignificance_level: 0.01\n"
    files = {"test_cases/sums.json": '[{"input": "1+1"}]', "evaluations/config/default_config.yaml": text}
    ((thresholds, settings),) = [(each.thresholds, json.loads(each.settings)) for each in found(files)[1]]
    assert thresholds == {"accuracy": 0.5}
    assert settings == {"evaluation_methods": ["rouge"], "significance_level": 0.01}


def test_what_the_manifest_names_stays_as_it_says() -> None:
    stated = Manifest(evals=(EvalConfig(id="other", dir="qa"), EvalConfig(id="a")))
    files = {"qa/promptfooconfig.yaml": CONFIGURATION, "qa/output.json": "{}", "evals/a/results.jsonl": ""}
    assert found(files, stated) == ((), stated.evals)


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
    repo.commit({f"{folder}promptfooconfig.yaml": CONFIGURATION, f"{folder}output.json": results})
    repo.checkout()
    bench = WorktreeProject.open(repo.path)
    eval_id = folder.strip("/") or "promptfoo"
    assert bench.eval_ids == (eval_id,)
    assert verify(bench, eval_id).result.scorecard.metric("pass_rate") == pytest.approx(4 / 12)


def test_judged_results_alone_are_shown_without_a_manifest(repo: GitRepo, tmp_path: Path) -> None:
    repo.commit({"evals/letters/results.jsonl": '{"id": "a", "score": 0.25}\n'})
    repo.commit({"evals/letters/results.jsonl": '{"id": "a", "score": 0.75}\n'})
    build_site(repo.path, tmp_path / "public")
    series = json.loads((tmp_path / "public/data/evals/letters.json").read_bytes())
    assert [point["then"]["metrics"]["score"] for point in series["points"]] == [0.25, 0.75]


def test_logs_of_inspect_are_an_eval_for_each_task() -> None:
    logs = ("T06-33-16-00-00_sums_a1.json", "T06-33-18-00-00_sums_b2.eval", "T06-34-00+00-00_word-play_c3.eval")
    files = {f"logs/2026-11-22{name}": "" for name in logs} | {"logs/logs.json": "", "qa/logs/x_y_z.json": ""}
    other = {"qa/logs/2026-11-23T07-00-00-00-00_sums_d4.json": "", "evals/b/logs/2026-11-23T07-00-00-00-00_x_y.txt": ""}
    assert found(files | other) == (
        (),
        (
            entry("sums", dir="logs", outputs="*_sums_*.[ej][vs][ao][ln]"),
            entry("word-play", dir="logs", outputs="*_word-play_*.eval"),
            entry("qa-sums", dir="qa/logs", outputs="*_sums_*.json"),
        ),
    )
    stated = Manifest(evals=(EvalConfig(id="other", dir="logs"),))
    assert found(files, stated) == ((), stated.evals)


@pytest.mark.parametrize(
    ("runs", "outputs"),
    [
        (("2026-06-30T08-15-00-000Z/.internal/index.jsonl",), "*/.internal/index.jsonl"),
        (("2026-06-30T08-15-00-000Z/index.jsonl", "2026/x.jsonl"), "*/index.jsonl"),
        (("runs/2026-06-30T08-15-00-000Z/index.jsonl",), "runs/*/index.jsonl"),
        (("a/.internal/index.jsonl", "runs/b/index.jsonl"), "**/index.jsonl"),
        (("a/.internal/index.jsonl", "a/t-1/sample-1/outputs/answer.md"), "*/**/{index.jsonl,answer.md}"),
    ],
)
def test_runs_of_agentv_are_one_eval(runs: tuple[str, ...], outputs: str) -> None:
    files = {f".agentv/results/{run}": "" for run in runs} | {".agentv/results/.cache/x": "", ".agentv/cache.json": ""}
    assert found(files) == ((), (entry("agentv", dir=".agentv/results", outputs=outputs),))


def test_runs_of_each_experiment_of_agentv_are_an_eval() -> None:
    files = dict.fromkeys((f".agentv/results/runs/{name}/2026-06-30T08/index.jsonl" for name in ("base", "wide")), "")
    assert ids(files) == {f"agentv-{name}": f".agentv/results/runs/{name}" for name in ("base", "wide")}


@pytest.mark.parametrize(
    ("home", "skill", "of_skill"),
    [
        ("totals-workspace", "totals", "totals"),
        ("totals-workspace", "totals", "skills/totals"),
        ("a/b/skills/totals-workspace", "totals", "a/b/skills/totals"),
        (".claude/skills/totals-workspace", "totals", ".claude/skills/totals"),
        ("totals/workspace", "totals", "totals"),
        ("workspace", "workspace", ""),
        ("totals-workspace", "totals", ""),
    ],
)
@pytest.mark.parametrize("run", ["", "run-1/"])
def test_a_workspace_of_a_skill_is_an_eval_driven_by_the_skill(home: str, skill: str, of_skill: str, run: str) -> None:
    files = dict.fromkeys((f"{home}/iteration-{number}/eval-a/with_skill/{run}grading.json" for number in (1, 2)), "{}")
    above = f"{of_skill}/" if of_skill else ""
    texts = (f"{above}SKILL.md", f"{above}references/**/*.md")
    one = entry(skill, dir=home, outputs="iteration-*/**/{grading,timing,feedback}.json", instructions=texts)
    skill_files = {f"{above}SKILL.md": "Add up.", f"{above}references/sums.md": "Round."}
    assert found({**files, **skill_files}) == (texts, (one,))
    assert found({**files, f"{above}SKILL.md": "Add up."})[0] == texts[:1]
    assert found(files) == ((), (entry(skill, dir=home, outputs="iteration-*/**/{grading,timing,feedback}.json"),))


def test_a_workspace_with_benchmarks_alone_is_an_eval_of_these_and_one_without_results_is_none() -> None:
    files = {
        "a-workspace/iteration-1/benchmark.json": '{"runs": [{"configuration": "with_skill"}]}',
        "b-workspace/iteration-1/eval-1/with_skill/out.txt": "",
        "c-workspace/iteration-1/benchmark.json": '{"run_summary": {"with_skill": {"pass_rate": {"mean": 0.5}}}}',
        "d-workspace/iteration-1/benchmark.json": '{"with_skill": {"pass_rate": 0.5}}',
        "e-workspace/iteration-1/eval-1/with_skill/grading.json": "{}",
        "e-workspace/iteration-2/benchmark.json": '{"runs": [{"configuration": "with_skill"}]}',
        "f-workspace/iteration-2/with_skill/eval-1-grading.json": "{}",
        "evals/iteration-1/a/with_skill/outputs/grading.json": "{}",
        "evals/iteration-1/benchmark.json": '{"metadata": {"skill_name": "sums"}, "runs": []}',
        "workspace/iteration-1/benchmark.json": '{"metadata": {"skill_name": "totals"}, "runs": []}',
        "workspace/iteration-1/eval-1/with_skill/grading.json": "{}",
    }
    _, (of_runs, of_summary, without_gradings, in_outputs, by_file, named) = found(files)
    assert without_gradings == entry("e", dir="e-workspace", outputs="iteration-*/benchmark.json")
    assert by_file.outputs == "iteration-*/**/*{grading,timing,feedback}*.json"
    assert (in_outputs.id, in_outputs.dir, in_outputs.outputs) == ("sums", "evals", named.outputs)
    assert (named.id, named.outputs) == ("totals", "iteration-*/**/{grading,timing,feedback}.json")
    assert of_runs == entry("a", dir="a-workspace", outputs="iteration-*/benchmark.json")
    assert (of_summary.id, of_summary.kind, of_summary.outputs) == ("c", "recorded", "iteration-*/benchmark.json")


def test_baselines_of_agentv_are_evals_that_are_overwritten() -> None:
    baselines = ("qa/suite", "qa/tone.eval", "evals/a/short", "evals/above", "evals/truth/x")
    files = {f"{path}.baseline.jsonl": "" for path in baselines} | {"evals/truth/ground_truth.csv": ""}
    assert found(files) == (
        (),
        (
            entry("qa", dir="qa", outputs="suite.baseline.jsonl"),
            entry("tone", dir="qa", outputs="tone.eval.baseline.jsonl"),
            entry("short", dir="evals/a", outputs="short.baseline.jsonl"),
        ),
    )


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
    assert f">{commits[0][:7]}</a>" in reports[2].partition("<dt>Instructions</dt>")[2].partition("</dd>")[0]
    assert "<dt>Instructions</dt><dd>the commit that the output records" in reports[2]
    assert broken_links(tmp_path / "public") == []


def test_evals_that_are_not_committed_are_found_in_the_work_tree_alone(repo: GitRepo) -> None:
    repo.commit({"CLAUDE.md": "Answer.\n", "evals/kept/results.jsonl": '{"id": "a", "score": 1}\n'})
    repo.checkout()
    for path, content in {
        "qa/promptfooconfig.yaml": "prompts: prompts/*.txt\n",
        "qa/output.json": (FIXTURES / "promptfoo-1.json").read_text(),
        "qa/prompts/plain.txt": "Hello\n",
        "evals/letters/results.jsonl": '{"id": "a", "score": 0.25}\n',
        "evals/sums.json": '[{"id": 1, "expected": "a", "output": "b"}]',
    }.items():
        (repo.path / path).parent.mkdir(parents=True, exist_ok=True)
        (repo.path / path).write_text(content)

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


def ids(files: dict[str, str], manifest: Manifest | None = None) -> dict[str, str | None]:
    """The folder of each eval that is found, by id."""
    return {each.id: each.dir for each in found(files, manifest)[1] if each not in (manifest or Manifest()).evals}


def test_an_eval_whose_id_another_one_has_is_called_by_its_folder() -> None:
    runs = {f"{folder}/{name}": "{}" for folder in ("a/qa", "b/qa") for name in ("promptfooconfig.yaml", "output.json")}
    assert ids(runs) == {"qa": "a/qa", "b-qa": "b/qa"}
    assert ids(runs, Manifest(evals=(EvalConfig(id="qa", dir="c"),))) == {"a-qa": "a/qa", "b-qa": "b/qa"}
    assert ids({**runs, "evals/qa/ground_truth.csv": ""}) == {"a-qa": "a/qa", "b-qa": "b/qa"}
    beside = {"x/q.baseline.jsonl": "", "x/q.eval.baseline.jsonl": "", "y/q.baseline.jsonl": ""}
    assert ids(beside) == {"q": "x", "x-q": "x", "y-q": "y"}


def test_what_several_look_for_in_one_folder_is_one_eval() -> None:
    assert ids({"evals/a/results.jsonl": "", "evals/a/a.baseline.jsonl": ""}) == {"a": "evals/a"}
    files = {"evals/a/results.jsonl": "", "evals/b/results.jsonl": "", "evals/b/ground_truth.csv": ""}
    assert ids(files) == {"a": None}


def test_what_a_run_of_a_skill_wrote_is_no_instruction_unless_a_glob_of_the_project_names_it() -> None:
    home = ".claude/skills/totals-workspace"
    evals = Manifest(evals=(entry("totals", dir=home, outputs="iteration-*/**/{grading,timing,feedback}.json"),))
    layout = Layout(SiteConfig(), evals)
    report = f"{home}/iteration-1/eval-a/with_skill/outputs/report.md"
    assert not layout.is_instruction(report)
    assert layout.is_instruction(".claude/skills/totals/SKILL.md")
    assert layout.is_instruction(f"{home}/notes.md")
    assert Layout(SiteConfig(instructions=("**/outputs/*.md",)), evals).is_instruction(report)


def test_a_folder_of_evals_without_a_benchmark_costs_no_reading() -> None:
    read: list[str] = []
    tree = {"": {"evals": True}, "evals": {"a": True}, "evals/a": {"truth.csv": False}}
    search = Search(lambda folder: tree.get(folder, {}), lambda path, _: read.append(path), lambda path, content: None)
    assert (list(skill_evals(search)), read) == ([], [])
