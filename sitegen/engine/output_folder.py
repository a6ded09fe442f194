"""Claims the output folder, distinguishes files of a build from all others, and deletes only files of a build.

It contains two files of ours. The marker identifies the folder as a site, and is used as the lock. The list has every
file that a build wrote, with a signature of its path and content. A line is appended before its file is written, so
that even a killed build leaves no unlisted file.

Anybody may have written the list. So a line is believed only if this user's key signed it, for a file with exactly the
signed content. The memo's record of the folder takes precedence.

Files are read, created and deleted without following any link: a file is opened only if it is a regular file in real
folders. Since there are many files in few folders, each folder is checked once.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sitegen.data_files.project_files import named_place, refuse_shared, wait_for_lock
from sitegen.errors import Notice, OutputFolderError
from sitegen.history.cache_folder import user_key
from sitegen.project import MARKER, PLACEHOLDERS, Project

if TYPE_CHECKING:
    from sitegen.engine.memo import PageRow


def read_file(folder: Path | str, path: str, *, at_most: int | None = None) -> bytes | None:
    """Return the content of a file; None if there is no such regular file, or if it is over ``at_most`` bytes."""
    if not is_below(path) or not all(map(_is_folder, _parents(str(folder), path))):
        return None
    return read_regular(f"{folder}/{path}", at_most)


def read_regular(target: str, at_most: int | None) -> bytes | None:
    """Return the content of a regular file; None for anything else, or if it has more than ``at_most`` bytes."""
    try:
        status = os.lstat(target)
        if not stat.S_ISREG(status.st_mode) or (at_most is not None and status.st_size > at_most):
            return None
        with open(os.open(target, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            return file.read()
    except OSError:
        return None


def is_below(path: str) -> bool:
    """Whether a relative path stays below its starting folder and outside every folder of git."""
    return "\0" not in path and not any(part in {"", ".", ".."} or part.lower() == ".git" for part in path.split("/"))


def make_parents(folder: str, path: str) -> None:
    """Make the folders of a file. Raises OutputFolderError if something else has the place of one."""
    os.makedirs(folder, exist_ok=True)
    for place in _parents(folder, path):
        try:
            os.mkdir(place)
        except FileExistsError:
            if not _is_folder(place):
                raise OutputFolderError(
                    "A folder of the site is a link or a file, and no link is followed below the output.",
                    where=place,
                    fix="Remove it, or choose another -o.",
                ) from None


def remove(folder: Path, sizes: Mapping[str, int | None]) -> tuple[int, tuple[str, ...]]:
    """Delete files, and folders that become empty. ``sizes``: sizes of the files by path, None if unknown.

    Returns how many were deleted, and those that were not because somebody changed them: the size differs, or there is
    no regular file. Files that no longer existed are in neither.
    """
    removed = 0
    changed: list[str] = []
    parents: dict[str, bool] = {}
    for path, size in sizes.items():
        if not is_below(path):
            continue
        parent = path.rpartition("/")[0]
        if parent not in parents:
            parents[parent] = all(map(_is_folder, _parents(str(folder), path)))
        if not parents[parent]:
            continue
        try:
            status = os.lstat(folder / path)
        except OSError:
            continue
        if stat.S_ISREG(status.st_mode) and size in (None, status.st_size):
            os.unlink(folder / path)
            removed += 1
        else:
            changed.append(path)
    for parent in sorted((parent for parent, safe in parents.items() if safe), key=len, reverse=True):
        folder_left = parent
        while folder_left:
            try:
                os.rmdir(folder / folder_left)
            except OSError:
                break
            folder_left = folder_left.rpartition("/")[0]
    return removed, tuple(changed)


def _parents(folder: str, path: str) -> Iterable[str]:
    """Return the folders between an output folder and a file in it, the outermost first."""
    end = path.find("/")
    while end >= 0:
        yield f"{folder}/{path[:end]}"
        end = path.find("/", end + 1)


def _is_folder(place: str) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(place).st_mode)
    except OSError:
        return False


LIST: Final = ".sitegen.files"
"""The list of written files, one line for each: signature, space, path."""
TEMPORARY: Final = ".~sitegen"
_TEMPORARY_NAME: Final = re.escape(TEMPORARY) + r"-(\d+|.+~)"
_MARK: Final = json.dumps({"schema": "sitegen/site/2"}) + "\n"
_LONGEST_LIST: Final = 100_000_000
"""Largest size of a list in bytes, at about 80 bytes for each file; a larger one is not ours."""
_SLACK: Final = 100_000  # bytes by which a list may grow before it is shortened, whatever its length
_SHOWN: Final = 5  # paths in a message


def refuse_project(project: Project) -> None:
    """Raise OutputFolderError if its output must never be written to: a project, a parent of one, a folder of git."""
    out, repository = project.out, project.place
    named_place(project.options.out_below(project.place.top), repository.top, "The output folder", "-o")
    if any(place.is_relative_to(out) for place in (repository.top, repository.git_dir, repository.common_dir)):
        raise OutputFolderError(
            "The output folder is the project itself, or holds it.", where=str(out), fix="Choose another -o."
        )


@contextmanager
def claimed(folder: Path, *, force: bool) -> Iterator[bool]:
    """Claim the output folder, and lock it until the end. Yields whether it is new, and held no files.

    Raises OutputFolderError if the folder has files but no marker of ours, unless ``force``, and if the marker or the
    list of files is a link. A second build of the same folder waits for the first one.
    """
    if folder.exists() and not folder.is_dir():
        raise OutputFolderError("The output is a file, not a folder.", where=str(folder), fix="Choose another -o.")
    marker = folder / MARKER
    foreign = () if os.path.lexists(marker) else tuple(sorted(_files_below(folder)))
    if foreign and not force:
        raise OutputFolderError(
            f"The output folder was not made by sitegen. It holds {number_and_first(foreign)}",
            where=str(folder),
            fix="Choose another folder with -o; or --force, which keeps these files unless a page has their name.",
        )
    folder.mkdir(parents=True, exist_ok=True)
    refuse_shared((marker, folder / LIST), "A file that marks the folder as a site")
    descriptor = os.open(marker, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
    with open(descriptor, "r+b") as handle:
        # The lock belongs to this process only: unlike flock, workers, which may outlive us briefly, do not inherit it.
        wait_for_lock(handle, marker, "The output folder")
        text = handle.read(len(_MARK) * 1000)
        if text != _MARK.encode():
            if text and b'"sitegen/site/1"' not in text:
                warnings.warn(f"{marker} could not be read, and was written anew.", Notice, stacklevel=1)
            handle.seek(0)
            handle.truncate()
            handle.write(_MARK.encode())
            handle.flush()
        yield not text and not foreign


def _files_below(folder: Path) -> Iterator[str]:
    """Yield every file below a folder, by relative path; a lone .gitkeep or .gitignore does not count as content."""
    for parent, _, names in os.walk(folder):
        within = os.path.relpath(parent, folder)
        if within == ".":
            yield from (name for name in names if name not in PLACEHOLDERS)
        else:
            yield from (f"{within}/{name}" for name in names)


def number_and_first(paths: tuple[str, ...]) -> str:
    """Return the number of files or folders, and the first of them."""
    count = "1 file" if len(paths) == 1 else f"{len(paths):,} files"
    return f"{count}: {', '.join(paths[:_SHOWN])}{', ...' if len(paths) > _SHOWN else ''}"


def files_not_in_memo(
    folder: Path, memo_paths: Iterable[str], *, name_each: bool = False
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Find everything below a folder that the memo does not list: foreign files, and files of a build.

    ``memo_paths``: the files that the memo lists. ``name_each``: list foreign files individually, even in folders that
    contain no other files, so that a message can name the files to be replaced.
    """
    known, key = frozenset(memo_paths), user_key()
    listed: dict[str, list[str]] | None = None if key else {}
    unlisted: list[str] = []

    def is_signed(path: str) -> bool:
        nonlocal listed
        if listed is None:  # it is read only if the memo does not have a file
            listed = read_list(folder)
        signatures = listed.get(path, ())
        content = read_file(folder, path) if signatures else None
        return content is not None and _signature(content_digest(content), path, key) in signatures

    def is_ours(path: str) -> bool:
        """Decide whether a build wrote a file, and collect the files that are not in the memo."""
        if path in known or path in (MARKER, LIST) or path in PLACEHOLDERS:
            return True
        if not re.fullmatch(_TEMPORARY_NAME, path.rpartition("/")[2]) and not is_signed(path):
            return False
        unlisted.append(path)
        return True

    foreign, _ = _strangers(str(folder), "", is_ours, name_each=name_each)
    return tuple(sorted(foreign)), tuple(unlisted)


