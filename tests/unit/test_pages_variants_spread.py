"""The range of variants beside their average."""

from sitegen.model.metrics import Counts, Metric, MetricSpec
from sitegen.model.scorecards import DocumentScore, Scorecard
from sitegen.model.series import EvalInfo
from sitegen.pages.variants.spread import VariantSpread, variant_spread

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
