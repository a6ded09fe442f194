"""Counts, and their ratios: a ratio is one row of one table, and everything that lists ratios follows from it."""

import json
import subprocess
import sys

from sitegen.model.metrics import Counts
from sitegen.model.outcomes import Judgement, Outcome
from sitegen.stats import counts
from tests.rows import in_table


def judged(*outcomes: Outcome) -> list[Judgement]:
    return [
        Judgement(document="", path="a", attribute="a", outcome=outcome, expected=1, actual=2) for outcome in outcomes
    ]


def test_each_outcome_is_counted_as_the_convention_says() -> None:
    every = judged("correct", "true_negative", "omission", "hallucination", "wrong_value", "format_error")
    expected = Counts(tp=1, fp=3, fn=3, tn=1, omission=1, hallucination=1, wrong_value=1, format_error=1)
    assert (counts.tally(every), counts.tally(every, "omissions_only")) == (expected, expected._replace(fn=1))


def test_a_format_error_of_a_whole_list_has_no_false_negative() -> None:
    whole = Judgement(
        document="",
        path="walls",
        attribute="walls",
        outcome="format_error",
        expected=None,
        actual="none",
        note="not a list of objects",
    )
    assert counts.tally([whole]) == Counts(fp=1, format_error=1)


def test_totals_are_summed_number_by_number() -> None:
    assert counts.total(
        [
            Counts(tp=1, fp=2, fn=3, tn=4, omission=5, hallucination=6, wrong_value=7, format_error=8),
            Counts(tp=1, format_error=2),
        ]
    ) == Counts(tp=2, fp=2, fn=3, tn=4, omission=5, hallucination=6, wrong_value=7, format_error=10)


@in_table
def test_a_mean_leaves_out_what_is_undefined(given: list[float | None], expected: float | None) -> None:
    assert counts.mean(given) == expected


def test_the_mean_of_decimal_numbers_is_the_same_by_every_python() -> None:
    assert counts.mean([0.1] * 10) == 0.1


WITH_ONE_MORE = """
import json
from sitegen.stats import counts

jaccard = counts.CountRatio(
    name="jaccard",
    label="Jaccard",
    initial="J",
    explanation="TP / (TP + FP + FN).",
    note="{tp} of {given}",
    share=lambda each: counts.Share(each.tp, each.tp + each.fp + each.fn),
)
counts.RATIOS = (*counts.RATIOS, jaccard)
counts.BY_NAME["jaccard"] = jaccard  # made from the table when it was imported

from msgspec.structs import replace
from sitegen.questions import exporting
from sitegen.model.metrics import Counts, Nouns
from sitegen.pages.data import series

from sitegen.pages.report.report_rows import count_columns, fields
from sitegen.scoring.documents import results_document
from sitegen.scoring.kinds import File, ScoringInputs, scorer
from sitegen.scoring.results_file import Metadata
from sitegen.text.values import to_json_bytes
from tests import pages_sample as sample

output, truth = File("e.json", b'{"a": 1, "b": 2, "c": 3}'), File("t.json", b'{"a": 1, "b": 2, "c": 4}')
result = scorer("fields").score(ScoringInputs((output,), truth, None, None, "{}"))
written = json.loads(to_json_bytes(results_document(result, eval_id="e", metadata=Metadata())))
row = fields(result.scorecard.fields[:1]).partition("<tbody>")[2]
sampled, specs = sample.single(), scorer("fields").metrics
point = replace(sampled.points[0], scorecard=result.scorecard)
report = sample.report(sampled, point, None, result, specs=specs)
(jaccard_spec,) = (spec for spec in specs if spec.name == "jaccard")
print(json.dumps({
    "metric": result.scorecard.metric("jaccard"),
    "judged": [spec.name for spec in scorer("judged").metrics[:6]],
    "document": [written["metrics"]["jaccard"], written["by_field"]["c"]["jaccard"]],
    "table": ["Jaccard" in [column.head for column in count_columns(Nouns(), ratios=True)], row.count("<td>1.000")],
    "note": report.note_of(jaccard_spec),
    "files": [series._RATIOS, [ratio.name for ratio in exporting.in_file_order()]],
    "averages": counts.averages([Counts(tp=1, fp=1)])["pooled_jaccard"],
    "interval": counts.share_of("jaccard", Counts(tp=2, fn=1)),
}))
"""


def test_one_row_adds_a_ratio_to_metrics_tables_notes_data_files_averages_and_intervals():
    done = subprocess.run([sys.executable, "-c", WITH_ONE_MORE], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    names = ["precision", "recall", "jaccard", "f1"]
    assert json.loads(done.stdout) == {
        "metric": 0.5,
        "judged": ["score", "f1", "precision", "recall", "jaccard", "pass_rate"],
        "document": [0.5, 0.0],
        "table": [True, 4],
        "note": "2 of 3",
        "files": [names, names],
        "averages": 0.5,
        "interval": [2, 3],
    }
