"""A comparison as JSON, Markdown and a picture."""

import json
import re
from functools import partial

import pytest
from markdown_it import MarkdownIt
from msgspec.structs import replace

from sitegen.analysis.variant_tests import VariantComparison, VariantSample
from sitegen.analysis.variants import variant_comparison
from sitegen.model.changes import ChangeVerdict, Ends, Interval
from sitegen.questions.comparison_files.changes import DocumentChange, Flip, MetricChange, ResultChange
from sitegen.questions.comparison_files.markdown import comparison_markdown
from sitegen.questions.comparison_files.plots import SHOWN, plots
from sitegen.questions.comparison_files.prompts import ComparisonDocument
from sitegen.text.markdown_cells import name
from sitegen.text.values import schema_first
from tests.variant_samples import variant as variant_of_answers

HOSTILE = (
    *("a|b", "<script>alert(1)</script>", "[x](https://example.org)", "**bold** _low_ `code` ~~gone~~"),
    *("# head\n- item\n\n| a |", "&amp; \\| \ud800 \u202e", "https://example.org and www.example.org"),
)


def variant(label: str, right: int, quality: float | None = None) -> VariantSample:
    answers = [(f"case-{index}", index < right, None) for index in range(12)]
    return variant_of_answers(label, answers, consistency=0.5, quality=quality, category=label)


def comparison(first: str = "plain", second: str = "kind") -> VariantComparison:
    return variant_comparison("faq", (variant(first, 3, 2.0), variant(second, 10, 4.5)))


def change() -> ResultChange:
    of_note = partial(Flip, document="note")
    return ResultChange(
        eval_id="notes",
        before="main",
        after="HEAD",
        metrics=(
            MetricChange(name="f1", label="F1", before=None, after=0.75, change=None, higher_is_better=True),
            MetricChange(name="recall", label="Recall", before=0.5, after=0.25, change=-0.25, higher_is_better=True),
        ),
        fixed=1,
        broken=1,
        still_wrong=0,
        still_right=1200,
        unpaired=3,
        documents=(DocumentChange("note", None, 0.75),),
        flips=(
            of_note(path="total", change="broken", before="correct", after="wrong_value", values=("12", "12", "1|3")),
            of_note(path="extra", change="fixed", before="hallucination", after=None, values=("", "x", "")),
        ),
    )


def test_the_report_of_a_change_is_what_it_should_be():
    assert comparison_markdown(ComparisonDocument(changes=(change(),), passed_over=("old",))) == (
        "# notes: main against HEAD\n"
        "\n"
        "| Metric |  main |  HEAD | Change |\n"
        "| ------ | ----: | ----: | -----: |\n"
        "| F1     |     — | 0.750 |      — |\n"
        "| Recall | 0.500 | 0.250 | −0.250 |\n"
        "\n"
        "Right on both sides: 1,200.\n"
        "On one side only, because documents or ground truth differ: 3.\n"
        "\n"
        "### Values\n"
        "\n"
        "1 fixed, 1 broken, 0 still wrong.\n"
        "\n"
        "| Document | Field | Expected | main             | HEAD              | Change |\n"
        "| -------- | ----- | -------- | ---------------- | ----------------- | ------ |\n"
        "| note     | total | 12       | right            | wrong value: 1\\|3 | broken |\n"
        "| note     | extra | —        | hallucination: x | —                 | fixed  |\n"
        "\n\n"
        "Not all sides have: old.\n"
    )


def test_of_several_evals_those_that_stayed_the_same_are_only_named():
    same = replace(change(), eval_id="letters", fixed=0, broken=0, unpaired=0, metrics=())
    assert comparison_markdown(ComparisonDocument(changes=(same, change()))) == (
        comparison_markdown(ComparisonDocument(changes=(change(),))) + "\nNo change: letters.\n"
    )
    assert "# letters" in comparison_markdown(ComparisonDocument(changes=(same,)))


def test_a_metric_that_neither_side_has_is_left_out():
    one = change()
    unknown = MetricChange(
        name="precision", label="Precision", before=None, after=None, change=None, higher_is_better=True
    )
    more = replace(one, metrics=(*one.metrics, unknown))
    texts = [comparison_markdown(ComparisonDocument(changes=(each,))) for each in (one, more)]
    assert texts[0] == texts[1]


def test_recorded_numbers_are_compared_in_their_units_and_without_a_word_of_judgements():
    names = ("throughput", 50.0, 60.0, 10.0), ("latency", 1.5, 2.0, 0.5)
    metrics = tuple(
        MetricChange(name=name, label=name, before=before, after=after, change=by, higher_is_better=True, unit=unit)
        for (name, before, after, by), unit in zip(names, ("count", "s"), strict=True)
    )
    one = replace(change(), metrics=metrics, fixed=0, broken=0, still_right=0, unpaired=0, flips=())
    head = "| Metric     |   main |   HEAD |  Change |\n| ---------- | -----: | -----: | ------: |\n"
    rows = "| throughput |     50 |     60 |     +10 |\n| latency    | 1.50 s | 2.00 s | +0.50 s |\n"
    assert comparison_markdown(ComparisonDocument(changes=(one,))) == f"# notes: main against HEAD\n\n{head}{rows}\n"
    assert "Fixed, broken" not in comparison_markdown(ComparisonDocument(changes=(one, replace(one, after="HEAD~1"))))


