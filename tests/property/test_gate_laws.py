"""What holds for the gate, whatever the numbers are."""

import xml.etree.ElementTree as ET
from typing import get_args

from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from sitegen.analysis.gate import VERDICTS
from sitegen.config.models import Limit
from sitegen.model.changes import ChangeVerdict, Decision, MetricDelta
from sitegen.model.gate import GateEval, GateOverlap
from sitegen.model.metrics import MetricSpec
from sitegen.questions.gate_junit import gate_junit
from sitegen.questions.gate_markdown import LONGEST_REPORT, gate_markdown
from sitegen.text.markdown_cells import code
from tests.gates import check_metric, gate_eval, gate_report, overlap

F1 = MetricSpec("f1", "F1", "")
VALUES = st.floats(0, 1)
LIMITS = st.builds(Limit, floor=st.none() | VALUES, drop=st.none() | st.floats(0, 100))
DECISIONS: tuple[Decision, ...] = get_args(Decision)
NOISES = st.sampled_from(DECISIONS).map(lambda decision: ChangeVerdict(decision=decision, why="beyond chance"))
OVERLAPS = st.sampled_from([overlap("comparable", 2), overlap("bridged", 2, ("a",)), overlap("refused", 0, ("a",))])


def compared(
    limits: Limit, before: float | None, after: float | None, common: GateOverlap, noise: ChangeVerdict | None = None
) -> GateEval:
    refused = before is None or after is None or common.verdict == "refused"
    change = None if refused else (after or 0) - (before or 0)
    metric = check_metric(F1, limits, before, after, MetricDelta("f1", change, None), noise)
    return gate_eval("a", "both", [metric], overlap=common)


@given(st.lists(st.tuples(VALUES, VALUES, OVERLAPS)))
def test_without_limits_it_passes_if_and_only_if_everything_matched_and_there_was_something(sides):
    evals = [compared(Limit(), *side) for side in sides]
    matched = [one.matched for one in evals]
    assert gate_report("b", "h", evals).passed == (bool(matched) and all(matched))
    assert gate_report("b", "h", evals, allow_incomparable=True).passed == any(matched)


@given(LIMITS, VALUES, VALUES, VALUES, NOISES)
def test_a_lower_head_never_has_a_better_verdict(limits, before, one, other, noise):
    low, high = (
        compared(limits, before, after, overlap("comparable", 2), noise).verdict for after in sorted((one, other))
    )
    assert VERDICTS.index(low) >= VERDICTS.index(high)


@given(LIMITS, LIMITS, st.none() | VALUES, st.none() | VALUES, OVERLAPS, NOISES)
def test_one_more_limit_never_helps(some, more, before, after, common, noise):
    both = Limit(**vars(more) | {name: limit for name, limit in vars(some).items() if limit is not None})
    verdicts = [VERDICTS.index(compared(limits, before, after, common, noise).verdict) for limits in (some, both)]
    assert verdicts[1] >= verdicts[0]


@given(LIMITS, st.none() | VALUES, VALUES, st.booleans())
def test_what_is_only_new_passes_at_its_floor_and_what_is_only_gone_never(limits, before, after, allowed):
    new = gate_eval("a", "new", [check_metric(F1, limits, None, after, None)])
    gone = gate_eval("b", "gone")
    passed = gate_report("b", "h", [new, gone], allow_incomparable=allowed).passed
    assert passed == (limits.floor is None or after >= limits.floor)
    assert not gate_report("b", "h", [gone], allow_incomparable=allowed).passed


MARKDOWN = MarkdownIt("commonmark").enable("table")
TEXTS = st.text() | st.text("`|\\\\ a@:,%\n\r#")


@given(TEXTS)
@example("`` ` |")
@example("\\")
def test_a_name_is_one_piece_of_code_in_one_cell_of_a_table(text):
    inlines = [
        token for token in MARKDOWN.parse(f"| a | b |\n|---|---|\n| {code(text)} | 1 |") if token.type == "inline"
    ]
    found = [[child.type for child in token.children or []] for token in inlines]
    assert found == [["text"], ["text"], ["code_inline"], ["text"]]


@given(TEXTS, TEXTS, LIMITS, VALUES, VALUES)
def test_a_report_of_any_names_is_xml_and_short_enough(eval_id, metric, limits, before, after):
    spec = MetricSpec(metric, metric, "")
    checked = check_metric(spec, limits, before, after, MetricDelta(metric, after - before, None))
    one = gate_eval(eval_id, "both", [checked], name=f"{eval_id}!", overlap=overlap("comparable", 1))
    report = gate_report("b" * 40, "h" * 40, [one])
    root = ET.fromstring(gate_junit(report))
    assert (int(root.attrib["failures"]) > 0) == (not report.passed)
    assert len(gate_markdown(report)) <= LONGEST_REPORT
