"""What is too large to score is named with its bound, and large files are scored without comparing each with each."""

import json
from typing import Any

import pytest

from sitegen.data_files import csv_reader
from sitegen.model.scorecards import Result
from sitegen.scoring import compiled_truth, fields, lists, pairing
from sitegen.scoring.compiled_truth import CompiledDocument, CompiledTruth
from sitegen.scoring.fields import FieldsScorer
from sitegen.scoring.ground_truth import read_ground_truth
from sitegen.scoring.ground_truth.truth import GroundTruth
from sitegen.scoring.mapping import Mapping
from sitegen.scoring.outputs import ReadOutput
from sitegen.scoring.paths import DOCUMENT
from sitegen.scoring.rules import RuleSources, compile_rules
from sitegen.scoring.scorer import File, ScoringInputs
from sitegen.scoring.truth_tree import Branch
from sitegen.text import similarity

NAMES = ("brick wall", "stone wall", "glass front")


def score(truth: str, output: Any, ending: str = "json", settings: str = "{}") -> Result:
    files = (File("extracted.json", json.dumps(output).encode()),), File(f"ground_truth.{ending}", truth.encode())
    return FieldsScorer().score(ScoringInputs(*files, None, None, settings))


def walls(*names: str) -> dict[str, Any]:
    return {"walls": [{"description": name, "area": 1} for name in names]}


def paired(result: Result) -> list[tuple[int | None, int | None]]:
    return [(pair[0], pair[1]) for alignment in result.alignments for pair in alignment.pairs]


@pytest.mark.parametrize(
    ("name", "bound", "pairs", "findings"),
    [("MAX_COMPARED", 9, 4, 0), ("MAX_COMPARED", 8, 1, 1), ("MAX_SIMILAR", 3, 4, 0), ("MAX_SIMILAR", 2, 1, 1)],
)
@pytest.mark.parametrize("small", [5_000, 0])
def test_items_of_lists_beyond_a_bound_are_paired_only_if_they_are_equal(
    monkeypatch: pytest.MonkeyPatch, name: str, bound: int, pairs: int, findings: int, small: int
):
    monkeypatch.setattr(similarity, "_SMALL", small)
    monkeypatch.setattr(pairing, name, bound)
    others = [f"{name}s" for name in NAMES]
    result = score(json.dumps(walls("roof", *NAMES)), walls(*others, "roof"))
    assert (paired(result)[0], len(paired(result))) == ((0, 3), pairs)
    assert [each.message for each in result.scorecard.findings] == [
        "The list 'walls' has 4 expected and 4 given items: too many that are alike but not equal; only equal items "
        "are paired by their key"
    ] * findings


def test_a_thousand_unequal_items_on_each_side_are_within_the_bounds_and_six_thousand_are_not_compared():
    assert pairing.MAX_SIMILAR >= 1_000 * 1_000
    many = walls(*(f"wall {number}" for number in range(6_000)))
    result = score(json.dumps(many), walls(*(f"{number} wall" for number in range(6_000))))
    assert paired(result) == []
    assert "too many that are alike but not equal" in result.scorecard.findings[0].message


@pytest.mark.parametrize(("name", "bound"), [("MAX_COMPARED", 8), ("MAX_SIMILAR", 4), ("MAX_ASSIGNED", 3)])
def test_lists_too_long_for_hungarian_are_paired_by_greedy_and_a_finding_says_so(
    monkeypatch: pytest.MonkeyPatch, name: str, bound: int
):
    settings = json.dumps({"lists": {"walls": {"algorithm": "hungarian", "threshold": 0.5}}})
    truth, output = json.dumps(walls("abcd", "abXX", "roof")), walls("abcX", "abcY", "roof")
    best = score(truth, output, settings=settings)
    monkeypatch.setattr(pairing, name, bound)
    within = score(truth, output, settings=settings)
    assert best.alignments[0].algorithm == "hungarian"
    assert within.alignments[0].algorithm == "greedy"
    assert best.scorecard.findings == ()
    assert "too long for hungarian, so that greedy paired them" in within.scorecard.findings[0].message


def test_a_ground_truth_with_more_documents_or_cells_than_the_bound_is_a_problem_that_names_it(
    monkeypatch: pytest.MonkeyPatch,
):
    truth = "id,total\na,1\nb,2\n"
    output = [{"id": "a", "total": 1}, {"id": "b", "total": 2}]
    monkeypatch.setattr(compiled_truth, "MAX_DOCUMENTS", 2)
    monkeypatch.setattr(csv_reader, "MAX_CELLS", 6)
    assert score(truth, output, "csv").scorecard.status == "scored"
    monkeypatch.setattr(compiled_truth, "MAX_DOCUMENTS", 1)
    documents = score(truth, output, "csv")
    monkeypatch.setattr(csv_reader, "MAX_CELLS", 5)
    cells = score(truth, output, "csv")
    assert [(each.scorecard.status, each.scorecard.findings[0].message) for each in (documents, cells)] == [
        (
            "no_ground_truth",
            "The ground truth cannot be read: it has 2 documents, more than the 1 that an eval can have",
        ),
        ("no_ground_truth", "The ground truth cannot be read: it has more than 5 cells, counted up to this line"),
    ]


