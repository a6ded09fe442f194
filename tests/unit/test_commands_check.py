"""``sitegen check`` as a user and a workflow run it: real repositories with a branch that goes to main."""

import json
import subprocess
import xml.etree.ElementTree as ET
from collections.abc import Collection
from datetime import UTC, datetime
from pathlib import Path

import jsonschema
import pytest

from sitegen import schemas
from sitegen.analysis.change import change
from sitegen.errors import SitegenError
from sitegen.project import Options
from sitegen.questions import gate
from sitegen.questions.comparison import compare_revisions
from sitegen.questions.gate_markdown import gate_markdown
from sitegen.questions.gate_report import read_report
from sitegen.questions.study import read_series
from sitegen.text.values import schema_first
from tests.gitrepo import GitRepo, put
from tests.rows import in_table
from tests.sites import run

FALL = (
    "F1 got worse by 0.225, and at most 0 is allowed: 0 values fixed, 9 broken, p 0.004. "
    "Expect the same of other documents: between −0.344 and −0.106"
)
NOTES = "evals/notes"
STALE = "not measured: instructions were edited, and no new output was made with them"
MADE = {f"{NOTES}/results/iteration-002/eval-results.json": '{"metadata": {"git_commit": "BASE"}}'}
FIRST = "results/iteration-001/extracted.json"
SECOND = f"{NOTES}/results/iteration-002/extracted.json"
DOCUMENTS = [f"note-{number:02}" for number in range(20)]
TRUTH = "id,total,shop\n" + "".join(f"{name},{number},Fern\n" for number, name in enumerate(DOCUMENTS))
MAPPING = "csv_to_json: {total: total, shop: shop}\ndocuments: {path: notes, key: id}\n"
WORKFLOW = ("GITHUB_BASE_REF", "GITHUB_STEP_SUMMARY")


def output(wrong: Collection[int] = (), documents: list[str] = DOCUMENTS) -> str:
    """What a model wrote, with the total of some documents wrong."""
    notes = [
        {"id": name, "total": 1_000 if number in wrong else number, "shop": "Fern"}
        for number, name in enumerate(documents)
    ]
    return json.dumps({"notes": notes})


