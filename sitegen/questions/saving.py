"""Saves a verified output: as the next iteration of its eval with its results, and in ``aggregate.json``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace

from sitegen.data_files.project_files import LARGEST_FILE, read_file, read_inside, real, write_inside
from sitegen.errors import ConfigurationError, SitegenError
from sitegen.history.layout import RECORDED, RESULTS, is_glob
from sitegen.model.metrics import traits_of
from sitegen.questions.verify import Verified, verify_iterations
from sitegen.questions.work_tree import iterations
from sitegen.scoring.kinds import nouns_of, specs_of_results
from sitegen.scoring.results_file import ResultsDocument
from sitegen.stats.counts import errors_by_type, ratios
from sitegen.text.plain import encodable
from sitegen.text.values import to_json_bytes

_LARGEST_COPIED: Final = 1_000_000_000  # the size of the largest output that is copied, in bytes


def save(verified: Verified, document: ResultsDocument) -> tuple[Path, ResultsDocument]:
    """Save an output with its results as the next iteration, and update ``aggregate.json``.

    Returns the file of the results, and the written document.

    An output that already lies in an iteration's folder stays there, and its results are written beside it. Of a
    kind whose output is a log of all runs, only the results are kept, as ``results/run-<timestamp>.json``.

    Raises ConfigurationError if the eval's outputs are runs that a glob names, because the name of the next one is
    unknown, or share a file with the expected values, every version of which is an iteration.
    """
    place = verified.place
    if place.entry.in_cases:
        raise ConfigurationError(
            f"Expected values and outputs of {place.entry.id!r} are in one file: a copy of it would be another eval.",
            where=str(place.ground_truth),
            fix="Commit the file: every version of it is an iteration.",
        )
    if is_glob(place.entry.outputs) or place.entry.answered_in:
        raise ConfigurationError(
            f"The outputs of {place.entry.id!r} are the files that {place.entry.outputs!r} names: there is no next "
            "iteration to save.",
            fix="Commit the output under a name that it fits, or leave 'outputs' out of the manifest.",
        )
    if traits_of(place.kind).is_recorded:
        raise ConfigurationError(
            f"{place.entry.id!r} only records numbers: there is nothing that was scored and could be saved.",
            fix="Commit the file that the run wrote.",
        )
    results = place.folder / RESULTS
    if traits_of(place.kind).logs_runs and verified.iteration is None:
        moment = (document.metadata.timestamp or "").partition("+")[0].replace(":", "-")
        name = f"{RESULTS}/run-{moment}.json"
        write_inside(place.folder, name, to_json_bytes(document))
        return place.folder / name, document
    if verified.iteration is None:
        number = max((number for number, _ in iterations(place.folder)), default=0) + 1
        folder = results / f"iteration-{number:03d}"
        for output in verified.outputs:
            name = f"{RESULTS}/{folder.name}/{verified.saved_name(output)}"
            write_inside(place.folder, name, read_file(output, _LARGEST_COPIED), replace=False)
        document = replace(document, metadata=replace(document.metadata, iteration=number))
    else:
        folder = verified.outputs[0].parent
    record = (folder / RECORDED).relative_to(place.folder).as_posix()
    write_inside(place.folder, record, to_json_bytes(document))
    # The line of this iteration is written, and those of others that have none yet: they are scored now, by the present
    # ground truth and rules, with the time that their own results record. Everything else in the file stays.
    metadata = document.metadata
    name = f"{RESULTS}/aggregate.json"
    try:
        body: dict[str, Any] = json.loads(read_inside(place.folder, name, LARGEST_FILE))
        earlier = [line for line in body["iterations"] if line.get("iteration") != metadata.iteration]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        body, earlier = {"eval_id": encodable(place.entry.id)}, []
    there = [metadata.iteration, *(line.get("iteration") for line in earlier)]
    saved = replace(verified, iteration=metadata.iteration, recorded_at=metadata.timestamp)
    lines = [*earlier, *map(_aggregate_line, (*verify_iterations(place, without=there), saved))]
    body["iterations"] = sorted(lines, key=lambda line: line.get("iteration") or 0)
    write_inside(place.folder, name, f"{json.dumps(body, indent=2)}\n".encode())
    return place.folder / record, document


def save_into(folder: Path, verified: Verified, document: ResultsDocument) -> Path:
    """Write the results and a copy of the output to a folder that the user named, and create it if necessary.

    Returns the file of the results. Raises SitegenError if there cannot be such a folder.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"The folder cannot be made: {error.strerror}."
        raise SitegenError(message, where=str(folder), fix="Name another folder.") from None
    for output in verified.outputs:
        if real(output.parent) != real(folder):
            write_inside(folder, verified.saved_name(output), read_file(output, _LARGEST_COPIED))
    write_inside(folder, RECORDED, to_json_bytes(document))
    return folder / RECORDED


def _aggregate_line(verified: Verified) -> dict[str, Any]:
    card = verified.result.scorecard
    errors = errors_by_type(card.counts)
    same = nouns_of(card.kind, specs_of_results(verified.result)).same
    named_ratios = ratios(card.counts, same)
    return {
        "iteration": verified.iteration,
        "timestamp": verified.recorded_at,
        **named_ratios,
        **{
            name: value
            for name, value in card.metrics
            if not traits_of(verified.place.kind).is_structured and name not in {*named_ratios, *same}
        },
        "total_errors": sum(errors.values()),
        "errors_by_type": errors,
    }
