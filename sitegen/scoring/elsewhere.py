"""Finds expected values that the output has at another path: a mapping that is wrong, or a value in the wrong place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from sitegen.model.outcomes import Judgement
from sitegen.model.problems import Finding
from sitegen.model.values import Value
from sitegen.scoring.paths import PathError, Step, parse_path, path_text

_SHORTEST: Final = 4
"""Characters of a value that is looked for. Shorter ones, such as ``12`` or ``yes``, stand anywhere by chance."""
_FEWEST: Final = 3
"""Values that have to stand elsewhere before their number says anything about the mapping."""
_NAMED: Final = 5
"""Examples in a finding."""
_MOST_VALUES: Final = 50_000
"""Values of a document that are looked at, which bounds the time for a hostile output."""


class NotedJudgements(NamedTuple):
    """The judgements of a document, those of values at another path with a note of it."""

    judgements: list[Judgement]
    pairs: list[str]
    """``A at B`` for each of these values, A being the expected path and B the one in the output."""


def with_places(judgements: list[Judgement], root: dict[str, Value], text: str = "") -> NotedJudgements:
    """The judgements of a document, where the output has an omitted value at another path with a note of that path.

    A value counts if exactly one omission expects it, it stands in the output once, and no value that is correct is the
    same. *text* is ``ReadOutput.text``: what does not stand in it need not be looked for.
    """
    omitted = [(_text(item.expected), item.path) for item in judgements if item.outcome == "omission"]
    times = Counter([value for value, _ in omitted])
    searched = "" if any("E" in value for value in times) else text  # ``1E+5`` can be written in other ways
    # An item without a partner omits values that stand at their very paths: that is seen without a walk.
    sought = {
        value
        for value, path in omitted
        if value and times[value] == 1 and (not searched or value in searched) and not _stands_at(path, value, root)
    }
    if sought:
        sought.difference_update([_text(item.actual) for item in judgements if item.outcome == "correct"])
    places: dict[str, tuple[Step, ...] | None] = {}
    if sought:
        _look(root, (), _MOST_VALUES, sought, places)
    if not any(places.values()):
        return NotedJudgements(judgements, [])
    with_notes: list[Judgement] = []
    pairs: list[str] = []
    for judgement in judgements:
        place = places.get(_text(judgement.expected)) if judgement.outcome == "omission" else None
        if place is not None and (path := path_text(place)) != judgement.path:
            pairs.append(f"{judgement.path[:80]} at {path[:80]}")
            if not judgement.note:
                judgement = replace(judgement, note=f"stands at {path[:80]} in the output")
        with_notes.append(judgement)
    return NotedJudgements(with_notes, pairs)


def elsewhere(pairs: Sequence[str], omissions: int) -> Iterator[Finding]:
    """One finding about the pairs of all documents. If they are most omissions, the mapping is probably wrong."""
    if not pairs:
        return
    most = len(pairs) >= _FEWEST and 2 * len(pairs) >= omissions
    examples = ", ".join(pairs[:_NAMED]) + (", ..." if len(pairs) > _NAMED else "")
    they = "value stands" if len(pairs) == 1 else "values stand"
    yield Finding.of_type(
        "values_elsewhere" if most else "value_elsewhere",
        f"{len(pairs)} omitted {they} elsewhere in the output, of {omissions} omissions: {examples}",
        "If the two paths mean the same, map the one to the other in csv_to_json; else the output has it in the wrong "
        "place.",
        about="mapping",
    )


def _text(value: Value) -> str:
    """The text to search for; empty if the value is too short, or neither a text nor a number."""
    if type(value) is str:
        text = value.strip().casefold()
    elif type(value) is bool or not isinstance(value, int | float | Decimal):
        return ""
    else:
        text = str(value)
        if "." in text:
            text = text.rstrip("0").rstrip(".")
    return text if len(text) >= _SHORTEST else ""


def _stands_at(path: str, text: str, root: Any) -> bool:
    """Whether a text stands at a path of the output."""
    value = root
    try:
        for step in parse_path(path):
            value = value[step]
    except (PathError, LookupError, TypeError):
        return False
    return _text(value) == text


def _look(
    node: dict[str, Value] | list[Value],
    above: tuple[Step, ...],
    left: int,
    sought: set[str],
    places: dict[str, tuple[Step, ...] | None],
) -> int:
    """Note where the sought texts stand among the first values below a node, None for a text that stands twice.

    *left* is how many values may be looked at. Returns how many may be afterwards.
    """
    for step, below in node.items() if isinstance(node, dict) else enumerate(node):
        if isinstance(below, dict | list):
            left = _look(below, (*above, step), left, sought, places)
        elif not left:
            break
        else:
            left -= 1
            if (text := _text(below)) in sought:
                places[text] = None if text in places else (*above, step)
    return left
