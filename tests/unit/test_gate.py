"""The gate's verdicts, and how long its report may be."""

import pytest

from sitegen.analysis.gate import VERDICT_OF_REASON, VERDICTS, limits_of
from sitegen.config.models import GateSettings, Limit, SlicedLimits
from sitegen.model.changes import ChangeVerdict, Decision, DeltaParts, MetricDelta
from sitegen.model.gate import GateEval, GateInstruction, GateOverlap
from sitegen.model.metrics import MetricSpec
from sitegen.model.outcomes import Tally
from sitegen.model.series import EvalInfo
from sitegen.questions.gate_junit import gate_junit
from sitegen.questions.gate_markdown import LONGEST_REPORT, gate_markdown
from sitegen.questions.gate_report import caveats
from sitegen.text.values import schema_first
from tests.gates import broken, check_metric, gate_eval, gate_report, overlap
from tests.rows import in_table

F1 = MetricSpec("f1", "F1", "")
RECALL = MetricSpec("recall", "Recall", "")
GRADE = MetricSpec("grade", "Grade", "", low=1, high=5)
COST = MetricSpec("cost", "Cost", "", high=10, higher_is_better=False)
SAME = overlap("comparable", 3)
NONE = Limit()


def chance(decision: Decision, lost_fields: Tally = ()) -> ChangeVerdict:
    return ChangeVerdict(
        decision=decision, why="beyond chance", change=-0.1, broken=3, p_value=0.01, lost_fields=lost_fields
    )


def moved(change: float | None) -> MetricDelta:
    return MetricDelta("f1", change, None if change is None else DeltaParts(change, 0.0, 0.0))


@in_table
def test_a_metric_is_held_against_its_limits(case, metric, floor, drop, before, after, change, noise, reasons):
    spec = {each.label: each for each in (F1, GRADE, COST)}[metric]
    limits = Limit(floor=floor, drop=drop)
    found = check_metric(spec, limits, before, after, moved(change), chance(noise) if noise else None)
    assert list(found.reasons) == reasons
    assert found.verdict == max((VERDICT_OF_REASON[reason] for reason in reasons), key=VERDICTS.index, default="pass")


@in_table
def test_a_lost_field_fails_whatever_the_value_does_if_it_is_more_than_chance(drop, change, decision, reasons):
    limits = Limit(drop=drop)
    judged = chance(decision, (("total", 3),))
    found = check_metric(F1, limits, 0.8, 0.8 + change, moved(change), judged, is_headline=True)
    assert list(found.reasons) == reasons


def test_limits_on_cases_of_an_eval_go_before_those_of_all():
    own = {"a": SlicedLimits(max_broken=0), "b": SlicedLimits(min_cases=1)}
    gate = GateSettings(max_broken=5, min_cases=10, evals=own)
    assert [gate.case_limits(name) for name in "abc"] == [(0, 10), (5, 1), (5, 10)]


def test_what_names_eval_and_metric_goes_before_what_names_less():
    gate = GateSettings(
        floor=0.1,
        drop=1.0,
        metrics={"f1": Limit(floor=0.2, drop=2.0), "recall": Limit(floor=0.3)},
        evals={
            "a": SlicedLimits(floor=0.5, drop=5.0, metrics={"f1": Limit(floor=0.6)}),
            "b": SlicedLimits(floor=0.5),
            "c": SlicedLimits(metrics={"colour": Limit(drop=3.0)}),
        },
    )
    thresholds = {"f1": 0.4, "recall": 0.7}
    infos = [EvalInfo(id=name, name=name, thresholds=thresholds) for name in "ab"]
    assert [limits_of(gate, info, (F1, RECALL)) for info in (*infos, EvalInfo(id="c", name="c"))] == [
        {"f1": Limit(floor=0.6, drop=5.0), "recall": Limit(floor=0.7)},
        {"f1": Limit(floor=0.5, drop=2.0), "recall": Limit(floor=0.7)},
        {"f1": Limit(floor=0.2, drop=2.0), "recall": Limit(floor=0.3), "colour": Limit(drop=3.0)},
    ]
    bare = limits_of(GateSettings(floor=0.1), EvalInfo(id="d", name="d"), (F1, RECALL))
    assert bare == {"f1": Limit(floor=0.1, drop=0.0), "recall": Limit()}


def compared(eval_id: str, change: float = 0.0, common: GateOverlap = SAME, limits: Limit = NONE) -> GateEval:
    metric = check_metric(F1, limits, 0.9, 0.9 + change, moved(change))
    return gate_eval(eval_id, "both", [metric], overlap=common)


def test_of_several_evals_the_worst_counts_and_stands_first():
    fine, apart = compared("a"), compared("m", common=overlap("refused", 0))
    bad, worst = (compared(name, change, limits=Limit(drop=0.0)) for name, change in (("x", -0.1), ("z", -0.2)))
    gained, lost = compared("b", 0.1), compared("c", -0.1)
    found = gate_report("b", "h", [fine, apart, bad, worst, gained, lost])
    assert [one.eval_id for one in found.evals] == ["z", "x", "m", "c", "a", "b"]
    assert (found.verdict, found.passed, found.matched) == ("fail", False, 5)


