"""What the configuration names and nothing fits, and files that lie under a name that nobody looks for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from sitegen.analysis.causes import ProblemCause, causes_of
from sitegen.model.problems import Problem, Severity
from tests.gitrepo import GitRepo
from tests.sites import build_site, differences, differs_from_cold, problems_text, run

TRUTH = "id,total,name\na,1,x\nb,2,y\n"
OUTPUT = '[{"id": "a", "total": 1, "name": "x"}, {"id": "b", "total": 2, "name": "y"}]'
EVAL = {"evals/n/ground_truth.csv": TRUTH, "evals/n/results/iteration-001/extracted.json": OUTPUT}
MANIFEST = "evals/manifest.yaml"
IGNORED = "If it is on disk and git add leaves it out, git check-ignore -v says which rule of .gitignore does."


@pytest.fixture
def problems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Commits these files beside an eval that is in order, then what is *later*, builds, and gives the problems."""
    shown: list[Problem] = []

    def recording(problems: tuple[Problem, ...]) -> tuple[ProblemCause, ...]:
        shown[:] = [replace(problem, type="") for problem in problems if not problem.past]
        return causes_of(problems)

    monkeypatch.setattr("sitegen.engine.site.causes_of", recording)

    def build(
        files: dict[str, str | None], later: dict[str, str | None] | None = None, **options: object
    ) -> list[Problem]:
        repo = GitRepo(tmp_path / "project")
        repo.commit({path: text for path, text in {**EVAL, **files}.items() if text is not None})
        if later:
            repo.commit(later)
        repo.checkout()
        build_site(repo.path, tmp_path / "site", jobs=1, **options)
        return shown

    return build


def entry(text: str) -> dict[str, str]:
    return {MANIFEST: f"evals:\n  n: {{{text}}}\n"}


def warning(what: str, fix: str, path: str | None = MANIFEST, eval_id: str | None = "n", **rest: Any) -> Problem:
    return Problem("warning", what, fix, path=path, eval_id=eval_id, **rest)


def test_a_project_in_which_everything_is_found_has_no_problem(problems: Any) -> None:
    assert problems({**entry("owner: Kim, thresholds: {f1: 0.5}, outputs: auto"), "evals/README.md": "x"}) == []


def test_a_redact_glob_that_fits_nothing_is_a_problem(problems: Any) -> None:
    fix = "Correct the glob, or remove it: values that it should hide may be on the site. --public refuses such a site."
    what = "No field of 'n' ever had a path that 'nme' names, under `redact` in its entry."
    assert problems(entry("redact: [name, nme, total]")) == [warning(what, fix)]
    site = "No field of any eval ever had a path that 'iban' names, under `redact` in the site's configuration."
    assert problems({"sitegen.toml": 'redact = ["total", "iban"]\n', MANIFEST: ""}) == [
        warning(site, fix, path=None, eval_id=None)
    ]


def test_an_index_in_a_redact_glob_stands_for_any_index(problems: Any) -> None:
    truth = '{"people": [{"name": "Ann", "phone": "1"}]}'
    files = {"evals/n/ground_truth.csv": None, "evals/n/ground_truth.json": truth}
    files["evals/n/results/iteration-001/extracted.json"] = truth
    assert problems({**files, **entry("redact: ['people[1].phone', people.0.name]")}) == []


def test_a_key_of_the_manifest_that_is_nearly_a_known_one_is_a_problem_with_its_line(problems: Any) -> None:
    fix = "Write 'ground_truth' if that is meant; otherwise give it a name that is less like it."
    what = "The key 'evals.n.ground_truht' is not known and counts as metadata."
    assert problems(entry("ground_truht: t.csv")) == [warning(what, fix, eval_id=None, line=2)]


@pytest.mark.parametrize(
    ("text", "what", "fix"),
    [
        (
            "mapping: m.yaml",
            "The manifest names the mapping 'm.yaml' for 'n', which is not there; it is scored without one.",
            f"Commit it, or correct the path, which starts at the top of the repository. {IGNORED}",
        ),
        (
            'schema: "{dir}/s.json"',
            "The manifest names the schema '{dir}/s.json' for 'n', which is not there; it is scored without one.",
            f"Commit it, or correct the path, which starts at the top of the repository. {IGNORED}",
        ),
        (
            "outputs: o.json",
            "The manifest names the output 'o.json' for 'n', which is not there.",
            f"Commit it, or correct the path, which starts at evals/n/. {IGNORED}",
        ),
        (
            "thresholds: {recal: 1}",
            "The eval 'n' has a threshold for 'recal', and no metric has that name.",
            "Did you mean 'recall'?",
        ),
        (
            "instructions: [CLAUDE.md]",
            "No instruction file ever had a path that 'CLAUDE.md' names, of the instructions of 'n'.",
            "Correct the glob; it chooses among the files that the site's own `instructions` name.",
        ),
    ],
)
def test_what_an_entry_names_and_is_not_there_is_a_problem(problems: Any, text: str, what: str, fix: str) -> None:
    severity: Severity = "note" if "instruction" in what else "warning"
    assert problems(entry(text)) == [replace(warning(what, fix), severity=severity)]


