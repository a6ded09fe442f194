"""Writes all of history as tables: ``sitegen export``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sitegen.exporting.files import PLACES, Format, check_format, write_tables
from sitegen.exporting.rows import Exported, batches
from sitegen.project import Options
from sitegen.questions.study import open_study


def write_export(
    options: Options, format: Format, place: Path | None = None, evals: Sequence[str] = ()
) -> tuple[Path, ...]:
    """Write the tables of these evals, by default of all. Returns the paths of the files.

    Raises ConfigurationError if an eval does not exist, or if a package for the format is not installed.
    """
    check_format(format)
    with open_study(options) as study:
        histories = [study.history(eval_id) for eval_id in evals or study.evals]
        exported = Exported(study.timeline.head.sha, study.timeline.instructions, map(study.series, histories))
        return write_tables(format, place or Path(PLACES[format]), batches(exported))
