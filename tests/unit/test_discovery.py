"""What ``sitegen init`` finds in a project that was made without sitegen in mind."""

import itertools
import json
import re
import tomllib
from html import unescape
from pathlib import Path

import pytest
import yaml
from msgspec.structs import replace

from sitegen.api import history
from sitegen.config.manifest import manifest_in_force
from sitegen.errors import POINTER
from sitegen.history.repository import Repository
from sitegen.recognition.files import Discovery, InstructionGlob, files_of_history
from sitegen.recognition.initialising import manifest_line, manifest_text, site_text
from sitegen.recognition.output_series import run_globs_of
from sitegen.scoring.kinds import specs_of
from tests.gitrepo import LFS_POINTER, GitRepo, Link
from tests.rows import in_table
from tests.scoring.test_tables import tables
from tests.sites import build_site, content, run
from tests.unit.test_layouts import look as _look

ORDERS = {"number": "A-1", "total": 12.5, "buyer": {"name": "Ann", "city": "Bern"}}
COLUMNS = tables(Path(__file__).with_name("found_columns.md").read_text(encoding="utf-8"))[0]
RUNS, HEADLINES, NAMES, PROMPTS, SCORES, UNREAD, *_ = (
    [tuple(row.values()) for row in table]
    for table in tables(Path(__file__).with_name("discovery.md").read_text(encoding="utf-8"))
)
GOLD = [{"sku": "p-1", "colour": "red", "size": 4}, {"sku": "p-2", "colour": "blue", "size": 5}]
IMPERATIVE = (
    "You are a careful clerk. You must read every line of the order. Never guess a price. Always name the currency. "
    "Do not round. Return only JSON. If the user asks for more, answer with what the order says. "
) * 4


def _junit(passed: int, failed: int) -> str:
    cases = [f'<testcase classname="desk" name="case {n}"/>' for n in range(passed)]
    cases += [f'<testcase classname="desk" name="bad {n}"><failure message="no"/></testcase>' for n in range(failed)]
    return f"<testsuites><testsuite name='desk'>{''.join(cases)}</testsuite></testsuites>"


def _board(*passed: bool) -> str:
    rows = [
        {"case": f"c{n}", "model": "m", "judgment": {"verdict": "pass" if each else "fail"}}
        for n, each in enumerate(passed)
    ]
    return json.dumps({"made": "by hand", "rows": rows})


def _quiz(*answers: str) -> str:
    return json.dumps([{"id": f"q{n}", "expected": "yes", "output": answer} for n, answer in enumerate(answers)])


def _products(*colours: str, **more: float) -> str:
    rows = [{"sku": f"p-{n}", "colour": colour, "size": 3 + n, **more} for n, colour in enumerate(colours, 1)]
    return json.dumps({"model": "m", "items": rows})


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> GitRepo:
    repo = GitRepo(tmp_path_factory.mktemp("found") / "project")
    repo.commits(
        [
            {
                "orders/gold.json": json.dumps(ORDERS),
                "orders/last-output.json": json.dumps({**ORDERS, "total": 1}),
                "catalogue/expected_products.json": json.dumps(GOLD),
                "package.json": '{"name": "a", "version": "1"}',
                "settings/colours.json": '{"a": 1, "b": 2}',
                ".cursor/rules/style.mdc": "Be brief.",
                "src/prompts/system.txt": "Read the order.",
                "assistant/clerk.jinja": IMPERATIVE,
                "docs/style.md": IMPERATIVE,
                "node_modules/x/prompts/a.md": "No.",
                "evals/receipts/ground_truth.json": json.dumps(ORDERS),
                "evals/receipts/extracted.json": json.dumps(ORDERS),
            },
            {
                "orders/last-output.json": json.dumps({**ORDERS, "number": "?"}),
                "catalogue/runs/2026-02-01T10-00-00/products.json": _products("red", "green"),
                "ci/reports/2026-02-01.xml": _junit(2, 2),
                "package.json": '{"name": "a", "version": "2"}',
                "helpdesk/results/board.json": _board(True, False, False),
                "quiz/answers.json": _quiz("yes", "no"),
                "benchmarks/nightly.jsonl": '{"date": "d1", "pass_rate": 0.7}\n',
                "settings/colours.json": '{"a": 1, "b": 3}',
                "src/prompts/system.txt": "Read the order twice.",
            },
            {
                "orders/last-output.json": json.dumps(ORDERS),
                "catalogue/runs/2026-02-03T10-00-00/products.json": _products("red", "blue"),
                "ci/reports/2026-02-02.xml": _junit(3, 1),
                "package.json": '{"name": "a", "version": "3"}',
                "helpdesk/results/board.json": _board(True, True, False),
                "quiz/answers.json": _quiz("yes", "yes"),
                "benchmarks/nightly.jsonl": '{"date": "d1", "pass_rate": 0.7}\n{"date": "d2", "pass_rate": 0.9}\n',
                "settings/colours.json": '{"a": 1, "b": 4}',
            },
        ]
    )
    repo.checkout()
    return repo


