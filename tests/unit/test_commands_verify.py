"""``verify-one``, ``verify-all`` and ``history`` as a user runs them, and the report that ``--open`` shows."""

import json
import posixpath
import re
from pathlib import Path
from typing import Any
from urllib.parse import urldefrag

import pytest

from sitegen import __version__
from sitegen.errors import ConfigurationError
from sitegen.questions.preview import report_file, without_links, write_preview
from sitegen.questions.verify import verify
from sitegen.questions.work_tree import WorktreeProject
from sitegen.scoring.results_file import Metadata
from tests.gitrepo import GitRepo, put
from tests.names import MAPPING
from tests.receipts import write_receipts
from tests.refusals import refusals
from tests.sites import content, run


def output(total: int) -> str:
    return f'{{"docs": [{{"id": "a", "name": "Ann", "total": {total}}}, {{"id": "b", "name": "Bob"}}]}}'


@pytest.fixture
def repo(repo: GitRepo) -> GitRepo:
    repo.commit({"CLAUDE.md": "Read well.\n", "evals/names/field_mapping.yaml": MAPPING}, message="Say how to read")
    repo.commit(
        {"evals/names/ground_truth.csv": "id,name,total\na,Ann,1\nb,Bob,2\n", "evals/names/extracted.json": output(3)},
        message="Read for the first time",
    )
    repo.commit({"evals/names/extracted.json": output(1)}, message="Read again")
    repo.check_in(
        {
            "evals/other/ground_truth.json": '{"sum": 4}',
            "evals/other/results/iteration-001/extracted.json": '{"sum": 5}',
            "evals/other/results/iteration-002/extracted.json": '{"sum": 4}',
        },
        message="Add another eval",
    )
    return repo


