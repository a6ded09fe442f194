"""Prompts on test cases, as the reference of their framework has it: configuration, files, commands."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from sitegen.commands.signatures import app
from sitegen.config.models import Llm
from sitegen.engine.cached_kinds import TaskCache
from sitegen.engine.timeline import timeline_of
from sitegen.errors import ConfigurationError, SitegenError
from sitegen.llm.client import KEY as KEY_NAME
from sitegen.project import Options, open_project
from sitegen.questions.work_tree import WorktreeProject
from tests.messages_api import KEY, Reply, serving
from tests.rows import in_table
from tests.sources.tables import HERE
from tests.unit.test_schemas import complaints

EVAL = "codebase_understanding_examples"
CASES = f"test_cases/examples/{EVAL}.json"
BASE, ENHANCED = (f"templates/{name}/codebase-overview-template.md" for name in ("base", "enhanced"))
RESPONSES = f"test_cases/examples/{EVAL}/responses-templates.base.codebase-overview-template.jsonl"
RIGHT = ["src/main.py", "pip install .", "tests/", "Rust", "package.json", "api, core and store"]


@pytest.fixture
def project(built, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The work tree of the document's project, to write into; the current folder."""
    folder = tmp_path / "project"
    shutil.copytree(built("prompt-evaluation").repo.path, folder)
    monkeypatch.chdir(folder)
    monkeypatch.setenv(KEY_NAME, KEY)
    return folder


def command(*words: str) -> int:
    """The exit code of a command in this process."""
    try:
        return int(app(list(words), standalone_mode=False) or 0)
    except SitegenError as error:
        print(error)
        return error.exit_code


def printed(name: str) -> Any:
    """A structure as the document prints it, without the remarks in it and what three dots stand for."""
    text = (HERE / "prompt-evaluation" / "printed" / name).read_text(encoding="utf-8")
    return json.loads(re.sub(r"/\*.*?\*/|, \.\.\.(?=\])", "", text))


def differences(stated: Any, written: Any, at: str = "") -> list[str]:
    """Where the keys of a written document are not those of the printed one, in this order; {} stands for any."""
    if not isinstance(stated, dict) or not stated:
        return [] if isinstance(written, (type(stated), int | float | None)) else [at]
    if not isinstance(written, dict) or list(stated) != list(written):
        return [at]
    return [each for key in stated for each in differences(stated[key], written[key], f"{at}.{key}")]


def test_the_configuration_of_the_framework_is_found_where_it_lies(project):
    stated = yaml.safe_load((project / "evaluations/config/default_config.yaml").read_text())
    assert complaints("evaluation-config", stated) == []
    bench = WorktreeProject.open(project)
    assert bench.config.llm == Llm(model="claude-3-opus-20240229", max_tokens=2048, temperature=0.0)
    entry = bench.place(EVAL).entry
    assert dict(entry.thresholds) == {"accuracy": 0.85, "consistency_score": 0.8, "average_quality": 4.0}
    assert json.loads(entry.settings) == {"evaluation_methods": ["exact_match", "consistency", "quality"]}


def test_sitegen_toml_goes_before_a_configuration_that_was_only_found(project):
    (project / "sitegen.toml").write_text('[llm]\nmodel = "another"\n')
    assert WorktreeProject.open(project).config.llm == Llm(model="another", max_tokens=2048, temperature=0.0)


def test_a_named_configuration_decides_methods_and_thresholds_of_verify_one(project, capsys):
    Path("own.yaml").write_text("evaluation_methods: [exact_match]\nmetrics: {accuracy_threshold: 0.99}\n")
    words = ("verify-one", EVAL, RESPONSES, "--config", "own.yaml", "--output", "results/verified.json", "--json")
    assert command(*words) == 0
    found = json.loads(capsys.readouterr().out)
    assert json.loads(Path("results/verified.json").read_text()) == found
    assert {name: (each["threshold"], each["meets_threshold"]) for name, each in found["results"].items()} == {
        "exact_match": (0.99, False)
    }