@pytest.fixture(scope="module")
def found(project) -> Discovery:
    return _look(project)


def test_outputs_are_found_with_the_expected_values_that_share_their_fields_and_runs_of_a_test_runner(found):
    evals = yaml.safe_load(found.manifest)["evals"]
    assert {name: {key: entry[key] for key in entry if key != "instructions"} for name, entry in evals.items()} == {
        "orders": {"dir": "orders", "outputs": "last-output.json", "ground_truth": "gold.json"},
        "catalogue": {
            "settings": {"documents": {"path": "items", "key": "sku"}},
            "dir": "catalogue/runs",
            "outputs": "*/products.json",
            "ground_truth": "../expected_products.json",
        },
        "ci": {"kind": "judged", "dir": "ci/reports", "outputs": "20*.xml"},
        "helpdesk": {
            "kind": "judged",
            "settings": {"list": "rows", "columns": {"id": "case", "model": "model", "passed": "judgment.verdict"}},
            "dir": "helpdesk/results",
            "outputs": "board.json",
        },
        "benchmarks": {
            "kind": "recorded",
            "settings": {"headline": "pass_rate"},
            "dir": "benchmarks",
            "outputs": "nightly.jsonl",
        },
        "quiz": {"kind": "responses", "ground_truth_format": "cases", "dir": "quiz", "outputs": "answers.json"},
    }
    patterns = [".cursor/rules/**/*.mdc", "**/prompts/**/*.txt", "assistant/clerk.jinja"]
    assert {name: entry.get("instructions") for name, entry in evals.items()} == dict.fromkeys(evals, patterns)


def test_each_comes_with_its_points_and_with_what_the_newest_of_them_is(found):
    assert {(each.id, each.points, each.newest) for each in (*found.existing, *found.proposed)} == {
        ("receipts", 1, ""),  # it needs no entry in the manifest, so that only a build scores it
        ("orders", 3, "F1 1.000 over 1 document"),
        ("catalogue", 2, "F1 1.000 over 2 documents"),
        ("ci", 2, "Passed 0.750 over 4 cases"),
        ("benchmarks", 2, "pass_rate 0.900 over 1 run"),
        ("helpdesk", 2, "Passed 0.667 over 3 cases"),
        ("quiz", 2, "Accuracy 1.000 over 2 expected answers"),
    }
    assert "# 3 iterations; the newest: F1 1.000 over 1 document.\n" in found.manifest


def test_instructions_are_found_by_their_places_and_names_else_by_what_they_say(found):
    assert [(each.glob, each.files, each.edits) for each in found.instructions] == [
        (".cursor/rules/**/*.mdc", 1, 1),
        ("**/prompts/**/*.txt", 1, 2),
        ("assistant/clerk.jinja", 1, 1),
    ]
    assert site_text(found.instructions) == (
        "# Which files instruct the model: sitegen follows every edit of them.\n"
        "instructions = [\n"
        '  ".cursor/rules/**/*.mdc",  # 1 file, 1 version: rules and commands of Cursor\n'
        '  "**/prompts/**/*.txt",     # 1 file, 2 versions: files in a folder of prompts\n'
        '  "assistant/clerk.jinja",   # 1 file, 1 version: a text that instructs, by what it says\n'
        "]\n"
    )


