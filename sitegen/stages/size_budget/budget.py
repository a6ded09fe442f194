"""Keep a site within its budget of bytes: the oldest full reports make room, and no number is lost.

What is left in full is a function of the site alone, never of what an earlier build left: it is decided by what all
reports *would* have in full, which the memo remembers of those that are short. So that most builds need not add up
every file, a bound is kept: what all files had when they were last added up, and whatever was recorded since.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from itertools import zip_longest
from operator import itemgetter
from typing import Final, NamedTuple

from sitegen.analysis.memo import Memo
from sitegen.config import BuildLimits
from sitegen.model.problems import Problem
from sitegen.stages.engine import Pool
from sitegen.stages.evals import Evals, write_again
from sitegen.stages.site_files import Ledger
from sitegen.stages.size_budget.sizes import ReportSizes, SizeGroup, Sizes, size_in_full
from sitegen.stages.timeline import Timeline

SHORT: Final = 6_000
"""Bytes that a short page may have, counted for each: what it has in truth is known only once it is written."""
STEPS: Final = 400
"""Room is made by this part of the budget at a time: most commits then need as much as those before them, no more."""
_MEGA: Final = 1_000_000


class Fitted(NamedTuple):
    """What came of it."""

    problems: tuple[Problem, ...] = ()
    thinned: int = 0
    """Reports that make room."""
    failures: tuple[Problem, ...] = ()
    """The evals whose reports could not be made again."""


def fit(timeline: Timeline, evals: Evals, memo: Memo, ledger: Ledger, pool: Pool, owner: str, once: int) -> Fitted:
    """Put short pages in the place of as many of the oldest reports as the budget asks for, and of no others.

    ``owner``: of the few files that are there once and not written yet; ``once``: what they will have.
    """
    limits = timeline.config.limits
    if _surely_fits(timeline, ledger, once):
        memo.forget_sizes(timeline.project.site)
        return Fitted()
    sizes = Sizes(timeline, evals, memo, ledger, owner)
    ledger.bound = sum(section.full for section in sizes.sections().values())
    too_much = ledger.bound + once - limits.site_bytes
    thinned = oldest(sizes.reports(), _stepped(too_much, limits.site_bytes))
    changes = _changes(sizes.reports(), thinned)
    failures = write_again(timeline, memo, ledger, pool, changes)
    sizes.write_again(changes)
    if too_much <= 0:
        return Fitted(failures=failures)
    count = sum(thinned.values())
    return Fitted((_problem(limits, sizes.reports().values(), sizes.sections(), once, count),), count, failures)


def oldest(evals: Mapping[str, ReportSizes], too_much: int) -> dict[str, int]:
    """Of each eval, how many of its reports make room, oldest first, so that there is so much, in bytes.

    By commit, then by eval, then by point; all reports if they are not enough.
    """
    order = [
        (position, eval_id, size)
        for eval_id, reports in sorted(evals.items())
        for position, size in zip(reports.positions, reports.sizes, strict=True)
    ]
    order.sort(key=itemgetter(0))
    found = dict.fromkeys(evals, 0)
    for _, eval_id, size in order:
        if too_much <= 0:
            break
        found[eval_id] += 1
        too_much -= max(0, size - SHORT)
    return found


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
    ledger.bound = earlier + sum(map(size_in_full, ledger.recorded()))
    fits = ledger.bound + once <= timeline.config.limits.site_bytes
    return fits and not any(row.full for row in ledger.recorded())


def _changes(evals: Mapping[str, ReportSizes], thinned: Mapping[str, int]) -> dict[str, int]:
    """Of the evals whose reports do not stand as they are to: how many of their oldest points make room."""
    return {
        eval_id: reports.first + count if count else 0
        for eval_id, reports in sorted(evals.items())
        if not all(reports.short[: (count := thinned[eval_id])]) or any(reports.short[count:])
    }


def _problem(
    limits: BuildLimits, evals: Collection[ReportSizes], sections: Mapping[str, SizeGroup], once: int, thinned: int
) -> Problem:
    shares = [(section.full, name, section.files) for name, section in sections.items()]
    shares.append((once, "pages that are there once", 0))
    shares.sort(key=lambda share: (-share[0], share[1]))
    whole = sum(full for full, _, _ in shares)
    size = once + sum(section.size for section in sections.values())
    listed = ", ".join(f"{name} {_mega(full)}{_files(files)}" for full, name, files in shares)
    said = (
        f"In full the site would have {_mega(whole)}, more than the {_mega(limits.site_bytes)} of site_bytes: {listed}."
    )
    reports = sum(len(one.sizes) for one in evals)
    made = f"the {thinned:,} oldest of {reports:,} full reports became short pages without losing a number"
    if size > limits.site_bytes:
        done = f"Though {made}, it has {_mega(size)}."
        fix = "Publish fewer evals"
    else:
        done = f"So {made}, and it has {_mega(size)}."
        kept = _kept(limits, evals, whole)
        fix = f"If that is fine, reports_kept = {kept} under [limits] says so: the newest of each eval stay full"
    return Problem(
        "warning",
        f"{said} {done}",
        f"{fix}. Or raise site_bytes where the site is not on GitHub Pages.",
        "sitegen.toml",
    )


def _files(count: int) -> str:
    return f" ({count:,} files)" if count else ""


def _kept(limits: BuildLimits, evals: Iterable[ReportSizes], whole: int) -> int:
    """How many full reports of each eval there is room for, the newest ones."""
    newest_first = zip_longest(*(reversed(one.sizes) for one in evals), fillvalue=0)
    room = [sum(size - SHORT for size in sizes if size > SHORT) for sizes in newest_first]
    kept = len(room)
    while kept and whole > limits.site_bytes:
        kept -= 1
        whole -= room[kept]
    return kept


def _mega(size: int) -> str:
    return f"{size / _MEGA:,.1f} MB"
