"""Finds a repository and the commit of a revision, by short git processes and without slow imports.

If nothing has changed, a build runs only this.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import stat
import subprocess
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from sitegen.data_files.project_files import LARGEST_CONFIGURATION, LARGEST_FILE, read_file
from sitegen.errors import Notice, RepositoryError

GIT: Final = "git"

_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_HARMLESS_VARIABLES: Final = (
    "GIT_CONFIG",
    "GIT_CEILING_DIRECTORIES",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM",
    "GIT_EXEC_PATH",
    "GIT_TEST_",
)

SAFE: Final[dict[str, str]] = {
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_DIFF_OPTS": "",
    "GIT_GLOB_PATHSPECS": "0",
    "GIT_GRAFT_FILE": os.devnull,
    "GIT_ICASE_PATHSPECS": "0",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NOGLOB_PATHSPECS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
"""Variables that make git answer the same for every user: no replacements, grafts, fetches, prompts or writes."""

_SETTINGS: Final = (
    ("advice.graftFileDeprecated", "false"),
    ("core.alternateRefsCommand", "false"),
    ("core.askPass", ""),
    ("core.attributesFile", os.devnull),
    ("core.deltaBaseCacheLimit", "64m"),
    ("core.fsmonitor", ""),
    ("core.gitProxy", ""),
    ("core.hooksPath", os.devnull),
    ("core.packedGitLimit", "64m"),
    ("core.packedGitWindowSize", "4m"),
    ("core.pager", "cat"),
    ("core.quotePath", "true"),
    ("core.sshCommand", "false"),
    ("core.untrackedCache", "false"),
    ("credential.helper", ""),
    ("diff.suppressBlankEmpty", "false"),
    ("gpg.program", "false"),
    ("log.showSignature", "false"),
    ("protocol.allow", "never"),
    ("submodule.recurse", "false"),
)
"""Settings of every git process, which override those of the repository, of its work trees and of the user.

