"""The words of pages and of the terminal for causes, statuses, and changes in the unit of a metric."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from sitegen.analysis.noise.samples import interval_of, is_counted
from sitegen.analysis.series import repeats_the_point_before
from sitegen.importers.case import BETWEEN
from sitegen.model.changes import Change, ChangeVerdict, DeltaParts, Ends, Interval, Overlap, StepStatus, Unit
from sitegen.model.commits import Commit
from sitegen.model.frozen import Frozen
from sitegen.model.metrics import ROUNDING, MetricSpec, Nouns
from sitegen.model.outcomes import ErrorType, State
from sitegen.model.scorecards import DocumentStatus, Scorecard
from sitegen.model.series import Point, Series
from sitegen.model.timeline import Cause, Role
from sitegen.model.usage import Exchange, regraded
from sitegen.stats.intervals import around_mean
from sitegen.text import markdown_cells
from sitegen.text.plain import counted, line
from sitegen.text.values import NO_CHANGE, first_names, metric_text

ERROR_LABELS: Final[dict[ErrorType, str]] = {
    "omission": "Omission",
    "hallucination": "Hallucination",
    "wrong_value": "Wrong value",
    "format_error": "Format error",
}
NO_ERROR: Final[dict[State, str]] = {"correct": "right", "true_negative": "right: blank", "absent": "not there"}
"""What a value is that is no error, on the page of its field and on the terminal."""
CAUSES: Final[dict[Cause, str]] = {
    "outputs": "new output",
    "ground_truth": "ground truth changed",
    "mapping": "field mapping changed",
    "schema": "schema changed",
    "settings": "settings changed",
}
STATUSES: Final[dict[DocumentStatus, str]] = {
    "scored": "scored",
    "unreadable": "unreadable",
    "no_ground_truth": "ground truth unreadable",
    "not_asked": "added since",
}
IN_PART: Final = "worse in part"
"""The word for a change that is worse, because a field broke everywhere, although the number did not fall."""
STATES: Final[dict[StepStatus, str]] = {
    "fell": "new",
    "open": "open",
    "muted": "muted",
    "behind": "behind its best",
    "new": "one more run needed",
    "fixed": "fixed",
    "better": "better",
    "blip": "recovered",
}
"""What became of a step."""

ROLES: Final[dict[Role, str]] = {"outputs": "new output", "ground_truth": "ground truth", "rules": "rules"}
"""The causes of a change; the rules are mapping, schema and settings."""


def exchange(who: str, replaced: Exchange | None) -> str:
    """A clause on a replaced model or judge: ``the model changed from m-1 to m-2``; empty if none was replaced."""
    if replaced is None:
        return ""
    before, after = (line(" and ".join(names), 160) for names in (replaced.before, replaced.after))
    return f"the {who} changed from {before} to {after}"


def exchanges(model: Exchange | None, judge: Exchange | None) -> tuple[str, ...]:
    """A sentence for each of model and judge that was replaced."""
    clauses = (exchange("model", model), exchange("judge", judge))
    return tuple(f"{clause[0].upper()}{clause[1:]}." for clause in clauses if clause)


def model_stated(before: Point, after: Point) -> str:
    """A sentence on a model that an output states, and the one before it does not; empty if that is not so."""
    said = f"It states a model, {line(after.made_by, 160)}, the output before none: whether it changed is unknown."
    return said if after.made_by and not before.made_by else ""


SAME_OUTPUT: Final = "Both are the same output: only ground truth and rules can make a difference."


def in_both(change: Change, series: Series) -> str:
    """A sentence on what a change is over, and what its two values count besides; empty if both have the same."""
    if change.overlap.verdict == "comparable":
        by_outputs, whole = change.of(change.headline.name), change.headline.change
        is_split = by_outputs is not None and whole is not None and abs(by_outputs - whole) > ROUNDING
        return "Changes are by the ground truth and rules of the later output on both sides." * is_split
    overlap = change.overlap
    nouns, sides = series.info.nouns, (("before", overlap.only_before), ("after", overlap.only_after))
    alone = [(f"{len(names):,} {side}", names, documents_in_short(names)) for side, names in sides if names]
    only = ", ".join([said if short == names else f"{said} ({', '.join(short)})" for said, names, short in alone])
    if not only or not overlap.common:
        return only and f"No {'answer' if series.cells.cases else nouns.document} is in both: {only}."
    common = f"{overlap.common:,} {nouns.noun(overlap.common)}"
    others = "answers" if series.cells.cases else nouns.documents
    return (
        f"Changes of metrics are over the {common} in both; the values beside them also count other {others}: {only}."
    )


def iterations_and_outputs(iterations: int, different: int) -> str:
    """The number of iterations, and of different outputs if some are copies: ``23 iterations, 14 outputs``."""
    count = counted(iterations, "iteration")
    return count if iterations == different else f"{count}, {counted(different, 'output')}"


def same_output(label: str | None) -> str:
    """A remark that an output is a copy of the iteration with this label; empty for None."""
    return "" if label is None else f"same output as {line(label, 40)}"


def how_copied(points: Sequence[Point], index: int) -> str:
    """The words before the name of the iteration that a point copies: nothing moved, or an older output is back."""
    return "same output as" if repeats_the_point_before(points, index) else "back to the output of"


STALE: Final = "older than its instructions: these were edited after this output was made"


def interval_basis(unit: Unit, n: int, nouns: Nouns) -> str:
    """The units of an interval: ``14 fields of these documents``, ``6 paragraphs``, ``20 cases``."""
    singular, plural = {
        "documents": (nouns.document, nouns.documents),
        "fields": (nouns.attribute, f"{nouns.attributes} of these {nouns.documents}"),
        "cases": ("case", "cases"),
    }[unit]
    return f"{n:,} {singular if n == 1 else plural}"


def bad_runs(names: Sequence[str]) -> str:
    """The sentence on outputs that are left out of the noise of repeats; empty if there are none."""
    if not names:
        return ""
    listed = first_names(names, 5, lambda name: line(name, 40))
    return f"Left out as bad runs, far off the outputs made alike: {listed}."


def subject_of(commit: Commit, longest: int) -> str:
    """The first line of a commit's message, cut after ``longest`` characters."""
    return line(commit.subject, longest) or "(no subject)"


