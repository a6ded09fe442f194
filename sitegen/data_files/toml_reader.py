"""Reads TOML within bounds that hold before ``tomllib`` sees the file. Nothing else reads TOML."""

from __future__ import annotations

import re
from typing import Any, Final

from sitegen.data_files.reading import (
    MAX_CONFIGURING_BYTES,
    MAX_DIGITS,
    UnreadableError,
    check_depth,
    text_of,
    too_deep,
)

_MAX_PARTS: Final = 10
"""Largest number of parts of a dotted key. ``tomllib`` keeps every prefix of a key, so memory grows with the square."""

_TEXT: Final = re.compile(
    r'"""(?:[^\\"]|\\.|"(?!""))*+(?:"{3,5}|\Z)'
    r"|'''(?:[^']|'(?!''))*+(?:'{3,5}|\Z)"
    r'|"(?:[^\\"\n]|\\.)*+"?'
    r"|'[^'\n]*+'?"
    r"|\#[^\n]*+",
    re.DOTALL,
)
"""Texts and comments. One that does not end where it should hides nothing, because tomllib reads nothing after it."""

_LONG: Final = re.compile(
    rf"(?<![\w+-])(?:(?P<word>[\w+-]{{{MAX_DIGITS + 1}}})|[\w+-]++(?:[ \t]*+\.[ \t]*+[\w+-]++){{{_MAX_PARTS}}})"
)


def read_toml(content: bytes) -> dict[str, Any]:
    """Parse a configuration. Raises UnreadableError, never anything else."""
    import tomllib

    if len(content) > MAX_CONFIGURING_BYTES:
        raise UnreadableError(f"it has {len(content):,} bytes", f"Keep it under {MAX_CONFIGURING_BYTES:,} bytes.")
    text = text_of(content)
    outside_texts = _TEXT.sub(lambda match: "_" + "\n" * match[0].count("\n"), text)
    if long := _LONG.search(outside_texts):
        line = outside_texts.count("\n", 0, long.start()) + 1
        if long["word"]:
            raise UnreadableError(f"a key or a number is longer than {MAX_DIGITS} characters", "Shorten it.", line)
        raise UnreadableError(f"a key has more than {_MAX_PARTS} parts", "Write fewer dots.", line)
    try:
        table = tomllib.loads(text)
    except RecursionError:
        raise too_deep() from None
    except ValueError as error:
        found = re.search(r"line (\d+)", str(error))
        message = f"it is not valid TOML: {error}"
        raise UnreadableError(message, "Correct the line.", int(found[1]) if found else None) from None
    check_depth(table)
    return table