@pytest.fixture(autouse=True)
def _outside_of_a_workflow(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in WORKFLOW:
        monkeypatch.delenv(variable, raising=False)


@pytest.fixture
def repo(repo: GitRepo) -> GitRepo:
    """A project with one output that has one total wrong; ``work`` branches off here."""
    repo.commit(
        {
            "CLAUDE.md": "Read the note.\n",
            ".gitignore": ".sitegen\n",
            f"{NOTES}/ground_truth.csv": TRUTH,
            f"{NOTES}/field_mapping.yaml": MAPPING,
            f"{NOTES}/results/iteration-001/extracted.json": output({0}),
        },
        message="Begin",
    )
    return repo


def work(repo: GitRepo, files: dict[str, str | bytes | None], message: str = "Work") -> str:
    """A commit on the branch, which is checked out."""
    begun = repo.git("rev-parse", "--verify", "-q", "refs/heads/work", check=False)
    sha = repo.commit(files, message=message, branch="work", parent=begun or repo.git("rev-parse", "main"))
    repo.git("symbolic-ref", "HEAD", "refs/heads/work")
    repo.checkout()
    return sha


def worse(repo: GitRepo) -> str:
    """Half of the totals go wrong, with an edit of the instructions."""
    return work(repo, {"CLAUDE.md": "Guess.\n", SECOND: output(range(10))}, message="Read faster, says @nobody")


def check(repo: GitRepo, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return run("check", "--base", "main", "--repo", repo.path, *arguments)


def report(repo: GitRepo, *, worktree: bool = False, exact: bool = False):
    """The report as JSON, made in this process."""
    found = json.loads(schema_first(gate.check(Options(repo=repo.path, worktree=worktree), "main", exact=exact)))
    jsonschema.validate(found, json.loads(schemas.content("gate")))
    return found


def rows(lines: list[str]) -> list[list[str]]:
    """The tables of a report."""
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line.startswith("|")]


def test_an_output_that_may_have_been_made_before_the_edit_committed_with_it_is_said_to_be_in_doubt(repo):
    base, begun = repo.git("rev-parse", "main"), int(repo.git("show", "-s", "--format=%ct", "main"))
    made = datetime.fromtimestamp(begun + 3600, UTC).isoformat()
    head = work(
        repo,
        {
            "CLAUDE.md": "Guess.\n",
            SECOND: output(range(10)),
            f"{NOTES}/results/iteration-002/eval-results.json": json.dumps({"metadata": {"timestamp": made}}),
        },
    )
    assert (
        "Instructions edited since the base, "
        f"of `notes`: `CLAUDE.md` (`{head[:7]}`). The newest output may have been made with `{base[:7]}` instead."
        in check(repo).stdout.splitlines()
    )
    document = report(repo)
    assert document["evals"][0]["or_edit"] == base
    read_report(json.dumps(document).encode())
    document["evals"][0]["or_edit"] = "@nobody"
    with pytest.raises(SitegenError, match="the id of a commit is not valid"):
        read_report(json.dumps(document).encode())


def test_what_main_did_meanwhile_is_not_the_branchs_doing(repo):
    repo.commit({SECOND: output()})
    work_of = repo.git("rev-parse", "main~1")
    repo.git("branch", "work", work_of)
    work(repo, {"README.md": "Ours.\n"})
    found = report(repo)
    assert (found["base"], found["passed"]) == (work_of, True)
    exact = report(repo, exact=True)
    assert (exact["base"], exact["evals"][0]["metrics"][0]["base"]) == (repo.git("rev-parse", "main"), 1.0)


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"CLAUDE.md": "Guess.\n"}, [STALE]),
        ({"CLAUDE.md": "Guess.\n", SECOND: output({1}), **MADE}, [STALE]),
        ({"CLAUDE.md": "Guess.\n", SECOND: output({0})}, []),  # the output was made again, and is the same
        (
            {f"{NOTES}/ground_truth.csv": "".join(TRUTH.splitlines(keepends=True)[:-2]) + "new,1,Fern\n"},
            ["18 documents in common; not matched: 2 only at the base (note-18, note-19), 1 only at the head (new)"],
        ),
        (
            {f"{NOTES}/field_mapping.yaml": MAPPING + "ignore: [total]\n", SECOND: output(range(20))},
            ["judged at the base and not at the head: total"],
        ),
        ({SECOND.replace("json", "xlsx"): "PK"}, ["without an output that can be read: iteration-002"]),
        (
            {"evals/manifest.yaml": f"evals: {{notes: {{outputs: {FIRST}, instructions: [a]}}}}\n", "CLAUDE.md": ""},
            [f"other settings: outputs {FIRST} (auto at the base), instructions a (default at the base)"],
        ),
        (
            {
                **dict.fromkeys((f"{NOTES}/ground_truth.csv", f"{NOTES}/field_mapping.yaml")),
                **dict.fromkeys((f"{NOTES}/ground_truth.json", SECOND), json.dumps(json.loads(output())["notes"])),
            },
            [f"the ground truth byte for byte: {SECOND}"],
        ),
    ],
)
def test_caveats_stand_first_in_every_form(repo, tmp_path, files, said):
    base = repo.git("rev-parse", "main")
    work(repo, {path: content and content.replace("BASE", base) for path, content in files.items()})
    done = check(repo, "--junit", tmp_path / "gate.xml")
    assert done.returncode == 0
    assert [line for line in done.stdout.splitlines()[2:3] if line[0] == "-"] == [f"- `notes`: {one}." for one in said]
    cases = ET.parse(tmp_path / "gate.xml").findall(".//testcase[@name='caveats']/skipped")
    assert [case.get("message") for case in cases] == [f"{one}." for one in said]


