"""Data for the scripts of pages, as classic scripts: ``fetch`` does not exist on ``file://``."""

from __future__ import annotations

import json
from typing import Any

from sitegen.model.site import RawFile


def script_file(path: str, name: str, body: Any) -> RawFile:
    """A script that appends ``body`` to a list, the property ``name`` of the window.

    It is pure ASCII, so that no character in it can end a line or a string.
    """
    text = json.dumps(body, ensure_ascii=True, separators=(",", ":"))
    return RawFile(path, f"(self.{name}=self.{name}||[]).push({text});\n".encode("ascii"))
