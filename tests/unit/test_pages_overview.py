"""The overview and the problems page as views."""

import re
from functools import partial

import pytest
from msgspec.structs import replace

from sitegen.analysis.causes import ProblemCounts
from sitegen.model.changes import Change, Ends, MetricDelta, Overlap
from sitegen.model.outcomes import Flips
from sitegen.model.series import EvalInfo, EvalSummary, Streak, WeakSection
from sitegen.model.timeline import Edit, InstructionHistory
from sitegen.pages import links
from sitegen.pages.instructions import EditEffects, FileEdit, FileRecord
from sitegen.pages.overview import page as overview
from sitegen.pages.overview.focus import said_of
from sitegen.pages.overview.page import SiteCounts
from sitegen.text.patch import PatchCounts
from tests import pages_sample as sample
from tests.rows import in_table
from tests.sites import renderer_of, words_of
from tests.unit.test_for_machines import headline

HEAD = sample.commit(9)
COUNTS = SiteCounts(commits=10, edits=4, better=2, worse=1, problems=ProblemCounts(error=0, warning=0, note=0, past=0))


def _summary(name: str, *values: float | None, least: float | None = None, deleted: bool = False) -> EvalSummary:
    info = EvalInfo(name, name.title(), thresholds={"f1": least} if least is not None else {})
    heads = tuple(headline(i, value) for i, value in enumerate(values))
    change = _delta(*values[-2:]) if len(values) > 1 else None
    return EvalSummary(info=info, specs=sample.SPECS[:3], headlines=heads, deleted=deleted, change=change)


def _delta(before: float | None, after: float | None) -> Change:
    change = None if before is None or after is None else after - before
    return Change(Overlap(1), (MetricDelta("f1", change, None),))


def _view(*summaries: EvalSummary, latest: tuple[EditEffects, ...] = ()):
    return sample.view_of(sample.overview_page(summaries, HEAD, COUNTS, latest))


def test_charts_of_shares_have_one_scale_and_amounts_their_own():
    seconds = replace(sample.SPECS[0], name="seconds", label="Seconds", high=100.0, recorded=True, unit="s")
    slow = replace(_summary("slow", 3.0, 9.0), specs=(seconds,))
    evals = (_summary("a", 0.2, 0.4), _summary("b", 0.9), slow, _summary("gone", 0.1, deleted=True))
    page = sample.overview_page(evals, HEAD, COUNTS)
    assert sample.view_of(page).scale_of == Ends(0.1, 0.9)
    html = sample.html_of(page)
    ends = dict(re.findall(r'(?s)<a class="name" href="evals/(\w+)/.*?<path class="e" d="M[\d.]+ ([\d.]+)h0"/>', html))
    assert (ends["b"], ends["slow"], ends["gone"]) == ("2.0", "2.0", "26.0")  # of 28, from the top


def test_an_eval_is_at_its_targets_if_every_metric_that_has_one_reaches_it():
    met, missed = ((("F1", True), ("Recall", is_met)) for is_met in (True, False))
    evals = (
        replace(_summary("met", 0.9), targets=met),
        replace(_summary("half", 0.9), targets=missed),
        replace(_summary("low", 0.9), targets=(("F1", False),)),
        _summary("none", 0.9),
    )
    html = sample.html_of(sample.overview_page(evals, HEAD, COUNTS))
    (kpi,) = re.findall("(?s)Evals at their targets(.*?)</div>", html)
    assert words_of(kpi) == "1 of 3 missed by Half (Recall), Low"


def test_a_deleted_iteration_is_called_so_beside_an_eval_that_is_there():
    both = (_summary("there", 0.5, 0.6), _summary("gone", 0.5, 0.6, deleted=True))
    heads = [(replace(one.headlines[0], deleted=True), one.headlines[1]) for one in both]
    evals = tuple(replace(one, headlines=first) for one, first in zip(both, heads, strict=True))
    html = sample.html_of(sample.overview_page(evals, HEAD, COUNTS))
    assert re.findall(r"since iteration-\d+([^<]*)</small>", html) == [", which was deleted", ""]


