"""``sitegen init``: writes a manifest of the evals that a project has, and the skeletons of files that it lacks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Final

from sitegen.commands.printing import print_line, print_text
from sitegen.errors import SitegenError
from sitegen.history.repository import Repository
from sitegen.history.repository_place import RepositoryPlace, find_repository
from sitegen.history.worktree import work_tree_paths
from sitegen.recognition.initialising import (
    copy_templates,
    manifest_line,
    site_text,
    skeleton_files,
    workflows,
    write_files,
)

if TYPE_CHECKING:
    from sitegen.recognition.files import Discovery

SITE: Final = "sitegen.toml"
_LOOKED_FOR: Final = (
    "results that other tools write; tables with a verdict or a score on each row; cases with what is expected beside "
    "what was given; an output that is rewritten, or runs with a date in their names, with expected values in a file "
    "beside it"
)


def init(
    repo: Path, templates: Sequence[str] = (), *, skeletons: bool = False, dry_run: bool = False, vendor: bool = False
) -> None:
    """Look for evals and instructions, write the configuration of them, and list which files are new.

    With ``templates``, only copy the templates of these names. With ``skeletons``, write files to begin with as well.
    With ``dry_run``, print the configuration instead of writing anything. With ``vendor``, write a wheel of sitegen.
    """
    place, head = find_repository(repo)
    root = place.root
    if root is None:
        raise SitegenError("A bare repository has no work tree to write to.", where=str(place.top), fix="Clone it.")
    if templates:
        from sitegen.engine.template_files import find_templates

        files = copy_templates(root, find_templates(), templates)
        _print_files(files, root)
        if any(files.values()):
            print_line("next: change them, then run sitegen build")
        return
    discovery, contents = _discover(place, head) if head else (None, {})
    publishing = {} if dry_run else workflows(Repository(place), vendor=vendor)
    texts = {name: text.encode() for name, text in contents.items()}
    begun = skeleton_files() if skeletons else {}
    files = {} if dry_run else write_files(root, begun | publishing | texts)
    if discovery:
        print_line(*discovery_lines(discovery))
    if dry_run:
        for name, text in contents.items():
            print_line(f"{name} would be:")
            print_text(text)
        return
    _print_files(files, root)
    known = {root / name for name in work_tree_paths(Repository(place))}
    for path in sorted(files.keys() - known):
        name = quote(path.relative_to(root).as_posix())
        print_line(f"git ignores {name}, so that neither a build nor a workflow has it: git add -f {name}")
    new_files = [path for path, is_new in files.items() if is_new]
    if not publishing:
        print_line("no workflow: others cannot install this sitegen. init --vendor writes workflows and a wheel of it")
    if files.get(root / ".gitlab-ci.yml") is False and root / ".gitlab/sitegen.yml" in new_files:
        print_line("in .gitlab-ci.yml, include {local: .gitlab/sitegen.yml}")
    if new_files and (contents or (discovery and discovery.existing)):
        print_line("next: review these files, commit them, then run sitegen build")
    elif not contents and not (discovery and discovery.existing):
        print_line(
            "next: put a ground_truth.csv and an extracted.json into evals/NAME/, then run sitegen verify-one NAME; "
            "init --skeletons writes files to begin with"
        )


def _print_files(files: Mapping[Path, bool], root: Path) -> None:
    for path, is_new in files.items():
        print_line(f"{'wrote ' if is_new else 'kept  '} {path.relative_to(root)}")


def _discover(place: RepositoryPlace, head: str) -> tuple[Discovery, Mapping[str, str]]:
    """Return what was found, and the text of each configuration file to write, by its path."""
    from sitegen.config.site import read_site
    from sitegen.history.files_at_commit import FilesAt, manifest_at
    from sitegen.history.layout import Layout
    from sitegen.recognition.discovery import discover
    from sitegen.recognition.files import files_of_history

    files, repository = FilesAt(place, head, on_disk=True), Repository(place)
    config = read_site(files.read_rules).value
    layout = Layout(config, manifest_at(files, config).value)
    discovery = discover(repository, layout, files_of_history(repository, head))
    site = site_text(discovery.instructions) if discovery.adds_globs else None
    texts = {layout.manifest_path: discovery.manifest, SITE: site}
    return discovery, {path: text for path, text in texts.items() if text is not None}


def discovery_lines(discovery: Discovery) -> Iterator[str]:
    """Yield a line for each eval and each glob of instructions, and what was looked for if there are none."""
    for entry in discovery.existing:
        yield f"is an eval already: {entry.id}, {entry.summary}"
    for entry in discovery.proposed:
        yield f"found an eval: {entry.id}, {entry.summary} ({entry.why})"
    for entry in discovery.doubtful:
        written = manifest_line(entry)
        yield f"perhaps an eval: {entry.why}; {entry.doubt}. If it is one, write into the manifest: {written}"
    for entry in discovery.rejected:
        yield f"no eval: {entry.why}; {entry.lacks}"
    for glob in discovery.instructions:
        yield f"found instructions: {glob.glob}, {glob.summary}"
    if not discovery.existing and not discovery.proposed:
        yield f"found no eval in {len(discovery.history.files):,} files. Looked for: {_LOOKED_FOR}"
    if not discovery.instructions:
        yield "found no instructions. Looked for the usual places and names of prompts, rules, skills and agents"
