"""Series: the points of an eval with their scorecards, and the summary that is stored of every eval, with its parts."""

from functools import cached_property
from typing import Final, NamedTuple, TypeAlias

from sitegen.model.changes import Change, ChangeVerdict, Decision, Interval, MetricDelta, Noise, Step
from sitegen.model.commits import Commit
from sitegen.model.frozen import Frozen, field, replace
from sitegen.model.metrics import Counts, ErrorNumbers, MetricSpec, Nouns, traits_of
from sitegen.model.outcomes import CellMap, Flips, Verdict
from sitegen.model.scorecards import Scorecard
from sitegen.model.timeline import Edit, EvalHistory, Snapshot
from sitegen.model.usage import Exchange, RunUsage, regraded


class WeakSection(Frozen):
    """A section of the schema with its errors."""

    name: str
    errors: tuple[int, ...]
    """In the order of ``ERROR_TYPES``."""
    judged: int


class Streak(Frozen):
    """Fields of one section that have been wrong without interruption since the same point."""

    attribute: str
    """The field with the most cells."""
    more: int
    """Number of further fields."""
    cells: int
    """Number of cells of all these fields that have been wrong since then."""
    since: str
    """Label of that point."""
    slug: str
    outputs: int
    """Number of different outputs with these errors, including the newest."""


class PatternSummary(Frozen):
    """An error pattern of the newest output, as the pages of an eval and of the whole site name it."""

    name: str
    errors: int
    total: int
    """Number of all errors of the output."""
    fields: int
    """Number of fields with errors of the pattern."""
    since: str
    """Label of the point since which most of these errors have been wrong; empty if there is no such point."""
    all_since: bool
    """Whether all of them have been wrong since that point."""
    without: float | None
    """The headline if these values were right; None if the headline is not a ratio of counts."""


class FailingValue(Frozen):
    """A value of a field that is wrong in the newest output."""

    label: str
    """Its path, with names of list items instead of indices."""
    document: str
    expected: str
    """The expected value, truncated; empty if there is none."""
    actual: str
    outputs: int
    """Number of different outputs, up to the newest, that are wrong here without interruption."""


class FieldSummary(Frozen):
    """How a field of one eval changed over all points."""

    attribute: str
    wrong: int
    """Number of values that are wrong in the newest output."""
    judged: int
    right: tuple[float | None, ...]
    """Share of right values, 0..1, at the newest points; None where the field was not judged."""
    failing: tuple[FailingValue, ...]
    """The values that have been wrong longest."""


class Correction(Frozen):
    """A line of the ground truth file, and the line as it would be if the outputs were right."""

    path: str
    line: int
    """From 1."""
    before: str
    after: str
    end: str = "\n"
    """What ends the line in the file; empty for the last line, if nothing does."""


class SuspectTruth(Frozen):
    """A cell whose label may be wrong. It is only a suspicion, for somebody who knows the document to check."""

    document: str
    path: str
    attribute: str
    expected: str
    """The label as bounded JSON text; empty if it is blank."""
    actual: str
    """The value on which the outputs agree, in the same form."""
    agreeing: tuple[int, ...]
    """Indices, in the series, of the points whose outputs have this value; later ones change nothing of the first."""
    outputs: int
    """Number of outputs that were compared with this label."""
    gain: float = 0.0
    """How much the headline of the newest output would gain if this value were right; 0 if it has another value."""
    correction: Correction | None = None
    """None if the label's line in the file is uncertain, or was not determined."""
    named_path: str = ""
    """The path with list items by their names; empty where it is the same."""
    with_label: int = 0
    """Number of outputs whose value is the label."""
    judged: Verdict = ""
    """What people said of the label."""
    evidence: str = ""
    """What the first output with the value states of its source, in words; empty if it was not read or states none."""
    eval_id: str = ""
    """Empty in the summary of its eval."""

    @property
    def label(self) -> str:
        """The path as pages show it."""
        return self.named_path or self.path


