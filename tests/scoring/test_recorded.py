"""Kind ``recorded``: the tables of ``recorded.md``, and files that hold no numbers."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitegen.importers.recorded_layouts import RecordedNumber
from sitegen.model.scorecards import Result
from sitegen.scoring.kinds import File, ScoringInputs, scorer, specs_of
from sitegen.scoring.redaction import Redaction
from tests.scoring.test_tables import NOTHING, titled_rows


def score(content: bytes | None, settings: str = "{}", name: str = "metrics.json") -> Result:
    output = File(name, content, "" if content is not None else "a Git LFS pointer")
    return scorer("recorded").score(ScoringInputs(outputs=(output,), settings=settings))


@pytest.mark.parametrize("row", titled_rows("recorded.md"))
def test_the_numbers_are_what_the_table_says(row):
    card = score(row["file"].encode(), row["settings"]).scorecard
    better = {True: "higher", False: "lower"}
    said = {
        "numbers": "; ".join(f"{name} {NOTHING if value is None else f'{value:g}'}" for name, value in card.metrics),
        "better": "; ".join(f"{spec.name} {better[spec.higher_is_better]}" for spec in card.specs),
        "ranges": "; ".join(f"{spec.low:g} {spec.high:g}" for spec in card.specs),
    }
    wanted = {column: row[column] for column in said if column in row}
    assert wanted
    assert {column: said[column] for column in wanted} == wanted


BOARD = {"m-1.average": 43, "m-2.average": 0.5}


@pytest.mark.parametrize(
    ("name", "content", "metrics"),
    [
        ("dvclive/metrics.yaml", "step: 3\neval:\n  f1: 0.5\n", {"eval.f1": 0.5}),
        ("runs.jsonl", '{"eval": {"f1": 0.1}}\n{"eval": {"f1": 0.5}}\n\n', {"eval.f1": 0.5}),
        ("board.jsonl", '{"model": "m-1", "f1": 0.1}\n{"model": "m-2", "f1": 0.5}\n', {"m-1.f1": 0.1, "m-2.f1": 0.5}),
        ("dev/bench/data.js", 'window.BENCHMARK_DATA = {"eval": {"f1": 0.5}};\n', {"eval.f1": 0.5}),
        ("board.csv", "model,average,note\nm-1,43,fine\nm-2,0.5,\n", BOARD),
        ("board.csv", "model\taverage\tnote\nm-1\t43\tfine\nm-2\t0.5\t\n", BOARD),
        ("board.yaml", "- {model: m-1, average: 43}\n- {model: m-2, average: 0.5}\n", BOARD),
    ],
)
def test_other_forms_than_json_are_read_by_their_ending(name, content, metrics):
    assert score(content.encode(), name=name).scorecard.metrics == tuple(metrics.items())


@pytest.mark.parametrize(
    ("content", "status", "said"),
    [
        (None, "unreadable", "The file cannot be read: a Git LFS pointer"),
        (b"{", "unreadable", "The file cannot be read: it is not valid JSON"),
        (b"3", "unreadable", "The file cannot be read: it is neither an object nor a list"),
        (b'{"name": "a package"}', "scored", "The file holds no number"),
        (b'{"f1": NaN}', "scored", "1 of the numbers are NaN, infinite or beyond every range, first 'f1'"),
        (b'{"seed": 3}', "scored", "No number of the file is wanted"),
        (json.dumps({f"m{n}": n for n in range(60)}).encode(), "scored", "The file holds 60 numbers, of which the"),
    ],
)
def test_what_holds_no_numbers_or_too_many_is_said_and_stops_nothing(content, status, said):
    card = score(content).scorecard
    assert card.status == status
    assert [finding.text[: len(said)] for finding in card.findings] == [said]
    assert card.findings[0].line == (1 if content in (b"{", b'{"f1": NaN}') else None)
    assert len(card.metrics) == (50 if b"m59" in (content or b"") else 1)


def test_settings_that_do_not_fit_are_problems_and_the_rest_holds():
    settings = '{"ground_truth_format": "auto", "metric": ["f1"], "headline": 3, "lower_is_better": [1], "where": []}'
    card = score(b'{"f1": 0.5}', settings).scorecard
    assert [finding.text for finding in card.findings] == [
        "Unknown key 'metric'",
        "'lower_is_better' is not a list of names",
        "'headline' is not a name",
        "'where' is not an object of keys",
    ]
    assert card.metrics == (("f1", 0.5),)


def test_a_number_is_described_by_the_first_run_that_has_it():
    cards = [
        score(body).scorecard
        for body in (b"{}", b'{"f1": 0.5, "latency": 3}', b'{"accuracy": 0.1, "f1": 2.5, "latency": 700}')
    ]
    specs = specs_of("recorded", cards)
    assert [(spec.name, spec.high) for spec in specs] == [("f1", 1.0), ("latency", 5.0), ("accuracy", 1.0)]
    assert [spec.name for spec in specs_of("recorded", cards[:1])] == ["nothing"]
    assert specs_of("judged", ()) == scorer("judged").metrics


def test_a_redacted_number_is_nowhere_in_the_result():
    shown = Redaction(("secret.*",)).applied(score(b'{"f1": 0.5, "secret": {"salary": 1234}}'))
    assert shown.scorecard.metrics == (("f1", 0.5),)
    assert "1234" not in repr(shown)
    hidden = Redaction(("f1",)).applied(score(b'{"f1": 0.5}'))
    assert hidden.scorecard.metrics == (("f1", None),)


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
        max_leaves=12,
    )
)
def test_no_content_ends_in_an_error(value):
    card = score(json.dumps(value).encode()).scorecard
    assert card.metrics
    assert all(spec.low < spec.high for spec in card.specs)


@pytest.mark.parametrize(
    ("name", "value", "counted"),
    [
        ("errors", 22.0, True),
        ("errors", 0.0, True),
        ("retail.tokens", 1.0, True),
        ("cases", 7.0, True),
        ("cases", 1.0, False),
        ("cases", 7.5, False),
        ("accuracy", 85.0, False),
        ("share_percent", 85.0, False),
        ("cases", None, False),
    ],
)
def test_a_number_of_things_is_told_by_its_name_and_first_value(name, value, counted):
    assert RecordedNumber(name=name, value=value).is_count is counted
