"""The words of pages for causes, statuses, fates and reasons of the model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sitegen.analysis.deltas import Role
from sitegen.analysis.series import repeats_the_point_before
from sitegen.model.cells import Fate
from sitegen.model.changes import Overlap, StepStatus, Unit
from sitegen.model.commits import Commit
from sitegen.model.metrics import Nouns
from sitegen.model.outcomes import ErrorType
from sitegen.model.scorecards import Status
from sitegen.model.series import Point, VariantSpread
from sitegen.model.timeline import Cause, EditStatus
from sitegen.model.usage import Exchange
from sitegen.text.plain import line

ERROR_LABELS: Final[dict[ErrorType, str]] = {
    "omission": "Omission",
    "hallucination": "Hallucination",
    "wrong_value": "Wrong value",
    "format_error": "Format error",
}
CAUSES: Final[dict[Cause, str]] = {
    "outputs": "new output",
    "ground_truth": "ground truth changed",
    "mapping": "field mapping changed",
    "schema": "schema changed",
    "settings": "settings changed",
}
STATUSES: Final[dict[Status, str]] = {
    "scored": "scored",
    "unreadable": "unreadable",
    "no_ground_truth": "ground truth unreadable",
}
STATES: Final[dict[StepStatus, str]] = {
    "fell": "new",
    "open": "open",
    "behind": "behind its best",
    "new": "too new to tell",
    "fixed": "fixed",
    "better": "better",
    "blip": "recovered",
}
"""What became of a step."""

EDITS: Final[dict[EditStatus, str]] = {
    "added": "added",
    "modified": "modified",
    "deleted": "deleted",
    "renamed": "renamed",
}
ROLES: Final[dict[Role, str]] = {
    "outputs": "new output",
    "ground_truth": "ground truth",
    "rules": "rules",
}
"""The causes of a change; the rules are mapping, schema and settings."""

FATES: Final[dict[Fate, str]] = {
    "fixed": "fixed",
    "broken": "broken",
    "still_wrong": "still wrong",
    "appeared": "appeared",
    "vanished": "vanished",
}


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


SAME_OUTPUT: Final = "Both are the same output: only ground truth and rules can make a difference."


def in_both(overlap: Overlap, nouns: Nouns) -> str:
    """A sentence on the documents that two points have in common; empty if both have the same ones."""
    if not overlap.only_before and not overlap.only_after:
        return ""
    common = f"{overlap.common:,} {overlap.noun(nouns, overlap.common)}"
    verb = "is" if overlap.common == 1 else "are"
    sides = f"{len(overlap.only_before):,} only before, {len(overlap.only_after):,} only after"
    return f"{common} {verb} in both; {sides}."


def iterations_and_outputs(iterations: int, different: int) -> str:
    """The number of iterations, and of different outputs if some are copies: ``23 iterations, 14 outputs``."""
    count = f"{iterations:,} {'iteration' if iterations == 1 else 'iterations'}"
    return count if iterations == different else f"{count}, {outputs(different)}"


def outputs(number: int) -> str:
    """A number of outputs: ``14 outputs``."""
    return f"{number:,} {'output' if number == 1 else 'outputs'}"


def same_output(label: str | None) -> str:
    """A remark that an output is a copy of the iteration with this label; empty for None."""
    return "" if label is None else f"same output as {line(label, 40)}"


def how_copied(points: Sequence[Point], index: int) -> str:
    """The words before the name of the iteration that a point copies: nothing moved, or an older output is back."""
    return "same output as" if repeats_the_point_before(points, index) else "back to the output of"


STALE: Final = "stale: instructions were edited after this output was made, and it was not made again"


def interval_basis(unit: Unit, n: int, nouns: Nouns) -> str:
    """The units of an interval: ``14 fields of these documents``, ``6 paragraphs``, ``20 cases``."""
    singular, plural = {
        "documents": (nouns.document, nouns.documents),
        "fields": (nouns.attribute, f"{nouns.attributes} of these {nouns.documents}"),
        "cases": ("case", "cases"),
        "runs": ("run", "runs"),
    }[unit]
    return f"{n:,} {singular if n == 1 else plural}"


def bad_runs(names: Sequence[str]) -> str:
    """The sentence on outputs that are left out of the noise of repeats; empty if there are none."""
    if not names:
        return ""
    listed = ", ".join(line(name, 40) for name in names[:5])
    more = f" and {len(names) - 5:,} more" if len(names) > 5 else ""
    return f"Left out as bad runs, far off the outputs made alike: {listed}{more}."


def spread_words(spread: VariantSpread) -> str:
    """The range of variants that the headline averages: the worst and the best, by their names in the project."""
    average = f"average of {spread.variants} variants"
    if spread.worst == spread.best:
        return f"{average}: all {spread.best:.3f}"
    worst, best = line(spread.worst_name, 60), line(spread.best_name, 60)
    return f"{average}: {spread.worst:.3f} ({worst}) to {spread.best:.3f} ({best})"


def subject_of(commit: Commit, longest: int) -> str:
    """The first line of a commit's message, cut after ``longest`` characters."""
    return line(commit.subject, longest) or "(no subject)"