HEADLINES: Final = 3
"""Number of metrics stored for every point: the headline and the metrics drawn beside it."""


class EvalInfo(Frozen):
    """The description of an eval in the manifest, with defaults filled in."""

    id: str
    name: str
    description: str = ""
    kind: str = "fields"
    thresholds: dict[str, float] = field(default_factory=dict)
    """The least value of each metric that passes; the greatest, if lower values are better."""
    significance_level: float | None = None
    """The level for comparisons of its variants; None for the default."""
    metadata: dict[str, str] = field(default_factory=dict)
    """The keys of its entry that mean nothing to sitegen, with their values as text, in the order of the manifest."""
    nouns: Nouns = Nouns()
    source: str = ""
    """The pattern of the documents that its outputs were made from; empty if none is stated or none may be shown."""
    manifest: str = ""
    """The path of the manifest, where its settings are; empty if nobody reads one."""
    notes: str = ""
    """The path of the notes of people about its cases; empty if nobody reads any."""

    @property
    def recorded(self) -> bool:
        """Whether its numbers were recorded by runs, and cannot be computed again."""
        return traits_of(self.kind).is_recorded

    @property
    def uncounted(self) -> tuple[str, ...]:
        """The counts that data files leave null: those that others are the same as; all of recorded numbers."""
        return Counts._fields if self.recorded else self.nouns.same


Derived: TypeAlias = tuple[Change | None, Interval | None, Noise | None]
"""The change, the interval and the noise of a point, which follow from it and the points before it."""


class Point(Frozen):
    """One scored snapshot."""

    snapshot: Snapshot
    scorecard: Scorecard
    edits: tuple[Edit, ...] = ()
    """Edits of instruction files that drive the eval, after the previous point's commit and up to this one's."""
    beside: tuple[Edit, ...] = ()
    """Edits that may have changed the output since the previous output, by time alone."""
    now: Scorecard | None = None
    """The same output under the ground truth and the rules of the newest point; None if it was not computed."""
    change: Change | None = None
    """Since the point before it; None for the first."""
    stale: bool = False
    """Whether instructions that drive the eval were edited since the output was made, and it was not made again."""
    interval: Interval | None = None
    """The interval of the headline; None if there is none, or if it was not computed."""
    noise: Noise | None = None
    """How far the headline differs between repeats among the points up to this one, repeated runs included; None
    without repeats."""
    first_with_output: int | None = None
    """Index, in the series, of the first point with the same output (``analysis/series.py``); None if it is this."""

    @property
    def copy_of(self) -> int | None:
        """Index of the first point with the same output, if this is a copy: another iteration or version of it."""
        return self.first_with_output if "outputs" in self.snapshot.cause else None

    @property
    def is_copy(self) -> bool:
        """Whether its output is a new iteration or version that is byte for byte the same as an earlier one."""
        return self.copy_of is not None

    @property
    def made_by(self) -> str:
        """The models of its output; empty if it does not state any."""
        return " and ".join((self.scorecard.usage or RunUsage()).models)


class Series(Frozen):
    """An eval with everything its trend page shows."""

    info: EvalInfo
    history: EvalHistory
    specs: tuple[MetricSpec, ...]
    points: tuple[Point, ...]
    """One for each snapshot, in series order; empty if the eval has no outputs yet."""
    cells: CellMap = CellMap((), (), {})
    """Every cell through all points; empty if it was not computed."""
    baselines: tuple[tuple[str, int], ...] = ()
    """The name of each baseline, and the index of the newest point that its revision contains; for pages alone."""

    def copied_label(self, index: int) -> str | None:
        """Return the label of the iteration that the output of a point is a copy of; None if it is none."""
        copy_of = self.points[index].copy_of
        return None if copy_of is None else self.points[copy_of].snapshot.label

    @property
    def iterations(self) -> int:
        """Number of iterations and versions of the output, copies included."""
        return sum("outputs" in point.snapshot.cause for point in self.points)

    @property
    def outputs(self) -> int:
        """Number of different outputs; an iteration without one counts as none."""
        return sum(point.first_with_output is None and bool(point.snapshot.outputs) for point in self.points)

    @property
    def defined_specs(self) -> tuple[MetricSpec, ...]:
        """The headline, and the other metrics that are defined at any point."""
        defined = {name for point in self.points for name, value in point.scorecard.metrics if value is not None}
        return tuple(spec for place, spec in enumerate(self.specs) if not place or spec.name in defined)

    @property
    def is_counted(self) -> bool:
        """Whether a series has counts at any point."""
        counts = [point.scorecard.counts for point in self.points]
        return not self.info.recorded and (not counts or any(map(any, counts)))

    def place_of(self, snapshot: Snapshot) -> int | None:
        """Return the index of the point that shows a snapshot of another revision by the same rules, or None."""
        for index, point in enumerate(self.points):
            if point.snapshot.slug == snapshot.slug and not point.snapshot.roles_changed_in(snapshot):
                return index
        return None


