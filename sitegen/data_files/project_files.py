"""Opens and locks files of a project, so that its author can redirect none of them."""

import errno
import fcntl
import os
import shlex
import stat
import time
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import takewhile
from pathlib import Path
from typing import IO, Any, Final

from sitegen.errors import POINTER, Notice, OutputFolderError

SITE_FILES: Final = ("sitegen.toml", "pyproject.toml")
"""Files at the root that may hold the site's configuration, the second in its table ``[tool.sitegen]``."""

LARGEST_CONFIGURATION: Final = 1_000_000
"""Bytes of ``sitegen.toml``, of ``pyproject.toml``, and of the files of git that are read without git."""

LARGEST_FILE: Final = 20_000_000
"""Bytes of any other file, unless the configuration sets another limit."""

LARGEST_ARGUMENT: Final = 200_000_000
"""Bytes of a file that the user names: a log, records, a configuration."""

_READ: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_LINK: Final = "it is a symbolic link, or lies behind one, which is not followed"


LFS: Final = b"version https://git-lfs.github.com/spec/"
_LARGEST_POINTER: Final = 1_024  # bytes


class NotOpenedError(OSError):
    """The path is a link, a device or a pipe, leads out of the project, or names a file over the limit."""


class NotFetchedError(NotOpenedError):
    """The file is a pointer of Git LFS, whose content nobody fetched."""


def is_pointer(content: bytes) -> bool:
    """Whether a content is a pointer of Git LFS to another one."""
    return content.startswith(LFS) and len(content) < _LARGEST_POINTER


def fetch_command(name: str) -> str:
    """Return what to do about a pointer of Git LFS in the work tree. ``name``: its path from the root."""
    return f"Run git lfs pull --include {shlex.quote(name)}."


def fix_of(error: OSError, name: str, otherwise: str) -> str:
    """Return what to do about a file that cannot be read: fetch it, or else ``otherwise``."""
    return fetch_command(name) if isinstance(error, NotFetchedError) else otherwise


def read_inside(root: Path, name: str, limit: int) -> bytes:
    """Read a regular file below ``root`` of at most ``limit`` bytes. ``name``: its path from there.

    Raises FileNotFoundError if it is missing, NotOpenedError if it may not be opened, or another OSError.
    """
    with open_inside(root, name) as stream:
        return _bounded(stream, limit, name)


def open_inside(root: Path, name: str) -> IO[bytes]:
    """Open a regular file below ``root`` for reading. Raises as ``read_inside`` does."""
    *folders, last = _parts(name)
    with _folder(root, folders) as folder:
        try:
            descriptor = os.open(last, _READ | os.O_NOFOLLOW, dir_fd=folder)
        except OSError as error:
            raise _in_words(error, name, last, folder) from None
    return _regular(descriptor, name)


def read_file(path: Path, limit: int) -> bytes:
    """Read a file that the user or git named, which may be a link. Raises as ``read_inside`` does."""
    with open_file(path) as stream:
        return _bounded(stream, limit, str(path))


def open_file(path: Path) -> IO[bytes]:
    """Open a file that the user or git named, which may be a link, for reading. Raises as ``read_inside`` does."""
    if not _can_be_named(str(path)):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    return _regular(os.open(path, _READ), str(path))


def is_folder_inside(root: Path, name: str) -> bool:
    """Whether there is a folder at this path below ``root``, with no link on the way."""
    try:
        with _folder(root, _parts(name, least=0)):
            return True
    except OSError:
        return False


def files_below(folder: Path) -> tuple[str, ...]:
    """Return the paths of all regular files below a folder, sorted. No link is followed; a linked folder has none."""
    paths = []
    for parent, _, names in os.walk(folder) if not folder.is_symlink() else ():
        for name in names:
            path = os.path.join(parent, name)
            with suppress(OSError):
                if stat.S_ISREG(os.lstat(path).st_mode):
                    paths.append(Path(path).relative_to(folder).as_posix())
    return tuple(sorted(paths))


