"""Put short pages in the place of reports that stand in full: from the numbers of their points alone.

Nothing else of an eval changes by it, so nothing else of it is read: a large site has tens of thousands of such pages.
"""

from __future__ import annotations

from typing import NamedTuple

from sitegen.analysis.memo import Memo, PageRow
from sitegen.model.series import EvalInfo
from sitegen.model.timeline import EvalHistory, Snapshot
from sitegen.pages import links
from sitegen.pages.thinned import thinned_page
from sitegen.render.writer import Writer
from sitegen.scoring.kinds import scorer
from sitegen.stages.cards import Cards, KeyOf
from sitegen.stages.eval_task import owner
from sitegen.stages.ledger import Ledger
from sitegen.stages.thinning import first_full, room_key
from sitegen.stages.timeline import Timeline
from sitegen.stages.vectors import vectors_of
from sitegen.stages.workshop import Workshop


class ShortTask(NamedTuple):
    """The reports of one eval that make room."""

    workshop: Workshop
    info: EvalInfo
    snapshots: tuple[Snapshot, ...]
    """Of these reports."""
    scorecards: tuple[tuple[str, bytes], ...]
    """(key, body) of what the memo knows."""
    pages: tuple[PageRow, ...]
    """What stands of the eval in the output folder, these reports in full."""


class ShortDone(NamedTuple):
    """What came of it."""

    rows: tuple[PageRow, ...]
    """Every file the eval has now."""
    written: int


def short_task(
    timeline: Timeline, memo: Memo, ledger: Ledger, info: EvalInfo, history: EvalHistory, thinned: int
) -> ShortTask | None:
    """Make so many of the oldest reports short; None if any later one is short already, and has room now."""
    shop, rows = timeline.shop_for(info.id), ledger.known(owner(info.id))
    short = {row.path for row in rows if row.full}
    if any(links.report(info.id, at.slug) in short for at in history.snapshots[thinned:]):
        return None
    first = first_full(len(history.snapshots), shop.reports_kept)
    snapshots = tuple(at for at in history.snapshots[first:thinned] if links.report(info.id, at.slug) not in short)
    cards = memo.scorecards(map(KeyOf(history.kind, shop.redact), snapshots))
    return ShortTask(shop, info, snapshots, tuple(cards.items()), rows)


def write_short(task: ShortTask) -> ShortDone:
    """Write them; what stood beside them is a file of the eval no more."""
    shop, info = task.workshop, task.info
    specs = scorer(info.kind).metrics
    cards = Cards(shop, info.kind, vectors_of(info.kind, ()), task.scorecards)
    cards.fill(task.snapshots)
    writer, renderer = Writer(shop.out), shop.renderer()
    rows = {row.path: row for row in task.pages}
    for at in task.snapshots:
        page = thinned_page(info, specs, at, cards[at])
        full, beside = rows.pop(page.path), rows.pop(links.report_data(info.id, at.slug), None)
        size = full.size + (beside.size if beside else 0)
        writer.write(full.owner, page.path, renderer.render(page), room_key(full.key), full=size)
    return ShortDone((*rows.values(), *writer.rows), writer.written)
