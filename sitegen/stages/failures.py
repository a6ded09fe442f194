"""When sitegen itself fails at a part of the site: the part becomes a problem, and the rest is made.

The one place that catches what nobody expected. A page in the part's place says what happened, so that no link to it
leads nowhere; nothing of a failure is remembered, so that the next build tries again (``sitegen.build.build``).
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Final, TypeVar

from sitegen.errors import MissingObjectsError, SitegenError
from sitegen.model.problems import Problem
from sitegen.model.timeline import Snapshot
from sitegen.pages.placeholders import failed_page
from sitegen.render.environment import Renderer
from sitegen.render.writer import Writer

ENDS_THE_BUILD: Final = (SitegenError, MemoryError, OSError)
"""The configuration, the machine or its disk is at fault, so that every other part would fail too."""

FIX: Final = (
    "Please report this, with the traceback that the build printed. The next build tries again: another version of "
    "sitegen, or another content of the file that it fails at, may do."
)

_PACKAGE: Final = __name__.partition(".")[0]

R = TypeVar("R")


class AtSnapshotError(Exception):
    """Names the snapshot that was worked on when the exception behind it was raised."""

    def __init__(self, snapshot: Snapshot) -> None:
        super().__init__(f"at {snapshot.label} of commit {snapshot.commit.sha}")
        self.snapshot = snapshot


@contextmanager
def working_on(snapshot: Snapshot) -> Iterator[None]:
    """Make a failure name the snapshot at which it happened."""
    try:
        yield
    except (*ENDS_THE_BUILD, AtSnapshotError):
        raise
    except Exception as error:
        raise AtSnapshotError(snapshot) from error


def attempt(
    part: str,
    make: Callable[[], R],
    *,
    path: str | None = None,
    commit: str | None = None,
    eval_id: str | None = None,
) -> R | Problem:
    """What *make* returns; or, if it fails, the problem, once the traceback was printed.

    Args:
        part: what is made, as the end of a sentence: ``the pages of this eval``.
        make: makes it. What it raises of ``ENDS_THE_BUILD`` is raised.
        path: of the file in the project that the part is about.
        commit: its id, if the part is about one.
        eval_id: of the eval that the part is about.

    """
    try:
        return make()
    except MissingObjectsError as error:
        what = f"sitegen could not make {part}. {error.what}"
        return Problem(
            severity="error",
            message=what,
            fix=error.fix or FIX,
            path=error.path or path,
            line=None,
            commit=error.commit or commit,
            eval_id=eval_id,
        )
    except ENDS_THE_BUILD:
        raise
    except Exception as error:
        traceback.print_exception(error, file=sys.stderr)
        return _problem(part, error, Problem("error", "", FIX, path=path, commit=commit, eval_id=eval_id))


def write_in_its_place(writer: Writer, renderer: Renderer, owner: str, path: str, problem: Problem) -> None:
    """Write the page that says why the page at an address could not be made."""
    writer.write(owner, path, renderer.render(failed_page(path, problem)))


def _problem(part: str, error: Exception, problem: Problem) -> Problem:
    """``problem``: where the part belongs."""
    if isinstance(error, AtSnapshotError) and isinstance(error.__cause__, Exception):
        snapshot, error = error.snapshot, error.__cause__
        path = snapshot.outputs[0].path if snapshot.outputs else None
        problem = problem._replace(path=path, commit=snapshot.commit.sha)
    return problem._replace(message=f"sitegen failed while it made {part}: {type(error).__name__}{_place(error)}.")


def _place(error: Exception) -> str:
    """The function of sitegen that raised it or called what did.

    Nothing else that an exception knows is the same in every build: messages hold addresses and values that may be
    hidden, and how deep a recursion went depends on who began it.
    """
    if isinstance(error, RecursionError):
        return ""
    places = [place for place in map(_function, _frames(error.__traceback__)) if place]
    return f" in {places[-1]}" if places else ""


def _frames(step: TracebackType | None) -> Iterator[TracebackType]:
    while step is not None:
        yield step
        step = step.tb_next


def _function(step: TracebackType) -> str:
    module = step.tb_frame.f_globals.get("__name__", "")
    ours = isinstance(module, str) and module.partition(".")[0] == _PACKAGE
    return f"{module}.{step.tb_frame.f_code.co_qualname}" if ours else ""
