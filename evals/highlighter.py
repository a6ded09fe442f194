"""A rule follower that marks texts: reads the rules of an instruction file and applies them to paragraphs of talks.

    python evals/highlighter.py    # adds a run to plant-talks/logs/processing-log.ndjson

No language model is involved. A rule is one bullet of the instructions, ``- `category`: clause; clause``; ``README.md``
beside this file lists the clauses. What a rule does not say is not marked.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from extractor import EVALS, INSTRUCTIONS, Clause, Rule, read_rules

TALKS = EVALS / "plant-talks"
LOG = TALKS / "logs" / "processing-log.ndjson"
CHUNK = 3
"""Paragraphs that are read together and make one line of the log."""


def mark(rule: Rule, text: str) -> list[str]:
    """The texts of one paragraph that a rule marks, each once, in their order."""
    found: dict[str, None] = {}
    for clause in rule.clauses:
        if clause.verb == "but not":
            found = {each: None for each in found if each.casefold() not in clause.arguments}
        elif clause.verb == "without":
            found = {_without(each, clause.arguments): None for each in found}
        else:
            found |= dict.fromkeys(filter(None, map(str.strip, _search(clause, text))))
    return sorted(found, key=text.find)


def _search(clause: Clause, text: str) -> Iterator[str]:
    """What one clause finds."""
    words = "|".join(map(re.escape, clause.arguments))
    if clause.verb == "the words":
        yield from (match[0] for match in re.finditer(rf"\b(?:{words})\b", text, re.IGNORECASE))
    elif clause.verb == "words that end in":
        yield from (match[0] for match in re.finditer(rf"\b\w+(?:{words})\b", text))
    elif clause.verb == "sentences with":
        sentences = re.split(r"(?<=[.!?])\s+", text)
        yield from (each for each in sentences if re.search(rf"\b(?:{words})\b", each, re.IGNORECASE))
    elif clause.verb == "what follows":
        yield from (match[1] for match in re.finditer(rf"\b(?:{words})\s+([^,.;:!?]+)", text, re.IGNORECASE))
    elif clause.verb == "between":
        start, end = map(re.escape, clause.arguments)
        yield from (match[1] for match in re.finditer(f"{start}(.+?){end}", text))
    else:
        raise SystemExit(f"no such clause: {clause.verb!r}; evals/README.md lists them")


def _without(text: str, beginnings: tuple[str, ...]) -> str:
    """The text without the first of these words that it begins with."""
    beginning = next((each for each in beginnings if text.casefold().startswith(f"{each} ")), "")
    return text[len(beginning) :].strip()


def paragraphs() -> list[tuple[str, str]]:
    """(id, text) of every paragraph of every talk: ``moss-2`` is the second of ``moss.txt``."""
    return [
        (f"{talk.stem}-{number}", " ".join(paragraph.split()))
        for talk in sorted((TALKS / "talks").glob("*.txt"))
        for number, paragraph in enumerate(re.split(r"\n\s*\n", talk.read_text(encoding="utf-8").strip()), 1)
    ]


def run(number: int) -> list[dict[str, object]]:
    """The lines of one run of the log: what the instructions mark now, a chunk a line."""
    files = sorted((INSTRUCTIONS / "talk-marker").glob("*.md"))
    rules = [rule for file in files for rule in read_rules(file.read_text(encoding="utf-8"))]
    rows = [
        {"id": name, "text": text, "highlights": {rule.field: mark(rule, text) for rule in rules}}
        for name, text in paragraphs()
    ]
    starts = range(0, len(rows), CHUNK)
    return [
        {"run_id": f"run-{number:03}", "chunkIndex": index, "paragraphs": rows[start : start + CHUNK]}
        for index, start in enumerate(starts)
    ]


def runs_done() -> int:
    """Runs that the log holds already."""
    lines = LOG.read_text(encoding="utf-8").splitlines() if LOG.exists() else []
    return len({json.loads(line)["run_id"] for line in lines})


def main() -> None:
    """Add a run to the log."""
    LOG.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(line, ensure_ascii=False) + "\n" for line in run(runs_done() + 1)]
    with LOG.open("a", encoding="utf-8") as log:
        log.writelines(lines)
    print(f"added a run to {LOG.relative_to(EVALS.parent)}")


if __name__ == "__main__":
    main()
