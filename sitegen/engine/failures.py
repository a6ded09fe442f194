"""Turns a failure of sitegen itself in one part of the site into a problem, so that the rest is built.

Only this module catches unexpected exceptions. A page at the address of the failed part explains the failure, so that
no link is broken. Nothing of a failed part is cached, so that the next build tries again (``sitegen.update.build``).
"""

import sqlite3
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TypeVar

from msgspec.structs import replace

from sitegen.errors import MissingObjectsError, SitegenError
from sitegen.model.problems import Problem
from sitegen.model.timeline import Snapshot

_ENDS_THE_BUILD: Final = (SitegenError, MemoryError, OSError, sqlite3.DatabaseError)
"""Errors of the configuration, the machine, its disk or the memo, at which every other part would fail as well."""

FIX: Final = (
    "Please report this, with the traceback that the build printed. The next build tries again; it may succeed "
    "with another version of sitegen, or if the file at which it failed has changed."
)

_PACKAGE: Final = __name__.partition(".")[0]

R = TypeVar("R")


class AtSnapshotError(Exception):
    """Wraps an exception with the snapshot that was being processed."""

    def __init__(self, snapshot: Snapshot) -> None:
        super().__init__(f"at {snapshot.label} of commit {snapshot.commit.sha}")
        self.snapshot = snapshot


@contextmanager
def working_on(snapshot: Snapshot) -> Iterator[None]:
    """Wrap unexpected exceptions in an AtSnapshotError."""
    try:
        yield
    except (*_ENDS_THE_BUILD, AtSnapshotError):
        raise
    except Exception as error:
        raise AtSnapshotError(snapshot) from error


def attempt(
    part: str, make: Callable[[], R], *, path: str | None = None, commit: str | None = None, eval_id: str | None = None
) -> R | Problem:
    """Return what ``make`` returns; if it fails, print the traceback and return a problem.

    ``part``: what is made, as the end of a sentence: ``the pages of this eval``. The path, the commit and the eval
    are those that the part is about. Exceptions of ``_ENDS_THE_BUILD`` pass through.
    """
    problem = Problem("error", "", FIX, path=path, commit=commit, eval_id=eval_id)
    try:
        return make()
    except MissingObjectsError as error:
        message, fix = f"sitegen could not make {part}. {error.message}", error.fix or FIX
        problem = replace(problem, message=message, fix=fix, not_fetched=error.in_lfs)
        return replace(problem, path=error.path or path, commit=error.commit or commit)
    except _ENDS_THE_BUILD:
        raise
    except Exception as error:
        traceback.print_exception(error, file=sys.stderr)
        if isinstance(error, AtSnapshotError) and isinstance(error.__cause__, Exception):
            snapshot, error = error.snapshot, error.__cause__
            path = snapshot.outputs[0].path if snapshot.outputs else None
            problem = replace(problem, path=path, commit=snapshot.commit.sha)
        message = f"sitegen failed while it made {part}: {type(error).__name__}{_place(error)}."
        return replace(problem, message=message)


def _place(error: Exception) -> str:
    """Return the innermost function of sitegen, or line of a template, in the traceback.

    Nothing else of an exception is the same in every build: messages can hold addresses and hidden values, and the
    depth of a recursion depends on its caller.
    """
    if isinstance(error, RecursionError):
        return ""
    place = ""
    for frame, line in traceback.walk_tb(error.__traceback__):
        module = str(frame.f_globals.get("__name__"))  # of a template: its file
        if module.partition(".")[0] == _PACKAGE:
            place = f" in {module}.{frame.f_code.co_qualname}"
        elif module.endswith(".html"):
            place = f" in line {line} of {'/'.join(Path(module).parts[-2:])}"
    return place
