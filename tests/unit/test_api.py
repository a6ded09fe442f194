"""sitegen from Python: the examples of the docstrings, undefined numbers in frames, and bad input."""

import doctest
import gc
import json
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from sitegen import api
from sitegen.api import outputs
from sitegen.errors import ConfigurationError, NothingToReportError, RepositoryError, SecretsError
from sitegen.questions import exporting
from sitegen.questions.comparison_files.changes import ResultChange
from sitegen.text.values import to_json_bytes
from tests.gitrepo import START
from tests.receipts import EVAL, write_receipts
from tests.sites import run

CASES = [{"id": "open", "expected": "No", "category": "hours"}, {"id": "ivy", "expected": "Daily"}]
ANSWERS = [{"case_id": "open", "output": "no"}, {"case_id": "ivy", "output": "Weekly"}]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    repo = write_receipts(tmp_path / "project")
    monkeypatch.chdir(repo.path)
    return repo.path


EXAMPLES = [test for part in (api, outputs) for test in doctest.DocTestFinder().find(part) if test.examples]


def test_every_public_function_has_an_example():
    names = sorted({test.name.rpartition(".")[2] for test in EXAMPLES})
    assert " ".join(names) == "build check compare evaluate export history score"


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda test: test.name)
@pytest.mark.usefixtures("project")
def test_the_examples_of_the_docstrings_are_true(example):
    said: list[str] = []
    assert doctest.DocTestRunner().run(example, out=said.append, clear_globs=False).failed == 0, "".join(said)


def test_the_document_is_what_the_command_prints(project):
    printed = json.loads(run("verify-one", "receipts", "--json", cwd=project).stdout)
    document = json.loads(to_json_bytes(api.score(".", "receipts").document()))
    assert document["metadata"].pop("timestamp") is None
    assert printed["metadata"].pop("timestamp")
    assert document == printed


@pytest.mark.usefixtures("project")
def test_the_frame_of_a_history_has_the_columns_it_names_and_stable_types():
    table = api.history(".", "receipts").frame()
    named = re.findall(r"``(\w+)``", (exporting.points.__doc__ or "").partition("Columns:")[2])
    assert [name for name in named if name not in table.columns] == []
    assert table["edits"].tolist() == [1, 1]
    assert table["committed_at"].tolist()[0] > datetime.fromtimestamp(START - 1, UTC)
    empty = api.history(".", "receipts", rev="HEAD~2").frame()
    assert (len(empty), empty.dtypes.drop("committed_at").to_dict()) == (0, table.dtypes.drop("committed_at").to_dict())


def test_an_undefined_number_is_none_in_values_and_missing_in_frames(repo):
    repo.check_in({f"{EVAL}/ground_truth.json": '{"shop": null}', f"{EVAL}/extracted.json": '{"shop": null}'})
    scored = api.score(repo.path, "receipts")
    assert (scored.metrics["f1"], scored.frame()["expected"].tolist()) == (None, [None])
    history = api.history(repo.path, "receipts")
    assert history.points[0].scorecard.metric("f1") is None
    for table in (history.frame(), history.fields()):
        assert (table["tn"].tolist(), table["f1"].dtype, table["f1"].isna().tolist()) == ([1], float, [True])


def test_without_anything_expected_there_is_no_verdict():
    found = api.evaluate([{"id": "open"}], [{"case_id": "open", "output": "no"}])
    assert (found.metrics["accuracy"], found.verdict.overall_status, len(found.frame())) == (None, "SKIP", 0)


@pytest.mark.usefixtures("project")
def test_settings_go_before_those_of_the_manifest():
    usual = api.score(".", "receipts", f"{EVAL}/results/iteration-001/extracted.json")
    other = api.score(".", "receipts", f"{EVAL}/results/iteration-001/extracted.json", convention="omissions_only")
    assert (usual.metrics["recall"], other.metrics["recall"]) == (2 / 4, 2 / 3)


@pytest.mark.usefixtures("project")
def test_a_build_leaves_the_garbage_collector_of_its_caller_as_it_was():
    before = gc.get_threshold()
    api.build(".", out="public", jobs=1)
    assert gc.get_threshold() == before


@pytest.mark.usefixtures("project")
def test_a_public_build_raises_what_the_command_exits_with():
    Path("CLAUDE.md").write_text('key = "AKIAQ7XHLDPNR4VC2STE"\n', encoding="utf-8")
    with pytest.raises(SecretsError, match="like a secret: the site must not be published"):
        api.build(".", out="public", worktree=True, public=True)
    assert api.build(".", out="public", worktree=True).errors == 0