def test_a_few_evals_are_cards_and_more_are_rows_that_name_the_edit_they_were_made_with():
    evals = tuple(_summary(name, 0.5, least=0.75) for name in "abcd")
    few, many = (sample.html_of(sample.overview_page(some, HEAD, COUNTS)) for some in (evals[: overview.CARDS], evals))
    assert (" cards" in few, few.count("<path class=m d='M50 6h0'/>")) == (True, overview.CARDS)
    assert (" cards" in many, many.count("<path class=m d='M50 6h0'/>")) == (False, 4)
    assert many.count("<path class=z d='M75 0V12'/>") == 4
    edit = sample.edit(3)
    view = replace(
        _view(replace(evals[0], made_with=(edit.commit,)), *evals[1:]),
        instructions=(InstructionHistory(edit.path, (edit,)),),
    )
    html = sample.html_of(view.page)
    assert html.partition("<table")[2].count(links.edit(edit.path, edit.commit.sha)) == 1


def test_the_mean_leaves_out_undefined_and_deleted_evals_and_those_without_an_output_and_says_how_many():
    gone = replace(_summary("f", 0.1), without_output=True)
    evals = (_summary("a", 0.5), _summary("b", 1.0), _summary("c", None), _summary("e", 0.1, deleted=True), gone)
    view = _view(*evals, replace(_summary("d"), without_output=True))
    assert view.mean_now == (0.75, 1)
    assert (len(view.computed), len(view.scored)) == (5, 3)


def test_an_eval_that_cannot_be_compared_does_not_pass_for_one_that_did_not_change():
    refused = replace(_summary("b", 0.9, 0.1), change=Change(Overlap(0), (MetricDelta("f1", None, None),)))
    assert _view(_summary("a", 0.4, 0.5), refused).mean_change == pytest.approx(0.1)
    assert _view(refused).mean_change is None


@in_table
def test_the_one_verdict_of_a_case_has_failed(kind, attribute, said):
    assert said_of(EvalInfo("a", "A", kind=kind), attribute) == said


def test_what_to_work_on_is_gathered_over_evals_and_leaves_out_deleted_ones():
    walls, roof = WeakSection("walls", (1, 0, 2, 0), 10), WeakSection("roof", (0, 0, 1, 0), 4)
    old = Streak(attribute="walls[].area", more=0, cells=2, since="iteration-001", slug="0001", outputs=7)
    new = Streak(attribute="roof.kind", more=0, cells=1, since="iteration-007", slug="0007", outputs=1)
    a = replace(
        _summary("a", 0.5), weak=(walls, roof), newly_wrong=Flips(broken=(("roof.kind", 1),)), longest=(old, new)
    )
    broken = Flips(broken=(("roof.kind", 2), ("walls[].area", 2)), doubts=(("roof.kind", 1, 2),))
    b = replace(_summary("b", 0.5), weak=(roof,), newly_wrong=broken, longest=(new,))
    gone = replace(
        _summary("c", 0.5, deleted=True), weak=(walls,), newly_wrong=Flips(broken=(("x", 9),)), longest=(old,)
    )
    focus = _view(a, b, gone).focus
    assert focus.sections == ((walls, (a,)), (replace(roof, errors=(0, 0, 2, 0), judged=8), (a, b)))
    doubts = "1 flips often and 2 labels may be wrong"
    assert focus.broken == (("roof.kind", 3, (a, b), doubts), ("walls[].area", 2, (b,), ""))
    html = sample.html_of(sample.overview_page((a, b, gone), HEAD, COUNTS))
    newest = [f"evals/{summary.info.id}/{summary.headlines[-1].slug}.html" for summary in (a, b)]
    assert re.findall(r'href="([^"]*#section=[^"]*)"', html[html.index("What to work on") :]) == [
        f"{newest[0]}#section=walls",
        *(f"{report}#section=roof" for report in newest),
    ]
    histories = re.findall(r'href="evals/(.)/fields/(roof.kind|walls)', html[html.index('id="h-fn"') :])
    assert histories == [*zip("aabbaab", ["roof.kind"] * 3 + ["walls"] * 2 + ["roof.kind"] * 2, strict=True)]
    longest = [(info.id, streak.attribute) for info, streak in focus.longest]
    assert longest == [("a", "walls[].area"), ("a", "roof.kind"), ("b", "roof.kind")]


