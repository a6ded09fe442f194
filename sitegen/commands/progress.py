"""How far the calls of a model have come."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import typer

from sitegen.commands.saying import say
from sitegen.text.plain import line


class TerminalProgress:
    """A bar on a terminal; elsewhere a line at the beginning, and with ``--debug`` one a call."""

    def __init__(self, label: str, calls: int, *, debug: bool) -> None:
        self._label = line(label, 200)
        self._calls = calls
        self._debug = debug
        self._bar: Any = None  # typer names no type for its bars

    def __enter__(self) -> TerminalProgress:
        if self._calls and sys.stderr.isatty() and not self._debug:
            self._bar = typer.progressbar(length=self._calls, label=self._label, file=sys.stderr)
            self._bar.render_progress()
        elif self._calls:
            say(f"{self._label} ({self._calls}) ...", error=True)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._bar is not None:
            self._bar.render_finish()
        if kind is KeyboardInterrupt:
            print("stopped; what was answered is kept, and the same command goes on from there", file=sys.stderr)

    def step(self) -> None:
        """One more call has ended."""
        if self._bar is not None:
            self._bar.update(1)

    @property
    def log(self) -> Callable[[str], None]:
        """Where the client tells of each call."""
        return _print_line if self._debug else _ignore


def _print_line(text: str) -> None:
    say(line(text), error=True)


def _ignore(text: str) -> None:
    pass
