"""``sitegen extract``: writes one run of a log of highlights as ``raw-llm-run.json``."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from sitegen.commands.printing import print_document, print_error, print_line
from sitegen.data_files.project_files import LARGEST_ARGUMENT, NotOpenedError, read_file, write_named
from sitegen.data_files.reading import UnreadableError
from sitegen.errors import NothingToReportError, SitegenError
from sitegen.history.repository_place import top_of
from sitegen.scoring.highlights_files import extract as extracted

_STDOUT: Final = Path("-")
EVALS: Final = Path("evals")
WRITTEN: Final = Path("raw-llm-run.json")

SHOWN: Final = 20
"""Findings that the terminal lists."""


def extract(log: Path, out: Path | None, run: str | None) -> None:
    """Write a run of a log as ``raw-llm-run.json``, and print findings about the log on standard error.

    The default place is where an eval of highlights looks for the file, if the current folder has evals.
    """
    if out is None:
        out = EVALS / WRITTEN if EVALS.is_dir() else WRITTEN
    if not log.is_file():
        raise NothingToReportError("There is no such log.", where=str(log), fix="Name a file that is there.")
    try:
        content, holds, findings = extracted(read_file(log, LARGEST_ARGUMENT), run, _run_name(log))
    except NotOpenedError as error:
        fix = "Cut the log into parts, or name another file."
        raise SitegenError(f"The log cannot be read: {error.strerror}.", where=str(log), fix=fix) from None
    except UnreadableError as error:
        where = str(log) if error.line is None else f"{log}:{error.line}"
        raise SitegenError(f"The log cannot be read: {error.message}.", where=where, fix=error.fix) from None
    for finding in findings[:SHOWN]:
        where = str(log) if finding.line is None else f"{log}:{finding.line}"
        print_error(SitegenError(f"{finding.text}.", where=where, fix=finding.fix))
    if len(findings) > SHOWN:
        print_line(f"sitegen: ... and {len(findings) - SHOWN} more", error=True)
    if out == _STDOUT:
        print_document(content)
        return
    write_named(out, content, top_of(Path()))
    print_line(f"wrote {out}: {holds}")


def _run_name(log: Path) -> str:
    """Return the log's name and modification time, so that extracting it again gives the same file."""
    try:
        modified = datetime.fromtimestamp(int(log.stat().st_mtime), UTC).isoformat()
    except (ValueError, OverflowError):  # beyond the year 9999
        return log.stem
    return f"{log.stem} - {modified}"