They restore git's own defaults for settings that affect plumbing commands, and name no program that git would run. Only
the memory is less than git's own, which maps whole packs, up to 400 MB of a history of 100,000 commits, and keeps 96 MB
of contents on which others are based: with 64 MB it reads as fast. A repository's configuration is as untrusted as its
files. If a setting cannot be restored because the repository chooses part of its name (``filter.*``,
``diff.*.textconv``), sitegen uses no command that it affects.
"""


class RepositoryPlace(NamedTuple):
    """The folders of a repository."""

    git_dir: Path
    """The git folder; for a linked work tree, its own folder below ``worktrees/``."""
    common_dir: Path
    """The folder of objects and configuration; it differs from ``git_dir`` only in a linked work tree."""
    root: Path | None
    """The top of the work tree; None in a bare repository."""
    shallow: bool

    @property
    def top(self) -> Path:
        """The top of the work tree; for a bare repository, the folder of the repository."""
        return self.root or self.git_dir

    def refs(self) -> str:
        """Return a digest of what else decides a site than commits: the configuration and the shallow boundary."""
        state = hashlib.sha256()
        for name in ("config", "shallow"):
            try:
                content = read_file(self.common_dir / name, LARGEST_FILE)
            except OSError:
                content = b"\0 no such file"
            state.update(len(content).to_bytes(8, "little") + content)
        return state.hexdigest()

    def branches_and_tags(self) -> str:
        """Return the digest of the commits of all branches and tags, by one process of some 4 ms."""
        return hashlib.sha256(_run_git(self.top, "for-each-ref").stdout).hexdigest()


PATIENCE: Final = 10.0
"""Seconds of silence after which ``wait_for_git`` looks for the cause."""
_LONGEST_SILENCE: Final = 120.0
"""Seconds of silence after which git is ended, although no cause was found. A slow disk takes some."""


def git_environment() -> dict[str, str]:
    """Return the environment for git: the caller's without variables that affect git, and with ``SAFE``.

    Variables of the configuration stay, because ``safe.directory`` is part of it.
    """
    variables = os.environ.items()
    own = {
        name: value for name, value in variables if not name.startswith("GIT_") or name.startswith(_HARMLESS_VARIABLES)
    }
    return own | SAFE


def git_command(*arguments: str) -> list[str]:
    """Return the command by which git is always started, with ``_SETTINGS``. Its environment needs ``SAFE``."""
    return [GIT, *(part for name, value in _SETTINGS for part in ("-c", f"{name}={value}")), *arguments]


_OPENED: Final = (
    *("HEAD", "config", "config.worktree", "packed-refs", "shallow", "commondir", "info/attributes", "info/exclude"),
    *("objects/info/alternates", "objects/info/commit-graph", "objects/info/commit-graphs/commit-graph-chain"),
    "objects/pack/multi-pack-index",
)
"""Files of a git folder that git opens, if they exist, without a look at what they are."""


def find_repository(path: Path, rev: str = "HEAD") -> tuple[RepositoryPlace, str | None]:
    """Find the repository around a folder or a file, and the commit of a revision; None if it names no commit.

    This takes one process of some 4 ms. Raises RepositoryError with git's own message if there is no repository or git
    refuses to read it.
    """
    folder = path if path.is_dir() else path.parent
    if not path.exists():
        raise RepositoryError("There is no such folder.", where=str(path), fix="Name a folder of a git repository.")
    _refuse_pipes(folder)
    # ``resolve`` handles revisions for which git may print no line or several lines.
    revision = "HEAD" if rev.startswith("-") or ".." in rev or re.search("[\n\0]", rev) else rev
    answer = _run_git(
        folder,
        "rev-parse",
        "--is-bare-repository",
        "--is-inside-work-tree",
        "--is-shallow-repository",
        "--absolute-git-dir",
        "--show-cdup",
        f"{revision}^{{commit}}",
    )
    flags = os.fsdecode(answer.stdout).removesuffix("\n").split("\n", 3)
    if len(flags) < 4:
        raise _refusal(folder, answer.stderr)
    # The last line is the id, or the name of an unknown revision. The line before it is the path up to the top of the
    # work tree, if there is one. All lines before that are the folder, whose name may contain line ends.
    rest, _, commit = flags[3].rpartition("\n")
    bare, inside, shallow = (flag == "true" for flag in flags[:3])
    # Outside of the work tree git names it only if the configuration does.
    is_elsewhere = not inside and "\n" in rest and not os.path.isdir(rest)
    git, _, up = rest.rpartition("\n") if inside or is_elsewhere else (rest, "", "")
    if not git:  # git ended before it could print the last line
        raise _refusal(folder, answer.stderr)
    git_dir = Path(git)
    root = (folder / up).resolve() if inside else None
    if is_elsewhere or (root and not _holds(root, git_dir)):
        raise RepositoryError(
            "The configuration of this repository puts its work tree elsewhere (core.worktree).",
            where=str(git_dir / "config"),
            fix="Run git config --unset core.worktree, and sitegen in the folder that holds .git.",
        )
    if not inside and not bare and git_dir.name == ".git":
        root = git_dir.parent
    place = RepositoryPlace(git_dir=git_dir, common_dir=_common(git_dir), root=root, shallow=shallow)
    _refuse_another_history(place, top_of(folder.resolve()))
    is_commit = answer.returncode == 0 and _ID.fullmatch(commit) and revision == rev
    return place, commit if is_commit else None


def _refuse_pipes(folder: Path) -> None:
    """Raise RepositoryError if git would open a pipe or a device, for which it could wait for ever.

    This looks at the folder that git would find, which takes some 0.1 ms: at the names in ``_OPENED``, and at packs.
    """
    for git_dir in _git_folders(folder):
        files = [git_dir / name for name in _OPENED]
        try:
            with os.scandir(git_dir / "objects/pack") as packs:
                files += [git_dir / "objects/pack" / pack.name for pack in packs if not pack.is_file()]
        except (OSError, ValueError):
            pass  # git says what is wrong
        for file in files:
            if _would_block(file):
                raise RepositoryError(
                    "This file of the repository is a pipe or a device, for which git would wait for ever.",
                    where=str(file),
                    fix=_WITHOUT_PIPE,
                )


def _git_folders(folder: Path) -> tuple[Path, ...]:
    """Return the git folder around a folder; for a linked work tree, also the one that it shares with others."""
    for parent in (folder, *folder.absolute().parents):
        own = parent / ".git"
        if os.path.isdir(own):
            return (own,)
        if os.path.isfile(own):
            try:
                link = os.fsdecode(read_file(own, LARGEST_CONFIGURATION)).removeprefix("gitdir:").strip()
                return (parent / link, _common(parent / link))
            except (OSError, ValueError):
                return ()  # git says what is wrong
        if os.path.isdir(parent / "objects") and os.path.isdir(parent / "refs"):
            return (parent,)
    return ()


def top_of(folder: Path) -> Path:
    """Return the top of the project around a folder, as the nearest ``.git`` says; without one, the folder itself."""
    folder = folder.absolute()
    return next((place for place in (folder, *folder.parents) if os.path.lexists(place / ".git")), folder)


def is_tracked(path: Path) -> bool:
    """Whether git tracks a file or folder, or anything below it."""
    if not path.parent.is_dir():
        return False
    return bool(_run_git(path.parent, "ls-files", "--cached", "-z", "--", path.name).stdout)


def _run_git(folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    command = git_command(*arguments)
    try:
        git = subprocess.Popen(
            command, cwd=folder, env=git_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
    except FileNotFoundError as error:
        raise RepositoryError("There is no git on this machine.", fix="Install git 2.31 or newer.") from error
    with git:
        output = [b"", b""]

        def has_answered(seconds: float) -> bool:
            try:
                output[:] = git.communicate(timeout=seconds)
            except subprocess.TimeoutExpired:
                return False
            return True

        try:
            wait_for_git(has_answered, arguments[0], _git_folders(folder))
        except BaseException:
            git.kill()
            raise
    return subprocess.CompletedProcess(command, git.returncode, *output)


def wait_for_git(
    has_answered: Callable[[float], bool], command: str, folders: Iterable[Path], work_tree: Path | None = None
) -> None:
    """Wait until git answers, which every wait for git does here: any file that git opens could be a pipe.

    ``has_answered``: waits for at most so many seconds. After ``PATIENCE`` the folders of git are searched for a pipe,
    and the work tree for one that git opens there. Raises RepositoryError for one, or after ``_LONGEST_SILENCE``.
    """
    if has_answered(PATIENCE):
        return
    silent = f"git {command} was silent for"
    for top in (*folders, *([work_tree] if work_tree else [])):
        for parent, _, names in os.walk(top):
            for name in names:
                if (top != work_tree or name.startswith(".git")) and _would_block(file := os.path.join(parent, name)):
                    raise RepositoryError(
                        f"{silent} {PATIENCE:g} s. This file is a pipe or a device, for which git waits.",
                        where=file,
                        fix=_WITHOUT_PIPE,
                    )
    warnings.warn(f"{silent} {PATIENCE:g} s; waiting for {_LONGEST_SILENCE:g} s at most.", Notice, stacklevel=1)
    if not has_answered(_LONGEST_SILENCE - PATIENCE):
        raise RepositoryError(
            f"{silent} {_LONGEST_SILENCE:g} s.",
            where=str(next(iter(folders), "")) or None,
            fix="Look for a pipe or a device among the files that git reads, such as those that its configuration "
            "includes (include.path), and for a disk that does not answer.",
        )


_WITHOUT_PIPE: Final = "Delete it, or put back the file from a copy of the repository, and run git fsck."


def _would_block(file: str | Path) -> bool:
    """Whether it is a pipe or a device, from which a reader may wait for ever. Nothing comes from a socket."""
    try:
        status = os.stat(file)
    except (OSError, ValueError):
        return False
    is_empty = stat.S_ISCHR(status.st_mode) and os.path.samefile(file, os.devnull)
    return not is_empty and (
        stat.S_ISFIFO(status.st_mode) or stat.S_ISCHR(status.st_mode) or stat.S_ISBLK(status.st_mode)
    )


def _holds(root: Path, git_dir: Path) -> bool:
    """Whether the ``.git`` of a work tree is the repository or names it. Otherwise it could claim any files."""
    own = root / ".git"
    try:
        if own.is_dir():
            return own.samefile(git_dir)
        link = os.fsdecode(read_file(own, LARGEST_CONFIGURATION)).removeprefix("gitdir:").strip()
        return (root / link).samefile(git_dir)
    except OSError:
        return False


def _refuse_another_history(place: RepositoryPlace, top: Path) -> None:
    """Raise RepositoryError if a project would show a repository that lies elsewhere and does not name the project.

    git itself follows a ``.git`` file, ``commondir`` and links to any repository of the user, whoever wrote them.
    """
    where, another = top / ".git", None
    git, common = Path(os.path.realpath(place.git_dir)), Path(os.path.realpath(place.common_dir))
    if common not in (git, git.parent.parent):
        where, another = place.git_dir / "commondir", common
    elif not git.is_relative_to(top) and not _names(git, top):
        another = git
    else:
        for link in _links_of_refs(*{git, common}):
            if not (real := Path(os.path.realpath(link))).is_relative_to(common):
                where, another = Path(link), real
    if another is not None:
        raise RepositoryError(
            f"This folder would show the history of another repository, which does not name it: {another}",
            where=str(where),
            fix="Run sitegen in that repository or in a clone of it. If you have moved the folder of git here, run "
            f"git config core.worktree {shlex.quote(str(top))}",
        )


def _names(git_dir: Path, top: Path) -> bool:
    """Whether the folder of a linked work tree, or the configuration of any other repository, names the work tree."""
    try:
        linked = os.fsdecode(read_file(git_dir / "gitdir", LARGEST_CONFIGURATION)).removesuffix("\n")
        return (git_dir / linked).samefile(top / ".git")
    except (OSError, ValueError):
        stated = os.fsdecode(_run_git(top, "config", "core.worktree").stdout).removesuffix("\n")
        return bool(stated) and os.path.realpath(git_dir / stated) == str(top)


def _links_of_refs(*git_dirs: Path) -> Iterator[str]:
    """Yield the links among the files of a git folder that decide which commits it has."""
    for git_dir in git_dirs:
        paths = [f"{git_dir}/{name}" for name in ("HEAD", "packed-refs", "objects", "refs", "reftable")]
        for folder in paths[-2:]:
            paths += [f"{parent}/{name}" for parent, folders, files in os.walk(folder) for name in folders + files]
        yield from filter(os.path.islink, paths)


def _common(git_dir: Path) -> Path:
    try:
        link = os.fsdecode(read_file(git_dir / "commondir", LARGEST_CONFIGURATION)).removesuffix("\n")
    except OSError:
        return git_dir
    return Path(os.path.normpath(git_dir / link))


def _refusal(folder: Path, stderr: bytes) -> RepositoryError:
    first, _, rest = stderr.decode("utf-8", "replace").strip().partition("\n")
    message = first.removeprefix("fatal: ")
    if "not a git repository" in message:
        return RepositoryError(
            "There is no git repository here.",
            where=str(folder.absolute()),
            fix="Run sitegen inside a git repository, or name one.",
        )
    fix = " ".join(rest.split()) or "Run git status here, which explains the reason in full."
    return RepositoryError(f"git does not read this repository: {message}", where=str(folder), fix=fix)