@pytest.mark.parametrize("blanked", [("unit",), ("unit", "flag")])
def test_what_broke_in_four_documents_fails_although_these_say_nothing_of_a_fifth(tmp_path, blanked):
    def labs(*without: str) -> str:
        results = [{"name": name, "value": place, "unit": "g/l", "flag": "L"} for place, name in enumerate("abcd")]
        kept = [{key: value for key, value in result.items() if key not in without} for result in results]
        return json.dumps([{"id": f"report-{number}", "patient": f"p{number}", "results": kept} for number in range(4)])

    repo = GitRepo(tmp_path / "project")
    repo.commit({"evals/labs/ground_truth.json": labs(), "evals/labs/results/iteration-001/extracted.json": labs()})
    work(repo, {"evals/labs/results/iteration-002/extracted.json": labs(*blanked)})
    found = report(repo)
    (one,) = found["evals"]
    noise = one["metrics"][0]["noise"]
    assert (found["verdict"], one["fixed"], one["broken"]) == ("fail", 0, 16 * len(blanked))
    assert (noise["decision"], noise["why"], noise["counted"]) == ("worse", "a field was lost", [0, 16])
    assert noise["lost_fields"] == [[f"results[].{name}", 16] for name in sorted(blanked)]
    assert noise["interval"][0] < 0 < noise["interval"][1]
    sentence = ", ".join(f"results[].{name} broke in all 16 values" for name in sorted(blanked))
    assert sentence in check(repo).stdout  # without backslashes, which a terminal would show


def test_histories_without_a_common_commit_are_refused_with_what_to_do(repo):
    worse(repo)
    repo.git("branch", "-m", "main", "first")
    repo.commit({"README.md": "Another beginning.\n"})
    done = check(repo)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "sitegen: 'HEAD' and 'main' have no commit in common.\n"
        f"  at: {repo.path}\n"
        "  do: Name the branch where the work began, or compare with the revision itself: --exact.\n"
    )


def _files(repo: GitRepo) -> list[str]:
    return repo.git("ls-tree", "-r", "--name-only", "main", f"{NOTES}/").splitlines()


def test_the_uncommitted_state_can_be_checked(repo):
    work(repo, {"README.md": "Ours.\n"})
    folder = repo.path / NOTES / "results" / "iteration-002"
    put(folder / "extracted.json", output(range(10)))
    assert report(repo)["passed"]
    found = report(repo, worktree=True)
    assert (found["head"], found["verdict"]) == ("worktree", "fail")


def test_a_workflow_gets_summary_and_files_before_the_exit(repo, tmp_path, monkeypatch):
    worse(repo)
    repo.git("update-ref", "refs/remotes/origin/main", "main")
    summary = tmp_path / "summary.md"
    summary.write_text("Before.\n")
    monkeypatch.setenv("GITHUB_BASE_REF", "main")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    written, junit = tmp_path / "gate.md", tmp_path / "gate.xml"
    done = run("check", "--repo", repo.path, "--markdown", written, "--junit", junit)
    assert done.returncode == 1
    text = written.read_text(encoding="utf-8")
    assert summary.read_text(encoding="utf-8") == f"Before.\n{text}"
    assert done.stdout == text
    alone = run("check", "--repo", repo.path, "--json")
    assert (json.loads(alone.stdout)["verdict"], alone.stderr) == ("fail", "")


def test_redacted_values_are_in_no_form_of_the_report(repo, tmp_path):
    worse(repo)
    work(repo, {"evals/manifest.yaml": "evals: {notes: {redact: [total]}}\n"})
    done = check(repo, "--junit", tmp_path / "gate.xml", "--markdown", tmp_path / "gate.md")
    assert done.returncode == 1
    assert "9 broken" in done.stdout
    for text in (done.stdout, json.dumps(report(repo)), (tmp_path / "gate.xml").read_text()):
        assert "1000" not in text


def test_an_error_reaches_the_same_places_as_a_report(repo, tmp_path, monkeypatch):
    work(repo, {"sitegen.toml": "[gate]\nflor = 1\n"})
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    done = check(repo, "--markdown", tmp_path / "gate.md", "--junit", tmp_path / "gate.xml")
    lost = "The key 'gate.flor' is not known. It does not count."
    said = f"The gate cannot compare. {lost} At: sitegen.toml:2. Did you mean 'floor'?"
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("sitegen: The key 'gate.flor' is not known. It does not count.\n")
    assert (tmp_path / "gate.md").read_text() == f"**Evals: fail.**\n\n{said}\n"
    assert (tmp_path / "summary.md").read_text() == (tmp_path / "gate.md").read_text()
    root = ET.parse(tmp_path / "gate.xml").getroot()
    assert [failure.attrib["message"] for failure in root.iter("failure")] == [said]


