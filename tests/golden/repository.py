"""Thirteen commits in which everything happens once: always the same ids, for ``tests/gitrepo.py`` fixes all dates."""

import json
from pathlib import Path
from typing import Any

from tests.gitrepo import GitRepo

RESULTS_OF_TOOLS = Path(__file__).parents[1] / "importers/fixtures"


def text(name: str) -> str:
    """A file beside this one that the project has."""
    return (Path(__file__).with_name("texts") / name).read_text(encoding="utf-8")


READER = ".claude/instructions/orders/read.md"
STYLE = "prompts/labels.md"

FIRST = text("read-orders.md")
SECOND = FIRST.replace(
    "without the currency.", "without the currency, as a number.\n- `rush`: true if the word is there."
)
THIRD = SECOND.replace("Copy the description as it stands.", "Shorten the description to its first word.")
NASTY = f"""{SECOND}
## <script>alert("instructions")</script>

[Do not](javascript:alert(1)) follow **this** &amp; `{{{{ 7 * 7 }}}}`.
"""
LABELS = "# Labels\n\nName the plant and how much water it needs.\n"

MANIFEST = text("manifest.yaml")
OTHER_KINDS = text("other-kinds.yaml")
VERSIONED = ".claude/instructions/notes/mark.md"
NOTES = "---\nversion: 1.0.0\n---\n\n# Notes\n\nMark every name.\n"

MAPPING = text("orders-mapping.yaml")
TOLERANT = MAPPING + "tolerances: {default: {percent: 1}}\n"

TRUTH = text("orders.csv")
LABEL_TRUTH = '{"id": "l1", "plant": "Fern", "water": "much"}\n{"id": "l2", "plant": "Cactus", "water": "little"}\n'


def order(name: str, number: str | None, total: Any, rush: Any, *items: tuple[str, Any]) -> dict[str, Any]:
    """One order as a model writes it."""
    listed = [{"description": description, "price": price} for description, price in items]
    return {"id": name, "number": number, "total": total, "rush": rush, "items": listed}


def orders(*documents: dict[str, Any]) -> str:
    """An output of the eval ``orders``."""
    return json.dumps({"orders": documents}, indent=1) + "\n"


def labels(*rows: tuple[str, str]) -> str:
    """An output of the eval of labels."""
    listed = [{"id": f"l{number}", "plant": plant, "water": water} for number, (plant, water) in enumerate(rows, 1)]
    return json.dumps(listed) + "\n"


TABLE, LAMP = ("Oak table", 1000.0), ("Desk lamp", 80)
SECOND_ORDER = order("o2", "A-18", 80, False, LAMP)
THIRD_ORDER = order("o3", None, 15, False, ("Screw", 7.5), ("Door <handle>", 7.5))

RUNS = {
    1: orders(order("o1", "A17", "1.200,50 EUR", None, TABLE), SECOND_ORDER),
    2: orders(order("o1", "A-17", 1200.5, True, TABLE, ("Delivery", 205)), SECOND_ORDER, THIRD_ORDER),
    3: orders(
        order("o1", "A-17", 1200.5, True, ("Oak", 1000.0), ("Delivery", 205)),
        order("o2", "A-18", 80, False, ("Desk", 80)),
        order("o3", "none", 15, False, ("Door", 7.5), ("Nail", 7.5)),
    ),
    4: orders(order("o1", "A-17", 1200.5, True, TABLE, ("Delivery", 202)), SECOND_ORDER, THIRD_ORDER),
    5: '{"orders": [{"id": "o1", "number": "A-1',
    6: orders(
        order("o1", "</script><script>alert(1)</script>", 1200.5, True, TABLE, ("Delivery", "\u202e5.002"))
        | {"number_confidence": 0.9, "total_confidence": 0.8},
        order("o2", "A-18", 80, "<b>no</b>", LAMP, ("Caf\u00e9 \u2014 \u8336", 3)),
        THIRD_ORDER | {"note <i>": "extra", "total_confidence": 0.95, "rush_confidence": 1},
    ),
}


def of_one_prompt(results: str) -> str:
    """What promptfoo wrote, of two tests of the first prompt with the first provider alone."""
    document = json.loads(results)
    found = document["results"]
    found["prompts"] = found["prompts"][:1]
    found["results"] = [row for row in found["results"] if row["promptIdx"] == 0 and row["testIdx"] < 2]
    return json.dumps(document)


def run(number: int) -> dict[str, str]:
    """The file of one iteration."""
    return {f"evals/orders/results/iteration-{number:03d}/extracted.json": RUNS[number]}


NOTE = "The <b>kiln</b> cools until Monday."
GOLD = {
    "paragraphs": [
        {"id": "p1", "text": NOTE, "highlights": {"terms": ["kiln"], "dates": ["Monday"]}},
        {"id": "p2", "text": "Nothing happens.", "highlights": {}},
    ]
}
CASES = [
    {"id": "open", "input": "Open on Mondays?", "expected": "no", "category": "hours"},
    {"id": "fee", "input": "What is the fee?", "expected": "6 <EUR>", "category": "prices"},
]


