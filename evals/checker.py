"""A judge outside of sitegen's builds: asks ``sitegen code-judge`` about every plant label, and keeps what it answers.

    python evals/checker.py       # overwrites label-checks/results.jsonl

It stands for any runner that has judges of its own and writes one line a case; sitegen reads these lines as they are.
How the judge compares is said by the bullets of its instructions; ``README.md`` beside this file lists them.
"""

from __future__ import annotations

import json
import subprocess
import sys

from extractor import EVALS, INSTRUCTIONS, read_rules

CHECKS = INSTRUCTIONS / "label-checker" / "checks.md"
RESULTS = EVALS / "label-checks" / "results.jsonl"


def config(text: str) -> dict[str, object]:
    """The judge's configuration, from the text of its instructions; what no bullet names is compared as it stands."""
    ignored: list[str] = []
    fields: dict[str, dict[str, object]] = {}
    for field, clauses in read_rules(text):
        for verb, arguments in clauses:
            if verb == "not checked":
                ignored.append(field)
            elif verb == "in any order":
                fields.setdefault(field, {})["ordered"] = False
            elif verb == "within":
                fields.setdefault(field, {}).update(type="numeric", absolute=float(arguments[0]))
            else:
                raise SystemExit(f"no such check: {verb!r}; evals/README.md lists them")
    return {"ignore": ignored, "fields": fields}


def judged(expected: dict[str, object], candidate: dict[str, object], rules: dict[str, object]) -> dict[str, object]:
    """One label's line: the judge's answer under the label's id."""
    payload = json.dumps({"expected": expected, "candidate": candidate, "config": rules})
    command = [sys.executable, "-m", "sitegen", "code-judge", "fields"]
    done = subprocess.run(command, input=payload, capture_output=True, text=True, check=True)
    opinion = json.loads(done.stdout)
    return {"test_id": expected["id"], "evaluator_results": [{"name": "fields", **opinion}]}


def check() -> list[dict[str, object]]:
    """What the judge says of every label now, in the order of their ground truth."""
    rules = config(CHECKS.read_text(encoding="utf-8"))
    truth = (EVALS / "plant-labels" / "ground_truth.jsonl").read_text(encoding="utf-8").splitlines()
    output = json.loads((EVALS / "plant-labels" / "extracted.json").read_text(encoding="utf-8"))
    given = {document["id"]: document for document in output["documents"]}
    return [judged(label, given.get(label["id"], {}), rules) for label in map(json.loads, truth)]


def main() -> None:
    """Judge all labels."""
    lines = [json.dumps(each) + "\n" for each in check()]
    RESULTS.write_text("".join(lines), encoding="utf-8")
    print(f"wrote {RESULTS.relative_to(EVALS.parent)}")


if __name__ == "__main__":
    main()
