"""Builds the watched site in two layers: the site of the commit, and above it the files that uncommitted work changes.

The lower layer is an ordinary site, kept up to date by an ordinary build. The upper layer is the next step of that
build, as if the uncommitted state were one more commit. It is computed again each time from the same state of the memo,
which then forgets it. So an edit costs as much as one more commit, and the two layers together are byte for byte what
``sitegen build --worktree`` writes.
"""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from sitegen.analysis.memo import Memo
from sitegen.build import Progress, build, publish, template_digest
from sitegen.frozen import Frozen
from sitegen.project import Options, open_project
from sitegen.render.output_folder import claimed
from sitegen.stages.cached_kinds import SCORECARDS
from sitegen.stages.site_files import LayerFiles, Site

FOLDER = "watch"
"""Folder below that of the memo. It holds both layers, and a memo of their own that no other build changes."""


class Layers(Frozen):
    """The folders of a watched site."""

    folders: tuple[Path, ...] = ()
    """Upper layer first; the first folder that has a file serves it."""
    gone: frozenset[str] = frozenset()
    """Paths of the lower layer that the site no longer has."""
    site: Site | None = None
    """None before the first successful build."""


def build_layers(options: Options, progress: Progress | None = None) -> Layers:
    """Bring both layers of the project in *options* up to date, in folders below its cache. Raises like ``build``.

    *progress* follows the lower layer, the only one that can take long.
    """
    opened = open_project(options, "")
    folder = opened.cache / FOLDER
    lower = replace(options, out=folder / "committed", cache=folder, worktree=False)
    upper = replace(lower, out=folder / "uncommitted", worktree=True)
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
        site_files = LayerFiles(below, claim_below, claim, memo)
        site = publish(project, memo, site_files, Progress())
    return Layers((project.out, below.out), site_files.gone, site)
