"""Which instruction files are not the same at two revisions, and which commits edited them in between."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sitegen.model.gate import InstructionChange
from sitegen.model.timeline import InstructionHistory


def edited_since(before: Sequence[InstructionHistory], after: Sequence[InstructionHistory]) -> list[InstructionChange]:
    """The files whose contents differ, by path; a file that was renamed and is the same otherwise does not.

    Each has its edits that *before* does not know. Those may be none, where history was written anew.
    """
    contents = {file.path: _content(file) for file in before}
    known = {edit.commit.sha for file in before for edit in file.edits}
    return sorted(_changed(contents, known, after), key=lambda change: change.path)


def _changed(
    contents: dict[str, str | None], known: set[str], after: Sequence[InstructionHistory]
) -> Iterator[InstructionChange]:
    for file in after:
        names = [file.path, *(edit.path for edit in reversed(file.edits))]
        earlier = next((contents[name] for name in names if name in contents), None)
        if earlier != _content(file):
            commits = (edit.commit for edit in file.edits if edit.commit.sha not in known)
            yield InstructionChange(file.path, tuple(dict.fromkeys(commits)))


def _content(file: InstructionHistory) -> str | None:
    newest = file.edits[-1].new
    return newest.oid if newest and not file.deleted else None
