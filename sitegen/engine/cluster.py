"""Runs the tasks of a build on a dask cluster, whose workers need no disk in common with the machine that builds.

Everything that tasks read from that machine is sent to each worker once. The files that they make come back with their
results, and are written here, by the rules that hold for every file of a site.

A worker takes part only if everything that decides the bytes of a site has the same version there.
"""

from __future__ import annotations

import pickle
import platform
import re
import shutil
import tempfile
import warnings
import weakref
import zlib
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields
from functools import partial
from importlib import metadata
from pathlib import Path
from secrets import token_hex
from threading import Lock, Thread
from typing import Any, Final, TypeAlias, TypeVar

from msgspec.structs import replace

from sitegen import __version__
from sitegen.config import extensions
from sitegen.data_files.project_files import open_file
from sitegen.engine.template_files import find_templates, own_files, read_template, template_digest
from sitegen.engine.worker_context import WorkerContext, rare_collection
from sitegen.engine.writer import QUICK
from sitegen.errors import ConfigurationError, SitegenError, WorkerError
from sitegen.history.process import PackedHistory, packed, share_processes
from sitegen.history.repository_place import RepositoryPlace


def installed_here() -> dict[str, str]:
    """Return the versions of Python, sitegen and its packages, by name: with the project they decide a site's bytes.

    Packages that are not installed count as well, because some files can only be read with them.
    """
    try:
        required = metadata.requires("sitegen-evals") or []
    except metadata.PackageNotFoundError:  # run from a folder that was never installed
        required = []
    names = {re.split(r"[^\w.-]", requirement)[0] for requirement in required} - {"distributed"}
    return {
        "sitegen": __version__,
        "Python": ".".join(platform.python_version_tuple()[:2]),
        "templates of sitegen": template_digest(find_templates()),
        **{name: next((one.version for one in metadata.distributions(name=name)), "missing") for name in sorted(names)},
        **extensions.packages(),
    }


def refuse_other_versions(here: Mapping[str, str], there: Mapping[str, str], worker: str) -> None:
    """Raise WorkerError if a worker has a package in another version than the machine that builds."""
    names = sorted(name for name in here.keys() | there.keys() if here.get(name) != there.get(name))
    if names:
        listed = "; ".join(
            f"{name} {there.get(name, 'missing')} there, {here.get(name, 'missing')} here" for name in names
        )
        raise WorkerError(
            f"A dask worker would not write the same site: {listed}.",
            where=worker,
            fix="Install the same versions on both sides, and start the worker again.",
        )


WorktreeFile: TypeAlias = tuple[str, int | None, bytes]
"""A file of the work tree, in the form in which it is sent to workers: its blob id; its size, None if it could not be
opened; and its content, empty if it is larger than what a build reads."""


def _worktree_file(oid: str, file: Path | bytes, limit: int) -> WorktreeFile:
    if isinstance(file, bytes):
        return oid, len(file), file
    try:
        with open_file(file) as stream:
            size = stream.seek(0, 2)
            stream.seek(0)
            return oid, size, stream.read(limit) if size <= limit else b""
    except OSError:
        return oid, None, b""


