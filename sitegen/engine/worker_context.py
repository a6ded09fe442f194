"""The values with which a task opens the repository and renders pages, in any process."""

import gc
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from itertools import chain
from pathlib import Path
from posixpath import dirname
from typing import TYPE_CHECKING, Final

from sitegen import __version__
from sitegen.config.models import BuildLimits, SiteConfig
from sitegen.engine.template_files import THEME, find_templates, own_files, read_template, shipped_names
from sitegen.engine.writer import digest
from sitegen.errors import ConfigurationError
from sitegen.history.repository import Repository
from sitegen.history.repository_place import RepositoryPlace
from sitegen.history.timeline import FoldedHistory
from sitegen.model.frozen import Frozen, grouped
from sitegen.model.site import Page, RawFile, SiteInfo
from sitegen.model.timeline import InstructionHistory
from sitegen.pages import links
from sitegen.project import Project
from sitegen.text.plain import is_web_address

if TYPE_CHECKING:
    import jinja2


_STYLES: Final = (
    *("tokens", "base", "frame", "numbers", "tables", "charts", "lists", "report", "why", "fields", "cases", "compare"),
    *("variants", "steps", "spans", "diff", "effects", "search", "small", "print"),
)
"""Files of ``assets/css/``, in the order in which they make ``assets/app.css``; later rules win."""

_SCRIPTS: Final = (
    *("dom", "neighbours", "toggle", "point", "axes", "trend", "compare", "panes", "tables", "spans"),
    *("sort", "copy", "take", "search", "keys"),
)
"""Files of ``assets/js/`` that share one scope, in the order in which they make ``assets/app.js``."""


class Renderer:
    """Turns pages into bytes.

    A project's own folder overrides templates and assets file by file. If it has any, templates run in a sandbox.
    """

    def __init__(self, site: SiteInfo, own_templates: Path | None = None) -> None:
        self._own = own_files(own_templates)
        self._ours = find_templates()
        self._site = site
        self._environment: jinja2.Environment | None = None
        self._templates: dict[str, jinja2.Template] = {}

    def render(self, page: Page) -> bytes:
        """Return the page as UTF-8. Depends on the page, the templates and the site alone.

        Raises ConfigurationError if a project's own template is wrong, or takes too long or too much memory.
        """
        if not self._own:
            return self._rendered(page)
        from sitegen.engine.own_templates import own_template_error, within_bounds

        try:
            with within_bounds():
                return self._rendered(page)
        except Exception as error:
            if failure := own_template_error(error, self._own):
                raise failure from error
            raise

    def _rendered(self, page: Page) -> bytes:
        template = self._templates.get(page.template)
        if template is None:
            if self._environment is None:
                from sitegen.engine.jinja_setup import make_environment

                self._environment = make_environment(self._own, self._ours, self._site)
            template = self._templates[page.template] = self._environment.get_template(page.template)
        html = template.render(view=page.view, nav="", root=links.up(page.path), path=page.path)
        # Names from the file system may contain lone surrogates, which become "?" instead of an error.
        return html.encode("utf-8", "replace")

    def assets(self) -> tuple[RawFile, ...]:
        """Style sheet, scripts and pictures as files of the site: readable sources, one request each."""
        sheets = [f"assets/css/{name}.css" for name in _STYLES]
        styles = "\n".join(map(self._text, sheets + [THEME] * (THEME in self._own)))
        scripts = "\n".join(self._text(f"assets/js/{name}.js") for name in _SCRIPTS)
        files = [
            RawFile(links.asset("app.css"), styles.encode()),
            RawFile(links.asset("app.js"), f'(() => {{\n"use strict";\n{scripts}}})();\n'.encode()),
            RawFile(links.asset("theme.js"), self._text("assets/js/theme.js").encode()),
        ]
        assembled = {file.path for file in files}
        pictures = (
            name
            for name in sorted({*shipped_names(self._ours), *self._own})
            if name.startswith("assets/") and name.count("/") == 1 and name not in assembled
        )
        files.extend(RawFile(name, self._read(name)) for name in pictures)
        return tuple(files)

    def _text(self, name: str) -> str:
        return self._read(name).decode()

    def _read(self, name: str) -> bytes:
        own = self._own.get(name)
        return read_template(own) if own else (self._ours / name).read_bytes()


