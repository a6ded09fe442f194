"""Inspect's logs as cases: sitegen's totals are those that Inspect wrote into the same log."""

import json
import sys
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import pytest
from msgspec.structs import replace

from sitegen.data_files.reading import UnreadableError, installed_for
from sitegen.importers import read_results
from sitegen.importers.case import AnswerGrade, JudgedCase, grade_of
from sitegen.importers.inspect_archive import MOST_BYTES, JsonArchive
from sitegen.importers.inspect_logs import WORDS, graders_of
from sitegen.model.metrics import Counts
from sitegen.model.outcomes import Unusable, Value
from sitegen.model.problems import Finding
from sitegen.model.recorded import Recorded
from sitegen.model.usage import Usage
from sitegen.scoring.run_statements import recorded_in
from tests.gitrepo import GitRepo
from tests.rows import in_table
from tests.scored import scored
from tests.sites import build_site, differs_from_cold

FIXTURES = Path(__file__).parent / "fixtures"
JSON, EVAL = ((FIXTURES / f"inspect.{ending}").read_bytes() for ending in ("json", "eval"))
AGAIN = "Let Inspect write the log again."
RERUN = "Run the task again, if the sample should count."


def stated(ending: str) -> dict[str, Any]:
    """What the log says of itself."""
    header: dict[str, Any] = json.loads(JSON) if ending == "json" else plain(JsonArchive(EVAL).json("header.json"))
    return header


def plain(value: Value) -> Any:
    return json.loads(json.dumps(value, default=float))


def content(ending: str) -> bytes:
    return JSON if ending == "json" else EVAL


def changed(**members: Any) -> bytes:
    """The log as JSON, with other members."""
    return json.dumps({**json.loads(JSON), **members}).encode()


def packed(files: Mapping[str, bytes]) -> bytes:
    buffer = BytesIO()
    with ZipFile(buffer, "w", ZIP_DEFLATED) as file:
        for name, each in files.items():
            file.writestr(ZipInfo(name), each, ZIP_DEFLATED)  # ZipInfo has a fixed date: tests are named by the bytes
    return buffer.getvalue()


def deflated() -> dict[str, bytes]:
    """The JSON log in the parts of an archive, as versions of Inspect before 0.3.206 packed them."""
    log = json.loads(JSON)
    samples = {f"samples/{each['id']}_epoch_1.json": json.dumps(each).encode() for each in log.pop("samples")}
    reductions = json.dumps(log.pop("reductions")).encode()
    return {**samples, "reductions.json": reductions, "header.json": json.dumps(log).encode()}


def means(cases: tuple[JudgedCase, ...]) -> dict[str, float]:
    """The mean of each judge's scores."""
    found: dict[str, list[float]] = {}
    for case in cases:
        for judge in case.judges:
            assert judge.score is not None
            found.setdefault(judge.name, []).append(judge.score)
    return {name: sum(scores) / len(scores) for name, scores in found.items()}


@pytest.mark.parametrize("ending", ["json", "eval"])
def test_totals_are_those_of_the_tool(ending):
    log, cases = stated(ending), read_results(f"x.{ending}", content(ending)).cases
    own = {
        (each["scorer"] if each["name"] == each["scorer"] else f"{each['scorer']}: {each['name']}"): metric["value"]
        for each in log["results"]["scores"]
        for metric in each["metrics"].values()
        if metric["name"] in ("accuracy", "mean")
    }
    assert means(cases) == pytest.approx(own)
    assert len(own) == 4
    epochs = log["eval"]["config"]["epochs"]
    assert len(cases) * epochs == log["results"]["total_samples"]
    assert sum(bool(case.judges) for case in cases) * epochs == log["results"]["completed_samples"]
    usage = log["stats"]["model_usage"]["scripted/one"]
    tokens = usage["input_tokens"] + usage["input_tokens_cache_read"]
    assert sum(case.call.usage.tokens_in or 0 for case in cases) == tokens
    assert sum(case.call.usage.tokens_out or 0 for case in cases) == usage["output_tokens"]
    card = scored("judged", {f"x.{ending}": content(ending)}).scorecard
    assert card.metric("score") == pytest.approx(sum(own.values()) / 4)
    accuracy = own["match"]
    assert card.metric("pass_rate") == pytest.approx(accuracy)


def test_a_sample_is_a_case_with_every_scorer_as_a_judge():
    case = read_results("x.json", JSON).cases[0]
    told = (case.id, case.input, case.expected, case.output)
    assert told == ("2", "What is the capital of Austria?", "Vienna", "Graz")
    assert case.call.model == "scripted/one"
    assert case.call.parameters == '{"max_connections": 1, "temperature": 0.5}'
    assert case.call.usage == Usage(tokens_in=13, tokens_out=2, latency=case.call.usage.latency)
    assert [(each.name, each.score, each.counts, each.misses) for each in case.judges] == [
        ("match", 0.0, (("match", Counts(fp=1, fn=1, wrong_value=1)),), ("match: Graz",)),
        ("brevity", 0.25, (), ()),
        ("style: form", 1.0, (("style: form", Counts(tp=1)),), ()),
        ("style: tone", 0.25, (), ()),
    ]


