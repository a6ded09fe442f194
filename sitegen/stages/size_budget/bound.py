"""Keeps an upper bound on the size of a site, so that most builds need not add up every file.

The bound is the last sum of all files, and every file recorded since.
"""

from __future__ import annotations

from sitegen.frozen import Frozen
from sitegen.model.problems import Problem
from sitegen.render.output_folder import listed_bytes
from sitegen.stages.site_files import SiteFiles
from sitegen.stages.timeline import Timeline


class Fitted(Frozen):
    """The result of fitting a site into its limit."""

    problems: tuple[Problem, ...] = ()
    thinned: int = 0
    """Number of shortened pages."""
    failures: tuple[Problem, ...] = ()
    """One problem for each eval or instruction file whose pages sitegen failed to make again."""


def surely_fits(timeline: Timeline, site_files: SiteFiles, once: int) -> bool:
    """Decide whether all reports are full and the upper bound is within the limit."""
    complete = timeline.update.complete
    earlier = 0 if complete else site_files.bound
    if earlier is None or any(row.full for row in site_files.recorded()):
        return False
    site_files.bound = earlier + sum(row.size + listed_bytes(row.path) for row in site_files.recorded())
    return site_files.bound + once <= timeline.config.limits.site_bytes
