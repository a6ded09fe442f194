"""Keeping what was verified: the next iteration of an eval with its results, and ``aggregate.json``."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

from sitegen.history.layout import RECORDED, RESULTS
from sitegen.scoring.results_file import ResultsDocument, to_json_bytes
from sitegen.verifying import Verified, iterations


def save(verified: Verified, document: ResultsDocument) -> tuple[Path, ResultsDocument]:
    """Keep an output with its results as the next iteration, and add it to ``aggregate.json``.

    An output that already lies in an iteration's folder stays there, and its results are written beside it. Returns
    the iteration's folder, and the document as it was written there.
    """
    place = verified.place
    results = place.folder / RESULTS
    if verified.iteration is None:
        number = max((number for number, _ in iterations(place.folder)), default=0) + 1
        folder = results / f"iteration-{number:03d}"
        folder.mkdir(parents=True)
        for output in verified.outputs:
            shutil.copyfile(output, folder / _name(verified, output))
        document = replace(document, metadata=replace(document.metadata, iteration=number))
    else:
        folder = verified.outputs[0].parent
    (folder / RECORDED).write_bytes(to_json_bytes(document))
    _add_to_aggregate(results / "aggregate.json", document)
    return folder, document


def _name(verified: Verified, output: Path) -> str:
    """What an output is called in an iteration's folder: its own name if that is one of the kind's."""
    names = verified.place.files.outputs
    if len(verified.outputs) > 1 or output.name in names:
        return output.name
    return next((name for name in names if Path(name).suffix == output.suffix), names[0])


def _add_to_aggregate(file: Path, document: ResultsDocument) -> None:
    """Replace or add one iteration's line, whatever else the file holds."""
    try:
        body: dict[str, Any] = json.loads(file.read_bytes())
        known = [line for line in body["iterations"] if line.get("iteration") != document.metadata.iteration]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        body, known = {"eval_id": document.eval_id}, []
    line = {
        "iteration": document.metadata.iteration,
        "timestamp": document.metadata.timestamp,
        "precision": document.metrics.precision,
        "recall": document.metrics.recall,
        "f1": document.metrics.f1,
        "total_errors": sum(document.errors_by_type.values()),
        "errors_by_type": document.errors_by_type,
    }
    body["iterations"] = sorted([*known, line], key=lambda each: each.get("iteration") or 0)
    file.write_text(json.dumps(body, indent=2) + "\n", encoding="utf-8")
