"""Locks the output folder and the memo against other processes, and refuses files of theirs that are links.

A process that waits for a lock soon warns which process holds it.
"""

from __future__ import annotations

import fcntl
import os
import stat
import time
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any, Final

from sitegen.errors import Notice, SitegenError

PATIENCE: Final = 2.0
"""Seconds of waiting before the warning."""
_PAUSE: Final = 0.05


def refuse_shared(files: Iterable[Path], error: type[SitegenError], subject: str) -> None:
    """Raise *error* for a file that exists and is a link, a folder or a pipe, or that has a second name elsewhere.

    A build writes these files in place, so a hard link would have it write into a file that is not its own. *subject*
    begins the message.
    """
    for path in files:
        try:
            status = os.lstat(path)
        except FileNotFoundError:
            continue
        if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
            raise error(f"{subject} is a link, or no file.", where=str(path), fix="Remove it, or name another folder.")


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
    """A description of the process that has a lock on one of these files, with its id if the system provides it."""
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
