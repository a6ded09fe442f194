"""The report of one snapshot: as a view, in short, and with the ground truth beside the output."""

import json
import re
from decimal import Decimal
from pathlib import Path

import pytest
from msgspec.structs import replace

from sitegen.analysis.edits import OutputEdits
from sitegen.engine.site import SHORT_REPORT, reports_that_fit
from sitegen.model.commits import Commit
from sitegen.model.metrics import Nouns
from sitegen.model.outcomes import Judgement
from sitegen.model.scorecards import AlignmentPanel, AlignmentRow, NotePanel
from sitegen.model.site import Page
from sitegen.model.timeline import Blob
from sitegen.pages import links
from sitegen.pages.html.cells import DisplayValue, shown_pair
from sitegen.pages.report import report_rows
from sitegen.pages.report.discrepancies import LOADABLE, error_groups, placed_error, section
from sitegen.pages.report.page import ALIGNED, DOCUMENTS, LISTS, ReportView, files
from sitegen.pages.report.report_rows import rows_file
from sitegen.pages.report.tree import VALUES, tree_page, value_tree
from sitegen.text.values import as_text
from sitegen.text.words import WordSpan
from tests import pages_sample as sample
from tests.gitrepo import GitRepo
from tests.rows import in_table
from tests.sites import build_site, content, differences, problems_text, renderer_of, words_of


def _page(
    judged: list[Judgement],
    wrong_before: frozenset[tuple[str, str]] = frozenset(),
    limit: int = 50,
    previous: bool = True,
) -> Page:
    series = sample.series(6)
    result = sample.result(judged)
    point = replace(series.points[5], scorecard=result.scorecard, change=None)
    before = series.points[4] if previous else None
    if before:
        point = sample.compared(before, point)
    first = {} if previous else {"snapshots": [point.snapshot]}
    since = sample.since(4, wrong_before)
    return sample.report(series, point, before, result, wrong_since=since, limit=limit, **first).page


ONE = sample.judgement("shipper.name", "omission", expected="Havn")
TWO = sample.judgement("cargo[0].amount", "wrong_value", expected=Decimal("10.50"), actual=Decimal("10.05"))
FINE = Judgement(document="", path="remarks", attribute="remarks", outcome="correct", expected="none", actual="none")


def test_a_discrepancy_is_new_if_its_place_was_not_wrong_in_the_previous_point():
    view = sample.view_of(_page([ONE, TWO, FINE], frozenset({("", "shipper.name")})))
    told = [(row.number, row.path, row.since.new) for row in view.discrepancies.drawn]
    assert told == [(1, "shipper.name", False), (2, "cargo[0].amount", True)]
    assert (view.discrepancies.total, view.discrepancies.new) == (2, 1)


def test_what_is_not_drawn_is_in_a_file_beside_the_page_as_the_rows_that_the_page_would_have():
    many = [replace(ONE, path=f"x{i}", attribute="x", named_path=f"x{i}</script>") for i in range(5)] + [TWO]
    whole, view = sample.view_of(_page(many)), sample.view_of(_page(many, limit=2))
    file = rows_file(view)
    assert file is not None
    told = (file.path, len(view.discrepancies.loadable), view.discrepancies.out_of_reach)
    assert told == ("evals/waybills/0006.js", 3, 0)
    script = re.fullmatch(r"\(self\.ROWS=self\.ROWS\|\|\[\]\)\.push\((.*)\);\n", file.content.decode("ascii"))
    assert script is not None
    assert json.loads(script[1]) == report_rows.discrepancies(whole.discrepancies.drawn[2:5], whole)
    assert rows_file(whole) is None


def test_a_page_loads_a_bounded_number_of_discrepancies_and_counts_those_that_only_the_data_file_has():
    number = LOADABLE + 3
    page = _page([replace(ONE, path=f"x{i}", attribute="x") for i in range(number)], limit=2)
    view = sample.view_of(page)
    assert [row.path for row in view.discrepancies.loadable] == [f"x{i}" for i in range(2, LOADABLE + 2)]
    assert view.discrepancies.out_of_reach == 1
    html = " ".join(sample.html_of(page).split())
    assert f'data-rows="0006.js" data-loadable="{LOADABLE}" data-beyond="1"' in html
    assert f"2 of {number:,} rows are drawn. Not drawn: {LOADABLE + 1:,} more (omission)." in html


