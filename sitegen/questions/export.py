"""All of history as tables, in files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sitegen.exporting.files import PLACES, Format, check, write
from sitegen.exporting.rows import Exported, batches
from sitegen.project import Options
from sitegen.questions.study import opened


def write_export(
    options: Options, format: Format, place: Path | None = None, evals: Sequence[str] = ()
) -> tuple[Path, ...]:
    """Write the tables of these evals, by default of all, and say where they are.

    Raises ConfigurationError if there is no such eval, or if the format needs what is not installed.
    """
    check(format)
    with opened(options) as project:
        histories = [project.history(eval_id) for eval_id in evals] if evals else project.evals
        series = (project.series(history) for history in histories)
        exported = Exported(project.timeline.head.sha, project.timeline.instructions, series)
        return write(format, place or Path(PLACES[format]), batches(exported))
