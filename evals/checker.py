"""A judge outside of sitegen's builds: asks ``sitegen code-judge`` about every plant label, and keeps what it answers.

    python evals/checker.py       # overwrites label-checks/results.jsonl

It stands for any runner that has judges of its own and writes one line a case; sitegen reads these lines as they are.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

EVALS = Path(__file__).resolve().parent
CONFIG = {}


def judged(expected: dict[str, object], candidate: dict[str, object]) -> dict[str, object]:
    """One label's line: the judge's answer under the label's id."""
    payload = json.dumps({"expected": expected, "candidate": candidate, "config": CONFIG})
    command = [sys.executable, "-m", "sitegen", "code-judge", "fields"]
    done = subprocess.run(command, input=payload, capture_output=True, text=True, check=True)
    opinion = json.loads(done.stdout)
    return {"test_id": expected["id"], "evaluator_results": [{"name": "fields", **opinion}]}


def main() -> None:
    """Judge all labels in the order of their ground truth."""
    truth = (EVALS / "plant-labels" / "ground_truth.jsonl").read_text(encoding="utf-8").splitlines()
    output = json.loads((EVALS / "plant-labels" / "extracted.json").read_text(encoding="utf-8"))
    given = {document["id"]: document for document in output["documents"]}
    lines = [json.dumps(judged(label, given.get(label["id"], {}))) for label in map(json.loads, truth)]
    (EVALS / "label-checks" / "results.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