def test_epochs_are_one_case_with_the_score_that_the_reducer_made_of_them():
    case = read_results("x.eval", EVAL).cases[0]
    match = case.judges[0]
    assert (case.output, match.score, case.passed) == ("1: Graz\n\n2: Vienna\n\n3: Graz", 1.0, True)
    assert match.counts == (("match", Counts(tp=1, fp=2, fn=2, wrong_value=2)),)
    result = scored("judged", {"x.eval": EVAL})
    told = [(answer.output, answer.passed) for answer in result.cases[0].answers]
    assert told == [("Graz", False), ("Vienna", True), ("Graz", False)]
    epochs = [{**each, "epoch": place} for place in (1, 2, 3) for each in json.loads(JSON)["samples"][:1]]
    epochs[1] |= {"scores": {"match": {"value": "C"}}, "total_time": 100.0}
    alone_log = changed(samples=epochs, reductions=None)
    (alone,) = read_results("x.json", alone_log).cases
    assert alone.judges[0].score == pytest.approx(1 / 3)
    assert alone.passed == alone.judges[0].score
    usage = scored("judged", {"x.json": alone_log}).scorecard.usage
    assert usage
    assert (usage.answers, usage.latency_median, usage.latency_p95, usage.tokens_in) == (3, 0.014, 100.0, 39)


def test_an_archive_reads_like_json_however_it_is_packed():
    read, parts = read_results("x.json", JSON), deflated()
    assert read_results("x.eval", packed(parts)) == read
    assert read_results("x.eval", packed({**parts, "samples/2_epoch_1.json": b"{"})).cases == read.cases[1:]


def test_the_run_says_its_time_and_commit():
    for ending in ("json", "eval"):
        log = stated(ending)["eval"]
        grades = ("brevity", "style: tone")
        run = Recorded(timestamp=log["created"], git_commit=log["revision"]["commit"], grades=grades)
        assert read_results(f"x.{ending}", content(ending)).run == run
        assert recorded_in("judged", f"x.{ending}", content(ending), "{}") == run


def test_a_sample_that_failed_and_a_run_that_did_not_end_are_said():
    failed = Finding(
        "warning", "The sample 'nowhere' ended with an error", RERUN, value="ValueError('I know no Atlantis.')"
    )
    assert read_results("x.json", JSON).findings == (failed,)
    stopped = read_results("x.json", changed(status="error", error={"message": "out of credit"})).findings
    what = "The run ended with the status 'error': samples may be missing"
    assert stopped == (failed, Finding("warning", what, AGAIN, value="out of credit"))
    start = {"version": 2, "eval": stated("eval")["eval"]}
    begun = read_results("x.eval", packed({"_journal/start.json": json.dumps(start).encode()}))
    assert [each.message for each in begun.findings] == [
        "The run ended with the status 'started': samples may be missing",
        "There are no samples in the log",
    ]


@in_table
def test_a_value_is_taken_as_the_metrics_of_inspect_take_it(value, grade):
    stated = Unusable(value, "no number") if value in ("NaN", "Infinity") else value
    assert grade_of(stated, WORDS) == (AnswerGrade(*grade) if grade else None)


def test_scores_that_are_none_are_left_out_and_said_once():
    samples = json.loads(JSON)["samples"]
    for sample in samples:
        sample["scores"] = {"length": {"value": 40}, "kinds": {"value": [1, "0.5"]}}
    read = read_results("x.json", changed(samples=samples))
    told = [(each.name, each.score) for each in read.cases[0].judges]
    assert told == [("length", None), ("kinds: 1", 1.0), ("kinds: 2", 0.5)]
    assert [each.message for each in read.findings][1:] == [
        "Scores of 'length' are not numbers from 0 to 1, and are left out: 4"
    ]


@pytest.mark.parametrize(("version", "said"), [(1, "version 1"), (3, "version 3")])
def test_a_version_that_is_not_known_is_a_problem_that_names_the_one_that_is(version, said):
    with pytest.raises(UnreadableError) as refused:
        read_results("x.json", changed(version=version))
    assert refused.value.message == f"it has {said} of Inspect's logs, and only version 2 is known"