@pytest.mark.parametrize("row", COLUMNS, ids=[row["case"] for row in COLUMNS])
def test_columns_with_names_of_their_author_are_recognised_by_their_values(row, repo):
    repo.commit({"evals/triage/results.csv": row["table"].replace(" / ", "\n")})
    found = [one for one in _look(repo).proposed if one.entry["kind"] == "judged"]
    expected = [(json.loads(row["columns"]), row["newest"])] if row["newest"] else []
    assert [(one.entry["settings"]["columns"], one.newest) for one in found] == expected


def test_a_manifest_is_heard_first_and_what_it_names_is_not_proposed_again(project, found):
    again = _look(project, manifest_in_force(found.manifest.encode(), "manifest.yaml", "evals").value)
    assert (again.proposed, again.manifest) == ((), None)
    names = " ".join(sorted(each.id for each in again.existing))
    assert names == "benchmarks catalogue ci helpdesk orders quiz receipts"


def test_a_search_that_no_commit_continues_begins_again(project):
    repository = Repository.open(project.path)
    whole = files_of_history(repository, repository.resolve("HEAD"))
    assert files_of_history(repository, whole.head, replace(whole, head="0" * 40, met=())) == whole


def test_a_dry_run_prints_what_would_be_written_and_writes_nothing(project, found):
    before = content(project.path)
    done = run("init", "--dry-run", project.path)
    assert (done.returncode, done.stderr) == (0, "")
    assert content(project.path) == before
    written = f"evals/manifest.yaml would be:\n{found.manifest}sitegen.toml would be:\n{site_text(found.instructions)}"
    assert done.stdout.endswith(written)
    assert done.stdout.startswith("is an eval already: receipts, 1 iteration\n")


def test_instructions_that_init_writes_make_no_output_stale(project, tmp_path):
    clone, out = tmp_path / "clone", tmp_path / "site"
    project.git("clone", "-q", str(project.path), str(clone))
    run("init", "--skeletons", clone)
    project.git("-C", str(clone), "add", "--all")
    project.git("-C", str(clone), "-c", "user.name=Ann", "-c", "user.email=a@example.org", "commit", "-qm", "Begin")
    build_site(clone, out)
    files = [json.loads((out / "data" / "evals" / f"{name}.json").read_bytes()) for name in ("orders", "quiz")]
    assert [file["points"][-1]["stale"] for file in files] == [False, False]


def test_what_was_found_takes_the_place_of_the_example_and_overwrites_nothing(project, found, tmp_path):
    clone = tmp_path / "clone"
    project.git("clone", "-q", str(project.path), str(clone))
    (clone / "sitegen.toml").write_text('title = "Ours"\n')
    done = run("init", clone)
    assert (clone / "evals/manifest.yaml").read_text() == found.manifest
    assert (clone / "sitegen.toml").read_text() == 'title = "Ours"\n'
    assert "kept   sitegen.toml" in done.stdout.splitlines()
    assert done.stdout.splitlines()[-1] == "next: review these files, commit them, then run sitegen build"


def test_where_nothing_is_found_it_says_what_it_looked_for(repo):
    repo.check_in({"README.md": "Ours.\n", "found.json": '{"found": [{"doc": "a", "score": 0.4}]}'})
    done = run("init", "--dry-run", repo.path)
    told = done.stdout.splitlines()
    assert [row.partition(" Looked for")[0] for row in told] == ["found no eval in 2 files.", "found no instructions."]
    assert "results that other tools write" in told[0]


@pytest.mark.parametrize(("path", "glob"), RUNS)
def test_a_date_or_a_number_behind_a_word_for_runs_makes_a_run(path, glob):
    assert "".join(run_globs_of(path)[:1]) == glob


