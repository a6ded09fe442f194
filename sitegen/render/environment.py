"""Sets up Jinja, loads templates and assets, and renders pages."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, MutableMapping, Sequence
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from sitegen.model.site import Page, RawFile, SiteInfo
from sitegen.pages import links
from sitegen.render.bounds import bounded
from sitegen.render.own_templates import (
    THEME,
    bound_joins,
    own_files,
    own_loader,
    own_template_error,
    read_template,
    sandbox,
    shipped_files,
)

if TYPE_CHECKING:
    import jinja2
    from markupsafe import Markup

STYLES: Final = (
    "tokens",
    "base",
    "frame",
    "numbers",
    "tables",
    "charts",
    "lists",
    "report",
    "why",
    "fields",
    "compare",
    "variants",
    "steps",
    "spans",
    "diff",
    "effects",
    "search",
    "small",
    "print",
)
"""Files of ``assets/css/``, in the order in which they make ``assets/app.css``; later rules win."""

SCRIPTS: Final = (
    "dom",
    "neighbours",
    "toggle",
    "point",
    "trend",
    "compare",
    "tables",
    "spans",
    "sort",
    "copy",
    "search",
)
"""Files of ``assets/js/`` that share one scope, in the order in which they make ``assets/app.js``."""


def find_templates() -> Path:
    """The folder of templates that ships with sitegen: inside an installed package, beside it in a checkout."""
    package = Path(__file__).parents[1]
    installed = package / "site_templates"
    return installed if installed.is_dir() else package.parent / "site_templates"


def template_folders(own: Path | None) -> tuple[Path, ...]:
    """The project's folder, if it has one, then ours. In sitegen's own repository they are the same."""
    ours = find_templates()
    return (ours,) if own is None or own.resolve() == ours.resolve() else (own, ours)


class Frame(NamedTuple):
    """The parts around a page, made from the templates of the same names in ``frame/``."""

    head: Markup
    header: Markup
    footer: Markup


class Renderer:
    """Turns pages into bytes.

    A template or asset is taken from the first folder that has it, so that a project's own folder, given first,
    overrides file by file. The last folder is ours; the templates of the others are run in a sandbox.
    """

    def __init__(self, template_folders: Sequence[Path], site: SiteInfo, bytecode: Path | None = None) -> None:
        self._own = own_files(template_folders[:-1])
        self._ours = template_folders[-1]
        self._site = site
        self._bytecode = bytecode
        self._environment: jinja2.Environment | None = None
        self._templates: dict[str, jinja2.Template] = {}

    def render(self, page: Page) -> bytes:
        """The page as UTF-8. Depends on the page, the templates and the site alone.

        Raises ConfigurationError if a project's own template is wrong, or takes too long or too much memory.
        """
        try:
            with bounded() if self._own else nullcontext():
                return self._rendered(page)
        except Exception as error:
            if failure := own_template_error(error, self._own):
                raise failure from error
            raise

    def _rendered(self, page: Page) -> bytes:
        template = self._templates.get(page.template)
        if template is None:
            template = self._templates[page.template] = self._load().get_template(page.template)
        view: Any = page.view
        html = template.render(view=view, nav=view.nav, root=links.up(page.path), path=page.path)
        # Names from the file system may hold lone surrogates; whatever was not cleaned becomes "?" but never an error.
        return html.encode("utf-8", "replace")

    def digest(self) -> str:
        """Changes when any template or asset does, or sitegen, or what every page knows of the site: 16 hex digits."""
        digest = hashlib.sha256(repr(self._site).encode("utf-8", "backslashreplace"))
        for name in sorted(self._files()):
            content = self._read(name)
            digest.update(f"\0{name}\0{len(content)}\0".encode("utf-8", "surrogateescape"))
            digest.update(content)
        return digest.hexdigest()[:16]

    def assets(self) -> tuple[RawFile, ...]:
        """Style sheet, scripts and pictures as files of the site: readable sources, one request each."""
        sheets = [f"assets/css/{name}.css" for name in STYLES]
        styles = "\n".join(map(self._text, sheets + [THEME] * (THEME in self._own)))
        scripts = "\n".join(self._text(f"assets/js/{name}.js") for name in SCRIPTS)
        files = [
            RawFile(links.asset("app.css"), styles.encode()),
            RawFile(links.asset("app.js"), f'(() => {{\n"use strict";\n{scripts}}})();\n'.encode()),
            RawFile(links.asset("theme.js"), self._text("assets/js/theme.js").encode()),
        ]
        assembled = {file.path for file in files}
        pictures = (
            name
            for name in sorted(self._files())
            if name.startswith("assets/") and name.count("/") == 1 and name not in assembled
        )
        files.extend(RawFile(name, self._read(name)) for name in pictures)
        return tuple(files)

    def _text(self, name: str) -> str:
        return self._read(name).decode()

    def _read(self, name: str) -> bytes:
        own = self._own.get(name)
        return read_template(own) if own else (self._ours / name).read_bytes()

    def _files(self) -> dict[str, Path]:
        return {**shipped_files(self._ours), **self._own}

    def _load(self) -> jinja2.Environment:
        if self._environment is None:
            self._environment = make_environment(self._own, self._ours, self._site, self._bytecode)
        return self._environment


def bytecode_folder() -> Path | None:
    """The folder for compiled templates. It is the user's own, because its content is run without further checks.

    It is never in the project, which anybody may have written. None if the user has no home.
    """
    try:
        cache = os.environ.get("XDG_CACHE_HOME")
        return (Path(cache) if cache else Path.home() / ".cache") / "sitegen" / "templates"
    except RuntimeError:
        return None


def _template_cache_usable(folder: Path) -> bool:
    """Whether the folder exists or could be made; without it templates are compiled each time."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)


