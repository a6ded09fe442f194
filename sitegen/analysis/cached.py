"""One kind of value that the memo holds: how it is found again, how it is written, and when it is forgotten.

All kinds are declared in ``sitegen/stages/cached_kinds.py``, one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Generic, Literal, Protocol, TypeAlias, TypeVar

from sitegen.history.fold_state import decode, encode, stored

Lifetime: TypeAlias = Literal["content", "inputs", "walk", "build"]
"""``content``: for ever, because the key is a digest of everything that decides the value. ``inputs``: until it is kept
for other inputs. ``walk``: until history is read from its root again. ``build``: until the end of the build."""

Owner: TypeAlias = Literal["eval", "instruction file"]

CachedRow: TypeAlias = tuple[str, str, bytes]
"""(kind, key, content) of one value, as the memo holds it."""

_DIGEST_LENGTH: Final = 32
"""Of what ``sitegen.render.writer.digest`` returns."""
_WITHIN: Final = "\x1f"

T = TypeVar("T")


class CacheStore(Protocol):
    """Bytes by kind and key: the memo, or what a process was handed of it."""

    def get(self, kind: str, key: str) -> bytes | None:
        """What was put, or None."""

    def put(self, kind: str, key: str, content: bytes) -> None:
        """Keep, in place of what was there."""


class AllByKind(Protocol):
    """A store that can list a kind: the memo."""

    def all(self, kind: str) -> Sequence[tuple[str, bytes]]:
        """Every (key, content) of a kind, by key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedKind(Generic[T]):
    """A kind of value that is computed once and kept. A value of ``bytes`` is kept as it is, any other one as JSON."""

    name: str
    type: type[T]
    until: Lifetime
    owner: Owner | None = None
    """What the key names, or begins with (see ``within``). When it is no more, the value goes, too."""

    def get(self, store: CacheStore, key: str = "", inputs: Sequence[str] | None = None) -> T | None:
        """The value under a key; None if there is none, or if it was kept with the digest of none of these inputs.

        A value for the beginning of a series is asked for with one digest for each length that the beginning may have.
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
        except ValueError:  # an older form: it is computed again
            return None

    def all(self, memo: AllByKind) -> Iterator[T]:
        """Every value of the kind that was kept without inputs, by key."""
        return (self._decoded(content) for _, content in memo.all(self.name))

    def keep(self, store: CacheStore, key: str, value: T, inputs: str = "") -> T:
        """Keep a value, with the digest of what decides it unless the key is that already; returns the value."""
        content = value if isinstance(value, bytes) else encode(value)
        store.put(self.name, stored(key), inputs.encode() + content)
        return value

    def derived(self, store: CacheStore, key: str, inputs: str, compute: Callable[[], T]) -> T:
        """The value that was kept with the digest of these inputs; else it is computed, and kept."""
        value = self.get(store, key, [inputs])
        return value if value is not None else self.keep(store, key, compute(), inputs)

    def _decoded(self, content: bytes) -> T:
        if self.type is bytes:
            return content  # type: ignore[return-value]
        return decode(content, self.type)


class TaskCache:
    """What a process is handed of the memo, and what it gives back: it cannot have the memo itself."""

    def __init__(self, known: Iterable[CachedRow]) -> None:
        self._known = {(kind, key): content for kind, key, content in known}
        self._new: dict[tuple[str, str], bytes] = {}

    def get(self, kind: str, key: str) -> bytes | None:
        """What was handed over, or put here."""
        return self._known.get((kind, key))

    def put(self, kind: str, key: str, content: bytes) -> None:
        """Keep, for the memo as well."""
        self._known[kind, key] = self._new[kind, key] = content

    @property
    def new(self) -> tuple[CachedRow, ...]:
        """What was put here."""
        return tuple((kind, key, content) for (kind, key), content in self._new.items())


def within(owner: str, part: object) -> str:
    """The key of one of many values of the same kind that belong to one eval or file."""
    return f"{owner}{_WITHIN}{part}"


def owner_of(key: str) -> str:
    """The eval or file that a key names or begins with."""
    return key.partition(_WITHIN)[0]
