"""Makes pages for the archive: those of the site, with links that lead back to the site."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable
from functools import partial
from typing import Final

from sitegen.analysis.memo import PageRow
from sitegen.pages import links
from sitegen.render.writer import ContentsWriter

_TAGS: Final = rb"a|area|audio|embed|iframe|image|img|link|script|source|track|use|video"
_ATTRIBUTE: Final = rb'\s+[^\s=>"\\]+(?:=(?:\\?"[^"]*"|[^\s>"]*))?'
_LINK: Final = rb'(<(?:%s)(?:%s)*?\s+(?:href|src)=(?:\\?")?)([^\s">\\]+)' % (_TAGS, _ATTRIBUTE)
"""The beginning of a tag, and the address that it names; in scripts, quotation marks are escaped."""
_SEARCH: Final = rb"(?s:<button [^>]*\bdata-search\b.*?</button>)"
"""The button that searches the site: its index is not in the archive, and pages load nothing from other servers."""


class ArchivePages(ContentsWriter):
    """Collects the files of reports for the archive, in the process that draws them."""

    def __init__(self, present: Iterable[PageRow], way_back: str) -> None:
        """``present``: files that the archive has; ``way_back``: from the root of the archive to that of the site."""
        super().__init__(present)
        self._way_back = way_back

    def write(self, owner: str, path: str, content: bytes, key: str | None = None, *, full: int = 0) -> None:
        """Collect a file of a report, as ``Writer.write`` does."""
        if path.endswith((".html", ".js")):
            content = linked_to_site(content, path, self._way_back)
        super().write(owner, path, content, key, full=full)


def linked_to_site(content: bytes, path: str, way_back: str) -> bytes:
    """Return a page or a script with rows for the archive.

    Relative links to files of the same report, to assets and to pictures stay; all others lead to the site, which has
    a page at each of their addresses. There is no search.

    Args:
        content: the page as the site would have it.
        path: path of the page, on the site and in the archive.
        way_back: address of the site, or the way to it from the root of the archive; with a slash at the end.

    """
    to_site = (way_back if "://" in way_back else links.up(path) + way_back).encode()
    return re.sub(_LINK, partial(_link, path, to_site), re.sub(_SEARCH, b"", content))


def _link(path: str, to_site: bytes, link: re.Match[bytes]) -> bytes:
    address = link[2].decode()
    target = re.split(r"[?#]", address, maxsplit=1)[0]
    if not target or ":" in target or target.startswith("/"):
        return link[0]
    there = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
    beside = links.report_name(there) == links.report_name(path)
    if beside or there.startswith((links.asset(""), "../")) or links.is_source_picture(there):
        return link[0]
    where = "" if there == "." else f"{there}{'/' if target.endswith('/') else ''}"
    return link[1] + to_site + f"{where}{address[len(target) :]}".encode()