@pytest.mark.parametrize(
    ("evals", "allowed", "verdict", "passed"),
    [
        ([], True, "not comparable", False),
        ([compared("a")], False, "pass", True),
        ([compared("a", common=overlap("refused", 0))], True, "not comparable", False),
        ([compared("a"), compared("b", common=overlap("refused", 0))], False, "not comparable", False),
        ([compared("a"), compared("b", common=overlap("refused", 0))], True, "not comparable", True),
        ([gate_eval("a", "gone")], True, "not comparable", False),
        ([compared("a"), gate_eval("b", "gone")], False, "pass", True),
        ([gate_eval("a", "new", [check_metric(F1, Limit(), None, 1.0, None)])], False, "pass", True),
        ([gate_eval("a", "new", [check_metric(F1, Limit(floor=0.5), None, 0.4, None)])], True, "fail", False),
        ([gate_eval("a", "new"), gate_eval("b", "both", reasons=("another kind",))], True, "not comparable", False),
        ([gate_eval("a", "new", [check_metric(F1, Limit(floor=0.5), None, 1.0, None)])], True, "pass", True),
    ],
)
def test_it_passes_only_if_something_was_held_against_something_or_is_the_first_output(evals, allowed, verdict, passed):
    found = gate_report("b", "h", evals, allow_incomparable=allowed)
    assert (found.verdict, found.passed) == (verdict, passed)


def test_the_report_begins_with_what_changed_and_the_worst_values_that_broke():
    cells = [
        broken("total", ("1", "2")),
        *(broken(f"rows[{row}].unit", ('"g"', None)) for row in range(5)),
        broken("extra", (None, "7")),
    ]
    metric = check_metric(F1, Limit(drop=0.0), 0.9, 0.8, moved(-0.1), chance("worse"))
    bad = gate_eval("z", "both", [metric], overlap=SAME, broken=7, fixed=1, cells=cells)
    still = compared("old", limits=Limit(floor=0.95))
    lines = gate_markdown(gate_report("b" * 40, "h" * 40, [compared("a"), still, bad])).splitlines()
    assert lines[2:9] == [
        "- `old`: F1 is 0.900, below the floor of 0.95, as it was at the base, which does not fail.",
        "",
        "| Eval | Metric |  Base |  Head | Change | On these cases | Broken | Fixed | Verdict  |",
        "| ---- | ------ | ----: | ----: | -----: | -------------- | -----: | ----: | -------- |",
        "| `z`  | F1     | 0.900 | 0.800 | −0.100 | worse          |      7 |     1 | **fail** |",
        "",
        '- `z`: 7 values broken: `d-1` `rows[0].unit` is missing, expected `"g"`; `d-1` `total` is `2`, expected `1`; '
        "`d-1` `extra` is `7`, expected nothing; and 4 more.",
    ]
    assert lines[-1] == "Nothing changed in `a`, `old`."


def test_a_metric_without_anything_in_common_is_not_called_undefined():
    metric = check_metric(F1, Limit(drop=0.0), 0.9, 0.4, moved(None))
    found = gate_report("b", "h", [gate_eval("a", "both", [metric], overlap=SAME)])
    sentence = "F1 cannot be compared: base and head judge no document in common."
    assert sentence in gate_markdown(found).splitlines()
    assert sentence.encode() in gate_junit(found)


def test_a_recorded_number_that_may_have_become_a_percentage_is_named():
    pairs = [(0.9, 50.0), (90.0, 0.5), (0.9, 0.95), (20.0, 50.0), (1.0, 12.0)]
    metrics = [check_metric(F1, Limit(), *pair, moved(0.1)) for pair in pairs]
    found = [gate_eval("a", "both", [metric], kind="recorded", overlap=SAME) for metric in metrics]
    assert ["percentage" in "".join(caveats(check)) for check in found] == [True, True, False, False, False]


def test_a_floor_that_was_missed_at_the_base_too_is_skipped_in_junit():
    found = gate_report("b", "h", [compared("old", limits=Limit(floor=0.95))])
    assert (found.verdict, found.passed) == ("pass", True)
    xml = gate_junit(found)
    assert b'failures="0" skipped="1"' in xml
    assert b"F1 is 0.900, below the floor of 0.95, as it was at the base, which does not fail." in xml


def hostile(number: int) -> GateEval:
    """An eval that fails, all of whose names are long and hold nothing but markup."""
    name = f"{number:05}" + "`|*_[]<>&#@\\" * 400
    edit = GateInstruction(name, ("c" * 40,) * 30)
    strange = MetricSpec(name, name, "")
    metric = check_metric(strange, Limit(floor=1.0, drop=0.0), 0.9, 0.1, moved(-0.8))
    return gate_eval(
        name,
        "both",
        [metric] * 3,
        name=f"{name} ",
        overlap=overlap("bridged", 3, (name,) * 50, (name,) * 50),
        broken=50,
        cells=(broken(name, (name, name), name),) * 50,
        instructions=(edit,) * 30,
        stale=True,
    )


@pytest.mark.parametrize("number", [1, 30, 3_000])
def test_the_report_fits_into_a_comment_however_much_moved(number):
    found = gate_report("b" * 40, "h" * 40, [hostile(index) for index in range(number)])
    text = gate_markdown(found)
    assert len(text) <= LONGEST_REPORT
    assert text.count("### ") >= 1
    assert text.count("<details>") == text.count("</details>")
    left_out = number - text.count("### ")
    assert (f"{left_out:,} evals more changed: the report is full, and the JSON has all of them." in text) == (
        left_out > 1
    )


def test_undefined_numbers_are_null_in_json_and_dashes_in_markdown():
    gone = check_metric(F1, Limit(drop=0.0), 0.9, None, moved(None))
    found = gate_report("b" * 40, "h" * 40, [gate_eval("a", "both", [gone], overlap=SAME)])
    assert b'"head": null' in schema_first(found)
    assert "| F1     | 0.900 |    — |      — |      | drop ≤ 0 | not comparable |" in gate_markdown(found).splitlines()
    assert b"F1 is undefined at the head." in gate_junit(found)
