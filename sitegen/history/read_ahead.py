"""Requests blobs before they are needed, so that git reads some while others are used."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from sitegen.history.blobs import BlobRead
from sitegen.history.repository import Repository

MOST: Final = 16
"""Number of blobs that are requested at once, and may be held."""
LONGEST_HELD: Final = 1_000_000
"""Size in bytes of the longest content that is held. git is asked again for a longer one that was passed over."""


class ReadAhead:
    """Reads blobs in any order, faster if they were requested in about the order in which they are needed."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._answers: Iterator[BlobRead] = iter(())
        self._requested: set[str] = set()
        """The ids to which no answer was read yet."""
        self._held: dict[str, BlobRead] = {}

    def request(self, oids: Iterable[str]) -> None:
        """Request the first ``MOST`` of these blobs. Answers to earlier requests are dropped."""
        several = tuple(islice(dict.fromkeys(oids), MOST))
        self._requested, self._held = set(several), {}
        self._answers = self._repository.read_blobs(several)

    def read(self, oid: str) -> BlobRead:
        """Return the content of a blob, as ``Repository.read_blob`` does."""
        while oid in self._requested:
            answer = next(self._answers)
            self._requested.remove(answer.oid)
            if len(answer.content or b"") <= LONGEST_HELD:
                self._held[answer.oid] = answer
            elif answer.oid == oid:
                return answer
        return self._held.get(oid) or self._repository.read_blob(oid)
