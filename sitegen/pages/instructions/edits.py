"""The edits of instruction files in one commit, with what became of the evals, as several pages and lists show them."""

from __future__ import annotations

from sitegen.frozen import Frozen
from sitegen.model.commits import Commit
from sitegen.model.series import Effect
from sitegen.model.timeline import Edit
from sitegen.pages import links
from sitegen.text.patch import PatchCounts


class FileEdit(Frozen):
    """An edit of one instruction file."""

    edit: Edit
    file: str
    """The last path of the file, which names its page."""
    counts: PatchCounts | None = None
    """Lines added and removed, on pages that show them."""


class EditEffects(Frozen):
    """The instruction edits of one commit, with their effect on each eval."""

    commit: Commit
    edits: tuple[FileEdit, ...]
    """The edits by path; at least one."""
    effects: tuple[Effect, ...]

    @property
    def address(self) -> str:
        """The page of the edit or, if the commit has several, the page of the commit."""
        if len(self.edits) == 1 or self.commit.sha == self.commit.short:
            return links.edit(self.edits[0].file, self.commit.sha)
        return links.commit(self.commit.sha)