def test_a_report_says_how_far_the_headline_can_be_trusted():
    verdict = ChangeVerdict(
        decision="cannot tell",
        why="flips may be chance",
        change=-0.125,
        interval=Ends(-0.25, -0.01),
        unit="fields",
        n=40,
        counted=(2, 5),
        p_value=0.453,
        detectable=0.15,
    )
    one = replace(
        change(),
        verdict=verdict,
        words="2 fixed, 5 broken; for other fields of these notes: between −0.250 and −0.010",
        too_few="too few values: only changes above about 0.15 can be told from chance",
        interval_before=Interval(low=0.6, high=0.9, unit="fields", n=40, method="Wilson"),
        interval_after=Interval(low=0.4, high=0.8, unit="fields", n=39, method="Wilson"),
        flips=(),
    )
    text = comparison_markdown(ComparisonDocument(changes=(one,)))
    assert text[text.index("**") : text.index("Right on")] == (
        "**Cannot tell**: 2 fixed, 5 broken; "
        "for other fields of these notes: between −0.250 and −0.010.\n"
        "\n"
        "| F1     |  Value |    95 % interval | Over      |\n"
        "| ------ | -----: | ---------------: | --------- |\n"
        "| main   |      — |   0.600 to 0.900 | 40 fields |\n"
        "| HEAD   |  0.750 |   0.400 to 0.800 | 39 fields |\n"
        "| Change | −0.125 | −0.250 to −0.010 | 40 fields |\n"
        "\n"
        "Too few values: only changes above about 0.15 can be told from chance.\n"
        "\n"
    )


def test_a_report_lists_a_bounded_number_of_flips():
    flips = tuple(
        Flip(document="", path=f"f{index}", change="broken", before="correct", after="omission") for index in range(70)
    )
    text = comparison_markdown(ComparisonDocument(changes=(replace(change(), flips=flips),)))
    assert text.count("| omission |") == 50
    assert "20 more are in the JSON." in text


@pytest.mark.parametrize("label", HOSTILE)
def test_names_are_text_in_the_report_and_nothing_else(label):
    text = comparison_markdown(ComparisonDocument(variants=(comparison(label, "other"),)))
    plain = comparison_markdown(ComparisonDocument(variants=(comparison("first", "other"),)))

    def tags(markdown: str) -> list[str]:
        return re.findall(r"<[^>]*>", MarkdownIt("gfm-like", {"linkify": False}).render(markdown))

    assert tags(text) == tags(plain)


def test_a_name_shows_as_it_is_and_a_long_one_is_cut():
    rendered = MarkdownIt().renderInline(name("[x](https://a.b) *b* snake_case_name 100% a-b"))
    assert rendered == "[x](https://a.b) *b* snake_case_name 100% a-b"
    assert name("x" * 1_000) == f"{'x' * 200} … (800 more characters)"


def picture_of(document: ComparisonDocument, *, thresholds: dict[str, dict[str, float]] | None = None) -> bytes:
    picture = plots(document, "svg", thresholds or {})
    assert picture is not None
    return picture


def test_any_name_can_be_written():
    document = ComparisonDocument(
        variants=(variant_comparison("faq", [variant(label, 5, 3.0) for label in HOSTILE]),),
        changes=(replace(change(), before=HOSTILE[0]),),
    )
    body = json.loads(schema_first(document))
    assert [one["name"] for one in body["variants"][0]["variants"]] == list(HOSTILE)
    assert b"<script" not in picture_of(document)


def test_a_picture_has_no_date_and_is_the_same_every_time():
    document = ComparisonDocument(variants=(comparison(),), changes=(change(),))
    wanted = {"faq": {"accuracy": 0.85}}
    picture = picture_of(document, thresholds=wanted)
    assert picture == picture_of(document, thresholds=wanted)
    assert b"<dc:date>" not in picture
    assert (plots(document, "png", wanted) or b"").startswith(b"\x89PNG")


def test_a_picture_of_nothing_measured_can_be_drawn():
    empty = variant_comparison("faq", (variant_of_answers("a", ()), variant_of_answers("b", ())))
    picture = picture_of(ComparisonDocument(variants=(empty,)), thresholds={"faq": {"accuracy": 0.85}})
    assert picture.startswith(b"<?xml")


def test_a_picture_shows_a_bounded_number_of_evals():
    many = ComparisonDocument(variants=(comparison(),), changes=(change(),) * 40)
    some = ComparisonDocument(variants=(comparison(),), changes=(change(),) * (SHOWN - 1))
    assert picture_of(many) == picture_of(some)


def test_a_picture_has_a_panel_of_what_both_sides_took_where_it_is_stated():
    cost = MetricChange(name="cost", label="Total cost", before=0.5, after=2.0, change=1.5, higher_is_better=False)
    time = MetricChange(
        name="latency_median", label="Median latency", before=None, after=1.25, change=None, higher_is_better=False
    )
    stated, measured = replace(change(), metrics=(*change().metrics, cost, time)), comparison()
    took = replace(measured, variants=tuple(replace(each, tokens_out=20.0) for each in measured.variants))
    document = ComparisonDocument(variants=(took, measured), changes=(stated, change()))
    texts = " ".join(re.findall("<!-- (.*?) -->", picture_of(document).decode()))
    drawn = ("20 20 Tokens out", "0.50 USD 2.00 USD Total cost", "— 1.25 s Median latency")
    assert [texts.count(panel) for panel in drawn] == [1, 1, 1]
    assert [texts.count(label) for label in ("Tokens out", "Total cost", "Median latency")] == [1, 1, 1]
