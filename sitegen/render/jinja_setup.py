"""Sets up Jinja with the filters, functions and modules that templates use."""

from __future__ import annotations

import marshal
import os
import pickle
from collections.abc import Callable, Mapping, MutableMapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sitegen.frozen import Frozen
from sitegen.model.site import SiteInfo
from sitegen.pages import links

if TYPE_CHECKING:
    import jinja2
    from jinja2.bccache import Bucket
    from markupsafe import Markup


class Frame(Frozen):
    """The parts around a page, made from the templates of the same names in ``frame/``."""

    head: Markup
    header: Markup
    footer: Markup
    short: Markup
    """The head of a short page."""


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
    from jinja2.bccache import bc_magic
    from markupsafe import Markup

    from sitegen.html import charts, formats
    from sitegen.html.cells import output
    from sitegen.model.outcomes import ERROR_TYPES
    from sitegen.pages import change_text, fields, labels, short_lists
    from sitegen.pages.commit import move_rows
    from sitegen.pages.compare import compare_rows
    from sitegen.pages.edit import effect_rows
    from sitegen.pages.field import field_rows
    from sitegen.pages.instruction import edit_rows
    from sitegen.pages.regressions import step_lines
    from sitegen.pages.report import discrepancy_rows, report_rows, spans, tree, why_rows
    from sitegen.pages.trend import trend_chart, trend_rows
    from sitegen.pages.variants import variant_charts

    if own:
        from sitegen.render.own_templates import bound_joins, own_loader, sandbox

    class EscapingTemplate(jinja2.Template):
        """Writes values by ``cells.output``: the same text in a third of the time."""

        @classmethod
        def from_code(cls, *arguments: Any, **more: Any) -> jinja2.Template:
            template = super().from_code(*arguments, **more)
            compiled = template.root_render_func.__globals__
            compiled["escape"] = output
            if own:
                bound_joins(compiled)
            return template

    class DirectContext(jinja2.runtime.Context):
        """Calls functions without inspecting them: none of ours takes the context as an argument."""

        def call(
            self,
            function: Callable[..., Any],
            /,
            *arguments: Any,
            _loop_vars: Any = None,
            _block_vars: Any = None,
            **more: Any,
        ) -> Any:
            return function(*arguments, **more)

    class TemplateBytecode(jinja2.FileSystemBytecodeCache):
        """Reads a compiled template as a whole, in an eighth of the time: Jinja reads it value by value."""

        def load_bytecode(self, bucket: Bucket) -> None:
            try:
                content = Path(self._get_cache_filename(bucket)).read_bytes()
            except OSError:
                return
            head = bc_magic + pickle.dumps(bucket.checksum, 2)  # as ``Bucket.write_bytecode`` writes it
            if content.startswith(head):
                with suppress(EOFError, ValueError, TypeError):  # an incomplete file; the template is compiled again
                    bucket.code = marshal.loads(content[len(head) :])

    base: Any = sandbox() if own else jinja2.Environment

    class Environment(base):  # type: ignore[misc]  # the base class is chosen at run time
        """Gives each template its globals as one dict: they are copied at every render, include and import."""

        def make_globals(self, d: MutableMapping[str, Any] | None) -> dict[str, Any]:
            return {**self.globals, **(d or {})}

    if own and bytecode:
        bytecode /= "bounded"  # the same template compiles to different code in the sandbox
    environment: jinja2.Environment = Environment(
        loader=own_loader(own, ours) if own else jinja2.FileSystemLoader(str(ours)),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        auto_reload=False,
        cache_size=-1,  # unlimited: there are few templates, and a limited cache is reordered at every look-up
        bytecode_cache=TemplateBytecode(str(bytecode)) if bytecode and _template_cache_usable(bytecode) else None,
    )
    environment.template_class = EscapingTemplate
    if (
        not own
    ):  # our templates write items in brackets, so the fallback of Jinja, a tenth of a report's time, is not needed
        environment.getattr = getattr  # type: ignore[method-assign,assignment]
        environment.context_class = DirectContext
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
        message=formats.message,
        printable=formats.printable,
    )

    @cache
    def frame(root: str, nav: str) -> Frame:
        """Render the parts around a page, which are the same for all pages of one depth and one section."""
        parts = (environment.get_template(f"frame/{part}.html") for part in Frame.__struct_fields__)
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
        edit_rows=edit_rows,
        effect_rows=effect_rows,
        field_rows=field_rows,
        move_rows=move_rows,
        short_lists=short_lists,
        variant_charts=variant_charts,
        step_lines=step_lines,
        spans=spans,
        tree=tree,
        why_rows=why_rows,
        recorded_pill=formats.RECORDED,
        error_types=ERROR_TYPES,
        iterations_and_outputs=labels.iterations_and_outputs,
        error_label=labels.ERROR_LABELS,
        statuses=labels.STATUSES,
        edit_statuses=labels.EDITS,
    )
    return environment