def write_inside(root: Path, name: str, content: bytes, *, replace: bool = True) -> None:
    """Write a whole file below ``root``, and make the folders above it. No link is followed or written through.

    Raises FileExistsError if the file exists and ``replace`` is false, NotOpenedError if a link is on the way, OSError.
    """
    *folders, last = _parts(name)
    with _folder(root, folders, make=True) as folder:
        temporary = f".{last[:100]}.{os.getpid()}.new" if replace else last
        if replace:
            with suppress(FileNotFoundError):
                os.unlink(temporary, dir_fd=folder)
        # Exclusive creation opens nothing that exists, so it follows no link; the move then replaces a link itself.
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            with open(os.open(temporary, flags, 0o666, dir_fd=folder), "wb") as stream:
                stream.write(content)
            if replace:
                os.replace(temporary, last, src_dir_fd=folder, dst_dir_fd=folder)
        except OSError as error:
            error.filename, error.filename2 = str(root / name), None  # not the temporary one
            raise


OWN_FOLDER: Final = ".sitegen"  # at the top of a project, a bare one too


def real(path: Path) -> Path:
    """Return the path without links. Unlike ``Path.resolve``, it raises no error for links that lead to each other."""
    return Path(os.path.realpath(path))


def named_place(named: Path, top: Path, subject: str = "The place", option: str = "") -> Path:
    """Return where a file or a folder that the user names for writing really is.

    Links of the user are followed, but none that is a part of the project at ``top``, whose author would else choose
    what is overwritten. No place is in a folder of git, unless it is in sitegen's own there, as in a bare repository.
    ``subject``, ``option``: what names the place in the message. Raises OutputFolderError.
    """
    place = real(named)
    for above in takewhile(lambda above: above.name != OWN_FOLDER, (place, *place.parents)):
        if above.name.lower() == ".git" or all(
            os.path.exists(f"{above}/{name}") for name in ("HEAD", "objects", "refs")
        ):
            raise OutputFolderError(
                f"{subject} lies in a folder of git's own.",
                where=str(place),
                fix=f"Name a place outside of it, such as {option} ../{place.name}.".replace("  ", " "),
            )
    absolute = Path.cwd() / named
    for above in (absolute, *absolute.parents):
        if above.is_symlink() and Path(os.path.realpath(above.parent)).is_relative_to(os.path.realpath(top)):
            raise OutputFolderError(
                f"{subject} is a link, or lies behind one, that is a part of the project.",
                where=str(above),
                fix=f"Name the place that is meant: {option} {place}".replace(":  ", ": "),
            )
    return place


