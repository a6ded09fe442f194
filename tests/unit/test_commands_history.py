"""What ``sitegen history`` prints."""

from msgspec.structs import replace

from sitegen.commands.history import history_lines
from sitegen.model.changes import Change, DeltaParts, MetricDelta, Overlap
from sitegen.model.commits import Commit
from sitegen.model.metrics import Metric
from sitegen.model.series import Series
from sitegen.text.plain import day
from tests import pages_sample as sample


def _series(delta: Change, *, stale: bool = False) -> Series:
    series = sample.series(2)
    first, second = series.points
    return replace(
        series,
        points=(replace(first, now=first.scorecard), replace(second, now=second.scorecard, change=delta, stale=stale)),
    )


def _values(series: Series, index: int) -> str:
    card, interval = series.points[index].scorecard, series.points[index].interval
    assert interval is not None
    first, *others = (f"{card.metric(spec.name):9.3f}" for spec in series.specs[:3])
    return " ".join([first, f"{interval.low:.3f} to {interval.high:.3f}", *others])


def _made(commit: Commit) -> str:
    return f"{day(commit.committed_at):11}  {commit.short} {commit.subject}"


def test_a_change_of_several_roles_is_followed_by_its_parts():
    parts = DeltaParts(0.05, -0.011, 0.003)
    series = _series(Change(Overlap(1), (MetricDelta("f1", 0.042, parts),)))
    first, second = (point.snapshot.commit for point in series.points)
    assert history_lines(series) == [
        f"{'iteration':25}        F1           95 % Precision    Recall    change  errors  date         commit",
        f"{'iteration-001':25} {_values(series, 0)}                16  {_made(first)}",
        f"{'iteration-002':25} {_values(series, 1)}    +0.042      23  {_made(second)}",
        "    change: outputs +0.050, ground truth −0.011, rules +0.003",
    ]


def test_a_refused_change_is_a_dash_with_its_reason():
    series = _series(Change(Overlap(common=0, only_before=("a",), only_after=("b",)), (MetricDelta("f1", None, None),)))
    lines = history_lines(series)
    assert lines[2].split()[7] == "—"
    assert lines[3:] == ["    change: not comparable: no document in common with iteration-001"]


def test_a_stale_output_is_called_stale():
    delta = Change(Overlap(1), (MetricDelta("f1", 0.02, DeltaParts(0.02, 0.0, 0.0)),))
    lines = history_lines(_series(delta, stale=True))
    assert lines[2].split()[7] == "+0.020"
    assert lines[3:] == ["    older than its instructions: these were edited after this output was made"]


def test_where_the_clocks_part_the_headline_has_both():
    series = sample.series(2)
    lines = history_lines(series)
    now = series.points[0].now
    assert now is not None
    assert " ".join(lines[0].split()) == "iteration F1 95 % today Precision Recall change errors date commit"
    assert lines[1].split()[5] == f"{now.metric('f1'):.3f}"


def test_a_number_of_things_is_whole():
    series = sample.series(2)
    specs = (replace(series.specs[0], unit="count"), *series.specs[1:])
    points = [
        replace(
            point,
            scorecard=replace(point.scorecard, metrics=(Metric("f1", 22.0), *point.scorecard.metrics[1:])),
            now=None,
            interval=None,
        )
        for point in series.points
    ]
    assert history_lines(replace(series, specs=specs, points=tuple(points)))[1].split()[1] == "22"


def test_metrics_that_no_iteration_has_are_left_out():
    series = sample.series(2)
    specs = (series.specs[0], replace(series.specs[1], name="unknown", label="Unknown"), *series.specs[2:])
    heads = history_lines(replace(series, specs=specs))[0]
    assert ("Unknown" in heads, series.specs[2].label in heads) == (False, True)