@pytest.mark.parametrize("name", ["on", "a: b", "x # y", 'a"b', "1.5", "é", "-", "null", "C:\\x"])
def test_every_name_is_read_as_it_was_found(name):
    text = manifest_text([(name, {"dir": name, "settings": {name: [name, 3, True]}}, (f"{name}\n- of: a file",))], name)
    assert yaml.safe_load(text)["evals"] == {name: {"dir": name, "settings": {name: [name, 3, True]}}}
    read = tomllib.loads(site_text([InstructionGlob(glob=name, meaning="x", files=1, edits=1)]))
    assert read["instructions"] == [name]


def test_a_folder_of_cases_is_not_an_eval_each(repo):
    report = _junit(1, 1)
    repo.commits([{f"results/case{chr(97 + n)}/out.xml": report for n in range(9)} | {"results/a.xml": report}])
    assert len(_look(repo).proposed) == 10  # each in a folder of its own
    repo.commits([{f"more/results/{chr(97 + n)}.xml": _junit(2, 1) for n in range(9)}])
    look = _look(repo)
    assert sum(each.why.startswith("more/") for each in look.proposed) == 6
    assert [f"{each.why}: {each.lacks}" for each in look.rejected] == [
        "3 files beside 6 others in more/results: each may be one document of an eval",
        "9 files more that one commit wrote: only the first 10 of these are looked at",
    ]
    repo.commits([{f"cache/results/{n}ac5{n}ef2{n}.xml": report for n in range(8)}])
    assert "8 files in cache/results" in {each.why for each in _look(repo).rejected}


def test_a_site_that_is_committed_has_no_evals(found, project, repo):
    repo.git("pull", "--quiet", str(project.path), "HEAD")
    build_site(repo.path, repo.path / "book")
    (repo.path / "book/.gitignore").unlink()
    repo.git("add", "book")
    repo.git("-c", "user.name=Ann", "-c", "user.email=ann@example.org", "commit", "--quiet", "-m", "Publish")
    assert "book/data/evals/receipts.csv" in repo.git("ls-files").splitlines()
    assert [entry.id for entry in _look(repo).proposed] == [entry.id for entry in found.proposed]


def test_a_manifest_that_init_wrote_makes_the_same_numbers_as_the_build_before_and_no_note(repo, tmp_path):
    repo.commits([{"benchmarks/latest.json": json.dumps({"accuracy": rate}), "a.md": "x"} for rate in (0.5, 0.6)])
    build_site(repo.path, tmp_path / "before")
    repo.checkout()
    assert "wrote  evals/manifest.yaml" in run("init", cwd=repo.path).stdout
    repo.commit({"evals/manifest.yaml": (repo.path / "evals/manifest.yaml").read_text()})
    build_site(repo.path, tmp_path / "after")
    before, after = (
        json.loads((tmp_path / side / "data/evals/benchmarks.json").read_text()) for side in ("before", "after")
    )
    values = [[point["then"]["metrics"] for point in each["points"]] for each in (before, after)]
    assert values[0] == values[1]
    assert "No manifest names" not in (tmp_path / "after/problems.html").read_text()


def test_a_project_with_an_eval_of_its_own_gets_no_others(repo, tmp_path):
    orders = json.dumps(ORDERS)
    repo.commit({"evals/receipts/ground_truth.json": orders, "evals/receipts/extracted.json": orders})
    repo.commits([{"benchmarks/latest.json": json.dumps({"accuracy": rate})} for rate in (0.5, 0.6)])
    assert build_site(repo.path, tmp_path / "site").evals == 1


@pytest.mark.parametrize(("path", "last"), [("prompts/a.md", "sitegen init"), ("README.md", "run: sitegen init")])
def test_a_build_that_finds_no_eval_ends_with_the_command_that_searches(path, last, repo):
    repo.commit({path: "Read the order."})
    built = run("build", cwd=repo.path)
    assert (built.stdout or built.stderr).rstrip().endswith(last)


