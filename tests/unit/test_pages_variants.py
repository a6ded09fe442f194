"""The page that compares the variants of an eval, its charts, and the range of variants beside their average."""

import json
import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from sitegen.analysis.slices import averaged
from sitegen.analysis.variants import variant_comparison, variant_of
from sitegen.commands.history import history_lines
from sitegen.model.metrics import Counts, Metric, MetricSpec
from sitegen.model.scorecards import DocumentScore, Result, Scorecard, VariantScore
from sitegen.model.series import EvalInfo, Point, Series
from sitegen.model.site import Page
from sitegen.pages.html import charts
from sitegen.pages.trend import trend_chart
from sitegen.pages.trend.page import VARIANTS, TrendView
from sitegen.pages.variants import OfVariants, VariantsView, letter, place, variants_page
from sitegen.questions.comparison_files.markdown import comparison_markdown
from sitegen.questions.comparison_files.prompts import ComparisonDocument
from sitegen.scoring.usage import USAGE_METRICS
from sitegen.text.values import schema_first
from tests import pages_sample as sample
from tests.gitrepo import GitRepo
from tests.sites import build_site, content, differs_from_cold, words_of

ACCURACY = MetricSpec("accuracy", "Accuracy", "", least=0.85)
QUALITY = MetricSpec("average_quality", "Quality", "", low=1.0, high=5.0)
CONSISTENCY = MetricSpec("consistency_score", "Consistency", "", low=-1.0)


def counts(signs: str) -> Counts:
    wrong = signs.count("-")
    return Counts(signs.count("+"), wrong, wrong, wrong_value=wrong)


def result(*variants: tuple[str, str], quality: float | None = None) -> Scorecard:
    """A character a case: ``+`` right, ``-`` wrong."""
    documents = tuple(
        DocumentScore(
            name=f"case-{index:04} · {name}",
            status="scored",
            counts=counts(sign),
            metrics=(Metric("accuracy", float(sign == "+")),),
            of_case=f"case-{index:04}",
            axes={"variant": name},
        )
        for name, signs in variants
        for index, sign in enumerate(signs)
    )
    scores = {
        name: VariantScore(
            status="scored",
            metrics=(Metric("accuracy", signs.count("+") / len(signs)), Metric("average_quality", quality)),
            responses=len(signs),
            failed=0,
            graded=0,
        )
        for name, signs in variants
    }
    pooled = counts("".join(signs for _, signs in variants))
    accuracy = Metric("accuracy", pooled.tp / len(documents))
    return sample.card(counts=pooled, metrics=(accuracy,), documents=documents, variants=scores, kind="responses")


def page_of(found: Scorecard, **info: object) -> VariantsView:
    about = EvalInfo("faq", "Questions", kind="responses", **info)  # type: ignore[arg-type]
    of_two = sample.series(2)
    points = (of_two.points[0], replace(of_two.points[1], scorecard=found))
    page = variants_page(replace(of_two, info=about, points=points, specs=(ACCURACY, QUALITY)), Result(found, ()))
    assert (page.path, page.template) == ("evals/faq/variants.html", "pages/variants.html")
    view: VariantsView = sample.view_of(page)
    return view


def test_metrics_stand_by_variant_and_those_that_nobody_has_are_left_out():
    view = page_of(result(("plain", "++--"), ("kind", "+++-")))
    assert view.metrics == ((ACCURACY, (0.5, 0.75)),)
    assert [(index, row.rank) for index, row in view.ranked.items()] == [(1, 1), (0, 2)]


def test_a_threshold_of_the_manifest_goes_before_that_of_the_kind():
    view = page_of(result(("a", "+-"), ("b", "+-"), quality=4.0), thresholds={"accuracy": 0.5})
    html = sample.html_of(Page("evals/faq/variants.html", "pages/variants.html", view))
    heads = [words_of(head) for head in re.findall("<h3>(.*?)</h3>", html, re.DOTALL)]
    assert heads == ["Accuracy 0 to 1, target 0.5", "Quality 1 to 5"]


def test_pairs_know_the_places_of_their_variants_and_lead_to_their_answers_side_by_side():
    view = page_of(result(("a", "++-"), ("b <&", "--+"), ("c", "+++")))
    assert [places for _, *places in view.pairs] == [[0, 1], [0, 2], [1, 2]]
    html = sample.html_of(Page("evals/faq/variants.html", "pages/variants.html", view))
    beside = re.findall(r'href="compare.html#m=variant%3D([^"]*)&amp;n=variant%3D([^"]*)"', html)
    assert beside == [("a", "b+%3C%26"), ("a", "c"), ("b+%3C%26", "c")]


def test_bars_span_the_scale_of_their_metric_and_undefined_is_no_bar():
    assert [place((QUALITY, ()), value) for value in (1.0, 4.0, None)] == [0.0, 750.0, 0.0]
    assert [place((CONSISTENCY, ()), value) for value in (0.8, -0.4)] == [800.0, 0.0]
    costs: OfVariants = (next(spec for spec in USAGE_METRICS if spec.name == "cost"), (0.5, 2.0, None))
    assert [place(costs, value) for value in costs[1]] == [250.0, 1000.0, 0.0]


