"""Runs the tasks of a build on a dask cluster, whose workers need no disk in common with the machine that builds.

Everything that tasks read from that machine is sent to each worker once. The files that they make come back with their
results, and are written here, by the rules that hold for every file of a site.
"""

from __future__ import annotations

import gc
import pickle
import shutil
import warnings
import zlib
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from threading import Lock, Thread
from typing import Any, Final, TypeVar

from msgspec.structs import replace

from sitegen import __version__
from sitegen.engine.pool import COLLECTION, Pool
from sitegen.engine.sent_files import BuildFiles, installed_here, refuse_other_versions
from sitegen.engine.worker_context import WorkerContext
from sitegen.engine.writer import QUICK
from sitegen.errors import ConfigurationError, SitegenError, WorkerError
from sitegen.history.process import share_processes
from sitegen.history.sent_history import HistoryRead, can_read
from sitegen.model.frozen import Frozen

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
    with _one_at_a_time, share_processes(), _rare_collection():
        try:
            return run(replace(task, context=files.context(task.context, worker.local_directory, worker.address)))
        except SitegenError as error:
            error.where = files.place_of_builder(error.where)
            raise error.with_traceback(None) from None  # its cause may not be picklable
        except OSError as error:
            raise WorkerError(
                f"The system of a dask worker says: {error}.",
                where=worker.address,
                fix="Make room on its disk or give it another --local-directory, and build again.",
            ) from None


@contextmanager
def _rare_collection() -> Iterator[None]:
    """Have the garbage collector run rarely, which saves a tenth of the time."""
    before = gc.get_threshold()
    gc.set_threshold(COLLECTION)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def remove_folders(build: str, dask_worker: Any) -> None:
    """Delete the files that a worker unpacked for a build."""
    for folder in Path(dask_worker.local_directory).glob(f"{build}*"):
        shutil.rmtree(folder, ignore_errors=True)


def _submit(client: Any, files: Any, run: Callable[[Any], Any], task: Any) -> Any:
    """Start a task on a worker. ``files``: the future of the ``BuildFiles``, which are sent to every worker."""
    sent = zlib.compress(pickle.dumps((run, task), protocol=5), QUICK)
    return client.submit(run_sent, sent, files, pure=False)


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
    """Return what *ask* returns. Raises WorkerError if that takes longer, since dask may wait for ever."""
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
            "A dask scheduler is named, but dask is not installed.", fix="pip install 'sitegen-evals[dask]'"
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


class WorkerAnswer(Frozen):
    """The state of a worker that decides whether it can take part."""

    installed: Mapping[str, str]
    has_history: bool


def look_at_worker(history: HistoryRead) -> WorkerAnswer:
    """Return the versions that this worker has installed, and whether it can read the history by its path."""
    return WorkerAnswer(installed_here(), can_read(history))


@contextmanager
def cluster_pool(address: str, context: WorkerContext) -> Iterator[Pool]:
    """The workers of a dask scheduler, as a pool for tasks with this context.

    Raises ConfigurationError without dask, and WorkerError if there is no scheduler, if it has no worker, or if any
    worker has other versions installed.
    """
    history = HistoryRead.at(context.place, context.commits)
    with _connected(address) as client, warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sending large graph")  # a task contains its eval's cached values
        answers = _answers(client, address, history)
        by_path = all(answer.has_history for answer in answers)
        files = BuildFiles.of(context, history, by_path=by_path)
        with _cluster_answers(address):
            sent = _within(SILENCE, address, lambda: client.scatter(files, broadcast=True, hash=False))
        try:
            yield Pool(partial(_submit, client, sent), len(answers), partial(result_of_task, client))
        finally:
            with suppress(OSError, WorkerError):  # the scheduler may be gone
                _within(PATIENCE, address, lambda: client.run(remove_folders, files.build, on_error="ignore"))


def _answers(client: Any, address: str, history: HistoryRead) -> list[WorkerAnswer]:
    """Return the answer of each worker, at least one. Raises WorkerError if a worker cannot take part."""
    with _cluster_answers(address):
        _within(SILENCE, address, lambda: client.wait_for_workers(1, timeout=CONNECT))
        answers = _within(SILENCE, address, lambda: client.run(look_at_worker, history, on_error="return"))
        answers = {worker: answer for worker, answer in answers.items() if not isinstance(answer, OSError)}
        if not answers:  # all workers of the scheduler are shutting down
            raise TimeoutError
    here = installed_here()
    for worker, answer in answers.items():
        if not isinstance(answer, WorkerAnswer):
            raise WorkerError(
                f"A dask worker cannot run this version of sitegen: {answer}",
                where=worker,
                fix=f"Install sitegen {__version__} there, in the environment that runs dask worker.",
            )
        refuse_other_versions(here, answer.installed, worker)
    return list(answers.values())