def marked(run: int, terms: list[str], dates: list[str]) -> str:
    """One run of a log."""
    highlights = {"terms": terms, "dates": dates}
    paragraph = {"id": "p1", "text": NOTE, "highlights": highlights}
    return json.dumps({"run_id": run, "chunkIndex": 0, "paragraphs": [paragraph]}) + "\n"


def answers(*outputs: str) -> str:
    """What one variant answers."""
    rows = ({"case_id": case["id"], "output": output} for case, output in zip(CASES, outputs, strict=True))
    return "".join(json.dumps(row) + "\n" for row in rows)


def opinion(case: str, missed: bool) -> str:
    """What a judge says of one case."""
    details = {"metrics": {"names <i>": {"tp": 3, "fp": int(missed), "fn": int(missed), "tn": 0}}}
    said = {"name": "reader", "score": 0.75 if missed else 1.0, "misses": ["names"] * missed, "details": details}
    answer = {
        "input": f"Who is named in </script><i>{case}</i>?",
        "expected": "Ada, Ben, Eve",
        "output": "Ada, Ben, <b>Alan</b>" if missed else "Ada, Ben, Eve",
    }
    call = {"tool": "look", "input": {"at": "</script>"}, "output": "Ada" if missed else "Ada, Eve"}
    told = [{"role": "user", "content": answer["input"]}, {"role": "assistant", "tool_calls": [call], "content": "So:"}]
    return json.dumps({"id": case, **answer, "messages": told, "evaluator_results": [said]}) + "\n"


def other_kinds(first: bool) -> dict[str, str]:
    """Outputs of the kinds that are not ``fields``; the first ones are worse."""
    log = marked(1, ["kiln", "cools"], [])
    return {
        "evals/notes/logs/processing-log.ndjson": log if first else log + marked(2, ["kiln"], ["Monday", "Sunday"]),
        "evals/faq/responses-plain.jsonl": answers("no", "6" if first else "6 <EUR>"),
        "evals/faq/responses-kind.jsonl": answers("Hello! No", "6 <EUR>"),
        "evals/checks/results.jsonl": opinion("a", missed=first) + opinion("b", missed=False),
    }


def write(folder: Path) -> GitRepo:
    """Write the repository into a new folder."""
    repo = GitRepo(folder)
    repo.commit(
        {
            READER: FIRST,
            STYLE: LABELS,
            "evals/manifest.yaml": MANIFEST,
            "schemas/field_mapping.yaml": MAPPING,
            "evals/orders/ground_truth.csv": TRUTH.replace("A-18", "A-81"),
            "evals/labels/ground_truth.jsonl": LABEL_TRUTH,
        },
        message="Say what to read",
    )
    repo.commit(
        {**run(1), "evals/labels/extracted.json": labels(("Fern", "little"))}, message="Read for the first time"
    )
    repo.commit({READER: SECOND, **run(2)}, message="Read numbers as numbers, and whether it is urgent")
    worse = repo.commit({READER: THIRD, **run(3)}, message="Shorten descriptions", author="Ben")
    repo.commit({READER: SECOND}, message=f'Revert "Shorten descriptions"\n\nThis reverts commit {worse}.\n')
    repo.commit({"evals/orders/ground_truth.csv": TRUTH, **run(4)}, message="Correct a number in the ground truth")
    repo.commit({"schemas/field_mapping.yaml": TOLERANT}, message="Accept one per cent")
    repo.commit(
        {
            STYLE: LABELS + "\nSay `much` or `little`.\n",
            "evals/labels/ground_truth.jsonl": None,
            "evals/labels/extracted.json": None,
            "evals/stickers/ground_truth.jsonl": LABEL_TRUTH,
            "evals/stickers/extracted.json": labels(("Fern", "much"), ("Cactus", "little")),
        },
        message="Call labels what they are",
        author="Ben",
    )
    repo.commit(
        {
            VERSIONED: NOTES,
            "evals/manifest.yaml": MANIFEST + OTHER_KINDS,
            "evals/notes/gold-standard.json": json.dumps(GOLD, indent=1) + "\n",
            "evals/faq/test_cases.json": json.dumps(CASES, indent=1) + "\n",
            **other_kinds(first=True),
        },
        message="Mark, answer and judge",
    )
    repo.commit(
        {VERSIONED: NOTES.replace("name.", "name and every day."), **other_kinds(first=False)},
        message="Mark days, and forget the version",
    )
    repo.commit(run(5), message="Read orders in a hurry")
    repo.commit(
        {READER: NASTY, **run(6)},
        message="Read <script>alert('orders')</script> & \x1b[31mothers\u202e\n\nA body\twith a tab and https://example.org/<b>.\n",
        author="&lt;b&gt;Eve \"'/",
        zone="+1400",
    )
    repo.commit(
        {
            "greetings/promptfooconfig.yaml": "prompts: file://prompts/plain.txt\n",
            "greetings/prompts/plain.txt": "Hello {{name}}, please answer in {{language}}.\n",
            "greetings/output.json": of_one_prompt((RESULTS_OF_TOOLS / "promptfoo-1.json").read_text("utf-8")),
        },
        message="Greet",
    )
    return repo