@pytest.mark.parametrize("number", [1, 5, 6])
def test_the_terminal_says_what_else_may_be_an_eval_in_five_lines(number, repo):
    ratings = json.dumps({"ratings": {"c1": {"human_score": 4}, "c2": {"human_score": 2}}})
    repo.commit({f"evals/task{name}/ratings.json": ratings for name in "abcdef"[:number]} | {"CLAUDE.md": "Read."})
    seen = [
        line for line in run("build", cwd=repo.path).stdout.splitlines() if "ratings.json" in line or "note" in line
    ]
    counts, *lines = seen
    assert counts.startswith("1 commit, 0 evals")
    assert len(lines) == min(number, 5)
    assert lines[0].startswith("Perhaps an eval: evals/taska/ratings.json, written by 1 commit: ")
    assert (lines[-1] == "2 more such notes on problems.html.") == (number == 6)


@in_table
def test_what_may_be_no_output_of_a_model_is_told_with_the_lines_to_write_and_not_taken(
    path, rows, doubt, repo, tmp_path
):
    repo.commit({path: rows if isinstance(rows, str) else json.dumps(rows), "CLAUDE.md": "Read."})
    assert build_site(repo.path, tmp_path / "site").evals == 0
    told = re.sub(r"<[^>]+>", "", unescape((tmp_path / "site/problems.html").read_text()))
    (perhaps,) = re.findall(r"Perhaps an eval: (.+?)\n?If it is one, write into evals/manifest\.yaml: (\{.+\})", told)
    assert doubt in perhaps[0]
    look = _look(repo)
    assert (look.proposed, look.manifest, len(look.doubtful)) == ((), None, 1)
    repo.commit({"evals/manifest.yaml": perhaps[1]})
    assert build_site(repo.path, tmp_path / "written").iterations == 1


def _spread(value: dict[str, object]) -> dict[str, object]:
    return {str(number): value["*"] for number in range(250)} if "*" in value else value


@pytest.mark.parametrize(("numbers", "headline"), HEADLINES)
def test_a_time_a_count_a_setting_or_a_range_is_no_headline(numbers, headline, repo):
    repo.commit({"evals/speed.json": json.dumps(json.loads(numbers, object_hook=_spread))})
    evals = yaml.safe_load(_look(repo).manifest or "{evals: {}}")["evals"].values()
    assert [entry["settings"]["headline"] for entry in evals] == ([headline] if headline else [])


@pytest.mark.parametrize(("path", "name"), NAMES)
def test_an_eval_has_the_name_that_tells_it_from_others(path, name, repo):
    repo.commits([{path.replace(r"\u0308", "\u0308"): json.dumps({"accuracy": share})} for share in (0.5, 0.6)])
    assert [found.id for found in _look(repo).proposed] == [name]


def test_a_summary_hides_no_eval_beside_it_and_neither_does_a_tool_or_a_ground_truth_alone(repo, tmp_path):
    quizzes = {f"evals/results/{name}.json": _board(True, name == "full") for name in ("baseline", "full")}
    repo.commit(quizzes | {"evals/results/summary.json": '{"accuracy": 1}'})
    assert build_site(repo.path, tmp_path / "out").evals == 2
    repo.commit({"promptfooconfig.yaml": "prompts: [a.txt]", "output.json": '{"accuracy": 1}'})
    assert build_site(repo.path, tmp_path / "with").evals == 3
    repo.commit({"evals/gold/ground_truth.json": '{"total": 1}'})
    assert build_site(repo.path, tmp_path / "beside").evals == 4


LONG = "Read the lease, and write each party with its address and the date on which it signed; leave out witnesses."


@pytest.mark.parametrize(
    ("path", "text", "is_found"),
    [*PROMPTS, pytest.param("app/data.py", f"KEY = '{'a_' * 2_000_000}'", "no", id="a word of megabytes")],
)
def test_prompts_in_code_and_data_are_found_by_the_names_of_their_texts(path, text, is_found, repo):
    repo.commit({path: text.replace("LONG", LONG).replace("\\n", "\n"), "README.md": "Ours."})
    said = {"yes": [("prompts, by the names of texts in it", True)], "by name": [("prompts, by their names", False)]}
    assert [(each.meaning, each.glob == path) for each in _look(repo).instructions] == said.get(is_found, [])


