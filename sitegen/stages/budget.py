"""Whether a site is larger than it may be, and what takes the space.

To ask the disk for the size of every file would cost most builds more than their pages. So a bound is kept: what all
files had when they were last counted, and whatever was recorded since. Only when it passes the limit are all of them
counted again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Final, NamedTuple

from sitegen.config import Limits
from sitegen.model.problems import Problem
from sitegen.model.series import EvalSummary
from sitegen.pages import links
from sitegen.stages.ledger import Ledger

_REPORTS: Final = "reports"
_SHORT: Final = 5_000
"""Bytes of the page in the place of a report, about."""
_MEGA: Final = 1_000_000


class _Share(NamedTuple):
    name: str
    files: int
    size: int
    """In bytes."""


def over_budget(
    limits: Limits, evals: Sequence[EvalSummary], ledger: Ledger, later: str, *, complete: bool
) -> tuple[Problem, ...]:
    """The problem of a site that is too large; none if it is not.

    ``later``: the owner of the few files that are there once and not written yet; they do not count. ``complete``: all
    others were recorded by this build.
    """
    earlier = 0 if complete else ledger.bound
    paths = ledger.recorded()
    if earlier is None or (bound := earlier + sum(map(ledger.size, paths))) > limits.site_bytes:
        if not complete:
            paths |= {row.path for row in ledger.others() if row.owner != later}
        shares = _shares(ledger, evals, paths)
        bound = sum(share.size for share in shares)
        if bound > limits.site_bytes:
            ledger.bound = bound
            return (_problem(limits, shares, bound, max(len(one.headlines) for one in evals)),)
    ledger.bound = bound
    return ()


def _shares(ledger: Ledger, evals: Sequence[EvalSummary], paths: frozenset[str]) -> list[_Share]:
    """What takes the space, most first."""
    reports = {
        address(one.info.id, each.slug)
        for one in evals
        for each in one.headlines
        for address in (links.report, links.report_data)
    }
    sizes: dict[str, list[int]] = defaultdict(list)
    for path in paths:
        sizes[_REPORTS if path in reports else _section(path)].append(ledger.size(path))
    shares = [_Share(name, len(found), sum(found)) for name, found in sizes.items()]
    return sorted(shares, key=lambda share: (-share.size, share.name))


def _section(path: str) -> str:
    folder = path.partition("/")[0]
    if folder == "evals":
        return "pages of fields" if "/fields/" in path else "trends and comparisons"
    return {"instructions": "edits of instructions", "search": "search", "data": "data"}.get(folder, folder)


def _problem(limits: Limits, shares: Sequence[_Share], size: int, most: int) -> Problem:
    listed = ", ".join(f"{share.name} {_mega(share.size)} ({share.files:,} files)" for share in shares)
    kept = most if limits.reports_kept is None else min(limits.reports_kept, most)
    fewer = _fewer(limits, shares, size, kept)
    if fewer < 0:
        fix = "Short reports would not be enough: publish fewer evals"
    else:
        fix = (
            f"Set reports_kept = {fewer} under [limits]: the oldest reports become short pages, and every number stays"
        )
    return Problem(
        "warning",
        f"The site has {_mega(size)}, more than the {_mega(limits.site_bytes)} of site_bytes: {listed}.",
        f"{fix}. Or raise site_bytes where the site is not on GitHub Pages.",
        "sitegen.toml",
    )


def _fewer(limits: Limits, shares: Sequence[_Share], size: int, kept: int) -> int:
    """About how many of the reports that are kept now there is room for, short pages in the place of the others.

    Negative if there is not even room for the short pages.
    """
    files, reports = next(((share.files, share.size) for share in shares if share.name == _REPORTS), (0, 0))
    short = files * _SHORT
    room = limits.site_bytes - (size - reports) - short
    return kept * room // (reports - short) if room >= 0 and short < reports else -1


def _mega(size: int) -> str:
    return f"{size / _MEGA:,.1f} MB"