_MOST_NAMED: Final = 3
"""Number of documents of only one side, or of lost fields, that a note names; further ones are counted."""

_NOTHING: Final = 1e-9
"""Parts up to this size, in hundredths of the metric's range, are rounding errors of a sum and count as no change."""


class DisplayedChange(Frozen):
    """The change of one metric between two points of an eval."""

    amount: float | None
    """In the unit of the metric, as ``Change.of`` returns it; None if the points cannot be compared or either side is
    undefined, and the note states the reason."""
    parts: Mapping[str, float] = MappingProxyType({})
    """The parts due to "outputs", "ground truth" and "rules" that are not zero, which sum to the whole; empty if
    nothing moved or the change cannot be split."""
    note: str = ""
    """A restriction of the number, such as a comparison over fewer documents; empty without any."""

    @property
    def by_outputs(self) -> bool:
        """Whether the metric moved because of the outputs alone."""
        return [*self.parts] == ["outputs"]

    def origin(self, spec: MetricSpec) -> str:
        """The parts of a change, unless outputs alone made it, and its restrictions.

        ``outputs +0.050, ground truth −0.011; over 3 documents``.
        """
        parts = {} if self.by_outputs else self.parts
        split = [f"{name} {own_unit(amount, spec)}" for name, amount in parts.items()]
        return "; ".join(filter(None, (", ".join(split), self.note)))


