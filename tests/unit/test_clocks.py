"""Both clocks, and points that are out of date, from history to the data files."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from sitegen.project import Options
from sitegen.questions.comparison import compare_revisions
from sitegen.questions.gate import check
from tests.gitrepo import DAY, START, GitRepo
from tests.sites import build_site, differs_from_cold


def output(name: str, total: int) -> str:
    return json.dumps({"name": name, "total": total})


@pytest.fixture
def repo(repo: GitRepo) -> GitRepo:
    """Two values; the second output is right by the truth of its time, the third commit corrects the truth."""
    repo.commit({"CLAUDE.md": "Read.\n", "evals/field_mapping.yaml": "csv_to_json: {name: name, total: total}\n"})
    repo.commit({"evals/bill/ground_truth.csv": "name,total\nAnn,5\n", "evals/bill/extracted.json": output("Bob", 5)})
    repo.commit({"evals/bill/extracted.json": output("Ann", 5)})
    repo.commit({"evals/bill/ground_truth.csv": "name,total\nAnn,7\n"})
    return repo


def points(out: Path) -> list[dict[str, Any]]:
    body = json.loads((out / "data" / "evals" / "bill.json").read_text())
    return list(body["points"])


def eval_files(kind: str, ids: str) -> dict[str, str]:
    if kind == "fields":
        docs = {"docs": [{"id": name, "total": 1} for name in ids]}
        settings = "evals: {bill: {settings: {documents: {path: docs, key: id}}}}"
        truth = "".join(f"{name},1\n" for name in ids)
        names = {"manifest.yaml": settings, "bill/ground_truth.csv": f"id,total\n{truth}"}
        return names | {"bill/extracted.json": json.dumps(docs)}
    if kind == "responses":
        cases = [{"id": name, "input": name, "expected": "yes"} for name in ids]
        answers = [{"case_id": name, "output": "yes"} for name in ids]
        return {"bill/test_cases.json": json.dumps(cases), "bill/responses.json": json.dumps(answers)}
    gold = {f"p-{name}": {"terms": ["moss"]} for name in ids}
    chunk = {"chunkIndex": 0, "paragraphs": dict.fromkeys(gold, "moss"), "highlights": gold}
    found = [{"chunkIndex": 0, "paragraphs": gold}]
    return {"bill/gold-standard.json": json.dumps(found), "bill/logs/processing-log.ndjson": json.dumps(chunk)}


def headlines(site: Path, kind: str, clock: str) -> list[float | None]:
    headline = {"fields": "f1", "responses": "accuracy", "highlights": "accuracy"}[kind]
    return [{**one[clock], **one[clock]["metrics"]}[headline] for one in points(site)]


@pytest.mark.parametrize("kind", ["fields", "responses", "highlights"])
def test_an_output_that_only_another_truth_scored_again_has_no_score_of_today_either(tmp_path, kind):
    truth = {"fields": "ground_truth.csv", "responses": "test_cases.json", "highlights": "gold-standard.json"}[kind]
    repo = GitRepo(tmp_path / "project")
    first, other, more = (
        {f"evals/{path}": text for path, text in eval_files(kind, ids).items()} for ids in ("12", "34", "345")
    )
    repo.commits([first, *({f"evals/bill/{truth}": each[f"evals/bill/{truth}"]} for each in (other, more)), more])
    for rev, now in (("HEAD~1", [None] * 3), ("HEAD", [None, None, None, 1.0])):
        build_site(repo.path, tmp_path / "out", rev=rev)
        assert headlines(tmp_path / "out", kind, "then")[0] == 1.0
        assert headlines(tmp_path / "out", kind, "now") == now


@pytest.mark.parametrize("wrong", ["", "1"])
@pytest.mark.parametrize("kind", ["fields", "responses", "highlights"])
def test_documents_that_came_into_the_truth_since_are_no_gain_of_the_next_output(tmp_path, kind, wrong):
    """The earlier output was not asked for them; that it got more right, or one wrong, is what changed."""
    truth = {"fields": "ground_truth.csv", "responses": "test_cases.json", "highlights": "gold-standard.json"}[kind]
    repo = GitRepo(tmp_path / "project")
    first, more = ({f"evals/{path}": text for path, text in eval_files(kind, ids).items()} for ids in ("123", "12345"))
    (output,) = (path for path in more if path.endswith(("extracted.json", "responses.json", "processing-log.ndjson")))
    repo.commit({**first, "CLAUDE.md": "Read.\n"})
    base = repo.commit({f"evals/bill/{truth}": more[f"evals/bill/{truth}"]})
    repo.commit({"CLAUDE.md": "Read twice.\n"})
    made = more[output]
    for name in wrong:
        made = {
            "fields": made.replace(f'"id": "{name}", "total": 1', f'"id": "{name}", "total": 2'),
            "responses": made.replace(f'"{name}", "output": "yes"', f'"{name}", "output": "no"'),
            "highlights": made.replace(f'"p-{name}": {{"terms": ["moss"]}}', f'"p-{name}": {{"terms": []}}'),
        }[kind]
    assert (made == more[output]) is not bool(wrong)
    repo.commit({output: made})
    build_site(repo.path, tmp_path / "out")
    *_, rescored, last = points(tmp_path / "out")
    headline = "f1" if kind == "fields" else "accuracy"
    assert rescored["delta"]["comparable"]["only_after"] == last["delta"]["comparable"]["only_after"]
    assert len(last["delta"]["comparable"]["only_after"]) == 2
    assert (last["fixed"], last["broken"]) == (0, len(wrong))
    assert last["delta"][headline] == pytest.approx(-len(wrong) / 3)
    assert differs_from_cold(tmp_path / "out", repo.path) == []
    (checked,) = check(Options(repo=repo.path, cache=tmp_path / "memo"), base).evals
    assert (checked.fixed, checked.broken, checked.overlap and checked.overlap.common) == (0, len(wrong), 3)


BILLS: dict[str, dict[str, Any]] = {
    f"b{number:02}": {"name": f"Shop {number}", "total": number} for number in range(1, 13)
}
MANIFEST = "evals: {bill: {ground_truth: golden/, outputs: outputs/, settings: {tolerances: {default: {percent: %d}}}}}"


def bills(number: int = 0, **others: str | float) -> dict[str, dict[str, Any]]:
    """The bills, of which the first have other values."""
    return {id: {**one, **others} if id in tuple(BILLS)[:number] else one for id, one in BILLS.items()}


def renamed(rows: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {id: {"shop": one["name"], "total": one["total"]} for id, one in rows.items()}


def files_of(*sides: dict[str, dict[str, Any]]) -> dict[str, str]:
    """The file of each document, of the ground truth and of the output."""
    named = zip(("golden", "outputs"), sides, strict=True)
    return {f"evals/bill/{side}/{id}.json": json.dumps(one) for side, rows in named for id, one in rows.items()}


TYPED, LOST = bills(8, name="Typo"), bills(8, total=999)
ROUNDED = {id: {**one, "total": one["total"] * 1.03} for id, one in BILLS.items()}


@pytest.mark.parametrize(
    ("truths", "outputs", "percents", "verdict", "gate"),
    [
        # Labels are corrected, and the output has the same values and a blank.
        ((TYPED, BILLS), (BILLS, bills(12, note="")), (1, 1), ("same", 0, 0), []),
        # Labels are corrected, and other values are lost.
        ((TYPED, BILLS), (BILLS, LOST), (1, 1), ("worse", 0, 8), ["dropped"]),
        # Labels are corrected that were as wrong as the output, and so is the output.
        ((TYPED, BILLS), (TYPED, BILLS), (1, 1), ("better", 8, 0), ["worse by what the base expects"]),
        # A tolerance makes values right, and other values are lost.
        (
            (BILLS, BILLS),
            (ROUNDED, {id: {**one, "name": ""} for id, one in ROUNDED.items()}),
            (1, 5),
            ("worse", 0, 12),
            ["dropped"],
        ),
        # A field gets another name on both sides: no value of its old name is left, which the base would miss.
        (
            (BILLS, renamed(BILLS)),
            (BILLS, renamed(bills(1, total=999))),
            (1, 1),
            ("cannot tell", 0, 1),
            ["may be chance", "worse by what the base expects"],
        ),
    ],
)
def test_an_output_that_comes_with_a_correction_is_compared_by_the_corrected_truth(
    tmp_path, truths, outputs, percents, verdict, gate
):
    repo, options = GitRepo(tmp_path / "project"), Options(repo=tmp_path / "project", cache=tmp_path / "memo")
    for truth, made, percent in zip(truths, outputs, percents, strict=True):
        repo.commit({"evals/manifest.yaml": MANIFEST % percent, **files_of(truth, made)})
    (changed,) = compare_revisions(options, ("HEAD~1", "HEAD"))[0].changes
    assert changed.verdict
    assert (changed.verdict.decision, changed.fixed, changed.broken) == verdict
    (checked,) = check(options, "HEAD~1").evals
    assert (checked.fixed, checked.broken, list(checked.metrics[0].reasons)) == (*verdict[1:], gate)


OTHERS = {f"c{id}": one for id, one in BILLS.items()}


@pytest.mark.parametrize(
    ("commits", "worse", "better"),
    [
        # A field is renamed and renamed back, and the output between loses totals: neither correction lost anything.
        (
            [(BILLS, BILLS), (renamed(BILLS), renamed(BILLS)), (renamed(BILLS), renamed(LOST)), (BILLS, LOST)],
            "bill is 0.333 behind its best F1, iteration-001, by more than chance; most of it was lost at "
            "iteration-003.",
            "No newest output gained anything.",
        ),
        # What the newest output lost while it restored another field is told beside the older loss.
        (
            [(BILLS, BILLS), (BILLS, bills(12, name="?")), (BILLS, bills(12, total=999))],
            "bill is 0.500 behind its best F1, iteration-001, by more than chance; most of it was lost at "
            "iteration-002. bill: total broke in all 12 values; F1 stayed at 0.500 at iteration-003: 12 values fixed, "
            "12 broken.",
            "No newest output gained anything.",
        ),
        # Nothing that came before can be compared with other documents, and nothing for another field by that field.
        ([(BILLS, BILLS), (OTHERS, OTHERS)], "Nothing for certain.", "No newest output gained anything."),
        (
            [(BILLS, BILLS), (renamed(BILLS), renamed(bills(2, total=999)))],
            "Nothing for certain: 2 values broke in bill from iteration-001 to iteration-002, in total. This may be "
            "chance. bill is 0.083 behind its best F1, iteration-001; this may be chance.",
            "No newest output gained anything.",
        ),
    ],
)
def test_today_blames_no_correction_and_calls_nothing_the_best_of_one(tmp_path, commits, worse, better):
    repo, before = GitRepo(tmp_path / "project"), dict[str, str]()
    for truth, made in commits:
        files = files_of(truth, made)
        repo.commit({"evals/manifest.yaml": MANIFEST % 1, **dict.fromkeys(before), **files})
        before = files
    build_site(repo.path, tmp_path / "out")
    text = re.sub(r"\[`?([^]`]*)`?\]\([^)]*\)", r"\1", (tmp_path / "out" / "summary.md").read_text())
    assert f"- **What got worse**: {worse}\n- **What got better**: {better}\n" in text


def test_an_output_older_than_its_instructions_is_stale_until_it_is_made_again(repo, tmp_path):
    out = tmp_path / "out"
    stale = []
    for files in (
        {"README.md": "nothing to do with it\n"},
        {"CLAUDE.md": "Read twice.\n"},
        {"CLAUDE.md": "Read thrice.\n"},
        {"CLAUDE.md": "Read.\n"},
        {"CLAUDE.md": "Read thrice.\n"},
        {"evals/bill/extracted.json": output("Ann", 7)},
    ):
        repo.commit(files)
        build_site(repo.path, out)
        stale.append([one["stale"] for one in points(out)])
        assert differs_from_cold(out, repo.path) == []
    assert stale == [[False, False, last] for last in (False, True, True, False, True)] + [[False] * 4]


def is_stale(repo: GitRepo, out: Path, recorded: dict[str, str], beside: dict[str, str]) -> bool:
    """Whether an output is stale that a branch off main adds, with a record of its run and other files."""
    record = {"eval-results.json": json.dumps({"metadata": recorded}), "extracted.json": output("Ann", 7)}
    files = {f"evals/bill/results/iteration-001/{name}": text for name, text in record.items()}
    build_site(repo.path, out, rev=repo.commit(files | beside, branch=out.name, parent="refs/heads/main"))
    return bool(points(out)[-1]["stale"])


def test_an_output_that_came_with_an_edit_is_stale_only_if_it_was_made_before_the_commit_before(repo, tmp_path):
    """What is committed together was tried out together, whatever the time says that the output records."""
    last = START + 5 * DAY
    repo.commit({"CLAUDE.md": "Read twice.\n"}, when=last)
    times = {name: datetime.fromtimestamp(last + hours * 3600, UTC) for name, hours in (("before", -3), ("after", 3))}
    edit = {"CLAUDE.md": "Read thrice.\n"}
    stale = [is_stale(repo, tmp_path / name, {"timestamp": at.isoformat()}, edit) for name, at in times.items()]
    assert stale == [True, False]


def test_an_output_is_stale_after_edits_that_came_later_than_the_commit_that_it_records(repo, tmp_path):
    old = repo.git("rev-list", "--max-parents=0", "main")
    new = repo.commit({"CLAUDE.md": "Read twice.\n"})
    assert is_stale(repo, tmp_path / "old", {"git_commit": old}, {})
    assert not is_stale(repo, tmp_path / "new", {"git_commit": new}, {})


def test_a_point_that_is_scored_again_after_an_edit_of_instructions_is_stale(repo, tmp_path):
    repo.commit({"CLAUDE.md": "Read twice.\n"})
    repo.commit({"evals/bill/ground_truth.csv": "name,total\nAnn,5\n"})
    repo.commit({"evals/bill/extracted.json": output("Ann", 6)})
    build_site(repo.path, tmp_path / "out")
    assert [one["stale"] for one in points(tmp_path / "out")] == [False, False, False, True, False]
