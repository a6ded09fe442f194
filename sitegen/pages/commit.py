"""The page of one commit, and the list of all commits that changed an eval, an instruction file or an output."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, groupby, islice, zip_longest
from operator import itemgetter
from typing import Final, TypeAlias

from msgspec.structs import replace

from sitegen.analysis.change import spans_of_commits
from sitegen.analysis.edits import OutputEdits, other_edit
from sitegen.analysis.flips import number_of_cells
from sitegen.analysis.slices import moved_answerers
from sitegen.model.changes import Change, ChangeVerdict
from sitegen.model.commits import Commit
from sitegen.model.frozen import Frozen, grouped
from sitegen.model.metrics import MetricSpec
from sitegen.model.outcomes import Flips
from sitegen.model.series import HEADLINES, Effect, EvalInfo, Headline, Point, Series
from sitegen.model.site import Page
from sitegen.model.timeline import Cause, CommitRecord, Edit
from sitegen.pages import effects, links
from sitegen.pages.edit import RenderedPatch
from sitegen.pages.effects import (
    ONLY_RECORDED,
    EffectRow,
    FlippedFields,
    Grade,
    Touched,
    TouchedRole,
    by_grade,
    effect_rows,
    fields_and_passages,
    grade_counts,
    grade_of,
    metrics_of,
)
from sitegen.pages.instructions import FileEdit
from sitegen.pages.labels import CAUSES, by_either, changes, on_these_cases
from sitegen.text.plain import counted, cut, day, line, visible
from sitegen.text.values import written

MOST_POINTS: Final = 500
"""Largest number of points of one eval that the page lists."""
EDITS: Final = 20
"""Number of the newest commits with edits that are stored for an eval."""
EXPECTED: Final = 50
"""Number of changed expected values that the page lists of an eval."""
ExpectedChange: TypeAlias = tuple[str, str, str, str, str]
"""Document, attribute and path of an expected value; then what it was and what it is, empty if there is none."""
NAMED_EVALS: Final = 3
"""Number of evals that are named beside an earlier edit."""


class CommitEffect(Frozen):
    """The effect of a commit on one eval. A commit stores one for each eval with new points, so it is small."""

    change: Change
    """From the last point before the commit to its own last one, as far as the page shows it."""
    said: tuple[str, ...] = ()
    """Sentences on variants and models, on which edit made the output, on the parts of the change, its restrictions."""
    edits: tuple[tuple[Commit, int], ...] = ()
    """Earlier commits whose edits of instructions may have changed the new outputs, newest first, at most ``EDITS``,
    each with the number of files that it edited."""
    expected: tuple[ExpectedChange, ...] = ()
    """The first ``EXPECTED`` values that the commit changed in the ground truth."""

    @property
    def remarks(self) -> Iterator[str]:
        """What is said, and the errors that appeared or went with documents."""
        yield from self.said
        flips = self.change.flips
        if flips.appeared or flips.vanished:
            appeared, vanished = number_of_cells(flips.appeared), number_of_cells(flips.vanished)
            yield f"{counted(appeared, 'error')} appeared and {vanished:,} went with documents or expected values."


class EvalMove(Frozen):
    """The points of one eval at a commit, with the last earlier point."""

    info: EvalInfo
    specs: tuple[MetricSpec, ...]
    before: Headline | None
    points: tuple[Headline, ...]
    """The points of this commit, in series order; at least one."""
    causes: tuple[Cause, ...]
    """The causes of all of these points together."""
    effect: CommitEffect | None = None
    """The effect of the commit on the eval; None without an earlier point."""
    originals: tuple[str | None, ...] = ()
    """For each of these points, the label of the first point with the same output; None if it is the first."""

    @property
    def pairs(self) -> list[tuple[Headline, str | None]]:
        """The points, each with the label of the point that it is a copy of."""
        pairs = zip_longest(self.points, self.originals)
        return [(point, None if original == point.label else original) for point, original in pairs]

    @property
    def outputs(self) -> int:
        """Number of different outputs of these points."""
        return len({original or point.label for point, original in self.pairs})

    @property
    def best(self) -> tuple[Headline, str | None] | None:
        """The best of several points, of equal points the earliest, and what it is a copy of; None without several."""
        sign = 1 if self.specs[0].higher_is_better else -1
        known = [(sign * value, pair) for pair in self.pairs if (value := pair[0].values[0]) is not None]
        return max(known, key=itemgetter(0))[1] if known and len(self.points) > 1 else None

    @property
    def row(self) -> EffectRow:
        """What became of the eval."""
        effect, spec, last = self.effect, self.specs[0], self.points[-1]
        grade: Grade = "first output"
        why = ", ".join(CAUSES[cause] for cause in self.causes)
        if effect and effect.change.verdict:
            grade = grade_of(effect.change.verdict, spec)
            why = on_these_cases(effect.change.verdict, spec, self.info.nouns)
        elif effect and spec.recorded:
            grade, why = "recorded", ONLY_RECORDED
        elif effect:
            others = [CAUSES[cause] for cause in self.causes if cause != "outputs"]
            grade, why = "same output", ", ".join(others) or "identical to an earlier one"
        return EffectRow(
            info=self.info,
            grade=grade,
            why=why,
            before=self.before,
            after=last,
            metrics=metrics_of(
                self.before, last, self.specs, (effect.change.of(spec.name) if effect else None for spec in self.specs)
            ),
            verdict=effect.change.verdict if effect else None,
            flips=effect.change.flips if effect else Flips(),
            remarks=tuple(effect.remarks) if effect else (),
        )


class CommitView(Frozen, dict=True, gc=True):
    """What ``pages/commit.html`` shows of one commit."""

    record: CommitRecord
    """The commit and what it changed."""
    moves: tuple[EvalMove, ...]
    changed: tuple[Touched, ...]
    """``record.changes`` with the role of each path."""
    names: dict[str, str]
    """Maps the ids of the evals with a page to their names."""
    earlier: str | None = None
    """Id of the newest earlier commit that has a page."""
    thickened: tuple[str, ...] = ()
    """Paths of agents' definitions that the commit changed although instructions have separate files."""
    edits: tuple[FileEdit, ...] = ()
    around_edits: tuple[Effect, ...] = ()
    """How evals changed with the edits of a commit that has no new output itself."""
    patches: Mapping[str, RenderedPatch] = {}
    """The edits that the page shows as diffs, by path in ``record.edits``."""

    @property
    def page(self) -> Page:
        """The page that shows it."""
        return Page(links.commit(self.commit.sha), "pages/commit.html", self)

    @property
    def commit(self) -> Commit:
        """The commit itself."""
        return self.record.commit

    @cached_property
    def moved(self) -> tuple[EffectRow, ...]:
        """Effects across the commit; empty for a commit without points."""
        return by_grade(move.row for move in self.moves)

    @cached_property
    def edited(self) -> tuple[EffectRow, ...]:
        """Effects across the edits of a commit without new output, the same as on the pages of these edits."""
        return effect_rows(self.around_edits)

    @property
    def effects(self) -> tuple[EffectRow, ...]:
        """What became of the evals: across the edits if there is no new output, otherwise across the commit."""
        return self.edited or self.moved

    @cached_property
    def fields(self) -> FlippedFields:
        """The fields that flipped, and the passages of the shown diffs that name them."""
        return fields_and_passages(self.effects, {path: patch.hunks for path, patch in self.patches.items()})

    def move(self, eval_id: str) -> EvalMove:
        """The points of an eval at the commit."""
        return next(move for move in self.moves if move.info.id == eval_id)

    @property
    def edits_before(self) -> list[tuple[Commit, int, list[str]]]:
        """Edits of earlier commits since the previous outputs, newest first, with the number of files that each edited.

        Each stands once, with the names of the evals whose output it may have changed; with none if these are all new
        outputs. Edits cannot have changed a re-scored output.
        """
        compared = [
            (line(row.info.name, 80), effect)
            for row in self.moved
            if (effect := self.move(row.info.id).effect) and (row.verdict or row.spec.recorded)
        ]
        names = grouped((edit, name) for name, effect in compared for edit in effect.edits)
        newest = sorted(names, key=lambda edit: -edit[0].position)
        return [(*edit, [] if len(names[edit]) == len(compared) else names[edit]) for edit in newest]

    def paths(self, role: TouchedRole) -> list[Touched]:
        """The changed paths with one role, in their order."""
        return [item for item in self.changed if item.role == role]

    @property
    def other_paths(self) -> list[Touched]:
        """Changed paths on which no number depends: also instruction files that no eval is known to be driven by."""
        skeletons = [item.change for item in self.changed if item.role == "instruction" and item.change.new]
        others = [change for change in skeletons if change.path not in {edit.path for edit, _ in self.edits}]
        return self.paths("other") + [Touched(change, "other") for change in (*others, *self.record.others)]

    @property
    def changed_files(self) -> str:
        """The changed files, in a few words: ``3 instruction files, outputs of Orders``."""
        files, names = len(self.edits), self.names
        parts = [
            "instructions" if files == 1 else f"{files:,} instruction files" if files else "",
            _of_evals("outputs", [names.get(eval_id, eval_id) for eval_id, _ in effects.outputs(self.changed, names)]),
            _of_evals("ground truth", [names.get(item.eval_id, "") for item in self.paths("ground_truth")]),
            "rules" if self.paths("rules") else "",
        ]
        return ", ".join(filter(None, parts)) or "other files"

    @property
    def listed(self) -> ListedCommit:
        """The commit as the list has it: with its own effects, which later outputs do not change."""
        largest = max(self.moved, key=lambda move: move.share, default=None)
        return ListedCommit(
            commit=replace(self.commit, body=""),
            changed=self.changed_files,
            grades=grade_counts(row.grade for row in self.moved),
            largest=(line(largest.info.name, 80), largest.spec, largest.change, largest.verdict) if largest else None,
        )


