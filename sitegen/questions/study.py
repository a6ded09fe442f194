"""Opens a project for a question (the gate, ``compare``, ``history``, an export), at one revision, without building.

History is folded up to the revision, and outputs are scored on demand.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from sitegen.analysis.change import change
from sitegen.analysis.deltas import mixtures
from sitegen.analysis.edits import OutputEdits
from sitegen.analysis.series import series_of
from sitegen.config.findings import error_of
from sitegen.config.site import located, missing_baseline, read_site
from sitegen.engine.memo import Memo
from sitegen.engine.scorecard_store import EvalScorecards
from sitegen.engine.timeline import Timeline, manifest_of, timeline_of
from sitegen.errors import ConfigurationError, SitegenError
from sitegen.history.files_at_commit import FilesAt, manifest_at
from sitegen.history.repository import Repository
from sitegen.model.changes import Change
from sitegen.model.frozen import Frozen
from sitegen.model.series import Series
from sitegen.model.timeline import EvalHistory, Snapshot
from sitegen.project import Options, Project, open_project

if TYPE_CHECKING:
    from sitegen.questions.export_tables import ExportFormat


class Study(Frozen):
    """A project at one revision. Scorecards that an answer needs are stored in the memo."""

    timeline: Timeline
    memo: Memo
    evals: Mapping[str, EvalHistory]
    """All evals that ever had ground truth, by id, in the order of ids."""

    @classmethod
    def of(cls, project: Project, memo: Memo, configured_as: Timeline | None = None) -> Study:
        """Read the history of a project. ``configured_as``: as for ``timeline_of``."""
        timeline = timeline_of(project, memo, configured_as=configured_as)
        return cls(timeline, memo, {history.id: history for history in timeline.evals})

    def history(self, eval_id: str) -> EvalHistory:
        """Return the history of an eval. Raises ConfigurationError if there is no such eval."""
        if eval_id not in self.evals:
            what = f"There is no eval {eval_id!r}." if eval_id else "An eval has to be named."
            fix = f"The evals of this project: {', '.join(self.evals) or 'none; to look for some: sitegen init'}."
            raise ConfigurationError(what, fix=fix)
        return self.evals[eval_id]

    def scorecards(self, history: EvalHistory) -> EvalScorecards:
        """Return the scorecards of an eval: those that the memo lacks are scored when they are asked for."""
        context = replace(self.timeline.context_for(history.id), answers_a_question=True)
        return EvalScorecards(context, history, self.memo)

    def series(self, history: EvalHistory) -> Series:
        """Compute all points of an eval, under their own rules and the newest rules, and the history of every cell."""
        scorecards = self.scorecards(history)
        edits = OutputEdits(history.snapshots, self.timeline.driving_edits(history.id))
        return scorecards.series(self.timeline.info(history), edits, scorecards.cells()[0])

    def compared(self, series: Series, before: Snapshot, after: Snapshot) -> tuple[Series, int, int, Change]:
        """Return a series that has two outputs, their indices, and what became of the eval between them.

        It is a series of these two if one is no point of the given one, or is not judged by the rules of the later one.
        """
        after = after.judged_beside(before)
        first, last = series.place_of(before), series.place_of(after)
        if first is None or last is None or before.judged_as(after):
            pair = replace(series.history, snapshots=(before, after))  # which decide the names of answers
            results = [*self.scorecards(pair).results((before, after, *before.judged_as(after)))]
            for side, place in enumerate((first, last)):
                card = results[side].scorecard if place is None else series.points[place].scorecard
                names = ({one.name for one in of.documents} for of in (card, results[side].scorecard))
                if next(names) == next(names):  # the scorecard of a point says what the output was asked for
                    results[side] = replace(results[side], scorecard=card)
            noise = series.points[-1 if last is None else last].noise
            series = series_of(series.info, series.specs, (before, after), results[:2], (noise, noise), results[2:])
            first, last = 0, 1
        if series.info.recorded:  # recorded numbers have no inputs to mix
            return series, first, last, change(series, first, last)
        mixed = self.scorecards(series.history).filled(mixtures(before, after))
        return series, first, last, change(series, first, last, mixed.__getitem__)

    @property
    def stated(self) -> set[str]:
        """The ids of the evals that the manifest of the revision names; the settings of others are guessed."""
        manifest = manifest_at(self.timeline.files, self.timeline.config, partial(manifest_of, self.memo))
        return {entry.id for entry in manifest.value.evals}

    @property
    def evals_with_outputs(self) -> dict[str, EvalHistory]:
        """The evals with an output at the revision, by id."""
        return {history.id: history for history in self.evals.values() if history.snapshots and not history.deleted}


@contextmanager
def open_study(options: Options) -> Iterator[Study]:
    """Open a project and hold its memo while questions are asked. Raises a SitegenError as ``timeline_of`` does."""
    project = open_project(options, "")
    with Memo.open(project.cache) as memo, memo.held(), memo.transaction():
        yield Study.of(project, memo)


def baseline_commit(options: Options, name: str) -> str | None:
    """Return the id of the commit of the baseline of this name; None if no baseline has it, or if it is a revision.

    So no file of a branch chooses what ``main`` is. Raises ConfigurationError if this clone lacks the commit.
    """
    project = open_project(options, "")
    read = FilesAt(project.place, project.head or "", on_disk=True).read_rules
    revision = read_site(read).value.baselines.get(name)
    if revision is None:
        return None
    repository = Repository(project.place)
    with suppress(SitegenError):
        repository.resolve(name)
        return None
    try:
        return repository.resolve(revision)
    except SitegenError:
        raise error_of(next(located([missing_baseline(name, revision)], read))) from None


def read_series(options: Options, eval_id: str) -> Series:
    """Return the series of one eval. Raises ConfigurationError if there is no such eval."""
    with open_study(options) as study:
        return study.series(study.history(eval_id))


def write_export(options: Options, format: ExportFormat, place: Path | None, evals: Sequence[str]) -> tuple[Path, ...]:
    """Write the tables of these evals, by default of all. Returns the paths of the files.

    Raises ConfigurationError if an eval does not exist.
    """
    from sitegen.questions.export_tables import batches
    from sitegen.questions.exporting import PLACES, write_tables

    with open_study(options) as study:
        histories = [study.history(eval_id) for eval_id in evals or study.evals]
        rows = batches(study.timeline, map(study.series, histories))
        return write_tables(format, place or Path(PLACES[format]), rows, study.timeline.context.place.top)
