"""Finds labels that may be wrong, because many outputs contradict them with the same value.

Labels with a shared cause, such as a currency sign in every total, are separated from single labels: the reason is a
rule, the instructions or a habit of the person who wrote the labels, and not a single label.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import chain
from math import fsum
from operator import attrgetter, itemgetter
from posixpath import commonprefix
from typing import Final, NamedTuple

from sitegen.analysis.error_patterns import FEWEST, error_patterns, pattern_of
from sitegen.analysis.flips import contradicting, different_outputs
from sitegen.analysis.notes import people_on_label
from sitegen.config.models import Note
from sitegen.model.frozen import grouped
from sitegen.model.outcomes import Judgement, State
from sitegen.model.scorecards import Scorecard
from sitegen.model.series import Correction, Series, SuspectTruth
from sitegen.stats.counts import judged, share_of
from sitegen.stats.intervals import wilson
from sitegen.text.plain import visible
from sitegen.text.values import written

MOST: Final = 50  # suspects of one eval that are listed

ONE_LINE: Final = "the same line"

_SPELLING: Final = frozenset({"upper case, spaces or punctuation", "an abbreviation"})
"""The error patterns of two spellings of one value."""


class SharedCause(NamedTuple):
    """Suspect labels that have one explanation; a label that shares none with others is alone."""

    name: str
    """The error pattern, or what else the labels share; ``ONE_LINE`` need not be one cause. Empty if one is alone."""
    labels: tuple[SuspectTruth, ...]
    """The one that most outputs contradict first."""

    @property
    def least(self) -> float:
        """The least share of outputs that agree with each other on its first label."""
        return least_share(self.labels[0])

    @property
    def gain(self) -> float:
        """How much the headlines of the newest outputs would gain together if the outputs were right."""
        return fsum(label.gain for label in self.labels)

    @property
    def is_spelling(self) -> bool:
        """Whether the sides of all labels differ in spelling alone, so that the rule may be wrong as well.

        The same letters in another order are a misspelling. What stands in parentheses counts if both sides have any. A
        label that people judged is settled.
        """
        for label in self.labels:
            if label.judged:
                return False
            one, two = written(label.expected) or "", written(label.actual) or ""
            if not ("(" in one and "(" in two):
                one, two = (side.partition("(")[0].strip() for side in (one, two))
            folded = one.casefold(), two.casefold()
            misspelt = sorted(folded[0]) == sorted(folded[1]) and not any(map(str.isdigit, one))
            if not one or not (folded[0] == folded[1] or misspelt or pattern_of(one, two) in _SPELLING):
                return False
        return True

    @property
    def id(self) -> str:
        """Fragment of the address of its row, from its first label; the same in every build."""
        first = self.labels[0]
        place = "\0".join((first.eval_id, first.document, first.path))
        return hashlib.sha256(place.encode("utf-8", "replace")).hexdigest()[:10]

    @property
    def fields(self) -> list[str]:
        """The fields of its labels, in the order of its labels."""
        return list(dict.fromkeys(label.attribute for label in self.labels))

    @property
    def evals(self) -> int:
        """Number of evals with labels of it."""
        return len({label.eval_id for label in self.labels})


def suspect_truth(series: Series, notes: Sequence[Note] = ()) -> tuple[SuspectTruth, ...]:
    """Return the suspects of an eval at its newest point: those that a note calls wrong, then by agreeing outputs.

    Against a label that a note calls wrong one output is enough. Each output since the last change of the label counts
    once, by most of its answers to the case: no copy, no re-scored point. The newest has to be wrong too. Omissions do
    not count: bad prompts omit values.
    """
    points, found = series.points, []
    outputs, last = different_outputs(points), len(points) - 1
    for cells in series.cells.by_label.values():
        newest = [(cell, period) for cell in cells if (period := cell.at(last)) and period.state != "absent"]
        wrong = [] if cells[0].extra else [pair for pair in newest if pair[1].is_wrong]
        if not wrong:
            continue
        value, agreed, every, right, is_doubtful = contradicting(cells, outputs, last)
        cell, error = next((pair for pair in wrong if pair[1].actual == value), wrong[0])
        turned = Counter(period.state for _, period in newest if period.state == "correct" or period.actual == value)
        said = people_on_label(notes, cell, points, value) if notes else ""
        if is_doubtful or (agreed and said == "wrong"):
            suspect = SuspectTruth(
                document=cell.document,
                path=cell.path,
                attribute=cell.attribute,
                expected=error.expected,
                actual=value,
                agreeing=tuple(agreed),
                outputs=every,
                gain=_gain(points[-1].scorecard, turned) if error.actual == value else 0.0,
                named_path=cell.named_path,
                with_label=right,
                judged=said,
            )
            found.append(suspect)
    found.sort(key=lambda one: (one.judged != "wrong", -len(one.agreeing), one.outputs, one.document, one.path))
    return tuple(found[:MOST])


def _gain(card: Scorecard, turned: Counter[State]) -> float:
    """Return what the headline would gain if right answers were wrong, and wrong ones right; 0 if it is no ratio."""
    broken = turned.pop("correct", 0)
    net = turned.total() - broken
    if card.traits.answers_cases:  # all answers to the case would be right
        return max(0, net) / sum(judged(document.counts) > 0 for document in card.documents)
    omitted = (net - turned["hallucination"]) * (card.convention == "standard")
    errors = {state: getattr(card.counts, state) - number for state, number in turned.items()}
    old = card.counts
    counts = old._replace(tp=old.tp + net, fp=old.fp - net, fn=old.fn - omitted, **errors)
    before, after = (share_of(card.metrics[0].name, each) for each in (old, counts))
    return max(0.0, (after.value or 0.0) - (before.value or 0.0)) if before and after else 0.0


def by_cause(labels: Sequence[SuspectTruth]) -> tuple[SharedCause, ...]:
    """Group labels by a cause that at least three of them share; the others are alone, as are those that people judged.

    First come labels that people judged wrong, then what the headlines would gain most from, then what most outputs
    contradict, then spelling; labels that people judged right come last. The causes are tried in this order: an error
    pattern, the same change of the same field, the same field of one eval. Labels that are left over and stand in one
    line of a file are joined too.
    """
    judged = [SharedCause("", (label,)) for label in labels if label.judged]
    labels = sorted(_without(labels, judged), key=lambda label: -least_share(label))
    as_errors = [  # of an output that has the suspect values
        Judgement(
            document=f"{label.eval_id}\0{label.document}",
            path=label.path,
            attribute=label.attribute,
            outcome="wrong_value",
            expected=written(label.expected),
            actual=written(label.actual),
        )
        for label in labels
    ]
    change = attrgetter("attribute", "expected", "actual")
    field = attrgetter("eval_id", "attribute")
    causes = [
        SharedCause(name, tuple(labels[index] for index in indices))
        for name, indices in error_patterns(as_errors, as_errors)
    ]
    causes += [SharedCause("the same other value", alike) for alike in _alike(_without(labels, causes), change)]
    causes += [SharedCause("the same field", alike) for alike in _alike(_without(labels, causes), field)]
    lines = grouped(
        ((fix.path, fix.line) if (fix := label.correction) else (label.eval_id, label.document, label.path), label)
        for label in _without(labels, causes)
    )
    causes += [SharedCause(ONE_LINE if line[1:] else "", tuple(line)) for line in lines.values()]
    return tuple(
        sorted(
            judged + causes,
            key=lambda cause: (
                ("wrong", "", "right").index(cause.labels[0].judged),
                *(cause.is_spelling, -cause.gain, -cause.least, -len(cause.labels)),
            ),
        )
    )


def patch_of(labels: Iterable[SuspectTruth]) -> tuple[str, int]:
    """Return a patch that corrects labels, for ``git apply --unidiff-zero``, and the number of labels that it corrects.

    Left out are labels that people judged right or that have no known line, lines and paths that a page cannot show as
    they are, and a label whose change of a line overlaps with that of a label before it.
    """
    lines: dict[tuple[str, int], tuple[Correction, list[tuple[int, int, str]]]] = {}
    number = 0
    for label in labels:
        fix = None if label.judged == "right" else label.correction
        text = f"{fix.path}{fix.before}{fix.after}" if fix else "\n"
        if fix is None or "\n" in text or visible(text) != text or set(fix.path) & set('"\\\t'):
            continue
        start = len(commonprefix((fix.before, fix.after)))
        rest = min(len(fix.before), len(fix.after)) - start
        same = len(commonprefix((fix.before[::-1][:rest], fix.after[::-1][:rest])))
        stop, new = len(fix.before) - same, fix.after[start : len(fix.after) - same]
        _, changes = lines.setdefault((fix.path, fix.line), (fix, []))
        if not any(start <= last and first <= stop for first, last, _ in changes):
            changes.append((start, stop, new))
            number += 1
    parts: list[str] = []
    for (path, line), (fix, changes) in sorted(lines.items(), key=itemgetter(0)):
        after = fix.before
        for start, stop, new in sorted(changes, reverse=True):
            after = after[:start] + new + after[stop:]
        tab = "\t" if " " in path else ""  # git reads a path with spaces up to a tab
        head = f"--- a/{path}{tab}\n+++ b/{path}{tab}\n"
        end = fix.end if fix.end.endswith("\n") else f"{fix.end}\n\\ No newline at end of file\n"
        parts += [head] * (head not in parts)
        parts.append(f"@@ -{line} +{line} @@\n-{fix.before}{end}+{after}{end}")
    return "".join(parts), number


def least_share(suspect: SuspectTruth) -> float:
    """Return the lower end of Wilson's interval of the share (0..1) of outputs that give the suspect value."""
    return wilson(len(suspect.agreeing) / suspect.outputs, suspect.outputs)[0]


def _without(labels: Iterable[SuspectTruth], causes: Iterable[SharedCause]) -> list[SuspectTruth]:
    explained = set(chain.from_iterable(cause.labels for cause in causes))
    return [label for label in labels if label not in explained]


def _alike(labels: Iterable[SuspectTruth], key: Callable[[SuspectTruth], Hashable]) -> list[tuple[SuspectTruth, ...]]:
    groups = grouped((key(label), label) for label in labels)
    return [tuple(group) for group in groups.values() if len(group) >= FEWEST]
