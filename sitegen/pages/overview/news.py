"""Three sentences on the state of all evals: losses, gains, and what to do next; and the edit before the largest loss.

The overview and ``summary.md`` begin with them. Each sentence links to its evidence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Final, TypeAlias

from sitegen.analysis.effects import FileThen
from sitegen.analysis.standing import LOST, EvalStanding, nothing_is_worse
from sitegen.model.changes import Decision, Step
from sitegen.model.commits import WORKTREE
from sitegen.model.metrics import ROUNDING
from sitegen.model.series import EvalSummary
from sitegen.model.timeline import Edit, InstructionHistory
from sitegen.pages import links
from sitegen.pages.instruction import go_back_command
from sitegen.pages.labels import lost_words, subject_of
from sitegen.pages.overview.focus import (
    FocusView,
    Phrase,
    Sentence,
    eval_phrase,
    metric_phrase,
    next_step,
    output_phrase,
)
from sitegen.text.patch import PatchLine, read_patch
from sitegen.text.plain import counted, day
from sitegen.text.values import metric_text

BETTER: Final[tuple[Decision, ...]] = ("better",)
"""Verdicts on a gain that are more than chance."""


def news(
    evals: Sequence[EvalStanding], focus: FocusView | None, *, losses_follow: bool = False
) -> tuple[Sentence, ...]:
    """The sentences, from all evals that are not deleted, the one in most trouble first; none if there are none.

    ``losses_follow``: the losses of further evals are listed below, so the first sentence does not name them.
    """
    scored = [standing for standing in evals if standing.summary.headlines]
    if not evals:
        return ()
    if not scored:
        first = evals[0].summary
        return (
            Sentence("What got worse", (Phrase("There is nothing to report yet: no eval has an output."),)),
            Sentence("What to do next", (Phrase("Commit the first output of "), eval_phrase(first), Phrase("."))),
        )
    return (
        Sentence(
            "What got worse",
            tuple(_worse(scored, losses_follow)),
            good=nothing_is_worse(scored) and not any(standing.summary.fallen for standing in scored),
        ),
        Sentence("What got better", tuple(_better(scored))),
        Sentence("What to do next", tuple(next_step(scored, focus))),
    )


def _worse(scored: Sequence[EvalStanding], losses_follow: bool) -> Iterator[Phrase]:
    lost = [standing for standing in scored if standing.trouble in LOST]
    if lost:
        yield from loss(lost[0])
        if len(lost) > 1 and not losses_follow:
            yield Phrase(" Also worse, or seemingly so: ")
            yield (
                eval_phrase(lost[1].summary)
                if len(lost) == 2
                else Phrase(f"{len(lost) - 1:,} evals", links.regressions())
            )
            yield Phrase(".")
        return
    if all(len(standing.summary.headlines) == 1 for standing in scored):
        yield Phrase("Nothing can be worse yet: no eval has a second output.")
        return
    behind = sorted((standing for standing in scored if standing.behind), key=lambda standing: -standing.size)
    fallen = [standing.summary for standing in scored if standing.summary.fallen]
    for summary in fallen[:1]:
        axis, value, change = summary.fallen or ("", "", 0.0)
        yield eval_phrase(summary)
        size = metric_text(abs(change), unit=summary.specs[0].unit)
        yield Phrase(f" hides a loss: where {axis} is {value}, {summary.specs[0].label} got worse by {size} with ")
        yield output_phrase(summary, summary.headlines[-1])
        yield Phrase(", by more than chance.")
    if not fallen:
        yield Phrase("Nothing for certain.")
    if behind:
        yield Phrase(" ")
        yield from _distance(behind[0], "may be")
        if len(behind) > 1:
            yield Phrase(", and ")
            yield Phrase(_with_noun(len(behind) - 1, "more eval", "more evals"), _BEST)
            yield Phrase(" behind its best" if len(behind) == 2 else " behind theirs")
        yield Phrase(".")


_BEST: Final = links.regressions() + "#h-best"
"""Where the best output of each eval is listed."""


def loss(standing: EvalStanding) -> Iterator[Phrase]:
    """A sentence on the loss of an eval, which must have one."""
    summary, spec, newest = standing.summary, standing.spec, standing.newest
    if standing.trouble == "unscored":
        yield eval_phrase(summary)
        if summary.without_output:
            yield Phrase(": its newest output is missing.")
            return
        if newest.status == "no_ground_truth":
            yield Phrase(": its ground truth cannot be read, so that its newest output, ")
            yield output_phrase(summary, newest)
            yield Phrase(", is not scored.")
            return
        yield Phrase(": its newest output, ")
        yield output_phrase(summary, newest)
        yield Phrase(", ")
        if newest.status == "unreadable":
            yield Phrase("cannot be read.")
        else:
            yield Phrase("has no ")
            yield metric_phrase(spec)
            yield Phrase(".")
        return
    step = standing.worst_step
    metric = step.metrics[0]
    if step.status == "behind":
        yield from _distance(standing)
        yield Phrase(", by more than chance; most of it was lost at ")
        yield output_phrase(summary, summary.headlines[step.at])
        yield from _after_edit(step)
        yield Phrase(".")
        return
    stepped = next(spec for spec in summary.specs if spec.name == metric.name)
    yield eval_phrase(summary)
    yield Phrase(": ")
    if step.verdict and step.verdict.lost_fields:
        yield Phrase(f"{lost_words(step.verdict)}; ")
    yield metric_phrase(stepped)
    moved = metric.after - metric.before
    amount = "" if abs(moved) < ROUNDING else f" by {metric_text(abs(moved), 3, stepped.unit)}"
    yield Phrase(
        f" {('fell' if moved < 0 else 'rose') if amount else 'stayed'}{amount}{' to' if amount else ' at'} "
        f"{metric_text(metric.after, 3, stepped.unit)} at "
    )
    yield output_phrase(summary, summary.headlines[step.at])
    yield from _after_edit(step)
    if step.verdict and step.verdict.fixed + step.verdict.broken and step.status == "fell":
        yield Phrase(f": {step.verdict.broken:,} broken, {step.verdict.fixed:,} fixed")
    yield Phrase({"fell": ".", "open": " and was not regained."}.get(step.status, ", too new to tell from noise."))


def _after_edit(step: Step) -> Iterator[Phrase]:
    """The newest edit between the outputs before and after a loss, and whether an earlier commit edited as well."""
    commit = step.edited
    if commit is None:
        return
    yield Phrase(" after ")
    page = "" if commit.sha == WORKTREE else links.commit(commit.sha)
    yield Phrase(f"“{subject_of(commit, 50)}”", page, commit.subject)
    yield Phrase(" (")
    yield Phrase(commit.author, "", commit.author)
    yield Phrase(f", {day(commit.committed_at)})")
    others = {sha for _, sha in step.edits} - {commit.sha}
    if others or step.more_edits:
        yield Phrase(" or an earlier edit")


def _better(scored: Sequence[EvalStanding]) -> Iterator[Phrase]:
    gains = sorted(
        ((_gain(standing.summary), standing) for standing in scored if _gain(standing.summary) > ROUNDING),
        key=lambda pair: (not _is_sure(pair[1].summary), -pair[0], pair[1].summary.info.id),
    )
    if gains:
        yield from _gained(*gains[0])
        if len(gains) > 1:
            yield Phrase(f", and {counted(len(gains) - 1, 'more eval')} gained too")
    elif all(len(standing.summary.headlines) == 1 for standing in scored):
        first = min(scored, key=lambda standing: (standing.newest.values[0] is None, standing.summary.info.id))
        yield from _first_output(first)
        if len(scored) > 1:
            yield Phrase(f", and {_with_noun(len(scored) - 1, 'more eval has its', 'more evals have theirs')}")
    elif steps := [
        (step, standing.summary) for standing in scored for step in standing.summary.steps if step.status == "better"
    ]:
        yield Phrase("No newest output gained anything; the last lasting gain is that of ")
        yield from _last_gain(*max(steps, key=lambda pair: (pair[0].commit.position, pair[0].metrics[0].points)))
    else:
        yield Phrase("No newest output gained anything")
    best = sum(standing.behind == 0 for standing in scored)
    if best and any(len(standing.summary.headlines) > 1 for standing in scored):
        yield Phrase(". ")
        all_of = f"All {best} evals are" if best > 1 else "The eval is"
        words = all_of if best == len(scored) else f"{best} of {len(scored)} evals {'is' if best == 1 else 'are'}"
        yield Phrase(f"{words} at {'its' if best == 1 else 'their'} best", _BEST)
    yield Phrase(".")


def _gained(gain: float, standing: EvalStanding) -> Iterator[Phrase]:
    summary, spec, newest = standing.summary, standing.spec, standing.newest
    amount = gain / 100 * (spec.high - spec.low)
    yield eval_phrase(summary)
    yield Phrase(": ")
    yield metric_phrase(spec)
    yield Phrase(f" {'rose' if spec.higher_is_better else 'fell'} by {metric_text(amount, 3, spec.unit)} to ")
    yield Phrase(f"{metric_text(newest.values[0] or 0.0, 3, spec.unit)} with ")
    yield output_phrase(summary, newest)
    verdict = summary.change.verdict if summary.change else None
    if verdict and verdict.lost_fields:
        yield Phrase(f", though {lost_words(verdict)}")
    elif not _is_sure(summary):
        why = links.report(summary.info.id, newest.slug) + "#h-y" if verdict else ""
        yield Phrase(", which ")
        yield Phrase("may be chance", why)


def _first_output(standing: EvalStanding) -> Iterator[Phrase]:
    summary, value = standing.summary, standing.newest.values[0]
    yield eval_phrase(summary)
    yield Phrase(" has its first output, ")
    yield output_phrase(summary, standing.newest)
    if value is not None:
        yield Phrase(", with ")
        yield metric_phrase(standing.spec)
        yield Phrase(f" {metric_text(value, 3, standing.spec.unit)}")


def _last_gain(step: Step, summary: EvalSummary) -> Iterator[Phrase]:
    metric = step.metrics[0]
    spec = next(spec for spec in summary.specs if spec.name == metric.name)
    yield eval_phrase(summary)
    yield Phrase(": ")
    yield metric_phrase(spec)
    before, after = (metric_text(value, 3, spec.unit) for value in (metric.before, metric.after))
    yield Phrase(f" went from {before} to {after} at ")
    yield output_phrase(summary, summary.headlines[step.at])


def _distance(standing: EvalStanding, verb: str = "is") -> Iterator[Phrase]:
    yield eval_phrase(standing.summary)
    yield Phrase(f" {verb} {metric_text(standing.behind or 0.0, 3, standing.spec.unit)} behind its best ")
    yield metric_phrase(standing.spec)
    if standing.best:
        yield Phrase(", ")
        pair = f"#a={standing.best.slug}&b={standing.newest.slug}"
        yield Phrase(standing.best.label, links.compare(standing.summary.info.id) + pair, standing.best.label)


def _with_noun(number: int, singular: str, plural: str) -> str:
    return f"{number:,} {singular if number == 1 else plural}"


def _gain(summary: EvalSummary) -> float:
    delta, spec = summary.change, summary.specs[0]
    if delta is None or delta.headline.change is None:
        return 0.0
    change = delta.headline.parts.outputs if delta.headline.parts else delta.headline.change
    return 100 * change / (spec.high - spec.low) * (1 if spec.higher_is_better else -1)


def _is_sure(summary: EvalSummary) -> bool:
    verdict = summary.change.verdict if summary.change else None
    return verdict is not None and verdict.decision in BETTER


LINES: Final = 4
"""Largest number of changed lines that are shown."""


Undo: TypeAlias = tuple[InstructionHistory, Edit, tuple[PatchLine, ...], int, str | None]
"""The newest edit between the outputs before and after a loss. Association in time: it need not be the cause.

