"""Finds evals and instructions that no configuration names: one search for builds, ``init`` and the work tree.

Evals in places where nothing else lies, such as those in which tools leave their results, are always looked for.
Where a project has none of them, and its manifest names none, ``discovery`` looks at all files and their history.

What is found becomes entries of the manifest and instruction globs of the site, as if a user had written them. All of
history is therefore read with these entries, and no later stage depends on how an eval was found.
"""

from __future__ import annotations

import dataclasses
import re
from hashlib import blake2b
from posixpath import join, split

from msgspec.structs import replace

from sitegen.config.findings import folder_path
from sitegen.config.manifest import manifest_in_force
from sitegen.config.models import SiteConfig
from sitegen.history.layout import Layout
from sitegen.history.repository import Repository
from sitegen.model.frozen import Frozen
from sitegen.model.problems import Problem
from sitegen.recognition.files import FilesOfHistory, bounded, files_of_history
from sitegen.recognition.searched_files import Search


class Searched(Frozen):
    """What a search has found, for the next one."""

    history: FilesOfHistory
    decided_by: str
    """A digest of the configuration and of what else decides besides the files."""
    manifest: str | None = None
    """The text of a manifest with the evals that were found."""
    instructions: tuple[str, ...] = ()
    """Globs to use in place of the default ones; none if those stay."""
    notes: tuple[Problem, ...] = ()
    """A note on each eval."""
    perhaps: tuple[Problem, ...] = ()
    """A note on whatever else may be an eval, with the reason why it was not taken for one."""

    @property
    def is_whole(self) -> bool:
        """Whether no content was missing, which may have been fetched since."""
        return not any(note.not_fetched for note in self.perhaps)

    def applied(self, configured: Layout) -> Layout:
        """Add the evals and the instructions to a configuration."""
        config, manifest = configured.site, configured.manifest
        if self.manifest:
            found = manifest_in_force(self.manifest.encode(), configured.manifest_path, config.evals_dir).value
            manifest = dataclasses.replace(manifest, evals=(*manifest.evals, *found.evals))
        # Globs that a user has written stay as they are.
        if self.instructions and config.instructions == SiteConfig().instructions:
            config = dataclasses.replace(config, instructions=self.instructions)
        return Layout(config, manifest)


def search_history(
    repository: Repository, configured: Layout, search: Search, head: str | None, before: Searched | None = None
) -> Searched | None:
    """Find the evals and the instructions that ``init`` would write, if the project names no eval up to a commit.

    With evals, look for instructions if the configuration names none and no usual place exists. None if there is
    nothing to look for. ``before``: the last search, which is continued, and holds for as long as no file has changed.
    """
    config, path = configured.site, configured.manifest_path
    search = replace(search, evals_dir=folder_path(config.evals_dir))
    has_evals = bool(search.stated or search.holds_evals_by_convention)
    usual = (split(glob.partition("*")[0].rstrip("/")) for glob in config.instructions)
    names_some = config.instructions != SiteConfig().instructions or any(name in search.names(at) for at, name in usual)
    # If somebody says where the evals are, no others are looked for.
    looked_at = search.folders if has_evals and config.evals_dir == SiteConfig().evals_dir else ()
    evals = (join(above, "evals") for above in looked_at if search.names(above).get("evals"))
    is_whole = has_evals and (bool(search.stated) or not any(folder != search.evals_dir for folder in evals))
    if head is None or (is_whole and names_some):
        return None
    history = files_of_history(repository, head, before.history if before else None)
    rules = (has_evals, config, configured.manifest, history.boundary)
    decided_by = blake2b(repr(rules).encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()
    if before and before.decided_by == decided_by and before.history.files == history.files and before.is_whole:
        return replace(before, history=history)
    searched = Searched(history=history, decided_by=decided_by)
    if is_whole:
        from sitegen.recognition.instruction_files import instruction_globs

        globs = instruction_globs(history.files, bounded(search.read, []), config.instructions)
        return replace(searched, instructions=tuple(glob.glob for glob in globs))
    from sitegen.recognition.discovery import discover  # a project with evals does not need it
    from sitegen.recognition.initialising import manifest_text

    discovery = discover(repository, configured, history)
    if has_evals:  # beside those in the folder of evals, what teams have in folders of their own that are called so
        own = rf"(?!{re.escape(search.evals_dir)}/).*\bevals/"
        found = [one for one in discovery.proposed if re.match(own, f"{one.entry['dir']}/{one.entry['outputs']}")]
        text = manifest_text([(one.id, one.entry, ()) for one in found], "")
        discovery = replace(discovery, proposed=(*found,), doubtful=(), rejected=(), manifest=text)
    keep = "Run sitegen init to write it into a manifest, and correct there what was guessed wrong."
    name = f"If it is one, name its files in {path}."
    doubtful = (
        Problem("note", f"Perhaps an eval: {one.why}; {one.doubt}.", f"If it is one, write into {path}: {one.line}")
        for one in discovery.doubtful
    )
    rejected = (
        Problem("note", f"Not taken as an eval: {one.why}; {one.lacks}.", name, not_fetched=one.not_fetched)
        for one in discovery.rejected
    )
    return replace(
        searched,
        manifest=discovery.manifest,
        instructions=tuple(glob.glob for glob in discovery.instructions) if discovery.site else (),
        notes=tuple(
            Problem("note", f"No manifest names the eval {one.id!r}. {one.why}.", keep) for one in discovery.proposed
        ),
        perhaps=(*doubtful, *rejected),
    )