class Headline(Frozen):
    """The stored summary of a point."""

    commit_position: int
    sha: str
    slug: str
    label: str
    status: str
    values: tuple[float | None, ...]
    """In the order of the specs: the first is the eval's headline metric."""
    errors: ErrorNumbers
    committed_at: str = ""
    """Time of its commit, ISO 8601."""
    interval: Interval | None = None
    """The interval of the first value."""
    comparable_since: int = 0
    """Index of the first point since which each point can be compared with the one before: it has documents in common,
    and the same judge of the first value."""
    first_with_output: int | None = None
    """As in ``Point``."""
    deleted: bool = False
    """As in ``Snapshot``."""


class Window(NamedTuple):
    """The points of an eval that are attributed to one edit, as the newest ground truth and rules judge them."""

    edit: int
    """Position of the edit's commit."""
    before: int | None
    """Index, in the series, of the newest point attributed to an earlier edit; None if there is none."""
    after: int
    """Index of the output that measures this edit (``windows``)."""
    over_common: tuple[float | None, ...] | None = None
    """The changes of the first metrics over what the points ``before`` and ``after`` have in common; None if both have
    the same documents and cases, so that their values can be subtracted."""
    model: Exchange | None = None
    """The change of the model, if any: its part and that of the edit cannot be separated."""
    judge: Exchange | None = None
    """The change of the judge, if any: grades of two judges are not compared."""
    or_edit: Commit | None = None
    """The commit of another edit that the change may be by; None if that is certain."""
    unlike: str = ""
    """How the output differs in more than what was written, ``lacks 2 documents``: it does not tell what edits did."""
    verdict: ChangeVerdict | None = None
    """Whether the change is more than chance; None if there is no verdict, for example because the output is the same.
    """
    flips: Flips | None = None
    """The cells that were fixed and broken in between; None without a point before."""
    by_answerer: str = ""
    """Sentences on what was compared, and on which variants and models changed by more than chance."""
    variant: str = ""
    """The only variant whose prompt was edited, if all this is about it alone; empty if it is about all answers."""
    values: tuple[tuple[float | None, ...], ...] = ()
    """The first metrics before and after, of the variant, or by another ground truth or other rules than those of their
    time; empty if they are those of both points."""

    @property
    def is_shared(self) -> bool:
        """Whether a later edit has the same window, so that what flipped in it is counted with that edit."""
        return self.or_edit is not None and self.or_edit.position > self.edit


class BestOutput(Frozen):
    """The best output of an eval when all outputs are scored by the newest ground truth and rules."""

    at: int
    """Index of the point in the series; the earliest of equally good points."""
    value: float
    """The headline."""
    edit: int
    """Position of the edit that the output is attributed to; -1 if there is none."""
    interval: Interval | None = None
    or_edit: Commit | None = None
    """As in ``Window``."""