class CountedName(str):
    """A name that counts how often it is compared."""

    compared = 0

    def __eq__(self, other: object) -> bool:
        CountedName.compared += 1
        return str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))


def test_documents_are_found_by_their_names_without_comparing_each_with_each():
    rules, _ = compile_rules(RuleSources(None, "{}", None))
    number = 300
    truth = tuple(CompiledDocument(str(CountedName(one)), Branch(DOCUMENT, {})) for one in range(number))
    output = ReadOutput({CountedName(one + 10): {} for one in range(number)}, {}, [])
    CountedName.compared = 0
    compiled = CompiledTruth(documents=truth, attributes=(), key="id", findings=(), rules=rules, marks=None)
    fields._FieldsScoring(rules, compiled, output, ()).result()
    assert CountedName.compared < 10 * number


@pytest.mark.parametrize(("most", "compiled"), [(100_000, 2), (1, 4)])
def test_a_ground_truth_is_compiled_once_for_all_outputs_and_forgotten_beyond_a_bound(
    monkeypatch: pytest.MonkeyPatch, most: int, compiled: int
):
    monkeypatch.setattr(compiled_truth, "MAX_REMEMBERED", most)
    read: list[bytes] = []

    def counted(path: str, content: bytes, mapping: Mapping) -> GroundTruth:
        read.append(content)
        return read_ground_truth(path, content, mapping)

    monkeypatch.setattr("sitegen.scoring.compiled_truth.read_ground_truth", counted)
    scorer = FieldsScorer()
    output = (File("extracted.json", b'{"a": 1}'),)
    for truth in (b'{"a": 1}', b'{"a": 1}', b'{"a": 2}', b'{"a": 1}', b'{"a": 2}'):
        inputs = ScoringInputs(
            outputs=output, ground_truth=File("ground_truth.json", truth), mapping=None, schema=None, settings="{}"
        )
        assert scorer.score(inputs).scorecard.counts.tp == (truth == b'{"a": 1}')
    assert len(read) == compiled


def test_long_lists_without_a_key_are_paired_by_how_similar_all_their_fields_are():
    def sales(year: int) -> list[dict[str, Any]]:
        return [{"day": f"{year}-{n // 28 + 1:02}-{n % 28 + 1:02}", "sum": 7 * n} for n in range(300)]

    result = score(json.dumps({"sales": sales(2024)}), {"sales": sales(1999)[::-1]})
    assert pairing.MOST < 300 * 300
    assert paired(result) == [(number, 299 - number) for number in range(300)]
    assert (result.scorecard.counts.tp, result.scorecard.counts.wrong_value) == (300, 300)
    assert result.scorecard.findings == ()


def test_equal_items_of_a_long_list_without_a_key_are_paired():
    items = [{"code": f"v{number}", "size": number % 5} for number in range(5_001)]
    counts = score(json.dumps({"items": items}), {"items": items[::-1]}).scorecard.counts
    assert (counts.tp, counts.fp, counts.fn) == (10_002, 0, 0)


@pytest.mark.parametrize("key", ["code", "name"])
def test_partly_equal_items_of_a_long_list_are_paired_by_the_rare_values_that_they_share(key: str):
    items = [{key: f"v{n}", "payee": f"p{n}", "sum": 1_000 + n, "kind": n % 5} for n in range(600)]
    given = [
        item | ({"sum": -1} if n % 2 else {"payee": "?"}) | {key: f"unlike {n * 7919}"} for n, item in enumerate(items)
    ]
    result = score(json.dumps({"l": items}), {"l": given[::-1]})
    assert paired(result) == [(number, 599 - number) for number in range(600)]
    assert (result.scorecard.counts.tp, result.scorecard.counts.wrong_value) == (1_200, 1_200)
    assert result.scorecard.findings == ()


def test_a_value_that_every_item_has_costs_no_comparison_of_each_with_each(monkeypatch: pytest.MonkeyPatch):
    compared = 0
    equal_values = lists._equal_values

    def counted(*arguments: Any) -> Any:
        nonlocal compared
        compared += 1
        return equal_values(*arguments)

    monkeypatch.setattr(lists, "_equal_values", counted)
    truth, given = ([{"code": f"{side}{n}" * 9, "kind": "a", "size": 1} for n in range(2_000)] for side in "xy")
    score(json.dumps({"l": truth}), {"l": given})
    assert compared <= 30 * 2_000
