"""Series: the points of an eval with their scorecards, and the compact form that is kept of every eval at once."""

from __future__ import annotations

from typing import NamedTuple

from sitegen.model.cells import CellMap, Flips
from sitegen.model.deltas import Delta
from sitegen.model.kinds import traits_of
from sitegen.model.metrics import MetricSpec, Nouns
from sitegen.model.noise import ChangeVerdict, Interval
from sitegen.model.regressions import Step
from sitegen.model.scorecards import Scorecard
from sitegen.model.suspect_truth import SuspectTruth
from sitegen.model.timeline import Edit, EvalHistory, Snapshot
from sitegen.model.usage import Exchange, RunUsage, regraded


class WeakSection(NamedTuple):
    """A section of the schema with its errors."""

    name: str
    errors: tuple[int, ...]
    """In the order of ``ERROR_TYPES``."""
    judged: int


class Streak(NamedTuple):
    """Fields of one section that have been wrong without a break since the same point."""

    attribute: str
    """One of them, with the most cells."""
    more: int
    """How many others."""
    cells: int
    """Cells of all of them that are wrong since then."""
    since: str
    """Label of the point."""
    slug: str
    outputs: int
    """How many outputs have been wrong there, the newest included."""


class Focus(NamedTuple):
    """The errors of the newest point, by three ways to choose among them."""

    sections: tuple[WeakSection, ...] = ()
    """The most errors first."""
    broken: tuple[tuple[str, int], ...] = ()
    """(attribute, cells) that the newest output got wrong and the one before it right; most first."""
    longest: tuple[Streak, ...] = ()
    """The longest first."""


class EvalInfo(NamedTuple):
    """What the manifest says of an eval for readers, with defaults filled in."""

    id: str
    name: str
    description: str = ""
    kind: str = "fields"
    thresholds: tuple[tuple[str, float], ...] = ()
    """(metric name, least value wanted)."""
    significance_level: float | None = None
    """Of comparisons of its variants; None: the usual one."""
    metadata: tuple[tuple[str, str], ...] = ()
    """Keys of the manifest that sitegen does not know, as text, in their order."""
    nouns: Nouns = Nouns()
    """What the kind calls documents, attributes and errors."""

    @property
    def recorded(self) -> bool:
        """Its numbers were written by the runs themselves: nothing of them can be computed again."""
        return traits_of(self.kind).is_recorded


class Point(NamedTuple):
    """One scored snapshot."""

    snapshot: Snapshot
    scorecard: Scorecard
    edits: tuple[Edit, ...]
    """Edits of instruction files that drive the eval, after the previous point's commit and up to this one's."""
    now: Scorecard | None = None
    """The same output under the ground truth and the rules of the newest point; None if nobody asked."""
    delta: Delta | None = None
    """Against the point before it; None for the first."""
    flips: Flips | None = None
    """What became of the cells since the point before it."""
    stale: bool = False
    """Instructions that drive the eval were edited since the output was made, and it was not made again."""
    interval: Interval | None = None
    """Around the headline; None if there is none, or nobody asked."""


class Series(NamedTuple):
    """An eval with everything its trend page shows."""

    info: EvalInfo
    history: EvalHistory
    specs: tuple[MetricSpec, ...]
    points: tuple[Point, ...]
    """One a snapshot, in series order; empty if the eval has no outputs yet."""
    cells: CellMap = CellMap(0, ())
    """Every cell through all points; empty if nobody asked."""


class Headline(NamedTuple):
    """A point in a few numbers."""

    commit_position: int
    sha: str
    slug: str
    label: str
    status: str
    values: tuple[float | None, ...]
    """In the order of the specs: the first is the eval's headline metric."""
    errors: tuple[int, int, int, int]
    """In the order of ``ERROR_TYPES``."""
    committed_at: str = ""
    """Of its commit, ISO 8601."""
    interval: Interval | None = None
    """Around the first of the values."""
    graded_since: int = 0
    """Index of the first point since which no other judge gave the first of the values."""