The file, the edit, the first lines that it changed, the number of changed lines that are left out, and the command that
restores the edited files as they were before; None if there are too many, or if the edit is uncommitted.
"""


def undo_of(
    evals: Sequence[EvalStanding], files: Iterable[InstructionHistory], patch_of: Callable[[Edit], bytes]
) -> Undo | None:
    """Return the edit before the loss that the first sentence names; None if it names none, or no edit is beside it.

    ``evals`` are as for ``news``; ``patch_of`` reads the patch of an edit.
    """
    scored = [standing for standing in evals if standing.summary.headlines]
    if not scored or scored[0].trouble not in LOST or not scored[0].worse:
        return None
    step = scored[0].worst_step
    edited = step.edited
    if edited is None:
        return None
    found = [
        (file, edit)
        for file in files
        for edit in file.edits
        if edit.commit.sha == edited.sha and (edit.path, edited.sha) in step.edits
    ]
    if not found:
        return None
    drawn = [(file, edit, read_patch(patch_of(edit))) for file, edit in found]
    file, edit, patch = max(drawn, key=lambda one: one[2].counts.added + one[2].counts.removed)
    changed = (line for hunk in patch.hunks for line in hunk.lines if line.kind in ("added", "removed"))
    lines = tuple(islice(changed, LINES))
    return (
        file,
        edit,
        lines,
        max(0, patch.counts.added + patch.counts.removed - len(lines)),
        go_back_command(edited, [_before(file, edit) for file, edit in found], parent=True),
    )


def _before(file: InstructionHistory, edit: Edit) -> FileThen:
    return edit.old.path if edit.old else None, None if file.deleted else file.path
