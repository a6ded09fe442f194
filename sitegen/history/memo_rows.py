"""The rows of the memo and the texts of their keys. No library is imported, because every build reads the memo."""

from __future__ import annotations

from typing import Final, NamedTuple

_WITHIN: Final = "\x1f"


class CachedRow(NamedTuple):
    """One row of the memo: the kind, the key and the encoded value."""

    kind: str
    key: str
    content: bytes


def stored(name: str) -> str:
    """Return a path, or an id made from a path, as text that SQLite can store: bytes that are not UTF-8 are escaped."""
    return name if name.isascii() else name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def within(owner: str, part: object) -> str:
    """Return the key of one of several values of a kind that belong to the same eval or file."""
    return f"{owner}{_WITHIN}{part}"


def owner_of(key: str) -> str:
    """Return the eval or file that a key names or begins with."""
    return key.partition(_WITHIN)[0]
