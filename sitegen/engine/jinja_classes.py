"""Jinja's classes, adapted to our templates. Imported with Jinja, when the first page is rendered."""

from __future__ import annotations

import marshal
import pickle
from collections.abc import Callable, Mapping, MutableMapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import jinja2
from jinja2.bccache import Bucket, bc_magic
from jinja2.utils import missing

from sitegen.pages.html.cells import output


class EscapingTemplate(jinja2.Template):
    """A template that writes values by ``cells.output``."""

    environment: Environment

    @classmethod
    def from_code(cls, *arguments: Any, **more: Any) -> jinja2.Template:
        """Replace Jinja's function for values: ``output`` writes the same text in a third of the time."""
        template = super().from_code(*arguments, **more)
        template.root_render_func.__globals__["escape"] = output
        return template

    def new_context(
        self, vars: dict[str, Any] | None = None, shared: bool = False, locals: Mapping[str, Any] | None = None
    ) -> jinja2.runtime.Context:
        """Make the names of one rendering or include.

        Jinja copies them twice, and the names of all globals once more to find those that only one template has. Ours
        have the globals of the environment and no others.
        """
        names = (vars or {}) if shared else {**self.globals, **(vars or {})}
        if locals:
            names = {**names, **{name: value for name, value in locals.items() if value is not missing}}
        context = self.environment.context_class(self.environment, names, self.name, self.blocks)
        if shared:
            self.environment.included.append(context)
        return context

    def render(self, *arguments: Any, **more: Any) -> str:
        """Render a page, and let go of what it shows.

        A macro and the names of the template that defines it refer to each other, and would hold the page until garbage
        is collected, which is seldom, or for ever if a value that the collector does not track refers to the macro.
        """
        context = self.new_context(dict(*arguments, **more))
        try:
            return self.environment.concat(self.root_render_func(context))
        except Exception:
            self.environment.handle_exception()
        finally:
            for made in (context, *self.environment.included):
                made.vars.clear()
            self.environment.included.clear()


class DirectContext(jinja2.runtime.Context):
    """The names of a template that is being rendered."""

    def call(
        self,
        function: Callable[..., Any],
        /,
        *arguments: Any,
        _loop_vars: Any = None,
        _block_vars: Any = None,
        **more: Any,
    ) -> Any:
        """Call a function without inspecting it: none of ours takes the context as an argument."""
        return function(*arguments, **more)


class TemplateBytecode(jinja2.FileSystemBytecodeCache):
    """Keeps compiled templates in a folder."""

    def load_bytecode(self, bucket: Bucket) -> None:
        """Read a compiled template as a whole, in an eighth of the time: Jinja reads it value by value."""
        try:
            content = Path(self._get_cache_filename(bucket)).read_bytes()
        except OSError:
            return
        head = bc_magic + pickle.dumps(bucket.checksum, 2)  # as ``Bucket.write_bytecode`` writes it
        if content.startswith(head):
            with suppress(EOFError, ValueError, TypeError):  # an incomplete file; the template is compiled again
                bucket.code = marshal.loads(content[len(head) :])


class Environment(jinja2.Environment):
    """What templates of ours and of a project have in common."""

    template_class = EscapingTemplate

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self.included: list[jinja2.runtime.Context] = []
        """The names of the templates that the page which is rendered now has included."""

    def make_globals(self, d: MutableMapping[str, Any] | None) -> dict[str, Any]:
        """Give a template its globals as one dict: they are copied at every render, include and import."""
        return {**self.globals, **(d or {})}