def test_a_broken_manifest_at_the_base_is_not_taken_for_one_at_the_head(repo):
    repo.commit({"evals/manifest.yaml": "evals: {notes: {dirr: [}}\n"})
    base = repo.git("rev-parse", "main")
    work(repo, {"README.md": "Ours.\n"})
    assert check(repo).stderr.startswith("sitegen: The manifest cannot be read: it is not valid YAML")
    work(repo, {"evals/manifest.yaml": "evals: {}\n"})
    done = check(repo)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"sitegen: At the base, {base[:7]}: The manifest cannot be read")
    assert done.stderr.endswith("  do: The head is valid: merge it once without the gate.\n")


def test_junit_has_a_suite_an_eval_and_a_case_a_limit(repo, tmp_path):
    worse(repo)
    assert check(repo, "--junit", tmp_path / "gate.xml").returncode == 1
    root = ET.parse(tmp_path / "gate.xml").getroot()
    told = (root.tag, root.attrib)
    assert told == ("testsuites", {"name": "sitegen check", "tests": "2", "failures": "1", "skipped": "0"})
    [suite] = root
    cases = {case.attrib["name"]: [(each.tag, each.attrib["message"]) for each in case] for case in suite}
    assert cases == {"compared": [], "F1": [("failure", f"{FALL}.")]}


def test_hostile_names_stay_text_in_every_form(tmp_path):
    names = ["@team #1 |x| `a`` <b>", "::error::%0A\r", "ends with a tick`", "\U0001f4a5\ufffe\x07", "-->]]>&amp;"]
    rows = "".join('"{}",{}\n'.format(name.replace('"', '""'), number) for number, name in enumerate(names * 1))
    eval_id = "a,b:c%@x"
    folder = f"evals/{eval_id}"
    repo = GitRepo(tmp_path / "project")

    def made(wrong: bool) -> str:
        return json.dumps([{"id": name, "total": -1 if wrong else number} for number, name in enumerate(names)])

    repo.commit({f"{folder}/ground_truth.csv": f"id,total\n{rows}", f"{folder}/extracted.json": made(False)})
    limits = f'[gate]\nnoise = false\n[gate.evals."{eval_id}"]\nfloor = 0.9\n'
    work(repo, {f"{folder}/extracted.json": made(True), "sitegen.toml": limits})
    done = check(repo, "--junit", tmp_path / "gate.xml")
    assert (done.returncode, done.stderr) == (1, "")
    [suite] = ET.parse(tmp_path / "gate.xml").getroot()
    assert suite.attrib["name"] == eval_id
    lines = done.stdout.splitlines()
    assert not any(line.lstrip().startswith("::") for line in lines)
    assert "### `a,b:c%@x`: fail" in lines
    heads = "| Document "
    start = next(number for number, line in enumerate(lines) if line.startswith(heads))
    table = lines[start : lines.index("", start)]
    assert len(table) == 2 + len(names)
    assert [line.count("|") for line in table] == [6] * len(table)
    assert table[2].startswith("| ```@team #1 ¦x¦ `a`` <b>```")


def answers(right: int, cases: range) -> str:
    return json.dumps([{"case_id": f"case-{n}", "output": "yes" if n < right else "no", "quality": 4} for n in cases])


def asked(cases: range) -> str:
    return json.dumps([{"id": f"case-{n}", "input": "?", "expected": "yes"} for n in cases])


def test_every_form_names_the_worst_and_the_best_variant_that_a_value_averages(tmp_path):
    repo, cases = GitRepo(tmp_path / "faq"), range(30)
    short, wordy = "evals/faq/responses-short.json", "evals/faq/responses-wordy.json"
    repo.commit({"evals/faq/test_cases.json": asked(cases), short: answers(18, cases), wordy: answers(30, cases)})
    work(repo, {short: answers(12, cases), "sitegen.toml": "[gate]\nfloor = 0.75\ndrop = 100\n"})
    done = check(repo, "--junit", tmp_path / "gate.xml")
    at_base = "Accuracy at the base: average of 2 variants: 0.600 (short) to 1.000 (wordy)."
    at_head = "Accuracy at the head: average of 2 variants: 0.400 (short) to 1.000 (wordy)."
    lines = done.stdout.splitlines()
    assert [line for line in lines if "average of" in line] == [at_base, at_head]
    failed = f"Accuracy is 0.700, below the floor of 0.75. {at_base} {at_head}"
    failures = ET.parse(tmp_path / "gate.xml").getroot().iter("failure")
    assert [failure.attrib["message"] for failure in failures] == [failed]
    written = report(repo)["evals"][0]["metrics"][0]
    assert written["averaged"] == [line.partition(": ")[2].rstrip(".") for line in (at_base, at_head)]


