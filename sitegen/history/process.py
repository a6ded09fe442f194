"""Runs git processes, which GitPython starts, which are fed from a thread, and which are always ended.

Processes that answer many requests can be shared within a thread, see ``share_processes``. To workers on another
machine the history that a build reads is sent as one git pack, unless it is there already.
"""

import os
import select
import subprocess
import sys
import threading
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from io import BufferedReader, RawIOBase
from pathlib import Path
from threading import Thread
from typing import IO, Any, Final, Self

from sitegen.data_files.project_files import LARGEST_FILE, read_file
from sitegen.errors import RepositoryError
from sitegen.history.repository_place import (
    RepositoryPlace,
    find_repository,
    git_command,
    git_environment,
    wait_for_git,
)
from sitegen.model.frozen import Frozen

_BUFFER: Final = 65_536  # bytes that are read at once: as many as a pipe of Linux holds
_MESSAGE_BYTES: Final = 4_000  # number of bytes at the end of git's stderr that are kept


class Process:
    """A git process that answers on ``stdout``. A context manager: leaving it ends the process."""

    def __init__(
        self,
        repository: RepositoryPlace,
        arguments: Sequence[str],
        feed: Iterable[bytes] | None = None,
        *,
        in_work_tree: bool = False,
    ) -> None:
        """Start git.

        ``feed``: what a thread writes, so that the processes cannot wait for each other for ever; None: the caller
        writes to ``stdin``. ``in_work_tree``: for commands that read the work tree or its index.
        """
        # Plumbing commands need no work tree and no index. The git folder stands for the former, so that attributes of
        # a real one do not count, and a missing file for the latter, because diff-tree would read it for nothing.
        work_tree = repository.root if in_work_tree else None
        variables = {
            **git_environment(),
            "GIT_DIR": str(repository.git_dir),
            "GIT_COMMON_DIR": str(repository.common_dir),
            "GIT_WORK_TREE": str(repository.git_dir),
            "GIT_INDEX_FILE": str(repository.git_dir / "no-index-is-read"),
        }
        if work_tree is not None:
            variables |= {"GIT_WORK_TREE": str(work_tree), "GIT_INDEX_FILE": str(repository.git_dir / "index")}
        self._process = _started_git(git_command(*arguments), work_tree or repository.git_dir, variables)
        self._arguments = arguments
        self._folders = {repository.git_dir: None, repository.common_dir: None}  # each once, in order
        self._work_tree = work_tree
        self._stderr = bytearray()
        self._failure: BaseException | None = None
        assert self._process.stdout is not None
        self.stdout: IO[bytes] = BufferedReader(_Answers(self._process.stdout, self._wait), _BUFFER)
        """The output of git. Reading it raises RepositoryError if git is silent for too long."""
        self._threads = [_started_thread(self._listen)]
        if feed is not None:
            self._threads.append(_started_thread(lambda: self._write_feed(feed)))

    @property
    def stdin(self) -> IO[bytes]:
        """The input of git, if there is no feed."""
        assert self._process.stdin is not None
        return self._process.stdin

    def finish(self) -> None:
        """Wait for the end after all output was read.

        Raises any error of the feed, or RepositoryError if git failed.
        """
        self._wait(self._has_ended)
        for thread in self._threads:
            thread.join()
        if self._failure is not None:
            raise self._failure
        if code := self._process.returncode:
            message = self._stderr.decode("utf-8", "replace").strip()
            raise RepositoryError(
                f"git {self._arguments[0]} failed: {message or f'exit code {code}'}",
                fix="Run git fsck: the repository may be damaged.",
            )

    def close(self) -> None:
        """End the process, even in the middle of its output."""
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        if sys.is_finalizing():
            return  # at exit, stopped threads hold the streams, which the system closes
        for thread in self._threads:
            thread.join(timeout=5)
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                _close_stream(stream)
        assert self._process.stdout is not None
        self.stdout = self._process.stdout  # what reads answers refers to this object: both would stay, with a buffer

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _wait(self, has_answered: Callable[[float], bool]) -> None:
        try:
            wait_for_git(has_answered, self._arguments[0], self._folders, self._work_tree)
        except RepositoryError:
            self._process.kill()
            raise

    def _has_ended(self, seconds: float) -> bool:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
        return self._process.returncode is not None

    def _listen(self) -> None:
        assert self._process.stderr is not None
        while piece := self._process.stderr.read1(65_536):  # type: ignore[attr-defined]
            self._stderr += piece
            del self._stderr[:-_MESSAGE_BYTES]

    def _write_feed(self, feed: Iterable[bytes]) -> None:
        try:
            for piece in feed:
                self.stdin.write(piece)
        except (BrokenPipeError, ValueError):
            pass  # git has ended, which the reader reports
        except BaseException as error:
            self._failure = error
        finally:
            _close_stream(self.stdin)