@in_table
def test_what_is_not_understood_in_a_named_configuration_does_not_count(project, text, what, fix):
    Path("own.yaml").write_text(text)
    [problem] = WorktreeProject.open(project).configured(EVAL, Path("own.yaml")).misread
    assert (problem.severity, problem.path, problem.message) == ("error", "own.yaml", f"{what} It does not count.")
    assert fix in problem.fix


def test_a_named_configuration_without_any_known_key_is_an_error(project):
    Path("own.yaml").write_text("acuracy: 1\n")
    with pytest.raises(ConfigurationError, match="The key 'acuracy' is not known"):
        WorktreeProject.open(project).configured(EVAL, Path("own.yaml"))


UNKNOWN_KEYS = """model: x
metrics:
  accuracy_threshold: 0.9
  bleu_minimum: 0.4
comparisons: {significance_level: 0.05}
pictures: {dpi: 300}
"""


def test_an_unknown_key_of_a_configuration_is_lost_alone_and_named(project, capsys):
    (project / "evaluations/config/default_config.yaml").write_text(UNKNOWN_KEYS)
    bench = WorktreeProject.open(project)
    assert (bench.config.llm.model, dict(bench.place(EVAL).entry.thresholds)["accuracy"]) == ("x", 0.9)
    problems = timeline_of(open_project(Options(repo=project, worktree=True), ""), TaskCache(())).problems
    assert [(each.severity, each.line, each.message) for each in problems] == [
        ("note", 4, "The key 'metrics.bleu_minimum' is not known. It does not count."),
        ("note", 5, "The key 'comparisons' is not known. It does not count."),
        ("note", 6, "The key 'pictures' is not known. It does not count."),
    ]
    Path("own.yaml").write_text(UNKNOWN_KEYS.replace("0.9", "0.99"))
    assert command("verify-one", EVAL, RESPONSES, "--config", "own.yaml") == 0
    said = capsys.readouterr()
    assert "0.99" in said.out
    assert "The key 'metrics.bleu_minimum' is not known." in said.err
    assert "own.yaml:4" in said.err


def test_what_is_stated_in_tables_of_the_framework_counts_and_what_it_has_for_itself_is_no_problem(project):
    (project / "evaluations/config/default_config.yaml").write_text(
        "model: x\ncomparison: {significance_level: 0.01, minimum_sample_size: 30}\nlogging: {level: INFO}\n"
        "visualization: {plot_format: tiff}\nquality_evaluation: {grading_model: y, use_rubric: true}\n"
        "consistency_evaluation: {max_group_size: 5}\n"
    )
    bench = WorktreeProject.open(project)
    assert (bench.config.llm.judge_model, json.loads(bench.place(EVAL).entry.settings)) == (
        "y",
        {"significance_level": 0.01},
    )
    [problem] = timeline_of(open_project(Options(repo=project, worktree=True), ""), TaskCache(())).problems
    assert (problem.line, problem.message.partition(" ")[0]) == (4, "plot_format")


def test_an_entry_with_an_unknown_key_that_is_named_is_read_without_it(project, capsys):
    Path("own.yaml").write_text("thresholds: {accuracy: 0.99}\nspeed: 3\n")
    assert command("verify-one", EVAL, RESPONSES, "--config", "own.yaml") == 0
    said = capsys.readouterr()
    assert "0.99" in said.out
    assert "The key 'speed' is not known." in said.err


def test_a_wrong_value_in_a_found_configuration_is_lost_alone_and_stops_what_calls_a_model(project, capsys):
    text = (
        "model: x\nspeed: 3\nmax_tokens: many\nmetrics: {accuracy_threshold: 0.9}\nevaluation_methods: [rouge, odd]\n"
    )
    (project / "evaluations/config/default_config.yaml").write_text(text)
    entry = WorktreeProject.open(project).place(EVAL).entry
    assert (dict(entry.thresholds)["accuracy"], json.loads(entry.settings)) == (0.9, {"evaluation_methods": ["rouge"]})
    assert command("verify-one", EVAL, RESPONSES) == 0
    assert "The key 'speed' is not known." in capsys.readouterr().err
    assert command("respond", EVAL, "--prompt", BASE) == 2
    assert "evaluations/config/default_config.yaml:3" in capsys.readouterr().out