@pytest.mark.parametrize("truth", ["evals/gold-standard.json", "evals/notes/gold-standard.json", ""])
def test_prompts_are_followed_wherever_they_are_beside_evals_of_any_kind_and_without(truth, repo, tmp_path):
    prompts = {"src/llm-prompts.yaml": f"reader: {LONG}", "prompt_v1.txt": "Classify the ticket.\n"}
    repo.commit(prompts | ({truth: "{}"} if truth else {}))
    build_site(repo.path, tmp_path / "site")
    listed = (tmp_path / "site/instructions/index.html").read_text()
    assert all(path.rpartition("/")[2] in listed for path in prompts)


def test_an_eval_of_a_package_has_the_instructions_of_the_package(repo):
    packages = {f"packages/{name}/package.json": "{}" for name in ("billing", "search", "bare")}
    prompts = {f"packages/{name}/prompts/ask.md": "Ask." for name in ("billing", "search")}
    repo.commit({**packages, **prompts, "CLAUDE.md": "Be brief."})
    for accuracy in (0.5, 0.6):
        numbers = json.dumps({"accuracy": accuracy})
        repo.commit({f"packages/{name}/evals/latest.json": numbers for name in ("billing", "search", "bare")})
    evals = yaml.safe_load(_look(repo).manifest or "")["evals"]
    assert {name: entry["instructions"] for name, entry in evals.items()} == {
        "billing": ["packages/billing/**/prompts/**/*.md"],
        "search": ["packages/search/**/prompts/**/*.md"],
        "bare": ["CLAUDE.md", "**/prompts/**/*.md"],
    }


@pytest.mark.parametrize(("_case", "stated", "newest"), SCORES, ids=[case for case, *_ in SCORES])
def test_what_a_file_states_of_its_cases_is_the_score(_case, stated, newest, repo, tmp_path):
    repo.commit({"evals/results.json": stated, "CLAUDE.md": "Read."})
    look = _look(repo)
    (found,) = (*look.existing, *look.proposed)
    (point,) = history(repo.path, found.id, cache=tmp_path / "memo").points
    label, value, _, cases, _ = newest.split()
    specs = {spec.label: spec.name for spec in specs_of("judged", [point.scorecard])}
    assert point.scorecard.metric(specs[label]) == pytest.approx(float(value))
    assert len(point.scorecard.documents) == int(cases)


@pytest.mark.parametrize("truth", ["expected", "data"])
def test_documents_of_a_package_have_the_truth_of_their_package_and_those_beyond_the_bound_are_told(truth, repo):
    documents = {
        f"packages/p{package:02}/{side}/c{n}.json": json.dumps({"total": package, "case": n})
        for package in range(60)
        for side in (truth, "outputs")
        for n in (1, 2, 3)
    }
    look = _look(repo.commit(documents) and repo)
    found = look.proposed or look.doubtful
    assert {(one.id, one.entry["dir"], one.entry["ground_truth"], one.newest) for one in found} == {
        (f"p{package:02}", f"packages/p{package:02}", f"{truth}/", "F1 1.000 over 3 documents") for package in range(50)
    }
    assert [one.lacks for one in look.rejected] == [
        "it cannot be read: a search reads at most 300 files and 60 MB, and these were reached before"
    ]


def test_models_whose_files_would_be_read_too_often_are_told_with_the_line_to_write(repo):
    repo.commit({f"results/gpt-{number}.json": json.dumps(CASES) for number in range(141)})
    assert len(_look(repo).proposed) == 1
    large = dict.fromkeys(map("sizes/results/gpt-{}.json".format, range(50)), f'{{"a": "{" " * 500_000}", "f1": 0.5}}')
    repo.commit({"results/gpt-0.json": json.dumps(CASES[:1]), **large})
    doubts = {
        one.entry["outputs"] in manifest_line(one) and one.doubt.partition("up to")[2] for one in _look(repo).doubtful
    }
    assert doubts == {" 20,022 in all", " 2,500 in all"}