@dataclass(eq=False)
class BuildFiles:
    """The files that the tasks of a build read from the disk of the machine that builds.

    On a worker they are in a folder that is deleted at the end of the build. If the build is killed, the folder is
    deleted when the cluster drops this object.
    """

    build: str
    """Names the build, and the folders of these files on workers."""
    installed: Mapping[str, str]
    history: PackedHistory
    templates: Mapping[str, bytes] | None
    """The project's own templates; None if it has no such folder."""
    worktree: tuple[WorktreeFile, ...]

    @classmethod
    def of(cls, context: WorkerContext) -> BuildFiles:
        """Collect the files for tasks with this context."""
        own = context.own_templates
        return cls(
            build=f"sitegen-{token_hex(8)}",
            installed=installed_here(),
            history=packed(context.place, context.commits),
            templates={name: read_template(file) for name, file in own_files(own).items()} if own else None,
            worktree=tuple(
                _worktree_file(oid, file, context.limits.max_blob_bytes) for oid, file in context.overlay.items()
            ),
        )

    def __post_init__(self) -> None:
        self.folder: Path | None = None
        self._place: RepositoryPlace | None = None

    def __reduce__(self) -> tuple[type[BuildFiles], tuple[Any, ...]]:
        return BuildFiles, tuple(getattr(self, sent.name) for sent in fields(self))

    def context(self, context: WorkerContext, worker: Any) -> WorkerContext:
        """Return the context of a task on this worker.

        Raises WorkerError if this worker has another version of anything that decides the bytes of a site.
        """
        if self.folder is None:
            refuse_other_versions(self.installed, installed_here(), worker.address)
            folder = Path(tempfile.mkdtemp(prefix=self.build, dir=worker.local_directory))
            weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
            self._write(folder)
            self.folder = folder
        folder = self.folder
        return replace(
            context,
            place=self._place or context.place,
            overlay={oid: folder / oid for oid, _, _ in self.worktree},
            own_templates=None if self.templates is None else folder / "templates",
            out=None,
        )

    def _write(self, folder: Path) -> None:
        self._place = self.history.unpacked(folder / "history")
        for name, content in (self.templates or {}).items():
            file = folder / "templates" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        for oid, size, content in self.worktree:
            if size is not None:
                with (folder / oid).open("wb") as stream:
                    stream.write(content)
                    stream.truncate(size)  # of a file that is too large to be read, only the size is reported


CONNECT: Final = 5
"""Seconds within which a scheduler has to answer, and to have a worker."""
PATIENCE: Final = 15
"""Seconds after which a build ends if all workers are gone and none has come back."""
SILENCE: Final = 300
"""Seconds after which a build ends if the scheduler is connected and answers nothing."""

_R = TypeVar("_R")

_one_at_a_time = Lock()
"""Held while a task runs: threads of Python gain no time, and limits of a project's templates hold for a process."""


def run_sent(sent: bytes, files: BuildFiles) -> Any:
    """Run a task on a worker. An error of the worker's operating system is raised with the name of the worker."""
    from distributed import get_worker

    worker = get_worker()
    run, task = pickle.loads(zlib.decompress(sent))
    with _one_at_a_time, share_processes(), rare_collection():
        try:
            return run(replace(task, context=files.context(task.context, worker)))
        except SitegenError as error:
            if error.where and task.context.own_templates:  # said by the path on the machine that builds
                error.where = error.where.replace(f"{files.folder}/templates", str(task.context.own_templates))
            raise error.with_traceback(None) from None  # its cause may not be picklable
        except OSError as error:
            raise WorkerError(
                f"The system of a dask worker says: {error}.",
                where=worker.address,
                fix="Make room on its disk or give it another --local-directory, and build again.",
            ) from None


def remove_folders(build: str, dask_worker: Any) -> None:
    """Delete the files that a worker unpacked for a build."""
    for folder in Path(dask_worker.local_directory).glob(f"{build}*"):
        shutil.rmtree(folder, ignore_errors=True)


def result_of_task(client: Any, future: Any) -> Any:
    """Return the result. Raises the task's exception, or WorkerError if no worker is left to finish the task."""
    from distributed import KilledWorker

    with _cluster_answers(client.scheduler.address):
        while True:
            try:
                return future.result(timeout=PATIENCE)
            except TimeoutError:  # the wait timed out; a task itself never raises TimeoutError
                address = client.scheduler.address
                _within(SILENCE, address, client.scheduler_info)
                _within(SILENCE, address, lambda: client.wait_for_workers(1, timeout=PATIENCE))
            except KilledWorker as error:
                raise WorkerError(
                    "Dask workers ended while they ran one and the same task, most likely for want of memory.",
                    where=str(error.last_worker.address),
                    fix="Give each worker more memory: fewer workers on one machine, or another --memory-limit.",
                ) from None