def test_a_sparkline_shows_the_newest_sixty_points():
    page = sample.overview_page((_summary("a", *[i / 100 for i in range(80)]),), HEAD, COUNTS)
    assert "F1 of the newest 60 of 80 iterations" in sample.html_of(page)


def test_no_latest_edit_is_credited_with_an_output_that_another_edit_may_have_made():
    series, edit = sample.series(9), sample.edit(3)
    certain = replace(sample.effects(series, 5)[0], specs=series.specs)
    shown = []
    for other in (None, sample.edit(2).commit):
        effect = replace(certain, window=certain.window._replace(or_edit=other))
        latest = (EditEffects((FileEdit(edit, "a.md"),), (effect,)),)
        summary = replace(_summary("a", 0.5, 0.6), made_with=tuple(filter(None, (other, edit.commit))))
        history = InstructionHistory("a.md", (edit,))
        page = sample.overview_page((summary,), HEAD, COUNTS, latest, instructions=(history,))
        shown.append(sample.html_of(page).split('id="h-ed"'))
    assert [(f"or {sample.edit(2).commit.short}" in html, "delta" in html) for _, html in shown] == [
        (False, True),
        (True, False),
    ]
    made_with = [html.partition("c-edit data-h")[2].partition("</td>")[0] for html, _ in shown]
    assert [sample.edit(2).commit.short in html for html in made_with] == [False, True]


def test_many_evals_can_be_filtered():
    few, many = (sample.overview_page(tuple(_summary(f"e{i}", 0.5) for i in range(n)), HEAD, COUNTS) for n in (3, 60))
    renderer = renderer_of(sample.SITE)
    assert b"Filter evals" not in renderer.render(few)
    assert b"Filter evals" in renderer.render(many)


def _record(path: str, *commits: int, lines: int | None = 10, deleted: bool = False) -> FileRecord:
    modified = partial(Edit, path=path, status="modified", old=None, new=None)
    edits = tuple(modified(commit=replace(sample.commit(at), author="Ann" if at % 2 else "Bob")) for at in commits)
    added = None if lines is None else PatchCounts(added=lines, version_after="2.0")
    counts = (added, *(PatchCounts(),) * (len(commits) - 1))
    return FileRecord(history=InstructionHistory(path, edits, deleted), counts=counts, grades=())


def test_instructions_without_evals_are_summed_up_by_file_and_by_author():
    records = (
        _record("a.md", 1, 2, 3),
        _record("b.md", 2, 3, lines=None),
        _record("c.md", 3, 4, 5, 6),
        _record("gone.md", 2, 3, deleted=True),
        *(_record(f"mass-{n}.md", 7, 8) for n in range(26)),
    )
    page = sample.overview_page((), HEAD, COUNTS, files=records)
    view = sample.view_of(page)
    assert [file.history.path for file in view.living_files[:3]] == ["c.md", "a.md", "b.md"]
    assert view.authors == [("Ann", 4), ("Bob", 4)]
    html = sample.html_of(page)
    shown = words_of(html)
    for kpi in ("Instruction files 29 1 deleted since", "by 8 commits", "Lines 280", "Authors 2 Ann most often"):
        assert kpi in shown
    assert "the 20 with most versions of 29" in shown


def test_the_first_page_without_evals_shows_the_instructions_and_how_long_the_latest_edits_are():
    record = replace(_record("prompts/a.md", 1, 2), counts=(PatchCounts(7, 4), PatchCounts(5, 2)))
    latest = tuple(EditEffects((FileEdit(edit, edit.path),), ()) for edit in record.history.edits)
    html = sample.html_of(sample.overview_page((), HEAD, COUNTS, latest, files=(record,)))
    assert [html.count(shown) for shown in ("+5", "−2", "+7", "−4")] == [1, 1, 1, 1]
    for shown in ("Instruction files", "No evals yet", "sitegen init"):
        assert shown in html
    assert "Mean headline" not in html
