"""Score one eval's snapshots and write its pages: what one process does, while each output is hot."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sitegen.analysis.memo import PageRow
from sitegen.analysis.regressions import steps_of
from sitegen.analysis.series import HEADLINES, headline, pack, problems, scorecard_key, standing, unpack
from sitegen.model.problems import Problem
from sitegen.model.scorecards import Result
from sitegen.model.series import EvalInfo, EvalSummary, Point, Series
from sitegen.model.timeline import Edit, EvalHistory, Snapshot
from sitegen.pages import links
from sitegen.pages.exports import results_json, series_files
from sitegen.pages.report import instructions_of, is_bounded, report_page, wrong_places
from sitegen.pages.trend import has_variants, trend_page
from sitegen.render.writer import Writer, digest
from sitegen.scoring.kinds import scorer
from sitegen.stages.scoring import results
from sitegen.stages.vectors import Rows, model_of, vectors_of
from sitegen.stages.workshop import Workshop


class EvalTask(NamedTuple):
    """One eval to score and to write."""

    workshop: Workshop
    info: EvalInfo
    history: EvalHistory
    edits: tuple[Edit, ...]
    """Of the instruction files that drive it, by commit."""
    scorecards: tuple[bytes | None, ...]
    """What the memo knows, one for each snapshot."""
    pages: tuple[PageRow, ...]
    """What surely stands in the output folder."""
    vectors: Rows = ()
    """What the memo knows of the texts of its outputs."""


class EvalDone(NamedTuple):
    """What came of it."""

    summary: EvalSummary
    scorecards: tuple[tuple[str, bytes], ...]
    """(key, body) of those that the memo did not know."""
    rows: tuple[PageRow, ...]
    """Every file the eval has now."""
    problems: tuple[Problem, ...]
    attributes: tuple[str, ...]
    """Of the newest point, for search."""
    written: int
    kept: int
    vectors: Rows = ()
    """Those that the memo did not know."""


def owner(eval_id: str) -> str:
    """Who owns the files of an eval."""
    return f"eval:{eval_id}"


def keys(history: EvalHistory) -> tuple[str, ...]:
    """The memo's key of each snapshot."""
    version, model = scorer(history.kind).version, model_of(history.kind)
    return tuple(scorecard_key(history.kind, version, snapshot, model) for snapshot in history.snapshots)


def write_eval(task: EvalTask) -> EvalDone:
    """Score what the memo does not know, write the reports that are not fresh, then the trend."""
    return _EvalWork(task).run()


