"""Suspect labels: which are named, and the lines of the ground truth that state them or would have to change."""

import json
import re
import subprocess

import pytest
from msgspec.structs import replace

from sitegen.analysis.cells import CellTracker
from sitegen.analysis.suspect_truth import by_cause, patch_of, suspect_truth
from sitegen.data_files.folders import packed
from sitegen.model.outcomes import Judgement, Outcome
from sitegen.model.series import Correction, EvalSummary, SuspectTruth
from sitegen.pages import links
from sitegen.pages.suspect_truth import LISTED_LABELS, SuspectTruthView, suspect_labels_page
from sitegen.scoring.fields import FieldsScorer
from sitegen.scoring.kinds import File, ScoringInputs
from sitegen.scoring.truth_correction import corrected_line
from tests import pages_sample as sample
from tests.gitrepo import Content, GitRepo
from tests.rows import in_table
from tests.scored import scored
from tests.sites import build_site, differs_from_cold, renderer_of, written


def _named(
    label: int | None,
    values: list[int | None],
    rescored: int | None = None,
    copies: dict[int, int] | None = None,
    answers: dict[int, str] | None = None,
) -> list[tuple[str, int, int]]:
    """(value, agreeing, outputs) of the suspects of one cell through the outputs that gave the values.

    ``copies``: for each point with a copy the first point with its output. ``answers``: for each point at which several
    answers are one cell, and all values are texts, the note that says how many of them are wrong.
    """
    series = sample.series(len(values))
    points = [replace(point, snapshot=replace(point.snapshot, cause=("outputs",))) for point in series.points]
    if rescored is not None:
        scored = replace(points[rescored].snapshot, cause=("ground_truth",))
        points[rescored] = replace(points[rescored], snapshot=scored)
    for index, first in (copies or {}).items():
        points[index] = replace(points[index], first_with_output=first)
    follower = CellTracker()
    for index, value in enumerate(values):
        outcome: Outcome = "correct" if value == label else "omission" if value is None else "wrong_value"
        judged = Judgement(
            document="d",
            path="area",
            attribute="area",
            outcome=outcome,
            expected=label,
            actual=value if answers is None else str(value),
            note=(answers or {}).get(index, ""),
        )
        follower.follow([judged], "d")
    bare = [replace(point, snapshot=replace(point.snapshot, ground_truth=None)) for point in points]
    series = replace(series, points=tuple(points), cells=follower.cells())
    assert suspect_truth(replace(series, points=tuple(bare))) == (), (
        "what another tool judged has no label of the project"
    )
    found = suspect_truth(series)
    counts = points[-1].scorecard.counts  # by another value than the suspect one, the newest output gains nothing
    gain = 2 / (2 * counts.tp + counts.fp + counts.fn) if values[-1] == 640 else 0
    mixed = sum("which" not in note and "as text" not in note for note in (answers or {}).values())
    assert not answers or [one.with_label for one in found] == [mixed] * len(found)
    assert [one.gain for one in found] == pytest.approx([gain] * len(found))
    return [(one.actual, len(one.agreeing), one.outputs) for one in found]


def test_several_answers_of_an_output_contradict_the_label_only_if_all_are_the_same_other_value():
    mixed, unlike, alike = "1 of 3 answers", "3 of 3 answers, which differ", "3 of 3 answers; as text"
    assert _named(600, [640] * 4, answers=dict.fromkeys(range(4), mixed)) == []
    assert _named(600, [640] * 4, answers=dict.fromkeys(range(4), unlike)) == []
    assert _named(600, [640] * 4, answers={0: mixed, 1: alike, 2: alike, 3: alike}) == [('"640"', 3, 4)]
    assert _named(600, [640] * 4, answers={0: unlike, 1: alike, 2: alike, 3: alike}) == [('"640"', 3, 4)]


@in_table
def test_a_label_is_suspect_if_most_outputs_agree_on_another_value(values, found):
    assert _named(600, values) == [tuple(one) for one in found]


