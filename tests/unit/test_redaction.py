"""Redaction: no file of a site holds a value of a hidden field, and every number is what it was."""

import json
from decimal import Decimal

import pytest

from sitegen.errors import ConfigurationError
from sitegen.model.outcomes import REDACTED, Value
from sitegen.project import Options
from sitegen.questions.study import read_series
from sitegen.scoring.redaction import Redaction, redaction
from tests import pages_sample as sample
from tests.gitrepo import GitRepo
from tests.rows import in_table
from tests.scored import scored
from tests.sites import build_site, content, differences, differs_from_cold, run

SECRETS = ("Quillfeather", "Thistlewood", "555-0188", "Umberwick", "Brackenfold")
"""Texts that stand in hidden fields alone, in the ground truth or in outputs."""


def hidden(result_of: dict[str, Value], *globs: str) -> list[Value]:
    """What is left of one actual value at each path."""
    judged = [sample.judgement(path, "wrong_value", "x", value) for path, value in result_of.items()]
    return [each.actual for each in Redaction(globs).applied(sample.result(judged)).judgements]


@in_table
def test_a_glob_hides_what_it_fits_what_ends_like_it_and_what_is_below(glob, shown):
    paths = ["name", "kind", "people[0].name", "people[1].name", "people[0].home.name"]
    left = hidden({path: path for path in paths}, glob)
    assert [value for value in left if value is not REDACTED] == shown
    assert [value for value in left if value not in shown] == [REDACTED] * (len(paths) - len(shown))


def test_what_is_hidden_inside_a_value_of_another_shape_is_taken_out_of_it():
    value: Value = {"name": "Ann", "age": Decimal(3), "pets": [{"name": "Rex", "kind": "dog"}]}
    assert hidden({"person": value}, "name") == [
        {"name": REDACTED, "age": Decimal(3), "pets": [{"name": REDACTED, "kind": "dog"}]}
    ]


def test_evidence_which_may_quote_a_hidden_value_is_hidden_with_it():
    output = b'{"owner": {"value": "Ann", "page": 3, "quote": "Ann Lee"}, "town": {"value": "Ely", "quote": "Ely, UK"}}'
    result = scored("fields", {"extracted.json": output}, {"ground_truth.json": {"owner": "Ben", "town": "Ayr"}})
    hiding = redaction(("owner",))
    assert hiding is not None
    assert [each.evidence for each in result.judgements] == ["page 3, “Ann Lee”", "“Ely, UK”"]
    assert [each.evidence for each in hiding.applied(result).judgements] == ["", ""]


def test_nothing_stays_nothing():
    result = sample.result([sample.judgement("name", "omission", "Ann")])
    (found,) = Redaction(("name",)).applied(result).judgements
    assert (found.expected, found.actual, found.outcome) == (REDACTED, None, "omission")


def test_what_is_no_field_path_is_an_error_that_says_so():
    with pytest.raises(ConfigurationError, match=r"In redact: 'a\[b' is not a field path"):
        redaction(("a[b",))
    assert redaction(()) is None


def document(name: str, phone: str, colour: str, *, again: str = "") -> str:
    people = [{"name": name, "phone": phone, "colour": colour}, {"name": "Lowmere", "colour": "red"}]
    return json.dumps({"owner": {"name": name, "note": again or "none"}, "people": people})


@pytest.fixture
def project(repo: GitRepo) -> GitRepo:
    """A field is right, wrong, missing, extra, quoted in a message, and moved to a suspect label."""
    truth = document("Quillfeather", "555-0188", "green")
    repo.commit({"CLAUDE.md": "# Rules\n", "evals/a/ground_truth.json": truth})
    for number in range(5):
        wrong = document("Umberwick", "Brackenfold", f"blue {number}")
        repo.commit({"evals/a/extracted.json": wrong, "CLAUDE.md": f"# Rules {number}\n"}, message=f"Try {number}")
    more = json.loads(document("Quillfeather", "Thistlewood", "green"))
    more["people"].append({"name": "Brackenfold", "phone": "Umberwick", "colour": "grey"})
    more["owner"] = "Thistlewood"
    repo.commit({"evals/a/extracted.json": json.dumps(more)}, message="Try once more")
    repo.check_in({"evals/a/ground_truth.json": truth.replace("green", "teal")}, message="Correct the truth")
    return repo


GLOBS = 'redact = ["name", "phone", "owner"]\n'


def test_without_redaction_every_one_of_them_is_shown(project, tmp_path):
    build_site(project.path, tmp_path / "out")
    whole = b"".join(content(tmp_path / "out").values())
    assert [secret for secret in SECRETS if secret.encode() not in whole] == []


def test_numbers_stay_what_they_are(project, tmp_path):
    numbers = []
    for name, globs in (("shown", ""), ("hidden", GLOBS)):
        (project.path / "sitegen.toml").write_text(globs)
        build_site(project.path, tmp_path / name)
        numbers.append((tmp_path / name / "data/evals/a.csv").read_text())
    assert numbers[0] == numbers[1]


def test_what_the_memo_kept_from_before_is_not_shown_again(project, tmp_path):
    out, cold = tmp_path / "out", tmp_path / "cold"
    build_site(project.path, out)
    (project.path / "sitegen.toml").write_text(GLOBS)
    build_site(project.path, out)
    build_site(project.path, cold)
    assert differences(out, cold) == []
    project.commit({"evals/a/extracted.json": document("Umberwick", "1", "blue")}, message="Once more")
    build_site(project.path, out)
    assert differs_from_cold(out, project.path) == []


