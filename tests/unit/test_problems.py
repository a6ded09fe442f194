"""Problems by cause: one entry for one cause, one count for pages and terminal, the banner; names that fit nothing."""

from html import unescape
from pathlib import Path

from msgspec.structs import replace

from sitegen.analysis.causes import causes_of, count_causes
from sitegen.model.problems import Problem
from sitegen.pages.other_pages import LISTED_PLACES, banner_text, problems_page, score_changes
from sitegen.scoring.ground_truth.truth import unmapped
from tests import pages_sample as sample
from tests.gitrepo import GitRepo
from tests.sites import build_site, differs_from_cold, problems_text, run
from tests.unit.test_layouts import EVAL, MANIFEST

HEAD = sample.commit(0)
FIX = "Map them."


def _unmapped(eval_id: str, number: int, *, past: bool = False, commit: str = "c1") -> Problem:
    message = f"{number} columns are not mapped: Heating"
    problem = Problem.of_type("unmapped_values", message, FIX, "truth.csv", eval_id)
    return replace(problem, commit=commit, past=past)


def test_problems_without_a_type_are_one_entry_if_only_names_and_numbers_differ() -> None:
    messages = ("The document 'x' stands twice in 2 files", "The document 'y' stands twice in 2 files", "It is empty")
    fixes = ("Did you mean 'a'?", "Did you mean 'b'?", "Correct it.")
    causes = causes_of(Problem("warning", *said) for said in zip(messages, fixes, strict=True))
    assert [(cause.message, banner_text(cause), cause.fix) for cause in causes] == [
        ("The document … stands twice in 2 files", "The document 'x' stands twice in 2 files, and 1 more alike", ""),
        ("It is empty", "It is empty", "Correct it."),
    ]
    html = sample.html_of(problems_page(causes, (), HEAD, "main"))
    assert [unescape(html).count(fix) for fix in fixes] == [1, 1, 1]


def test_errors_come_first_then_what_is_in_most_places_and_the_past_last() -> None:
    causes = causes_of(
        (
            Problem("error", "old", "f", past=True),
            Problem("warning", "once", "f"),
            Problem("warning", "twice", "f", eval_id="a"),
            Problem("warning", "twice", "f", eval_id="b"),
            Problem("error", "now", "f"),
            Problem("note", "twice", "f"),
        )
    )
    assert [cause.message for cause in causes] == ["now", "twice", "once", "twice", "old"]
    assert len({cause.id for cause in causes}) == 5
    assert count_causes(causes) == (1, 2, 1, 1)
    assert count_causes(causes).text == "1 error, 2 warnings, 1 note, and 1 that only earlier outputs have"


def test_a_banner_names_the_first_of_many_names() -> None:
    names = ", ".join(f"Row {number}" for number in range(20))
    long = score_changes((Problem("warning", f"20 columns are not mapped: {names}.", "f"),))
    short = score_changes((Problem("warning", "2 columns are not mapped: Area, Height.", "f"),))
    sentence = score_changes((Problem("warning", "Documents are missing, and nobody knows" + " why" * 40, "f"),))
    said = ("Columns are not mapped: Area, Height", "Columns are not mapped: Height, Name")
    of_two = score_changes(Problem("warning", message, "f", type="unmapped_values") for message in said)
    assert [banner_text(cause) for cause in (*long, *short, *of_two)] == [
        "20 columns are not mapped: " + ", ".join(f"Row {number}" for number in range(14)) + " and 6 more",
        "2 columns are not mapped: Area, Height",
        "Columns are not mapped: Area, Height, Name",
    ]
    assert [banner_text(cause) for cause in sentence] == [cause.message for cause in sentence]


def test_the_lines_to_paste_are_those_of_all_evals_and_make_the_problem_go(tmp_path: Path) -> None:
    repo, out = GitRepo(tmp_path / "project"), tmp_path / "out"
    report = ',Fuel,Gas\n,City,"Oslo"\n\n,Walls:,Name,Area\n,,N,12\n,,S,8\n'
    files = {
        f"evals/{name}/ground_truth.csv": text
        for name, text in (("a", report), ("b", report.replace("City", "Town: \xc5")))
    }
    files |= {f"evals/{name}/extracted.json": '{"fuel": "Gas"}' for name in "ab"}
    repo.commit({**files, "evals/field_mapping.yaml": "csv_to_json: {Fuel: fuel}\n"})
    build_site(repo.path, out)
    html, *leading = ((out / page).read_text() for page in ("problems.html", "index.html", "evals/a/index.html"))
    assert all('problems.html#paste">Lines to paste</a>' in page for page in leading)
    assert "10 values in 2 evals not scored" in " ".join(html.split())
    block = unescape(html.partition("<pre><code>")[2].partition("</code>")[0])
    assert block == (
        'csv_to_json:\n  "City": "city"\n  "Town: \xc5": "town_\xe5"\narray_mappings:\n'
        '  "walls": {"csv_section": "Walls:", "fields": {"Name": "name", "Area": "area"}}'
    )
    repo.commit({"evals/field_mapping.yaml": block.replace("csv_to_json:", 'csv_to_json:\n  "Fuel": "fuel"')})
    build_site(repo.path, out)
    assert "not mapped and not scored" not in (out / "problems.html").read_text().partition("Past")[0]