def commit_effect(series: Series, before: Point, after: Point, change: Change) -> CommitEffect:
    """The effect of a commit on the eval: ``change``: what became of it between these points."""
    specs, after = series.specs, replace(after, change=change)
    origin = changes(specs[:1], series.info.nouns, before, after)[0].origin(specs[0])
    names = [spec.name for spec in specs[:HEADLINES]]
    return CommitEffect(
        change=replace(
            change,
            metrics=tuple(metric for metric in change.metrics if metric.name in names),
            flips=replace(change.flips, still=()),
        ),
        said=(f"{origin[0].upper()}{origin[1:]}.",) if origin else (),
    )


def effects_of_commits(
    series: Series, edits: OutputEdits, first_new: int, changes: Mapping[tuple[int, int], Change]
) -> Iterator[tuple[str, CommitEffect]]:
    """Yield the id and the effect of each commit with new points, except that of a commit without an earlier point.

    ``changes``: of each of ``spans_of_commits``.
    """
    for before, after in spans_of_commits(series.history.snapshots, first_new):
        earlier, later = series.points[before], series.points[after]
        sha, other = later.snapshot.commit.sha, other_edit(edits.made_with[after])
        effect = commit_effect(series, earlier, later, changes[before, after])
        by_answerer = moved_answerers(series, (before, after)) if effect.change.verdict else ""
        by_edit = f"{by_either(other.short).capitalize()}, whichever the output was made with." if other else ""
        effect = replace(
            effect,
            said=tuple(filter(None, (by_answerer, by_edit, *effect.said))),
            edits=earlier_edits(chain.from_iterable(edits.beside[before + 1 : after + 1]), sha),
            expected=tuple(islice(_expected(series, before, after), EXPECTED)),
        )
        yield sha, effect