@pytest.mark.parametrize("glob", ["docs/how.md", "docs/*.md", "**/how.md"])
def test_instructions_of_an_eval_that_only_the_site_leaves_out_are_named(problems: Any, glob: str) -> None:
    assert problems({**entry(f'instructions: ["{glob}"]'), "docs/how.md": "Do."}) == [
        note(
            f"No instruction file ever had a path that {glob!r} names, of the instructions of 'n'.",
            "'docs/how.md' is there: add it to the site's own `instructions`, which do not name it.",
            MANIFEST,
            "n",
        )
    ]


def test_a_ground_truth_that_is_not_there_is_a_problem_also_of_an_eval_that_had_one(problems: Any) -> None:
    files = {MANIFEST: "evals:\n  n: {}\n  k: {ground_truth: t.csv}\n  l: {dir: x}\n"}
    assert problems({**files, "evals/k/ground_truth.csv": TRUTH}) == [
        warning(
            "The ground truth 't.csv' that the manifest names for 'k' is not there.",
            "Commit one to evals/k/, or correct its entry in the manifest.",
            eval_id="k",
        ),
        warning(
            "The eval 'l' of the manifest never had a ground truth.",
            "Commit one to x/, or correct its entry in the manifest.",
            eval_id="l",
        ),
    ]


def test_results_that_are_not_there_are_a_problem_of_an_eval_without_ground_truth(problems: Any) -> None:
    entries = 'evals:\n  n: {}\n  k: {kind: judged, dir: ".", outputs: k.jsonl}\n  l: {kind: recorded}\n'
    files = {MANIFEST: entries, "k.jsonl": '{"id": "a", "passed": true}\n'}
    assert problems(files, {"k.jsonl": None}) == [
        warning(
            "The eval 'k' of the manifest has no results any more.",
            "Commit results below the top of the repository, or correct or remove its entry in the manifest.",
            eval_id="k",
        ),
        warning(
            "The eval 'l' of the manifest never had any results.",
            "Commit results below evals/l/, or correct or remove its entry in the manifest.",
            eval_id="l",
        ),
    ]


def test_what_the_site_s_configuration_names_and_nothing_fits_is_a_problem(problems: Any) -> None:
    toml = (
        'instructions = ["nope/*.md", "CLAUDE.md"]\nmapping = ["m.yaml"]\n[gate.evals.nn]\nfloor = 1\n'
        "[gate.metrics.f2]\nfloor = 1\n[gate.evals.n.metrics.recal]\nfloor = 1\n"
        '[[regressions.mute]]\neval = "n"\ncommit = "abcdef0"\nwhy = "w"\n'
    )
    assert [(each.severity, each.message) for each in problems({"sitegen.toml": toml})] == [
        ("note", "No file ever had a path that 'nope/*.md' names, of `instructions` in the site's configuration."),
        ("warning", "[gate] has limits for 'nn', and no eval has that name."),
        ("warning", "[gate] has limits for 'f2', and no metric has that name."),
        ("warning", "[gate] has limits for 'recal', and no metric has that name."),
        ("note", "A mute names no step: eval 'n', commit 'abcdef0'."),
        ("warning", "`mapping` of the site's configuration names no file that is there: m.yaml."),
    ]


def test_an_alias_that_takes_the_folder_of_another_entry_is_an_error(problems: Any) -> None:
    files = {"evals/k/ground_truth.csv": TRUTH, "evals/k/extracted.json": OUTPUT}
    assert problems({**files, MANIFEST: "evals:\n  n: {aliases: k}\n  k: {}\n"}) == [
        Problem(
            "error",
            "An alias of 'n' is the folder of the eval 'k', whose files all count for 'n'.",
            "Remove the alias, or give one of the two another folder.",
            path=MANIFEST,
            eval_id="k",
        )
    ]