GRADED = json.dumps({"results": [{"id": f"c{n}", "output": "x", "passed": n < 4, "score": 0.5} for n in range(6)]})


@pytest.mark.parametrize(
    ("path", "written", "reason"),
    [
        *((path, written.replace(" / ", "\n"), reason) for path, written, reason in UNREAD),
        ("evals/qa/run.json", GRADED.encode("utf-16"), "it is not UTF-8 text. Save the file as UTF-8"),
        ("labels.csv", "id,label\n1,größe\n".encode("cp1252"), "it is not UTF-8 text. Save the file as UTF-8, in"),
        ("evals/qa/run.yaml", "rows:\n\t- 1\n", "it is not valid YAML: found character that cannot start any token"),
        ("evals/qa/run.json", f'{{"big": "{"x" * 5_000_000}"}}', "larger than 5 MB (5 MB)"),
        ("evals/qa/run.json", LFS_POINTER, f"{POINTER}. Run git lfs pull --include evals/qa/run.json"),
        ("evals/q\ta/run.json", GRADED, "no configuration can name it, because its path holds a control character"),
    ],
)
def test_a_file_in_a_place_of_results_that_cannot_be_read_is_named_with_the_reason(repo, path, written, reason):
    repo.commit({"CLAUDE.md": "# Rules\n", path: written})
    (told,) = _look(repo).rejected
    assert told.why == path
    assert told.lacks.startswith(f"it cannot be read: {reason}")


def test_links_in_places_of_results_are_named_until_they_are_gone(repo, tmp_path):
    links = dict.fromkeys(("evals/qa/run.json", "evals/qa/old.json"), Link("../../real.json"))
    repo.commit({**links, "CLAUDE.md": "# Rules\n"})
    repo.commit({"evals/qa/old.json": None})
    (told,) = _look(repo).rejected
    assert told.why == "evals/qa/run.json"
    assert told.lacks.startswith("it cannot be read: it is a symbolic link")
    build_site(repo.path, tmp_path / "site")
    assert "it cannot be read: it is a symbolic link" in unescape((tmp_path / "site/problems.html").read_text())


CASES = [{"id": "q1", "passed": True}, {"id": "q2", "passed": False}]
HOLD: dict[str, object] = {
    "a verdict": {"passed": True, "score": 0.5, "output": "Paris"},
    "a gate": {"name": "all", "passed": True, "f1": 0.5},
    "cases": CASES,
    "values": [{"id": f"q{n}", "expected": {"total": n}, "output": {"total": n}} for n in (1, 2)],
    "a number": {"accuracy": 0.5},
    "a count": {"n": 9, "accuracy": 0.5},
    "a row of a task": {"task_name": "BUCC", "scores": {"test": [{"f1": 0.4, "main_score": 0.5, "languages": ["de"]}]}},
    "a task": {"task_name": "NFCorpus", "accuracy": 0.5},
    "numbers": {
        "config": {"retriever": "dense"},
        "all": {"samples": 51, "metrics": {"faithfulness": 0.9, "recall": 0.5}},
    },
}
MODELS = tables(Path(__file__).with_name("found_models.md").read_text(encoding="utf-8"))[0]


def _expanded(text: str) -> list[str]:
    """The paths that a shell makes of braces."""
    choices = (part.split(",") for part in re.split(r"[{}]", text))
    return list(map("".join, itertools.product(*choices)))


@pytest.mark.parametrize("row", MODELS, ids=[row["case"] for row in MODELS])
def test_the_outputs_of_several_models_are_one_eval(repo, row):
    repo.commit(dict.fromkeys(_expanded(row["files"]), json.dumps(HOLD[row["hold"]])))
    found = _look(repo).proposed
    assert sorted(f"{one.entry['dir']}/{one.entry['outputs']}" for one in found) == row["outputs"].split()