def _strangers(folder: str, prefix: str, is_ours: Callable[[str], bool], *, name_each: bool) -> tuple[list[str], bool]:
    """Return the foreign files in a folder, and whether any file there is ours."""
    foreign: list[str] = []
    any_ours = False
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return [prefix], False
    for entry in entries:
        path = prefix + entry.name
        if not entry.is_dir(follow_symlinks=False):
            if entry.is_file(follow_symlinks=False) and is_ours(path):
                any_ours = True
            else:
                foreign.append(path)
        elif entry.name == ".git":
            foreign.append(f"{path}/")
        else:
            inside, has_ours = _strangers(entry.path, f"{path}/", is_ours, name_each=name_each)
            any_ours = any_ours or has_ours
            foreign += inside if name_each or has_ours or not inside else [f"{path}/"]
    return foreign, any_ours


def content_digest(content: bytes) -> str:
    """Return the digest of a file's content, which the list signs and the memo has."""
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def list_line(digest: str, path: str, key: bytes | None) -> bytes:
    """Return the line of a file in the list. The line end is first: a line cut off by a full disk damages no other."""
    return f"\n{_signature(digest, path, key)} {path}".encode("utf-8", "surrogateescape")


def _signature(digest: str, path: str, key: bytes | None) -> str:
    """Return what only this user can write beside a path; without a key it is written, but nobody believes it."""
    text = f"{digest} {path}".encode("utf-8", "surrogateescape")
    return hashlib.blake2b(text, key=key or b"", digest_size=16).hexdigest()


