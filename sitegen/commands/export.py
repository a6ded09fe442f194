"""``sitegen export``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sitegen.commands.saying import say
from sitegen.exporting.files import Format
from sitegen.project import Options
from sitegen.questions.export import write_export


def export(options: Options, format: Format, place: Path | None, evals: Sequence[str]) -> None:
    """Write the tables and say where they are. ``evals``: ids of those to export; empty: all."""
    for path in write_export(options, format, place, evals):
        say(f"wrote {path}", error=True)
