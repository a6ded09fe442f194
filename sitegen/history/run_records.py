"""What a run states of itself: its time, its commit and its numbers, in a record beside its output or in the output."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import partial
from io import BytesIO
from itertools import accumulate, chain, islice
from typing import Final

import msgspec
from msgspec.structs import replace

from sitegen.data_files.reading import installed_for
from sitegen.errors import POINTER
from sitegen.history.eval_state import EvalState
from sitegen.history.repository import blob_id
from sitegen.model.metrics import traits_of
from sitegen.model.problems import Problem
from sitegen.model.recorded import Recorded, read_recorded
from sitegen.model.timeline import Blob, Snapshot
from sitegen.scoring.run_statements import recorded_in, runs_in_file
from sitegen.text.plain import moment_of

_MOST_RUNS: Final = 50  # the most runs that one commit adds to a file and that are points of the series
_MOST_BYTES: Final = 50_000_000  # the most bytes of the contents up to the ends of these runs, which are held in memory
_METRICS: Final = 50  # the most recorded metrics of a snapshot
_COMMIT_ID: Final = r"[0-9a-f]{7,64}"


def earlier_runs(state: EvalState, outputs: tuple[Blob, ...]) -> list[Blob]:
    """Return the output as it was at the end of each run that the commit adds to a file, except the newest.

    These contents are added to the overlay of the repository, up to a number and a size. The other runs are reported.
    """
    if len(outputs) != 1 or len(state.output) > 1:
        return []
    (path, oid), repository, settings = outputs[0], state.repository, state.inputs.settings
    question = f"lengths of runs of {state.kind} in {path} {settings}"
    lengths = partial(runs_in_file, state.kind, path, settings)
    found = [
        repository.answer(question, blob.oid, lambda content: json.dumps(lengths(content)))
        for blob in (outputs[0], *state.output)
    ]
    if None in found:  # this clone may lack the content before
        return []
    now, *then = (json.loads(runs or "{}") for runs in found)
    before = then[0] if then else {}
    if then and now and not before:  # the run of a file with one has no column that tells it from others
        text = repository.read_blob(state.output[0].oid).content or b""
        first = islice(now, _MOST_RUNS)
        before = {name: 0 for name in first if re.search(rb"(?<![\w-])%s(?![\w-])" % re.escape(name.encode()), text)}
    new = [length for name, length in [*now.items()][:-1] if name not in before][::-1]
    sums = zip(new, accumulate(new), strict=True)
    fitting = [length for length, total in sums if length and total <= _MOST_BYTES][: _MOST_RUNS - 1]
    if left := len(new) - len(fitting):
        left_out = "1 run of this commit is" if left == 1 else f"{left:,} runs of this commit are"
        message = f"{left_out} left out: it adds {len(new) + 1:,} runs, of which only the newest are points."
        fix = "Commit the file after each run, or write each run to a file of its own."
        state.report(Problem("note", message, fix, path=path))
    content = (repository.read_blob(oid).content if fitting else None) or b""
    parts = [content[:length] for length in reversed(fitting)]
    added = {blob_id(BytesIO(part), len(part), len(oid)): part for part in parts}
    repository.overlay.update(added)
    return [Blob(path, part_id) for part_id in added]


def with_origin(state: EvalState, snapshot: Snapshot, draft: Snapshot) -> Snapshot:
    """Return the snapshot with its run's statements, from the record beside the output or else from the output."""
    beside = _read_record(state, draft.recorded) if draft.recorded else Recorded()
    needs_outputs = not beside.git_commit or traits_of(state.kind).names_scores
    stated = [*_stated_by_outputs(state, draft.outputs, snapshot.settings)] if needs_outputs else []
    # Of an output in several files, the first that says anything of its run tells when it was made.
    of_runs = (each for each in stated if each != Recorded(grades=each.grades))
    inside = next((_checked_statement(state, each) for each in of_runs), Recorded())
    return replace(
        snapshot,
        grades=tuple(dict.fromkeys(chain.from_iterable(each.grades for each in stated))),
        recorded=draft.recorded,
        recorded_at=beside.timestamp or inside.timestamp or draft.recorded_at,
        made_at=beside.git_commit or inside.git_commit,
        recorded_metrics=beside.metrics,
        usage=beside.usage,
    )


def _read_record(state: EvalState, blob: Blob) -> Recorded:
    stated = state.repository.answer("record", blob.oid, lambda content: _as_text(read_recorded(content)))
    if not stated:
        reason = state.repository.read_blob(blob.oid).reason or "no JSON object"
        message = f"The recorded results cannot be read: {reason}."
        fix = "Only the recorded time and numbers are lost; write the file again to restore them."
        state.report(Problem("warning", message, fix, path=blob.path, not_fetched=reason == POINTER))
        return Recorded()
    return _checked_statement(state, msgspec.convert(json.loads(stated), Recorded))


def _stated_by_outputs(state: EvalState, outputs: tuple[Blob, ...], settings: str) -> Iterator[Recorded]:
    """Yield what each file of an output states; nothing after the first statement if scores have no names."""

    def statement(blob: Blob) -> str | None:
        question = f"run of {state.kind} in {blob.path} {settings} {installed_for((blob.path,))}"
        return state.repository.answer(
            question, blob.oid, lambda content: _as_text(recorded_in(state.kind, blob.path, content, settings))
        )

    for blob in outputs:
        try:
            stated = statement(blob)
        except Exception as error:  # a fault of sitegen at one output must not stop the build
            fault = type(error).__name__
            message = f"sitegen failed while reading what this output states about its run: {fault}."
            fix = "Please report it. The numbers do not depend on it, but the output may be linked to other "
            fix += "instructions."
            state.report(Problem.of_type("unlinked_output", message, fix, blob.path))
            continue
        if stated:
            yield msgspec.convert(json.loads(stated), Recorded)
            if not traits_of(state.kind).names_scores:
                return


def _checked_statement(state: EvalState, recorded: Recorded) -> Recorded:
    """Return a record without a time or a commit that is invalid."""
    timestamp = recorded.timestamp if recorded.timestamp and moment_of(recorded.timestamp) else None
    commit = recorded.git_commit if recorded.git_commit and re.fullmatch(_COMMIT_ID, recorded.git_commit) else None
    if recorded.git_commit is None and (edited := state.made_with(recorded)) is not None:
        commit = edited.sha
    metrics = dict(islice(recorded.metrics.items(), _METRICS))
    return replace(recorded, timestamp=timestamp, git_commit=commit, metrics=metrics)


def _as_text(recorded: Recorded | None) -> str:
    """Return a record as JSON in ASCII, empty if there is none."""
    return json.dumps(msgspec.to_builtins(recorded)) if recorded else ""