def changes(specs: Sequence[MetricSpec], nouns: Nouns, before: Point, after: Point) -> tuple[DisplayedChange, ...]:
    """The change of each of ``specs``, the first metrics of the kind; empty if the two points were not compared."""
    found = after.change
    if found is None:
        return ()
    shared = "; ".join(
        filter(None, (overlap_note(found.overlap, nouns, before, after), exchange("model", found.model)))
    )
    displayed = []
    parts = {delta.name: delta.parts for delta in found.metrics}  # without the optional metrics that neither side has
    for spec in specs:
        amount, of_each = found.of(spec.name), parts.get(spec.name)
        if found.overlap.verdict == "refused":
            displayed.append(DisplayedChange(None, note=shared))
        elif amount is None and regraded(found.judge, spec.name):
            displayed.append(DisplayedChange(None, note=exchange("judge", found.judge)))
        elif amount is None:
            sides = ((before, f"is undefined at {before.snapshot.label}"), (after, "is undefined here"))
            undefined = (why for point, why in sides if point.scorecard.metric(spec.name) is None)
            why = next(undefined, "cannot be computed over what both have in common")
            displayed.append(DisplayedChange(None, note=f"{spec.label} {why}"))
        elif of_each is None:
            unsplit = "a mixture of both sides is undefined, so that it cannot be split"
            displayed.append(DisplayedChange(amount, note="; ".join(filter(None, (shared, unsplit)))))
        else:
            displayed.append(DisplayedChange(amount, split(of_each, spec), shared))
    return tuple(displayed)


def split(parts: DeltaParts, spec: MetricSpec) -> dict[str, float]:
    """The parts that are not zero, by what they are due to. A recorded metric has none: its change cannot be split."""
    if spec.recorded:
        return {}
    named = (("outputs", parts.outputs), ("ground truth", parts.ground_truth), ("rules", parts.rules))
    return {name: value for name, value in named if value and abs(spec.in_points(value)) > _NOTHING}


def documents_in_short(names: tuple[str, ...]) -> tuple[str, ...]:
    """The names of documents; of many that several answered, the number of those of each."""
    answerers = Counter(name.rpartition(BETWEEN)[2] for name in names if BETWEEN in name)
    if len(names) <= _MOST_NAMED or sum(answerers.values()) < len(names) or len(answerers) * 2 > len(names):
        return names
    return tuple(f"{number:,} of {who}" for who, number in answerers.items())


def overlap_note(overlap: Overlap, nouns: Nouns, before: Point, after: Point) -> str:
    """A clause on the documents that a change is over, and those of one side; empty if both have the same."""
    if overlap.verdict == "comparable":
        return ""
    if overlap.verdict == "refused":
        for point, where in ((before, before.snapshot.label), (after, "this output")):
            if point.scorecard.status == "no_ground_truth":
                return f"not comparable: the ground truth of {where} cannot be read"
            if not point.scorecard.documents:
                return f"not comparable: {where} has no {nouns.documents} that count"
    words = [f"over {overlap.common:,} common {nouns.noun(overlap.common)}"]
    if overlap.verdict == "refused":
        first, last = (point.scorecard.documents for point in (before, after))
        same_case = {each.case for each in first} & {each.case for each in last}
        same_name = {each.name for each in first} & {each.name for each in last}
        what = "answer of the same model and variant" if same_case and not same_name else nouns.noun(1)
        words = [f"not comparable: no {what} in common with {before.snapshot.label}"]
    for side, names in (("only before", overlap.only_before), ("only after", overlap.only_after)):
        words += [f"{side}: {first_names(documents_in_short(names), _MOST_NAMED, str)}"] * bool(names)
    return "; ".join(words)


def own_unit(change: float, spec: MetricSpec) -> str:
    """A signed change in the unit of its metric, ``+0.036``; ``0`` if it is only a rounding error."""
    return "0" if abs(change) < ROUNDING else signed(change, spec)


def signed(change: float | None, spec: MetricSpec) -> str:
    """A change in the unit of its metric, as cells and sentences say it; an em dash if it cannot be computed."""
    return markdown_cells.signed(change, spec.unit)


def grade_word(grade: str) -> str:
    """The word for a verdict on a change, or for why there is none."""
    return NO_CHANGE if grade == "same" else grade