class Effect(Frozen, dict=True, gc=True):
    """An eval before and after an edit of instructions: an association in time, not a cause.

    ``before`` is the newest point whose output was made with earlier instructions; ``after`` the first output that was
    made with these, as ``windows`` of ``analysis/effects.py`` chooses it.
    """

    info: EvalInfo
    before: Headline | None
    after: Headline
    specs: tuple[MetricSpec, ...]
    window: Window = Window(edit=0, before=None, after=0)
    """The points that are attributed to the edit, with what else changed among them."""

    @cached_property
    def changes(self) -> tuple[float | None, ...]:
        """After minus before of each metric, over what both have; None if undefined, or if two judges graded them."""
        if self.before is None:
            return (None,) * len(self.specs)
        pairs = zip(self.before.values, self.after.values, strict=False)
        moved = self.window.over_common or [None if a is None or b is None else b - a for a, b in pairs]
        return tuple(
            None if regraded(self.window.judge, spec.name) else change
            for spec, change in zip(self.specs, moved, strict=False)
        )

    @property
    def change(self) -> float | None:
        """The change of the headline metric."""
        return self.changes[0]

    @property
    def gain(self) -> float | None:
        """The change as a share of the metric's range, positive for the better; None if it may be by something else."""
        window = self.window
        is_open, sign = window.or_edit or window.model or window.unlike, 1 if self.spec.higher_is_better else -1
        return None if self.change is None or is_open else sign * self.change / self.spec.size

    @property
    def decision(self) -> Decision | None:
        """The verdict on the change if it is credited to the edit; None if there is none, or if it may be by others."""
        return self.window.verdict.decision if self.window.verdict and self.gain is not None else None

    @property
    def regraded(self) -> bool:
        """Whether the headline is computed from grades of two judges."""
        return regraded(self.window.judge, self.spec.name)

    @property
    def spec(self) -> MetricSpec:
        """The headline metric."""
        return self.specs[0]


