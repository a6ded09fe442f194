"""Walks history, and finds renames in it.

Commits are read as a stream, oldest first, from ``rev-list`` piped into ``diff-tree``.
Renames are pairs of a deleted and an added file. git's own detection is not used, as it depends on settings.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone
from posixpath import basename, dirname
from sys import intern
from typing import IO, Final

from sitegen.errors import MissingObjectsError, RepositoryError
from sitegen.history.process import Process
from sitegen.history.repository_place import RepositoryPlace
from sitegen.model.commits import ChangedPath, Commit, Revision
from sitegen.model.frozen import grouped

_FORMAT: Final = "--format=%H%x00%an%x00%cd%x00%s%x00%b"
_FIELDS: Final = 5  # fields of a commit in git's output
_PIECE: Final = 1 << 16  # bytes that are read at once
_LONGEST_SUBJECT: Final = 1_000  # characters, also of an author's name
_LONGEST_BODY: Final = 10_000  # characters
REGULAR: Final = ("100644", "100755", "100664")
_KINDS: Final = {"120000": "a symbolic link", "160000": "a submodule"}


def commits_up_to(repository: RepositoryPlace, new: str, *, since: str | None = None) -> Iterator[str]:
    """Yield the ids of the first-parent line after ``since`` (a commit on it) up to ``new``, oldest first."""
    arguments = ["rev-list", "--first-parent", "--reverse", new, *([f"^{since}"] if since else []), "--"]
    with Process(repository, arguments, ()) as listing:
        for line in listing.stdout:
            yield line.decode("ascii").strip()
        listing.finish()


def walk(
    repository: RepositoryPlace, commits: Iterable[str], *, pathspecs: Sequence[str] = (), position: int = 0
) -> Iterator[Revision]:
    """Yield the revisions of commits, in their order; ``position``: that of the first.

    Only regular files count; a path that becomes a symbolic link or a submodule is a deletion as well. ``pathspecs``:
    literal files or folders; a commit that touches none of them is still yielded.
    """
    command = [
        *("diff-tree", "--stdin", "-r", "--raw", "-z", "--root", "--no-renames", "--diff-merges=first-parent"),
        *("--no-abbrev", "--always", "--ignore-submodules=none", "--encoding=UTF-8", "--date=raw", _FORMAT),
        *(["--", *pathspecs] if pathspecs else []),
    ]
    with Process(repository, command, (f"{commit}\n".encode() for commit in commits)) as trees:
        yield from _revisions(tokens(trees.stdout), position)
        try:
            trees.finish()
        except RepositoryError as error:
            raise MissingObjectsError from error


def tokens(stream: IO[bytes]) -> Iterator[bytes]:
    """Yield the parts of a stream between NUL bytes."""
    rest = b""
    while piece := stream.read1(_PIECE):  # type: ignore[attr-defined]
        *complete, rest = (rest + piece).split(b"\0")
        yield from complete
    if rest:
        yield rest


def _revisions(parts: Iterator[bytes], position: int) -> Iterator[Revision]:
    # Under -z the message ends with NUL and a line feed stands before the first record: "\n:100644 ...".
    # Records start with a colon, ids of commits never do, and a message cannot hold a NUL.
    for first in parts:
        head = first
        while head:
            author, when, subject, body = (next(parts) for _ in range(_FIELDS - 1))
            commit = Commit(
                sha=head.decode("ascii"),
                position=position,
                author=intern(_decoded_text(author, _LONGEST_SUBJECT)),
                committed_at=iso(when.decode("ascii", "replace")),
                subject=_decoded_text(subject, _LONGEST_SUBJECT),
                body=_decoded_text(body, _LONGEST_BODY),
            )
            position += 1
            changes, irregular = [], []
            head = b""
            for token in parts:
                record = token.lstrip(b"\n")
                if not record.startswith(b":"):
                    head = token
                    break
                # Interned, because most occur in several commits, snapshots and edits that are all in memory.
                old_mode, new_mode, old, new, _ = raw_record_fields(record)
                path = intern(os.fsdecode(next(parts)))
                if new_mode != old_mode and not _KINDS.keys().isdisjoint((old_mode, new_mode)):
                    irregular.append((path, _KINDS.get(new_mode, "")))
                change = ChangedPath(path, old if old_mode in REGULAR else None, new if new_mode in REGULAR else None)
                if change.old != change.new:  # a regular file on one side, and not its mode alone
                    changes.append(change)
            yield Revision(commit, tuple(changes), tuple(irregular))


def raw_record_fields(record: bytes) -> tuple[str, ...]:
    """Return old mode, new mode, old id, new id and status of a raw record. Ids have 40 or 64 digits."""
    return tuple(map(intern, record.decode("ascii").removeprefix(":").split(" ")))


def _decoded_text(raw: bytes, longest: int) -> str:
    text = raw.decode("utf-8", "replace").strip()
    return text if len(text) <= longest else text[: longest - 1] + "…"


def iso(raw: str) -> str:
    """Return a raw date of git, ``1700000000 +0100``, as ISO 8601 with that offset; in UTC if the offset is invalid.

    git does not format the date, because its versions disagree on UTC (``Z`` or ``+00:00``) and on impossible dates.
    """
    seconds, _, offset = raw.strip().partition(" ")
    with suppress(ValueError, OverflowError, OSError):
        sign = -1 if offset.startswith("-") else 1
        digits = offset.lstrip("+-")
        zone = timezone(sign * timedelta(hours=int(digits[:-2] or 0), minutes=int(digits[-2:] or 0)))
        return datetime.fromtimestamp(int(seconds), zone).isoformat()
    try:
        return datetime.fromtimestamp(int(seconds), UTC).isoformat()
    except (ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(0, UTC).isoformat()


_SIMILAR: Final = 0.5  # the least similarity of contents for a rename; git's default


def file_renames(changes: Iterable[ChangedPath], read: Callable[[str], bytes | None]) -> dict[str, ChangedPath]:
    """Return the deletion that belongs to each added path that is a rename.

    Equal contents are paired first, preferring equal names. If exactly one deleted and one added file remain, they are
    paired if their contents are similar. ``read``: returns a blob's content, or None.
    """
    deleted = {change.path: change for change in changes if change.new is None}
    if not deleted:
        return {}
    added = {change.path: change for change in changes if change.old is None}
    pairs: dict[str, ChangedPath] = {}
    by_content = grouped((deleted[path].old, path) for path in sorted(deleted))
    for same_name in (True, False):
        for path in sorted(added.keys() - pairs.keys()):
            candidates = by_content.get(added[path].new, [])
            match = next((old for old in candidates if not same_name or basename(old) == basename(path)), None)
            if match is not None:
                candidates.remove(match)
                pairs[path] = deleted.pop(match)
    rest = sorted(added.keys() - pairs.keys())
    if len(rest) == len(deleted) == 1:
        old = next(iter(deleted.values()))
        before, after = read(old.old or ""), read(added[rest[0]].new or "")
        if before is not None and after is not None and similarity(before, after) >= _SIMILAR:
            pairs[rest[0]] = old
    return pairs


def with_moved_folders(changes: Iterable[ChangedPath], renames: Mapping[str, ChangedPath]) -> dict[str, ChangedPath]:
    """Return renames, and those of files which one folder lost as another got files of the same names.

    What they hold may differ. If several folders lost such files, or got them, only folders of one name are paired.
    """
    moved = {*renames, *(old.path for old in renames.values())}
    rest = {change.path: change for change in changes if change.path not in moved}
    gone, came = (
        {folder: (*sorted(names),) for folder, names in grouped((dirname(at), basename(at)) for at in paths).items()}
        for paths in ((at for at in rest if rest[at].new is None), (at for at in rest if rest[at].old is None))
    )
    same, arrived = grouped((names, old) for old, names in gone.items()), Counter(came.values())
    named = grouped(((names, basename(old)), old) for old, names in gone.items())
    pairs = {**renames}
    for new, names in came.items():
        old, *others = named.get((names, basename(new))) or (arrived[names] == 1 and same.get(names)) or [""]
        if old and not others and len(names) > 1:
            pairs |= {f"{new}/{name}": rest[f"{old}/{name}"] for name in names if new}
    return pairs


def similarity(first: bytes, second: bytes) -> float:
    """Return the share of the larger content, in bytes, in lines of both, ignoring white space at their ends."""
    before, after = (Counter(map(bytes.strip, text.split(b"\n"))) for text in (first, second))
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