def test_a_copy_or_a_point_that_was_only_scored_again_is_no_output():
    assert _named(600, [640, 640, 640], rescored=1) == []
    assert _named(600, [640, 640, 640], copies={2: 0}) == []
    assert _named(600, [640, 640, 640, 600, 640], copies={2: 0, 4: 0}) == []
    assert _named(600, [640, 640, 640, 600, 600, 600, 640], copies={4: 3, 5: 3}) == [("640", 4, 5)]


MAPPING = b"csv_to_json: {Name: name, Total: total, Sum: sum}\n"


def _corrected(
    path: str, truth: str, output: object, field: str, expected: str, actual: str
) -> tuple[int, str, str] | None:
    inputs = ScoringInputs(
        outputs=(File("extracted.json", json.dumps(output).encode()),),
        ground_truth=File(path, truth.encode()),
        mapping=File("field_mapping.yaml", MAPPING),
    )
    document, _, where = field.rpartition(":")
    suspect = sample.suspect(where, expected, actual, document=document)
    score = FieldsScorer().score
    found = corrected_line(score, inputs, score(inputs), suspect)
    return None if found is None else (found.line, found.before, found.after)


ROW = {"name": "Ann", "total": 7, "sum": 5}


@in_table
def test_the_corrected_line_is_found_in_every_layout(path, truth, line):
    assert _corrected(path, truth, ROW, "total", "5", "7") == tuple(line)


def test_a_blank_cell_may_be_the_one_to_fill():
    assert _corrected("truth.csv", "Name,Sum,Total\nAnn,5,\n", ROW, "total", "", "7") == (2, "Ann,5,", "Ann,5,7")


def test_a_text_is_written_as_the_format_wants_it():
    output = {"name": 'Ann "A", B', "total": 7, "sum": 5}
    found = _corrected("truth.csv", "Name,Sum,Total\nBob,5,7\n", output, "name", '"Bob"', json.dumps('Ann "A", B'))
    assert found == (2, "Bob,5,7", '"Ann ""A"", B",5,7')


def test_no_line_is_named_for_a_value_that_is_no_whole_scalar_or_if_other_fields_would_change():
    truth = '{"name": "Ann", "sum": 5, "total": 5}'
    assert _corrected("truth.json", truth, {**ROW, "name": "Bob"}, "name", '"Eve"', '"Bob"') is None
    assert _corrected("truth.csv", "Name,Sum,Total\nAnn,5,5\n", ROW, "total", "5", '"xxxx…#12345678') is None
    assert _corrected("truth.csv", "Name,Sum,Total\nAnn,5,5\n", ROW, "total", "5", "[1, 2]") is None


def test_a_site_names_suspect_labels_until_they_are_corrected(repo, tmp_path):
    out = tmp_path / "out"
    repo.commit({"CLAUDE.md": "Read.\n", "evals/field_mapping.yaml": MAPPING})
    repo.commit({"evals/bill/ground_truth.csv": "Name,Sum,Total\nAnn,5,<b>\n"})
    for name in ("Ann", "Bob", "Eve"):
        said = {"total": "<i>", "total_page": 2, "total_quote": "in all <i>"}
        repo.commit({"evals/bill/extracted.json": json.dumps({"name": name, "sum": 5, **said})})
        build_site(repo.path, out)
    page = out / "suspect-labels.html"
    text = " ".join(page.read_text().split())
    assert "1 label with which" in text
    assert "3 of 3" in text
    assert "Ann,5,&lt;i&gt;" in text
    assert '<span class="muted block">page 2, “in all &lt;i&gt;”</span>' in text
    assert "<i>" not in text
    assert differs_from_cold(out, repo.path) == []
    repo.commit({"evals/bill/ground_truth.csv": "Name,Sum,Total\nAnn,5,<i>\n"})
    build_site(repo.path, out)
    assert "No label is suspect" in page.read_text()


