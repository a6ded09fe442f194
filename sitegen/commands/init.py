"""``sitegen init``: the files of the improvement loop, where a project has none yet."""

from __future__ import annotations

from pathlib import Path

from sitegen.errors import SitegenError
from sitegen.history.head import look
from sitegen.initialising import initialise


def init(repo: Path) -> None:
    """Write the skeletons into a work tree and say what was written and what was left alone."""
    found, _ = look(repo)
    if found.root is None:
        raise SitegenError("A bare repository has no work tree to write to.", where=str(found.top), fix="Clone it.")
    written = initialise(found.root)
    for one in written:
        print(f"{'wrote ' if one.new else 'kept  '} {one.path.relative_to(found.root)}")
    if any(one.new for one in written):
        print("next: put a ground_truth.csv and an extracted.json into evals/NAME/, then sitegen verify-one NAME")
