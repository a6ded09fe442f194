"""Sets up Jinja. Imported when the first page is rendered, because Jinja takes a while to import."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import jinja2
from markupsafe import Markup

from sitegen.frozen import Frozen
from sitegen.model.site import SiteInfo
from sitegen.render.jinja_classes import OurEnvironment, TemplateBytecode
from sitegen.render.template_names import FILTERS, GLOBALS


class Frame(Frozen):
    """The parts around a page, made from the templates of the same names in ``frame/``."""

    head: Markup
    header: Markup
    footer: Markup
    short: Markup
    """The head of a short page."""


def make_environment(own: Mapping[str, Path], ours: Path, site: SiteInfo, bytecode: Path | None) -> jinja2.Environment:
    """Jinja with autoescape on, undefined names an error, and the filters that every template may use.

    ``own``: templates of a project. If there are any, all of them run in a sandbox, for they include each other.
    """
    kind: type[jinja2.Environment] = OurEnvironment
    loader: jinja2.BaseLoader = jinja2.FileSystemLoader(str(ours))
    if own:
        from sitegen.render.own_templates import Sandbox, own_loader

        kind, loader = Sandbox, own_loader(own, ours)
        bytecode = bytecode and bytecode / "bounded"  # the same template compiles to different code in the sandbox
    environment = kind(
        loader=loader,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        auto_reload=False,
        cache_size=-1,  # unlimited: there are few templates, and a limited cache is reordered at every look-up
        bytecode_cache=TemplateBytecode(str(bytecode)) if bytecode and _is_writable(bytecode) else None,
    )
    environment.policies["json.dumps_kwargs"] = {"sort_keys": True, "separators": (",", ":")}
    environment.filters.update(FILTERS)

    @cache
    def frame(root: str, nav: str) -> Frame:
        """Render the parts around a page, which are the same for all pages of one depth and one section."""
        parts = (environment.get_template(f"frame/{part}.html") for part in Frame.__struct_fields__)
        return Frame(*(Markup(part.render(root=root, nav=nav)) for part in parts))

    environment.globals.update(GLOBALS, site=site, frame=frame)
    return environment


def _is_writable(folder: Path) -> bool:
    """Whether the folder exists or could be made; without it templates are compiled each time."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)