def write_named(named: Path, content: bytes, top: Path) -> None:
    """Write a whole file that the user names, and make the folders above it.

    A device is written to, and a pipe if somebody reads it. Raises OutputFolderError as ``named_place`` does, OSError.
    """
    place = named_place(named, top)
    if (os.path.lexists(named) and not named.is_file()) or str(named).startswith(("/dev/fd/", "/dev/std")):
        try:
            descriptor = os.open(named, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            raise OutputFolderError(
                "This is a pipe that nobody reads.", where=str(named), fix="Name a file, or read the pipe meanwhile."
            ) from None
        os.set_blocking(descriptor, True)
        with open(descriptor, "wb") as stream:
            stream.write(content)
    else:
        place.parent.mkdir(parents=True, exist_ok=True)
        write_inside(place.parent, place.name, content)


def append_inside(root: Path, name: str) -> IO[bytes]:
    """Open a file below ``root`` for appending; it need not exist. Raises NotOpenedError for a link or a pipe."""
    *folders, last = _parts(name)
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with _folder(root, folders) as folder:
        try:
            descriptor = os.open(last, flags, 0o666, dir_fd=folder)
        except OSError as error:
            raise _in_words(error, name, last, folder) from None
    return _regular(descriptor, name, "ab")


def _parts(name: str, least: int = 1) -> list[str]:
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if name.startswith("/") or ".." in parts:
        raise NotOpenedError(errno.EPERM, "it leads out of the project", name)
    if len(parts) < least or not _can_be_named(name):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
    return parts


def _can_be_named(name: str) -> bool:
    try:
        return b"\0" not in os.fsencode(name)
    except UnicodeEncodeError:
        return False


@contextmanager
def _folder(root: Path, names: list[str], *, make: bool = False) -> Iterator[int]:
    """Open a folder below ``root`` as a descriptor, which nobody can replace by a link afterwards."""
    folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for name in names:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(name, dir_fd=folder)
            try:
                below = os.open(name, _FOLDER, dir_fd=folder)
            except OSError as error:
                raise _in_words(error, "/".join(names), name, folder) from None
            os.close(folder)
            folder = below
        yield folder
    finally:
        os.close(folder)


def _in_words(error: OSError, path: str, name: str, folder: int) -> OSError:
    """Return the error with a text that names links and special files, of which systems have different numbers."""
    with suppress(OSError):
        if stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            return NotOpenedError(errno.ELOOP, _LINK, path)
    if error.errno in (errno.ENXIO, errno.EOPNOTSUPP):  # a socket, or a device without a driver
        return NotOpenedError(errno.EINVAL, "it is not a regular file", path)
    return type(error)(error.errno, error.strerror, path)


def _regular(descriptor: int, path: str, mode: str = "rb") -> IO[bytes]:
    kind = os.fstat(descriptor).st_mode
    if stat.S_ISREG(kind):
        return open(descriptor, mode)
    os.close(descriptor)
    if stat.S_ISDIR(kind):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    raise NotOpenedError(errno.EINVAL, "it is not a regular file", path)


def _bounded(stream: IO[bytes], limit: int, path: str) -> bytes:
    size = os.fstat(stream.fileno()).st_size
    if size > limit:
        raise NotOpenedError(errno.EFBIG, f"it is larger than {limit:,} bytes", path)
    content = stream.read(size + 1)  # and not limit + 1, for which Python would ask the system at once
    if len(content) > size:
        raise NotOpenedError(errno.EBUSY, "it grew while it was read", path)
    if is_pointer(content):
        raise NotFetchedError(errno.ENODATA, POINTER, path)
    return content


PATIENCE: Final = 2.0
"""Seconds of waiting before the warning."""
_PAUSE: Final = 0.05  # seconds


def refuse_shared(files: Iterable[Path], subject: str) -> None:
    """Raise OutputFolderError for a link, a folder or a pipe, and for a file that has a second name elsewhere.

    A build writes these files in place, so a hard link would have it write into a file that is not its own.
    ``subject``: the beginning of the message.
    """
    for path in files:
        try:
            status = os.lstat(path)
        except FileNotFoundError:
            continue
        if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
            raise OutputFolderError(
                f"{subject} is a link, or no file.", where=str(path), fix="Remove it, or name another folder."
            )


def wait_for_lock(handle: IO[Any], file: Path, resource: str) -> None:
    """Lock an open file against other processes. After ``PATIENCE`` warn which process has it, and go on waiting."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            if time.monotonic() >= until:
                break
            time.sleep(_PAUSE)
        else:
            return
    say_waiting(resource, file)
    fcntl.lockf(handle, fcntl.LOCK_EX)


def say_waiting(resource: str, *files: Path) -> None:
    """Warn that another process has a lock on one of these files."""
    warnings.warn(f"{resource} is in use by {holder(*files)}; waiting for it: {files[0]}", Notice, stacklevel=1)


def holder(*files: Path) -> str:
    """Return a description of the process that has a lock on one of these files, with its id if the system has it."""
    inodes = set()
    for file in files:
        try:
            inodes.add(file.stat().st_ino)
        except OSError:
            continue
    try:
        lines = Path("/proc/locks").read_text(encoding="ascii").splitlines()
    except (OSError, UnicodeDecodeError):
        lines = []
    for line in lines:  # 1: POSIX  ADVISORY  WRITE 4711 08:01:131 0 EOF
        words = [word for word in line.split() if word != "->"]
        if len(words) > 5 and words[4].isdigit() and int(words[4]) not in (0, os.getpid()):
            inode = words[5].rpartition(":")[2]
            if inode.isdigit() and int(inode) in inodes:
                return f"process {words[4]}"
    return "another process"
