"""What people note about cases: it stands beside the values, is counted, and is compared with what was judged."""

import json
import re
from html import unescape
from pathlib import Path

import pytest

from sitegen.config.notes import read_notes
from tests.gitrepo import GitRepo
from tests.scoring.test_tables import tables
from tests.sites import build_site, differs_from_cold, problems_text, text_of

TRUTH = [{"id": "a", "total": 5, "city": "Oslo"}, {"id": "b", "total": 7, "city": "Rome"}]


def _project(tmp_path: Path) -> tuple[GitRepo, Path]:
    repo = GitRepo(tmp_path / "project")
    repo.git("remote", "add", "origin", "git@forge.example:a/b.git")
    repo.commit({"CLAUDE.md": "Read.\n", "evals/bills/ground_truth.json": json.dumps(TRUTH)})
    for number, total in enumerate((4, 5, 6), 1):
        output = [{"id": "a", "total": total, "city": "Oslo"}, {"id": "b", "total": 7, "city": "<Paris>"}]
        repo.commit({f"evals/bills/results/iteration-00{number}/extracted.json": json.dumps(output)})
    return repo, tmp_path / "out"


def test_the_lines_that_a_report_gives_are_a_note_when_a_person_adds_them(tmp_path):
    repo, out = _project(tmp_path)
    repo.commit({"evals/rent/ground_truth.json": json.dumps(TRUTH)})
    build_site(repo.path, out)
    report = out / "evals/bills/0003.html"
    found = re.findall(r"<pre data-note>([^<]*)</pre>", report.read_text())
    assert found == re.findall(r"<pre data-note>([^<]*)</pre>", (out / "evals/bills/fields/total.html").read_text())
    lines = unescape(found[0]).replace("# or right", "").replace("code:", "code: rounding")
    lines = lines.replace("note:", "note: <b>cents</b> are lost").replace("by:", "by: Ann")
    repo.commit({"evals/bills/notes.yaml": f"{lines}\n"})
    build_site(repo.path, out)
    beside = "total Ann's note: wrong (rounding), <b>cents</b> are lost 5 6"
    assert beside in text_of(report)
    oldest, newest = ((out / f"evals/bills/000{number}.html").read_text() for number in (1, 3))
    assert '"https://forge.example/a/b/tree/HEAD/evals/bills"' in oldest
    assert '"https://forge.example/a/b/blob/HEAD/evals/bills/notes.yaml"' in newest
    assert "Ann's note: wrong" not in text_of(out / "evals/bills/0001.html")
    assert "What people noted" in text_of(out / "evals/bills/fields/total.html")
    assert "What people noted" not in text_of(out / "evals/bills/fields/city.html")
    assert "Error code All iteration-003 rounding 1 1" in text_of(out / "evals/bills/notes.html")
    assert "1 note" in text_of(out / "evals/bills/index.html")
    assert differs_from_cold(out, repo.path) == []
    repo.commit({"evals/bills/notes.yaml": None, "evals/rent/notes.yaml": "- case: z\n"})  # and rent has no output
    build_site(repo.path, out)
    assert not (out / "evals/bills/notes.html").exists()
    assert beside not in text_of(report)
    assert differs_from_cold(out, repo.path) == []


@pytest.mark.parametrize("row", tables(Path(__file__).with_name("notes.md").read_text(encoding="utf-8"))[0])
def test_a_note_that_says_nothing_is_named_and_costs_no_other(tmp_path, row):
    repo, out = _project(tmp_path)
    repo.commit({"evals/bills/notes.yaml": row["notes"].replace(" / ", "\n") + "\n"})
    build_site(repo.path, out)
    said = (row["message"], f"bills/notes.yaml:{row['line']}", "scores of 1 eval")
    assert [text in problems_text(out) for text in said] == [True, True, False]
    assert (out / "evals/bills/0003.html").exists()


def test_a_note_on_a_case_stands_beside_its_first_error_whoever_answered(tmp_path):
    repo, out = GitRepo(tmp_path / "project"), tmp_path / "out"
    rows = [
        {"id": case, "model": model, "output": "x", "passed": case == "r"} for case in "pqr" for model in ("m", "n")
    ]
    files = {
        "evals/qa/results.jsonl": "\n".join(map(json.dumps, rows)),
        "evals/qa/notes.yaml": "- {case: q, note: doubtful}\n- {case: p, model: n, variant: '', note: doubtful}\n",
    }
    repo.commit({"CLAUDE.md": "Answer.\n", **files})
    build_site(repo.path, out)
    report = (out / "evals/qa/0001.html").read_text().partition('<table class="disc')[2].partition("</table>")[0]
    beside = [row for row in report.split("<tr ") if "doubtful" in row]
    named = [next(name for name in ("q · m", "q · n", "p · m", "p · n") if name in row) for row in beside]
    assert named == ["p · n", "q · m", "q · n"]
    assert "p · n" in text_of(out / "evals/qa/notes.html")


def test_numbers_and_dates_are_texts_in_notes():
    notes, findings = read_notes(b"- case: 17\n- case: 'b'\n- {case: b, iteration: 2026-03-01}\n")
    assert [(note.case, note.iteration) for _, note in notes] == [("17", ""), ("b", ""), ("b", "2026-03-01")]
    assert not findings


def test_a_note_quotes_no_value_of_an_eval_that_hides_some(tmp_path):
    repo, out = _project(tmp_path)
    manifest = "evals:\n  bills:\n    redact: [total]\n"
    note = "- {case: a, field: total, verdict: wrong, code: SECRET-5, note: it says SECRET-6, by: SECRET-7}\n"
    note += "- {case: a, verdict: SECRET-8}\n"
    repo.commit({"evals/manifest.yaml": manifest, "evals/bills/notes.yaml": note})
    build_site(repo.path, out)
    assert "wrong" in text_of(out / "evals/bills/notes.html")
    assert "A part of the notes is not understood." in problems_text(out)
    assert not [page for page in out.rglob("*.*") if page.is_file() and "SECRET-" in page.read_text(errors="replace")]
