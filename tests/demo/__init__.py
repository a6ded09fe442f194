"""What the demo tells: a repository of an invented team that reads six kinds of documents, the same to the last bit.

Nothing in it comes from anywhere else. ``chapters`` tell the story, ``project`` carries it out, ``reading`` stands in
for a language model whose skill at each field is moved by the edits of the instructions. The package ships what this
makes, as a git bundle; ``python -m tests.demo`` writes it again.
"""

from __future__ import annotations

from pathlib import Path

from tests.demo.chapters import CHAPTERS
from tests.demo.project import Project


def tell(folder: Path) -> str:
    """Write the history into an empty folder, as a repository. The answer is the id of its head commit."""
    project = Project()
    for chapter in CHAPTERS:
        chapter(project)
    return project.stream.write(folder)
