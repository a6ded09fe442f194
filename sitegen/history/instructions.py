"""Instruction files through history: which commit edited which file, under which name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sitegen.history.renames import file_renames
from sitegen.model.commits import Change, Commit
from sitegen.model.timeline import Blob, Edit, EditStatus, InstructionHistory


class Instructions:
    """The histories that new commits touch; the others stay where they are."""

    def __init__(self, load: Callable[[str], InstructionHistory | None], read: Callable[[str], bytes | None]) -> None:
        """*load* gives what is known of a path; *read* a blob's content, asked only where a rename is in doubt."""
        self._load = load
        self._read = read
        self.touched: dict[str, InstructionHistory | None] = {}
        """By path; None where the history went on under another name."""

    def fold(self, commit: Commit, changes: Sequence[Change]) -> tuple[str, ...]:
        """Fold one commit's changes of instruction files; the paths of its edits."""
        renames = file_renames(changes, self._read)
        left = {change.path for change in renames.values()}
        edits = [_edit(commit, change, renames.get(change.path)) for change in changes if change.path not in left]
        for edit in edits:
            names = dict.fromkeys(blob.path for blob in (edit.old, edit.new) if blob is not None)
            earlier = [history for name in names if (history := self._history(name)) is not None]
            known = [each for history in earlier for each in history.edits]
            if len(earlier) > 1:
                known.sort(key=lambda each: each.commit.position)
            self.touched[edit.path] = InstructionHistory(edit.path, (*known, edit), edit.status == "deleted")
        self.touched |= dict.fromkeys(left)
        return tuple(sorted(edit.path for edit in edits))

    def _history(self, path: str) -> InstructionHistory | None:
        if path not in self.touched:
            self.touched[path] = self._load(path)
        return self.touched[path]


def _edit(commit: Commit, change: Change, source: Change | None) -> Edit:
    """The edit that a change is; *source* is the deletion behind it if it is a rename."""
    old = Blob(change.path, change.old) if change.old else None
    new = Blob(change.path, change.new) if change.new else None
    if source is not None and source.old is not None:
        return Edit(commit, change.path, "renamed", Blob(source.path, source.old), new)
    status: EditStatus = "deleted" if new is None else "added" if old is None else "modified"
    return Edit(commit, change.path, status, old, new)