def test_more_variants_than_letters_are_numbered():
    assert [letter(index) for index in (0, 25, 26)] == ["A", "Z", "27"]


CASES = json.dumps([{"id": "one", "input": "?", "expected": "yes"}, {"id": "two", "input": "?", "expected": "no"}])


def responses(*outputs: str) -> str:
    rows = ({"case_id": case_id, "output": output} for case_id, output in zip(("one", "two"), outputs, strict=True))
    return "".join(f"{json.dumps(row)}\n" for row in rows)


@pytest.fixture
def repo(repo: GitRepo) -> GitRepo:
    repo.commit({"evals/faq/test_cases.json": CASES, "evals/faq/responses-plain.jsonl": responses("yes", "yes")})
    return repo


def trend_of(*found: Scorecard) -> TrendView:
    base = sample.series(len(found))
    points = tuple(replace(point, scorecard=one) for point, one in zip(base.points, found, strict=True))
    info = EvalInfo("faq", "Questions", kind="responses")
    view: TrendView = sample.view_of(sample.trend(replace(base, info=info, specs=(ACCURACY, QUALITY), points=points)))
    return view


def test_the_trend_has_a_line_for_each_variant_those_of_the_newest_point_first():
    view = trend_of(
        result(("old", "+-"), ("plain", "--")), result(("plain", "+-")), result(("kind", "++"), ("plain", "+-"))
    )
    assert view.lines[1] == ("kind", "plain", "old")
    assert view.values_of_lines == [[None, None, 1.0], [0.0, 0.5, 0.5], [0.5, None, None]]
    chart = trend_chart.trend(view)
    assert chart.variants == (
        charts.ChartLine("", "M2 0h0"),
        charts.ChartLine("M0 1000L1 500L2 500", ""),
        charts.ChartLine("", "M0 500h0"),
    )
    assert chart.island["names"] == ["Accuracy", "Accuracy, kind", "Accuracy, plain", "Accuracy, old"]
    assert chart.island["marks"] == ["m0", "v0", "v1", "v2"]


def test_the_trend_of_one_variant_has_no_line_of_its_own():
    view = trend_of(result(("plain", "++")), result(("plain", "+-")))
    assert (view.lines[1], trend_chart.trend(view).variants) == ((), ())


def test_the_trend_draws_a_bounded_number_of_variants():
    view = trend_of(result(*((f"v{number:03}", "+") for number in range(VARIANTS + 3))))
    assert view.lines[1] == tuple(f"v{number:03}" for number in range(VARIANTS))


def test_a_page_kept_from_the_build_before_is_that_of_a_build_from_nothing(repo: GitRepo, tmp_path: Path):
    kind = {"evals/faq/responses-kind.jsonl": responses("yes", "no")}
    repo.commit(kind | {"prompts/kind.md": "Be kind.\n"})
    build_site(repo.path, tmp_path / "often")
    rude = {"evals/faq/responses-kind.jsonl": responses("yes", "yes")}
    repo.commit(rude | {"CLAUDE.md": "Be kind.\n", "templates/kind.md": "Be rude.\n"})
    build_site(repo.path, tmp_path / "often")
    assert differs_from_cold(tmp_path / "often", repo.path) == []
    files = content(tmp_path / "often")
    assert "evals/faq/variants.html" in files
    prompts = [b"prompts--kind.md/index.html" in files[f"evals/faq/{slug}.html"] for slug in ("0002", "0003")]
    assert prompts == [True, False]


AVERAGE = MetricSpec("accuracy", "Accuracy", "")


def _card(axis: str = "variant", **values: float | None) -> Scorecard:
    documents = tuple(
        DocumentScore(name, "scored", Counts(tp=1), metrics=(Metric("accuracy", value),), axes={axis: name})
        for name, value in values.items()
    )
    return sample.card(counts=Counts(), metrics=(Metric("accuracy", 0.852),), documents=documents, kind="responses")


def test_the_worst_and_the_best_variant_are_named_for_their_average() -> None:
    card = _card(a=0.728, b=0.976, broken=None)
    assert averaged(AVERAGE, card) == "average of 2 variants: 0.728 (a) to 0.976 (b)"
    assert averaged(replace(AVERAGE, higher_is_better=False), card) == "average of 2 variants: 0.976 (b) to 0.728 (a)"
    assert averaged(AVERAGE, _card("model", b=0.728, c=0.728)) == "average of 2 models: all 0.728"
    assert averaged(AVERAGE, _card(short=0.728)) == ""


def test_the_terminal_names_them() -> None:
    points = (Point(sample.snapshot(1, sample.commit(1)), _card(short=0.728, wordy=0.976)),)
    info = EvalInfo("faq", "Questions", kind="responses")
    series = Series(info=info, history=sample.history("faq", points), specs=(AVERAGE,), points=points)
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