def test_no_more_lines_are_named_than_a_build_at_once_looks_for(tmp_path, monkeypatch):
    monkeypatch.setattr("sitegen.engine.eval_job.LOCATED", 1)
    repo, out = GitRepo(tmp_path / "project"), tmp_path / "out"
    # The line of the total is looked for first; then the sum has more outputs that agree.
    outputs = [(5, 7), (9, 7), (9, 7), (9, 8), (9, 8)]
    said = [json.dumps({"sum": total, "total": other, "n": n}) for n, (total, other) in enumerate(outputs)]
    changes: list[dict[str, Content]] = [{"evals/bill/extracted.json": one} for one in said]
    changes[0] |= {"evals/bill/ground_truth.csv": "Sum,Total\n5,4\n", "evals/field_mapping.yaml": MAPPING}
    for some in (changes[:3], changes[3:]):
        repo.commits(some)
        build_site(repo.path, out, jobs=1)
    assert differs_from_cold(out, repo.path) == []
    assert "7" in (out / "suspect-labels.html").read_text()


def _labels(eval_id: str, *suspects: tuple[str, str, str]) -> list[SuspectTruth]:
    return [sample.suspect(*row, path=f"{row[0]}{n}", eval_id=eval_id) for n, row in enumerate(suspects)]


def test_labels_with_one_cause_are_told_apart_from_single_ones_and_the_greatest_gain_is_first():
    signs = _labels("a", ("total", "7", '"$7"'), ("sum", "12", '"$12"')) + _labels("b", ("total", "30", '"$30"'))
    alike = [*_labels("a", *[("w[].u", "0.29", "0.51")] * 2), *_labels("b", ("w[].u", "0.29", "0.51"))]
    field = _labels("a", ("w[].wall", '"N"', '"S"'), ("w[].wall", '"E"', '"W"'), ("w[].wall", '"S"', '"N"'))
    fix = Correction(path="a.csv", line=2, before="5,6", after="7,8")
    line = [replace(label, correction=fix) for label in _labels("a", ("width", "5", "70"), ("depth", "6", "80"))]
    single = _labels("a", ("fuel", '"Oak (red)"', '"oak (white)"'), ("w[].area", "80", "160"), ("w[].area", "40", "99"))
    spelled = _labels("b", ("name", '"D03 (6068)"', '"d03"'), ("street", '"Cir."', '"Cir"'), ("way", '"Rd"', '"Road"'))
    first, *last = [replace(label, gain=0.1) for label in (*_labels("b", ("roof", "1", "20")), *spelled)]
    labels = [*last, *single, *line, *field, *alike, *signs, first]
    alone = [("", (label,)) for label in (*single, *last, *signs[:2])]
    assert list(by_cause(labels)) == [
        ("", (first,)),
        ("a currency sign", tuple(signs)),
        ("the same other value", tuple(alike)),
        ("the same field", tuple(field)),
        ("the same line", tuple(line)),
        *alone[:6],
    ]
    assert list(by_cause(signs[:2])) == alone[6:]


def test_one_patch_for_all_labels_is_what_git_applies(tmp_path):
    """Two cells of one line, a file without an end, one with line ends of Windows, and what no page can show."""
    files = {"a b/truth.csv": b"Ann,5,6\r\nBob,7,8\r\n", "c.json": b'{"total": 5}', "d.csv": b"x,1\n"}
    fixes = [
        Correction(path="a b/truth.csv", line=1, before="Ann,5,6", after="Ann,50,6", end="\r\n"),
        Correction(path="a b/truth.csv", line=1, before="Ann,5,6", after='Ann,5,"6,0"', end="\r\n"),
        Correction(path="a b/truth.csv", line=1, before="Ann,5,6", after="Ann,51,6", end="\r\n"),
        Correction(path="c.json", line=1, before='{"total": 5}', after='{"total": 7}', end=""),
        Correction(path="d.csv", line=1, before="x,1", after="x,\u202e"),
        None,
    ]
    for path, content in files.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(content)
    labels = [sample.suspect("w", "1", "2", correction=fix, eval_id="a") for fix in fixes]
    text, number = patch_of(labels)
    subprocess.run(["git", "apply", "--unidiff-zero"], cwd=tmp_path, input=text.encode(), check=True)
    assert number == 3
    assert {path: (tmp_path / path).read_bytes() for path in files} == {
        "a b/truth.csv": b'Ann,50,"6,0"\r\nBob,7,8\r\n',
        "c.json": b'{"total": 7}',
        "d.csv": b"x,1\n",
    }


