"""Sets up Jinja. Imported when the first page is rendered, because Jinja takes a while to import.

``GLOBALS`` are the names that every template may use: words, and modules that write rows and charts without Jinja.
"""

import os
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Final

import jinja2
from markupsafe import Markup

from sitegen.analysis.causes import count_causes
from sitegen.analysis.flips import number_of_cells
from sitegen.analysis.noise.repeats import noise_of
from sitegen.analysis.noise.samples import interval_of
from sitegen.analysis.slices import answerers, averaged, cheapest, crowded
from sitegen.engine.jinja_classes import DirectContext, Environment, TemplateBytecode
from sitegen.model.commits import WORKTREE
from sitegen.model.outcomes import ERROR_TYPES
from sitegen.model.site import SiteInfo
from sitegen.pages import (
    commit,
    compare,
    edit,
    effects,
    field,
    instruction,
    instructions,
    labels,
    links,
    notes,
    other_pages,
    regressions,
    suspect_truth,
    variants,
)
from sitegen.pages.html import cells, charts, formats, tables
from sitegen.pages.overview import focus
from sitegen.pages.overview import page as overview
from sitegen.pages.report import page as report
from sitegen.pages.report import patterns, report_rows, spans, why_rows
from sitegen.pages.trend import page as trend
from sitegen.pages.trend import trend_chart, trend_rows, usage
from sitegen.scoring.usage import USAGE_METRICS
from sitegen.stats import confidence
from sitegen.stats.counts import error_numbers
from sitegen.text.plain import counted, day, line


def make_environment(own: Mapping[str, Path], ours: Path, site: SiteInfo) -> jinja2.Environment:
    """Jinja with autoescape on, undefined names an error, and the filters that every template may use.

    ``own``: templates of a project. If there are any, all of them run in a sandbox, for they include each other.
    """
    kind: type[jinja2.Environment] = Environment
    loader: jinja2.BaseLoader = jinja2.FileSystemLoader(str(ours))
    folder = bytecode_folder()
    if own:
        from sitegen.engine.own_templates import Sandbox, own_loader

        kind, loader = Sandbox, own_loader(own, ours)
    environment = kind(
        loader=loader,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        auto_reload=False,
        cache_size=-1,  # unlimited: there are few templates, and a limited cache is reordered at every look-up
        # In the sandbox, the same template compiles to different code.
        bytecode_cache=TemplateBytecode(str(folder), "bounded_%s.cache" if own else "%s.cache") if folder else None,
    )
    if not own:
        # Templates of ours alone need none of Jinja's precautions. They write items in brackets, so the fallback of
        # Jinja, a tenth of a report's time, is not needed.
        environment.context_class = DirectContext
        environment.getattr = getattr  # type: ignore[assignment,method-assign]
    environment.policies["json.dumps_kwargs"] = {"sort_keys": True, "separators": (",", ":")}
    environment.filters.update(_FILTERS)

    @cache
    def frame(root: str, nav: str) -> SimpleNamespace:
        """Render the parts around a page, which are the same for all pages of one depth and one section."""
        parts = ((part, environment.get_template(f"frame/{part}.html")) for part in ("head", "header", "footer"))
        return SimpleNamespace(**{part: Markup(template.render(root=root, nav=nav)) for part, template in parts})

    environment.globals.update(GLOBALS, site=site, frame=frame)
    for name, macros in (("ui", "ui"), ("of_edits", "edits")):
        environment.globals[name] = environment.get_template(f"macros/{macros}.html").module
    return environment


def bytecode_folder() -> Path | None:
    """Return the folder for compiled templates. It belongs to the user, because its content is run unchecked.

    It is never in the project, which anybody may have written. None if the user has no home directory, or cannot write
    there: templates are then compiled each time.
    """
    try:
        cache = os.environ.get("XDG_CACHE_HOME")
        folder = (Path(cache) if cache else Path.home() / ".cache") / "sitegen" / "templates"
        folder.mkdir(parents=True, exist_ok=True)
    except (RuntimeError, OSError):
        return None
    return folder if os.access(folder, os.W_OK) else None


_FILTERS: Final[dict[str, Callable[..., str]]] = {
    "number": formats.number,
    "thousands": formats.count,
    "counted": counted,
    "percent": formats.percent,
    "signed": formats.signed,
    "signed_errors": lambda errors, verdict: formats.signed(errors, formats.ERRORS, verdict),
    "subject": labels.subject_of,
    "author": lambda commit: line(commit.author, 60),
    "day": day,
    "date": formats.date,
    "path": lambda path: formats.path(line(path)),
    "code": lambda path: Markup(cells.code(path)),
    "bounded": formats.bounded,
    "message": formats.message,
    "printable": formats.printable,
}

_MODULES: Final[tuple[ModuleType, ...]] = (
    *(charts, commit, compare, confidence, edit, effects, field, instruction, instructions),
    *(labels, links, notes, other_pages, patterns, regressions, report_rows, spans),
    *(suspect_truth, tables, trend_chart, trend_rows, usage, variants, why_rows),
)


def _without_place(module: ModuleType) -> ModuleType:
    """Return a copy of a module that does not know its file, which a project's template could print."""
    copied = ModuleType(module.__name__)
    vars(copied).update({name: value for name, value in vars(module).items() if not name.startswith("__")})
    return copied


GLOBALS: Final[dict[str, object]] = {
    **{module.__name__.rpartition(".")[2]: _without_place(module) for module in _MODULES},
    "in_focus": _without_place(focus),
    "overview": _without_place(overview),
    "report": _without_place(report),
    "trend": _without_place(trend),
    "recorded_pill": formats.RECORDED,
    "uncommitted_sha": WORKTREE,
    "usage_metrics": USAGE_METRICS,
    "error_types": ERROR_TYPES,
    "problem_counts": count_causes,
    "error_numbers": error_numbers,
    "noise_of": noise_of,
    "number_of_cells": number_of_cells,
    "answerers": answerers,
    "averaged": averaged,
    "cheapest": cheapest,
    "crowded": crowded,
    "interval_of": interval_of,
    "side_head": compare.side_head,
}
