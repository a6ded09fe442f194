"""Where a project is and what it stands at: one short git process, and no import that costs anything.

This is all the git that a build of an unchanged project runs.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
from pathlib import Path
from typing import NamedTuple

from sitegen.errors import RepositoryError


class Place(NamedTuple):
    """Where the project is, and what it stands at."""

    root: Path
    """The work tree; of a bare repository, the repository."""
    bare: bool
    head: str | None
    """Id of the commit that is built; None if there is no such revision."""
    refs: str
    """Digest of what else in the repository decides a site: its configuration and its shallow boundary."""

    @property
    def cache(self) -> Path:
        """The usual folder of the memo."""
        return self.root / ".sitegen"

    @property
    def out(self) -> Path:
        """The usual output folder."""
        return self.root / "public"


def find(path: Path, rev: str = "HEAD") -> Place:
    """The repository around a folder, and what a revision is in it.

    Raises RepositoryError, in git's own words, if there is none or git does not want to read it.
    """
    if not path.exists():
        raise RepositoryError("There is no such folder.", where=str(path), fix="Name a folder of a git repository.")
    folder = path if path.is_dir() else path.parent
    answer = subprocess.run(
        ["git", "rev-parse", "--is-bare-repository", "--git-common-dir", "--show-cdup", f"{rev}^{{commit}}"],
        cwd=folder,
        capture_output=True,
        text=True,
        errors="surrogateescape",
        env=environment(),
        check=False,
    )
    lines = answer.stdout.split("\n")
    if len(lines) < 3:
        raise RepositoryError(
            answer.stderr.strip().removeprefix("fatal: ").partition("\n")[0] or "git cannot read the repository.",
            where=str(folder.resolve()),
            fix="Run sitegen inside a git repository, or name one: sitegen build REPO.",
        )
    bare = lines[0] == "true"
    common = (folder / lines[1]).resolve()
    root = common if bare else (folder / lines[2]).resolve()
    head = lines[3] if answer.returncode == 0 and len(lines) > 4 else None
    return Place(root, bare, head, digest_files(common / "config", common / "shallow"))


def environment() -> dict[str, str]:
    """The environment for git: nothing of the user's settings for output, nothing replaced, grafted, fetched or asked."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_TRACE")}
    return kept | {
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_GRAFT_FILE": os.devnull,
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C",
    }


def digest_files(*files: Path) -> str:
    """The digest of what stands in these files now; a missing file is a content of its own."""
    state = hashlib.sha256()
    for file in files:
        try:
            content = file.read_bytes()
        except OSError:
            content = b"\0 no such file"
        state.update(len(content).to_bytes(8, "little") + content)
    return state.hexdigest()
