"""What the server shows, and who waits for it to change."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from sitegen.serve.layers import Layers


class Board:
    """The last good site and, if the build after it failed, why. All of it in one event loop."""

    def __init__(self, layers: Layers | None = None, error: str = "") -> None:
        self.layers = layers or Layers()
        self.error = error
        self._open = True
        self._changed = asyncio.Event()

    def show(self, layers: Layers) -> None:
        """A build ended well."""
        self.layers, self.error = layers, ""
        self._tell()

    def fail(self, error: str) -> None:
        """A build failed; the site stays."""
        self.error = error
        self._tell()

    def close(self) -> None:
        """Let everybody who waits go."""
        self._open = False
        self._tell()

    async def errors(self) -> AsyncIterator[str]:
        """What is wrong now, and again after each build until the end; empty if nothing is."""
        while self._open:
            changed = self._changed
            yield self.error
            await changed.wait()

    def _tell(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()
