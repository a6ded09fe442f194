"""The three sentences on the state of all evals, which open the overview and the summary: a table of cases."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from sitegen.analysis.causes import ProblemCounts
from sitegen.analysis.effects import EffectIndex
from sitegen.analysis.standing import standings
from sitegen.config.models import Mute
from sitegen.engine.summary import summary_file
from sitegen.model.changes import Change, ChangeVerdict, DeltaParts, MetricDelta, Overlap
from sitegen.model.metrics import MetricSpec
from sitegen.model.outcomes import Flips
from sitegen.model.series import BestOutput, EvalSummary, PatternSummary, WeakSection, Window
from sitegen.model.timeline import InstructionHistory
from sitegen.pages.overview.focus import Sentence, focus_view
from sitegen.pages.overview.news import news, undo_of
from sitegen.pages.overview.page import SiteCounts
from sitegen.text.plain import day
from tests import pages_sample as sample
from tests.rows import in_table
from tests.scoring.test_tables import tables
from tests.unit.test_for_machines import commit, step, summary
from tests.unit.test_standing import verdict

ERRORS = (WeakSection("lines", (2, 0, 0, 0), 10), WeakSection("(top level)", (0, 0, 1, 0), 5))
SECONDS = MetricSpec("seconds", "Seconds", "", high=100.0, higher_is_better=False, recorded=True, unit="s")

COUNTS = SiteCounts(commits=3, edits=1, better=0, worse=0, problems=ProblemCounts(error=0, warning=0, note=0, past=0))


def case(
    name: str,
    *values: float | None,
    by_rules: float = 0.0,
    wrong: bool = True,
    judged: ChangeVerdict | None = None,
    **more: Any,
) -> EvalSummary:
    """An eval with these headlines, its best output and the change of the newest one."""
    defined = [value for value in values if value is not None]
    result = summary(name, *values, **more)
    if defined:
        result = replace(result, best_output=BestOutput(values.index(max(defined)), max(defined), 0))
    if len(defined) > 1 and values[-1] is not None:
        change = defined[-1] - defined[-2]
        parts = DeltaParts(change - by_rules, 0.0, by_rules)
        result = replace(result, change=Change(Overlap(1), (MetricDelta("f1", change, parts),), verdict=judged))
    return replace(result, weak=ERRORS) if wrong else result


def recorded(*values: float) -> EvalSummary:
    one = summary("speed", *values)
    change = values[-1] - values[-2]
    return replace(
        one,
        info=replace(one.info, kind="recorded"),
        specs=(SECONDS,),
        best_output=BestOutput(values.index(min(values)), min(values), 0),
        change=Change(Overlap(1), (MetricDelta("seconds", change, None),)),
    )


SIGN = PatternSummary(name="a currency sign", errors=2, total=3, fields=1, since="3", all_since=True, without=0.95)
FALL = (step(1, 0.9, 0.5, "open"),)
PRECISE = step(2, 0.5, 0.7, "better")
PRECISE = replace(PRECISE, metrics=(replace(PRECISE.metrics[0], name="precision"),))
NOBODY = replace(step(1, 0.9, 0.5, "open"), edits=())

EVALS: dict[str, tuple[EvalSummary, ...]] = {
    "no eval": (),
    "half of the errors have one pattern": (
        replace(case("a", 0.9), patterns=(SIGN,)),
        replace(case("b", 0.9), patterns=(replace(SIGN, errors=1),)),
    ),
    "only deleted evals": (case("gone", 0.9, 0.1, deleted=True, steps=FALL),),
    "no output": (summary("a"),),
    "one eval with one output": (case("a", 0.5),),
    "first outputs, one of them undefined": (case("a", None, wrong=False), case("b", 0.5, wrong=False)),
    "no change": (case("a", 0.5, 0.5),),
    "a fall that may be chance": (case("a", 0.9, 0.7, since_best=verdict("cannot tell")), summary("empty")),
    "a fall beyond chance in two outputs": (case("a", 0.9, 0.7, steps=(step(1, 0.9, 0.7, "behind"),)),),
    "an open regression after an edit, and two more evals that lost": (
        case("a", 0.9, 0.5, steps=FALL),
        case("b", 0.9, 0.8, steps=(step(1, 0.9, 0.8, "behind"),)),
        case("c", 0.9, 0.6, steps=(step(1, 0.9, 0.6, "new"),)),
    ),
    "an open regression of which one output alone shows more than chance": (
        case("a", 0.93, 0.48, 0.52, steps=(replace(FALL[0], verdict=replace(verdict("worse"), change=-0.45)),)),
    ),
    "an open regression without an edit": (case("a", 0.9, 0.5, steps=(NOBODY,)),),
    "too new to tell": (case("a", 0.9, 0.5, steps=(step(1, 0.9, 0.5, "new"),)),),
    "a fall of the newest output beyond chance": (
        case("a", 0.9, 0.5, steps=(replace(step(1, 0.9, 0.5, "fell"), verdict=verdict("worse")),)),
    ),
    "a fall too new to tell, and a smaller one beyond chance from the best": (
        case("a", 0.9, 0.7, 0.5, steps=(step(1, 0.9, 0.5, "behind"), step(2, 0.9, 0.4, "new"))),
    ),
    "an output without a number": (case("a", 0.9, None), case("b", 0.5, 0.6)),
    "gains, the surest first": (case("a", 0.5, 0.6, judged=verdict("better")), case("b", 0.1, 0.9)),
    "a gain that is likely more than chance": (case("a", 0.5, 0.6, judged=verdict("likely better")),),
    "a gain by the rules is none of the output": (case("a", 0.5, 0.6, by_rules=0.1),),
    "a lasting gain of the past": (case("a", 0.5, 0.7, 0.7, steps=(step(1, 0.5, 0.7, "better"),)),),
    "a later gain of another metric": (case("a", 0.5, 0.7, 0.7, steps=(step(1, 0.5, 0.7, "better"), PRECISE)),),
    "a target that is missed": (case("a", 0.5, 0.5, target=0.8),),
    "a target of another metric that is missed": (case("a", 0.5, 0.5, targets=(("F1", True), ("Recall", False))),),
    "outputs older than their instructions": (case("a", 0.5, 0.5, stale=True),),
    "recorded numbers, less is better": (recorded(2.0, 5.0),),
    "recorded numbers that became better": (recorded(5.0, 2.0),),
}
FILES = tuple(
    InstructionHistory(path, (sample.edit(1),) * edits)
    for path, edits in (("CLAUDE.md", 9), ("agents/invoice-lines/how.md", 1), ("agents/invoice-lines/guide.md", 2))
)
SENTENCES = tables(Path(__file__).with_name("news.md").read_text(encoding="utf-8"))[0]


def scored_cases(*values: float) -> EvalSummary:
    """An eval whose judges only gave scores, so that F1 is undefined and no errors are counted."""
    one = case("a", *values, wrong=False)
    specs = (MetricSpec("score", "Score", ""), one.specs[0])
    heads = tuple(
        replace(head, values=(value, None), errors=(0, 0, 0, 0))
        for head, value in zip(one.headlines, values, strict=True)
    )
    return replace(one, specs=specs, headlines=heads)


def sentences(*summaries: EvalSummary, mutes: tuple[Mute, ...] = ()) -> tuple[Sentence, ...]:
    return news(standings(summaries, mutes), focus_view(summaries))


def test_every_case_has_its_sentences() -> None:
    assert [row["case"] for row in SENTENCES] == [*EVALS]


@pytest.mark.parametrize("row", SENTENCES, ids=lambda row: row["case"])
def test_the_sentences_are_right_in_odd_cases(row: dict[str, str]) -> None:
    wanted = [row[name] for name in ("worse", "better", "next") if row[name]]
    assert [sentence.text for sentence in sentences(*EVALS[row["case"]])] == wanted


@in_table
def test_where_judges_only_gave_scores_the_lowest_ones_are_to_be_read(value: float, expected: str) -> None:
    scored = scored_cases(value)
    assert (scored.has_only_scores, sentences(scored)[-1].text) == (True, expected)


def test_only_outputs_that_judges_scored_have_only_scores() -> None:
    scored, fields = scored_cases(0.8), case("a", None)
    unreadable = replace(scored.headlines[-1], status="unreadable")
    others = {
        "fields without any value": fields,
        "unreadable": replace(scored, headlines=(unreadable,)),
        "with errors": replace(scored, headlines=(replace(scored.headlines[-1], errors=(1, 0, 0, 0)),)),
        "without output": replace(scored, headlines=()),
        "recorded": replace(scored, info=replace(scored.info, kind="recorded")),
    }
    assert [name for name, summary in others.items() if summary.has_only_scores] == []


def test_only_where_nothing_is_worse_has_the_first_sentence_a_tick() -> None:
    ticks = {name: bool(found) and found[0].good for name, evals in EVALS.items() for found in [sentences(*evals)]}
    lost = {name for name in EVALS if "regression" in name or "beyond chance" in name or "too new" in name}
    nothing_scored = {"no eval", "only deleted evals", "no output"}
    assert {name for name, tick in ticks.items() if not tick} == {*lost, *nothing_scored, "an output without a number"}


def test_the_overview_lists_what_further_evals_lost_below_the_first_sentence() -> None:
    evals = EVALS["an open regression after an edit, and two more evals that lost"]
    view = sample.view_of(sample.overview_page(evals, sample.commit(3), COUNTS))
    assert view.news[0].text.endswith("0.400, to 0.500 at iteration-002 and was not regained.")
    assert ["".join(phrase.text for phrase in phrases) for phrases in view.losses] == [
        "Eval b is 0.100 behind its best F1, iteration-001, by more than chance; most of it was lost at iteration-002.",
        "Eval c: mean F1 fell by 0.300, to 0.600 at iteration-002; one more run is needed to tell.",
    ]
    assert sum(len(standing.worse) for standing in view.evals) == 3


def test_values_that_broke_are_counted_although_they_may_be_chance_and_the_file_on_them_is_named() -> None:
    one = case("a", 0.5, 0.6, judged=verdict("cannot tell"))
    assert one.change
    flips = Flips(broken=(("lines[].price", 3), ("shop", 1)))
    broken = replace(one, change=replace(one.change, flips=flips))
    worse, _, to_do = news(standings([broken], ()), focus_view([broken]), FILES)
    begin, end = "Nothing for certain: 4 values", ", 3 of them in lines[].price. This may be chance"
    work = "Work on Eval a: 2 of its 3 errors are in lines; its instructions are agents/invoice-lines/guide.md."
    of_a = "in Eval a from iteration-001 to iteration-002"
    told = (f"{begin} broke {of_a}{end}.", False, work)
    assert (worse.text, worse.good, to_do.text) == told
    verdicts = replace(broken, specs=(replace(broken.specs[0], equals=("precision", "recall")), *broken.specs[1:]))
    assert sentences(verdicts)[0].text == f"{begin} broke {of_a}. This may be chance."
    at, both = sample.commit(1), replace(flips, fixed=flips.broken)
    window = Window(1, 0, 1, verdict=verdict("cannot tell"), flips=both, or_edit=sample.commit(2))
    named = replace(case("a", 0.6, 0.6), windows=(window,))
    after = f"{of_a} after “{at.subject}” ({at.author}, {day(at.committed_at)}) or {sample.commit(2).short}{end}"
    found = [one.text for one in news(standings([named], ()), None, FILES)]
    broke, fixed = f"{begin} broke (4 were fixed) {after}", f"{begin} were fixed (4 broke) {after}"
    assert found[:2] == [f"{broke}.", f"{fixed}. The eval is at its best."]
    one_fixed = Window(1, 0, 1, verdict=verdict("cannot tell"), flips=Flips(fixed=(("shop", 1),)))
    assert "1 value was fixed in Eval a" in sentences(replace(named, windows=(one_fixed,)))[1].text
    patch = b"--- a\n+++ b\n@@ -1 +1,2 @@\n-Version: 1\n+Version: 2\n+Give each price.\n"
    fallen = replace(case("a", 0.7, 0.6), windows=(window,))  # and now it may be undone
    every = EffectIndex((), {})
    for one, effects in ((named, every), (fallen, EffectIndex((), {"a": frozenset()}))):
        assert undo_of(standings([one], ()), FILES, effects, lambda edits: [patch]) is None
    undo = undo_of(standings([fallen], ()), FILES, every, lambda edits: [patch] * len(edits))
    shown = [(at.file, [line.text for line in lines], more) for (at, lines, more), *_ in filter(None, [undo])]
    assert shown == [("agents/invoice-lines/how.md", ["Give each price."], 2)]  # and not CLAUDE.md or a version
    assert undo[1] is None if undo else None  # it is open which of two edits it was
    nowhere = replace(fallen, windows=(window._replace(flips=Flips(broken=(("shop", 4),)), or_edit=None),))
    _, back, *_ = undo_of(standings([nowhere], ()), FILES, every, lambda edits: [patch] * len(edits)) or ["", ""]
    assert all(f"> {file.path}" in str(back) for file in FILES)  # of the whole edit: a line may have moved in it


def test_of_what_is_muted_the_first_sentence_says_so_with_the_reason_and_the_place() -> None:
    mutes = tuple(Mute(eval=name, commit=FALL[0].commit.sha, why="harder documents.") for name in "ab")
    fallen, more, fine = case("a", 0.9, 0.5, steps=FALL), case("b", 0.9, 0.6, steps=FALL), case("c", 0.9, 0.9)
    lost = "Eval a: mean F1 fell by 0.400, to 0.500 at iteration-002 and was not regained."
    muted = f"Nothing but what is muted. {lost} Muted in sitegen.toml: harder documents"
    seen = [sentences(*evals, mutes=mutes)[0].text for evals in ((fallen, fine), (fallen, more))]
    assert seen == [f"{muted}.", f"{muted}; so are losses of 1 more eval."]
    of_both = sentences(fallen, more, mutes=mutes[1:])[0]
    assert (of_both.text, of_both.good) == (f"{lost} Muted: losses of 1 eval.", False)


def test_every_sentence_about_an_eval_is_one_click_from_its_evidence() -> None:
    evals = (case("a", 0.9, 0.5, steps=FALL), case("b", 0.1, 0.9))
    links = [[phrase.href for phrase in sentence.phrases if phrase.href] for sentence in sentences(*evals)]
    assert links == [
        ["evals/a/index.html", "evals/a/0002.html"],
        ["evals/b/index.html", "evals/b/0001.html", "evals/b/0002.html", "regressions.html#h-best"],
        ["commits/eeeeeeeeeeee.html", "evals/a/0002.html", "evals/a/index.html"],
    ]
    gain = sentences(case("a", 0.5, 0.6, judged=verdict("cannot tell")))[1]
    assert [phrase.href for phrase in gain.phrases if phrase.text == "may be chance"] == ["evals/a/0002.html#h-y"]
    behind = sentences(case("a", 0.9, 0.7, steps=(step(1, 0.9, 0.7, "behind"),)))[0]
    assert [phrase.href for phrase in behind.phrases if "compare" in phrase.href] == [
        "evals/a/compare.html#a=0001&b=0002"
    ]


def test_the_overview_and_the_summary_begin_with_the_same_sentences_and_quote_what_is_not_ours() -> None:
    hostile = case("a", 0.9, 0.5, steps=FALL)
    hostile = replace(hostile, info=replace(hostile.info, name=sample.SCRIPT))
    html = sample.html_of(sample.overview_page((hostile,), sample.commit(3), COUNTS))
    text = summary_file(sample.SITE, commit(3), (hostile,), (), (), ()).content.decode()
    assert sample.SCRIPT not in html + text
    assert html.index("What got worse") < html.index('id="h-ev"')
    assert (
        "- **What got worse**: [`a`](evals/a/index.html): mean F1 fell by 0.400, to 0.500 at "
        "[`iteration-002`](evals/a/0002.html) and was not regained."
    ) in text
    assert text.index("What to do next") < text.index("## Evals")
