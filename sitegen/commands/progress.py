"""How far a build, or the calls of a model, have come: bars on a terminal, lines elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from sitegen.build import Progress
from sitegen.commands.printing import print_line
from sitegen.text.plain import line


class StageBars:
    """A progress bar for each stage of a build, on a terminal."""

    def __init__(self) -> None:
        self.progress = Progress(self._stage, self._step)
        self._bar: Any = None  # typer names no type for its bars

    def _stage(self, name: str, steps: int) -> None:
        self.end()
        if steps:
            self._bar = _new_bar(name, steps)
        else:
            print_line(f"{name} ...", error=True)

    def _step(self, steps: int) -> None:
        if self._bar is not None:
            self._bar.update(steps)

    def end(self) -> None:
        """Finish the bar that is drawn."""
        if self._bar is not None:
            self._bar.render_finish()
            self._bar = None


def stage_line(name: str, steps: int) -> None:
    """Tell of a stage where there is no terminal."""
    print_line(f"{name}{f' ({steps})' if steps else ''} ...", error=True)


class CallProgress:
    """A bar on a terminal; elsewhere a line at the beginning, and with ``--debug`` one a call."""

    def __init__(self, label: str, calls: int, *, debug: bool) -> None:
        self._label = line(label, 200)
        self._calls = calls
        self._debug = debug
        self._bar: Any = None  # typer names no type for its bars

    def __enter__(self) -> CallProgress:
        if self._calls and sys.stderr.isatty() and not self._debug:
            self._bar = _new_bar(self._label, self._calls)
        elif self._calls:
            stage_line(self._label, self._calls)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._bar is not None:
            self._bar.render_finish()
        if kind is KeyboardInterrupt:
            print_line("stopped; what was answered is kept, and the same command goes on from there", error=True)

    def step(self) -> None:
        """One more call has ended."""
        if self._bar is not None:
            self._bar.update(1)

    @property
    def log(self) -> Callable[[str], None]:
        """Where the client tells of each call."""
        return _print_line if self._debug else _ignore


def _new_bar(label: str, steps: int) -> Any:
    import typer  # a build that is not on a terminal does without it

    bar = typer.progressbar(length=steps, label=label, file=sys.stderr)
    bar.render_progress()
    return bar


def _print_line(text: str) -> None:
    print_line(line(text), error=True)


def _ignore(text: str) -> None:
    pass
