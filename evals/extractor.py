"""A rule follower: reads the rules of an instruction file and applies them to plain-text documents.

    python evals/extractor.py delivery-notes     # writes the next results/iteration-NNN/extracted.json
    python evals/extractor.py plant-labels       # overwrites extracted.json

No language model is involved. A rule is one bullet of the instructions, ``- `field`: clause; clause``; ``README.md``
beside this file lists the clauses. What a rule does not say is not done, so an edit of the instructions changes
the output.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeAlias

EVALS = Path(__file__).resolve().parent
INSTRUCTIONS = EVALS.parent / ".claude" / "instructions"
JOBS = {
    "delivery-notes": ("delivery-note-reader", "results/iteration-{:03}/extracted.json"),
    "plant-labels": ("plant-label-reader", "extracted.json"),
}

Found: TypeAlias = object
"""Whatever JSON can hold; None if nothing was found."""


class Clause(NamedTuple):
    """One part of a rule: its words, and what stands between backticks, in order."""

    verb: str
    arguments: tuple[str, ...]


class Rule(NamedTuple):
    """How one field is read: where it stands, then how it is written."""

    field: str
    clauses: tuple[Clause, ...]


BULLET = re.compile(r"^- `(?P<field>[\w.\[\]]+)`: (?P<clauses>.+)$")
QUOTED = re.compile(r"`([^`]*)`")


def read_rules(text: str) -> list[Rule]:
    """Take the rules from the text of an instruction file; everything that is no rule is prose for people."""
    rules = []
    for bullet in filter(None, map(BULLET.match, text.splitlines())):
        parts = bullet["clauses"].rstrip(".").split("; ")
        clauses = tuple(Clause(part.split("`")[0].strip(" ,"), tuple(QUOTED.findall(part))) for part in parts)
        rules.append(Rule(bullet["field"], clauses))
    return rules


# Where a value stands. Each of these takes the lines of a document and yields a text, or None.


def after(lines: list[str], labels: tuple[str, ...]) -> str | None:
    """The rest of the first line that holds one of the labels; labels are tried in their order."""
    for label in labels:
        for line in lines:
            start = line.casefold().find(label.casefold())
            if start >= 0:
                return line[start + len(label) :].strip(" :,")
    return None


def line_number(lines: list[str], arguments: tuple[str, ...]) -> str | None:
    """The n-th line that is not blank, from 1; from the end if negative."""
    filled = [line.strip() for line in lines if line.strip()]
    position = int(arguments[0])
    index = position - 1 if position > 0 else len(filled) + position
    return filled[index] if 0 <= index < len(filled) else None


def line_like(lines: list[str], patterns: tuple[str, ...]) -> str | None:
    """The ``{value}`` of the first line that looks like one of the patterns."""
    rows = lines_like(lines, patterns)
    return rows[0]["value"] if rows else None


def lines_like(lines: list[str], patterns: tuple[str, ...]) -> list[dict[str, str]]:
    """The named places of every line that looks like one of the patterns."""
    expressions = [re.compile(_expression(pattern)) for pattern in patterns]
    found = (next(filter(None, (known.match(line.strip()) for known in expressions)), None) for line in lines)
    return [match.groupdict() for match in found if match]


def _expression(pattern: str) -> str:
    """Turn ``{quantity} x {description} @ {price}`` into a regular expression for a whole line."""
    pieces = re.split(r"\{(\w+)(#?)\}", pattern)
    expression = ""
    for index in range(0, len(pieces) - 1, 3):
        literal, name, digits = pieces[index : index + 3]
        expression += re.escape(literal).replace(r"\ ", r"\s+") + f"(?P<{name}>{'[0-9.,]+' if digits else '.+?'})"
    return expression + re.escape(pieces[-1]).replace(r"\ ", r"\s+") + "$"


# How a value is written. Each of these takes the text, and gives it back as it is if it does not understand it.

MONTHS = (
    ("january", "januar", "janvier"),
    ("february", "februar", "février"),
    ("march", "märz", "mars"),
    ("april", "april", "avril"),
    ("may", "mai", "mai"),
    ("june", "juni", "juin"),
    ("july", "juli", "juillet"),
    ("august", "august", "août"),
    ("september", "september", "septembre"),
    ("october", "oktober", "octobre"),
    ("november", "november", "novembre"),
    ("december", "dezember", "décembre"),
)
DATE_PARTS = {
    "YYYY": r"(?P<y>\d{4})",
    "MM": r"(?P<m>\d{2})",
    "MONTH": r"(?P<m>\w+)",
    "DD": r"(?P<d>\d{2})",
    "D": r"(?P<d>\d\d?)",
}


def month(text: str) -> str:
    """Two digits of a month's English, German or French name; digits stay."""
    number = next((n for n, names in enumerate(MONTHS, 1) if text.casefold() in names), None)
    return text if number is None else f"{number:02}"


def date(text: str, formats: tuple[str, ...]) -> str:
    """A date as YYYY-MM-DD, if it is written in one of the formats; the first that fits wins."""
    for wanted in formats:
        parts = re.split("(YYYY|MONTH|MM|DD|D)", wanted)
        found = re.fullmatch("".join(DATE_PARTS.get(part, re.escape(part)) for part in parts), text)
        if found:
            return f"{found['y']}-{month(found['m'])}-{int(found['d']):02}"
    return text