def verdict_word(verdict: ChangeVerdict, higher_is_better: bool) -> str:
    """The word for a verdict on the change of a metric, which stands beside its number.

    It is worse in part if a field broke everywhere while the number rose. More cases may improve while it stays.
    """
    rose = (verdict.change or 0.0) * (1 if higher_is_better else -1)
    if verdict.why == "a field was lost":
        return grade_word(verdict.decision) if rose < -ROUNDING else IN_PART
    moved = {"likely better": rose, "likely worse": -rose}.get(verdict.decision, 1.0) > ROUNDING
    return grade_word(verdict.decision) if moved or verdict.change is None else f"{verdict.decision} case by case"


def by_either(other: str) -> str:
    """That a change is by an edit or by that of another commit, of which a page has the short id."""
    return f"by this edit or {other}"


def span(interval: Interval | Ends | None) -> str:
    """The ends of an interval around a value, ``0.614 to 0.889``; empty if there is none."""
    return f"{interval.low:.3f} to {interval.high:.3f}" if interval else ""


def span_of_change(interval: Ends, spec: MetricSpec) -> str:
    """The ends of the interval of a change, in the unit of the metric: ``−0.021 to +0.098``."""
    return f"{own_unit(interval.low, spec)} to {own_unit(interval.high, spec)}"


def on_these_cases(verdict: ChangeVerdict, spec: MetricSpec, nouns: Nouns) -> str:
    """The reason for the decision, after a colon: ``results[].unit broke in all 15 values; 0 fixed, 15 broken``.

    Unless a lost field decides, it has the p value that does. It contains names of fields, which each format must
    escape.
    """
    moved, (fixed, broken) = moved_words(verdict, spec, nouns), verdict.counted
    flips = verdict.fixed, verdict.broken
    if is_counted(spec.name) and verdict.p_value is not None and verdict.counted != flips != (0, 0):
        once = "all answers to a case" if verdict.unit == "cases" else "each list item"
        moved += f" ({once} counted once: {fixed:,} fixed, {broken:,} broken)"
    if verdict.p_value is not None and verdict.why != "a field was lost":
        moved += ", p < 0.001" if verdict.p_value < 0.001 else f", p {verdict.p_value:.3f}"
    doubts = doubts_of(verdict.doubts)
    doubts = doubts and f". Of the broken, {doubts}"
    match verdict.why:
        case "another judge":
            return "another judge graded it, and two do not grade alike"
        case "nothing moved":
            return f"no {nouns.attribute} became right or wrong"
        case "nothing to compare":
            return "there is nothing in common to compare"
        case "a field was lost":
            return f"{lost_words(verdict)}; {moved}{doubts}"
        case "within the noise of repeats":
            return f"{moved}, but reruns with the same instructions vary as much{doubts}"
        case "flips go the other way":
            return f"{moved}, but {spec.label} {'rose' if (verdict.change or 0) > 0 else 'fell'}{doubts}"
        case "documents flip as a whole":
            return f"{moved}, but the {nouns.value}s of a {nouns.document} flip together, as by chance{doubts}"
        case "the best was chosen":
            return f"{moved}, but one of several outputs is the best by chance, too{doubts}"
        case "flips may be chance" | "beyond chance":
            return moved + doubts


def beyond_them(verdict: ChangeVerdict, spec: MetricSpec, nouns: Nouns) -> str:
    """What the change says of further cases: ``expect the same of other documents: between -0.112 and -0.069``.

    Empty if nothing changed or nothing can be compared.
    """
    interval, change = verdict.interval, verdict.change
    if change is None or verdict.decision == "same" or verdict.why == "another judge":
        return ""
    if interval is None or verdict.unit is None:
        return f"nothing is known beyond these {nouns.value}s"
    ends = f"between {own_unit(interval.low, spec)} and {own_unit(interval.high, spec)}"
    if interval.low > -ROUNDING and interval.high < ROUNDING:
        return f"{spec.label} is what it was in each of these {interval_basis(verdict.unit, verdict.n, nouns)}"
    others = interval_basis(verdict.unit, 0, nouns).replace("0", "other", 1)
    if interval.low <= 0 <= interval.high:
        here = "more than chance here, but " * (verdict.decision in ("better", "worse"))
        return f"{here}for {others} it could be zero: {ends}"
    alike = verdict.decision.endswith("better" if (interval.low > 0) is spec.higher_is_better else "worse")
    few = ", but too few moved to be sure" * (verdict.decision == "cannot tell")
    return f"{'expect the same of' if alike else 'for'} {others}: {ends}{few}"


