"""``sitegen build``: builds the site with progress on standard error, and prints what it holds."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from sitegen.commands.printing import print_line, print_text
from sitegen.engine.built_site import Progress, Site
from sitegen.project import Options
from sitegen.text.plain import counted
from sitegen.update import build


@contextmanager
def stage_progress(*, bars: bool) -> Iterator[Progress]:
    """Show the stages of a build, or calls of a model, as bars on a terminal, and as lines elsewhere."""
    bar: Any = None  # typer names no type for its bars

    def end() -> None:
        nonlocal bar
        if bar is not None:
            bar.render_finish()
            bar = None

    def stage(name: str, steps: int) -> None:
        nonlocal bar
        end()
        if bars and steps:
            import typer  # builds without a terminal do not need it

            bar = typer.progressbar(length=steps, label=name, file=sys.stderr)
            bar.render_progress()
        else:
            print_line(f"{name}{f' ({steps})' if steps else ''} ...", error=True)

    def step(steps: int) -> None:
        if bar is not None:
            bar.update(steps)

    def first_page(path: str) -> None:
        """Say that the site can be opened before the build has ended."""
        end()
        print_line(f"{path} can be opened; the other pages follow", error=True)

    try:
        yield Progress(stage, step, first_page)
    finally:
        end()


PROBLEMS: Final = 3
"""Exit code if a part of the site could not be made, or with ``--strict`` if there is any problem."""


def command(options: Options, *, strict: bool = False, public: bool = False, open_browser: bool = False) -> None:
    """Build with progress on standard error, then print counts and the address of the site.

    With ``open_browser``, the overview is opened as soon as it is written, with ``public`` at the end. With ``public``,
    raises SecretsError if the site holds what looks like a secret.
    """
    gate = None
    if public:
        from sitegen.questions.public import PublicCheck

        gate = PublicCheck(options)
    early: list[str] = []
    try:
        with stage_progress(bars=sys.stderr.isatty()) as progress:

            def first_page(page: str) -> None:
                progress.first_page(page)
                early.append(page)
                if open_browser and not public:
                    _open(page)

            site = build(options, Progress(progress.stage, progress.step, first_page))
    except KeyboardInterrupt:
        if early:
            print_line(f"stopped; {early[0]} can be opened, and the next build writes what is missing", error=True)
        raise
    if gate:
        gate.check(site.unmatched_redactions)
    if open_browser and (public or not early):
        _open(site.page)
    print_text(closing_line(site))
    if not site.evals:
        if path := uncommitted_manifest(options):
            print_text(f"{path} is not committed and was not read: commit it, or run sitegen build --worktree.")
        else:
            print_text("There is no eval. To see what was looked for, and to begin one, run:\nsitegen init")
    if site.failed or (strict and site.problems):
        sys.exit(PROBLEMS)


def _open(page: str) -> None:
    import webbrowser  # few builds need it

    webbrowser.open(Path(page).as_uri())


def uncommitted_manifest(options: Options) -> str:
    """Return the path of a manifest that is in the work tree but not in the built commit; empty if there is none."""
    from sitegen.config.site import read_site
    from sitegen.history.files_at_commit import FilesAt
    from sitegen.history.repository_place import find_repository

    place, head = find_repository(options.repo, options.rev or "HEAD")
    if place.root is None or head is None or options.worktree:
        return ""
    files = FilesAt(place, head)
    path = f"{read_site(files.of_work_tree.read_rules).value.evals_dir}/manifest.yaml"
    return path if (place.root / path).is_file() and files.blob_id(path) is None else ""


def closing_line(site: Site) -> str:
    """Return the last lines: counts, newest verdicts, what else may be an eval, how to see the site, its address."""
    sizes = ((site.commits, "commit"), (site.evals, "eval"), (site.iterations, "iteration"))
    failed = f"; {counted(site.failed, 'part')} of the site could not be made" if site.failed else ""
    sentences = "".join(f"{sentence}\n" for sentence in site.sentences)
    return (
        f"{', '.join(counted(count, noun) for count, noun in sizes)}; "
        f"{counted(site.written, 'file')} written{f', {site.unchanged:,} kept' * bool(site.unchanged)}"
        f"{f', {site.removed} removed' * bool(site.removed)}; "
        f"problems.html: {site.problems_in_words}{failed}\n"
        f"{sentences}Open this page, or run sitegen watch:\n{site.page}"
    )
