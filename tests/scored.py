"""The files of an eval as a test states them, and what they score."""

import json
from collections.abc import Mapping
from typing import Any

from sitegen.model.scorecards import Result
from sitegen.scoring.kinds import File, ScoringInputs, scorer

Files = Mapping[str, Any]
"""Contents by path: bytes or a text; any other value is written as JSON, a list for a file of lines as its lines."""


def files(contents: Files) -> tuple[File, ...]:
    return tuple(File(path, _bytes(path, content)) for path, content in contents.items())


def _bytes(path: str, content: Any) -> bytes:
    if isinstance(content, bytes):
        return content
    if isinstance(content, str):
        return content.encode()
    lines = content if path.endswith(("jsonl", "ndjson")) and isinstance(content, list) else [content]
    return "\n".join(map(json.dumps, lines)).encode()


def scored(kind: str, outputs: Files, truth: Files | None = None, settings: Any = "{}") -> Result:
    """The result of outputs, and of at most one file with what is expected."""
    (expected,) = files(truth or {}) or (None,)
    stated = settings if isinstance(settings, str) else json.dumps(settings)
    return scorer(kind).score(ScoringInputs(outputs=files(outputs), ground_truth=expected, settings=stated))


class Counted(str):
    """A text that counts how often any of them was compared with another."""

    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        Counted.compared += 1
        return str.__eq__(self, other)