def _expected(series: Series, before: int, after: int) -> Iterator[ExpectedChange]:
    """The expected values that changes of the ground truth changed between two points."""
    if any("ground_truth" in snapshot.cause for snapshot in series.history.snapshots[before + 1 : after + 1]):
        for cell in series.cells.cells:
            sides = cell.at(before), cell.at(after)
            old, new = ("" if side is None else side.expected for side in sides)
            if old != new:
                yield cell.document, cell.attribute, cell.label, written(old) or "", written(new) or ""


def earlier_edits(edits: Iterable[Edit], sha: str) -> tuple[tuple[Commit, int], ...]:
    """The commits of ``edits``, newest first, except for ``sha``, whose own page lists its edits already."""
    edited = {(edit.commit.sha, edit.path): edit.commit for edit in edits if edit.commit.sha != sha}
    files = Counter(commit for commit, _ in edited)
    commits = {commit.sha: commit for commit in edited.values()}
    newest = sorted(commits.values(), key=lambda commit: -commit.position)[:EDITS]
    return tuple((replace(commit, body=""), files[commit.sha]) for commit in newest)


def message(commit: Commit) -> str:
    """The message of a commit below its subject."""
    return cut(visible(commit.body.strip()), 10_000)


COMMITS: Final = 100
"""Number of commits on a full page. The newest page has fewer than twice as many, and fewer only if no more exist."""


