"""Why the record of a run states another F1: its parts sum to the difference, and pages show them beside the number."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from sitegen.analysis.recorded import DifferencePart, recorded_parts
from sitegen.model.metrics import Convention, Counts, Metric
from sitegen.model.scorecards import FieldScore, Scorecard
from sitegen.model.timeline import Snapshot
from sitegen.stats.counts import f1
from tests import pages_sample as sample
from tests.gitrepo import GitRepo
from tests.sites import build_site

NUMBER = st.integers(0, 40)
ERRORS = st.tuples(NUMBER, NUMBER, NUMBER, NUMBER)


def counts_of(tp: int, errors: tuple[int, int, int, int], convention: Convention = "standard") -> Counts:
    omission, hallucination, wrong_value, format_error = errors
    wrong = wrong_value + format_error
    return Counts(tp, hallucination + wrong, omission + (wrong if convention == "standard" else 0), 0, *errors)


def card_of(counts: Counts, convention: Convention = "standard") -> Scorecard:
    fields, metrics = (FieldScore("rows[].price", counts),), (Metric("f1", f1(counts)),)
    return sample.card(counts=counts, metrics=metrics, fields=fields, convention=convention)


def recording(value: float, tp: int, errors: tuple[int, int, int, int], fn: int) -> Snapshot:
    names = ("omission", "hallucination", "wrong_value", "format_error")
    by_type = {f"errors_by_type.{name}": number for name, number in zip(names, errors, strict=True)}
    numbers = {"f1": value, "true_positives": tp, "false_negatives": fn, **by_type}
    metrics = {name: float(number) for name, number in numbers.items()}
    return replace(sample.snapshot(1, sample.commit(0)), recorded_metrics=metrics)


@given(
    stated=st.floats(0, 1),
    theirs=st.tuples(NUMBER, ERRORS),
    here=st.tuples(NUMBER, ERRORS),
    others=st.lists(st.tuples(NUMBER, ERRORS), min_size=6, max_size=6),
    conventions=st.tuples(*[st.sampled_from(["standard", "omissions_only"])] * 2),
)
def test_parts_and_rest_sum_to_the_difference_whatever_the_record_says(stated, theirs, here, others, conventions):
    card = card_of(counts_of(here[0], here[1], conventions[0]), conventions[0])
    at = recording(stated, theirs[0], theirs[1], counts_of(theirs[0], theirs[1], conventions[1]).fn)

    def scored(snapshot: Snapshot) -> Scorecard:
        if snapshot is at:
            return card
        settings = [*{**json.loads(snapshot.settings)}]
        place = len(settings) + ("equality" in settings) + 2 * ("tolerances" in settings)
        tp, errors = others[place % 6]
        return card_of(counts_of(tp, errors, conventions[0]), conventions[0])

    parts = recorded_parts(at, at, scored)
    computed = card.metric("f1")
    if parts:
        assert computed is not None
        assert sum(part.amount for part in parts) == pytest.approx(computed - stated, abs=1e-9)
        assert parts[-1].cause == "rest"


TRUTH = {
    "name": "Ann",
    "rows": [{"description": name, "price": price} for name, price in zip("abcd", (1, 2, 3, 4), strict=True)],
}
OUTPUT = {
    "name": "Bob",
    "rows": [{"description": name, "price": price} for name, price in zip("bacd", (2, 1, 3, 4), strict=True)],
}
"""The items are all there, but two of them at another place; one other value is wrong."""


def project(path: Path, metrics: dict[str, Any]) -> GitRepo:
    repo = GitRepo(path)
    folder = "evals/e/results/iteration-001"
    repo.commit(
        {
            "evals/manifest.yaml": "evals: {e: {settings: {}}}",
            "evals/e/ground_truth.json": json.dumps(TRUTH),
            f"{folder}/extracted.json": json.dumps(OUTPUT),
            f"{folder}/eval-results.json": json.dumps({"metrics": metrics}),
        }
    )
    return repo


def by_position(convention: Convention, more_right: int = 0, f1_of_record: float | None = None) -> dict[str, Any]:
    """The record of a tool that pairs items by position: 5 of 9 wrong, and further values that are right."""
    errors = (0, 0, 5, 0)
    counts = counts_of(4 + more_right, errors, convention)
    value = f1(counts) if f1_of_record is None else f1_of_record
    types = dict(zip(("omission", "hallucination", "wrong_value", "format_error"), errors, strict=True))
    return {"f1": value, "true_positives": counts.tp, "false_negatives": counts.fn, "errors_by_type": types}


@pytest.mark.parametrize(
    ("metrics", "causes"),
    [
        pytest.param(by_position("standard"), {"pairing": 8 / 9 - 4 / 9}, id="pairing"),
        pytest.param(by_position("omissions_only"), {"counting": None, "pairing": None}, id="counting and pairing"),
        pytest.param(by_position("omissions_only", 6), dict.fromkeys(("counting", "fields", "pairing")), id="fields"),
        pytest.param(by_position("standard", 0, 0.5), {"pairing": 4 / 9, "rest": 4 / 9 - 0.5}, id="and a rest"),
    ],
)
def test_a_report_shows_how_its_record_came_to_another_number(tmp_path, metrics, causes):
    repo = project(tmp_path / "project", metrics)
    build_site(repo.path, tmp_path / "out")
    report = (tmp_path / "out/evals/e/0001.html").read_text()
    assert f">your eval-results.json says {metrics['f1']:.3f}: why?</a>" in report
    words = {
        "counting": "a wrong value is no false negative",
        "fields": "6 expected values that the files do not have",
        "pairing": "list items are paired by position",
        "rest": "what none of this explains",
        "tolerance": "another tolerance",
    }
    table = report[report.index('<table class="falls">') :]
    table = table[: table.index("</table>")]
    assert [cause for cause in words if words[cause] in table] == [cause for cause in words if cause in causes]
    for cause, amount in causes.items():
        if amount is not None:
            assert f"{abs(amount):.3f}" in table[table.index(words[cause]) :].partition("<tr>")[0]
    for page in ("index.html", "evals/e/index.html"):
        html = (tmp_path / "out" / page).read_text()
        assert f"says {metrics['f1']:.3f}: why?</a>" in html
        assert "0001.html#recorded" in html
    assert 'class="rec' in (tmp_path / "out/evals/e/index.html").read_text()


def test_nothing_is_said_of_a_record_that_agrees(tmp_path):
    repo = project(tmp_path / "project", {"f1": 0.889, "true_positives": 8})
    build_site(repo.path, tmp_path / "out")
    pages = [
        (tmp_path / "out" / page).read_text() for page in ("index.html", "evals/e/index.html", "evals/e/0001.html")
    ]
    assert [": why?" in page for page in pages] == [False] * 3
    assert 'class="rec' not in pages[1]


def test_a_record_without_counts_is_not_split():
    at = replace(recording(0.9, 1, (0, 0, 1, 0), 1), recorded_metrics={"f1": 0.9})
    assert recorded_parts(at, at, lambda _: card_of(counts_of(1, (0, 0, 1, 0)))) == ()


def test_values_that_only_one_side_counts_are_wrong_as_far_as_its_errors_allow():
    here = card_of(counts_of(6, (2, 0, 2, 0)))
    at = recording(0.5, 7, (5, 0, 2, 0), 7)
    parts = recorded_parts(at, at, lambda _: here)
    fields, rest = parts
    assert fields == DifferencePart("fields", fields.amount, 4)
    assert fields.amount == pytest.approx(12 / 18 - 14 / 23)
    assert rest.amount == pytest.approx(14 / 23 - 0.5)


def test_what_changed_since_a_record_was_written_is_told_from_what_it_left_out(tmp_path):
    repo = project(tmp_path / "project", by_position("standard"))
    repo.commit({"evals/e/ground_truth.json": json.dumps(TRUTH | {"name": "Bob"})})
    repo.commit({"evals/manifest.yaml": "evals: {e: {settings: {lists: {rows: {algorithm: position}}}}}"})
    build_site(repo.path, tmp_path / "out")
    words = ("list items are paired by position", "the ground truth changed", "the rules changed")
    trend = json.loads((tmp_path / "out/data/evals/e.json").read_text())["points"]
    told = []
    for point in trend:
        report = (tmp_path / "out" / point["report"]).read_text()
        table = report[report.index('<table class="falls">') :].partition("</table>")[0]
        told.append([word for word in words if word in table])
        assert table.endswith(f'num">{point["then"]["f1"]:.3f}</tbody>')
    assert [point["then"]["f1"] for point in trend] == pytest.approx([8 / 9, 1.0, 5 / 9])
    assert told == [[*words[:1]], [*words[:2]], [*words]]