def json_of(*arguments: str | Path) -> dict[str, Any]:
    done = run(*arguments, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    read: dict[str, Any] = json.loads(done.stdout)
    return read


def test_verify_one_prints_one_document_and_nothing_else(repo):
    head = repo.git("rev-parse", "HEAD")
    (repo.path / "evals" / "names" / "extracted.json").write_text(output(7))
    read = json_of("verify-one", "names", "--repo", repo.path)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", read["metadata"].pop("timestamp"))
    assert (read["schema"], read["eval_id"], read["metrics"]["f1"]) == ("sitegen/eval-results/1", "names", 4 / 7)
    found = [(one["document"], one["field_path"], one["error_type"]) for one in read["discrepancies"]]
    assert found == [("a", "total", "wrong_value"), ("b", "total", "omission")]
    assert read["metadata"] == {
        "iteration": None,
        "git_commit": head,
        "dirty": True,
        "instruction_hashes": {"CLAUDE.md": "89b1b37ca122e14b17228dfc300e4adfb438d0cc75d57029fa884fc21b3d788b"},
        "sitegen": __version__,
    }


def test_an_output_may_be_named_from_where_the_command_runs(repo):
    folder = repo.path / "evals" / "other" / "results"
    done = run("verify-one", "other", "iteration-001/extracted.json", cwd=folder)
    assert done.stdout.startswith("other  evals/other/results/iteration-001/extracted.json\n  F1  0.000 ")


def test_save_writes_the_next_iteration_and_prints_what_it_saved(repo):
    results = repo.path / "evals" / "names" / "results"
    done = run("verify-one", "names", "--save", "--json", "--repo", repo.path)
    folder = results / "iteration-001"
    assert (done.returncode, done.stderr) == (0, f"saved {folder}\nreport {folder}/eval-report.html\n")
    assert (results / "iteration-001" / "eval-results.json").read_text() == done.stdout
    assert (results / "iteration-001" / "extracted.json").read_text() == output(1)
    saved = json.loads(done.stdout)
    assert json.loads((results / "aggregate.json").read_bytes()) == {
        "eval_id": "names",
        "iterations": [
            {
                "iteration": 1,
                "timestamp": saved["metadata"]["timestamp"],
                "precision": 1.0,
                "recall": 0.75,
                "f1": 6 / 7,
                "total_errors": 1,
                "errors_by_type": {"omission": 1, "hallucination": 0, "wrong_value": 0, "format_error": 0},
            }
        ],
    }


def test_saving_again_after_a_new_output_adds_an_iteration_and_leaves_the_first_as_it_was(repo):
    folder = repo.path / "evals" / "names"
    run("verify-one", "names", "--save", "--repo", repo.path)
    first = content(folder / "results" / "iteration-001")
    (folder / "extracted.json").write_text(output(9))
    done = run("verify-one", "names", folder / "extracted.json", "--save", "--repo", repo.path)
    assert done.stderr.splitlines()[0] == f"saved {folder}/results/iteration-002"
    assert content(folder / "results" / "iteration-001") == first
    assert (folder / "results" / "iteration-002" / "extracted.json").read_text() == output(9)
    aggregate = json.loads((folder / "results" / "aggregate.json").read_bytes())
    assert [(line["iteration"], line["f1"]) for line in aggregate["iterations"]] == [(1, 6 / 7), (2, 4 / 7)]


def test_saving_an_iteration_that_lies_there_writes_its_results_beside_it(repo):
    results = repo.path / "evals" / "other" / "results"
    before = content(results)
    done = run("verify-one", "other", "--save", "--repo", repo.path)
    assert done.stderr.splitlines()[0] == f"saved {results}/iteration-002"
    after = content(results)
    told = {path for path in after if before.get(path) != after[path]}
    assert told == {"aggregate.json", "iteration-002/eval-report.html", "iteration-002/eval-results.json"}


def test_the_aggregate_has_a_line_for_every_iteration_also_for_those_that_nobody_saved(repo):
    results = repo.path / "evals" / "other" / "results"
    (results / "iteration-001" / "eval-results.json").write_text('{"metadata": {"timestamp": "2026-02-03T04:05:06"}}')
    (results / "iteration-009").mkdir()
    run("verify-one", "other", "--save", "--repo", repo.path)
    lines = json.loads((results / "aggregate.json").read_bytes())["iterations"]
    assert lines[0] == {
        "iteration": 1,
        "timestamp": "2026-02-03T04:05:06",
        "precision": 0.0,
        "recall": 0.0,
        "f1": 0.0,
        "total_errors": 1,
        "errors_by_type": {"omission": 0, "hallucination": 0, "wrong_value": 1, "format_error": 0},
    }
    assert [(line["iteration"], line["f1"]) for line in lines] == [(1, 0.0), (2, 1.0)]


def test_the_saved_report_is_one_file_that_needs_no_script_and_no_other_file(repo):
    (repo.path / "evals" / "names" / "extracted.json").write_text(output(7).replace("Ann", "</style><script>x"))
    saved = run("verify-one", "names", "--save", "--json", "--repo", repo.path)
    time = json.loads(saved.stdout)["metadata"]["timestamp"]
    page = (repo.path / "evals/names/results/iteration-001/eval-report.html").read_text(encoding="utf-8")
    assert "default-src 'none'; style-src 'unsafe-inline'; img-src data:;" in page
    assert (page.count("<style>"), page.count("</style>"), "<script" in page, "<link" in page) == (1, 1, False, False)
    assert re.findall(r'(?:src|href)="([^"#]+)"', page) == []
    assert "<h1>names, iteration-001</h1>" in page
    assert f"<span>Scored {time}</span>" in page
    assert "1 of 4 expected values correct" in page
    assert re.search(r'Wrong value</span><span class="c">2</span>\s*<span class="num">66\.7\u202f%</span>', page)


def test_a_long_report_leads_to_the_results_beside_it(repo):
    (repo.path / "sitegen.toml").write_text("[limits]\ndiscrepancies_per_type = 1\n")
    (repo.path / "evals" / "names" / "extracted.json").write_text(output(7).replace("Ann", "Eve").replace("Bob", "Eve"))
    run("verify-one", "names", "--save", "--repo", repo.path)
    page = (repo.path / "evals/names/results/iteration-001/eval-report.html").read_text(encoding="utf-8")
    assert re.findall(r'(?:src|href)="([^"#]+)"', page) == ["eval-results.json"]


def test_an_output_dir_gets_the_output_its_results_and_the_report_and_the_project_nothing(repo, tmp_path):
    before = repo.git("status", "--porcelain")
    folder = tmp_path / "some" / "reports.v1"
    done = run("verify-one", "names", "--output-dir", folder, "--json", "--repo", repo.path)
    assert (done.returncode, done.stderr) == (0, f"report {folder}/eval-report.html\n")
    assert sorted(content(folder)) == ["eval-report.html", "eval-results.json", "extracted.json"]
    assert (folder / "eval-results.json").read_text() == done.stdout
    assert repo.git("status", "--porcelain") == before
    (tmp_path / "file").write_text("")
    refused = run("verify-one", "names", "--output-dir", tmp_path / "file", "--repo", repo.path)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.startswith("sitegen: The folder cannot be made: File exists.\n")


def test_saving_twice_leaves_one_line_and_what_others_wrote(repo):
    file = repo.path / "evals" / "other" / "results" / "aggregate.json"
    file.write_text('{"eval_id": "other", "by": "hand", "iterations": [{"iteration": 1, "f1": 0.25}]}')
    for _ in range(2):
        run("verify-one", "other", "--save", "--repo", repo.path)
    read = json.loads(file.read_bytes())
    lines = [(line["iteration"], line["f1"]) for line in read["iterations"]]
    assert (read["by"], lines) == ("hand", [(1, 0.25), (2, 1.0)])


def test_an_iteration_without_an_output_is_not_taken_for_a_free_number(repo):
    results = repo.path / "evals" / "other" / "results"
    put(results / "iteration-007" / "notes.txt", "mine")
    new = repo.path / "new.yaml"
    new.write_text("sum: 4\n")
    assert run("verify-one", "other", new, "--save", "--repo", repo.path).stderr.startswith(
        f"saved {results}/iteration-008\n"
    )
    assert [path.name for path in (results / "iteration-007").iterdir()] == ["notes.txt"]
    assert (results / "iteration-008" / "extracted.yaml").read_text() == "sum: 4\n"


def test_a_saved_output_of_any_name_is_found_again(repo):
    new = repo.path / "answer.txt"
    new.write_text('{"sum": 4}')
    run("verify-one", "other", new, "--save", "--repo", repo.path)
    done = run("verify-one", "other", "--repo", repo.path)
    assert done.stdout.startswith("other  evals/other/results/iteration-003/extracted.json\n  F1  1.000 ")


def test_what_was_saved_is_one_more_point_of_the_site(repo):
    new = repo.path / "evals" / "other" / "new.json"
    new.write_text('{"sum": 9}')
    run("verify-one", "other", new, "--save", "--repo", repo.path)
    new.unlink()
    run("build", repo.path, "--worktree")
    points = json.loads((repo.path / "site" / "data" / "evals" / "other.json").read_bytes())["points"]
    told = [(point["label"], point["then"]["f1"]) for point in points]
    assert told == [("iteration-001", 0.0), ("iteration-002", 1.0), ("iteration-003", 0.0)]


@refusals(0)
def test_what_cannot_be_scored_is_refused_with_what_to_do(repo, arguments, printed):
    blank = {"evals/blank/ground_truth.json": "{}", "evals/blank/results/iteration-004/x": ""}
    repo.check_in({"evals/other/ground_truth.json": None, **blank})
    repo.git("clone", "-q", "--bare", ".", "bare.git")
    GitRepo(repo.path / "empty").commit({"CLAUDE.md": "# Rules\n"})
    done = run(*arguments.split(), cwd=repo.path)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", printed.replace("{}", str(repo.path)))


def test_verify_all_prints_the_documents_of_all_evals(repo):
    read = json_of("verify-all", "--repo", repo.path)
    single = [json_of("verify-one", eval_id, "--repo", repo.path) for eval_id in ("names", "other")]
    for each in single:
        each["metadata"]["timestamp"] = None
    names = [f"{over}_{ratio}" for over in ("macro", "pooled") for ratio in ("f1", "precision", "recall")]
    means = dict(zip(names, ((6 / 7 + 1) / 2, 1.0, 0.875, 8 / 9, 1.0, 0.8), strict=True))
    assert read == {"evals": single, **means}


def test_verify_all_takes_the_folder_of_evals_that_is_named(repo):
    (repo.path / "evals").rename(repo.path / "checks")
    done = run("verify-all", "--evals-dir", "checks", cwd=repo.path)
    assert (done.returncode, done.stderr) == (0, "")
    told = [line.split()[-1] for line in done.stdout.splitlines()[1:3]]
    assert told == ["checks/names/extracted.json", "checks/other/results/iteration-002/extracted.json"]
    refused = run("verify-all", "--evals-dir", "..", "--repo", repo.path)
    seen = (refused.returncode, refused.stderr.splitlines()[0])
    assert seen == (2, "sitegen: There is no such folder in the project.")


def test_verify_all_says_which_eval_has_no_ground_truth_and_scores_the_others(repo):
    (repo.path / "evals" / "manifest.yaml").write_text("evals: {ghost: {dir: evals/names, ground_truth: x.csv}}\n")
    done = run("verify-all", "--repo", repo.path)
    assert done.stderr.startswith("sitegen: The eval 'ghost' has no ground truth.\n")
    assert "\nmacro   F1      1.000                 1.000  1.000\n" in done.stdout


def test_history_as_json_is_the_series_of_the_site_without_the_patterns_that_only_a_report_finds(repo):
    run("build", repo.path)
    done = run("history", "names", "--json", "--repo", repo.path)
    series = (repo.path / "site" / "data" / "evals" / "names.json").read_bytes()
    assert done.stdout.encode() == series.replace(b',"error_patterns":[]}', b"}")
    assert b',"error_patterns":[]}' in series


def test_history_of_an_older_revision_leaves_the_site_and_the_memo_alone(repo):
    run("build", repo.path)
    before = content(repo.path / "site")
    done = run("history", "names", "--rev", "HEAD~2", "--repo", repo.path)
    assert re.findall(r"^iteration-\d+", done.stdout, re.MULTILINE) == ["iteration-001"]
    again = run("build", repo.path)
    assert "; 0 files written, " in again.stdout
    assert content(repo.path / "site") == before


HREF = re.compile(r"""<(?:a|link)\b[^>]*\shref=["']?([^"'\s>]+)""")


def preview(root: Path) -> Path:
    return write_preview(verify(WorktreeProject.open(root), "receipts"))


def dead_links(page: Path) -> list[str]:
    """The addresses on a page that lead to no file."""
    found = (urldefrag(address)[0] for address in HREF.findall(page.read_text(encoding="utf-8")))
    return [address for address in found if address and not (page.parent / address).is_file()]


def test_every_link_of_a_preview_leads_to_a_file(demo):
    bench = WorktreeProject.open(demo)
    pages = [write_preview(verify(bench, eval_id)) for eval_id in bench.eval_ids]
    methods = demo / ".sitegen/preview/methods.html"
    assert len(pages) == 10
    assert [(page.parent.name, dead_links(page)) for page in (*pages, methods) if dead_links(page)] == []
    assert all(posixpath.relpath(methods, page.parent) in page.read_text(encoding="utf-8") for page in pages)


@pytest.fixture
def receipts(tmp_path: Path) -> GitRepo:
    """A project with a folder for templates of its own."""
    repo = write_receipts(tmp_path / "project")
    (repo.path / "site_templates/frame").mkdir(parents=True)
    return repo


def test_a_preview_names_a_field_without_a_page_and_leaves_nothing_that_git_sees(receipts):
    page = preview(receipts.path).read_text(encoding="utf-8")
    assert "<tr><td class=label><span>shop</span><td>1.000" in page
    assert "data-search" not in page
    assert receipts.git("status", "--porcelain") == ""


def test_the_templates_and_the_title_of_the_project_make_the_preview(receipts):
    footer = receipts.path / "site_templates/frame/footer.html"
    footer.write_text('<footer>Ours. <a href="{{ root }}index.html">Home</a></footer>')
    (receipts.path / "site_templates/theme.css").write_text(":root { --own: 1 }")
    (receipts.path / "sitegen.toml").write_text('title = "Till"\n')
    page = preview(receipts.path)
    text = page.read_text(encoding="utf-8")
    assert "<footer>Ours. </footer>" in text
    assert "· Till</title>" in text
    assert "--own: 1" in (page.parents[2] / "assets/app.css").read_text(encoding="utf-8")
    footer.write_text("{{ nothing.")
    with pytest.raises(ConfigurationError, match="footer"):
        preview(receipts.path)


def test_only_links_to_files_that_are_missing_are_taken_out():
    page = (
        b'<a href="../gone.html">Nav</a><main><a class="btn" href="gone.html">Go</a>'
        b'<a class="mono" href="fields/x.html">x &gt; y</a><a href=there%20too.html#d1>2</a>'
        b'<a href="#d1">3</a> <a href="https://example.org/gone.html">4</a></main><a href="there too.html">5</a>'
    )
    left = without_links(page, "evals/a/report.html", {"evals/a/there too.html"})
    assert left == (
        b'<main><span class="mono">x &gt; y</span><a href=there%20too.html#d1>2</a>'
        b'<a href="#d1">3</a> <a href="https://example.org/gone.html">4</a></main><a href="there too.html">5</a>'
    )


def test_a_report_of_its_own_has_our_policy_before_all_else_whatever_the_head_of_the_project_holds(receipts):
    head = '<meta charset="utf-8"><link rel="stylesheet" href="own.css"><script src="own.js"></script><base href="x/">'
    (receipts.path / "site_templates/frame/head.html").write_text(head)
    (receipts.path / "site_templates/theme.css").write_text("b::after { content: '</style><script>' }")
    verified = verify(WorktreeProject.open(receipts.path), "receipts")
    page = report_file(verified, Metadata(), "eval-results.json").decode()
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
    assert page.split("<head>\n", 1)[1].startswith(f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n')
    assert ("own.css" in page, "own.js" in page, page.count("</style>")) == (False, False, 1)
    assert "content: '<\\/style>" in page