class ListedCommit(Frozen):
    """One commit in the list. The memo stores the newest pages, so it has only what the list shows."""

    commit: Commit
    """Without the body of its message."""
    changed: str = ""
    """``CommitView.changed_files``; empty without a page."""
    grades: tuple[tuple[Grade, int], ...] = ()
    """Number of evals with each grade, losses first."""
    largest: tuple[str, MetricSpec, float | None, ChangeVerdict | None] | None = None
    """The eval whose headline metric changed most with the commit, the change if there is an earlier iteration, and the
    verdict; None if no eval has an iteration of this commit."""

    @property
    def parts(self) -> str:
        """The ``PARTS`` that it changed, as values of an attribute."""
        words = [part.lstrip("0123456789, ") for part in self.changed.split(", ")]
        stated = (part for part in PARTS if any(text.startswith(part.removesuffix("s")) for text in words))
        return " ".join(part.replace(" ", "-") for part in stated)


PARTS: Final = ("instructions", "outputs", "ground truth", "rules")
"""What the list of commits is filtered by."""


class CommitsView(Frozen):
    """What ``pages/commits.html`` shows."""

    rows: tuple[ListedCommit, ...]
    """Newest first."""
    first: int
    """Number of commits older than the oldest row."""
    newer: str | None
    """Address of the page with the next newer commits; None on the newest page, to which the navigation links."""
    older: str | None

    @property
    def days(self) -> list[tuple[str, list[ListedCommit]]]:
        """The rows of each day, in their order."""
        return [(on, list(rows)) for on, rows in groupby(self.rows, lambda row: day(row.commit.committed_at))]


def older_than_page(end: int, commits: int) -> int:
    """Return the number of commits that are older than those of a page.

    ``end``: number of commits up to the newest one of the page. ``commits``: number of all commits.
    """
    return end - COMMITS if end < commits else max(0, commits // COMMITS - 1) * COMMITS


def commits_page(rows: Sequence[ListedCommit], end: int, commits: int) -> Page:
    """Make a page from its rows, newest first. ``end``, ``commits``: as in ``older_than_page``."""
    first = older_than_page(end, commits)
    path, newer = links.commits(), None
    if end < commits:
        is_next_to_newest = end == older_than_page(commits, commits)
        path = links.older_commits(end // COMMITS)
        newer = links.commits() if is_next_to_newest else links.older_commits(end // COMMITS + 1)
    older = links.older_commits(first // COMMITS) if first else None
    return Page(path, "pages/commits.html", CommitsView(rows=tuple(rows), first=first, newer=newer, older=older))


def _of_evals(changed: str, names: Sequence[str]) -> str:
    evals = dict.fromkeys(filter(None, names))
    if len(evals) > 1:
        return f"{changed} of {len(evals):,} evals"
    return f"{changed} of {line(next(iter(evals)), 80)}" if evals else changed if names else ""