def number(text: str, marks: tuple[str, ...]) -> float | int | str:
    """The first number in the text. ``last`` as decimal mark: whichever of comma and point comes last."""
    digits = re.search(r"-?\d[\d.,]*", text)
    if not digits:
        return text
    written = digits[0].rstrip(".,")
    mark = marks[0] if marks else "."
    if mark == "last":
        mark = max(",", ".", key=written.rfind)
    plain = written.replace("." if mark == "," else ",", "").replace(mark, ".")
    try:
        return int(plain) if plain.lstrip("-").isdigit() else float(plain)
    except ValueError:
        return text


UNITS = {"m": 100.0, "ft": 30.48, "in": 2.54, "cm": 1.0}


def centimetres(text: str, known: tuple[str, ...]) -> float | int | str:
    """A length in centimetres; only units that the rule names are converted, the number is kept of others."""
    found = re.match(r"(\d+(?:[.,]\d+)?)\s*([a-z]+)", text)
    if not found:
        return text
    factor = UNITS.get(found[2], 1.0) if found[2] in known else 1.0
    return round(float(found[1].replace(",", ".")) * factor, 1)


def convert(value: str, clause: Clause) -> Found:
    """Apply one clause of writing to a text."""
    arguments = clause.arguments
    writers: dict[str, Callable[[], Found]] = {
        "as date": lambda: date(value, arguments),
        "as number": lambda: number(value, arguments),
        "as centimetres": lambda: centimetres(value, arguments),
        "as list, split at": lambda: [part.strip() for part in value.split(arguments[0])],
        "as month": lambda: month(value),
        "up to": lambda: re.split("|".join(map(re.escape, arguments)), value)[0].strip(),
        "from": lambda: value.split(arguments[0], 1)[1].strip() if arguments[0] in value else None,
        "last word": lambda: value.split()[-1] if value.split() else value,
        "true if": lambda: any(word in value.casefold() for word in arguments),
        "say": lambda: next((said for word, said in map(_pair, arguments) if word == value.casefold()), value),
    }
    if clause.verb not in writers:
        raise SystemExit(f"no such clause: {clause.verb!r}; evals/README.md lists them")
    return writers[clause.verb]()


def _pair(argument: str) -> tuple[str, str]:
    word, _, said = argument.partition(" = ")
    return word, said


def apply(rule: Rule, text: str) -> Found:
    """Read one field of one document."""
    lines = text.splitlines()
    value: Found = None
    for clause in rule.clauses:
        if clause.verb == "after":
            value = after(lines, clause.arguments)
        elif clause.verb == "line":
            value = line_number(lines, clause.arguments)
        elif clause.verb == "a line like":
            value = line_like(lines, clause.arguments)
        elif clause.verb == "the line":
            value = next((line for line in lines if line.strip().casefold() in clause.arguments), None)
        elif clause.verb == "anywhere, true if":
            value = any(word in text.casefold() for word in clause.arguments)
        elif clause.verb == "if nothing is found":
            value = clause.arguments[0] if value is None else value
        elif clause.verb == "lines like":
            value = lines_like(lines, clause.arguments)
        elif isinstance(value, list):
            value = [_cells(row, clause) for row in value]
        elif isinstance(value, str):
            value = convert(value, clause)
    return value


def _cells(row: dict[str, object], clause: Clause) -> dict[str, object]:
    """Clauses of a rule for line items name the column first: ``quantity as number``."""
    column, _, verb = clause.verb.partition(" ")
    cell = row.get(column)
    return {**row, column: convert(cell, Clause(verb, clause.arguments))} if isinstance(cell, str) else row


def put(document: dict[str, object], path: str, value: Found) -> None:
    """Store a value at ``a.b``; what was not found is left out."""
    if value is None:
        return
    *folders, name = path.split(".")
    for folder in folders:
        document = document.setdefault(folder, {})  # type: ignore[assignment]
    document[name] = value


def extract(eval_id: str) -> dict[str, object]:
    """Read every document of an eval by the rules that stand in its instructions now."""
    reader = INSTRUCTIONS / JOBS[eval_id][0]
    rules = [rule for file in sorted(reader.glob("*.md")) for rule in read_rules(file.read_text(encoding="utf-8"))]
    documents = []
    for source in sorted((EVALS / eval_id / "documents").glob("*.txt")):
        document: dict[str, object] = {"id": source.stem}
        for rule in rules:
            put(document, rule.field, apply(rule, source.read_text(encoding="utf-8")))
        documents.append(document)
    return {"documents": documents}


def main(eval_id: str) -> None:
    """Write the output of one eval where its layout wants it."""
    pattern = JOBS[eval_id][1]
    done = len(list((EVALS / eval_id / "results").glob("iteration-*")))
    target = EVALS / eval_id / pattern.format(done + 1)
    target.parent.mkdir(parents=True, exist_ok=True)
    content = json.dumps(extract(eval_id), indent=2, ensure_ascii=False)
    target.write_text(content + "\n", encoding="utf-8")
    print(f"wrote {target.relative_to(EVALS.parent)}")


if __name__ == "__main__":
    main(sys.argv[1])
