"""The state of a watched site, shared by the rebuilding loop and the server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from sitegen.serve.layers import Layers


class Board:
    """The last successful site and the error of a failed build after it. Used within one event loop."""

    def __init__(self, layers: Layers | None = None, error: str = "") -> None:
        self.layers = layers or Layers()
        self.error = error
        self._open = True
        self._changed = asyncio.Event()

    def show(self, layers: Layers) -> None:
        """Show the result of a successful build."""
        self.layers, self.error = layers, ""
        self._tell()

    def fail(self, error: str) -> None:
        """Show why a build failed, beside the last successful site."""
        self.error = error
        self._tell()

    def close(self) -> None:
        """End every iteration over ``errors``."""
        self._open = False
        self._tell()

    async def errors(self) -> AsyncIterator[str]:
        """The present error, and the error after each further build; empty after a successful one."""
        while self._open:
            changed = self._changed
            yield self.error
            await changed.wait()

    def _tell(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()