@pytest.mark.parametrize(
    ("body", "what"),
    [
        (b"PK\3\4 no archive", "it is not a zip archive, or is damaged"),
        (b"", "it is not a zip archive, or is damaged"),
        (EVAL[: len(EVAL) // 2], "it is not a zip archive, or is damaged"),
        (packed({"x.json": b"{}"}), "it is not a log of Inspect: it has no header.json"),
        (packed({"header.json": b" " * 20_000_001}), "its header is too large"),
        (packed({}) + b"PK\1\2" * 50_001, "it holds more than 50,000 files"),
        (EVAL.replace(b"\x28\xb5\x2f\xfd", b"\x28\xb5\x2f\x00"), "'header.json' in it cannot be unpacked"),
        (packed({"header.json": b"{}"}).replace(b"PK\1\2\x14\x03\x14\x00\x00", b"PK\1\2\x14\x03\x14\x00\x01"),
         "'header.json' in it cannot be unpacked"),
    ],
)  # fmt: skip
def test_an_archive_that_cannot_be_read_is_refused(body, what):
    with pytest.raises(UnreadableError) as refused:
        read_results("x.eval", body)
    assert refused.value.message == what


def test_a_sample_that_is_too_large_counts_by_its_summary():
    parts, whole = deflated(), read_results("x.json", JSON)
    summaries = [{key: each[key] for key in each if key != "output"} for each in json.loads(JSON)["samples"]]
    parts["summaries.json"] = json.dumps(summaries).encode()
    parts["samples/2_epoch_1.json"] += b" " * MOST_BYTES
    read = read_results("x.eval", packed(parts))
    by_id = {case.id: case for case in read.cases}
    assert by_id == {case.id: replace(case, output="") if case.id == "2" else case for case in whole.cases}
    what = "Samples are too large to be read; their summaries count, without outputs: 1"
    assert read.findings[0] == Finding("warning", what, "Log less of each sample.", value="2_epoch_1")


def test_without_the_extra_a_log_that_needs_it_is_a_problem_that_names_it(monkeypatch):
    assert installed_for(["logs/a.eval", "b.json"]) == "zstandard"
    assert installed_for(["*_sums_*.[ej][vs][ao][ln]"]) == "zstandard"
    assert installed_for(["b.json", "auto", "runs/*/c.jsonl"]) == ""
    monkeypatch.setitem(sys.modules, "zstandard", None)
    assert installed_for(["logs/a.eval"]) == ""
    with pytest.raises(UnreadableError) as refused:
        read_results("x.eval", EVAL)
    assert refused.value.fix == "In a clone of sitegen: pip install '.[inspect]'"


def graders(**members: Any) -> dict[str, str | None]:
    """Who gave each score of the first sample of the judged log, with other members of its ``eval``."""
    log = json.loads((FIXTURES / "inspect-judged.json").read_bytes())
    log["eval"] |= members
    case = read_results("x.json", json.dumps(log).encode()).cases[0]
    return {judge.name: judge.grader.name if judge.grader else None for judge in case.judges}


def test_totals_of_a_judged_log_are_those_of_the_tool():
    content = (FIXTURES / "inspect-judged.json").read_bytes()
    own = {each["name"]: each["metrics"]["accuracy"]["value"] for each in json.loads(content)["results"]["scores"]}
    assert means(read_results("x.json", content).cases) == own


def test_a_scorer_that_asks_a_model_is_called_by_the_model_and_its_prompt():
    lenient = "scripted/lenient prompt ce16bf3bf699"
    assert graders() == {"match": None, "model_graded_qa": "scripted/strict", "model_graded_qa1": lenient}
    assert graders(model_roles={})["model_graded_qa"] == "scripted/one"
    voting = {"grader": [{"model": "a"}, {"model": "b"}]}
    assert graders(model_roles=voting)["model_graded_qa"] == "a and b"
    scorers = [{"name": "match"}, {"name": "mine/model_graded_qa", "options": {"judge_model": "j", "strictness": 2}}]
    told = graders(scorers=scorers)
    assert told == {"match": None, "model_graded_qa": "j prompt 7208edfe38e5", "model_graded_qa1": None}


def test_a_scorer_of_ones_own_asks_the_grader_of_the_run_if_no_other_is_known_to():
    scorers = [{"name": "match"}, {"name": "model_graded_qa", "options": {}}]
    own = [{"name": "match"}, {"name": "tone"}]
    log = json.loads((FIXTURES / "inspect-judged.json").read_bytes())
    assert list(graders_of(log["eval"] | {"scorers": own})) == ["tone"]
    assert list(graders_of(log["eval"] | {"scorers": scorers + own[1:]})) == ["model_graded_qa"]
    assert graders_of(log["eval"] | {"scorers": own, "model_roles": {}}) == {}


@pytest.mark.filterwarnings("ignore::sitegen.errors.Notice")
def test_what_a_log_states_is_read_again_once_the_extra_is_installed(tmp_path, monkeypatch):
    repo, site = GitRepo(tmp_path / "project"), tmp_path / "site"
    manifest = 'evals:\n  qa: {kind: judged, dir: logs, outputs: "*.eval"}\n'
    repo.commit({"evals/manifest.yaml": manifest, "logs/a.eval": EVAL})
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "zstandard", None)
        build_site(repo.path, site, jobs=1)
    repo.commit({"README.md": "Runs."})
    build_site(repo.path, site, jobs=1)
    assert differs_from_cold(site, repo.path) == []