def _eval(eval_id: str, *suspects: SuspectTruth) -> EvalSummary:
    summary = sample.summary(sample.series(3))
    return replace(summary, info=replace(summary.info, id=eval_id, name=eval_id.upper()), suspects=suspects)


def test_one_page_has_the_labels_of_all_evals_and_leads_to_the_line_the_report_and_the_field():
    known = sample.suspect(
        "area", "6", "7", correction=Correction(path="a/truth.csv", line=2, before="Ann,6", after="Ann,7")
    )
    names = [sample.suspect("w[0].name", f'"D0{n} (6068)"', f'"D0{n}"', 3, 4) for n in range(3)]
    evals = (_eval("a", known, *names), _eval("b", sample.suspect("fuel", "", '"Gas"', 9, 9)), _eval("c"))
    gone = replace(_eval("d", known), deleted=True)
    page = suspect_labels_page([*evals, gone])
    view = page.view
    assert isinstance(view, SuspectTruthView)
    assert (page.path, list(view.summaries)) == ("suspect-labels.html", ["a", "b"])
    assert [(label.eval_id, label.path) for label in view.labels] == [
        ("a", "area"),
        ("b", "fuel"),
        ("a", "w[0].name"),
        ("a", "w[0].name"),
        ("a", "w[0].name"),
    ]
    told = [(cause.name, cause.fields, cause.evals) for cause in view.causes]
    assert told == [("", ["area"], 1), ("", ["fuel"], 1), ("the same field", ["w[].name"], 1)]
    html = written(renderer_of(sample.SITE), page)
    rows = [cause.id for cause in view.causes]
    assert re.findall('<tr id="label-([0-9a-f]+)"', html) == rows
    assert [
        html.count(f'href="{links.field(*field)}"') for field in (("a", "area"), ("b", "fuel"), ("a", "w[].name"))
    ] == [1, 1, 3]
    given = evals[0].headlines[1]
    assert f'<a href="evals/a/{given.slug}.html">{given.label}</a><tr id="label-{rows[1]}" data-g="b">' in html
    assert f'href="#fix-{rows[0]}"' in html
    assert f'id="fix-{rows[0]}"' in html
    assert f'{sample.SITE.repository_url}/blob/{evals[0].headlines[-1].sha}/a/truth.csv#L2"' in html
    assert all(words in html for words in ("expected blank", "Ann,7", "4 further labels have no line here"))


