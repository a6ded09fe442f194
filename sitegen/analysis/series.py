"""What is told of the points of an eval one by one: their summaries, their problems, and which have the same output."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import chain, repeat

from msgspec.structs import replace

from sitegen.analysis.cells import cells_of
from sitegen.config.models import MAPPINGS
from sitegen.model.changes import Noise
from sitegen.model.metrics import MetricSpec, traits_of
from sitegen.model.problems import Problem
from sitegen.model.scorecards import Result
from sitegen.model.series import HEADLINES, EvalInfo, Headline, Point, Series
from sitegen.model.timeline import EvalHistory, Snapshot
from sitegen.scoring.answerers import answerers_of
from sitegen.scoring.kinds import in_order_of, nouns_of
from sitegen.stats.counts import error_numbers


def headline(point: Point, specs: tuple[MetricSpec, ...], comparable_since: int = 0) -> Headline:
    """Summarise a point for storage: its first metrics, the interval of the headline, and the errors by type."""
    snapshot, scorecard = point.snapshot, point.scorecard
    return Headline(
        commit_position=snapshot.commit.position,
        sha=snapshot.commit.sha,
        slug=snapshot.slug,
        label=snapshot.label,
        status=scorecard.status,
        values=tuple(scorecard.metric(spec.name) for spec in specs[:HEADLINES]),
        errors=error_numbers(scorecard.counts),
        committed_at=snapshot.commit.committed_at,
        interval=point.interval,
        comparable_since=comparable_since,
        first_with_output=point.first_with_output,
        deleted=snapshot.deleted,
    )


def problems_of_point(info: EvalInfo, point: Point) -> tuple[Problem, ...]:
    """Return the findings of a scorecard as problems of the files that they are in."""
    snapshot = point.snapshot
    blobs = {
        "output": snapshot.outputs[0] if snapshot.outputs else None,
        "ground_truth": snapshot.ground_truth,
        "mapping": snapshot.mapping,
        "schema": snapshot.schema,
    }
    paths = {about: blob.path for about, blob in blobs.items() if blob} | {"settings": info.manifest or None}
    folder = snapshot.ground_truth.path.rpartition("/")[0] if snapshot.ground_truth else ""
    mapping = snapshot.mapping.path if snapshot.mapping else MAPPINGS[0].replace("{dir}", folder).lstrip("/")
    return tuple(
        Problem(
            severity=finding.severity,
            message=finding.text,
            fix=finding.fix,
            # The file that it names, in the folder at its side if that is one.
            path=f"{side}{finding.file}" if side.endswith("/") else finding.file or side or None,
            line=finding.line,
            commit=snapshot.commit.sha,
            eval_id=info.id,
            field=finding.path,
            type=finding.type,
            values=finding.values,
            paste=json.dumps({mapping: json.loads(finding.paste)}) if finding.paste else "",
        )
        for finding in point.scorecard.findings
        for side in (paths.get(finding.about) or "",)
    )


def findings_in(point: Point) -> tuple[object, ...]:
    """Return the findings of a point, and the files that they are in: if both are the same, so are its problems."""
    at, findings = point.snapshot, point.scorecard.findings
    outputs = at.outputs if any(finding.about == "output" for finding in findings) else ()
    return findings, outputs, at.ground_truth, at.mapping, at.schema


def problems_of_points(points: Sequence[tuple[Problem, ...]], *, deleted: bool) -> tuple[Problem, ...]:
    """Return the distinct problems of all points, each with the first commit that had it.

    Problems that the newest point does not have are marked as past; all of them if the eval is deleted.
    """
    bare_of = partial(replace, commit=None, values=0, paste="")
    newest = {bare_of(problem): problem for problem in points[-1]} if points and not deleted else {}
    first: dict[Problem, Problem] = {}
    for problem in chain.from_iterable(points):
        bare = bare_of(problem)
        if bare not in first:
            first[bare] = replace(newest.get(bare, problem), commit=problem.commit, past=bare not in newest)
    return tuple(first.values())


def in_another_unit(values: Iterable[float | None]) -> set[int]:
    """Return the places of the values in the rarer unit, if some seem to be shares and others percentages."""
    sizes = {place: abs(value) for place, value in enumerate(values) if value}
    percentages = {place for place, size in sizes.items() if size > 1}
    is_mixed = any(size < 1 for size in sizes.values()) and any(10 < size <= 100 for size in sizes.values())
    return min(percentages, sizes.keys() - percentages, key=len) if is_mixed else set()


def series_of(
    info: EvalInfo,
    specs: tuple[MetricSpec, ...],
    snapshots: Sequence[Snapshot],
    results: Sequence[Result],
    noise: Sequence[Noise | None] = (),
    rejudged: Sequence[Result] = (),
) -> Series:
    """Make a series of results that are no points of one, as if they were the outputs of an eval in this order.

    ``rejudged``: the first output of two by the ground truth and rules of the last, if these differ.
    """
    cards, of_rejudged = ([in_order_of(specs, each.scorecard) for each in side] for side in (results, rejudged))
    alike = chain(of_rejudged, repeat(None))
    return Series(
        info=replace(info, nouns=nouns_of(info.kind, specs)),
        history=EvalHistory(id=info.id, kind=info.kind, layout="iterations", snapshots=tuple(snapshots)),
        specs=specs,
        points=tuple(
            Point(snapshot=snapshot, scorecard=card, noise=known, now=now)
            for snapshot, card, known, now in zip(snapshots, cards, noise or repeat(None), alike, strict=False)
        ),
        cells=cells_of(*results, rejudged=rejudged),
    )


def first_points_with_output(snapshots: Sequence[Snapshot], kind: str | None = None) -> tuple[int | None, ...]:
    """Return for each snapshot of an eval the index of the first one with the same output; None if it is the first.

    Outputs are the same if their files have the same blob ids, in the order of their paths, and these name the same
    models and variants. A missing output differs from the output of any other iteration. Recorded numbers are the same
    output only within one iteration, because two runs can have equal numbers.
    """
    is_recorded = traits_of(kind).is_recorded
    first: dict[tuple[object, ...], int] = {}
    earliest = []
    for index, snapshot in enumerate(snapshots):
        key: tuple[object, ...] = (snapshot.iteration,)
        if snapshot.outputs and not is_recorded:
            oids = [blob.oid for blob in snapshot.outputs]
            key = tuple(zip(answerers_of(snapshot.outputs, snapshot.settings), oids, strict=True))
        earliest.append(first.setdefault(key, index))
    return tuple(None if start == index else start for index, start in enumerate(earliest))


def output_of(points: Sequence[Point], index: int) -> int:
    """Return the index of the first point with the same output as a point."""
    first = points[index].first_with_output
    while first is None and index and "outputs" not in points[index].snapshot.cause:
        index -= 1  # the same output, scored again
        first = points[index].first_with_output
    return index if first is None else first


def last_other_output(points: Sequence[Point]) -> int | None:
    """Return the index of the last point with another output than the newest; None if all have that one."""
    newest = len(points) - 1
    return next((at for at in range(newest - 1, -1, -1) if output_of(points, at) != output_of(points, newest)), None)


def first_of_each_output(points: Sequence[Point] | Sequence[Headline], indices: Iterable[int]) -> list[int]:
    """Return the indices, in their order, whose output no earlier one of these indices has."""
    first: dict[int, int] = {}
    for index in indices:
        earliest = points[index].first_with_output
        first.setdefault(index if earliest is None else earliest, index)
    return list(first.values())


def output_of_each(first_with_output: Iterable[int | None]) -> list[int]:
    """Return for each point the index of the first point with its output: equal numbers are the same output.

    ``first_with_output``: the result of ``first_points_with_output``.
    """
    return [index if earliest is None else earliest for index, earliest in enumerate(first_with_output)]


def repeats_the_point_before(points: Sequence[Point], index: int) -> bool:
    """Decide whether a point is a copy that is equal to the previous point in every role.

    Such a copy does not count as a new value. A copy of an older output does if there is another output in between:
    the old one was restored.
    """
    point = points[index]
    return point.is_copy and index > 0 and not points[index - 1].snapshot.roles_changed_in(point.snapshot)
