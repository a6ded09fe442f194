"""Where tasks are run: in order, made when their turn is near, and none held after it."""

import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sitegen.engine.pool import WAITING, Pool, pool_for, processes_for


def _made(number: int, made: list[int]) -> Iterator[int]:
    for task in range(number):
        made.append(task)
        yield task


def test_results_come_in_the_order_of_their_tasks_each_with_its_own():
    tasks = [3, 1, 2]
    with ThreadPoolExecutor(2) as executor:
        assert (
            list(Pool(executor.submit, 2).map(str, tasks))
            == list(Pool().map(str, tasks))
            == [(3, "3"), (1, "1"), (2, "2")]
        )


def test_only_so_many_tasks_are_made_before_the_first_result_is_taken():
    made: list[int] = []
    with ThreadPoolExecutor(2) as executor:
        results = Pool(executor.submit, 2).map(str, _made(100, made))
        assert next(results) == (0, "0")
        assert len(made) == 2 * (1 + WAITING)
        assert len(list(results)) == 99


def test_what_a_task_raises_is_raised_where_its_result_is_taken():
    with ThreadPoolExecutor(1) as executor:
        results = Pool(executor.submit, 1).map(int, ["1", "x", "2"])
        assert next(results) == ("1", 1)
        with pytest.raises(ValueError, match="invalid literal"):
            next(results)


CORES = os.cpu_count() or 1
HEAPS = """
import ctypes, os
from sitegen.engine.pool import pool_for

if __name__ == "__main__":
    with pool_for(2, jobs=2) as pool:
        results = list(pool.map(str, range(100)))
        assert len(results) == 100
        libc = ctypes.CDLL(None)
        libc.fdopen.restype = ctypes.c_void_p
        file = ctypes.c_void_p(libc.fdopen(1, b"w"))
        libc.malloc_info(0, file)
        libc.fflush(file)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="Other C libraries have no heaps for threads.")
def test_threads_that_send_tasks_have_no_heaps_of_their_own(tmp_path: Path):
    script = tmp_path / "heaps.py"
    script.write_text(HEAPS)
    info = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True).stdout
    assert info.count("<heap nr=") == 1


def test_little_work_stays_in_this_process():
    with pool_for(1) as pool:
        assert list(pool.map(lambda task: os.getpid(), [0])) == [(0, os.getpid())]


@pytest.mark.parametrize(
    ("units", "jobs", "processes"),
    [(1, None, 1), (10**6, None, CORES), (1, 3, 3), (1, 10**9, 4 * CORES), (1, 0, 1), (1, -3, 1)],
)
def test_there_are_never_more_processes_than_the_cores_can_use_however_many_are_asked_for(units, jobs, processes):
    assert processes_for(units, jobs) == processes