def make_environment(
    own: Mapping[str, Path], ours: Path, site: SiteInfo, bytecode: Path | None = None
) -> jinja2.Environment:
    """Jinja with autoescape on, undefined names an error, and the filters that every template may use.

    ``own``: templates of a project. If there are any, all of them run in a sandbox, for they include each other.
    """
    import jinja2
    from markupsafe import Markup

    from sitegen.html import charts, formats
    from sitegen.html.cells import output
    from sitegen.model.outcomes import ERROR_TYPES
    from sitegen.pages import change_text, fields, labels
    from sitegen.pages.commit import move_rows
    from sitegen.pages.compare import compare_rows
    from sitegen.pages.edit import diff_rows, effect_rows
    from sitegen.pages.field import field_rows
    from sitegen.pages.instruction import edit_rows
    from sitegen.pages.regressions import step_lines
    from sitegen.pages.report import discrepancy_rows, report_rows, span_rows, spans, tree_rows, why_rows
    from sitegen.pages.trend import trend_chart, trend_rows
    from sitegen.pages.variants import variant_charts

    class EscapingTemplate(jinja2.Template):
        """Writes values by ``cells.output``: the same text for a third of the time."""

        @classmethod
        def from_code(cls, *arguments: Any, **more: Any) -> jinja2.Template:
            template = super().from_code(*arguments, **more)
            compiled = template.root_render_func.__globals__
            compiled["escape"] = output
            if own:
                bound_joins(compiled)
            return template

    base: Any = sandbox() if own else jinja2.Environment

    class Environment(base):  # type: ignore[misc]  # which of the two is known only now
        """Gives each template its globals as one dict: they are copied at every render, include and import."""

        def make_globals(self, d: MutableMapping[str, Any] | None) -> dict[str, Any]:
            return {**self.globals, **(d or {})}

    if own and bytecode:
        bytecode /= "bounded"  # the same template is other code there
    environment: jinja2.Environment = Environment(
        loader=own_loader(own, ours) if own else jinja2.FileSystemLoader(str(ours)),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        auto_reload=False,
        cache_size=-1,  # all of them: there are few, and a bounded cache is kept in order at every look-up
        bytecode_cache=jinja2.FileSystemBytecodeCache(str(bytecode))
        if bytecode and _template_cache_usable(bytecode)
        else None,
    )
    environment.template_class = EscapingTemplate
    if not own:  # ours ask for attributes that are there, and for items in brackets: a tenth of a report's time
        environment.getattr = getattr  # type: ignore[method-assign,assignment]
    environment.policies["json.dumps_kwargs"] = {"sort_keys": True, "separators": (",", ":")}
    environment.filters.update(
        number=formats.number,
        probability=formats.probability,
        thousands=formats.count,
        percent=formats.percent,
        signed=formats.signed,
        day=formats.day,
        date=formats.date,
        path=formats.path,
        bounded=formats.bounded,
        printable=formats.printable,
    )

    @cache
    def frame(root: str, nav: str) -> Frame:
        """The same for all pages of one depth and one section."""
        parts = (environment.get_template(f"frame/{part}.html") for part in Frame._fields)
        return Frame(*(Markup(part.render(root=root, nav=nav)) for part in parts))

    environment.globals.update(
        site=site,
        frame=frame,
        links=links,
        change_text=change_text,
        charts=charts,
        compare_rows=compare_rows,
        trend_chart=trend_chart,
        trend_rows=trend_rows,
        fields=fields,
        discrepancy_rows=discrepancy_rows,
        report_rows=report_rows,
        diff_rows=diff_rows,
        edit_rows=edit_rows,
        effect_rows=effect_rows,
        field_rows=field_rows,
        move_rows=move_rows,
        variant_charts=variant_charts,
        span_rows=span_rows,
        step_lines=step_lines,
        spans=spans,
        tree_rows=tree_rows,
        why_rows=why_rows,
        recorded_pill=formats.RECORDED,
        error_types=ERROR_TYPES,
        iterations_and_outputs=labels.iterations_and_outputs,
        error_label=labels.ERROR_LABELS,
        statuses=labels.STATUSES,
        verdict_reason=labels.reason,
        edit_statuses=labels.EDITS,
    )
    return environment
