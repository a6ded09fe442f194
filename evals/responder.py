"""A rule follower that answers: reads the rules of a prompt and applies them to the questions of test cases.

    python evals/responder.py    # overwrites shop-questions/responses-<variant>.jsonl, one for each prompt

No language model is involved. A rule is one bullet of a prompt; ``README.md`` beside this file lists the kinds of rule.
What a prompt does not say is not answered.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from extractor import EVALS

SHOP = EVALS / "shop-questions"
PROMPTS = EVALS.parent / ".claude" / "instructions" / "shop-questions"
BULLET = re.compile(r"^- (?P<verb>[a-z ]+?)(?P<words>(?:,? ?`[^`]*`)*): (?P<rest>.+)$")
QUOTED = re.compile(r"`([^`]*)`")


class Rule(NamedTuple):
    """One bullet: what it is for, the words it waits for, and what it says."""

    verb: str
    words: tuple[str, ...]
    said: str


class Plant(NamedTuple):
    """One row of the price list."""

    plant: str
    price: str
    light: str
    water: str


def read_rules(text: str) -> list[Rule]:
    """Take the rules from a prompt; everything that is no rule is prose for people."""
    rules = []
    for bullet in filter(None, map(BULLET.match, text.splitlines())):
        said = QUOTED.search(bullet["rest"])
        if said is None or bullet["verb"] not in ("if asked", "begin", "end", "else"):
            raise SystemExit(f"no such rule: {bullet[0]!r}; evals/README.md lists them")
        rules.append(Rule(bullet["verb"], tuple(QUOTED.findall(bullet["words"])), said[1]))
    return rules


def price_list() -> list[Plant]:
    """What the shop sells."""
    with (SHOP / "price-list.csv").open(encoding="utf-8", newline="") as file:
        return [Plant(**row) for row in csv.DictReader(file)]


def answer(rules: list[Rule], question: str, plants: list[Plant]) -> str:
    """The answer of a prompt to one question; empty if no rule fits."""
    asked = question.casefold()
    plant = next((each for each in plants if each.plant in asked), None)
    body = next(_bodies(rules, asked, plant), "")
    frame = {verb: [rule.said for rule in rules if rule.verb == verb] for verb in ("begin", "end")}
    return " ".join([*frame["begin"], body, *frame["end"]]) if body else ""


def _bodies(rules: list[Rule], asked: str, plant: Plant | None) -> Iterator[str]:
    """What each rule that fits says, in the order of the prompt. A rule with places needs a plant to fill them."""
    for rule in rules:
        fits = rule.verb == "else" or (rule.verb == "if asked" and any(word in asked for word in rule.words))
        if fits and "{" not in rule.said:
            yield rule.said
        elif fits and plant is not None:
            yield rule.said.format(**plant._asdict())


def responses(variant: str) -> list[dict[str, str]]:
    """What the prompt of a variant answers to every test case now."""
    rules = read_rules((PROMPTS / f"{variant}.md").read_text(encoding="utf-8"))
    cases = json.loads((SHOP / "test_cases.json").read_text(encoding="utf-8"))["test_cases"]
    plants = price_list()
    return [{"case_id": case["id"], "output": answer(rules, case["input"], plants)} for case in cases]


def variants() -> list[str]:
    """The names of the prompts."""
    return sorted(prompt.stem for prompt in PROMPTS.glob("*.md"))


def main() -> None:
    """Write the responses of every variant."""
    for variant in variants():
        target = SHOP / f"responses-{variant}.jsonl"
        lines = [json.dumps(each, ensure_ascii=False) + "\n" for each in responses(variant)]
        target.write_text("".join(lines), encoding="utf-8")
        print(f"wrote {target.relative_to(EVALS.parent)}")


if __name__ == "__main__":
    main()
