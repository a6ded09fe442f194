"""Writes one report of the work tree: the page that a build would make, in the memo's folder or as one file.

There is no site around the page, so links to missing files become text. One file has inline styles and no scripts.
"""

import posixpath
import re
from collections.abc import Collection
from html import unescape
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from msgspec.structs import replace

from sitegen import __version__
from sitegen.analysis.noise.samples import interval_of
from sitegen.analysis.slices import axes_of
from sitegen.data_files.project_files import named_place
from sitegen.engine.worker_context import Renderer
from sitegen.engine.writer import Writer
from sitegen.history.cache_folder import begin_cache_folder, cache_folder
from sitegen.model.commits import WORKTREE, Commit
from sitegen.model.series import EvalInfo, Point
from sitegen.model.site import Page, SiteInfo
from sitegen.model.timeline import Snapshot
from sitegen.pages import links
from sitegen.pages.other_pages import methods_page
from sitegen.pages.report.grid import CaseGrid
from sitegen.pages.report.page import ReportView
from sitegen.project import own_templates
from sitegen.questions.verify import Verified
from sitegen.questions.work_tree import WorktreeProject
from sitegen.scoring.kinds import nouns_of, scorer, specs_of_results
from sitegen.scoring.results_file import Metadata

_SCRIPT: Final = re.compile(r"<script\b.*?</script>\n?", re.DOTALL)
_HEADER: Final = re.compile(r'<a class="skip"[^>]*>.*?</a>\n?|<header\b.*?</header>\n?', re.DOTALL)
_POLICY: Final = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')
_OURS: Final = (
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
    "img-src data:; base-uri 'none'; form-action 'none'\">"
)

_LINK: Final = re.compile(r"<a\b([^>]*)>(.*?)</a>", re.DOTALL)
"""Links are not nested, and no attribute holds a ``>``: templates escape it."""

_HREF: Final = re.compile(r"""\shref=(?:"([^"]*)"|'([^']*)'|([^\s>]*))""")
_HEAD_LINK: Final = re.compile(r"<link\b([^>]*)>\n?")
_SEARCH: Final = re.compile(r"<button\b[^>]*\sdata-search\b.*?</button>\n?", re.DOTALL)
_CLASS: Final = re.compile(r"""\sclass=["'][^"']*["']""")
_BUTTON: Final = re.compile(r"""\sclass=["']([^"']*\s)?btn\b""")
_MAIN: Final = re.compile(r"<main\b.*</main>", re.DOTALL)


def without_links(page: bytes, path: str, reachable: Collection[str]) -> bytes:
    """Remove the links of the page at ``path`` to any file that is not ``reachable``.

    In the main part, links to other files become text, and buttons are removed; around it, navigation links are
    removed.
    """
    folder = posixpath.dirname(path)

    def leads(attributes: str) -> bool:
        href = _HREF.search(attributes)
        parts = urlsplit(unescape("".join(part or "" for part in href.groups()))) if href else None
        if parts is None or parts.scheme or parts.netloc or not parts.path:
            return True
        return posixpath.normpath(posixpath.join(folder, unquote(parts.path))) in reachable

    def text(link: re.Match[str]) -> str:
        attributes, content = link.groups()
        if leads(attributes):
            return link[0]
        kind = _CLASS.search(attributes)
        return "" if _BUTTON.search(attributes) else f"<span{kind[0] if kind else ''}>{content}</span>"

    def nothing(link: re.Match[str]) -> str:
        return link[0] if leads(link[1]) else ""

    html = _SEARCH.sub("", _HEAD_LINK.sub(nothing, page.decode()))
    main = _MAIN.search(html)
    start, end = main.span() if main else (0, len(html))
    parts = (_LINK.sub(nothing, html[:start]), _LINK.sub(text, html[start:end]), _LINK.sub(nothing, html[end:]))
    return "".join(parts).encode()


def write_preview(verified: Verified) -> Path:
    """Write the report with the files that it needs, without limits on its length. Returns the path of the page.

    Raises ConfigurationError if a template of the project is wrong.
    """
    project = verified.place.project
    page = _preview_page(verified, verified.snapshot, limit=len(verified.result.judgements))
    cache = cache_folder(None, project.root)
    begin_cache_folder(cache)
    folder = named_place(cache / "preview", project.root)
    kind = verified.place.kind
    renderer = _preview_renderer(project)
    assets, pages = renderer.assets(), (page, methods_page(((kind, scorer(kind).metrics),)))
    there = frozenset((*(sheet.path for sheet in pages), *(file.path for file in assets)))
    writer = Writer(folder, listed=False)
    for sheet in pages:
        writer.write(sheet.path, without_links(renderer.render(sheet), sheet.path, there))
    for file in assets:
        writer.write(file.path, file.content)
    return folder / page.path


def report_file(verified: Verified, metadata: Metadata, data: str) -> bytes:
    """Return the report as one file that needs no other file; ``data``: the relative address of the whole result.

    It shows as many errors of each type as a report of the site does. Raises ConfigurationError if a template
    of the project is wrong.
    """
    scored = Commit(WORKTREE, subject=f"Scored {metadata.timestamp}" if metadata.timestamp else "Work tree")
    snapshot = replace(verified.snapshot, commit=scored, recorded_at=metadata.timestamp)
    if metadata.iteration is not None:
        snapshot = replace(snapshot, iteration=metadata.iteration, label=f"iteration-{metadata.iteration:03d}")
    if not metadata.dirty:
        snapshot = replace(snapshot, made_at=metadata.git_commit)
    page = _preview_page(
        verified, snapshot, limit=verified.place.project.config.limits.discrepancies_per_type, data=data
    )
    renderer = _preview_renderer(verified.place.project)
    styles = next(file for file in renderer.assets() if file.path == links.asset("app.css"))
    beside = posixpath.join(posixpath.dirname(page.path), data)
    html = without_links(renderer.render(page), page.path, (beside,)).decode()
    safe = styles.content.decode().replace("</", "<\\/")  # keeps a theme from closing the element
    # The policy allows no script at all, so that a value that looked like one would do nothing. It is first in the
    # head: it applies only to what follows, and a project's own head may have none.
    html = _POLICY.sub("", _HEADER.sub("", _SCRIPT.sub("", html))).replace("<head>", f"<head>\n{_OURS}", 1)
    return html.replace("</head>", f"<style>\n{safe}</style>\n</head>", 1).encode()


def _preview_renderer(project: WorktreeProject) -> Renderer:
    site = SiteInfo(project.config.title or project.root.name, __version__)
    return Renderer(site, own_templates(project.root))


def _preview_page(verified: Verified, snapshot: Snapshot, *, limit: int, data: str | None = None) -> Page:
    entry, kind, result = verified.place.entry, verified.place.kind, verified.result
    specs = specs_of_results(result)
    info = EvalInfo(
        id=entry.id,
        name=entry.name or entry.id,
        description=entry.description,
        kind=kind,
        thresholds=entry.thresholds,
        metadata=entry.metadata,
        nouns=nouns_of(kind, specs),
    )
    point = Point(snapshot, result.scorecard, interval=interval_of(result.scorecard))
    return ReportView(
        info=info,
        specs=specs,
        point=point,
        previous=None,
        result=result,
        snapshots=(snapshot,),
        limit=limit,
        whole=data,
        grid=CaseGrid(
            place=None,
            cases=result.cases,
            axes=axes_of(result.scorecard),
            prompts={variant: (text, None) for variant, text in result.prompts.items()},
        )
        if result.cases
        else None,
    ).page
