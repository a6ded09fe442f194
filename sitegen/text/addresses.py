"""Decides which web addresses, and which parts of them, a page may link to and publish."""

from __future__ import annotations

import re
from typing import Final

_ADDRESS: Final = r"https?://(?:[^\W_][\w.-]*|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?(?:/[^\s?#\\\"'<>`\x00-\x1f\x7f]*)?"
_SCP_FORM: Final = r"(?:[^/:]*@)?([^/:@]+):(?!//)/*([^@]+)"
_URL_FORM: Final = r"(https?|ssh|git|git\+ssh)://(?:[^/]*@)?([^/:@]+)(:[0-9]+)?/+(.+)"


def is_web_address(text: str) -> bool:
    """Whether a text is an address with only a scheme (http or https), a host, and optionally a port and a path.

    A user name, a query or a fragment can hold a password or a token, which a link on a page would publish.
    """
    return re.fullmatch(_ADDRESS, text) is not None


def web_address(url: str) -> str | None:
    """Return the address of a repository's home page, from the address of the repository; None if it has none.

    Only scheme, host, port and path are kept.
    """
    url = re.split(r"[?#]", url.strip(), maxsplit=1)[0]
    if match := re.fullmatch(_URL_FORM, url):
        scheme, host, port, path = match.groups()
        # A port belongs to its scheme: the port of ssh is not the port of the web server.
        scheme, port = (scheme, port or "") if scheme in ("http", "https") else ("https", "")
    elif "://" not in url and (match := re.fullmatch(_SCP_FORM, url)) and len(match[1]) > 1:
        scheme, host, port, path = "https", match[1], "", match[2]
    else:
        return None
    address = f"{scheme}://{host}{port}/{path.rstrip('/').removesuffix('.git').rstrip('/')}"
    return address if is_web_address(address) else None
