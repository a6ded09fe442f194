"""The parts of ``summary.md`` on what changed: what is worse than it was, and the latest edits of instructions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, TypeVar

from sitegen.analysis.standing import EvalStanding, ListedStep, worse_than_it_was
from sitegen.model.metrics import MetricSpec
from sitegen.model.series import Effect
from sitegen.pages import links
from sitegen.pages.instructions import EditEffects
from sitegen.pages.labels import CAUSES, STATES, exchange, outputs
from sitegen.text.markdown_cells import code, count, name, number, signed

_REGRESSIONS: Final = 20
EDITS: Final = 6
"""Number of commits with edits of instructions that are listed."""
EFFECTS: Final = 3
"""Number of evals listed with a commit: the ones that moved most."""
FILES: Final = 3
NAME: Final = 60
"""Largest number of characters of a name or a value."""
_T = TypeVar("_T")


def worse(evals: Iterable[EvalStanding]) -> Iterator[str]:
    """List what is worse than it was, the largest loss first."""
    rows = worse_than_it_was(evals)
    yield f"## Worse than it was: {count(len(rows))}"
    yield ""
    if rows:
        yield from (f"- {_loss(row)}" for row in rows[:_REGRESSIONS])
        yield from left_out_line(rows, _REGRESSIONS, f"in {links.regressions()}")
        yield ""


def _loss(row: ListedStep) -> str:
    (spec, metric), step, at = row.metrics[0], row.step, row.at
    before, after = number(metric.before, unit=spec.unit), number(metric.after, unit=spec.unit)
    edits = [f"{code(edit.path, NAME)} in {code(edit.sha[:7])}" for edit in step.circumstances.edits[:FILES]]
    words = f"{code(row.summary.info.id, NAME)}, {STATES[step.status]}: {metric_label(spec)} {before} to {after}"
    words += ", most of it at" if step.status == "behind" else " at"
    words += f" {code(at.label)} ({code(step.commit.short)} {code(step.commit.subject, NAME)})"
    if step.verdict and step.verdict.fixed + step.verdict.broken:
        words += f", {count(step.verdict.broken)} broken and {count(step.verdict.fixed)} fixed there"
    words += (
        f", for {outputs(step.different)}; changed: {', '.join(CAUSES[cause] for cause in step.circumstances.causes)}"
    )
    for role, exchanged in (("model", step.circumstances.model), ("judge", step.circumstances.judge)):
        if exchanged:
            words += f"; {name(exchange(role, exchanged))}"
    if edits:
        words += f"; edited before it: {', '.join(edits)}{' and more' * (len(step.circumstances.edits) > FILES)}"
    fields = [f"{code(moved.name, NAME)} {moved.change:+.1f}" for moved in step.circumstances.fields[:FILES]]
    return words + (f"; errors by field: {', '.join(fields)}" if fields else "")


def edits_of_instructions(latest: Iterable[EditEffects]) -> Iterator[str]:
    """The newest commits that edited instructions, each with the evals that moved most."""
    yield "## Latest edits of instructions"
    yield ""
    yield "Association in time, not causation; changes due to ground truth and rules are left out."
    yield ""
    for commit_edits, _ in zip(latest, range(EDITS), strict=False):
        files = first_few(commit_edits.edits, lambda edit: code(edit.edit.path, NAME))
        commit = commit_edits.commit
        yield f"- {code(commit.short)} {code(commit.committed_at[:10])} {code(commit.subject, NAME)}: {files}"
        moved = sorted((effect for effect in commit_edits.effects if effect.by_outputs is not None), key=_effect_size)
        confounded = [effect for effect in commit_edits.effects if effect.window.model and effect.change is not None]
        for effect in confounded[:EFFECTS]:
            exchanged = name(exchange("model", effect.window.model))
            yield f"  - {code(effect.eval_id, NAME)}: {exchanged} too, and the two effects cannot be separated"
        regraded = [effect for effect in commit_edits.effects if effect.regraded and effect.before and effect.after]
        for effect in regraded[:EFFECTS]:
            exchanged = name(exchange("judge", effect.window.judge))
            yield f"  - {code(effect.eval_id, NAME)}: {exchanged}, and grades of the two are not compared"
        for effect in moved[:EFFECTS]:
            yield f"  - {_effect_sentence(effect)}"
        if len(moved) > EFFECTS:
            yield f"  - {count(len(moved) - EFFECTS)} more evals changed less"
        if not moved and not confounded and not regraded:
            yield "  - no eval has outputs from before and after it"
    yield ""


def _effect_size(effect: Effect) -> tuple[float, str]:
    return -abs(effect.by_outputs or 0.0), effect.eval_id


def _effect_sentence(effect: Effect) -> str:
    assert effect.before is not None
    assert effect.after is not None
    spec = effect.specs[0] if effect.specs else MetricSpec("f1", "F1", "")
    moved = signed(effect.by_outputs or 0.0, spec.unit)
    ends = f"{number(effect.before.values[0], unit=spec.unit)} to {number(effect.after.values[0], unit=spec.unit)}"
    return f"{code(effect.eval_id, NAME)}: {moved} by the outputs; {metric_label(spec)} {ends}"


def metric_label(spec: MetricSpec) -> str:
    """The label of a metric; names of recorded numbers are data of the project, and quoted."""
    return code(spec.label, NAME) if spec.recorded else spec.label


def first_few(items: Sequence[_T], words_for: Callable[[_T], str]) -> str:
    """Join the first few items, and state the number of others."""
    more = f" and {len(items) - FILES} more" if len(items) > FILES else ""
    return ", ".join(map(words_for, items[:FILES])) + more


def left_out_line(items: Sequence[object], listed: int, where: str) -> Iterator[str]:
    """State how many items are not listed, if any."""
    if len(items) > listed:
        yield ""
        yield f"{count(len(items) - listed)} more {where}."