def read_list(folder: Path) -> dict[str, list[str]]:
    """Map each path to the signatures beside it, newest last."""
    content = read_file(folder, LIST, at_most=_LONGEST_LIST) or b""
    listed: dict[str, list[str]] = {}
    for line in content.decode("utf-8", "surrogateescape").split("\n"):
        key, _, path = line.partition(" ")
        if path:
            listed.setdefault(path, []).append(key)
    return listed


def shorten_list(folder: Path, files: Callable[[], Iterable[PageRow]], before: int | None) -> int:
    """Reduce the list to the files of the site if it has more than twice the size ``before``. Returns its size.

    ``files``: returns the files of the site, each once; few builds need all of them.
    """
    try:
        size = os.lstat(folder / LIST).st_size
    except FileNotFoundError:
        return 0
    if before is not None and size <= 2 * before + _SLACK:
        return before
    temporary = folder / f"{TEMPORARY}-{os.getpid()}"
    temporary.unlink(missing_ok=True)
    key = user_key()
    with open(temporary, "xb") as file:
        file.writelines(list_line(row.content, row.path, key) for row in files())
    size = temporary.stat().st_size
    temporary.replace(folder / LIST)
    return size


def folder_times(folder: Path, known_folders: Iterable[str], files: Iterable[str]) -> dict[str, int]:
    """Return the modification times in ns of the output and of the folders in it, by relative path.

    The folders are ``known_folders`` and those of ``files``. The tree is not walked, because that would cost more than
    everything else in a build that adds one page.
    """
    names = {"", *known_folders}
    for file in files:
        parent = file.rpartition("/")[0]
        while parent not in names:
            names.add(parent)
            parent = parent.rpartition("/")[0]
    times = {}
    for name in sorted(names):
        with suppress(FileNotFoundError):
            times[name] = _time_of(folder / name)
    return times


def _time_of(folder: Path) -> int:
    """Return the modification time of a folder in ns, within what SQLite stores: some clocks are beyond 2262."""
    return max(-(2**63), min(os.lstat(folder).st_mtime_ns, 2**63 - 1))


def same_times(folder: Path, times: Mapping[str, int]) -> bool:
    """Whether no file was added to or removed from these folders since; edits in place are not detected."""
    try:
        return bool(times) and all(_time_of(folder / path) == mtime for path, mtime in times.items())
    except OSError:
        return False
