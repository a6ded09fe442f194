"""``sitegen init``: the files of the improvement loop, where a project has none yet, or templates to change."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sitegen.commands.saying import say
from sitegen.errors import SitegenError
from sitegen.history.head import look
from sitegen.initialising import copy_templates, initialise
from sitegen.installed_from import PLACEHOLDER, requirement, source


def init(repo: Path, templates: Sequence[str] = ()) -> None:
    """Write the skeletons, or the ``templates`` of these names, and say what was written and what was left alone."""
    found, _ = look(repo)
    if found.root is None:
        raise SitegenError("A bare repository has no work tree to write to.", where=str(found.top), fix="Clone it.")
    unknown = False
    if templates:
        from sitegen.render.environment import find_templates

        written, after = copy_templates(found.root, find_templates(), templates), "change them, then sitegen build"
    else:
        written = initialise(found.root)
        unknown = PLACEHOLDER in requirement(source())
        after = "put a ground_truth.csv and an extracted.json into evals/NAME/, then sitegen verify-one NAME"
    for one in written:
        say(f"{'wrote ' if one.new else 'kept  '} {one.path.relative_to(found.root)}")
    if unknown and any(one.new and one.path.suffix == ".yml" for one in written):
        say(f"in the workflows, write where others get sitegen from in the place of {PLACEHOLDER}")
    if any(one.new for one in written):
        say(f"next: {after}")
