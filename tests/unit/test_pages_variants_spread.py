"""The range of variants beside their average, on pages, in the terminal and in data files."""

import csv
import io
import json

from msgspec.structs import replace

from sitegen.analysis.series import variant_spread
from sitegen.analysis.variants import variant_comparison, variant_of
from sitegen.commands.history import history_lines
from sitegen.model.metrics import Counts, Metric, MetricSpec
from sitegen.model.scorecards import DocumentScore, Result, Scorecard, VariantScore
from sitegen.model.series import EvalInfo, Point, Series, VariantSpread
from sitegen.pages.data.series import series_files
from sitegen.questions.comparison_files.markdown import comparison_markdown
from sitegen.questions.comparison_files.prompts import ComparisonDocument
from sitegen.text.values import schema_first
from tests import pages_sample as sample

INFO = EvalInfo("faq", "Questions", kind="responses")
ACCURACY = MetricSpec("accuracy", "Accuracy", "")


def _card(**values: float | None) -> Scorecard:
    variants = tuple(
        VariantScore(name, "scored", (Metric("accuracy", value),), responses=1, failed=0, graded=0)
        for name, value in values.items()
    )
    documents = tuple(DocumentScore(name, "scored", Counts(tp=1), axes={"variant": name}) for name in values)
    return Scorecard(
        status="scored",
        counts=Counts(),
        metrics=(Metric("accuracy", 0.852),),
        documents=documents,
        fields=(),
        variants=variants,
        kind="responses",
    )


def test_the_worst_and_the_best_variant_stand_beside_the_average() -> None:
    card = _card(short=0.728, wordy=0.976, broken=None)
    assert variant_spread(ACCURACY, card) == VariantSpread(
        variants=2, worst=0.728, worst_name="short", best=0.976, best_name="wordy"
    )
    lower = replace(ACCURACY, higher_is_better=False)
    assert variant_spread(lower, card) == VariantSpread(
        variants=2, worst=0.976, worst_name="wordy", best=0.728, best_name="short"
    )


def test_a_single_variant_has_no_range() -> None:
    assert variant_spread(ACCURACY, _card(short=0.5)) is None


def test_terminal_and_data_files_have_the_range_beside_the_average() -> None:
    points = (Point(sample.snapshot(1, sample.commit(1)), _card(short=0.728, wordy=0.976)),)
    series = Series(info=INFO, history=sample.history("faq", points), specs=(ACCURACY,), points=points)
    (json_file, csv_file) = series_files(series)
    spread = {"variants": 2, "worst": 0.728, "worst_name": "short", "best": 0.976, "best_name": "wordy"}
    assert json.loads(json_file.content)["points"][0]["variants"] == spread
    (row,) = csv.DictReader(io.StringIO(csv_file.content.decode()))
    assert (row["variants_worst"], row["variants_best"]) == ("0.728", "0.976")
    assert "    average of 2 variants: 0.728 (short) to 0.976 (wordy)" in history_lines(series)


def test_a_comparison_of_outputs_names_the_variants_that_each_accuracy_averages() -> None:
    cards = [_card(short=worst, wordy=0.976) for worst in (0.728, 0.8)]
    comparison = variant_comparison(
        "faq", [variant_of(f"iteration-{k}", Result(card, ())) for k, card in enumerate(cards)]
    )
    document = ComparisonDocument(variants=(comparison,))
    assert [row["averaged"]["worst"] for row in json.loads(schema_first(document))["variants"][0]["variants"]] == [
        0.728,
        0.8,
    ]
    averages = [row for row in comparison_markdown(document).splitlines() if "average of" in row]
    assert averages == [
        "Accuracy of iteration-0: average of 2 variants: 0.728 (short) to 0.976 (wordy).",
        "Accuracy of iteration-1: average of 2 variants: 0.800 (short) to 0.976 (wordy).",
    ]
