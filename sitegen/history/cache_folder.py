"""Chooses the folder of the memo, and decides whether its content may be believed.

A memo decides numbers, verdicts of the gate and which files a build deletes. A memo inside the project may have been
delivered with it: committed, unpacked from an archive, or as a link. So it is believed only if it has a mark of this
user, signed with a key among the user's own files, and only while git does not track it. A folder outside the project
is believed because the user named it.
"""

import hashlib
import os
import stat
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Final

from sitegen.data_files.project_files import OWN_FOLDER, refuse_shared
from sitegen.errors import Notice, OutputFolderError
from sitegen.history.repository_place import is_tracked

MEMO: Final = "memo.sqlite3"
MEMO_FILES: Final = (MEMO, f"{MEMO}-wal", f"{MEMO}-shm", f"{MEMO}-journal")
"""The memo, and the files that SQLite writes beside it. The journal exists for a moment, while the memo is created."""
MARK: Final = "mark"
"""The file with two signed lines: this user made the memo in this folder; git did not track it with the present
index."""
_OURS: Final = frozenset(
    {*MEMO_FILES, MARK, "lock", ".gitignore", "memo.damaged.sqlite3", "preview", "watch"} | {"committed", "uncommitted"}
)
"""The names of all files that sitegen writes into the folder."""


def cache_folder(requested: Path | None, top: Path) -> Path:
    """Return the folder of a project's memo: the requested one, or ``.sitegen`` in the project.

    If ``.sitegen`` is a link or tracked by git, a folder in the user's own cache is used instead. A memo in the project
    that is not this user's is renamed. Raises OutputFolderError if the folder holds files that sitegen does not write.
    """
    default = top / OWN_FOLDER
    folder = Path(os.path.abspath(requested or default))
    real = Path(os.path.realpath(folder))
    parent = Path(os.path.realpath(folder.parent))
    inside = parent.is_relative_to(top) or real.is_relative_to(top)
    if inside and real != parent / folder.name:
        return _folder_of_the_user(folder, "is a link")
    if not real.is_dir():
        return real
    mine, untracked = _marks(real)
    if mine is not None and _read_mark(real) == (mine, untracked):
        return real
    if is_tracked(real):
        return _folder_of_the_user(folder, "is tracked by git")
    names = {entry.name for entry in os.scandir(real)}
    if real != default and (strangers := sorted(names - _OURS)):
        raise OutputFolderError(
            f"The folder of the memo holds files that sitegen did not write: {', '.join(strangers[:5])}",
            where=str(real),
            fix="Name an empty folder with --cache, or leave out --cache.",
        )
    if inside and MEMO in names and (mine is None or _read_mark(real)[0] != mine):
        (real / MEMO).replace(real / "memo.damaged.sqlite3")  # and a new one is begun
        for name in MEMO_FILES[1:]:
            (real / name).unlink(missing_ok=True)
        message = (
            f"The memo in {real} was not made by this user, in this place: it is not used, and a new one is begun."
        )
        warnings.warn(message, Notice, stacklevel=1)
    return real


def begin_cache_folder(folder: Path) -> None:
    """Create the folder, which git ignores, with the mark of this user."""
    folder.mkdir(parents=True, exist_ok=True)
    names = (".gitignore", MARK, "lock", *MEMO_FILES)
    refuse_shared((folder / name for name in names), "A file of the memo")
    if not (folder / ".gitignore").exists():
        (folder / ".gitignore").write_text("*\n", encoding="utf-8")
    marks = _marks(Path(os.path.realpath(folder)))
    if marks[0] is not None and _read_mark(folder) != marks:
        with suppress(OSError):
            (folder / MARK).write_text(f"{marks[0]}\n{marks[1]}\n", encoding="ascii")


def _folder_of_the_user(folder: Path, why: str) -> Path:
    """Return a folder in the user's own cache, in place of one that cannot be believed."""
    home = os.environ.get("XDG_CACHE_HOME")
    base = Path(home) if home else Path(os.path.expanduser("~")) / ".cache"
    instead = base / "sitegen" / "memos" / hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]
    warnings.warn(f"{folder} {why}, and is not used for the memo; {instead} is.", Notice, stacklevel=1)
    return instead


def _marks(folder: Path) -> tuple[str | None, str]:
    """Return the lines of the mark that proves that this user made the memo and git does not track it."""
    key = user_key()
    if key is None:
        return None, ""

    def sign(text: str) -> str:
        return hashlib.blake2b(os.fsencode(text), key=key, digest_size=16).hexdigest()

    return sign(f"memo {folder}"), sign(f"untracked {folder} {_index_state(folder)}")


def _read_mark(folder: Path) -> tuple[str | None, str]:
    try:
        descriptor = os.open(folder / MARK, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)  # of a pipe: nothing
        with open(descriptor, encoding="ascii") as file:
            ours, _, rest = file.read(1000).partition("\n")
    except (OSError, UnicodeDecodeError):
        return None, ""
    return ours, rest.strip()


def _index_state(folder: Path) -> str:
    """Return a text that changes with the index of the surrounding repository; empty if there is no repository."""
    for parent in folder.parents:
        git = parent / ".git"
        try:
            if stat.S_ISREG(os.lstat(git).st_mode):
                git = parent / git.read_text(encoding="utf-8").removeprefix("gitdir:").strip()
            status = os.stat(git / "index")
        except (FileNotFoundError, NotADirectoryError):
            if os.path.lexists(git):
                return "no index"
            continue
        except (OSError, UnicodeDecodeError):
            return os.urandom(16).hex()
        return f"{status.st_ino} {status.st_mtime_ns} {status.st_size}"
    return ""


def user_key() -> bytes | None:
    """Return the user's own key, created on first use; None if it cannot be stored."""
    home = os.environ.get("XDG_STATE_HOME")
    file = (Path(home) if home else Path(os.path.expanduser("~")) / ".local" / "state") / "sitegen" / "key"
    try:
        key = file.read_bytes()
        if len(key) == 32:
            return key
    except FileNotFoundError:
        pass
    except OSError:
        return None
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary = file.with_name(f"key-{os.getpid()}")
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600), "wb") as handle:
            handle.write(os.urandom(32))
        with suppress(FileExistsError):
            os.link(temporary, file)
        temporary.unlink()
        return file.read_bytes()
    except OSError:
        return None
