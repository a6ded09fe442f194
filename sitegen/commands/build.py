"""``sitegen build``: builds the site with progress on standard error, and prints what it holds."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Final

from sitegen.analysis.problem_counts import ProblemCounts, problem_counts_text
from sitegen.build import Progress, build
from sitegen.commands.printing import print_line, print_text
from sitegen.engine.built_site import Site
from sitegen.project import Options
from sitegen.text.plain import counted, line


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


PROBLEMS: Final = 3
"""Exit code if a part of the site could not be made, or with ``--strict`` if there is any problem."""


def command(options: Options, *, strict: bool = False, public: bool = False, open_browser: bool = False) -> None:
    """Build with progress on standard error, then print counts and the address of the site.

    With *open_browser*, the overview is opened as soon as it is written, with *public* at the end. With *public*,
    raises SecretsError if the site holds what looks like a secret.
    """
    gate = None
    if public:
        from sitegen.questions.public import PublicCheck

        gate = PublicCheck(options)
    bars = StageBars() if sys.stderr.isatty() else None
    progress = bars.progress if bars else Progress(stage=stage_line, first_page=first_page_line)
    early: list[str] = []

    def first_page(page: str) -> None:
        progress.first_page(page)
        early.append(page)
        if open_browser and not public:
            _open(page)

    try:
        site = build(options, Progress(progress.stage, progress.step, first_page))
    except KeyboardInterrupt:
        if early:
            print_line(f"stopped; {early[0]} can be opened, and the next build writes what is missing", error=True)
        raise
    if bars:
        bars.end()
    if gate:
        gate.check(site.unmatched_redactions)
    if open_browser and (public or not early):
        _open(site.page)
    print_text(closing_line(site))
    if not site.evals and (path := uncommitted_manifest(options)):
        print_text(f"{path} is not committed and was not read: commit it, or run sitegen build --worktree.")
    if site.failed or (strict and site.problems):
        sys.exit(PROBLEMS)


def _open(page: str) -> None:
    import webbrowser  # few builds need it

    webbrowser.open(Path(page).as_uri())


def uncommitted_manifest(options: Options) -> str:
    """The path of a manifest that is in the work tree but not in the built commit; empty if there is none."""
    from sitegen.config.site import read_site
    from sitegen.history.files_at_commit import FilesAt
    from sitegen.history.repository_place import find_repository

    place, head = find_repository(options.repo, options.rev or "HEAD")
    if place.root is None or head is None or options.worktree:
        return ""
    path = f"{read_site(place.root).value.evals_dir}/manifest.yaml"
    return path if (place.root / path).is_file() and FilesAt(place, head).blob_id(path) is None else ""


def closing_line(site: Site) -> str:
    """The last lines: counts of what was built, what wrong values have in common, and the address of the site."""
    counts = ProblemCounts(error=site.errors, warning=site.warnings, note=site.notes, past=site.past)
    where = f" on {Path(site.page).with_name('problems.html').name}" if any(counts) else ""
    removed = f", {site.removed} removed" if site.removed else ""
    sizes = ((site.commits, "commit"), (site.evals, "eval"), (site.iterations, "iteration"))
    failed = f"; sitegen failed to make {counted(site.failed, 'part')} of the site" if site.failed else ""
    patterns = "".join(f"{sentence}\n" for sentence in site.patterns)
    return (
        f"{', '.join(counted(count, noun) for count, noun in sizes)}; "
        f"{counted(site.written, 'file')} written, {site.unchanged:,} kept{removed}; "
        f"{problem_counts_text(counts)}{where}{failed}\n{patterns}{site.page}"
    )
