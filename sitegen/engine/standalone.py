"""Writes one page without the site around it: with inline styles, no scripts, and no links to missing pages."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection
from html import unescape
from typing import Final
from urllib.parse import unquote, urlsplit

_SCRIPT: Final = re.compile(r"<script\b.*?</script>\n?", re.DOTALL)
_HEADER: Final = re.compile(r'<a class="skip"[^>]*>.*?</a>\n?|<header\b.*?</header>\n?', re.DOTALL)
_POLICY: Final = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')
_OURS: Final = (
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
    "img-src data:; base-uri 'none'; form-action 'none'\">"
)

_LINK: Final = re.compile(r"<a\b([^>]*)>(.*?)</a>", re.DOTALL)
"""Links are not nested, and no attribute holds a ``>``: templates escape it."""

_HREF: Final = re.compile(r"""\shref=(?:"([^"]*)"|'([^']*)'|([^\s>]*))""")
_HEAD_LINK: Final = re.compile(r"<link\b([^>]*)>\n?")
_SEARCH: Final = re.compile(r"<button\b[^>]*\sdata-search\b.*?</button>\n?", re.DOTALL)
_CLASS: Final = re.compile(r"""\sclass=["'][^"']*["']""")
_BUTTON: Final = re.compile(r"""\sclass=["']([^"']*\s)?btn\b""")
_MAIN: Final = re.compile(r"<main\b.*</main>", re.DOTALL)


def standalone(page: bytes, path: str, styles: str, reachable: Collection[str]) -> bytes:
    """The page at ``path`` with its style sheet inside; only the files ``beside`` it can be reached.

    The policy allows no script at all, so that a value that looked like one would do nothing.
    """
    html = _HEADER.sub("", _SCRIPT.sub("", without_links(page, path, reachable).decode()))
    safe = styles.replace("</", "<\\/")  # keeps a theme from closing the element
    sheet = f"<style>\n{safe}</style>\n</head>"
    # The policy is first in the head: it applies only to what follows, and a project's own head may have none.
    html = _POLICY.sub("", html).replace("<head>", f"<head>\n{_OURS}", 1)
    return html.replace("</head>", sheet, 1).encode()


def without_links(page: bytes, path: str, reachable: Collection[str]) -> bytes:
    """Remove the links of the page at ``path`` to any file that is not ``reachable``.

    In the main part, links to other files become text, and buttons are removed; around it, navigation links are
    removed.
    """
    folder = posixpath.dirname(path)

    def leads(attributes: str) -> bool:
        href = _HREF.search(attributes)
        parts = urlsplit(unescape("".join(part or "" for part in href.groups()))) if href else None
        if parts is None or parts.scheme or parts.netloc or not parts.path:
            return True
        return posixpath.normpath(posixpath.join(folder, unquote(parts.path))) in reachable

    def text(link: re.Match[str]) -> str:
        attributes, content = link.groups()
        if leads(attributes):
            return link[0]
        kind = _CLASS.search(attributes)
        return "" if _BUTTON.search(attributes) else f"<span{kind[0] if kind else ''}>{content}</span>"

    def nothing(link: re.Match[str]) -> str:
        return link[0] if leads(link[1]) else ""

    html = _SEARCH.sub("", _HEAD_LINK.sub(nothing, page.decode()))
    main = _MAIN.search(html)
    start, end = main.span() if main else (0, len(html))
    parts = (_LINK.sub(nothing, html[:start]), _LINK.sub(text, html[start:end]), _LINK.sub(nothing, html[end:]))
    return "".join(parts).encode()
