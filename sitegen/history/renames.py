"""Finds renames: pairs of a deleted and an added file. git's own detection is not used, as it depends on settings."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from posixpath import basename
from typing import Final

from sitegen.model.commits import ChangedPath

SIMILAR: Final = 0.5
"""The least similarity of contents for a rename; git's default."""


def file_renames(changes: Iterable[ChangedPath], read: Callable[[str], bytes | None]) -> dict[str, ChangedPath]:
    """Return the deletion that belongs to each added path that is a rename.

    Equal contents are paired first, preferring equal names. If exactly one deleted and one added file remain, they are
    paired if their contents are similar. *read* returns a blob's content, or None.
    """
    deleted = {change.path: change for change in changes if change.new is None}
    added = {change.path: change for change in changes if change.old is None}
    pairs: dict[str, ChangedPath] = {}
    by_content: dict[str | None, list[str]] = defaultdict(list)
    for path in sorted(deleted):
        by_content[deleted[path].old].append(path)
    for same_name in (True, False):
        for path in sorted(added.keys() - pairs.keys()):
            candidates = by_content[added[path].new]
            match = next((old for old in candidates if not same_name or basename(old) == basename(path)), None)
            if match is not None:
                candidates.remove(match)
                pairs[path] = deleted.pop(match)
    rest = sorted(added.keys() - pairs.keys())
    if len(rest) == len(deleted) == 1:
        old = next(iter(deleted.values()))
        before, after = read(old.old or ""), read(added[rest[0]].new or "")
        if before is not None and after is not None and similarity(before, after) >= SIMILAR:
            pairs[rest[0]] = old
    return pairs


def similarity(first: bytes, second: bytes) -> float:
    """Return the share of the larger content, in bytes, in lines of both, ignoring carriage returns at line ends."""
    before, after = (Counter(line.rstrip(b"\r") for line in text.split(b"\n")) for text in (first, second))
    common = sum(len(line) * number for line, number in (before & after).items())
    largest = max(sum(len(line) * number for line, number in lines.items()) for lines in (before, after))
    return common / largest if largest else float(before == after)


def folder_renames(deleted_blobs: dict[str, Counter[str]], added_blobs: dict[str, Counter[str]]) -> dict[str, str]:
    """Return new name -> old name of each folder that moved: at least half of its blobs are in the new folder.

    Both arguments map names to multisets of blob ids. Of several candidates, the one with the most equal blobs wins,
    then the one with the smallest name.
    """
    ranked = sorted(
        (-(deleted & added).total(), old, new)
        for old, deleted in deleted_blobs.items()
        for new, added in added_blobs.items()
        if 0 < deleted.total() <= 2 * (deleted & added).total()
    )
    pairs: dict[str, str] = {}
    for _, old, new in ranked:
        if new not in pairs and old not in pairs.values():
            pairs[new] = old
    return pairs
