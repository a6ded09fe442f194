"""``sitegen build``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sitegen import configuring
from sitegen.build import Progress, build
from sitegen.commands.printing import print_text
from sitegen.commands.progress import StageBars, stage_line
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
    gate = _public_check(options) if public else None
    bars = StageBars() if sys.stderr.isatty() else None
    site = build(options, bars.progress if bars else Progress(stage=stage_line))
    if bars:
        bars.end()
    if gate:
        gate.check(site.unmatched_redactions)
    print_text(closing_line(site))
    if not site.evals and (path := uncommitted_manifest(options)):
        print_text(f"{path} is not committed, and nothing of it is read: commit it, or run sitegen build --worktree.")
    if site.failed or (strict and site.problems):
        sys.exit(PROBLEMS)


def _public_check(options: Options) -> PublicCheck:
    from sitegen.questions.public import PublicCheck

    return PublicCheck(options)


def uncommitted_manifest(options: Options) -> str:
    """The path of a manifest that stands in the work tree and not in the built commit; empty if there is none."""
    from sitegen.history.files_at_commit import FilesAt
    from sitegen.history.repository_place import find_repository

    found, head = find_repository(options.repo, options.rev or "HEAD")
    if found.root is None or head is None or options.worktree:
        return ""
    path = f"{configuring.read_site(found.root).evals_dir}/manifest.yaml"
    return path if (found.root / path).is_file() and FilesAt(found, head).read(path) is None else ""


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
    written = f"{_counted(site.written, 'file')} written, {site.unchanged:,} kept{removed}"
    thinned = f"; {_counted(site.thinned, 'old report')} made short to fit" if site.thinned else ""
    failed = f"; sitegen failed to make {_counted(site.failed, 'part')} of the site" if site.failed else ""
    return f"{counts}; {written}; {problems}{thinned}{failed}\n{site.page}"


def _counted(count: int, noun: str) -> str:
    if noun in {"error", "warning", "note"} and not count:
        return ""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
