"""The demo's instruction files: written from a stock of sentences, edited by the story."""

from __future__ import annotations

from typing import Final, NamedTuple

from tests.demo.dice import Dice

Sections = dict[str, list[str]]
"""Lines of a file by heading, in order; the first heading is the title."""


class Topic(NamedTuple):
    """What an instruction file is about."""

    title: str
    thing: str
    """What is read, in the singular: ``lab report``."""
    words: tuple[tuple[str, str], ...]
    """Field paths, each with the word that stands beside the value on paper."""
    places: tuple[str, ...]
    """Where things stand on it."""
    length: int
    """Sections beyond the first."""


OPENINGS: Final = (
    "You read one {thing} at a time and write down what stands on it.",
    "This file says how a {thing} is read. It is used together with the files on dates, amounts and blanks.",
    "A {thing} is written by people for people: nothing stands in the same place twice.",
    "Answer with values that stand on the {thing}, never with values that would make sense.",
    "Whoever checks the answer has the {thing} in front of them and nothing else.",
)

HEADINGS: Final = (
    "Before you begin",
    "What stands where",
    "How to write it",
    "When nothing is there",
    "Mistakes seen so far",
    "Words to look for",
    "When two values compete",
    "Last check",
    "An example",
)

STOCK: Final[dict[str, tuple[str, ...]]] = {
    "Before you begin": (
        "Look through all pages once before you write anything.",
        "Turn the {thing} so that {place} is on top; stamps are often upside down.",
        "Copies are paler than originals. If both are there, read the original.",
        "Handwriting beside print wins over the print, because it was added later.",
        "Say nothing about the quality of the scan; only the values are kept.",
        "A page that repeats another is read once.",
    ),
    "What stands where": (
        "`{field}` stands in {place}, behind the words *{label}*.",
        "In older forms `{field}` moved to {place}.",
        "Take `{field}` from {place} even if it is repeated elsewhere.",
        "If *{label}* is printed without a value, look in {place} for `{field}`.",
        "The line of *{label}* is easy to miss: it is set smaller than the rest.",
        "Never take `{field}` from the letterhead.",
    ),
    "How to write it": (
        "Write `{field}` as it stands, with its spaces and its leading zeros.",
        "Drop the unit behind `{field}` if a field of its own holds it.",
        "`{field}` has no full stop at its end.",
        "Keep capital letters of `{field}` as printed.",
        "Numbers are numbers in the answer, without quotation marks.",
        "Do not shorten `{field}`, and add nothing to it.",
    ),
    "When nothing is there": (
        "Leave `{field}` out if {place} is empty.",
        "A dash beside *{label}* means that there is no value. Leave the field out.",
        "Never write *unknown*, *none* or a question mark.",
        "If {place} is torn off, everything in it is left out.",
        "A struck-out `{field}` counts as empty unless another value is written beside it.",
    ),
    "Mistakes seen so far": (
        "`{field}` was taken from the line above *{label}*.",
        "The value of *{label}* was copied into `{field}` of the next {thing}.",
        "A stamp over {place} was read as part of `{field}`.",
        "The two halves of `{field}` were joined across a page break without a space.",
        "A note in the margin was taken for `{field}`.",
        "An example from these instructions turned up in an answer. Examples are invented.",
    ),
    "Words to look for": (
        "*{label}* leads to `{field}`.",
        "*{label}* is sometimes shortened to its first letters.",
        "*{label}* may stand in capitals, with a colon or without.",
        "A word that is close to *{label}*, but not the same, leads nowhere.",
    ),
    "When two values compete": (
        "The later page wins over the earlier one for `{field}`.",
        "What is in {place} wins over what is in running text.",
        "If both values of `{field}` look right, take the one nearer to *{label}*.",
        "A corrected value wins even if the correction is hard to read.",
    ),
    "Last check": (
        "Is every value of the answer on the {thing}?",
        "Does `{field}` stand in the answer once?",
        "Hold `{field}` against {place} a second time.",
        "Count the lines of the table and the items of the answer: they must be as many.",
        "Read the answer without the {thing}: a field that makes you wonder is read again.",
    ),
}


def write(topic: Topic, dice: Dice) -> Sections:
    """A whole new file on a topic, different for each."""
    openings = dict.fromkeys(_filled(OPENINGS, topic, dice, 4))
    sections: Sections = {topic.title: ["", *openings, ""]}
    for heading in dice.draw(HEADINGS, topic.length):
        if heading == "An example":
            sections[heading] = _example(topic, dice)
        else:
            rules = [f"- {line}" for line in _filled(STOCK[heading], topic, dice, dice.between(5, 14))]
            sections[heading] = ["", *dict.fromkeys(rules), ""]
    return sections


def _filled(stock: tuple[str, ...], topic: Topic, dice: Dice, count: int) -> list[str]:
    lines = []
    for _ in range(count):
        field, label = dice.pick(topic.words)
        lines.append(
            dice.pick(stock).format(thing=topic.thing, field=field, label=label, place=dice.pick(topic.places))
        )
    return lines


def _example(topic: Topic, dice: Dice) -> list[str]:
    """A table of words and fields, and an answer in JSON."""
    rows = [f"| {label} | `{field}` | {dice.pick(topic.places)} |" for field, label in topic.words]
    answer = [f'  "{field.rpartition(".")[2]}": "..."' for field, _ in topic.words[:3]]
    table = ["| on paper | field | where |", "|---|---|---|", *rows]
    return ["", *table, "", "```json", "{", *(line + "," for line in answer[:-1]), answer[-1], "}", "```", ""]


def text(sections: Sections) -> bytes:
    """The file: its title, then the sections."""
    lines: list[str] = []
    for index, (heading, body) in enumerate(sections.items()):
        lines += [f"{'##' if index else '#'} {heading}", *body]
    return ("\n".join(lines).rstrip() + "\n").encode()


def with_rule(sections: Sections, heading: str, rule: str) -> Sections:
    """The same with one more rule, at the end of a section that is made if it is missing."""
    body = sections.get(heading, ["", ""])
    return {**sections, heading: [*body[:-1], f"- {rule}", ""]}


def without_rule(sections: Sections, heading: str, words: str) -> Sections:
    """The same without the rules of a section that hold these words."""
    kept = [line for line in sections[heading] if words not in line]
    return {**sections, heading: kept}
