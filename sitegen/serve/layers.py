"""The watched site in two layers: the commit's, and over it what the uncommitted state makes otherwise.

The lower layer is an ordinary site, brought up to date by an ordinary build. The upper one is that build's next step as
if the uncommitted state were one more commit; it is computed anew each time, from the same state of the memo, and
forgotten. So an edit costs what one more commit costs, and the two layers together are, byte for byte, what
``sitegen build --worktree`` writes.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from sitegen.analysis.memo import Memo
from sitegen.build import Progress, build, publish, template_digest
from sitegen.project import Options, open_project
from sitegen.render.output_folder import claimed
from sitegen.stages.cached_kinds import SCORECARDS
from sitegen.stages.site_files import Overlay, Site

FOLDER = "watch"
"""Below the folder of the memo: both layers, and a memo of their own, which no other build then moves."""


class Layers(NamedTuple):
    """A watched site."""

    folders: tuple[Path, ...] = ()
    """The first that has a file is asked for it."""
    gone: frozenset[str] = frozenset()
    """Paths of the lower layer that the site does not have."""
    site: Site | None = None
    """What the site holds; None before the first build that ended well."""


def build_layers(options: Options, progress: Progress | None = None) -> Layers:
    """Bring both layers up to date. ``options`` names the project; folders are chosen here. Raises as ``build``.

    ``progress`` is told of the lower one, which alone may take long.
    """
    found = open_project(options, "")
    folder = found.cache / FOLDER
    lower = options._replace(out=folder / "committed", cache=folder, worktree=False)
    upper = lower._replace(out=folder / "uncommitted", worktree=True)
    build(lower, progress)
    templates = template_digest()
    below, project = open_project(lower, templates), open_project(upper, templates)
    with (
        claimed(below.out, force=False) as claim_below,
        claimed(project.out, force=False) as claim,
        Memo.open(project.cache) as memo,
        memo.held(),
        memo.tentative(lasting=[SCORECARDS.name]),
    ):
        ledger = Overlay(below, claim_below, claim, memo)
        site = publish(project, memo, ledger, Progress())
    return Layers((project.out, below.out), ledger.gone, site)
