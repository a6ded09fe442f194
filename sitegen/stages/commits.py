"""Fourth stage: the page of every new commit that did anything to what sitegen reads."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import Final

from sitegen.history.layout import Layout, Watched
from sitegen.model.commits import Change
from sitegen.model.series import EvalSummary
from sitegen.model.timeline import Cause, CommitRecord
from sitegen.pages import links, touched
from sitegen.pages.commit import EvalMove, commit_page
from sitegen.pages.touched import Touched
from sitegen.render.writer import digest
from sitegen.stages.evals import Evals
from sitegen.stages.ledger import Ledger
from sitegen.stages.timeline import Timeline

OWNER: Final = "commits"

_ROLES: Final[dict[str, touched.Role]] = {
    "ground_truth": "ground_truth",
    "overwritten": "output",
    "output": "output",
    "recorded": "recorded",
    "run": "run",
    "stranger": "other",
}
_ORDER: Final[tuple[Cause, ...]] = ("outputs", "ground_truth", "mapping", "schema", "settings")


def write_commits(timeline: Timeline, evals: Evals, ledger: Ledger) -> None:
    """Write the pages of the new commits; older ones never change."""
    shop, update = timeline.shop, timeline.update
    renderer = shop.renderer()
    writer = ledger.writer(OWNER)
    layout = Layout(timeline.config, timeline.manifest, Watched())
    summaries = {summary.info.id: summary for summary in evals.summaries}
    causes = {
        (one.history.id, snapshot.slug): snapshot.cause
        for one in update.evals
        for snapshot in one.history.snapshots[one.first_new :]
    }
    files = {edit.path: file.path for file in timeline.instructions for edit in file.edits}
    for record in update.records:
        moves = _moves(record, summaries, causes)
        key = digest(repr((shop.templates, record, moves, [files.get(path) for path in record.edits])))
        if writer.is_fresh(OWNER, links.commit(record.commit.sha), key):
            continue
        changed = [_touched(layout, change) for change in record.changes]
        page = commit_page(record, moves, changed, files)
        writer.write(OWNER, page.path, renderer.render(page), key)
    ledger.record(OWNER, writer.rows, writer.written, writer.kept, whole=update.complete)


def _moves(
    record: CommitRecord,
    summaries: dict[str, EvalSummary],
    causes: dict[tuple[str, str], tuple[Cause, ...]],
) -> tuple[EvalMove, ...]:
    """What happened to each eval that the commit brought points of."""
    found = []
    for eval_id in sorted({eval_id for eval_id, _ in record.snapshots}):
        summary = summaries[eval_id]
        positions = [headline.commit_position for headline in summary.headlines]
        start = bisect_left(positions, record.commit.position)
        end = bisect_right(positions, record.commit.position)
        why = {cause for one, slug in record.snapshots if one == eval_id for cause in causes[one, slug]}
        found.append(
            EvalMove(
                summary.info,
                summary.specs,
                summary.headlines[start - 1] if start else None,
                summary.headlines[start:end],
                tuple(cause for cause in _ORDER if cause in why),
            )
        )
    return tuple(found)


def _touched(layout: Layout, change: Change) -> Touched:
    place = layout.place(change.path)
    if place is not None:
        return Touched(change, _ROLES[place.role], place.eval_id, place.iteration)
    if layout.is_instruction(change.path):
        return Touched(change, "instruction")
    rules = layout.is_shared(change.path) or change.path == layout.manifest_path
    return Touched(change, "rules" if rules else "other")