def _errors(*places: tuple[str, str, str, str]) -> list[Judgement]:
    """Errors from (path, path with names, outcome, note)."""
    return [
        Judgement(
            document="",
            path=path,
            attribute=re.sub(r"\[\d+]", "[]", path),
            outcome=outcome,  # type: ignore[arg-type]
            expected="1",
            actual="2",
            note=note,
            named_path=named,
        )
        for path, named, outcome, note in places
    ]


def test_errors_are_grouped_by_list_item_and_an_item_that_is_missing_or_extra_as_a_whole_is_folded():
    wrong = _errors(
        ("weight", "", "wrong_value", ""),
        ("shipper.name", "", "omission", ""),
        ("shipper.city", "", "omission", ""),
        ("cargo[1].name", "cargo[Cod].name", "wrong_value", ""),
        ("cargo[1].lots[0].mass", "cargo[Cod].lots[A].mass", "omission", "missing item"),
        ("cargo[1].lots[0].code", "cargo[Cod].lots[A].code", "omission", "elsewhere"),
        ("cargo[1].tare", "cargo[Cod].tare", "wrong_value", ""),
        ("cargo[1].mass", "cargo[Cod].mass", "omission", ""),
        ("cargo[1].tags[0]", "cargo[Cod].tags[0]", "format_error", "expected an object"),
        ("cargo[1].name", "cargo[Ling].name", "hallucination", "extra item"),
        ("cargo[1].mass", "cargo[Ling].mass", "hallucination", "extra item"),
        ('["cargo[1].x"]', "", "omission", ""),
    )
    view = sample.view_of(_page(wrong, limit=2))
    every = sample.view_of(_page(wrong))
    html = report_rows.discrepancies(every.discrepancies.drawn, every)
    bodies = [
        (body[0], words_of(body[1]), "open" in body[1], re.findall(r"<tr id=d(\d+)", body[0]))
        for body in re.findall(
            r"(<tbody id=g\d+[^>]*>(<tr class=item>.*?</summary></details>\n)?.*?)(?=<tbody|$)", html, re.DOTALL
        )
    ]
    assert [(head, is_open, numbers) for _, head, is_open, numbers in bodies] == [
        ("", False, ["1"]),
        ("", False, ["2", "3"]),
        ("cargo[Cod] : 1 omission, 2 wrong values, 3 new", True, ["4", "7", "8"]),
        ("cargo[Cod].lots[A] : missing, 2 fields, 2 new", False, ["5", "6"]),
        ("cargo[Cod].tags[0] : 1 format error, 1 new", True, ["9"]),
        ("cargo[Ling] : not expected, 2 fields, 2 new", False, ["10", "11"]),
        ("", False, ["12"]),
    ]
    assert ".html>mass</a><td class=c-expected>" in html  # no note beside each of its fields, and no name of the item
    # A group is the same whether a row of it is on the page or in the file beside it, and counts all of them.
    both = {row.number: row.group for row in view.discrepancies.drawn + view.discrepancies.loadable}
    assert both == {row.number: row.group for row in every.discrepancies.drawn}
    assert len(view.discrepancies.loadable) > 0


def test_each_type_shows_at_most_its_limit_and_counts_the_rest():
    many = [replace(ONE, path=f"x{i}", attribute="x") for i in range(5)] + [TWO]
    view = sample.view_of(_page(many, limit=2))
    assert [row.path for row in view.discrepancies.drawn] == ["x0", "x1", "cargo[0].amount"]
    assert view.discrepancies.left_out == {"omission": 3}
    assert view.leaves_anything_out
    assert not sample.view_of(_page(many, limit=5)).leaves_anything_out


