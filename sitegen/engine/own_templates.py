"""Templates of a project, which take precedence over ours.

Users trust the contents of a project's pages, but its templates are not run like other code: they run in Jinja's
sandbox, can use only the functions that are passed to templates, read no file outside their folder, and have limits on
time and memory for a page (``bounds``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import jinja2
from jinja2.sandbox import ImmutableSandboxedEnvironment

from sitegen.engine.bounds import MEMORY, check_join, check_operation, concatenated
from sitegen.engine.jinja_classes import Environment, EscapingTemplate
from sitegen.engine.template_files import read_template
from sitegen.errors import ConfigurationError, SitegenError

_OURS: Final = "sitegen"
"""Prefix of our templates: ``{% extends "sitegen/base.html" %}`` is ours even if the project has a ``base.html``."""


def own_loader(own: Mapping[str, Path], ours: Path) -> jinja2.BaseLoader:
    """Load a project's templates by name, or else ours; with the prefix ``_OURS``, only ours."""

    def load(name: str) -> tuple[str, str, None] | None:
        file = own.get(name)
        return None if file is None else (read_template(file).decode(), str(file), None)

    shipped = jinja2.FileSystemLoader(str(ours))
    return jinja2.ChoiceLoader([jinja2.FunctionLoader(load), shipped, jinja2.PrefixLoader({_OURS: shipped})])


class BoundedTemplate(EscapingTemplate):
    """A template of a project, or one of ours beside it."""

    @classmethod
    def from_code(cls, *arguments: Any, **more: Any) -> jinja2.Template:
        """Make ``~`` check the length of its result."""
        template = super().from_code(*arguments, **more)
        compiled = template.root_render_func.__globals__
        for name in ("str_join", "markup_join"):
            compiled[name] = _checked(compiled[name])
        return template


def _checked(join: Callable[[Sequence[Any]], str]) -> Callable[[Iterable[Any]], str]:
    def joined(parts: Iterable[Any]) -> str:
        together = tuple(parts)
        check_join(together)
        return join(together)

    return joined


class Sandbox(Environment, ImmutableSandboxedEnvironment):
    """Jinja's sandbox, restricted to the modules that our templates are given."""

    template_class = BoundedTemplate
    intercepted_binops = frozenset({"+", "*", "**"})
    concat = staticmethod(concatenated)

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        del self.globals["lipsum"], self.filters["random"]  # different bytes in each build

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        """The result of an operator. Raises TemplateBoundError if it would be too large."""
        check_operation(operator, left, right)
        return super().call_binop(context, operator, left, right)

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """Allow only names that a module defines itself: its imports could lead to any module."""
        if isinstance(value, ModuleType):
            return False
        if isinstance(obj, ModuleType):
            home = getattr(value, "__module__", None)
            return not attr.startswith("_") and (home is None or home == obj.__name__)
        return super().is_safe_attribute(obj, attr, value)


def own_template_error(error: Exception, own: Mapping[str, Path]) -> SitegenError | None:
    """The error of a project's template, with its file and line; None if the traceback has no template of a project."""
    files = {str(path) for path in own.values()}
    place = None
    if isinstance(error, jinja2.TemplateSyntaxError) and error.filename in files:
        place = f"{error.filename}:{error.lineno}"
    traceback = error.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename in files:
            place = f"{traceback.tb_frame.f_code.co_filename}:{traceback.tb_lineno}"
        traceback = traceback.tb_next
    if place is None:
        # The bound on time can end the handling of another error, and only that one has passed the template.
        return own_template_error(error.__context__, own) if isinstance(error.__context__, Exception) else None
    why = f"a page took more than {MEMORY:,} bytes" if isinstance(error, MemoryError) else str(error)
    message = f"A template of the project cannot be rendered: {why or type(error).__name__}"
    return ConfigurationError(message, where=place, fix="Correct it, or build with --no-templates.")