COLLECTION: Final = 1_000_000
"""Threshold of the garbage collector: hardly anything that a build makes is cyclic, and scanning all the rest takes
time, the more the longer the history."""


@contextmanager
def rare_collection() -> Iterator[None]:
    """Have the garbage collector run as rarely as in a build, and after it as often as before."""
    before = gc.get_threshold()
    gc.set_threshold(COLLECTION)
    try:
        yield
    finally:
        gc.set_threshold(*before)


class WorkerContext(Frozen):
    """The values that all tasks of a build share. They are sent to other processes."""

    place: RepositoryPlace
    overlay: Mapping[str, Path | bytes]
    """Files of the work tree whose contents are not in git, by the ids of these."""
    limits: BuildLimits
    site: SiteInfo
    own_templates: Path | None
    """The project's folder of templates."""
    look: str
    """Digest of the templates and of ``site``, its title and addresses: part of every page's key."""
    out: Path | None
    """The output folder; None on a remote worker, which returns the contents of files as part of its results."""
    redact: tuple[str, ...] = ()
    """Globs of the field paths whose values are hidden. ``Timeline.context_for`` adds those of one eval."""
    foreign: frozenset[str] = frozenset()
    """Files of the output folder that no build wrote and that no page may replace."""
    commits: tuple[str, ...] = ()
    """The commits from which all contents that tasks read can be reached."""
    instructions: tuple[str, ...] = ()
    """Files and folders that are all instruction files or contain them; empty if these would be too many."""
    answers_a_question: bool = False
    """Whether this is no build: outputs whose contents in Git LFS were not fetched are unreadable, and not kept so."""

    def open(self) -> Repository:
        """Open the repository for reading."""
        return Repository(self.place, max_blob_bytes=self.limits.max_blob_bytes, overlay=dict(self.overlay))

    def renderer(self) -> Renderer:
        """Return the renderer, whose templates are compiled once in each process; forked processes inherit them."""
        return _renderer(self.site, self.own_templates, self.look)


@lru_cache(maxsize=1)
def _renderer(site: SiteInfo, own_templates: Path | None, look: str) -> Renderer:
    return Renderer(site, own_templates)


def context_of(
    project: Project, repository: Repository, config: SiteConfig, folded: FoldedHistory, head: str
) -> WorkerContext:
    """Return the context of a build of the commit ``head``. Raises ConfigurationError for an address that is none."""
    origin, stated = repository.origin_url(), project.options.base_url
    if stated and not config.base_url and not is_web_address(stated):
        raise ConfigurationError(
            f"The base_url {stated!r} is not an address of a site.",
            fix="Write one such as https://example.org/path: http or https, without user name, ? and #.",
        )
    url = (config.repository_url or "").rstrip("/") or (origin if is_web_address(origin or "") else None)
    site = SiteInfo(
        title=config.title or (url.rpartition("/")[2] if url else repository.name),
        version=__version__,
        repository_url=url,
        base_url=(config.base_url or stated or "").rstrip("/") or None,
        shallow=bool(repository.shallow_boundary),
        noindex=config.noindex,
    )
    return WorkerContext(
        place=project.place,
        limits=config.limits,
        site=site,
        own_templates=project.own_templates,
        overlay=folded.overlay,
        look=digest(project.templates, repr(site)),
        out=project.out,
        redact=config.redact,
        instructions=_places(folded.instructions),
        commits=(head,),
    )


def _places(instructions: Iterable[InstructionHistory]) -> tuple[str, ...]:
    """Return all paths of these files, or folders in place of more than a few: git compares each file with each."""
    edits = (edit for file in instructions for edit in file.edits)
    named = {blob.path for edit in edits for blob in (edit.old, edit.new) if blob}
    found = grouped((dirname(path), path) for path in named)
    places = sorted(chain(*([above] if above and len(paths) > _FEW else paths for above, paths in found.items())))
    return tuple(places) if len(places) <= _MOST_PLACES else ()


_FEW: Final = 5  # the most files of a folder that are named one by one
_MOST_PLACES: Final = 200  # the most files and folders that git is given; beyond them it looks everywhere