@pytest.mark.usefixtures("project")
def test_the_address_of_a_built_site_is_on_its_pages():
    page = Path(api.build(".", out="public", base_url="https://evals.example.org/x/").page)
    assert '<link rel="canonical" href="https://evals.example.org/x/">' in page.read_text(encoding="utf-8")


def test_the_gate_says_what_the_command_prints(project):
    found = api.check(".", "HEAD~1", exact=True)
    printed = run("check", "--base", "HEAD~1", "--exact", cwd=project)
    assert (printed.stdout, printed.returncode) == (found.markdown(), 0)
    document = run("check", "--base", "HEAD~1", "--exact", "--json", cwd=project).stdout
    assert json.loads(to_json_bytes(found.report)) == json.loads(document)


@pytest.mark.usefixtures("project")
def test_the_gate_looks_at_what_is_not_committed_yet():
    Path(f"{EVAL}/results/iteration-002/extracted.json").write_text("[]", encoding="utf-8")
    found = api.check(".", "HEAD", worktree=True)
    recall = found.report.evals[0].metrics[2]
    assert (found.evals, recall.base, recall.head) == ({"receipts": "inconclusive"}, 1.0, 0.0)


def test_records_and_files_give_the_same(tmp_path):
    (tmp_path / "cases.json").write_text(json.dumps(CASES), encoding="utf-8")
    (tmp_path / "answers.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in ANSWERS), encoding="utf-8")
    files = api.evaluate(tmp_path / "cases.json", str(tmp_path / "answers.jsonl"))
    assert files == api.evaluate(CASES, ANSWERS)
    told = files.frame()[["document", "path", "attribute", "outcome"]].values.tolist()
    assert told == [["open", "hours", "hours", "correct"], ["ivy", "answer", "(no category)", "wrong_value"]]


def test_what_pandas_and_numpy_write_is_understood():
    import numpy
    import pandas

    cases = pandas.DataFrame([{"id": 1, "expected": "No"}, {"id": 2}]).to_dict("records")
    vectors = numpy.eye(2)
    answers = [{"case_id": numpy.int64(1 + k), "output": "No", "embedding": vectors[k]} for k in range(2)]
    found = api.evaluate(cases, answers)
    assert (found.findings, found.metrics["accuracy"], found.metrics["consistency_score"]) == ((), 1.0, 0.0)


def test_what_is_wrong_inside_records_is_a_finding():
    found = api.evaluate(CASES, [{"case_id": "open", "output": "No"}, {"output": "stray"}])
    told = [finding.message for finding in found.findings]
    assert told == ["Response 2 has no case_id", "Test cases without a response (1): ivy"]
    assert (found.status, found.metrics["accuracy"]) == ("scored", 0.5)


@pytest.mark.usefixtures("project")
def test_two_outputs_are_compared_under_the_names_given():
    first = api.score(".", "receipts", f"{EVAL}/results/iteration-001/extracted.json")
    change = api.compare(first, api.score(".", "receipts"), names=("before", "after"))
    assert isinstance(change, ResultChange)
    assert (change.eval_id, change.before, change.after) == ("receipts", "before", "after")


def test_what_cannot_be_done_says_why(project, tmp_path):
    found = api.evaluate(CASES, ANSWERS)
    with pytest.raises(ConfigurationError, match=r"'responses' and 'fields' cannot be compared"):
        api.compare(found, api.score(".", "receipts"))  # type: ignore[call-overload]
    with pytest.raises(ConfigurationError, match=r"Both are called 'x'\."):
        api.compare(found, found, names=("x", "x"))
    with pytest.raises(ConfigurationError, match=r"There is no eval 'reciepts'\."):
        api.history(project, "reciepts")
    with pytest.raises(NothingToReportError, match=r"There is no such output\."):
        api.score(project, "receipts", "missing.json")
    with pytest.raises(NothingToReportError, match=r"No such file or directory\."):
        api.evaluate(tmp_path / "missing.json", ANSWERS)
    with pytest.raises(ConfigurationError, match=r"The records cannot be written as JSON: set is no JSON"):
        api.evaluate([{"id": {1, 2}}], ANSWERS)
    with pytest.raises(RepositoryError, match=r"There is no such folder\."):
        api.build(tmp_path / "nowhere")
