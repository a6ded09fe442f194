"""Splits the difference between the F1 that a run recorded and the computed one into what causes it.

The same output is scored again by the rules that the record seems to follow: another counting rule, which its numbers
of errors show, and the pairing of list items and the tolerance that bring these numbers closest. What each of them
explains is its Shapley value, as for the parts of a change (``deltas``); the parts and the rest sum to the difference.
"""

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from msgspec.structs import replace

from sitegen.analysis.deltas import shapley_values
from sitegen.model.metrics import Convention, Counts
from sitegen.model.scorecards import Scorecard
from sitegen.model.timeline import Role, Snapshot
from sitegen.stats.counts import f1

CLOSE: Final = 0.0006
"""Largest difference of equal values, because records are usually rounded to three digits."""

_MOST: Final = 1e9  # number of values from which on a count of a record is not believed

RecordedCause: TypeAlias = Literal["counting", "fields", "pairing", "tolerance", "rest"] | Role
"""Why a record has another score. *fields*: it counts expected values that the files do not have, or lacks some. Roles
are those that changed since it was written."""

_NO_TOLERANCE: Final[dict[str, Any]] = {"equality": "strict"}
_WIDE_TOLERANCE: Final[dict[str, Any]] = {"tolerances": {"default": {"percent": 5, "absolute": 0}}}
"""Five hundredths of the expected number."""


class DifferencePart(NamedTuple):
    """What one cause adds to the recorded score on the way to the computed one."""

    cause: RecordedCause
    amount: float
    values: int = 0
    """How many more expected values the record counts than the files have, if that is the cause."""


def recorded_otherwise(at: Snapshot, card: Scorecard, metric: str) -> float | None:
    """Return the recorded value of a metric if the computed one differs; None if it agrees, or without both."""
    recorded, computed = at.recorded_metrics.get(metric), card.metric(metric)
    return None if recorded is None or computed is None or abs(recorded - computed) <= CLOSE else recorded


def recorded_convention(recorded: Mapping[str, float]) -> Convention | None:
    """Return how a record counts false negatives (rule 1); None if its numbers do not show it."""
    omission, fn = recorded.get("errors_by_type.omission"), recorded.get("false_negatives")
    wrong = sum(recorded.get(f"errors_by_type.{name}", 0.0) for name in ("wrong_value", "format_error"))
    if omission is None or not wrong:
        return None
    return "omissions_only" if fn == omission else "standard" if fn == omission + wrong else None


def counted_by(convention: Convention, counts: Counts) -> Counts:
    """Return the counts with the false negatives of a convention."""
    wrong = counts.wrong_value + counts.format_error
    return counts._replace(fn=counts.omission + (0 if convention == "omissions_only" else wrong))


def recorded_parts(
    first: Snapshot, at: Snapshot, scorecard_of: Callable[[Snapshot], Scorecard]
) -> tuple[DifferencePart, ...]:
    """Split computed minus recorded F1; empty if they agree, or if no cause is known.

    What the record left out when it was written is told from what ground truth and rules changed since.

    ``first``: the first snapshot of the output, beside which the record was written. ``at``: the same output, perhaps
    scored again. ``scorecard_of``: scores this output by the ground truth and the rules of either, and by other
    settings.
    """
    if recorded_otherwise(at, scorecard_of(at), "f1") is None:
        return ()
    roles = first.roles_changed_in(at)
    since = (
        shapley_values(roles, lambda taken: scorecard_of(first.with_roles_of(at, taken)).metric("f1")) if roles else {}
    )
    if since is None:
        return ()
    parts = _parts_when_written(first, scorecard_of)
    parts += tuple(DifferencePart(role, amount) for role, amount in since.items() if role != "outputs")
    return parts if any(part.cause != "rest" for part in parts) else ()


