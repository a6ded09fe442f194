"""Keep a site within its budget of bytes: the oldest full reports make room, and no number is lost.

What is left in full is a function of the site alone, never of what an earlier build left: it is decided by what all
reports *would* have in full, which the memo remembers of those that are short. So that most builds need not add up
every file, a bound is kept: what all files had when they were last added up, and whatever was recorded since.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from sitegen.analysis.memo import Memo, PageRow
from sitegen.config import Limits
from sitegen.model.problems import Problem
from sitegen.model.series import EvalSummary
from sitegen.pages import links
from sitegen.stages.evals import Evals, write_again
from sitegen.stages.ledger import Ledger
from sitegen.stages.thinning import first_full
from sitegen.stages.timeline import Timeline

SHORT: Final = 6_000
"""Bytes that a short page may have, counted for each: what it has in truth is known only once it is written."""
STEPS: Final = 400
"""Room is made by this part of the budget at a time: most commits then need as much as those before them, no more."""
_REPORTS: Final = "reports"
_MEGA: Final = 1_000_000


class Fitted(NamedTuple):
    """What came of it."""

    problems: tuple[Problem, ...] = ()
    thinned: int = 0
    """Reports that make room."""


class Report(NamedTuple):
    """A report that is full, or would be if there were room. They make room in the order of these values."""

    position: int
    """Of its commit."""
    eval_id: str
    point: int
    """Its index in the series."""
    size: int
    """In full, with the data beside it."""
    short: bool
    """It makes room already."""


class _Share(NamedTuple):
    name: str
    files: int
    size: int


def fit(timeline: Timeline, evals: Evals, memo: Memo, ledger: Ledger, owner: str, once: int) -> Fitted:
    """Put short pages in the place of as many of the oldest reports as the budget asks for, and of no others.

    ``owner``: of the few files that are there once and not written yet; ``once``: what they will have.
    """
    limits = timeline.config.limits
    if _surely_fits(timeline, ledger, once):
        return Fitted()
    rows = _rows(timeline, ledger, owner)
    ledger.bound = sum(map(_full, rows))
    too_much = ledger.bound + once - limits.site_bytes
    reports = _reports(limits, evals.summaries, rows)
    thinned = oldest(reports, _stepped(too_much, limits.site_bytes))
    changes = _changes(reports, thinned)
    write_again(timeline, memo, ledger, changes)
    if too_much <= 0:
        return Fitted()
    size = sum(row.size for row in (_rows(timeline, ledger, owner) if changes else rows)) + once
    shares = _shares(evals.summaries, rows, once)
    return Fitted((_problem(limits, shares, reports, len(thinned), size),), len(thinned))


def oldest(reports: Sequence[Report], too_much: int) -> frozenset[Report]:
    """The first reports that make so much room, in bytes; all of them if that is not enough."""
    found = []
    for report in sorted(reports):
        if too_much <= 0:
            break
        found.append(report)
        too_much -= max(0, report.size - SHORT)
    return frozenset(found)


def _stepped(too_much: int, budget: int) -> int:
    """Room to make for so many bytes, in whole steps; not hysteresis, which would depend on what there was before."""
    step = max(1, budget // STEPS)
    return -(-too_much // step) * step


def _surely_fits(timeline: Timeline, ledger: Ledger, once: int) -> bool:
    """Whether the bound tells that every report has room, and all stand in full."""
    complete = timeline.update.complete
    earlier = 0 if complete else ledger.bound
    if earlier is None:
        return False
    ledger.bound = earlier + sum(map(_full, ledger.recorded()))
    fits = ledger.bound + once <= timeline.config.limits.site_bytes
    return fits and not any(row.full for row in ledger.recorded())


def _full(row: PageRow) -> int:
    """Bytes of a file, were it not a short page."""
    return row.full or row.size


def _rows(timeline: Timeline, ledger: Ledger, owner: str) -> list[PageRow]:
    """Every file but those that are there once."""
    others = () if timeline.update.complete else ledger.others()
    return [row for row in (*ledger.recorded(), *others) if row.owner != owner]


def _reports(limits: Limits, evals: Sequence[EvalSummary], rows: Iterable[PageRow]) -> list[Report]:
    """Of all evals; those that are short by ``reports_kept`` have no say."""
    by_path = {row.path: row for row in rows}
    found = []
    for one in evals:
        for index in range(first_full(len(one.headlines), limits.reports_kept), len(one.headlines)):
            at = one.headlines[index]
            page = by_path[links.report(one.info.id, at.slug)]
            data = by_path.get(links.report_data(one.info.id, at.slug))
            size = _full(page) + (data.size if data else 0)
            found.append(Report(at.commit_position, one.info.id, index, size, bool(page.full)))
    return found


def _changes(reports: Sequence[Report], thinned: frozenset[Report]) -> dict[str, int]:
    """Of the evals whose reports do not stand as they are to: how many of the oldest make room."""
    wrong = {report.eval_id for report in reports if report.short != (report in thinned)}
    counts = dict.fromkeys(sorted(wrong), 0)
    for report in thinned:
        if report.eval_id in counts:
            counts[report.eval_id] = max(counts[report.eval_id], report.point + 1)
    return counts


def _shares(evals: Sequence[EvalSummary], rows: Iterable[PageRow], once: int) -> list[_Share]:
    """What takes the space, were all reports full; most first."""
    reports = {
        address(one.info.id, each.slug)
        for one in evals
        for each in one.headlines
        for address in (links.report, links.report_data)
    }
    sizes: dict[str, list[int]] = defaultdict(list)
    for row in rows:
        sizes[_REPORTS if row.path in reports else _section(row.path)].append(_full(row))
    shares = [_Share(name, len(found), sum(found)) for name, found in sizes.items()]
    return sorted((*shares, _Share("pages that are there once", 0, once)), key=lambda share: (-share.size, share.name))


def _section(path: str) -> str:
    folder = path.partition("/")[0]
    if folder == "evals":
        return "pages of fields" if "/fields/" in path else "trends and comparisons"
    return {"instructions": "edits of instructions", "search": "search", "data": "data"}.get(folder, folder)


def _problem(limits: Limits, shares: Sequence[_Share], reports: Sequence[Report], thinned: int, size: int) -> Problem:
    whole = sum(share.size for share in shares)
    listed = ", ".join(f"{share.name} {_mega(share.size)}{_files(share.files)}" for share in shares)
    said = (
        f"In full the site would have {_mega(whole)}, more than the {_mega(limits.site_bytes)} of site_bytes: {listed}."
    )
    made = f"the {thinned:,} oldest of {len(reports):,} full reports became short pages without losing a number"
    if size > limits.site_bytes:
        done = f"Though {made}, it has {_mega(size)}."
        fix = "Publish fewer evals"
    else:
        done = f"So {made}, and it has {_mega(size)}."
        kept = _kept(limits, reports, whole)
        fix = f"If that is fine, reports_kept = {kept} under [limits] says so: the newest of each eval stay full"
    return Problem(
        "warning",
        f"{said} {done}",
        f"{fix}. Or raise site_bytes where the site is not on GitHub Pages.",
        "sitegen.toml",
    )


def _files(count: int) -> str:
    return f" ({count:,} files)" if count else ""


def _kept(limits: Limits, reports: Sequence[Report], whole: int) -> int:
    """How many full reports of each eval there is room for, the newest ones."""
    last: dict[str, int] = {}
    for report in reports:
        last[report.eval_id] = max(report.point, last.get(report.eval_id, 0))
    room: dict[int, int] = defaultdict(int)
    """How many newer ones its eval has -> what all such reports leave."""
    for report in reports:
        room[last[report.eval_id] - report.point] += max(0, report.size - SHORT)
    kept = len(room)
    while kept and whole > limits.site_bytes:
        kept -= 1
        whole -= room[kept]
    return kept


def _mega(size: int) -> str:
    return f"{size / _MEGA:,.1f} MB"
