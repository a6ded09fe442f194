"""``sitegen build``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sitegen.build import Progress, build
from sitegen.commands.saying import say_text
from sitegen.project import Options
from sitegen.stages.site_files import Site

if TYPE_CHECKING:
    from sitegen.questions.public import PublicCheck

PROBLEMS: Final = 3
"""Exit code if sitegen failed to make a part of the site; with ``--strict``, if there is any problem."""


def command(options: Options, *, strict: bool = False, public: bool = False) -> None:
    """Build, tell what is happening, and say at the end what there is and where to look.

    ``public``: raise SecretsError if the site holds what looks like a secret.
    """
    gate = _gate(options) if public else None
    bars = Bars() if sys.stderr.isatty() else None
    site = build(options, bars.progress if bars else Progress(stage=_line))
    if bars:
        bars.end()
    if gate:
        gate.check(site.unmatched_redactions)
    say_text(closing_line(site))
    if site.failed or (strict and site.problems):
        sys.exit(PROBLEMS)


def _gate(options: Options) -> PublicCheck:
    from sitegen.questions.public import PublicCheck

    return PublicCheck(options)


def closing_line(site: Site) -> str:
    """The last line: counts, and where to look."""
    found = ", ".join(
        text
        for text in (
            _counted(site.errors, "error"),
            _counted(site.warnings, "warning"),
            _counted(site.notes, "note"),
        )
        if text
    )
    past = f" ({site.past:,} past)" if site.past else ""
    where = f" on {Path(site.page).with_name('problems.html').name}" if found or past else ""
    problems = f"{found or 'no problems'}{past}{where}"
    removed = f", {site.removed} removed" if site.removed else ""
    counts = ", ".join(
        (_counted(site.commits, "commit"), _counted(site.evals, "eval"), _counted(site.iterations, "iteration"))
    )
    written = f"{_counted(site.written, 'file')} written, {site.kept:,} kept{removed}"
    thinned = f"; {_counted(site.thinned, 'old report')} made short to fit" if site.thinned else ""
    failed = f"; sitegen failed to make {_counted(site.failed, 'part')} of the site" if site.failed else ""
    return f"{counts}; {written}; {problems}{thinned}{failed}\n{site.page}"


def _counted(count: int, noun: str) -> str:
    if noun in {"error", "warning", "note"} and not count:
        return ""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _line(name: str, steps: int) -> None:
    """Plain lines, for logs."""
    print(f"{name}{f' ({steps})' if steps else ''} ...", file=sys.stderr, flush=True)


class Bars:
    """A progress bar for each stage, on a terminal."""

    def __init__(self) -> None:
        self.progress = Progress(self._stage, self._step)
        self._bar: Any = None  # typer names no type for its bars

    def _stage(self, name: str, steps: int) -> None:
        self.end()
        if steps:
            import typer

            self._bar = typer.progressbar(length=steps, label=name, file=sys.stderr)
            self._bar.render_progress()
        else:
            print(f"{name} ...", file=sys.stderr)

    def _step(self, steps: int) -> None:
        if self._bar is not None:
            self._bar.update(steps)

    def end(self) -> None:
        """Finish the bar that is drawn."""
        if self._bar is not None:
            self._bar.render_finish()
            self._bar = None
