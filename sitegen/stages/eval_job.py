"""One eval to score and to write, and what came of it: values that go to a process and come back."""

from __future__ import annotations

from typing import NamedTuple

from sitegen.analysis.memo import PageRow
from sitegen.model.problems import Problem
from sitegen.model.series import EvalInfo, EvalSummary
from sitegen.model.suspect_truth import SuspectTruth
from sitegen.model.timeline import Edit, EvalHistory
from sitegen.scoring.mapping_use import MappingUse
from sitegen.stages.edit_outcomes import EditOutcome
from sitegen.stages.vectors import Rows
from sitegen.stages.worker_context import Workshop


class EvalTask(NamedTuple):
    """One eval to score and to write."""

    workshop: Workshop
    info: EvalInfo
    history: EvalHistory
    edits: tuple[Edit, ...]
    """Of the instruction files that drive it, by commit."""
    scorecards: tuple[tuple[str, bytes], ...]
    """(key, body) of what the memo knows."""
    pages: tuple[PageRow, ...]
    """What surely stands in the output folder."""
    vectors: Rows = ()
    """What the memo knows of the texts of its outputs."""
    cells: bytes | None = None
    """What the memo knows of its cells, as ``pack_cells`` made it."""
    suspects: tuple[SuspectTruth, ...] = ()
    """Suspect labels of the last build."""
    moved: tuple[tuple[str, str, str], ...] = ()
    """(path, commit) of an edit whose file was moved since, and the file's last path."""
    settled: bytes | None = None
    """What the memo knows of its points, as ``write_series`` made it."""
    first_new: int = 0
    """Index of the first snapshot that the memo knows nothing of."""
    thinned: int | None = None
    """How many of the oldest reports make room in the site; None: those that do so already."""


class EvalDone(NamedTuple):
    """What came of it."""

    summary: EvalSummary
    scorecards: tuple[tuple[str, bytes], ...]
    """(key, body) of those that the memo did not know."""
    rows: tuple[PageRow, ...]
    """Every file the eval has now."""
    problems: tuple[Problem, ...]
    attributes: tuple[str, ...]
    """All that were ever judged: those that have a page, for search."""
    written: int
    kept: int
    vectors: Rows = ()
    """Those that the memo did not know."""
    cells: bytes | None = None
    """Its cells, if they were followed further."""
    around: tuple[EditOutcome, ...] = ()
    """What became of it around edits, where new points decide that."""
    brought: tuple[tuple[str, bytes], ...] = ()
    """(id of a commit, what it did), as ``brought_by`` packs it, for the commits of new points."""
    settled: bytes = b""
    """What will be the same of its points after the next one."""
    mapping_use: MappingUse | None = None
    """What the newest point does not use of its rules; None: it has none that name fields."""


def owner(eval_id: str) -> str:
    """Who owns the files of an eval."""
    return f"eval:{eval_id}"