def test_the_manifest_hides_fields_of_one_eval(project, tmp_path):
    other = {"evals/b/ground_truth.json": '{"name": "Quillfeather"}', "evals/b/extracted.json": '{"name": "Other"}'}
    manifest = "evals:\n  a:\n    redact: [name, phone, owner]\n"
    project.commit({**other, "evals/manifest.yaml": manifest}, message="Another eval")
    build_site(project.path, tmp_path / "out")
    shown = {name for name, text in content(tmp_path / "out").items() if b"Quillfeather" in text}
    assert shown
    assert {name.split("/")[1] for name in shown if name.startswith("evals/")} == {"b"}


def test_a_glob_that_is_no_path_ends_a_build_with_2_before_anything_is_written(project):
    (project.path / "sitegen.toml").write_text('redact = ["a[b"]\n')
    done = run("build", project.path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "In redact: 'a[b' is not a field path.\n  at: sitegen.toml:1\n" in done.stderr


def test_labels_that_agree_on_a_hidden_value_are_not_suspected(project):
    suspects = read_series(Options(project.path, cache=project.path / "memo"), "a")
    assert any(cell.attribute == "people[].name" for cell in suspects.cells.cells)
    (project.path / "sitegen.toml").write_text(GLOBS)
    hidden_series = read_series(Options(project.path, cache=project.path / "memo"), "a")
    runs = {
        text
        for cell in hidden_series.cells.cells
        if cell.attribute in ("people[].name", "people[].phone")
        for each in cell.periods
        for text in (each.expected, each.actual)
    }
    assert runs == {"", "redacted"}


OTHERS = {
    "evals/manifest.yaml": "evals: {r: {}, h: {}, j: {kind: judged}}\n",
    "evals/r/test_cases.json": '[{"id": "one", "input": "Quillfeather?", "expected": "Thistlewood"}]',
    "evals/r/responses.json": '[{"case_id": "one", "output": "Umberwick", "quality": 3}]',
    "evals/h/gold-standard.json": json.dumps(
        {"chunks": [{"paragraphs": [{"id": "p-1", "text": "Quillfeather.", "highlights": {"terms": ["Umberwick"]}}]}]}
    ),
    "evals/h/raw-llm-run.json": json.dumps(
        {"chunks": [{"paragraphs": [{"id": "p-1", "highlights": {"terms": ["Thistlewood"]}}]}]}
    ),
    "evals/j/results.jsonl": json.dumps(
        {"id": "one", "score": 0.5, "reasoning": "Quillfeather", "misses": ["who: Umberwick"], "hits": ["Thistlewood"]}
    ),
}


FAILED = [
    {"testIdx": place, "promptIdx": place, "vars": {"q": text}, "success": False, "error": "no"}
    for place, text in enumerate(("Quillfeather\n's", "Umberwick " * 40))
]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("results.csv", "question,passed,score\nIs Quillfeather in?,yes,7\nOr is it  Umberwick?,no,0.5\n"),
        ("results.jsonl", '{"input": "Quillfeather", "score": 7}\n{"input": {"a": "Umberwick"}, "score": 0.5}\n'),
        ("results.json", json.dumps({"results": {"version": 3, "results": FAILED}})),
    ],
)
def test_a_case_that_is_called_by_its_input_has_a_name_without_it(repo, tmp_path, name, text):
    repo.check_in({f"evals/j/{name}": text, "evals/manifest.yaml": f"evals: {{j: {{kind: judged, outputs: {name}}}}}"})
    found = {}
    for globs in ("[]", '["*"]'):
        (repo.path / "sitegen.toml").write_text(f"redact = {globs}\n")
        build_site(repo.path, tmp_path / "out")
        site = content(tmp_path / "out")
        found[globs] = [
            secret for secret in SECRETS if secret.encode() in b"".join((*site.values(), *map(str.encode, site)))
        ]
    assert found == {"[]": ["Quillfeather", "Umberwick"], '["*"]': []}


def test_texts_of_other_kinds_are_left_out_whole(repo, tmp_path):
    repo.check_in({"CLAUDE.md": "# Rules\n", **OTHERS})
    build_site(repo.path, tmp_path / "shown")
    (repo.path / "sitegen.toml").write_text('redact = ["*"]\n')
    build_site(repo.path, tmp_path / "hidden")
    shown, left = (b"".join(content(tmp_path / name).values()) for name in ("shown", "hidden"))
    assert [secret for secret in SECRETS if secret.encode() in shown] == ["Quillfeather", "Thistlewood", "Umberwick"]
    assert [secret for secret in SECRETS if secret.encode() in left] == []
    assert left.count(b"Texts of this eval are redacted.") == 3


def test_a_hidden_ground_truth_value_that_its_type_cannot_read_is_quoted_nowhere(repo, tmp_path):
    mapping = "fields:\n  ssn: {type: numeric}\n  age: {type: numeric}\n"
    truth = '{"ssn": "Quillfeather", "ssn": "Quillfeather", "age": "Thistlewood"}'
    repo.commit({"CLAUDE.md": "# Rules\n", "evals/a/field_mapping.yaml": mapping, "evals/a/ground_truth.json": truth})
    repo.commit({"evals/a/extracted.json": '{"ssn": 1, "age": 1}'})
    (repo.path / "sitegen.toml").write_text('redact = ["ssn"]\n')
    build_site(repo.path, tmp_path / "out")
    files = content(tmp_path / "out")
    assert [name for name, text in files.items() if b"Quillfeather" in text] == []
    problems = files["problems.html"].decode()
    assert "Ground-truth error: ssn is not a number; not scored: redacted" in problems
    assert "Ground-truth error: age is not a number; not scored: &#39;Thistlewood&#39;" in problems
    assert "A key occurs twice in one object; the last one counts: redacted" in problems
