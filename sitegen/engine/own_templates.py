"""Templates of a project, which take precedence over ours, and bounds on the rendering of a page with them."""

import faulthandler
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Timer, current_thread, get_ident, main_thread
from traceback import walk_tb
from types import GeneratorType, ModuleType
from typing import Any, Final

import jinja2
from jinja2.sandbox import ImmutableSandboxedEnvironment

from sitegen.engine.jinja_classes import Environment, EscapingTemplate
from sitegen.engine.template_files import read_template
from sitegen.errors import ConfigurationError, SitegenError

SECONDS: Final = 30.0
"""Processor time for one page, in seconds."""

SECONDS_TO_REACT: Final = 30.0
"""Further processor time, in seconds, after which a process is killed that cannot react within one operation."""

_MEMORY: Final = 1_000_000_000  # bytes that a process may allocate while it renders a page

_LARGEST_RESULT: Final = 50_000_000
"""Largest number of characters or items in the result of an operator, a block, a macro or a page."""

_LONGEST_NUMBER: Final = 100_000  # largest number of bits in the result of ``*`` and ``**``


class TemplateBoundError(Exception):
    """A page exceeded its limit of time or of memory."""


@contextmanager
def within_bounds() -> Iterator[None]:
    """Raise TemplateBoundError or MemoryError in the code inside if it takes too much time or memory."""
    time = _timer if current_thread() is main_thread() else _watched
    with _memory(), time():
        yield


@contextmanager
def _timer() -> Iterator[None]:
    def stop(*_: object) -> None:
        raise _took_too_long()

    before = signal.signal(signal.SIGPROF, stop)
    if sys.__stderr__ is not None:  # prints the line of the template, and then the process is killed
        faulthandler.register(signal.SIGVTALRM, file=sys.__stderr__, all_threads=False, chain=True)
    signal.setitimer(signal.ITIMER_PROF, SECONDS, 1)  # again each second, in case something caught the first exception
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS + SECONDS_TO_REACT)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGPROF, before)


@contextmanager
def _watched() -> Iterator[None]:
    """The same limit for a thread, which receives no signal: a wall clock that Python checks between operations."""
    import ctypes  # takes milliseconds, and almost every build renders in the main thread

    thread = ctypes.c_ulong(get_ident())

    def stop() -> None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, ctypes.py_object(TemplateBoundError))

    timer = Timer(SECONDS, stop)
    timer.daemon = True
    timer.start()
    try:
        yield
    except TemplateBoundError as error:
        if error.args:  # of the bound on a size; what another thread raises has none
            raise
        raise _took_too_long().with_traceback(error.__traceback__) from None
    finally:
        timer.cancel()
        timer.join()
        ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, None)  # if it came too late to be raised


def _took_too_long() -> TemplateBoundError:
    return TemplateBoundError(f"a page took more than {SECONDS:g} seconds")


@contextmanager
def _memory() -> Iterator[None]:
    """Limits the address space. Only Linux reports its size and enforces a limit."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except OSError:
        yield
        return
    import resource

    before, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = pages * os.sysconf("SC_PAGE_SIZE") + _MEMORY
    allowed = [limit for limit in (limit, before, hard) if limit != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_AS, (min(allowed), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (before, hard))


def concatenated(parts: Iterable[str]) -> str:
    """Join the parts. Raises TemplateBoundError as soon as the text exceeds the limit of a result."""
    written, size = [], 0
    try:
        for part in parts:
            size += len(part)
            _check_page_size(size)
            written.append(part)
    except TemplateBoundError as error:
        if isinstance(parts, GeneratorType):
            parts.throw(error)  # raised inside the template, so that the traceback names its line
        raise
    return "".join(written)


def _check_page_size(size: int) -> None:
    if size > _LARGEST_RESULT:
        raise TemplateBoundError(f"a text or list would have more than {_LARGEST_RESULT:,} characters or items")


def _check_number(bits: int) -> None:
    if bits > _LONGEST_NUMBER:
        raise TemplateBoundError(f"a number would have more than {_LONGEST_NUMBER:,} bits")


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
        _check_page_size(sum(len(part) for part in together if isinstance(part, str)))
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
        """Return the result of an operator. Raises TemplateBoundError if it would be too large."""
        if isinstance(left, int) and isinstance(right, int):
            if operator == "**" and right > 0:
                _check_number(left.bit_length() * right)
            elif operator == "*":
                _check_number(left.bit_length() + right.bit_length())
        elif operator == "*":
            for many, times in ((left, right), (right, left)):
                if isinstance(many, str | bytes | list | tuple) and isinstance(times, int):
                    _check_page_size(len(many) * times)
        elif operator == "+" and hasattr(left, "__len__") and hasattr(right, "__len__"):
            _check_page_size(len(left) + len(right))
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
    """Return the error of a project's template, with its file and line; None if no template of a project is in it."""
    files = {str(path) for path in own.values()}
    place = None
    if isinstance(error, jinja2.TemplateSyntaxError) and error.filename in files:
        place = f"{error.filename}:{error.lineno}"
    for frame, line in walk_tb(error.__traceback__):
        if frame.f_code.co_filename in files:
            place = f"{frame.f_code.co_filename}:{line}"
    if place is None:
        # The bound on time can end the handling of another error, and only that one has passed the template.
        return own_template_error(error.__context__, own) if isinstance(error.__context__, Exception) else None
    why = f"a page took more than {_MEMORY:,} bytes" if isinstance(error, MemoryError) else str(error)
    message = f"A template of the project cannot be rendered: {why or type(error).__name__}"
    return ConfigurationError(message, where=place, fix="Correct it, or build with --no-templates.")