NO_FIELD = "matches no field of the ground truth or of the newest output."
LEFT_OVER = "Correct it, or remove it if it is left over."
MAPPING = """
csv_to_json: {id: id, total: total, name: name, Nmae: nmae}
field_types: {numeric: [total, totl]}
tolerances: {areas: {percent: 1}}
tolerance_categories: {areas: [area, otal, al]}
ignore: [secret.*]
fields: {"rooms[0].x": {coerce: true}}
lists: {rooms: {threshold: 0.5}}
"""


def note(what: str, fix: str, path: str, eval_id: str | None) -> Problem:
    return Problem("note", what, fix, path=path, eval_id=eval_id)


def test_every_entry_of_a_mapping_that_fits_no_field_is_one_note(problems: Any) -> None:
    path = "evals/n/field_mapping.yaml"
    assert problems({path: MAPPING}) == [
        note(f"{text!r} of `{key}` {NO_FIELD}", fix, path, "n")
        for key, text, fix in (
            ("csv_to_json", "Nmae: nmae", "Did you mean 'name'?"),
            ("field_types.numeric", "totl", "Did you mean 'total'?"),
            ("tolerance_categories.areas", "area", LEFT_OVER),
            ("tolerance_categories.areas", "otal", "Did you mean 'total'?"),
            ("tolerance_categories.areas", "al", LEFT_OVER),
            ("ignore", "secret.*", LEFT_OVER),
            ("fields", "rooms[0].x", LEFT_OVER),
            ("lists", "rooms", LEFT_OVER),
        )
    ]


def test_an_entry_of_the_settings_that_fits_no_field_is_a_note_of_the_manifest(problems: Any) -> None:
    assert problems(entry("settings: {ignore: [nam, name]}")) == [
        note(f"'nam' of `ignore` {NO_FIELD}", "Did you mean 'name'?", MANIFEST, "n")
    ]


def test_an_entry_of_a_shared_mapping_is_reported_only_if_no_eval_uses_it(problems: Any) -> None:
    other = {
        "evals/k/ground_truth.csv": "id,rooms\na,1\n",
        "evals/k/results/iteration-001/extracted.json": '[{"id": "a", "rooms": 1}]',
    }
    files = {**other, "m.yaml": "ignore: [rooms, total, walls]\n", "sitegen.toml": 'mapping = ["m.yaml"]\n'}
    assert problems(files) == [note(f"'walls' of `ignore` {NO_FIELD}", LEFT_OVER, "m.yaml", None)]


def test_where_nothing_can_be_reported_the_names_that_are_nearly_right_are_named(tmp_path: Path) -> None:
    repo = GitRepo(tmp_path / "project")
    repo.commit({"evals/n/groundtruth.csv": TRUTH, MANIFEST: "evals:\n  k: {ground_truht: t.csv}\n"})
    done = run("build", repo.path)
    assert done.returncode == 2
    assert "The key 'evals.k.ground_truht' is not known" in done.stderr
    assert "evals/n/ is not an eval: groundtruth.csv is not the name of a ground truth. Call it one of" in done.stderr


def test_an_entry_that_another_eval_comes_to_use_is_no_note_any_more_also_in_the_next_build(tmp_path: Path) -> None:
    repo = GitRepo(tmp_path / "project")
    other = {path.replace("/n/", "/k/"): text for path, text in EVAL.items()}
    repo.commit({**EVAL, **other, "m.yaml": "ignore: [walls]\n", "sitegen.toml": 'mapping = ["m.yaml"]\n'})
    repo.checkout()
    build_site(repo.path, tmp_path / "step", jobs=1)
    assert NO_FIELD in problems_text(tmp_path / "step")
    repo.commit({"evals/k/results/iteration-002/extracted.json": OUTPUT.replace("}", ', "walls": 1}')})
    build_site(repo.path, tmp_path / "step", jobs=1)
    assert NO_FIELD not in problems_text(tmp_path / "step")
    assert differs_from_cold(tmp_path / "step", repo.path) == []


def test_nothing_is_said_of_an_entry_below_a_list_that_is_always_empty(problems: Any) -> None:
    files = {
        "evals/n/ground_truth.csv": TRUTH,
        "evals/n/results/iteration-001/extracted.json": OUTPUT.replace("}", ', "rooms": [], "walls": [{"b": 1}]}', 1),
        "evals/n/field_mapping.yaml": 'ignore: ["rooms[*].area", "walls[*].area", "walls[*].b", rooms]\n',
    }
    assert [each.message for each in problems(files)] == [f"'walls[*].area' of `ignore` {NO_FIELD}"]


def test_nothing_is_said_of_a_mapping_where_an_output_that_it_serves_cannot_be_read(problems: Any) -> None:
    broken = {"evals/n/results/iteration-002/extracted.json": "{", "evals/n/field_mapping.yaml": "ignore: [walls]\n"}
    assert [each.message for each in problems(broken) if "fits" in each.message] == []