def _within(seconds: float, address: str, ask: Callable[[], _R]) -> _R:
    """Return what ``ask`` returns. Raises WorkerError if that takes longer, since dask may wait for ever."""
    answer: Future[_R] = Future()

    def run() -> None:
        try:
            answer.set_result(ask())
        except BaseException as error:
            answer.set_exception(error)

    Thread(target=run, daemon=True).start()
    try:
        return answer.result(seconds)
    except TimeoutError:
        if answer.done():  # it is the answer
            raise
        raise WorkerError(
            f"The dask scheduler says nothing for {seconds:g} s.",
            where=address,
            fix="Look whether a dask scheduler listens there, and at what it printed; without one, sitegen build uses "
            "the cores of this machine.",
        ) from None


@contextmanager
def _cluster_answers(address: str) -> Iterator[None]:
    """Explain what to do when the scheduler is gone, or when it has no worker."""
    try:
        yield
    except TimeoutError:
        raise WorkerError(
            "The dask scheduler has no worker.",
            where=address,
            fix=f"Start one where this version of sitegen is installed: dask worker {address} --nthreads 1",
        ) from None
    except (CancelledError, OSError) as error:
        raise WorkerError(
            f"The dask scheduler does not answer any more: {error}",
            where=address,
            fix="Look at what it printed, start it again, and build again: what was done is done again.",
        ) from None


def _connected(address: str) -> Any:
    try:
        from distributed import Client
    except ImportError as error:
        raise ConfigurationError(
            "A dask scheduler is named, but dask is not installed.", fix="In a clone of sitegen: pip install '.[dask]'"
        ) from error
    try:
        return _within(3 * CONNECT, address, lambda: Client(address, timeout=CONNECT, set_as_default=False))
    except (OSError, ValueError) as error:
        raise WorkerError(
            f"No dask scheduler answers: {error}",
            where=address,
            fix="Start one (dask scheduler), or correct the address in --dask or SITEGEN_DASK; without one, sitegen "
            "build uses the cores of this machine.",
        ) from None


@contextmanager
def cluster_workers(
    address: str, context: WorkerContext
) -> Iterator[tuple[Callable[..., Any], int, Callable[[Any], Any]]]:
    """The workers of a dask scheduler, for tasks with this context: the arguments of a ``Pool``.

    Raises ConfigurationError without dask, and WorkerError if there is no scheduler, if it has no worker, or if any
    worker has other versions installed.
    """
    with _connected(address) as client, warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sending large graph")  # a task contains its eval's cached values
        workers = _fitting_workers(client, address)
        files = BuildFiles.of(context)
        with _cluster_answers(address):
            everywhere = _within(SILENCE, address, lambda: client.scatter(files, broadcast=True, hash=False))

        def submit(run: Callable[[Any], Any], task: Any) -> Any:
            sent = zlib.compress(pickle.dumps((run, task), protocol=5), QUICK)
            return client.submit(run_sent, sent, everywhere, pure=False)

        try:
            yield submit, workers, partial(result_of_task, client)
        finally:
            with suppress(OSError, WorkerError):  # the scheduler may be gone
                _within(PATIENCE, address, lambda: client.run(remove_folders, files.build, on_error="ignore"))


def _fitting_workers(client: Any, address: str) -> int:
    """Return how many workers there are, at least one. Raises WorkerError if a worker cannot take part."""
    with _cluster_answers(address):
        _within(SILENCE, address, lambda: client.wait_for_workers(1, timeout=CONNECT))
        answers = _within(SILENCE, address, lambda: client.run(installed_here, on_error="return"))
        answers = {worker: answer for worker, answer in answers.items() if not isinstance(answer, OSError)}
        if not answers:  # all workers of the scheduler are shutting down
            raise TimeoutError
    here = installed_here()
    for worker, answer in answers.items():
        if not isinstance(answer, dict):
            raise WorkerError(
                f"A dask worker cannot run this version of sitegen: {answer}",
                where=worker,
                fix=f"Install sitegen {__version__} there, in the environment that runs dask worker.",
            )
        refuse_other_versions(here, answer, worker)
    return len(answers)
