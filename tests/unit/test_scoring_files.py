"""Files that cannot be read: a status and a finding that says what, where, and what to do."""

import json
from decimal import Decimal

import pytest
from pydantic import BaseModel, Field

from sitegen.data_files.reading import UnreadableError
from sitegen.data_files.yaml_reader import read_yaml
from sitegen.errors import ConfigurationError
from sitegen.model.metrics import Counts
from sitegen.model.problems import Finding
from sitegen.model.scorecards import Result
from sitegen.scoring.kinds import BUILTIN_KINDS, File, ScoringInputs, scorer
from sitegen.scoring.mapping import Tolerance
from sitegen.scoring.paths import follow, parse_path, path_text
from sitegen.scoring.schema_types import read_schema
from tests.rows import in_table
from tests.scored import scored


def score(*outputs: File, truth: File | None, settings: str = "{}") -> Result:
    return scorer("fields").score(ScoringInputs(outputs=outputs, ground_truth=truth, settings=settings))


TRUTH = File("ground_truth.json", b'{"a": 1, "b": 2, "c": null}')


def test_a_kind_is_found_by_its_word_and_an_unknown_one_names_those_there_are() -> None:
    assert [scorer(kind).kind for kind in BUILTIN_KINDS] == ["fields", "highlights", "responses", "judged", "recorded"]
    with pytest.raises(ConfigurationError) as caught:
        scorer("feilds")
    fix = "Use one of: fields, highlights, responses, judged, recorded."
    assert str(caught.value) == f"there is no eval kind 'feilds'\n  do: {fix}"


@in_table
def test_a_broken_ground_truth_leaves_nothing_to_count(path: str, content: str, what: str, line: int | None) -> None:
    card = score(File("e.json", b"{}"), truth=File(path, content.encode("latin-1"))).scorecard
    assert card.status == "no_ground_truth"
    assert card.counts == Counts()
    assert {metric.value for metric in card.metrics} == {None}
    (finding,) = card.findings
    found = (finding.severity, finding.text, finding.line, finding.about)
    assert found == ("error", f"The ground truth cannot be read: {what}", line, "ground_truth")


def test_a_missing_ground_truth_says_so() -> None:
    card = score(File("e.json", b"{}"), truth=None).scorecard
    assert card.findings == (
        Finding(
            severity="error",
            message="The ground truth cannot be read: the file is missing",
            fix="Add the ground truth.",
            about="ground_truth",
        ),
    )


@pytest.mark.parametrize(
    ("outputs", "what"),
    [
        ((), "The output cannot be read: the output is missing"),
        ((File("e.json", None, "a Git LFS pointer"),), "The output cannot be read: a Git LFS pointer"),
        ((File("e.json", b"\xff\xfe"),), "The output cannot be read: it is not UTF-8 text"),
        ((File("e.json", b"[" * 500 + b"]" * 500),), "The output cannot be read: it is nested deeper than 100 levels"),
        ((File("e.json", b"[" * 99_999),), "The output cannot be read: it is nested deeper than 100 levels"),
        ((File("e.json", b'"text"'),), "The output cannot be read: its root is not an object"),
        ((File("e.yaml", b"- " * 500),), "The output cannot be read: it is nested deeper than 100 levels"),
        ((File("e.jsonl", b"\n"),), "The output cannot be read: it is empty"),
    ],
)
def test_an_unreadable_output_omits_every_expected_value(outputs: tuple[File, ...], what: str) -> None:
    card = score(*outputs, truth=TRUTH).scorecard
    assert card.status == "unreadable"
    assert card.counts == Counts(fn=2, omission=2)
    assert card.metric("f1") == 0.0
    assert [(each.severity, each.message, each.about) for each in card.findings] == [("error", what, "output")]


def test_a_byte_order_mark_is_accepted_everywhere() -> None:
    bom = b"\xef\xbb\xbf"
    result = scorer("fields").score(
        ScoringInputs(
            outputs=(File("e.json", bom + b'{"x": 1}'),),
            ground_truth=File("t.csv", bom + b"a\n1\n"),
            mapping=File("m.yaml", bom + b"csv_to_json: {a: x}"),
            schema=File("s.json", bom + b"{}"),
        )
    )
    assert [(each.path, each.outcome) for each in result.judgements] == [("x", "correct")]
    assert result.scorecard.findings == ()


