"""What a run states of itself: its time, its commit and its numbers, in a record beside its output or in the output."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import chain, islice
from typing import Final

import msgspec
from msgspec.structs import replace

from sitegen.data_files.reading import installed_for
from sitegen.history.eval_state import EvalState
from sitegen.model.metrics import traits_of
from sitegen.model.problems import Problem
from sitegen.model.recorded import Recorded, read_recorded
from sitegen.model.timeline import Blob, Snapshot
from sitegen.scoring.run_statements import appended_runs, recorded_in
from sitegen.text.plain import moment_of

_METRICS: Final = 50  # the most recorded metrics of a snapshot
_COMMIT_ID: Final = r"[0-9a-f]{7,64}"


def report_runs_left_out(state: EvalState, outputs: tuple[Blob, ...]) -> None:
    """Report the runs that the commit appends to a file in addition to the last one."""
    earlier = state.output
    if not traits_of(state.kind).is_recorded or len(outputs) != 1 or len(earlier) > 1:
        return
    (path, oid), before = outputs[0], earlier[0].oid if earlier else ""

    def count(content: bytes) -> str | None:
        then = state.repository.read_blob(before).content if before else b""
        return None if then is None else str(appended_runs(path, then, content))

    runs = int(state.repository.answer(f"runs since {before} in {path}", oid, count) or 0)
    if runs > 1:
        left_out = "1 run of this commit is" if runs == 2 else f"{runs - 1:,} runs of this commit are"
        message = (
            f"{left_out} left out: it adds {runs:,} rows with runs, and only the newest run of the file is a point "
            "of the series."
        )
        fix = "Commit the file after each run, or write each run to a file of its own."
        state.report(Problem("note", message, fix, path=path))


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
        state.report(Problem("warning", message, fix, path=blob.path))
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