class EvalSummary(Frozen):
    """The stored summary of an eval and its points, for the overview and the pages of commits and edits."""

    info: EvalInfo
    specs: tuple[MetricSpec, ...]
    headlines: tuple[Headline, ...]
    deleted: bool = False
    without_output: bool = False
    """As in ``EvalHistory``; no mean includes the eval then."""
    stale: bool = False
    unlike: str = ""
    """As in ``Window``, from the newest output but one to the newest; empty if these differ in nothing else."""
    change: Change | None = None
    """What became of the eval from the previous point to the newest."""
    weak: tuple[WeakSection, ...] = ()
    """The sections of the schema with the most errors of the newest output."""
    newly_wrong: Flips = Flips()
    """Cells that the newest output got wrong and the previous output got right, and the doubts about them, alone."""
    longest: tuple[Streak, ...] = ()
    """The longest streaks of errors that last to the newest output."""
    suspects: tuple[SuspectTruth, ...] = ()
    """Labels that may be wrong, at the newest point."""
    upheld: tuple[SuspectTruth, ...] = ()
    """Labels that outputs contradict, but which people judged right."""
    steps: tuple[Step, ...] = ()
    """Changes of its level, oldest first."""
    windows: tuple[Window, ...] = ()
    """Sorted by edit."""
    made_with: tuple[Commit, ...] = ()
    """The commits of the edits that the newest output can have been made with, oldest first."""
    best_output: BestOutput | None = None
    """None if no output has a headline."""
    now: tuple[float | None, ...] = ()
    """The headline metric of each point by the newest ground truth and rules; empty if these are the values of
    ``headlines``."""
    best: tuple[int | None, ...] = ()
    """For each point the index of the best one up to it (``best_points``)."""
    metrics: tuple[str, ...] = ()
    """Names of all metrics, including those that are not stored for every point."""
    usage: RunUsage | None = None
    recorded_otherwise: float | None = None
    """The headline that the record of the newest output states, if another one was computed."""
    since_best: ChangeVerdict | None = None
    """The change from the best output to the newest point (``analysis/standing.py``)."""
    averaged: str = ""
    """What the headline of the newest point averages, in words (``averaged`` of ``analysis/slices.py``)."""
    patterns: tuple[PatternSummary, ...] = ()
    """What wrong values of the newest output have in common: the patterns of the most errors first."""
    fields: tuple[FieldSummary, ...] = ()
    """Fields that were wrong at any point."""
    fallen: tuple[tuple[str, str, str], ...] = ()
    """The axis, the value on it and the fall in words of each slice that fell beyond chance and was not regained."""
    together: tuple[tuple[str, int, int], ...] = ()
    """The sections that the newest output broke beyond chance, each with its values that were fixed and that broke."""
    notes: int = 0
    """Number of notes of people about its cases."""
    targets: tuple[tuple[str, bool], ...] = ()
    """The label of each metric of the newest point that has a target and a value, and whether it reaches the target."""
    has_variants: bool = False
    """As in ``Scorecard``, of the newest point."""
    has_answerers: bool = False
    """Whether several variants or models gave the answers of the newest output, so that a page compares them."""

    @property
    def is_compared(self) -> bool:
        """Whether a page compares iterations, or variants and models."""
        return len(self.headlines) > 1 or self.has_answerers

    @property
    def has_only_scores(self) -> bool:
        """Whether judges gave the newest output scores, and judged no value right or wrong.

        Then F1, which is not the headline of such a kind, is undefined although the output was scored.
        """
        newest = self.headlines[-1] if self.headlines else None
        if newest is None or newest.status != "scored" or any(newest.errors) or self.info.recorded:
            return False
        return (None, "f1") in zip(newest.values[1:], (spec.name for spec in self.specs[1:]), strict=False)

    @property
    def values_now(self) -> tuple[float | None, ...]:
        """The headline metric of each point, by the newest ground truth and rules."""
        return self.now or tuple(headline.values[0] for headline in self.headlines)

    def breaks(self, shown: int) -> list[int]:
        """Return the places, among so many newest points, of those that cannot be compared with the one before."""
        first = max(0, len(self.headlines) - shown)
        return sorted({headline.comparable_since - first for headline in self.headlines} - {0})

    @property
    def value(self) -> float | None:
        """The headline metric of the newest point."""
        return self.headlines[-1].values[0] if self.headlines else None

    @property
    def interval(self) -> Interval | None:
        """The interval of the headline of the newest point."""
        return self.headlines[-1].interval if self.headlines else None

    @property
    def errors(self) -> int:
        """Number of errors at the newest point."""
        return sum(self.headlines[-1].errors) if self.headlines else 0

    @property
    def headline_change(self) -> float | None:
        """Change of the headline between the newest two points, as ``Change.of`` returns it."""
        return self.change.of(self.specs[0].name) if self.change else None

    @property
    def gain(self) -> float:
        """How much better the newest output made the headline; 0 if that is undefined, or if it was scored again."""
        delta = self.change.headline if self.change else MetricDelta("", None, None)
        moved = (delta.parts.outputs if delta.parts else delta.change) or 0.0
        return moved if self.specs[0].higher_is_better else -moved

    def not_by_an_edit(self, step: Step) -> str:
        """Return why no edit is said to be before a step, as the end of a sentence on its output; empty if one is."""
        if self.unlike and step.different <= 1:
            return f"which {self.unlike}"
        return "which came in one commit with the output before" * (self.headlines[step.before].sha == step.commit.sha)

    def effect_in(self, window: Window) -> Effect:
        """Return the effect of the edit of a window."""
        before = None if window.before is None else self.headlines[window.before]
        after = self.headlines[window.after]
        if window.values and before:
            sides = zip((before, after), window.values, strict=True)
            before, after = (replace(side, values=of, interval=None) for side, of in sides)
        return Effect(info=self.info, before=before, after=after, specs=self.specs, window=window)

    @property
    def target(self) -> tuple[float | None, bool | None]:
        """The target of the headline metric, and whether it is met; None without a target, or if it is undefined."""
        spec, value = self.specs[0], self.value
        target = spec.target(self.info.thresholds)
        return target, None if target is None or value is None else spec.reaches(value, target)