NO_OUTPUT = "The eval 'k' has ground truth and no output."
WANTED = "evals/k/results/iteration-001/extracted.json or evals/k/extracted.json"


@pytest.mark.parametrize(
    ("path", "fix"),
    [
        ("evals/k/README.md", f"Commit {WANTED}. {IGNORED}"),
        (
            "evals/k/output.json",
            f"There is output.json: if that is the output, call it {WANTED}, or name it as outputs.",
        ),
        (
            "evals/k/results/iteration-001/output.json",
            f"There is results/iteration-001/output.json: if that is the output, call it {WANTED}, "
            "or name it as outputs.",
        ),
    ],
)
def test_an_eval_with_ground_truth_and_no_output_is_a_problem(problems: Any, path: str, fix: str) -> None:
    files = {"evals/k/ground_truth.csv": TRUTH, path: "[]"}
    assert problems(files) == [warning(NO_OUTPUT, fix, path="evals/k", eval_id="k")]


@pytest.mark.parametrize(("newest", "severity"), [("extracted.json", "note"), ("output.json", "warning")])
def test_iterations_without_output_are_a_warning_if_the_newest_is_one(
    problems: Any, newest: str, severity: str
) -> None:
    files = {
        "evals/n/results/iteration-002/notes.md": "x",
        "evals/n/results/iteration-003/output.json": OUTPUT,
        "evals/n/results/iteration-004/eval-results.json": "{}",
        f"evals/n/results/iteration-010/{newest}": OUTPUT,
    }
    (problem,) = (each for each in problems(files) if "passed over" in each.message)
    assert (problem.severity, problem.path) == (severity, "evals/n/results/iteration-002")
    assert problem.message.startswith("iteration-002, iteration-003")
    assert problem.message.endswith(" have no output, and are passed over.")
    assert problem.fix == f"Commit extracted.json there, or remove the folders. {IGNORED}"


@pytest.mark.parametrize("name", ["groundtruth.csv", "ground-truth.json", "ground_truth.xlsx", "Ground_Truth.csv"])
def test_a_ground_truth_under_another_name_is_a_problem(problems: Any, name: str) -> None:
    (problem,) = problems({f"evals/k/{name}": TRUTH, "evals/k/results/iteration-001/extracted.json": OUTPUT})
    assert problem.message == f"evals/k/ is not an eval: {name} is not the name of a ground truth."
    assert (problem.severity, problem.path) == ("warning", "evals/k")


def test_outputs_without_ground_truth_are_a_problem_and_other_folders_are_none(problems: Any) -> None:
    files = {"evals/k/extracted.json": OUTPUT, "evals/tools/run.py": "x", "evals/docs/ground.md": "x"}
    assert [each.message for each in problems(files)] == [
        "evals/k/ has outputs and no ground truth, and is not an eval."
    ]


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("evals/manifest.yml", "manifest.yaml"),
        ("evals/Manifest.json", "manifest.yaml"),
        ("sitegen.yaml", "sitegen.toml"),
    ],
)
def test_configuration_under_a_name_that_is_not_read_is_a_problem(problems: Any, path: str, name: str) -> None:
    other = path.rpartition("/")[2]
    assert problems({path: "{}"}) == [warning(f"{other!r} is not read.", f"Call it {name!r}.", path, eval_id=None)]


def test_the_work_tree_is_looked_at_where_it_is_built(problems: Any, tmp_path: Path) -> None:
    files = {"evals/k/ground_truth.csv": TRUTH, "evals/k/a.txt": "x"}
    repo = GitRepo(tmp_path / "project")
    repo.commit({**EVAL, **files, ".gitignore": "*.out.json\n"})
    repo.checkout()
    (repo.path / "evals/k/mine.out.json").write_text(OUTPUT)
    (problem,) = problems(files, worktree=True)
    assert problem.fix.startswith("Commit evals/k/results/")
    (repo.path / "evals/k/extracted.json").write_text(OUTPUT)
    assert problems(files, worktree=True) == []


GOLD = '{"chunks": [{"chunk_id": "c", "paragraphs": {"p-1": {"text": "Oak.", "expected": {"terms": ["Oak"]}}}}]}'
LOG = '{"chunkIndex": 0, "run_id": "r", "paragraphs": {"p-1": "Oak."}, "highlights": {"p-1": {"terms": ["Oak"]}}}\n'


