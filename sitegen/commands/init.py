"""``sitegen init``: a manifest of what lies in the project already, and the files of the loop, where there are none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sitegen.commands.printing import print_line, print_text
from sitegen.errors import ConfigurationError, SitegenError
from sitegen.history.repository_place import RepositoryPlace, find_repository
from sitegen.initialising import copy_templates, initialise, write_schema
from sitegen.installed_from import PLACEHOLDER, requirement, source
from sitegen.scoring.schema_types import read_schema

if TYPE_CHECKING:
    from sitegen.discovery import Discovery

SITE: Final = "sitegen.toml"
_LOOKED_FOR: Final = (
    "results that other tools write; tables with a verdict or a score on each row; cases with what is expected beside "
    "what was given; an output that is rewritten, or runs with a date in their names, with expected values in a file "
    "beside it"
)


def init(repo: Path, templates: Sequence[str] = (), *, schema: str | None = None, dry_run: bool = False) -> None:
    """Look for evals and instructions, write what was found and the skeletons, and say what was left alone.

    With *templates*, copy those of these names instead; with *schema*, write the schema of this model instead. With
    *dry_run* what would be written is printed.
    """
    found, head = find_repository(repo)
    if found.root is None:
        raise SitegenError("A bare repository has no work tree to write to.", where=str(found.top), fix="Clone it.")
    if templates:
        _copy_templates(found.root, templates)
        return
    if schema:
        _write_schema(found.root, schema)
        return
    told, contents = _discover(found, found.root, head) if head else ((), {})
    written = () if dry_run else initialise(found.root, {name: text.encode() for name, text in contents.items()})
    for row in told:
        print_line(row)
    if dry_run:
        for name, text in contents.items():
            print_line(f"{name} would be:")
            print_text(text)
        return
    unknown = PLACEHOLDER in requirement(source())
    for one in written:
        print_line(f"{'wrote ' if one.new else 'kept  '} {one.path.relative_to(found.root)}")
    if unknown and any(one.new and one.path.suffix == ".yml" for one in written):
        print_line(f"in the workflows, write where others get sitegen from in the place of {PLACEHOLDER}")
    if any(one.new for one in written):
        after = (
            "look over what was found, commit it, then sitegen build"
            if contents
            else "put a ground_truth.csv and an extracted.json into evals/NAME/, then sitegen verify-one NAME"
        )
        print_line(f"next: {after}")


def _copy_templates(root: Path, templates: Sequence[str]) -> None:
    from sitegen.render.environment import find_templates

    written = copy_templates(root, find_templates(), templates)
    for one in written:
        print_line(f"{'wrote ' if one.new else 'kept  '} {one.path.relative_to(root)}")
    if any(one.new for one in written):
        print_line("next: change them, then sitegen build")


def _write_schema(root: Path, model: str) -> None:
    one = write_schema(root, model)
    name = one.path.relative_to(root).as_posix()
    if not one.new:
        print_line(f"kept   {name}")
        return
    rules = read_schema(one.path.read_bytes())
    print_line(f"wrote  {name}: types of {len(rules.types)} fields, tolerances of {len(rules.tolerances)}")
    for finding in rules.findings:
        print_line(f"{finding.severity}: {finding.text}. {finding.fix}")
    print_line(f"next: name it in evals/manifest.yaml as schema: {name}")


def _discover(place: RepositoryPlace, root: Path, head: str) -> tuple[tuple[str, ...], Mapping[str, str]]:
    """What lies in the project, a line each, and the files that say it to a build, by their paths."""
    from sitegen.configuring import read_manifest, read_site
    from sitegen.discovery import discover
    from sitegen.history.repository import Repository
    from sitegen.project_files import read_inside

    config = read_site(root)
    name = f"{config.evals_dir}/manifest.yaml"
    try:
        content = read_inside(root, name, config.limits.max_blob_bytes)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        content = b""
    except OSError as error:
        raise ConfigurationError(
            f"The manifest cannot be read: {error.strerror}.", where=name, fix="Put a regular file there."
        ) from None
    discovery = discover(Repository(place), config, read_manifest(content, name, config.evals_dir), head)
    files = {name: discovery.manifest, SITE: discovery.site}
    return tuple(discovery_lines(discovery)), {path: text for path, text in files.items() if text is not None}


def discovery_lines(discovery: Discovery) -> Iterator[str]:
    """What was found, an eval and a glob a line."""
    from sitegen.discovery import summary
    from sitegen.discovery.written import counted

    for each in discovery.known:
        lacks = f", but {each.standing.lacks}" if each.standing.lacks else ""
        yield f"is an eval already: {each.id}, {summary(each.standing)}{lacks}"
    for each in discovery.proposed:
        yield f"found an eval: {each.id}, {summary(each.standing)} ({each.why})"
    for each in discovery.rejected:
        yield f"no eval: {each.why}; {each.standing.lacks}"
    for glob in discovery.instructions:
        yield f"found instructions: {glob.glob}, {counted(glob)}"
    if not discovery.known and not discovery.proposed:
        yield f"found no eval in {discovery.files:,} files. Looked for: {_LOOKED_FOR}"
    if not discovery.instructions:
        yield "found no instructions. Looked for the usual places and names of prompts, rules, skills and agents"