def test_an_entry_lists_a_bounded_number_of_places() -> None:
    causes = causes_of(_unmapped("a", place) for place in range(LISTED_PLACES + 3))
    html = sample.html_of(problems_page(causes, (), HEAD, "main"))
    places = html.partition('<ul class="plain">')[2].partition("</details>")[0]
    assert (places.count("<li>"), "3 more are not listed." in places) == (LISTED_PLACES, True)


def test_columns_that_are_not_mapped_change_scores_only_if_they_have_a_value() -> None:
    findings = unmapped({"Heating:": 0, "Area": 1, "Name": 2})
    assert [(finding.severity, finding.text) for finding in findings] == [
        ("warning", "Columns of the ground truth are not mapped and not scored: Area, Name"),
        ("note", "Columns of the ground truth without any value are not mapped: Heating"),
    ]


TRUTH, OUTPUT = EVAL.values()
NO_FIELD = "matches no field of the ground truth or of the newest output."


def test_where_nothing_can_be_reported_the_names_that_are_nearly_right_are_named(repo):
    repo.commit({"evals/n/groundtruth.csv": TRUTH, MANIFEST: "evals:\n  k: {ground_truht: t.csv}\n"})
    done = run("build", repo.path)
    assert done.returncode == 2
    assert "The key 'evals.k.ground_truht' is not known" in done.stderr
    assert "evals/n/ is not an eval: groundtruth.csv is not the name of a ground truth. Call it one of" in done.stderr


def test_an_entry_that_another_eval_comes_to_use_is_no_note_any_more_also_in_the_next_build(repo, tmp_path):
    other = {path.replace("/n/", "/k/"): text for path, text in EVAL.items()}
    repo.check_in({**EVAL, **other, "m.yaml": "ignore: [walls]\n", "sitegen.toml": 'mapping = ["m.yaml"]\n'})
    build_site(repo.path, tmp_path / "step", jobs=1)
    assert NO_FIELD in problems_text(tmp_path / "step")
    repo.commit({"evals/k/results/iteration-002/extracted.json": OUTPUT.replace("}", ', "walls": 1}')})
    build_site(repo.path, tmp_path / "step", jobs=1)
    assert NO_FIELD not in problems_text(tmp_path / "step")
    assert differs_from_cold(tmp_path / "step", repo.path) == []


def test_the_work_tree_is_looked_at_where_it_is_built(repo, tmp_path):
    ours = {"evals/k/ground_truth.csv": TRUTH, "evals/k/a.txt": "x", ".gitignore": "*.out.json\n"}
    repo.check_in({**EVAL, **ours})
    (repo.path / "evals/k/mine.out.json").write_text(OUTPUT)
    build_site(repo.path, tmp_path / "site", jobs=1, worktree=True)
    assert "Commit evals/k/results/" in problems_text(tmp_path / "site")
    (repo.path / "evals/k/extracted.json").write_text(OUTPUT)
    build_site(repo.path, tmp_path / "site", jobs=1, worktree=True)
    assert "No problems" in problems_text(tmp_path / "site")


def test_an_uncommitted_manifest_is_read_and_a_problem_of_the_work_tree_names_it_whole(repo, tmp_path):
    repo.check_in(EVAL)
    (repo.path / MANIFEST).write_text("evals: {n: {name: Receipts, ground_truth: ground_truth.csv}}\n")
    (repo.path / "evals/n/extracted.json").symlink_to("/nowhere")
    build_site(repo.path, tmp_path / "site", jobs=1, worktree=True)
    shown = problems_text(tmp_path / "site")
    assert "manifest" not in shown
    assert "at worktree" in shown
    assert "Receipts" in (tmp_path / "site/index.html").read_text()
    (repo.path / "evals/n/ground_truth.csv").unlink()
    build_site(repo.path, tmp_path / "site", jobs=1, worktree=True)
    shown = problems_text(tmp_path / "site")
    assert "The ground truth 'ground_truth.csv' that the manifest names for 'n' is not there" in shown
