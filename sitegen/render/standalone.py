"""A page as one file that is read without the site: its styles inside it, no script, and no way out of it."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from sitegen.render.unlinked import without_links

_SCRIPT: Final = re.compile(r"<script\b.*?</script>\n?", re.DOTALL)
_HEADER: Final = re.compile(r'<a class="skip"[^>]*>.*?</a>\n?|<header\b.*?</header>\n?', re.DOTALL)
_POLICY: Final = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')
_OURS: Final = (
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
    "img-src data:; base-uri 'none'; form-action 'none'\">"
)


def standalone(page: bytes, path: str, styles: str, beside: Collection[str] = ()) -> bytes:
    """The page at ``path`` with its style sheet inside; only the files ``beside`` it can be reached.

    The policy allows no script at all, so that a value that looked like one would do nothing.
    """
    html = _HEADER.sub("", _SCRIPT.sub("", without_links(page, path, beside).decode()))
    safe = styles.replace("</", "<\\/")  # the end of the element, whatever a theme holds
    sheet = f"<style>\n{safe}</style>\n</head>"
    # First of all that the head holds: a policy counts for what follows it, and a project's own head may have none.
    html = _POLICY.sub("", html).replace("<head>", f"<head>\n{_OURS}", 1)
    return html.replace("</head>", sheet, 1).encode()
