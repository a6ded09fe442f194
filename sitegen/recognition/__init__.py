"""Finds evals and instructions that no configuration names: one search for builds, ``init`` and the work tree.

Evals in places where nothing else lies, such as those in which tools leave their results, are always looked for.
Where a project has none of them, and its manifest names none, ``discovery`` looks at all files and their history.

What is found becomes entries of the manifest and instruction globs of the site, as if a user had written them. All of
history is therefore read with these entries, and no later stage depends on how an eval was found.
"""

from __future__ import annotations

import dataclasses
from posixpath import split
from typing import Final

from msgspec.structs import replace

from sitegen.config.findings import folder_path
from sitegen.config.manifest import manifest_in_force
from sitegen.config.models import SiteConfig
from sitegen.config.searched_files import Search
from sitegen.history.layout import Layout
from sitegen.history.repository import Repository
from sitegen.model.problems import Problem

IF_IT_IS: Final = "If it is one, "
"""The start of the remedy for each note on what may be an eval and was not taken for one."""


def with_proposed_evals(
    repository: Repository, configured: Layout, search: Search, head: str | None
) -> tuple[Layout, tuple[Problem, ...]]:
    """Add the evals and the instructions that ``init`` would write, if the project names no eval up to a commit.

    A note on each eval, and on each proposal that was rejected, gives the reason.
    """
    search = replace(search, evals_dir=folder_path(configured.site.evals_dir))
    if head is None:
        return configured, ()
    if search.stated or search.holds_evals_by_convention:
        return _with_instructions(repository, configured, search, head), ()
    from sitegen.recognition.discovery import discover  # a project with evals does not need it

    discovery, config, manifest = discover(repository, configured, head), configured.site, configured.manifest
    if discovery.manifest:
        found = manifest_in_force(discovery.manifest.encode(), configured.manifest_path, config.evals_dir).value
        manifest = dataclasses.replace(manifest, evals=(*manifest.evals, *found.evals))
    # Globs that a user has written stay as they are.
    if discovery.site and config.instructions == SiteConfig().instructions:
        config = dataclasses.replace(config, instructions=tuple(glob.glob for glob in discovery.instructions))
    layout = Layout(config, manifest)
    keep = "Run sitegen init to write it into a manifest, and correct there what was guessed wrong."
    name = f"{IF_IT_IS}name its files in {configured.manifest_path}."
    perhaps = (
        Problem(
            "note",
            f"Perhaps an eval: {one.why}; {one.doubt}.",
            f"{IF_IT_IS}write into {configured.manifest_path}: {one.line}",
        )
        for one in discovery.doubtful
    )
    taken = (Problem("note", f"No manifest names the eval {one.id!r}. {one.why}.", keep) for one in discovery.proposed)
    others = (Problem("note", f"Not taken as an eval: {one.why}; {one.lacks}.", name) for one in discovery.rejected)
    return layout, (*taken, *perhaps, *others)


def _with_instructions(repository: Repository, configured: Layout, search: Search, head: str) -> Layout:
    """Add instructions wherever they are, if the configuration names none and no usual place exists."""
    config = configured.site
    usual = (split(glob.partition("*")[0].rstrip("/")) for glob in config.instructions)
    if config.instructions != SiteConfig().instructions or any(name in search.names(above) for above, name in usual):
        return configured
    from sitegen.recognition.files import bounded, tracked_files
    from sitegen.recognition.instruction_files import instruction_globs

    tracked, _ = tracked_files(repository, head, first_parent=config.first_parent)
    globs = tuple(glob.glob for glob in instruction_globs(tracked, bounded(search.read), config.instructions))
    return Layout(dataclasses.replace(config, instructions=globs), configured.manifest) if globs else configured