def test_a_discrepancy_has_the_letter_of_its_kind_where_that_is_another():
    view = sample.view_of(_page([ONE]))
    found = view.discrepancies.drawn
    assert "<td class=c-type>Omission<td class=c-place>" in report_rows.discrepancies(found, view)
    nouns = Nouns(errors=("missed", "wrong", "", ""), letters=("M", "W", "", ""))
    other = replace(view, info=replace(view.info, nouns=nouns))
    assert "<td class=c-type data-l=M>Missed<td class=c-place>" in report_rows.discrepancies(found, other)


def test_of_very_many_documents_those_with_the_most_errors_are_listed():
    many = [replace(ONE, document=f"d{i}", outcome="correct") for i in range(DOCUMENTS)]
    many += [replace(ONE, document=f"wrong{i}") for i in range(3)]
    view = sample.view_of(_page(many))
    assert [one.name for one in view.documents[:4]] == ["wrong0", "wrong1", "wrong2", "d0"]
    assert len(view.documents) == DOCUMENTS
    assert "; 3 more in" in renderer_of(sample.SITE).render(view.page).decode()
    assert view.leaves_anything_out


@in_table
def test_a_section_is_the_first_step_of_an_attribute(attribute, name):
    assert section(attribute) == name


def test_the_last_of_five_outputs_says_how_many_more_there_are():
    many = replace(sample.snapshot(1, sample.commit(1)), outputs=(Blob("a", "1"),) * 8)
    assert [role for role, _ in files(many)][3:5] == ["Output", "Output, and 3 more"]


def test_the_report_says_which_instructions_made_the_output():
    series = sample.series(2)
    result = sample.result([ONE])

    def made_with(*instructions: Commit, **more: str) -> str:
        at = replace(series.points[1].snapshot, **more)
        point = replace(series.points[1], snapshot=at)
        page = sample.report(series, point, None, result, instructions=instructions).page
        view: ReportView = sample.view_of(page)
        return view.made_with

    assert made_with(made_at="a" * 40).endswith("records, or whose instructions it records by hash or version")
    assert made_with(recorded_at="2025-01-02") == "the last edit not after the time that the output records"
    assert made_with(sample.commit(1), sample.commit(2), recorded_at="2025-01-02") == (
        "the last edit not after the time that the output records, or the edit that was committed with it"
    )
    assert made_with().startswith("the last edit when this output was added; it records no")


@in_table
def test_the_instructions_are_those_of_the_newest_edit_that_the_output_can_have_seen(recorded_at, position):
    edits = [sample.edit(at) for at in (10, 20, 30)]
    at = replace(sample.series(1).points[0].snapshot, commit=sample.commit(25), recorded_at=recorded_at)
    found = OutputEdits([at], edits).made_with[0]
    assert [commit.position for commit in found] == [position][: position is not None]


def test_a_pairing_is_shown_once_and_bounded():
    rows = tuple(AlignmentRow(expected=at, actual=at, label=f"item {at}") for at in range(ALIGNED + 5))
    panel = AlignmentPanel(document="", path="cargo", algorithm="greedy", threshold=0.8, rows=rows)
    note = NotePanel("a remark")
    result = replace(sample.result([ONE]), panels=(panel, note, *[panel] * LISTS))
    series = sample.series(2)
    view = sample.report(series, series.points[1], None, result)
    assert view.leaves_anything_out
    shown = renderer_of(sample.SITE).render(view.page).decode()
    assert shown.count("5 more rows are in") == shown.count(f"item {ALIGNED - 1}<") == LISTS
    assert f"item {ALIGNED}<" not in shown
    assert "1 more lists are in" in shown
    assert shown.count("a remark") == 1


def test_a_report_does_not_depend_on_later_points():
    judged = sample.judgements(3, 300)
    result = sample.result(judged)
    pages = [
        sample.report(series, series.points[3], series.points[2], result).page
        for series in (sample.series(4), sample.series(60))
    ]
    shown = [renderer_of(sample.SITE).render(page) for page in pages]
    assert shown[0] == shown[1]


def test_a_deeply_nested_value_is_shown_without_end():
    value: object = []
    for _ in range(5000):
        value = [value]
    assert as_text(value) == "[" * 40 + "…" + "]" * 40  # type: ignore[arg-type]