class _Answers(RawIOBase):
    """Reads a pipe, and raises an error if nothing comes for too long."""

    def __init__(self, pipe: Any, wait: Callable[[Callable[[float], bool]], None]) -> None:
        self._pipe = pipe.raw
        self._wait = wait
        self._poll = select.poll()
        self._poll.register(pipe, select.POLLIN)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> Any:
        self._wait(lambda seconds: bool(self._poll.poll(seconds * 1000)))
        return self._pipe.readinto(buffer)


def _started_git(call: list[str], folder: Path, variables: dict[str, str]) -> subprocess.Popen[bytes]:
    """Start git by GitPython's own way of starting it, which decision record 0061 explains."""
    from git.cmd import safer_popen

    try:
        return safer_popen(
            call, cwd=folder, env=variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
    except FileNotFoundError as error:
        raise RepositoryError(
            "git cannot be started.", where=str(folder), fix=f"Install git 2.31 or newer ({error})."
        ) from error


def _started_thread(work: Callable[[], None]) -> Thread:
    thread = Thread(target=work, daemon=True)
    thread.start()
    return thread


def _close_stream(stream: IO[bytes]) -> None:
    with suppress(BrokenPipeError, ValueError):
        stream.close()


_of_this_thread = threading.local()


@contextmanager
def share_processes() -> Iterator[None]:
    """Within this context, the thread reads a repository through a few git processes, which end with the context.

    Do not fork within it before ``end_shared_processes``: the copy would have the same pipes.
    """
    if shared_processes() is not None:
        yield
        return
    share_processes_until_exit()
    try:
        yield
    finally:
        end_shared_processes()
        del _of_this_thread.processes


def end_shared_processes() -> None:
    """End the processes that this thread shares, if any, so that it can fork; the next request starts others."""
    processes = shared_processes() or {}
    for process in processes.values():
        process.close()
    processes.clear()


def share_processes_until_exit() -> None:
    """Share processes until this thread's process exits; for processes that are started to run tasks."""
    _of_this_thread.processes = {}


def shared_processes() -> dict[Hashable, Any] | None:
    """Return what this thread shares, by requests; None outside ``share_processes``.

    These are processes, and objects that read from one, all of which have ``close``.
    """
    processes: dict[Hashable, Any] | None = getattr(_of_this_thread, "processes", None)
    return processes


class PackedHistory(Frozen):
    """A history in the form in which it is sent."""

    head: str
    pack: bytes
    shallow: bytes
    """The ids of the commits whose parents are cut off, as git lists them."""

    def unpacked(self, folder: Path) -> RepositoryPlace:
        """Make a bare repository of a history in a new folder. Raises RepositoryError if git rejects the pack."""
        for name in ("objects", "refs"):
            os.makedirs(folder / name)
        sha256 = len(self.head) == 64
        lines = ["[core]", "bare = true", f"repositoryformatversion = {int(sha256)}"]
        (folder / "config").write_text("\n".join([*lines, *["[extensions]", "objectFormat = sha256"] * sha256, ""]))
        (folder / "HEAD").write_text(f"{self.head}\n")
        if self.shallow:
            (folder / "shallow").write_bytes(self.shallow)
        place = RepositoryPlace(git_dir=folder, common_dir=folder, root=None, shallow=bool(self.shallow))
        with Process(place, ["index-pack", "--stdin"], (self.pack,)) as process:
            process.stdout.read()
            process.finish()
        return place


def packed(place: RepositoryPlace, commits: Iterable[str]) -> PackedHistory:
    """Pack all objects that git has of what commits and HEAD reach, about as large as the packs of the repository.

    Raises RepositoryError if git cannot read an object.
    """
    _, head = find_repository(place.git_dir)
    commits = dict.fromkeys((*commits, *([head] if head else [])))
    arguments = ("--revs", "--stdout", "--quiet", "--delta-base-offset", "--missing=allow-any")
    with Process(place, ["pack-objects", *arguments], (f"{commit}\n".encode() for commit in commits)) as process:
        pack = process.stdout.read()
        process.finish()
    shallow = read_file(place.common_dir / "shallow", LARGEST_FILE) if place.shallow else b""
    return PackedHistory(head or next(iter(commits)), pack, shallow)
