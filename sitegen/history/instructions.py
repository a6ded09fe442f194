"""Instruction files through history: which commit edited which file, under which name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sitegen.history.renames import file_renames
from sitegen.model.commits import Change, Commit
from sitegen.model.timeline import Blob, Edit, InstructionHistory


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
        edits = [self._edit(commit, change, renames.get(change.path)) for change in changes if change.path not in left]
        # A file that takes the name that another leaves in the same commit must not take its history.
        before = {path: self._history(path) for path in {*left, *(edit.path for edit in edits)}}
        self.touched |= dict.fromkeys(left)
        for edit in edits:
            source = renames.get(edit.path)
            earlier = [before[path] for path in dict.fromkeys((source.path if source else edit.path, edit.path))]
            known = [each for history in earlier if history is not None for each in history.edits]
            if len(earlier) > 1:
                known.sort(key=lambda each: each.commit.position)
            self.touched[edit.path] = InstructionHistory(edit.path, (*known, edit), edit.status == "deleted")
        return tuple(sorted(edit.path for edit in edits))

    def _history(self, path: str) -> InstructionHistory | None:
        if path not in self.touched:
            self.touched[path] = self._load(path)
        return self.touched[path]

    @staticmethod
    def _edit(commit: Commit, change: Change, source: Change | None) -> Edit:
        old = Blob(change.path, change.old) if change.old else None
        new = Blob(change.path, change.new) if change.new else None
        if source is not None and source.old is not None:
            return Edit(commit, change.path, "renamed", Blob(source.path, source.old), new)
        status = "deleted" if new is None else "added" if old is None else "modified"
        return Edit(commit, change.path, status, old, new)  # type: ignore[arg-type]
