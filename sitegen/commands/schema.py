"""``sitegen schema``."""

from __future__ import annotations

import json
import sys

from sitegen import schemas
from sitegen.errors import ConfigurationError


def schema(name: str | None) -> None:
    """Print one schema as it is, or all of them as one object, by name. Raises ConfigurationError if there is none."""
    if name is None:
        every = {each: json.loads(schemas.content(each)) for each in schemas.TITLES}
        content = json.dumps(every, indent=2, ensure_ascii=False).encode() + b"\n"
    elif name in schemas.TITLES:
        content = schemas.content(name)
    else:
        raise ConfigurationError(f"There is no schema {name!r}.", fix=f"Use one of: {', '.join(schemas.TITLES)}.")
    sys.stdout.buffer.write(content)
