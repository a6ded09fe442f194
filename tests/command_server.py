"""Runs commands of sitegen in forks of one process that has imported it: a start costs milliseconds, not a second.

Each command has a process, arguments, a folder, an environment, output files and an exit code of its own, as if it had
been started by a shell. What a start itself costs or imports is tested elsewhere, with starts.

The process has built a site before, because a first build takes a second for modules, templates and types alone.
"""

import atexit
import gc
import json
import os
import pkgutil
import socket
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import IO, Final, NoReturn, cast

import sitegen

_ROOT: Final = Path(__file__).parents[1]
_ASKING: Final = Lock()
_AT_START: Final = dict(os.environ)


def run_command(
    arguments: Sequence[str], folder: Path, environment: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """``python -m sitegen`` with these arguments, in a folder and an environment.

    Where the environment has other programs or modules than that of the tests, a process of its own is started.
    """
    if any(environment.get(name) != _AT_START.get(name) for name in ("PATH", "PYTHONPATH")):
        command = [sys.executable, "-m", "sitegen", *arguments]
        return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    with (
        tempfile.TemporaryFile() as request,
        tempfile.TemporaryFile("w+", encoding="utf-8") as out,
        tempfile.TemporaryFile("w+", encoding="utf-8") as err,
    ):
        request.write(json.dumps([arguments, str(folder), dict(environment)]).encode())
        request.seek(0)
        answer, answering = os.pipe()
        with _ASKING:  # tests may ask from several threads
            socket.send_fds(_server(), [b"?"], [request.fileno(), out.fileno(), err.fileno(), answering])
        os.close(answering)
        with open(answer, encoding="ascii") as said:
            code = int(said.read())
        return subprocess.CompletedProcess(["sitegen", *arguments], code, _whole(out), _whole(err))


def _whole(file: IO[str]) -> str:
    file.seek(0)
    return file.read()


@cache
def _server() -> socket.socket:
    """The server of this process, which ends as soon as the socket is closed."""
    ours, its = socket.socketpair()
    with its:
        server = subprocess.Popen(
            [sys.executable, "-m", "tests.command_server", str(its.fileno())],
            cwd=_ROOT,
            pass_fds=[its.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
    atexit.register(server.wait)
    atexit.register(ours.close)
    return ours


def _serve(asked: socket.socket) -> None:
    """Fork for every request. Returns in the process of a command, which is to run it; the server itself exits."""
    while True:
        mark, files, _, _ = socket.recv_fds(asked, 1, 4)
        if not mark:
            os._exit(0)
        if os.fork() == 0:
            asked.close()
            _answer(*files)
            return
        for file in files:
            os.close(file)
        while _ended():
            pass


def _ended() -> bool:
    """Whether one of the processes that answer had ended; nothing is left of it then."""
    try:
        return os.waitpid(-1, os.WNOHANG)[0] != 0
    except ChildProcessError:
        return False


def _answer(request: int, out: int, err: int, answering: int) -> None:
    """Fork the command and say its exit code. Returns in the process of the command alone."""
    if command := os.fork():
        code = os.waitstatus_to_exitcode(os.waitpid(command, 0)[1])
        os.write(answering, str(code).encode())
        os._exit(0)
    os.dup2(out, 1)
    os.dup2(err, 2)
    with open(request, "rb") as file:
        arguments, folder, environment = cast("tuple[list[str], str, dict[str, str]]", json.load(file))
    for each in (out, err, answering):
        os.close(each)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["sitegen", *arguments]
    sys.path[0] = folder


def _prepare() -> None:
    """Import every module, and whatever the build of a site with every kind of page imports besides."""
    for module in pkgutil.walk_packages(sitegen.__path__, "sitegen."):
        if module.name not in ("sitegen.__main__", "sitegen.questions.exporting"):
            import_module(module.name)
    from tests.golden.site import build

    with tempfile.TemporaryDirectory() as folder:
        build(Path(folder))
    gc.collect()
    gc.freeze()  # or every process would copy all of this as soon as it collects garbage


def _end(command: Callable[[], None]) -> NoReturn:
    """Run the command and exit as an interpreter does, without taking apart all that was imported."""
    try:
        command()
        code: object = 0
    except SystemExit as error:
        code = error.code or 0
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else 1)


if __name__ == "__main__":
    _prepare()
    _serve(socket.socket(fileno=int(sys.argv[1])))
    from sitegen.commands.main import run

    _end(run)