class _EvalWork:
    """One run of a task, snapshot after snapshot; holds the results of two snapshots and the scorecards of all."""

    def __init__(self, task: EvalTask) -> None:
        self._task = task
        self._shop = task.workshop
        self._info = task.info
        self._snapshots = task.history.snapshots
        self._scorer = scorer(task.history.kind)
        self._owner = owner(task.info.id)
        self._keys = keys(task.history)
        self._cards = [unpack(body) if body else None for body in task.scorecards]
        self._edits = edits_of_points(self._snapshots, task.edits)
        self._instructions = [instructions_of(snapshot, task.edits) for snapshot in self._snapshots]
        self._writer = Writer(self._shop.out, {row.path: row.key for row in task.pages})
        self._renderer = self._shop.renderer()
        self._vectors = vectors_of(task.history.kind, task.vectors)

    def run(self) -> EvalDone:
        page_keys = self._page_keys()
        stale = {index for index, key in enumerate(page_keys) if not self._is_fresh(index, key)}
        unknown = {index for index, card in enumerate(self._cards) if card is None}
        last = len(self._snapshots) - 1
        compared = {last} if self._lacks_variants(page_keys) else set()
        # A report says what is new against the point before it, so that one is scored again too.
        needed = sorted(stale | unknown | compared | {index - 1 for index in stale if index})
        new = []
        before: tuple[int, Result] | None = None
        for index, result in zip(needed, self._results(needed), strict=True):
            if index in unknown:
                self._cards[index] = result.scorecard
                new.append((self._keys[index], pack(result.scorecard)))
            if index in stale:
                previous = before[1] if before and before[0] == index - 1 else None
                self._write_report(index, result, previous, page_keys[index])
            if index in compared:
                self._write_variants(index, result, page_keys[index])
            before = (index, result)
        return self._finish(tuple(new))

    def _is_fresh(self, index: int, key: str) -> bool:
        """Whether the report stands, and the whole result beside it if the report needed one."""
        slug = self._snapshots[index].slug
        if not self._writer.is_fresh(self._owner, links.report(self._info.id, slug), key):
            return False
        self._writer.is_fresh(self._owner, links.report_data(self._info.id, slug), key)
        return True

    def _page_keys(self) -> list[str]:
        """The digest of all that each report shows: snapshot, the one before it, the eval's words, the templates."""
        always = repr((self._shop.templates, self._shop.discrepancies_per_type, self._info))
        found = []
        before = ""
        for snapshot, key, edits, commit in zip(
            self._snapshots, self._keys, self._edits, self._instructions, strict=True
        ):
            here = f"{snapshot!r}{key}"
            found.append(digest(always, before, here, repr([edit.commit.sha for edit in edits]), repr(commit)))
            before = here
        return found

    def _results(self, needed: Sequence[int]) -> Iterator[Result]:
        return results(self._shop, self._scorer, [self._snapshots[index] for index in needed], self._vectors)

    def _point(self, index: int) -> Point:
        card = self._cards[index]
        assert card is not None
        return Point(self._snapshots[index], card, self._edits[index])

    def _write_report(self, index: int, result: Result, previous: Result | None, key: str) -> None:
        point = Point(self._snapshots[index], result.scorecard, self._edits[index])
        page = report_page(
            self._info,
            self._scorer.metrics,
            point,
            self._point(index - 1) if index else None,
            result,
            wrong_places(previous) if previous else None,
            self._shop.discrepancies_per_type,
            problems(self._info.id, point.snapshot, result.scorecard),
            self._instructions[index],
        )
        self._writer.write(self._owner, page.path, self._renderer.render(page), key)
        if is_bounded(result, self._shop.discrepancies_per_type):
            data = results_json(result, self._info, point.snapshot)
            self._writer.write(self._owner, links.report_data(self._info.id, point.snapshot.slug), data, key)

    def _lacks_variants(self, page_keys: Sequence[str]) -> bool:
        """Whether the newest point has variants, or may have, and the page that compares them does not stand."""
        if not page_keys or self._task.history.kind != "responses":
            return False
        card = self._cards[-1]
        if card is not None and not has_variants(self._info, card):
            return False
        return not self._writer.is_fresh(self._owner, links.variants(self._info.id), page_keys[-1])

    def _write_variants(self, index: int, result: Result, key: str) -> None:
        if has_variants(self._info, result.scorecard):
            from sitegen.pages.variants import variants_page  # few evals need the tests behind it

            page = variants_page(self._info, self._scorer.metrics, self._snapshots[index], result)
            self._writer.write(self._owner, page.path, self._renderer.render(page), key)

    def _finish(self, new: tuple[tuple[str, bytes], ...]) -> EvalDone:
        points = tuple(self._point(index) for index in range(len(self._snapshots)))
        specs = self._scorer.metrics
        series = Series(self._info, self._task.history, specs, points)
        page = trend_page(series)
        self._writer.write(self._owner, page.path, self._renderer.render(page))
        for file in series_files(series):
            self._writer.write(self._owner, file.path, file.content)
        return EvalDone(
            summary=EvalSummary(
                info=self._info,
                specs=specs[:HEADLINES],
                headlines=tuple(headline(point.snapshot, point.scorecard, specs) for point in points),
                deleted=self._task.history.deleted,
                steps=steps_of(series),
            ),
            scorecards=new,
            rows=tuple(self._writer.rows),
            problems=standing(
                [problems(self._info.id, point.snapshot, point.scorecard) for point in points],
                deleted=self._task.history.deleted,
            ),
            attributes=tuple(field.attribute for field in points[-1].scorecard.fields) if points else (),
            written=self._writer.written,
            kept=self._writer.kept,
            vectors=self._vectors.new if self._vectors else (),
        )


def edits_of_points(snapshots: Sequence[Snapshot], edits: Sequence[Edit]) -> list[tuple[Edit, ...]]:
    """For each snapshot the edits after the commit of the one before it, and up to its own commit."""
    positions = [edit.commit.position for edit in edits]
    found = []
    start = 0
    for snapshot in snapshots:
        end = max(start, bisect_right(positions, snapshot.commit.position))
        found.append(tuple(edits[start:end]))
        start = end
    return found
