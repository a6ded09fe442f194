"""``sitegen code-judge``: a judge for a runner that starts one process a case."""

from __future__ import annotations

import sys
from typing import Final

from sitegen.errors import ConfigurationError
from sitegen.scoring.code_judge import Subject, opinion

LARGEST: Final = 20_000_000
"""Bytes of a payload."""


def code_judge(subject: Subject) -> None:
    """Read one payload, write one opinion on one line; nothing at all if the payload is bad."""
    import msgspec

    payload = sys.stdin.buffer.read(LARGEST + 1)
    if len(payload) > LARGEST:
        raise ConfigurationError(f"The payload is larger than {LARGEST:,} bytes.", where="standard input")
    answer = msgspec.json.Encoder(decimal_format="number").encode(opinion(subject, payload))
    sys.stdout.buffer.write(answer + b"\n")
