"""``sitegen demo``: a repository of an invented team that reads six kinds of documents, shipped as a git bundle."""

import os
import subprocess
from pathlib import Path
from typing import Final

from sitegen.data_files.project_files import named_place
from sitegen.errors import OutputFolderError, RepositoryError
from sitegen.history.repository_place import top_of

_BUNDLE: Final = Path(__file__).with_name("demo.bundle")


def write_demo(folder: Path) -> str:
    """Write the demo as a git repository with a work tree into a new or empty folder.

    Returns the id of its head commit, which never changes. Raises ``OutputFolderError`` if something is in the folder,
    ``RepositoryError`` if git is missing or fails.
    """
    folder = named_place(folder, top_of(Path()))
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise OutputFolderError(
            "The demo needs a folder of its own.", where=str(folder), fix="Name a folder that is new or empty."
        )
    folder.mkdir(parents=True, exist_ok=True)
    _git(folder, "clone", "--quiet", "--template=", "--branch=main", str(_BUNDLE), ".")
    _git(folder, "remote", "remove", "origin")
    return _git(folder, "rev-parse", "HEAD").strip()


def _git(folder: Path, *arguments: str) -> str:
    """Run git as if nobody had ever configured it: neither settings nor ``GIT_*`` variables reach it."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    try:
        done = subprocess.run(["git", *arguments], cwd=folder, env=environment, capture_output=True)
    except FileNotFoundError as error:
        raise RepositoryError("git was not found", fix="Install git and make sure that it is on the PATH.") from error
    if done.returncode:
        words = done.stderr.decode(errors="replace").strip()
        raise RepositoryError(f"git {arguments[0]} failed: {words}", where=str(folder))
    return done.stdout.decode()
