"""The demo: a repository of an invented team that reads six kinds of documents, always the same to the last bit.

Nothing in it comes from anywhere else. ``chapters`` tell the story, ``project`` carries it out, ``reading`` stands in
for a language model whose skill at each field is moved by the edits of the instructions.
"""

from __future__ import annotations

from pathlib import Path

from sitegen.errors import OutputFolderError


def write_demo(folder: Path) -> str:
    """Write the demo as a git repository with a work tree into a new or empty folder.

    Returns the id of its head commit, which never changes. Raises ``OutputFolderError`` if something is in the folder.
    """
    from sitegen.demo.chapters import CHAPTERS
    from sitegen.demo.project import Project

    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise OutputFolderError(
            "The demo needs a folder of its own.", where=str(folder), fix="Name a folder that is new or empty."
        )
    folder.mkdir(parents=True, exist_ok=True)
    project = Project()
    for chapter in CHAPTERS:
        chapter(project)
    return project.stream.write(folder)
