"""The range of variants beside their average, in the terminal and in comparisons."""

import json

from msgspec.structs import replace

from sitegen.analysis.slices import averaged
from sitegen.analysis.variants import variant_comparison, variant_of
from sitegen.commands.history import history_lines
from sitegen.model.metrics import Counts, Metric, MetricSpec
from sitegen.model.scorecards import DocumentScore, Result, Scorecard
from sitegen.model.series import EvalInfo, Point, Series
from sitegen.questions.comparison_files.markdown import comparison_markdown
from sitegen.questions.comparison_files.prompts import ComparisonDocument
from sitegen.text.values import schema_first
from tests import pages_sample as sample

ACCURACY = MetricSpec("accuracy", "Accuracy", "")


def _card(axis: str = "variant", **values: float | None) -> Scorecard:
    documents = tuple(
        DocumentScore(name, "scored", Counts(tp=1), metrics=(Metric("accuracy", value),), axes={axis: name})
        for name, value in values.items()
    )
    return Scorecard(
        status="scored",
        counts=Counts(),
        metrics=(Metric("accuracy", 0.852),),
        documents=documents,
        fields=(),
        kind="responses",
    )


def test_the_worst_and_the_best_variant_are_named_for_their_average() -> None:
    card = _card(a=0.728, b=0.976, broken=None)
    assert averaged(ACCURACY, card) == "average of 2 variants: 0.728 (a) to 0.976 (b)"
    assert averaged(replace(ACCURACY, higher_is_better=False), card) == "average of 2 variants: 0.976 (b) to 0.728 (a)"
    assert averaged(ACCURACY, _card("model", b=0.728, c=0.728)) == "average of 2 models: all 0.728"
    assert averaged(ACCURACY, _card(short=0.728)) == ""


def test_the_terminal_names_them() -> None:
    points = (Point(sample.snapshot(1, sample.commit(1)), _card(short=0.728, wordy=0.976)),)
    info = EvalInfo("faq", "Questions", kind="responses")
    series = Series(info=info, history=sample.history("faq", points), specs=(ACCURACY,), points=points)
    assert "    average of 2 variants: 0.728 (short) to 0.976 (wordy)" in history_lines(series)


def test_a_comparison_of_outputs_names_the_variants_that_each_accuracy_averages() -> None:
    cards = [_card(short=worst, wordy=0.976) for worst in (0.728, 0.8)]
    outputs = [variant_of(f"iteration-{k}", Result(card, ())) for k, card in enumerate(cards)]
    document = ComparisonDocument(variants=(variant_comparison("faq", outputs),))
    averages = [row for row in comparison_markdown(document).splitlines() if "average of" in row]
    rows = json.loads(schema_first(document))["variants"][0]["variants"]
    assert averages == [f"Accuracy of {row['name']}: {row['averaged']}." for row in rows]
    means = [f"average of 2 variants: {worst} (short) to 0.976 (wordy)" for worst in ("0.728", "0.800")]
    assert [row["averaged"] for row in rows] == means