def test_of_very_many_labels_each_eval_has_the_same_share_of_the_page():
    many = [sample.suspect("a", "1", "2")] * (LISTED_LABELS // 2 + 1)
    page = suspect_labels_page([_eval("a", *many), _eval("b", sample.suspect("a", "1", "3"))])
    assert len(sample.view_of(page).labels) == LISTED_LABELS // 2 + 1
    html = written(renderer_of(sample.SITE), page)
    assert re.findall(r"(\d) more in (.) are not listed", html) == [("1", "A")]


def test_the_line_of_a_label_in_a_folder_is_in_the_file_of_its_document() -> None:
    files = [(f"c{n}.json", f'{{\n  "total": {n},\n  "sum": {n}\n}}\n'.encode()) for n in (4, 5)]
    outputs = tuple(File(f"out/c{n}.json", b'{"total": 7, "sum": 5}') for n in (4, 5))
    suspect = sample.suspect("total", "5", "7", document="c5")
    inputs = ScoringInputs(outputs=outputs, ground_truth=File("gold/", packed(files)))
    score = FieldsScorer().score
    found = corrected_line(score, inputs, score(inputs), suspect)
    assert found == Correction(path="gold/c5.json", line=2, before='  "total": 5,', after='  "total": 7,')


def test_what_people_say_of_an_answer_settles_the_label_that_it_contradicts(repo, tmp_path):
    out = tmp_path / "out"
    truth = [{"id": "a", "total": 5, "sum": 7, "tax": 1, "fee": 2, "city": "Ulm", "way": "Quai", "t": 3}]
    answer = {"id": "a", "total": 50, "sum": 70, "tax": 10, "fee": 20, "city": "Bonn", "way": "Qiau"}
    changes: list[dict[str, Content]] = [{"evals/bill/ground_truth.json": json.dumps(truth, indent=1)}]
    for number, fee in enumerate((2, 20, 20, 20)):
        tip, city = (30, "Bonn") if number == 3 else (3, "Bern" if number == 1 else "Bonn")
        output = json.dumps([{**answer, "fee": fee, "city": city, "t": tip, "n": number}])
        changes.append({f"evals/bill/results/iteration-00{number}/extracted.json": output})
    notes = """
- {case: a, field: total, verdict: wrong}
- {case: a, field: sum, iteration: iteration-001, verdict: right}
- {case: a, field: tax, iteration: gone, verdict: wrong}
- {case: a, field: fee, verdict: right}
- {case: a, field: fee, iteration: iteration-000, verdict: right}
- {case: a, field: city, iteration: iteration-001, verdict: right}
- {case: b, field: city, verdict: wrong}
- {case: a, field: t, verdict: right}
"""
    repo.commits([*changes, {"evals/bill/notes.yaml": notes}])
    build_site(repo.path, out)
    page = (out / "suspect-labels.html").read_text()
    rows = re.findall(r'<tr id="label.*?fields/(\w+)\.html"(.*?)(?=<tr|</table>)', page, re.DOTALL)
    said = [(field, *re.findall(r"a note calls the label (\w+)", row)) for field, row in rows]
    assert said == [
        ("sum", "wrong"),
        ("t", "wrong"),
        ("tax",),
        ("city",),
        ("way",),
        ("total", "right"),
        ("fee", "right"),
    ]
    patches = re.findall(r"<pre><code>(.*?)</code>", page, re.DOTALL)
    changed = [" ".join(re.findall(r"^\+.*?(\w+)&#34;: ", patch, re.MULTILINE)) for patch in patches]
    assert changed == ["sum tax city t", "sum", "t", "tax", "city", "way"]
    summary = (out / "summary.md").read_text()
    assert "4 of 4 different outputs `70`; a note calls the label wrong; line 5 of" in summary
    assert differs_from_cold(out, repo.path) == []


@in_table
def test_a_finding_on_an_expected_value_has_its_line(truth: str, output: object, settings: object, line: int) -> None:
    result = scored("fields", {"extracted.json": output}, {"truth.csv": truth}, settings)
    [finding] = [each for each in result.scorecard.findings if each.severity == "warning"]
    assert (finding.about, finding.line) == ("ground_truth", line)


def test_a_line_that_moved_is_the_new_one_although_nothing_is_judged_again() -> None:
    scorer = FieldsScorer()
    output = (File("extracted.json", b'[{"id": "b", "w": {"n": 2}}]'),)
    lines = []
    for truth in (b"id,w.n\nb,N/A\n", b"id,w.n\nc,1\nb,N/A\n"):
        result = scorer.score(ScoringInputs(outputs=output, ground_truth=File("ground_truth.csv", truth)))
        lines += [each.line for each in result.scorecard.findings if each.path]
    assert lines == [2, 3]
