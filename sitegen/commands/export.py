"""``sitegen export``."""

from __future__ import annotations

import sys
from pathlib import Path

from sitegen.exporting.files import PLACES, Format, check, write
from sitegen.exporting.rows import Exported, batches
from sitegen.project import Options
from sitegen.stages.series import opened


def export(options: Options, format: Format, place: Path | None, evals: tuple[str, ...]) -> None:
    """Write the tables and say where they are. ``evals``: ids of those to export; empty: all."""
    check(format)
    with opened(options) as project:
        histories = [project.history(eval_id) for eval_id in evals] if evals else project.evals
        series = (project.series(history) for history in histories)
        exported = Exported(project.timeline.head.sha, project.timeline.instructions, series)
        for path in write(format, place or Path(PLACES[format]), batches(exported)):
            print(f"wrote {path}", file=sys.stderr)
