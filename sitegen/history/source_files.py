"""Finds the documents that outputs were made from, by the pattern that a manifest states as ``source``.

Only files that git lists are returned, so neither a pattern nor the id of a document can lead outside.
"""

from __future__ import annotations

import re
from posixpath import join, normpath
from typing import Final, NamedTuple

from sitegen.configuring.paths import leads_out
from sitegen.history.files_at_commit import LARGEST_SEARCH, Folders

MOST_FILES: Final = 2_000
"""The most files of a pattern at one commit; only the first by path count."""

_PLACEHOLDER: Final = re.compile(r"\{(document|page)\}")
_EXPRESSIONS: Final = {"document": "[^/]+", "page": "[0-9]{1,6}"}


class SourceFile(NamedTuple):
    """A document, or one page of it."""

    path: str
    document: str | None
    """Id of the document; None if the file is the source of every document."""
    page: int | None
    """None if the file is the whole document."""


def source_files(pattern: str, folder: str, folders: Folders) -> tuple[SourceFile, ...]:
    """Return the files that match a pattern, by path. The pattern is relative to the eval's *folder*."""
    whole_pattern = normpath(join(folder, pattern))
    if leads_out(pattern, folder):
        return ()
    *segments, _ = whole_pattern.split("/")
    level = [""]
    for segment in segments:
        if _PLACEHOLDER.search(segment):
            children = ((above, folders.names(above)) for above in level[:LARGEST_SEARCH])
            fits = re.compile(_expression(segment)).fullmatch
            level = [join(above, name) for above, names in children for name in names if names[name] and fits(name)]
        else:
            level = [join(above, segment) for above in level]
    fits = re.compile(_expression(whole_pattern)).fullmatch
    files = []
    for above in level[:LARGEST_SEARCH]:
        for name, is_folder in folders.names(above).items():
            match = None if is_folder else fits(join(above, name))
            if match:
                stated = match.groupdict()
                page = stated.get("page")
                files.append(SourceFile(match[0], stated.get("document"), None if page is None else int(page)))
    return tuple(sorted(files)[:MOST_FILES])


def _expression(pattern: str) -> str:
    """Return a regular expression in which a repeated placeholder has one value. Zeros before a page are ignored."""
    pieces: list[str] = []
    end = 0
    seen: set[str] = set()
    for match in _PLACEHOLDER.finditer(pattern):
        name = match[1]
        zeros = "0*" if name == "page" else ""
        group = f"(?P={name})" if name in seen else f"(?P<{name}>{_EXPRESSIONS[name]})"
        pieces += [re.escape(pattern[end : match.start()]), zeros, group]
        seen.add(name)
        end = match.end()
    return "".join(pieces) + re.escape(pattern[end:])