class Window(NamedTuple):
    """The points of an eval that are attributed to one edit of its instructions."""

    edit: int
    """Position of the edit's commit."""
    before: int | None
    """Index, in the series, of the newest point attributed to an earlier edit; None if there is none."""
    after: int
    """Index of the last output attributed to this edit."""
    by_rules: float | None = 0.0
    """How much of the headline's change from one to the other ground truth and rules made, summed over the points
    between them; None if that is undefined at any."""
    comparable: bool = True
    """All points from one to the other hold the same documents."""
    model: Exchange | None = None
    """Another model made the later one: what is its doing, and what the edit's, nothing tells."""
    judge: Exchange | None = None
    """Another judge graded the later one: its grades are not held against those before."""


class Peak(NamedTuple):
    """The best output of an eval, all of them scored by the newest ground truth and rules."""

    at: int
    """Index of the point in the series; of equal ones the newest."""
    value: float
    """Of the headline metric."""
    edit: int
    """Position of the edit that the output is attributed to; -1: none."""
    interval: Interval | None = None
    """Around the value."""


class EvalSummary(NamedTuple):
    """All points of an eval in a few numbers each: what the overview, commits and edits need of every eval."""

    info: EvalInfo
    specs: tuple[MetricSpec, ...]
    headlines: tuple[Headline, ...]
    deleted: bool = False
    stale: bool = False
    """The newest point is."""
    delta: Delta | None = None
    """The newest point against the one before it."""
    focus: Focus = Focus()
    """Which errors of the newest output to work on."""
    suspects: tuple[SuspectTruth, ...] = ()
    """Labels that may be wrong, at the newest point."""
    steps: tuple[Step, ...] = ()
    """Where its level changed, oldest first."""
    windows: tuple[Window, ...] = ()
    """By edit."""
    peak: Peak | None = None
    """None if no output has a headline."""
    interval: Interval | None = None
    """Around the headline of the newest point."""
    metrics: tuple[str, ...] = ()
    """Names of all metrics, also of those that are not kept of every point."""
    usage: RunUsage | None = None
    """Of the newest point."""


class Effect(NamedTuple):
    """An eval before and after an edit of instructions: an association in time, not a cause.

    *before* is the newest point whose output was made with earlier instructions; *after* the last output that was made
    with these, before the next edit of any instructions that drive the eval.
    """

    eval_id: str
    name: str
    before: Headline | None
    after: Headline | None
    """None: no output was made between this edit and the next."""
    specs: tuple[MetricSpec, ...] = ()
    """How the values of both are called; empty: only the headline is shown, as F1."""
    by_rules: float | None = 0.0
    """How much of the change ground truth and rules made, and not the output; None if that is undefined."""
    comparable: bool = True
    """No document came or went in between."""
    model: Exchange | None = None
    """Another model made the output after the edit, so that nothing of the change is put down to the edit."""
    flips: Flips | None = None
    """What became of the cells in between; None if nobody asked."""
    verdict: ChangeVerdict | None = None
    """Whether the change is more than chance, without its fields; None if nobody asked, or for the same output."""
    judge: Exchange | None = None
    """Another judge graded the output after the edit, so that metrics of grades have no change."""

    @property
    def change(self) -> float | None:
        """After minus before of the headline metric; None unless both are defined, or if two judges graded them."""
        if self.before is None or self.after is None or self.regraded:
            return None
        first, last = self.before.values[0], self.after.values[0]
        return None if first is None or last is None else last - first

    @property
    def regraded(self) -> bool:
        """The headline is made from grades, and two judges gave them."""
        return bool(self.specs) and regraded(self.judge, self.specs[0].name)

    @property
    def by_outputs(self) -> float | None:
        """The change less what ground truth and rules made of it; the whole change where that is undefined.

        None if another model made the output: the edit and the model are confounded.
        """
        if self.model:
            return None
        return self.change if self.change is None or self.by_rules is None else self.change - self.by_rules
