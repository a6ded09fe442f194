"""The texts of all problems with parts of a history that cannot be read or counted."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from posixpath import basename

from msgspec.structs import replace

from sitegen.config.models import GROUND_TRUTHS
from sitegen.errors import POINTER, MissingObjectsError, NothingToReportError, RepositoryError
from sitegen.history.instructions import MOST_ADDED
from sitegen.history.layout import RESULTS, Layout, PathRole
from sitegen.model.commits import ChangedPath, Commit
from sitegen.model.problems import Problem

_UNSHALLOW = "Run git fetch --unshallow; in a GitHub workflow, give actions/checkout the input fetch-depth: 0."


def first_of_each(found: Iterable[Problem]) -> tuple[Problem, ...]:
    """Return each problem once, with the first commit that has it."""
    first: dict[Problem, Problem] = {}
    for problem in found:
        first.setdefault(replace(problem, commit=None), problem)
    return tuple(first.values())


def bad_manifest(commit: Commit, change: ChangedPath, reason: str, line: int | None = None) -> Problem:
    """The manifest of an old commit cannot be read, or one of its keys."""
    fix = "Nothing has to be done if a later commit corrected it."
    if POINTER in reason:
        fix = MissingObjectsError(in_lfs=True).fix or fix
    return Problem(severity="warning", message=reason, fix=fix, path=change.path, line=line, commit=commit.sha)


def stranger_folder(place: PathRole) -> Problem:
    """A folder beside the iterations has a name that is not an iteration's."""
    path = f"{place.folder}/{RESULTS}/{place.iteration}"
    message = f"{place.iteration!r} among the results is not an iteration, and is passed over."
    fix = "Name it iteration-NNN if it should count; otherwise nothing has to be done."
    return Problem.of_type("stranger_folder", message, fix, path)


def same_number(path: str, number: int) -> Problem:
    """Two folders have the number of the same iteration."""
    message = f"{basename(path)!r} has the number of another iteration, {number}; both are kept."
    fix = "Give each iteration a number of its own."
    return Problem.of_type("same_number", message, fix, path)


def unreadable_record(path: str, reason: str) -> Problem:
    """The record beside an output cannot be read."""
    fix = "Only the recorded time and numbers are lost; write the file again to restore them."
    message = f"The recorded results cannot be read: {reason}."
    return Problem(severity="warning", message=message, fix=fix, path=path)


def many_instructions(commit: Commit, added: int) -> Problem:
    """A commit adds more instruction files than are followed since it."""
    message = (
        f"{added:,} instruction files in one commit: {MOST_ADDED:,} are followed, the others since their next edits."
    )
    fix = "If not all of these files instruct a model, name those that do under instructions in sitegen.toml."
    return Problem(severity="note", message=message, fix=fix, commit=commit.sha)


def runs_left_out(path: str, runs: int) -> Problem:
    """A commit appends several runs to a file, of which the last one is the output."""
    left_out = f"{runs - 1:,} {'run' if runs == 2 else 'runs'} of this commit {'is' if runs == 2 else 'are'} left out"
    message = (
        f"{left_out}: it adds {runs:,} rows with runs, and only the newest run of the file is a point of the series."
    )
    fix = "Commit the file after each run, or write each run to a file of its own."
    return Problem(severity="note", message=message, fix=fix, path=path)


def fault_at_output(path: str, error: Exception) -> Problem:
    """Sitegen failed while reading what an output states about its run."""
    message = f"sitegen failed while reading what this output states about its run: {type(error).__name__}."
    fix = "Please report it. The numbers do not depend on it, but the output may be linked to other instructions."
    return Problem.of_type("unlinked_output", message, fix, path)


def backward_dates(number: int) -> Problem:
    """``number`` commits are dated before the commit that they follow."""
    return Problem(
        severity="note",
        message=f"{number:,} {'commit is' if number == 1 else 'commits are'} dated before the commit they follow.",
        fix="Nothing has to be done: commits are in the order of the history, not of their dates.",
    )


def cut_off_history(commit: str) -> Problem:
    """The history is shallow, and that was allowed."""
    return Problem(
        severity="warning",
        message="The history of this clone is cut off: its oldest commit seems to have made everything.",
        fix=_UNSHALLOW,
        commit=commit,
    )


def shallow_history(where: Path) -> RepositoryError:
    """The history is shallow, and that was not allowed."""
    reason = "The history of this clone is cut off: its oldest commit would seem to have made everything."
    return RepositoryError(reason, where=str(where), fix=_UNSHALLOW)


def no_eval(layout: Layout) -> Problem:
    """There are instructions but no eval; the text names the searched places and says how to add one."""
    reason, fix = _no_eval(layout)
    return Problem(severity="note", message=reason, fix=fix)


def nothing_to_report(where: Path, layout: Layout) -> NothingToReportError:
    """There is no eval and no instruction file."""
    reason, fix = _no_eval(layout)
    return NothingToReportError(f"{reason} There is no instruction file either.", where=str(where), fix=fix)


def _no_eval(layout: Layout) -> tuple[str, str]:
    folder = layout.manifest_path.rpartition("/")[0] or "."
    return (
        f"There is no eval: no folder in {folder}/ ever had a ground truth ({', '.join(GROUND_TRUTHS)}), "
        f"and no committed {layout.manifest_path} names another: what is not committed is not read.",
        f"If {layout.manifest_path} is written but not committed, commit it, or run sitegen build --worktree. Else "
        f"commit {folder}/NAME/ground_truth.csv and {folder}/NAME/results/iteration-001/extracted.json. To look for "
        "files of other names, run: sitegen init",
    )