def test_a_configuration_that_cannot_be_read_does_not_count_and_stops_what_calls_a_model(project, capsys):
    (project / "evaluations/config/default_config.yaml").write_text("model: x\n- y\n")
    assert command("respond", EVAL, "--prompt", BASE) == 2
    assert "evaluations/config/default_config.yaml:2" in capsys.readouterr().out
    options = Options(repo=project, worktree=True)
    problems = timeline_of(open_project(options, ""), TaskCache(())).problems
    assert [(each.severity, each.path, each.line, each.message) for each in problems] == [
        ("warning", "evaluations/config/default_config.yaml", 2, problems[0].message)
    ]
    assert problems[0].message.startswith("The configuration cannot be read: ")
    assert problems[0].message.endswith(" Nothing of the file counts.")


@pytest.mark.filterwarnings("ignore:The model 'claude-3-opus-20240229' is deprecated:DeprecationWarning")
def test_one_command_responds_grades_scores_and_writes_the_printed_structure(project, capsys):
    (project / RESPONSES).unlink()
    questions = [case["input"] for case in json.loads((project / CASES).read_text())]

    def script(message: str, before: int) -> Reply:
        number = next(number for number, question in enumerate(questions) if question in message)
        return Reply(text="4" if "<answer>" in message else RIGHT[number].upper())

    with serving(script) as api:
        words = ("respond", "--prompt", BASE, "--test_cases", CASES, "--output", "results/own.json")
        assert command(*words, "--base-url", api.url, "--methods", "exact_match", "consistency", "quality") == 0
    asked = [(each["model"], each["max_tokens"], each["temperature"]) for each in api.requests]
    assert asked == [("claude-3-opus-20240229", 2048, 0.0)] * 6 + [("claude-haiku-5-5", 2048, 0.0)] * 6
    written = json.loads((project / "results/own.json").read_text())
    assert differences(printed("evaluation.txt"), written) == []
    assert complaints("evaluation", written) == []
    assert (written["prompt_path"], written["test_cases_path"], written["test_cases_count"]) == (BASE, CASES, 6)
    assert written["results"] == {
        "exact_match": {"accuracy": 1.0, "correct": 5, "total": 5, "meets_threshold": True},
        "consistency": {"consistency_score": None, "total_comparisons": 0, "meets_threshold": None},
        "quality": {"average_quality": 4.0, "quality_scores": [4] * 6, "total_evaluated": 6, "meets_threshold": True},
    }
    assert written["summary"]["overall_status"] == "PASS"
    said = capsys.readouterr()
    assert f"{RESPONSES}: 6 responses" in said.out
    assert f"{RESPONSES}: 6 grades" in said.out
    assert re.search(r"Accuracy +1\.000  PASS \(at least 0\.85\)", said.out)
    assert said.err.splitlines()[-1] == "wrote results/own.json"


def test_a_judge_that_grades_its_own_answers_is_warned_of(project, capsys):
    rows = [json.loads(line) for line in (project / RESPONSES).read_text().splitlines()]
    for row in rows:
        del row["quality"]
    rows[0]["model"] = "claude-haiku-5-5-20260101"
    (project / RESPONSES).write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    Path("own.yaml").write_text("judge_model: another\nmax_tokens: 10\n")
    with serving(lambda message, before: Reply(text="4")) as api:
        words = ("judge", EVAL, "--variant", "templates.base.codebase-overview-template", "--base-url", api.url)
        assert command(*words) == 0
        assert {(each["model"], each["max_tokens"]) for each in api.requests} == {("claude-haiku-5-5", 2048)}
        assert "sitegen: 1 of the responses in " in capsys.readouterr().err
        del api.requests[:]
        assert command(*words, "--again", "--config", "own.yaml") == 0
    assert {(each["model"], each["max_tokens"]) for each in api.requests} == {("another", 10)}
    assert "grades its own answers" not in capsys.readouterr().err


