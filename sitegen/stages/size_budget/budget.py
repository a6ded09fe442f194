"""Keep a site within its budget of bytes: the oldest full reports make room, and no number is lost.

Full are the newest reports, over all evals, that fit beside everything else, so that only their sizes decide: an older
report need not be rendered. What is full is a function of the site alone, never of what an earlier build left or of
what was guessed. So that most builds need not add up every file, a bound is kept: what all files had when they were
last added up, and whatever was recorded since.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain, zip_longest
from math import ceil
from operator import itemgetter
from typing import Final, NamedTuple

from sitegen.analysis.memo import Memo
from sitegen.config import BuildLimits
from sitegen.model.problems import Problem
from sitegen.stages.engine import Pool
from sitegen.stages.evals import Evals, write_again
from sitegen.stages.site_files import Ledger
from sitegen.stages.size_budget.sizes import REPORTS, ReportSizes, Sizes
from sitegen.stages.size_budget.thinning import SHORT
from sitegen.stages.timeline import Timeline

STEPS: Final = 8
"""Binary digits to which the number of short reports is rounded up: most commits then need as many as those before."""
_MEGA: Final = 1_000_000


class Fitted(NamedTuple):
    """What came of it."""

    problems: tuple[Problem, ...] = ()
    thinned: int = 0
    """Reports that make room."""
    failures: tuple[Problem, ...] = ()
    """The evals whose reports could not be made again."""


class Division(NamedTuple):
    """Which reports make room."""

    thinned: dict[str, int]
    """Of each eval, how many of its reports, oldest first."""
    certain: bool = True
    """The sizes of rendered reports decide it; else some have to be rendered that are not, and measured."""


def fit(timeline: Timeline, evals: Evals, memo: Memo, ledger: Ledger, pool: Pool, owner: str, once: int) -> Fitted:
    """Put short pages in the place of as many of the oldest reports as the budget asks for, and of no others.

    ``owner``: of the few files that are there once and not written yet; ``once``: what they will have.
    """
    limits = timeline.config.limits
    if _surely_fits(timeline, ledger, once):
        memo.forget_sizes(timeline.project.site)
        return Fitted()
    sizes = Sizes(timeline, evals, memo, ledger, owner)
    failures: tuple[Problem, ...] = ()
    certain = False
    while not certain and not failures:
        thinned, certain = divide(sizes.reports(), limits.site_bytes - once - sizes.besides())
        changes = _changes(sizes.reports(), thinned)
        failures = write_again(timeline, memo, ledger, pool, changes)
        sizes.write_again(changes)
    count = sum(thinned.values())
    ledger.bound = None if count else sum(section.size for section in sizes.sections().values())
    if not count:
        return Fitted(failures=failures)
    return Fitted((_too_large(limits, sizes, once, count),), count, failures)


def divide(evals: Mapping[str, ReportSizes], room: int) -> Division:
    """Let the newest reports be full that have room together, in bytes, and the others make room.

    By commit, then by eval, then by point. Where the next older report was never rendered, as many more are taken for
    full as the mean of those that were would let fit.
    """
    order = [
        (position, eval_id, size)
        for eval_id, reports in sorted(evals.items())
        for position, size in zip(reports.positions, reports.sizes, strict=True)
    ]
    order.sort(key=itemgetter(0))
    left = room - SHORT * len(order)
    full, gained, certain = 0, 0, True
    for _, _, size in reversed(order):
        if size is None:
            certain = False
            full += ceil(max(0, left) * full / gained) + 1 if gained else 1
            break
        gained += max(0, size - SHORT)
        left -= max(0, size - SHORT)
        if left < 0:
            break
        full += 1
    thinned = max(0, len(order) - full)
    found = dict.fromkeys(evals, 0)
    for _, eval_id, _ in order[: _stepped(thinned, len(order)) if certain else thinned]:
        found[eval_id] += 1
    return Division(found, certain)


def _stepped(count: int, most: int) -> int:
    """Rounded up to ``STEPS`` binary digits; not hysteresis, which would depend on what there was before."""
    step = 1 << max(0, count.bit_length() - STEPS)
    return min(most, -(-count // step) * step)


def _surely_fits(timeline: Timeline, ledger: Ledger, once: int) -> bool:
    """Whether the bound tells that every report has room, and all stand in full."""
    complete = timeline.update.complete
    earlier = 0 if complete else ledger.bound
    if earlier is None or any(row.full for row in ledger.recorded()):
        return False
    ledger.bound = earlier + sum(row.size for row in ledger.recorded())
    return ledger.bound + once <= timeline.config.limits.site_bytes


def _changes(evals: Mapping[str, ReportSizes], thinned: Mapping[str, int]) -> dict[str, int]:
    """Of the evals whose reports do not stand as they are to: how many of their oldest points make room."""
    return {
        eval_id: reports.first + count if count else 0
        for eval_id, reports in sorted(evals.items())
        if not all(reports.short[: (count := thinned[eval_id])]) or any(reports.short[count:])
    }


def _too_large(limits: BuildLimits, sizes: Sizes, once: int, thinned: int) -> Problem:
    evals, sections = sizes.reports(), sizes.sections()
    size = once + sum(section.size for section in sections.values())
    mean, largest = _mean_and_largest(evals)
    standing = sum(sum(one.standing) for one in evals.values())
    reports = sections[REPORTS]
    shares = [(section.size, name, section.files) for name, section in sections.items() if name != REPORTS]
    in_full = sum(map(sum, _sizes_in_full(evals, mean)))
    shares.append((reports.size - standing + in_full, REPORTS, reports.files))
    shares.append((once, "pages that are there once", 0))
    shares.sort(key=lambda share: (-share[0], share[1]))
    listed = ", ".join(f"{name} {_mega(share)}{_file_count(files)}" for share, name, files in shares)
    cause = (
        f"In full the site would have about {_mega(sum(share for share, _, _ in shares))}, more than the "
        f"{_mega(limits.site_bytes)} of site_bytes: {listed}."
    )
    count = sum(len(one.sizes) for one in evals.values())
    shortened = f"the {thinned:,} oldest of {count:,} full reports became short pages without losing a number"
    if size > limits.site_bytes:
        outcome = f"Though {shortened}, it has {_mega(size)}."
        fix = "Publish fewer evals"
    else:
        outcome = f"So {shortened}, and it has {_mega(size)}."
        kept = _kept(limits.site_bytes - once - sizes.besides(), _sizes_in_full(evals, largest))
        fix = f"If that is fine, reports_kept = {kept} under [limits] says so: the newest of each eval stay full"
    return Problem(
        severity="warning",
        message=f"{cause} {outcome}",
        fix=f"{fix}. Or raise site_bytes where the site is not on GitHub Pages.",
        path="sitegen.toml",
    )


def _mean_and_largest(evals: Mapping[str, ReportSizes]) -> tuple[int, int]:
    """Of the sizes of the reports that are full, or else of the newest one, which was rendered to see that it is not.

    Of those that make room it is no matter of the site which of them were ever rendered.
    """
    columns = (zip(one.sizes, one.short, strict=True) for _, one in sorted(evals.items()))
    full = [size for size, short in chain.from_iterable(columns) if size and not short]
    if not full:
        *_, newest = sorted(evals.items(), key=lambda item: (item[1].positions[-1], item[0]))
        full = [newest[1].sizes[-1] or SHORT]
    return sum(full) // len(full), max(full)


def _sizes_in_full(evals: Mapping[str, ReportSizes], otherwise: int) -> list[list[int]]:
    """Of each eval the sizes of its reports, oldest first; those that make room are taken for ``otherwise`` large."""
    return [
        [otherwise if short or size is None else size for size, short in zip(one.sizes, one.short, strict=True)]
        for one in evals.values()
    ]


def _kept(room: int, evals: Iterable[list[int]]) -> int:
    """How many full reports of each eval there is room for, in bytes, the newest ones."""
    newest_first = [*zip_longest(*(reversed(sizes) for sizes in evals))]
    room -= SHORT * sum(size is not None for sizes in newest_first for size in sizes)
    for kept, sizes in enumerate(newest_first):
        room -= sum(max(0, size - SHORT) for size in sizes if size is not None)
        if room < 0:
            return kept
    return len(newest_first)


def _file_count(count: int) -> str:
    return f" ({count:,} files)" if count else ""


def _mega(size: int) -> str:
    return f"{size / _MEGA:,.1f} MB"
