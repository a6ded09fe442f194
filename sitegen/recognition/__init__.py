"""Finds evals and instructions that no configuration names: one search for builds, ``init`` and the work tree.

Evals in places where nothing else lies, such as those in which tools leave their results, are always looked for.
Where a project has none of them, and its manifest names none, ``discovery`` looks at all files and their history.

What is found becomes entries of the manifest and instruction globs of the site, as if a user had written them. All of
history is therefore read with these entries, and no later stage depends on how an eval was found.
"""

import re
from hashlib import blake2b
from posixpath import join

from msgspec.structs import replace

from sitegen.config.findings import folder_path
from sitegen.config.models import SiteConfig
from sitegen.history.layout import Layout
from sitegen.history.repository import Repository
from sitegen.model.problems import Problem
from sitegen.recognition.files import Discovery, files_of_history, searched_files
from sitegen.recognition.instruction_files import candidates_at, instruction_globs
from sitegen.recognition.searched_files import Search


def notes_on(discovery: Discovery, manifest: str) -> tuple[tuple[Problem, ...], tuple[Problem, ...]]:
    """Return a note on each eval, and one on whatever else may be one. ``manifest``: the path of the manifest."""
    if not (discovery.proposed or discovery.doubtful or discovery.rejected):
        return (), ()
    from sitegen.recognition.initialising import manifest_line  # few builds need it

    keep = "Run sitegen init to write it into a manifest, and correct there what was guessed wrong."
    write, name = (f"If it is one, {what} {manifest}" for what in ("write into", "name its files in"))
    doubtful = (
        Problem("note", f"Perhaps an eval: {one.why}; {one.doubt}.", f"{write}: {manifest_line(one)}")
        for one in discovery.doubtful
    )
    rejected = (
        Problem("note", f"Not taken as an eval: {one.why}; {one.lacks}.", f"{name}.", not_fetched=one.not_fetched)
        for one in discovery.rejected
    )
    named = (f"No manifest names the eval {one.id!r}. {one.why}." for one in discovery.proposed)
    return tuple(Problem("note", message, keep) for message in named), (*doubtful, *rejected)


def search_history(
    repository: Repository, configured: Layout, search: Search, head: str | None, before: Discovery | None = None
) -> Discovery | None:
    """Find the evals and the instructions that ``init`` would write, if the project names no eval up to a commit.

    With evals, look for instructions alone, among the files of the commit, unless the configuration names some. None
    if there is nothing to look for. ``before``: the last search, which is continued, and holds for as long as no file
    has changed.
    """
    config = configured.site
    search = replace(search, evals_dir=folder_path(config.evals_dir))
    has_evals = bool(search.stated or search.holds_evals_by_convention)
    # If somebody says where the evals are, no others are looked for.
    looked_at = search.folders if has_evals and config.evals_dir == SiteConfig().evals_dir else ()
    evals = (join(above, "evals") for above in looked_at if search.files.names(above).get("evals"))
    is_whole = has_evals and (bool(search.stated) or not any(folder != search.evals_dir for folder in evals))
    if head is None or (is_whole and config.instructions != SiteConfig().instructions):
        return None
    if is_whole:  # a build with evals does not walk history twice
        history = candidates_at(search, configured)
    else:
        history = files_of_history(repository, head, before.history if before else None)
    rules = (has_evals, config, configured.manifest, history.boundary)
    decided_by = blake2b(repr(rules).encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()
    is_same = before and before.decided_by == decided_by and before.history.files == history.files
    if before and is_same and not any(one.not_fetched for one in before.rejected):  # which may have been fetched since
        return replace(before, history=history)
    if is_whole:
        globs = instruction_globs(searched_files(history, search), config.instructions)
        return Discovery(history=history, instructions=globs, adds_globs=True, decided_by=decided_by)
    from sitegen.recognition.discovery import discover  # a project with evals does not need it
    from sitegen.recognition.initialising import manifest_text

    discovery = discover(repository, configured, history)
    if has_evals:  # beside those in the folder of evals, what teams have in folders of their own that are called so
        own = rf"(?!{re.escape(search.evals_dir)}/).*\bevals/"
        found = [one for one in discovery.proposed if re.match(own, f"{one.entry['dir']}/{one.entry['outputs']}")]
        text = manifest_text([(one.id, one.entry, ()) for one in found], "")
        discovery = replace(discovery, proposed=tuple(found), doubtful=(), rejected=(), manifest=text)
    return replace(discovery, decided_by=decided_by)