def test_a_long_value_is_cut():
    long = Judgement(document="", path="x", attribute="x", outcome="omission", expected="y" * 5000, actual=None)
    assert shown_pair(long)[0] == DisplayValue((WordSpan("y" * 2000, False),), "", 3000)


@pytest.mark.parametrize(("convention", "said"), [("standard", False), ("omissions_only", True)])
def test_a_report_says_by_which_convention_it_counts_if_it_is_not_the_standard_one(convention, said):
    series, result = sample.series(2), sample.result([ONE])
    card = replace(result.scorecard, convention=convention)
    point = replace(series.points[1], scorecard=card)
    html = sample.html_of(sample.report(series, point, None, replace(result, scorecard=card)).page)
    assert ("Counted by convention <code>omissions_only</code>" in html) is said


NAMED = sample.judgement("cargo[0].name", "correct", "Cod", "cod")


def test_the_page_is_bounded_and_shows_hostile_names_as_text():
    many = [replace(NAMED, path=f"cargo[{n}].name", named_path="") for n in range(VALUES)]
    hostile = replace(NAMED, document=sample.SCRIPT, path="cargo[0].x", named_path=f"cargo[{sample.SCRIPT}].x")
    result = sample.result([hostile, *many])
    series = sample.series(2)
    page = tree_page(series.info, series.points[1].snapshot, result)
    html = sample.html_of(page)
    assert sample.view_of(page).more == 1
    assert "1 more values are not shown" in html
    assert "<script>alert" not in html
    assert "&lt;script&gt;alert" in html


@pytest.mark.parametrize(("masses", "guess"), [(("7", "5"), " (perhaps cargo[0], by 2 of 3 values)"), (("7", "7"), "")])
def test_an_extra_item_names_the_missing_one_that_alone_has_most_of_its_values(masses, guess):
    names = ("mass", "port", "name")
    of_items = [
        sample.judgement(f"cargo[{at}].{name}", "omission", value, note="missing item")
        for at, mass in enumerate(masses)
        for name, value in zip(names, (mass, "Oslo", "Ling"), strict=True)
    ]
    for name, value in zip(names, ("7", "Oslo", "Eel"), strict=True):
        of_items.append(sample.judgement(f"cargo[0].{name}", "hallucination", None, value, note="extra item"))
    items = value_tree(of_items, sample.result(of_items)).nodes["cargo"].nodes.values()
    assert [node.guess for node in items] == ["", "", guess]
    assert error_groups([*map(placed_error, of_items)], [True] * 9, {})[-1].whole == f"not expected{guess}"


OUTPUTS = 6
EVALS = {"a": 40, "b": 8}
"""The number of fields of each eval."""


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two evals; an output of the smaller one cannot be read, and another has a wrong value."""
    repo = GitRepo(tmp_path_factory.mktemp("short") / "project")
    right = {name: {f"field{at}": f"value {at}" for at in range(fields)} for name, fields in EVALS.items()}
    repo.commit({f"evals/{name}/ground_truth.json": json.dumps(truth) for name, truth in right.items()})
    for number in range(OUTPUTS):
        outputs = {
            f"evals/{name}/extracted.json": json.dumps({**truth, "field0": f"<b>{number}</b>"})
            for name, truth in right.items()
        }
        if number == 1:
            outputs["evals/b/extracted.json"] = "{"
        repo.commit(outputs, message=f"Read <i>{number}</i>")
    return repo.path


@pytest.fixture(scope="module")
def full(source: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The site with every report."""
    out = tmp_path_factory.mktemp("full") / "out"
    build_site(source, out, jobs=1)
    return content(out)


@pytest.fixture
def project(source: Path, repo: GitRepo) -> GitRepo:
    repo.git("pull", "-q", str(source), "main")
    return repo


def built(project: GitRepo, out: Path, limits: str) -> dict[str, bytes]:
    (project.path / "sitegen.toml").write_text(f"[limits]\n{limits}\n")
    build_site(project.path, out, jobs=1)
    return content(out)