def test_prompts_are_compared_by_their_files_and_every_file_is_written_as_printed(project, tmp_path):
    out = tmp_path / "comparison"
    assert command("compare", BASE, ENHANCED, "--test_cases", CASES, "--output-dir", str(out)) == 0
    assert sorted(path.name for path in out.iterdir()) == [
        "comparison_plots.png",
        "comparison_report.md",
        "comparison_results.json",
        "evaluation_1.json",
        "evaluation_2.json",
    ]
    found = json.loads((out / "comparison_results.json").read_text())
    assert differences(printed("comparison.txt"), found) == []
    assert complaints("prompt-comparison", found) == []
    assert found["prompt_paths"] == [BASE, ENHANCED]
    for number in (1, 2):
        single = json.loads((out / f"evaluation_{number}.json").read_text())
        assert differences(printed("evaluation.txt"), single) == []
        assert single == found["individual_results"][f"prompt_{number}"]
    assert [name for name, _ in found["statistical_comparison"]["overall_ranking"]] == ["prompt_2", "prompt_1"]
    assert found["recommendation"]["recommended_prompt"] == "prompt_2"
    assert (out / "comparison_report.md").read_text().startswith(f"# {EVAL}: {BASE} against {ENHANCED}\n")


def test_the_level_of_significance_and_the_form_of_the_picture_are_configured(project, tmp_path, capsys):
    """The grades 3 4 4 3 4 3 against 5 5 5 5 5 4 differ by p 0.0007 as samples, and by 0.031 as pairs."""
    Path("strict.yaml").write_text("significance_level: 0.0001\nplot_format: svg\n")
    words = ("compare", BASE, ENHANCED, "--test_cases", CASES)
    assert command(*words, "--json") == 0
    usual = json.loads(capsys.readouterr().out)
    assert command(*words, "--config", "strict.yaml", "-o", str(tmp_path / "strict")) == 0
    strict = json.loads((tmp_path / "strict" / "comparison_results.json").read_text())
    found = [each["statistical_comparison"]["pairwise_comparisons"]["prompt_1_vs_prompt_2"] for each in (usual, strict)]
    assert [each["overall_winner"] for each in found] == ["prompt_2", "tie"]
    assert [each["significant_differences"] for each in found] == [["quality"], []]
    quality = found[0]["metrics_comparison"]["quality"]
    assert (round(quality["p_value"], 4), quality["paired_p_value"]) == (0.0007, 0.03125)
    assert (quality["winner"], quality["decision"], quality["disagrees"]) == ("prompt_2", "better", False)
    assert (tmp_path / "strict" / "comparison_plots.svg").is_file()
    assert "\nWinner: a tie, by p < 0.0001.\n" in (tmp_path / "strict" / "comparison_report.md").read_text()


@in_table
def test_prompts_that_cannot_be_compared_end_with_what_to_do(project, capsys, words, what, fix):
    Path("README.md").write_text("x")
    assert command("compare", *words) == 2
    said = capsys.readouterr().out
    assert said.startswith(what)
    assert fix in said


def test_test_cases_are_evals_and_their_responses_lie_beside_them(built):
    site = built("prompt-evaluation")
    series = json.loads((site.out / "data" / "evals" / f"{EVAL}.json").read_text())
    assert [(each["then"]["metrics"]["accuracy"], each["cause"]) for each in series["points"]] == [
        (0.7, ["outputs"]),
        (0.8, ["outputs"]),
    ]
    assert set(series["points"][-1]["instructions"]) == {ENHANCED}
    page = (site.out / "evals" / EVAL / "variants.html").read_text()
    assert "templates.base.codebase-overview-template" in page


def test_results_that_the_framework_wrote_are_history_that_names_its_prompt(built):
    site = built("prompt-evaluation")
    series = json.loads((site.out / "data" / "evals" / "codebase-overview-template.json").read_text())
    (point,) = series["points"]
    stated = printed("evaluation.txt")["results"]
    assert point["then"]["metrics"]["exact_match.accuracy"] == stated["exact_match"]["accuracy"]
    assert point["then"]["metrics"]["quality.average_quality"] == stated["quality"]["average_quality"]
    assert set(point["instructions"]) == {BASE}
