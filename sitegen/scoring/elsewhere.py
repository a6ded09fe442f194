"""Finds omitted values at other places of an output, because the mapping is wrong or the model misplaced them.

A finding says so, and the outcome is still an omission.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import islice
from typing import Any, Final

from msgspec.structs import replace

from sitegen.model.outcomes import Judgement, Value
from sitegen.model.problems import Finding
from sitegen.scoring.paths import PathError, PathStep, parse_path, path_text

_SHORTEST: Final = 4
"""The least length of a value that is searched. Shorter values, such as ``12`` or ``yes``, occur anywhere by chance."""
_FEWEST: Final = 3  # the least number of misplaced values that suggests a wrong mapping
_NAMED: Final = 5  # number of examples in a finding
_MOST_VALUES: Final = 50_000
"""The most values of a document that are examined, which bounds the time for a hostile output."""


def with_places(
    judgements: list[Judgement], root: dict[str, Value], text: str = ""
) -> tuple[list[Judgement], list[str]]:
    """Return the judgements of a document; for an omitted value that is at another path, with a note of that path.

    A value counts if exactly one omission expects it, it occurs in the output once, and no correct value is the same.
    Returns ``A at B`` for each of these values as well: A is the expected path and B the path in the output.
    ``text``: ``ReadOutput.text``: a value that does not occur in it need not be searched.
    """
    omitted = [(_text(item.expected), item.path) for item in judgements if item.outcome == "omission"]
    sought = {value for value, _ in omitted if value}
    if text and not any("E" in value for value in sought):  # ``1E+5`` can be written in other ways
        sought = {value for value in sought if value in text}
    if sought:
        times = Counter([value for value, _ in omitted])
        # An item without a partner omits values that are at their own paths, which is detected without a walk.
        sought = {
            value
            for value, path in omitted
            if value in sought and times[value] == 1 and not _has_text_at(path, value, root)
        }
    if sought:
        sought.difference_update([_text(item.actual) for item in judgements if item.outcome == "correct"])
    places: dict[str, tuple[PathStep, ...] | None] = {}
    """None for a text that occurs twice."""
    for above, step, value in islice(_plain_values(root), _MOST_VALUES) if sought else ():
        if (found := _text(value)) in sought:
            places[found] = None if found in places else (*above, step)
    if not any(places.values()):
        return judgements, []
    with_notes: list[Judgement] = []
    pairs: list[str] = []
    for judgement in judgements:
        place = places.get(_text(judgement.expected)) if judgement.outcome == "omission" else None
        if place is not None and (path := path_text(place)) != judgement.path:
            pairs.append(f"{judgement.path[:80]} at {path[:80]}")
            if not judgement.note:
                judgement = replace(judgement, note=f"is at {path[:80]} in the output")
        with_notes.append(judgement)
    return with_notes, pairs


def elsewhere(pairs: Sequence[str], omissions: int) -> Iterator[Finding]:
    """Yield a finding about the pairs of all documents. If they are most omissions, the mapping is probably wrong."""
    if not pairs:
        return
    most = len(pairs) >= _FEWEST and 2 * len(pairs) >= omissions
    examples = ", ".join(pairs[:_NAMED]) + (", ..." if len(pairs) > _NAMED else "")
    they = "value is" if len(pairs) == 1 else "values are"
    yield Finding.of_type(
        "values_elsewhere" if most else "value_elsewhere",
        f"{len(pairs)} omitted {they} elsewhere in the output, of {omissions} omissions: {examples}",
        "If the two paths mean the same, map the one to the other in csv_to_json; else the output has it in the wrong "
        "place.",
        about="mapping",
    )


def _text(value: Value) -> str:
    """Return the text to search for; empty if the value is too short, or neither a text nor a number."""
    if type(value) is str:
        text = value.strip().casefold()
    elif type(value) is bool or not isinstance(value, int | float | Decimal):
        return ""
    else:
        text = str(value)
        if "." in text:
            text = text.rstrip("0").rstrip(".")
    return text if len(text) >= _SHORTEST else ""


def _has_text_at(path: str, text: str, root: Any) -> bool:
    value = root
    try:
        for step in parse_path(path):
            value = value[step]
    except (PathError, LookupError, TypeError):
        return False
    return _text(value) == text


def _plain_values(
    node: dict[str, Value] | list[Value], above: tuple[PathStep, ...] = ()
) -> Iterator[tuple[tuple[PathStep, ...], PathStep, Value]]:
    """Yield each value below a node that is no object or list, after the path of its holder and the step to it."""
    for step, below in node.items() if isinstance(node, dict) else enumerate(node):
        if isinstance(below, dict | list):
            yield from _plain_values(below, (*above, step))
        else:
            yield above, step, below