def test_a_short_report_has_the_numbers_of_its_output_and_says_what_is_left_out(project, full, tmp_path):
    site = built(project, tmp_path / "out", "reports_kept = 2")
    reports = {path for path in full if re.fullmatch(r"evals/[ab]/\d+[^/]*[.](html|js|json)", path)}
    kept = {path for path in reports if re.search(r"/000[56]\b", path)}
    short = {path for path in reports - kept if re.search(r"/\d+[.]html$", path)}
    assert reports & site.keys() == kept | short
    assert {path: site[path] for path in kept} == {path: full[path] for path in kept}
    assert len(short) == 2 * (OUTPUTS - 2)
    text = " ".join(site["evals/a/0001.html"].decode().split())
    sha = project.git("rev-list", "--reverse", "HEAD").split()[1]
    assert "Its values were left out to keep the site small" in text
    assert f"To see them: <code>git show {sha[:7]}</code>" in text
    assert links.commit(sha) in text
    assert "Read &lt;i&gt;0&lt;/i&gt;" in text
    assert dict(re.findall("<dt>(.*?)<dd>(.*?)(?=<dt>|</dl>)", text)).items() >= {
        ("F1", "0.975"),
        ("Wrong value", "1"),
        ("Omission", "0"),
    }
    assert '<span class="pill bad">unreadable</span>' in site["evals/b/0002.html"].decode()
    assert max(len(site[path]) for path in short) < SHORT_REPORT


@pytest.mark.parametrize("share", [0.1, 0.3, 0.55])
def test_a_site_over_its_limit_has_one_problem_that_names_how_many_reports_fit(project, full, tmp_path, share):
    reports = sum(len(body) for path, body in full.items() if re.fullmatch(r"evals/[ab]/\d+.*", path))
    limit = sum(map(len, full.values())) - int(reports * share)
    out = tmp_path / "out"
    large = built(project, out, f"site_bytes = {limit}")
    assert {path for path in full if large[path] != full[path]} == {"index.html", "problems.html", "data/index.json"}
    (advised,) = re.findall(r"Write reports_kept = (\d+) under", problems_text(out))
    assert 1 <= int(advised) < OUTPUTS
    site = built(project, out, f"site_bytes = {limit}\nreports_kept = {advised}")
    assert sum(map(len, site.values())) <= limit
    assert "of site_bytes" not in problems_text(out)
    more = built(project, out, f"site_bytes = {limit}\nreports_kept = {int(advised) + 1}")
    assert sum(map(len, more.values())) > limit - len(EVALS) * OUTPUTS * SHORT_REPORT


def test_the_files_with_further_cases_go_with_their_report():
    summary = sample.summary(sample.series(3))
    files = (f"{links.report_cases('waybills', at.slug)}{part}.js" for at in summary.headlines for part in (1, 2))
    assert reports_that_fit([summary], dict.fromkeys(files, SHORT_REPORT), SHORT_REPORT) == (2, 0)
    cases = {links.case("waybills", name): 27_000 for name in "ab"}  # each answer is 5,000 of them
    fits = [reports_that_fit([summary], cases, excess) for excess in (10_000, 20_000, 21_000)]
    assert fits == [(2, 0), (1, 0), (0, 1000)]


def test_a_site_that_no_number_of_reports_makes_small_enough_is_told_so(project, tmp_path):
    built(project, tmp_path / "out", "site_bytes = 1000")
    text = problems_text(tmp_path / "out")
    assert re.search(r"The site has [\d,]+ bytes, more than the 1,000 of site_bytes\.", text)
    assert re.search(r"Even reports_kept = 1 leaves about [\d,]+ bytes\.", text)


def test_the_problem_is_the_same_after_one_more_commit_and_in_a_cold_build(project, tmp_path):
    (project.path / "sitegen.toml").write_text("[limits]\nsite_bytes = 1000\n")
    build_site(project.path, tmp_path / "out", jobs=1, rev="HEAD~1")
    for out in ("out", "cold"):
        build_site(project.path, tmp_path / out, jobs=1)
    assert differences(tmp_path / "out", tmp_path / "cold") == []
