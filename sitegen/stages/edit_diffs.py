"""Diffs on the pages of commits: the third stage draws them for the pages of edits, and the fourth one shows them."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from sitegen.analysis.cached import CacheStore
from sitegen.history.fold_state import decode, encode
from sitegen.history.memo_rows import within
from sitegen.model.timeline import Edit
from sitegen.pages.edit import RenderedPatch, draw_edit
from sitegen.stages.cached_kinds import EDIT_DIFFS
from sitegen.stages.worker_context import WorkerContext

FILES: Final = 20
"""Number of instruction files whose diff the page of a commit shows."""
LINES: Final = 600
"""Number of lines of these diffs together. The page of an edit shows more."""
LARGEST: Final = 10_000
"""Number of bytes up to which a diff is stored, compressed: those of a file are in memory together. Most take 2,000."""


def key_of_diff(edit: Edit) -> str:
    """Return the key of an edit's diff: its path and its two contents."""
    old, new = (blob.oid if blob else "" for blob in (edit.old, edit.new))
    return within(edit.path, f"{old}..{new}")


def keep_diff(cache: CacheStore, edit: Edit, drawn: RenderedPatch) -> None:
    """Store the diff of an edit, without its lines if the page of a commit has no room for them.

    Large diffs are not stored, and drawn again.
    """
    diff = replace(drawn, passages=()) if drawn.lines <= LINES else replace(drawn, passages=(), rows=(), words=())
    content = zlib.compress(encode(diff), 1)
    if len(content) <= LARGEST:
        EDIT_DIFFS.keep(cache, key_of_diff(edit), content)


def diffs_of_commit(
    edits: Sequence[Edit], cache: CacheStore, context: WorkerContext, folders: tuple[str, ...]
) -> dict[str, RenderedPatch]:
    """Return the diffs on the page of a commit, by path: diffs of few lines, until the page is full.

    Args:
        edits: the edits of the commit.
        cache: the diffs that this build has stored. All others are drawn now.
        context: opens the repository.
        folders: contain all instruction files of the project, as in ``Repository.patches``.

    """
    edits = edits[:FILES]
    earlier = {edit.path: content for edit in edits if (content := EDIT_DIFFS.get(cache, key_of_diff(edit)))}
    asked = [edit for edit in edits if edit.path not in earlier]
    patches = context.open().patches(asked, folders) if asked else ()
    drawn = {edit.path: draw_edit(edit, patch, with_passages=False) for edit, patch in zip(asked, patches, strict=True)}
    diffs: dict[str, RenderedPatch] = {}
    room = LINES
    for edit in edits:
        content = earlier.get(edit.path)
        diff = decode(zlib.decompress(content), RenderedPatch) if content else drawn[edit.path]
        if 0 < diff.lines <= room:
            diffs[edit.path] = diff
            room -= diff.lines
    return diffs