def _parts_when_written(at: Snapshot, scorecard_of: Callable[[Snapshot], Scorecard]) -> tuple[DifferencePart, ...]:
    """Split the difference between a record and the score of its output at the same commit; all is a rest at worst."""
    recorded, card = at.recorded_metrics, scorecard_of(at)
    theirs, computed = _recorded_counts(recorded), card.metric("f1")
    if computed is None:
        return ()
    unexplained = (DifferencePart("rest", computed - recorded["f1"]),)
    if theirs is None or recorded_otherwise(at, card, "f1") is None:
        return unexplained
    settings = _settings_of_record(at, theirs, scorecard_of)

    def counts_by(causes: Collection[RecordedCause]) -> Counts:
        """Return the counts by the settings of these causes."""
        changed = [settings[cause] for cause in settings if cause in causes]
        return scorecard_of(_with_settings(at, changed)).counts if changed else card.counts

    # The values that the record counts and the files do not have (or, below 0, lacks). Its errors of each type that the
    # files do not give are among them, as far as their number allows; the others are right.
    here, errors = counts_by(settings), {}
    left = _expected(theirs) - _expected(here)
    for name in ("omission", "wrong_value", "format_error"):
        besides = getattr(theirs, name) - getattr(here, name)
        errors[name] = min(max(besides, 0), left) if left > 0 else max(min(besides, 0), left)
        left -= errors[name]
    more = Counts(tp=left, fp=errors["wrong_value"] + errors["format_error"], **errors)
    convention = recorded_convention(recorded) or card.convention
    causes: list[RecordedCause] = ["counting"] if convention != card.convention else []
    causes += ["fields"] if any(more) else []
    causes += settings

    def score(as_here: tuple[RecordedCause, ...]) -> float | None:
        """F1 with these causes as here and the others as in the record."""
        as_recorded = set(causes) - set(as_here)
        if not as_recorded:
            return card.metric("f1")
        counts = counts_by(as_recorded)
        if "fields" in as_recorded:
            counts = Counts(*map(sum, zip(counts, more, strict=True)))
        return f1(counted_by(convention if "counting" in as_recorded else card.convention, counts))

    parts, everything = shapley_values(causes, score), score(())
    if not parts or everything is None:
        return unexplained
    values = _expected(more)
    found = [DifferencePart(cause, parts[cause], values if cause == "fields" else 0) for cause in causes]
    return (*found, DifferencePart("rest", everything - recorded["f1"]))


def _recorded_counts(recorded: Mapping[str, float]) -> Counts | None:
    types = ("omission", "hallucination", "wrong_value", "format_error")
    names = ("true_positives", *(f"errors_by_type.{name}" for name in types))
    if not all(0 <= recorded.get(name, -1.0) < _MOST for name in names):
        return None
    tp, *by_type = (int(recorded[name]) for name in names)
    return Counts(tp=tp, **dict(zip(types, by_type, strict=True)))


def _settings_of_record(
    at: Snapshot, theirs: Counts, scorecard_of: Callable[[Snapshot], Scorecard]
) -> dict[RecordedCause, dict[str, Any]]:
    """Return the settings that bring the numbers of errors of each type closest to the recorded ones, by cause."""
    card = scorecard_of(at)
    here, chosen = card.counts, dict[RecordedCause, dict[str, Any]]()
    lists = {
        attribute[: attribute.rindex("[]")].replace("[]", "[*]") for attribute, _ in card.fields if "[]" in attribute
    }
    by_position = {"lists": {name: {"algorithm": "position"} for name in sorted(lists)}}
    causes: tuple[RecordedCause, ...] = ("pairing", "tolerance")
    for cause in causes:
        more_wrong = theirs.wrong_value + theirs.format_error - here.wrong_value - here.format_error
        tolerance = _NO_TOLERANCE if more_wrong > 0 else _WIDE_TOLERANCE if more_wrong < 0 else None
        settings = tolerance if cause == "tolerance" else by_position if lists else None
        if settings is None or not _distance(here, theirs):
            continue
        tried = scorecard_of(_with_settings(at, (*chosen.values(), settings))).counts
        if _distance(tried, theirs) < _distance(here, theirs):
            here, chosen = tried, chosen | {cause: settings}
    return chosen


def _distance(counts: Counts, theirs: Counts) -> int:
    return sum(abs(here - there) for here, there in zip(counts[4:], theirs[4:], strict=True))


def _with_settings(at: Snapshot, changes: Iterable[dict[str, Any]]) -> Snapshot:
    """Return the snapshot with changed settings, each of which takes precedence over that of the eval."""
    settings = json.loads(at.settings)
    for change in changes:
        settings = _merged(settings, change)
    return replace(at, settings=json.dumps(settings, sort_keys=True, separators=(",", ":"), ensure_ascii=False))


def _merged(settings: dict[str, Any], change: dict[str, Any]) -> dict[str, Any]:
    return settings | {
        key: _merged(earlier, value)
        if isinstance(value, dict) and isinstance(earlier := settings.get(key), dict)
        else value
        for key, value in change.items()
    }


def _expected(counts: Counts) -> int:
    return counts.tp + counts.omission + counts.wrong_value + counts.format_error