def test_a_broken_line_costs_its_own_document_only() -> None:
    truth = File("t.jsonl", b'{"id": 1, "a": 1}\n{"id": 2, "a": 2}\n')
    output = File("e.jsonl", b'{"id": 1, "a": 1}\n{"id": 2, "a"\n')
    card = score(output, truth=truth).scorecard
    found = [(each.name, each.status, each.counts) for each in card.documents]
    assert found == [("1", "scored", Counts(tp=1)), ("2", "unreadable", Counts(fn=1, omission=1))]
    assert (card.status, card.metric("macro_f1"), card.metric("f1")) == ("scored", 0.5, 2 / 3)
    assert [each.line for each in card.findings] == [2, None]


def test_findings_are_bounded_and_the_rest_is_counted() -> None:
    truth = File("t.csv", b"id,a\n" + b"".join(b"d%d,maybe\n" % number for number in range(150)))
    settings = '{"fields": {"a": {"type": "boolean"}}}'
    card = score(File("e.json", b"[]"), truth=truth, settings=settings).scorecard
    assert len(card.findings) == 101
    assert card.findings[-1] == Finding(
        severity="warning", message="200 more findings are not listed", fix="Correct those above first."
    )


def test_a_number_of_thousands_of_digits_spoils_its_own_field_only() -> None:
    output = File("e.json", b'{"a": ' + b"9" * 5_000 + b', "b": 2}')
    result = score(output, truth=TRUTH)
    found = [(each.path, each.outcome) for each in result.judgements]
    assert found == [("a", "format_error"), ("b", "correct"), ("c", "true_negative")]
    assert str(result.judgements[0].actual) == f"Unusable(literal='{'9' * 80}', reason='a number of too many digits')"


def test_a_path_through_null_or_a_scalar_or_a_negative_index_is_missing() -> None:
    root = {"a": [{"b": 1}], "n": None, "s": "x", "d": {"0": 2}}
    paths = ("a.0.b", "a[0].b", "a[-1].b", "a[1].b", "n.b", "s.b", "s[0]", "d.0", 'd["0"]')
    assert [follow(root, parse_path(path)) for path in paths] == [1, 1, None, None, None, None, None, 2, 2]


def test_a_list_with_too_many_items_to_pair_by_agreement_stays_as_its_key_leaves_it_and_says_so() -> None:
    def items(prefix: str, number: int) -> dict[str, object]:
        return {"l": [{"name": f"{prefix}{index}", "n": 1, "m": 2} for index in range(number)]}

    result = scored("fields", {"e.json": items("expected ", 201)}, {"t.json": items("?", 200)})
    assert result.alignments[0].pairs == ()
    assert result.scorecard.findings == (
        Finding(
            severity="note",
            message="In l more items are missing and extra than are paired by the values they agree in",
            fix="Name the fields that tell its items apart in match_fields.",
        ),
    )


def test_yaml_is_built_up_to_a_bound_on_what_its_aliases_stand_for() -> None:
    nine = "[" + ", ".join(["*a"] * 9) + "]"
    grown = "".join(f"- &a {nine}\n" for _ in range(5))
    assert read_yaml(f"- &a x\n{grown}".encode())[0]
    with pytest.raises(UnreadableError) as caught:
        read_yaml(f"- &a x\n{grown * 2}".encode())  # ten levels: four thousand million values
    assert (caught.value.message, caught.value.line) == ("it grows beyond 2,000,000 keys and values", 8)


@in_table
def test_anchors_of_yaml_stand_for_values_and_keys(text: str, value: object) -> None:
    assert read_yaml(text.encode())[0] == (value,)


class Wall(BaseModel):
    area: float = Field(gt=0, json_schema_extra={"x-tolerance": {"percent": 1}})


class BuildingSpec(BaseModel):
    climate_zone: int = Field(ge=1, le=16)
    ratio: float | None = Field(default=None, json_schema_extra={"x-tolerance": {"absolute": 0.02}})
    walls: list[Wall] = []


def test_the_schema_that_pydantic_makes_of_a_model_states_types_and_tolerances() -> None:
    read = read_schema(json.dumps(BuildingSpec.model_json_schema()).encode())
    found = {(path_text(pattern.steps), kind) for pattern, kind in read.types}
    assert found == {("climate_zone", "integer"), ("ratio", "numeric"), ("walls[*].area", "numeric")}
    assert {path_text(pattern.steps): tolerance for pattern, tolerance in read.tolerances} == {
        "ratio": Tolerance(absolute=Decimal("0.02")),
        "walls[*].area": Tolerance(percent=Decimal(1)),
    }