@in_table
def test_what_a_branch_leaves_unjudged_is_named_and_many_failures_fail(tmp_path, head, limits, verdict, said):
    def results(cases=20, failed=0, repeats=2, graded=20, judges="ab", end=None, kept=20) -> str:
        lines = ""
        for case in range(min(cases, kept)):
            scores = [{"name": name, "score": 1} for name in judges if name != "b" or case < graded]
            done = {"error": "Timed out."} if case < failed else {"evaluator_results": scores}
            lines += f"{json.dumps({'case_id': f'c{case}', **done})}\n" * repeats
        return lines[:end]

    repo = GitRepo(tmp_path / "tone")
    repo.commit({"evals/tone/results.jsonl": results(cases=head.get("cases", 20))})
    work(repo, {"evals/tone/results.jsonl": results(**head), "sitegen.toml": f"[gate]\n{limits}\n"})
    [found] = report(repo)["evals"]
    lost = [f"{how}: {', '.join(names)}" for how, names in found["lost"].items() if names]
    assert (found["verdict"], *lost) == (verdict, *filter(None, [said]))


def test_an_eval_that_became_of_another_kind_is_not_comparable(repo):
    cases = range(30)
    work(
        repo,
        {
            **dict.fromkeys(_files(repo)),
            f"{NOTES}/test_cases.json": asked(cases),
            f"{NOTES}/results/iteration-002/responses.json": answers(30, cases),
        },
    )
    [found] = report(repo)["evals"]
    assert (found["presence"], found["verdict"], found["reasons"]) == ("both", "not comparable", ["another kind"])


STEADY, UNSTEADY = ({1}, {2}, {3}), ({*range(12)}, {4}, {*range(8)}, {5, 6, 7})


@pytest.mark.parametrize(
    ("at_base", "on_branch", "decision", "verdict", "reasons"),
    [
        ((), (), "worse", "fail", ["dropped"]),
        (STEADY, (), "worse", "fail", ["dropped"]),
        (UNSTEADY, (), "cannot tell", "inconclusive", ["may be chance"]),
        (STEADY, UNSTEADY, "worse", "fail", ["dropped"]),
        (STEADY, ({*range(12)}, {4}, {5}, {6, 7}), "likely worse", "fail", ["worse by the repeats of the base"]),
        ((), UNSTEADY, "likely worse", "fail", ["worse by the repeats of the base"]),
        (UNSTEADY, STEADY, "cannot tell", "inconclusive", ["may be chance"]),
    ],
)
def test_the_gate_says_the_word_of_the_report_and_repeats_of_a_branch_excuse_nothing(
    repo, at_base, on_branch, decision, verdict, reasons
):
    made = 1
    for wrong in at_base:
        made += 1
        repo.commit({f"{NOTES}/results/iteration-{made:03}/extracted.json": output(wrong)})
    for wrong in (*on_branch, range(10)):
        made += 1
        work(repo, {"CLAUDE.md": "Guess.\n", f"{NOTES}/results/iteration-{made:03}/extracted.json": output(wrong)})
    [found] = report(repo)["evals"]
    metric = found["metrics"][0]
    options = Options(repo=repo.path)
    series = read_series(options, "notes")
    by_report = change(series, len(at_base), len(series.points) - 1).verdict
    (by_compare,) = compare_revisions(options, ("main", "work"))[0].changes
    assert by_report is not None
    assert by_compare.verdict is not None
    assert [metric["noise"]["decision"], by_report.decision, by_compare.verdict.decision] == [decision] * 3
    assert metric["noise"]["why"] == by_report.why
    assert (found["verdict"], metric["reasons"]) == (verdict, reasons)
    assert gate_markdown(read_report(schema_first(gate.check(options, "main")))) == gate_markdown(
        gate.check(options, "main")
    )
