"""Stores, looks up and deletes one kind of value in the memo.

All kinds are declared in ``sitegen/engine/cached_kinds.py``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, Protocol, TypeAlias, TypeVar, cast

import msgspec

if TYPE_CHECKING:
    from sitegen.engine.memo import Memo

from sitegen.history.memo_rows import CachedRow, stored

Lifetime: TypeAlias = Literal["content", "inputs", "walk"]
"""``content``: for ever, because the key is a digest of everything that decides the value. ``inputs``: until a value is
stored for other inputs. ``walk``: until a build for which everything is new."""

Owner: TypeAlias = Literal["eval", "instruction file"]

_DIGEST_LENGTH: Final = 32
"""Number of characters of a digest made by ``sitegen.engine.writer.digest``."""

T = TypeVar("T")


class CacheStore(Protocol):
    """A store of bytes by kind and key: the memo, or the part of it that was sent to a process."""

    def get(self, kind: str, key: str) -> bytes | None:
        """Return the stored content, or None."""

    def put(self, kind: str, key: str, content: bytes) -> None:
        """Store content, replacing any existing content."""


class CachedKind(msgspec.Struct, Generic[T], frozen=True, kw_only=True):
    """A kind of value that is computed once and stored: ``bytes`` as they are, any other type as JSON."""

    name: str
    type: type[T]
    until: Lifetime
    owner: Owner | None = None
    """What the key names or begins with (see ``within``). A value is deleted together with its owner."""

    def get(self, store: CacheStore, key: str = "", inputs: Iterable[str] | None = None) -> T | None:
        """Return the value under a key; None if there is none, or if it was stored for other inputs.

        *inputs* are the digests with which the value may have been stored, the likeliest first. A value that covers the
        beginning of a series has one digest for each possible length of that beginning.
        """
        content = store.get(self.name, stored(key))
        if content is None:
            return None
        if inputs is not None:
            if content[:_DIGEST_LENGTH].decode("ascii", "replace") not in inputs:
                return None
            content = content[_DIGEST_LENGTH:]
        try:
            return self._decoded(content)
        except ValueError:  # stored in an older format: the caller computes the value again
            return None

    def all(self, memo: Memo) -> Iterator[T]:
        """Yield every value of the kind, sorted by key; only for kinds that are stored without inputs."""
        return map(self._decoded, memo.all(self.name))

    def keep(self, store: CacheStore, key: str, value: T, inputs: str = "") -> T:
        """Store a value with the digest of its inputs, unless the key is that digest already; returns the value."""
        content = value if isinstance(value, bytes) else encode(value)
        store.put(self.name, stored(key), inputs.encode() + content)
        return value

    def derived(self, store: CacheStore, key: str, inputs: str, compute: Callable[[], T]) -> T:
        """Return the value that was stored with this digest of its inputs; otherwise compute and store it."""
        value = self.get(store, key, [inputs])
        return value if value is not None else self.keep(store, key, compute(), inputs)

    def _decoded(self, content: bytes) -> T:
        if self.type is bytes:
            return content  # type: ignore[return-value]
        return decode(content, self.type)


class TaskCache:
    """The part of the memo that is sent to a process, and the rows that the process adds: it cannot open the memo."""

    def __init__(self, rows: Iterable[CachedRow]) -> None:
        self._contents = {(kind, key): content for kind, key, content in rows}
        self._new: dict[tuple[str, str], bytes] = {}

    def get(self, kind: str, key: str) -> bytes | None:
        """Return the content that was sent or added, or None."""
        return self._contents.get((kind, key))

    def put(self, kind: str, key: str, content: bytes) -> None:
        """Store content for this process, and later for the memo."""
        self._contents[kind, key] = self._new[kind, key] = content

    @property
    def new(self) -> tuple[CachedRow, ...]:
        """Return the rows that were added."""
        return tuple(CachedRow(kind, key, content) for (kind, key), content in self._new.items())


def encode(value: object) -> bytes:
    """Encode a value as JSON."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        # Paths that are not UTF-8 carry surrogate escapes, which only the standard library writes.
        return json.dumps(msgspec.to_builtins(value)).encode()


def decode(content: bytes, kind: type[T]) -> T:
    """Decode a value from JSON. Raises ValueError if it is not of this type."""
    try:
        value: T = _decoder(cast("Hashable", kind)).decode(content)
        return value
    except msgspec.DecodeError:
        return msgspec.convert(json.loads(content), kind)


@cache
def _decoder(kind: Any) -> Any:
    return msgspec.json.Decoder(kind)
