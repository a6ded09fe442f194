"""The JSON Schemas of the data files, beside the data."""

from __future__ import annotations

from collections.abc import Iterator

from sitegen import schemas
from sitegen.model.site import RawFile
from sitegen.pages import links


def schema_files() -> Iterator[RawFile]:
    """Every schema, as it ships with sitegen."""
    for name in schemas.TITLES:
        yield RawFile(links.schema(schemas.file_name(name)), schemas.content(name))
