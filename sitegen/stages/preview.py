"""One report of the work tree, to be opened in a browser: the page that a build would make, in the memo's folder.

There is no site around it, so links to what is not there become text.
"""

from __future__ import annotations

from pathlib import Path

from sitegen import __version__
from sitegen.history.cache_folder import begin, cache_folder
from sitegen.model.commits import WORKTREE, Commit
from sitegen.model.series import EvalInfo, Point
from sitegen.model.site import SiteInfo
from sitegen.model.timeline import Blob, Snapshot
from sitegen.pages.methods import methods_page
from sitegen.pages.report import Past, report_page
from sitegen.project import own_templates
from sitegen.render.environment import Renderer, template_folders
from sitegen.render.unlinked import without_links
from sitegen.render.writer import Writer
from sitegen.scoring.kinds import scorer
from sitegen.verifying import Bench, Verified


def write_preview(bench: Bench, verified: Verified) -> Path:
    """Write the report with what it needs, without bounds. Returns the page.

    Raises ConfigurationError if a template of the project is wrong.
    """
    entry, kind, result = verified.place.entry, verified.place.kind, verified.result
    info = EvalInfo(
        id=entry.id,
        name=entry.name or entry.id,
        description=entry.description,
        kind=kind,
        thresholds=entry.thresholds,
        metadata=entry.metadata,
        nouns=scorer(kind).nouns,
    )
    label = verified.outputs[0].parent.name if verified.iteration else verified.outputs[0].name
    inside = (path.relative_to(bench.root) for path in verified.outputs if path.is_relative_to(bench.root))
    snapshot = Snapshot(
        iteration=verified.iteration or 0,
        label=label,
        slug="report",
        commit=Commit(WORKTREE, 0, "", "", "Work tree"),
        cause=("outputs",),
        outputs=tuple(Blob(str(path), "") for path in inside),
        ground_truth=None,
        mapping=None,
        schema=None,
        settings="{}",
    )
    every = len(result.judgements)
    alone = Past((snapshot,), lambda judgement: 0)
    page = report_page(info, scorer(kind).metrics, Point(snapshot, result.scorecard, ()), None, result, alone, every)
    cache = cache_folder(None, bench.root)
    begin(cache)
    folder = cache / "preview"
    site = SiteInfo(bench.config.title or bench.root.name, __version__)
    renderer = Renderer(template_folders(own_templates(bench.root)), site)
    assets, pages = renderer.assets(), (page, methods_page(((kind, scorer(kind).metrics),)))
    there = frozenset((*(one.path for one in pages), *(file.path for file in assets)))
    writer = Writer(folder, listed=False)
    for one in pages:
        writer.write("", one.path, without_links(renderer.render(one), one.path, there))
    for file in assets:
        writer.write("", file.path, file.content)
    return folder / page.path
