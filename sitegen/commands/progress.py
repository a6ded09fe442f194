"""Progress of a build or of calls to a model, as bars on a terminal and as lines elsewhere."""

from __future__ import annotations

import sys
from typing import Any

from sitegen.build import Progress
from sitegen.commands.printing import print_line
from sitegen.text.plain import line


class StageBars:
    """Progress bars on a terminal, one for each stage of a build."""

    def __init__(self) -> None:
        self.progress = Progress(self._stage, self._step, self._first_page)
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

    def _first_page(self, path: str) -> None:
        self.end()
        first_page_line(path)

    def end(self) -> None:
        """Finish the current bar."""
        if self._bar is not None:
            self._bar.render_finish()
            self._bar = None


def stage_line(name: str, steps: int) -> None:
    """Print a stage where there is no terminal."""
    print_line(f"{name}{f' ({steps})' if steps else ''} ...", error=True)


def first_page_line(path: str) -> None:
    """Say that the site can be opened before the build has ended."""
    print_line(f"{path} can be opened; the other pages follow", error=True)


class CallProgress:
    """A bar on a terminal, or elsewhere one line at the start; with ``--debug``, a line for each call."""

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
            print_line("stopped; the answers so far are kept, and the same command continues from there", error=True)

    def step(self) -> None:
        """Count one more finished call."""
        if self._bar is not None:
            self._bar.update(1)

    def log(self, text: str) -> None:
        """Print what the client reports of a call, for ``--debug``."""
        if self._debug:
            print_line(line(text), error=True)


def _new_bar(label: str, steps: int) -> Any:
    import typer  # builds without a terminal do not need it

    bar = typer.progressbar(length=steps, label=label, file=sys.stderr)
    bar.render_progress()
    return bar