def verdict_words(verdict: ChangeVerdict, spec: MetricSpec, nouns: Nouns) -> str:
    """What follows the word of a verdict: the reason for it, and what holds beyond these cases."""
    further = beyond_them(verdict, spec, nouns)
    return ". ".join(filter(None, (on_these_cases(verdict, spec, nouns), further[:1].upper() + further[1:])))


def moved_by(verdict: ChangeVerdict, spec: MetricSpec) -> str:
    """What moved by how much, before the word for it: ``Accuracy −0.267, ``; empty if the word says it."""
    unsaid = verdict.change is None or grade_word(verdict.decision) == signed(verdict.change, spec)
    return "" if unsaid else f"{spec.label} {signed(verdict.change, spec)}, "


def apart_words(verdict: ChangeVerdict, *cards: Scorecard, spec: MetricSpec) -> str:
    """By how much two outputs without a common case differ, each as a sample of cases; empty if they have common ones.

    It follows the reason of the verdict. The difference of two independent numbers is twice the mean of one and the
    negative of the other. Fields are not independent: both have the same.
    """
    (first, last), (old, new) = [card.metric(spec.name) for card in cards], map(interval_of, cards)
    if verdict.why != "nothing to compare" or first is None or last is None or old is None or new is None:
        return ""
    if "fields" in (old.unit, new.unit):
        return ""
    half = around_mean([(last, new.low, new.high), (-first, -old.high, -old.low)])
    ends = span_of_change(Ends(2 * half.low, 2 * half.high), spec) if half else ""
    return f"; as samples of different cases they differ by {own_unit(last - first, spec)} ({ends})"


def doubts_of(flips: Sequence[int]) -> str:
    """How many of the values that broke flip often, and how many of their labels may be wrong; empty for none."""
    often, labels = flips
    says = [f"{often:,} {'flips' if often == 1 else 'flip'} often"] * bool(often)
    return " and ".join([*says, *[f"{counted(labels, 'label')} may be wrong"] * bool(labels)])


def smallest_change(verdict: ChangeVerdict, spec: MetricSpec) -> str:
    """From which size on a change can be told from chance here; empty unless nothing can be told of the change."""
    if verdict.decision != "cannot tell" or verdict.detectable is None:
        return ""
    above = f"only changes above about {metric_text(verdict.detectable, spec.unit)}"
    told = "hardly any change" if verdict.detectable >= spec.size else above
    return f"too few {'cases' if verdict.unit == 'cases' else 'values'}: {told} can be told from chance"


def moved_words(verdict: ChangeVerdict, spec: MetricSpec, nouns: Nouns) -> str:
    """What moved: ``3 values fixed, 5 broken``, or ``3 cases better, 5 worse``; then names of what moved in part."""
    in_part = [f"{line(name, 60)} from {before:.3g} to {after:.3g}" for name, before, after in verdict.in_part]
    named = f" (right answers: {first_names(in_part, _MOST_NAMED, str)})" if in_part else ""
    if is_counted(spec.name) and (verdict.fixed + verdict.broken > 0 or verdict.counted == (0, 0)):
        return f"{counted(verdict.fixed, nouns.value)} fixed, {verdict.broken:,} broken{named}"
    better, worse = verdict.counted if is_counted(spec.name) else (verdict.fixed, verdict.broken)
    one, several = ("case", "cases") if verdict.unit == "cases" else (nouns.document, nouns.documents)
    return f"{better:,} {one if better == 1 else several} better, {worse:,} worse{named}"


def lost_words(verdict: ChangeVerdict) -> str:
    """Which fields broke wherever they were right."""
    units = "answers" if verdict.unit == "cases" else "values"
    named = [f"{line(name, 80)} broke in all {lost:,} {units}" for name, lost in verdict.lost_fields[:_MOST_NAMED]]
    more = len(verdict.lost_fields) - _MOST_NAMED
    return ", ".join(named) + (f" and {more:,} more likewise" if more > 0 else "")