@pytest.mark.parametrize(
    "files",
    [
        {"evals/gold-standard.json": GOLD, "logs/processing-log.ndjson": LOG},
        {
            MANIFEST: "evals: {r: {dir: ., ground_truth: data/labels.csv}}\n",
            "data/labels.csv": TRUTH,
            "extracted.json": "[]",
        },
        {
            MANIFEST: "evals: {r: {dir: ., ground_truth: data/labels.csv, outputs: data/out.json}}\n",
            "data/labels.csv": TRUTH,
            "data/out.json": OUTPUT,
        },
        {
            MANIFEST: "evals: {r: {dir: ., ground_truth: data/labels.csv, outputs: 'runs/*/a.json'}}\n",
            "data/labels.csv": TRUTH,
            "runs/1/a.json": OUTPUT,
        },
    ],
)
def test_an_eval_whose_files_are_at_the_places_that_it_names_has_no_problem(problems: Any, files: Any) -> None:
    found = [problem for problem in problems(files) if "missing from the output" not in problem.message]
    assert found == []


def test_test_cases_without_responses_are_an_eval_without_output_and_their_file_is_there(problems: Any) -> None:
    (problem,) = problems({"test_cases/examples/code.json": '[{"id": "1", "input": "?", "expected": "a"}]'})
    assert problem.message == "The eval 'code' has ground truth and no output."
    assert problem.fix.startswith("Commit test_cases/examples/code/responses.json")


def test_an_uncommitted_manifest_is_read_and_a_problem_of_the_work_tree_names_it_whole(tmp_path: Path) -> None:
    repo = GitRepo(tmp_path / "project")
    repo.commit(EVAL)
    repo.checkout()
    (repo.path / MANIFEST).write_text("evals: {n: {name: Receipts}}\n")
    (repo.path / "evals/n/extracted.json").symlink_to("/nowhere")
    build_site(repo.path, tmp_path / "site", jobs=1, worktree=True)
    shown = problems_text(tmp_path / "site")
    assert "manifest" not in shown
    assert "at worktree" in shown
    assert "Receipts" in (tmp_path / "site/index.html").read_text()


def test_problems_of_a_build_that_goes_on_are_those_of_one_from_the_beginning(tmp_path: Path) -> None:
    repo = GitRepo(tmp_path / "project")
    repo.commit({**EVAL, **entry("mapping: m.yaml"), "evals/k/groundtruth.csv": TRUTH})
    build_site(repo.path, tmp_path / "one", jobs=1)
    repo.commit({"evals/k/groundtruth.csv": None, "evals/k/ground_truth.csv": TRUTH, **entry("schema: s.json")})
    build_site(repo.path, tmp_path / "one", jobs=1)
    build_site(repo.path, tmp_path / "other", jobs=1)
    assert differences(tmp_path / "one", tmp_path / "other") == []


def test_strict_counts_them(tmp_path: Path) -> None:
    repo = GitRepo(tmp_path / "project")
    repo.commit({**EVAL, **entry("mapping: m.yaml")})
    done = run("build", repo.path, "--strict", "--out", tmp_path / "site")
    assert (done.returncode, "1 warning on problems.html" in done.stdout) == (3, True)


def test_an_output_with_no_field_in_common_with_the_ground_truth_says_what_each_side_has(problems: Any) -> None:
    other = OUTPUT.replace('"total"', '"Total"').replace('"name"', '"who"')
    (problem,) = problems({"evals/n/results/iteration-001/extracted.json": other})
    assert (problem.severity, problem.message, problem.fix) == (
        "error",
        "No field of the output is expected. It has Total, who; the ground truth has total, name",
        "Map the columns to the fields of the output, in csv_to_json or by their names.",
    )


@pytest.mark.parametrize(("delimiter", "name"), [(";", "semicolons"), ("\t", "tabs")])
def test_ground_truth_with_another_delimiter_is_named_as_such(problems: Any, delimiter: str, name: str) -> None:
    (problem,) = problems({"evals/n/ground_truth.csv": TRUTH.replace(",", delimiter)})
    assert (problem.severity, problem.message, problem.fix, problem.path, problem.line) == (
        "error",
        f"The ground truth cannot be read: its columns are separated by {name}",
        "Save it with commas between columns.",
        "evals/n/ground_truth.csv",
        1,
    )


def test_an_entry_of_the_mapping_that_fits_a_field_in_an_envelope_is_no_problem(problems: Any) -> None:
    settings = "settings: {ignore: [cost], fields: {total: {absolute: 1}}}"
    output = '{"data": {"a": {"total": 1, "name": "x", "cost": 3}, "b": {"total": 2, "name": "y", "cost": 3}}}'
    assert problems({**entry(settings), "evals/n/results/iteration-001/extracted.json": output}) == []
