"""The overview and the problems page as views."""

import pytest

from sitegen.model.problems import Problem
from sitegen.model.series import EvalInfo, EvalSummary, Headline
from sitegen.pages.overview import EditEffects, FileEdit, SiteCounts, overview_page
from sitegen.pages.problems import SHOWN, problems_page
from sitegen.render.environment import Renderer, find_templates
from tests import pages_sample as sample

HEAD = sample.commit(9)
COUNTS = SiteCounts(10, 4, 2, 1, 0)


def _summary(name: str, *values: float | None, least: float | None = None, deleted: bool = False) -> EvalSummary:
    info = EvalInfo(name, name.title(), thresholds=(("f1", least),) if least is not None else ())
    heads = tuple(
        Headline(i, f"{i:040x}", f"{i:04}", f"iteration-{i:03}", "scored", (value, None, None), (1, 0, 2, 0))
        for i, value in enumerate(values)
    )
    return EvalSummary(info, sample.SPECS[:3], heads, deleted)


def _view(*summaries: EvalSummary, latest: tuple[EditEffects, ...] = ()):
    return sample.view_of(overview_page(summaries, HEAD, "main", COUNTS, latest))


def test_the_mean_leaves_out_undefined_and_deleted_evals_and_says_how_many():
    view = _view(
        _summary("a", 0.5), _summary("b", 1.0), _summary("c", None), _summary("d"), _summary("e", 0.1, deleted=True)
    )
    assert (view.mean, view.mean_of, view.left_out) == (0.75, 2, 2)


def test_the_mean_changes_by_what_the_newest_points_changed():
    view = _view(_summary("a", 0.4, 0.5), _summary("b", 0.9))
    assert view.mean_change == pytest.approx(0.05)


def test_targets_are_met_below_or_not_set():
    view = _view(
        _summary("a", 0.5, least=0.5), _summary("b", 0.4, least=0.5), _summary("c", 0.1), _summary("d", None, least=0.5)
    )
    assert [row.met for row in view.rows] == [True, False, None, None]
    assert (view.met, view.targets, view.below) == (1, 2, ("B",))


def test_without_evals_nothing_is_defined():
    view = _view()
    assert (view.mean, view.mean_change, view.errors, view.longest) == (None, None, 0, 1)


def test_a_sparkline_shows_the_newest_sixty_points():
    view = _view(_summary("a", *[i / 100 for i in range(80)]))
    assert (len(view.rows[0].spark), view.rows[0].spark[-1], view.rows[0].points) == (60, 0.79, 80)


def test_an_edit_shows_its_two_largest_changes():
    series = sample.series(9)
    effects = sample.effects(series, 5)
    edit = sample.edit(3)
    files = tuple(FileEdit(edit, f"{name}.md") for name in "abcdefgh")
    view = _view(latest=(EditEffects(edit.commit, files, effects),))
    assert (view.edits[0].edits, view.edits[0].more) == (files[:6], 2)
    assert view.edits[0].changes == (("Waybills", effects[0].change), ("Receipts", None))
    assert view.edits[0].largest == (("Waybills", effects[0].change),)


def test_columns_are_named_after_the_metrics_that_all_evals_share():
    assert _view(_summary("a", 0.5)).labels == ("F1", "Precision", "Recall")
    other = _summary("b", 0.5)._replace(specs=sample.SPECS[3:])
    assert _view(_summary("a", 0.5), other).labels == ("Headline", "Second", "Third")


def test_problems_are_grouped_by_eval_errors_first():
    view = sample.view_of(problems_page(sample.PROBLEMS, (sample.RECEIPTS, sample.WAYBILLS), HEAD, "main"))
    assert [(group.name, [p.severity for p in group.problems]) for group in view.groups] == [
        ("The project", ["warning"]),
        ("Waybills", ["error", "warning", "note"]),
    ]
    assert view.totals == (("error", 1, 0), ("warning", 2, 0), ("note", 1, 0))


def test_problems_of_an_eval_that_is_gone_go_by_its_id():
    view = sample.view_of(problems_page((Problem("note", "x", "y", eval_id="old"),), (), HEAD, "main"))
    assert [group.name for group in view.groups] == ["old"]


def test_a_group_lists_a_bounded_number_of_problems():
    many = tuple(Problem("note", f"{i}", "y") for i in range(SHOWN + 3))
    group = sample.view_of(problems_page(many, (), HEAD, "main")).groups[0]
    assert (len(group.problems), group.left_out) == (SHOWN, 3)


def test_many_evals_can_be_filtered():
    few, many = (
        overview_page(tuple(_summary(f"e{i}", 0.5) for i in range(n)), HEAD, "main", COUNTS, ()) for n in (3, 60)
    )
    renderer = Renderer([find_templates()], sample.SITE)
    assert b"Filter evals" not in renderer.render(few)
    assert b"Filter evals" in renderer.render(many)
