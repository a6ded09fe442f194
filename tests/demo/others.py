"""The demo's evals of other kinds than fields: what is expected, and what the stand-in for a model makes of it.

The stand-in is that of ``reading``: it succeeds at a thing if its skill exceeds the thing's own difficulty.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from tests.demo.dice import hashed
from tests.demo.files import as_json

BUCKETS: Final = 6
"""Length of the stand-in's embeddings."""


class Paragraph(NamedTuple):
    """A paragraph of the handbook, and what the gold standard marks in it."""

    id: str
    text: str
    terms: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    tempting: tuple[str, ...] = ()
    """What looks like a term and is none."""


class Question(NamedTuple):
    """A test case of the help desk."""

    id: str
    category: str
    input: str
    expected: str
    mistaken: str
    """What a poor answer says."""


HANDBOOK: Final = (
    Paragraph(
        id="p-1",
        text="Bisque is clay that was fired once. It is porous, so that glaze holds on to it.",
        terms=("Bisque", "porous", "glaze"),
        concepts=("Bisque is clay that was fired once.",),
        tempting=("clay",),
    ),
    Paragraph(
        id="p-2",
        text="A witness cone bends when the kiln has done its work. The pyrometer only knows the heat of the air.",
        terms=("witness cone", "pyrometer"),
        concepts=("A witness cone bends when the kiln has done its work.",),
        tempting=("work", "air"),
    ),
    Paragraph(
        id="p-3",
        text="Wedging drives air out of the clay. Air that stays can lift a plate off its shelf.",
        terms=("Wedging",),
        concepts=("Wedging drives air out of the clay.",),
        tempting=("plate", "shelf"),
    ),
    Paragraph(
        id="p-4",
        text="Crawling means that glaze draws back from dust or grease. Wipe bisque with a wet sponge first.",
        terms=("Crawling", "glaze", "bisque"),
        concepts=("Crawling means that glaze draws back from dust or grease.",),
        tempting=("sponge",),
    ),
    Paragraph(
        id="p-5",
        text="Sweep with water, never with a dry brush. The last one to leave turns off the lights.",
        terms=(),
        concepts=(),
        tempting=(),
    ),
)
DESK: Final = (
    Question(
        id="open-1", category="hours", input="When do you open on Mondays?", expected="at ten", mistaken="on Mondays"
    ),
    Question(id="open-2", category="hours", input="Can I come on a Sunday?", expected="no", mistaken="yes, at ten"),
    Question(
        id="price-1",
        category="prices",
        input="What does a bag of grey clay cost?",
        expected="14.50 EUR",
        mistaken="14.50",
    ),
    Question(
        id="price-2", category="prices", input="What does one firing cost?", expected="6.00 EUR", mistaken="depends"
    ),
    Question(id="price-3", category="prices", input="How much is a course?", expected="90.00 EUR", mistaken="9.00 EUR"),
    Question(
        id="firing-1", category="firing", input="How hot is a bisque firing?", expected="1,000 degrees", mistaken="hot"
    ),
    Question(
        id="firing-2",
        category="firing",
        input="How long does a glaze firing take?",
        expected="two days",
        mistaken="12 hours",
    ),
    Question(
        id="firing-3",
        category="firing",
        input="May I open the kiln when it is red?",
        expected="no",
        mistaken="yes, with care",
    ),
)
LETTERS: Final = {
    f"letter-{number}": ("sender", "date", "subject", "amount", "deadline")
    for number in ("one", "two", "three", "four")
}
"""Letters by id, each with the attributes that a judge looks at."""


def gold(paragraphs: Iterable[Paragraph]) -> bytes:
    """``gold-standard.json`` of these paragraphs."""
    rows = [{"id": each.id, "text": each.text, "highlights": _expected(each)} for each in paragraphs]
    return as_json({"paragraphs": rows})


def log(run: int, skill: int, restraint: int) -> bytes:
    """The lines that one run adds to ``processing-log.ndjson``; *restraint* keeps tempting words unmarked."""
    rows = []
    for index, each in enumerate(HANDBOOK):
        marked = {
            name: [text for text in texts if _succeeds(skill, each.id, text)] for name, texts in _expected(each).items()
        }
        marked["terms"] += [text for text in each.tempting if not _succeeds(restraint, each.id, text)]
        paragraph = {"id": each.id, "highlights": marked}
        rows.append({"run_id": run, "chunkIndex": index, "paragraphs": [paragraph]})
    return _lines(rows)


def _expected(paragraph: Paragraph) -> dict[str, list[str]]:
    return {"terms": list(paragraph.terms), "concepts": list(paragraph.concepts)}


def test_cases() -> bytes:
    """``test_cases.json`` of the help desk."""
    rows = [{"id": each.id, "input": each.input, "expected": each.expected, "category": each.category} for each in DESK]
    return as_json({"test_cases": rows})


def responses(variant: str, skill: int, greeting: str = "") -> bytes:
    """``responses-<variant>.jsonl``: an answer to every question, with a grade and an embedding."""
    rows = []
    for each in DESK:
        right = _succeeds(skill, variant, each.id)
        output = greeting + (each.expected if right else each.mistaken)
        grade = (4 if greeting else 5) if right else 2
        rows.append({"case_id": each.id, "output": output, "quality": grade, "embedding": _embedding(output)})
    return _lines(rows)


def _embedding(text: str) -> list[int]:
    """How many of the words, and of their first letters, fall into each bucket; never all zero."""
    words = text.lower().split()
    parts = [*words, *(word[0] for word in words)]
    return [1 + sum(hashed(part) % BUCKETS == bucket for part in parts) for bucket in range(BUCKETS)]


def judged(skills: Mapping[str, int]) -> bytes:
    """``results.jsonl`` as a judge writes it, from the skill at each attribute."""
    rows = []
    for name, attributes in LETTERS.items():
        right = {each: _succeeds(skills[each], name, each) for each in attributes}
        hits, misses = ([each for each, good in right.items() if good is wanted] for wanted in (True, False))
        metrics = {
            each: {"tp": int(good), "fp": int(not good), "fn": int(not good), "tn": 0} for each, good in right.items()
        }
        score = len(hits) / len(attributes)
        reasoning = f"{len(hits)} of {len(attributes)} values are those of the letter."
        judge = {"name": "letter-fields", "score": score, "details": {"metrics": metrics}}
        rows.append(
            {
                "id": name,
                "score": score,
                "hits": hits,
                "misses": misses,
                "reasoning": reasoning,
                "evaluator_results": [judge],
            }
        )
    return _lines(rows)


def _succeeds(skill: int, *thing: str) -> bool:
    return hashed(*thing) % 1000 < skill


def _lines(rows: Iterable[object]) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
