"""The commands as functions that return values, for notebooks and scripts.

If a command would end with an error, its function raises SitegenError, which states what is wrong, where, and what to
do. Problems *inside* a file do not raise: they are in ``findings``, and the rules score them. Undefined numbers are
None, or NaN in frames, because columns of numbers in pandas cannot contain None.

The examples run in a project with one eval, ``receipts``, of two iterations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from sitegen.api.outputs import Evaluated, Records, Scored, Thresholds, compare, evaluate, score
from sitegen.engine.built_site import Site
from sitegen.engine.worker_context import rare_collection
from sitegen.model.gate import GateReport, GateVerdict
from sitegen.model.series import Point, Series
from sitegen.project import Options
from sitegen.questions import exporting
from sitegen.questions.export_tables import ExportFormat
from sitegen.questions.gate import check as check_gate
from sitegen.questions.gate_markdown import gate_markdown
from sitegen.questions.public import PublicCheck as PublicGate
from sitegen.questions.study import read_series, write_export
from sitegen.update import build as build_site

if TYPE_CHECKING:
    from sitegen.questions.exporting import DataFrame


__all__ = [
    "Checked",
    "Evaluated",
    "History",
    "Records",
    "Scored",
    "Thresholds",
    "build",
    "check",
    "compare",
    "evaluate",
    "export",
    "history",
    "score",
]


@dataclass(frozen=True, slots=True)
class History:
    """The history of an eval."""

    series: Series = field(repr=False)

    @property
    def points(self) -> tuple[Point, ...]:
        """The scored snapshots, oldest first."""
        return self.series.points

    def frame(self) -> DataFrame:
        """Return a row for each point: iteration, commit, metrics, counts, errors by type (``exporting.points``)."""
        return exporting.points(self.series)

    def fields(self) -> DataFrame:
        """Return a row for each point and attribute: precision, recall, F1 and counts (``exporting.fields``)."""
        return exporting.fields(self.series)

    def slices(self) -> DataFrame:
        """Return a row for each point and each variant, model or tag value of its answers (``exporting.slices``)."""
        return exporting.slices(self.series)


@dataclass(frozen=True, slots=True)
class Checked:
    """The result of the gate."""

    report: GateReport = field(repr=False)
    """The report of ``sitegen check --json``: every eval and metric with its verdict, the worst eval first."""

    @property
    def passed(self) -> bool:
        """Whether ``sitegen check`` would exit with 0."""
        return self.report.passed

    @property
    def verdict(self) -> GateVerdict:
        """The verdict of the worst eval; ``not comparable`` if nothing matched."""
        return self.report.verdict

    @property
    def evals(self) -> dict[str, GateVerdict]:
        """Verdicts by id of the eval, the worst first."""
        return {check.key: check.verdict for check in self.report.evals}

    def markdown(self) -> str:
        """Return the Markdown of ``sitegen check``, at most 65,000 characters."""
        return gate_markdown(self.report)


def build(
    repo: str | Path = ".",
    out: str | Path | None = None,
    *,
    rev: str | None = None,
    jobs: int | None = 1,
    cache: str | Path | None = None,
    force: bool = False,
    public: bool = False,
    worktree: bool = False,
    base_url: str | None = None,
) -> Site:
    """Bring the site of a project up to date; by default in its folder ``public``.

    It runs in this process alone, because forking is unsafe in a notebook, which has threads. ``jobs``: the number of
    processes, for a script without threads; None: one that fits the work. ``force``: write into a folder that is
    neither empty nor a site. ``worktree``: add uncommitted work as the newest point. ``base_url``: the address of the
    published site. ``public``: delete a site again that may contain a secret, and raise SecretsError.

    >>> site = build(".", out="public")
    >>> site.evals, site.iterations, site.errors
    (1, 2, 0)
    >>> build(".", out="public").written  # nothing is new
    0
    """
    options = Options(
        repo=Path(repo),
        out=_path(out),
        rev=rev,
        jobs=jobs,
        cache=_path(cache),
        force=force,
        worktree=worktree,
        base_url=base_url,
    )
    gate = PublicGate(options) if public else None
    with rare_collection():  # after a command, the process ends; this is the process of the caller
        site = build_site(options)
    if gate:
        gate.check(site.unmatched_redactions)
    return site


def check(
    repo: str | Path,
    base: str,
    *,
    rev: str | None = None,
    exact: bool = False,
    worktree: bool = False,
    cache: str | Path | None = None,
) -> Checked:
    """Check the newest outputs at a revision, by default ``HEAD``, against the limits of the project.

    They are compared with the outputs at the commit where the revision branched off ``base``. Limits are read from
    ``sitegen.toml`` and the manifest in the work tree. ``exact``: compare with ``base`` itself. ``worktree``: check
    uncommitted work.

    >>> found = check(".", "HEAD~1", exact=True)
    >>> found.passed, found.verdict, found.evals
    (True, 'pass', {'receipts': 'pass'})
    >>> recall = found.report.evals[0].metrics[2]
    >>> recall.name, recall.base, recall.head
    ('recall', 0.5, 1.0)
    >>> found.markdown().partition(".")[0]
    '**Evals: pass'
    """
    options = Options(Path(repo), rev=rev, cache=_path(cache), worktree=worktree)
    return Checked(check_gate(options, base, exact=exact))


def history(repo: str | Path, eval_id: str, rev: str | None = None, *, cache: str | Path | None = None) -> History:
    """Score every snapshot of an eval up to a revision, by default the one in the configuration.

    ``cache``: the folder of cached scores, by default the project's ``.sitegen``.

    >>> receipts = history(".", "receipts")
    >>> [point.snapshot.label for point in receipts.points]
    ['iteration-001', 'iteration-002']
    >>> receipts.frame()[["label", "f1", "wrong_value"]]
               label        f1  wrong_value
    0  iteration-001  0.571429            1
    1  iteration-002  1.000000            0
    >>> receipts.fields()[["label", "attribute", "recall"]]
               label attribute  recall
    0  iteration-001      shop     1.0
    1  iteration-001     total     0.0
    2  iteration-002      shop     1.0
    3  iteration-002     total     1.0
    """
    return History(read_series(Options(Path(repo), rev=rev, cache=_path(cache)), eval_id))


def export(
    repo: str | Path,
    place: str | Path,
    format: ExportFormat = "sqlite",
    evals: Sequence[str] = (),
    *,
    rev: str | None = None,
    cache: str | Path | None = None,
) -> tuple[Path, ...]:
    """Write every score and outcome of history as tables, and return the files.

    ``place``: a file for ``sqlite``, a folder for ``csv``. ``questions/export_tables.py`` lists the columns.
    ``evals``: the ids of those that are exported; none: all.

    >>> files = export(".", "history.sqlite")
    >>> import sqlite3
    >>> with sqlite3.connect(files[0]) as database:
    ...     rows = database.execute("SELECT path, from_point, state, actual FROM cells WHERE document = 'b'").fetchall()
    >>> database.close()
    >>> rows
    [('shop', 0, 'correct', '"The Green Door"'), ('total', 0, 'omission', None), ('total', 1, 'correct', '4')]
    """
    options = Options(Path(repo), rev=rev, cache=_path(cache))
    return write_export(options, format, Path(place), evals)


def _path(path: str | Path | None) -> Path | None:
    return None if path is None else Path(path)
