"""The range of variants beside their average, on pages, in the terminal and in data files."""

import csv
import io
import json

from sitegen.analysis.series import variant_spread
from sitegen.commands.history import history_lines
from sitegen.model.metrics import Counts, Metric, MetricSpec
from sitegen.model.scorecards import DocumentScore, Scorecard
from sitegen.model.series import EvalInfo, Point, Series, VariantSpread
from sitegen.pages.data.exports import series_files
from tests import pages_sample as sample

INFO = EvalInfo("faq", "Questions", kind="responses")
ACCURACY = MetricSpec("accuracy", "Accuracy", "")


def _card(**values: float | None) -> Scorecard:
    documents = tuple(
        DocumentScore(name, "scored", Counts(), (Metric("accuracy", value),)) for name, value in values.items()
    )
    return Scorecard("scored", Counts(), (Metric("accuracy", 0.852),), documents, ())


def test_the_worst_and_the_best_variant_stand_beside_the_average() -> None:
    card = _card(short=0.728, wordy=0.976, broken=None)
    assert variant_spread(INFO, ACCURACY, card) == VariantSpread(2, 0.728, "short", 0.976, "wordy")
    lower = ACCURACY._replace(higher_is_better=False)
    assert variant_spread(INFO, lower, card) == VariantSpread(2, 0.976, "wordy", 0.728, "short")


def test_a_single_variant_and_other_kinds_have_no_range() -> None:
    assert variant_spread(INFO, ACCURACY, _card(short=0.5)) is None
    assert variant_spread(INFO._replace(kind="judged"), ACCURACY, _card(a=0.5, b=0.6)) is None


def test_terminal_and_data_files_have_the_range_beside_the_average() -> None:
    points = (Point(sample.snapshot(1, sample.commit(1)), _card(short=0.728, wordy=0.976)),)
    series = Series(INFO, sample.history("faq", points), (ACCURACY,), points)
    (json_file, csv_file) = series_files(series)
    spread = {"variants": 2, "worst": 0.728, "worst_name": "short", "best": 0.976, "best_name": "wordy"}
    assert json.loads(json_file.content)["points"][0]["variants"] == spread
    (row,) = csv.DictReader(io.StringIO(csv_file.content.decode()))
    assert (row["variants_worst"], row["variants_best"]) == ("0.728", "0.976")
    assert "    average of 2 variants: 0.728 (short) to 0.976 (wordy)" in history_lines(series)
