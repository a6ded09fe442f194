"""Three sentences on the state of all evals: losses, gains, and what to do next; and the edit before the largest loss.

The overview and ``summary.md`` begin with them. Each sentence links to its evidence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Final, TypeAlias

from msgspec.structs import replace

from sitegen.analysis.effects import EffectIndex
from sitegen.analysis.flips import number_of_cells
from sitegen.analysis.slices import NAMED_SLICES
from sitegen.analysis.standing import LOST, EvalStanding, ListedStep
from sitegen.data_files.project_files import SITE_FILES
from sitegen.model.changes import Change, Step
from sitegen.model.commits import WORKTREE, Commit
from sitegen.model.metrics import ROUNDING
from sitegen.model.outcomes import Flips
from sitegen.model.series import Effect, EvalSummary, Window
from sitegen.model.timeline import Edit, InstructionHistory
from sitegen.pages import links
from sitegen.pages.instruction import way_back
from sitegen.pages.instructions import ChangedLines, FileEdit, changed_lines
from sitegen.pages.labels import doubts_of, exchange, lost_words, moved_words, subject_of
from sitegen.pages.overview.focus import (
    FocusView,
    Phrase,
    Sentence,
    eval_phrase,
    metric_phrase,
    next_step,
    output_phrase,
    said,
    said_of,
    words_of_name,
)
from sitegen.pages.report.discrepancies import section
from sitegen.text.plain import counted, day, line
from sitegen.text.values import first_names, metric_text


def news(
    evals: Sequence[EvalStanding], focus: FocusView | None, files: Iterable[InstructionHistory] = ()
) -> tuple[Sentence, ...]:
    """The sentences, from all evals that are not deleted, the one in most trouble first; none if there are none.

    ``files``: the instruction files, of which the last sentence names the one on the weakest section.
    """
    scored, files = [standing for standing in evals if standing.summary.headlines], tuple(files)
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
            tuple(_worse(scored, files)),
            good=not any(
                one.trouble in LOST or one.muted or one.summary.fallen or _flips(one)[0].broken for one in scored
            ),
        ),
        Sentence("What got better", tuple(_better(scored, files))),
        Sentence("What to do next", tuple(next_step(scored, focus, files))),
    )


def _worse(scored: Sequence[EvalStanding], files: Sequence[InstructionHistory]) -> Iterator[Phrase]:
    lost = [standing for standing in scored if standing.trouble in LOST]
    if lost:
        yield from loss(lost[0])
        newest = lost[0].loss_at_newest
        if newest and newest.status == "fell" and newest is not lost[0].worst_step and lost[0].trouble == "worse":
            yield from said(" ", loss(replace(lost[0], worse=(newest,))))
        if number := sum(bool(standing.muted) for standing in scored):
            yield from said(" Muted: losses of ", Phrase(counted(number, "eval"), _MUTED), ".")
        return
    if all(len(standing.summary.headlines) == 1 for standing in scored):
        yield Phrase("Nothing can be worse yet: no eval has a second output.")
        return
    muted = tuple(_muted(scored))
    if fallen := [standing.summary for standing in scored if standing.summary.fallen]:
        first = fallen[0]
        where = first_names(first.fallen, NAMED_SLICES, lambda fell: "{} is {} ({})".format(*fell))
        report = Phrase(where, links.report(first.info.id, first.headlines[-1].slug))
        also = f"; so it did in slices of {counted(len(fallen) - 1, 'more eval')}." if len(fallen) > 1 else "."
        yield from said(eval_phrase(first), ": worse by more than chance where ", report, also)
    elif any(_flips(standing)[0].broken for standing in scored):
        yield from said(_by_chance(scored, files, "broke"), ".")
    else:
        yield Phrase("Nothing but what is muted." if muted else "Nothing for certain.")
    yield from muted
    behind = sorted((one for one in scored if one.behind and not one.muted), key=lambda standing: -standing.size)
    if behind:
        yield from said(" ", _distance(behind[0]))
        if len(behind) > 1:
            others = Phrase(counted(len(behind) - 1, "more eval"), _BEST)
            yield from said(", and ", others, " is behind its best" if len(behind) == 2 else " are behind theirs")
        yield Phrase("; this may be chance.")


def _muted(scored: Sequence[EvalStanding]) -> Iterator[Phrase]:
    """The largest loss that is muted, why and where it is, and how many more evals have one; nothing if none is."""
    muted = sorted((one for one in scored if one.muted), key=lambda one: one.muted[0].step.metrics[0].points)
    for first in muted[:1]:
        why = line(first.muted[0].why, 100).rstrip(".")
        yield from said(" ", loss(replace(first, trouble="worse", worse=(first.muted[0].step,))))
        yield from said(" ", Phrase("Muted", _MUTED), f" in {SITE_FILES[0]}", ": " * bool(why), Phrase(why, "", why))
        yield Phrase(f"; so are losses of {counted(len(muted) - 1, 'more eval')}." if muted[1:] else ".")


def _flips(standing: EvalStanding) -> tuple[Flips, int, int, str]:
    """What was fixed and broke, perhaps by chance, the points between which, and how the model changed meanwhile.

    It is that of the newest edit as a whole if the newest output moved nothing since the output before. What broke with
    an edit that made the eval better is none of this.
    """
    change, windows, newest = standing.summary.change, standing.summary.windows, len(standing.summary.headlines) - 1
    moved: Change | Window | None = change
    before, after = newest - 1, newest
    of_edit = not (change and change.flips.fixed + change.flips.broken) and windows and windows[-1].before is not None
    if of_edit:
        moved, before, after = windows[-1], windows[-1].before or 0, windows[-1].after
    if not moved or not moved.flips or not moved.verdict or moved.verdict.decision == "worse":
        return Flips(), before, after, ""
    decision = moved.verdict.decision
    broken = moved.flips.broken * (not (of_edit and decision.endswith("better")))
    flips = Flips(broken=broken, fixed=moved.flips.fixed * (decision != "better"))
    return flips, before, after, exchange("model", moved.model)


def _edits_since(before: int, summary: EvalSummary, files: Iterable[InstructionHistory]) -> list[FileEdit]:
    """The edits between the point ``before`` and the next output of an eval made with others, newest first."""
    at = {window.edit for window in summary.windows if window.before == before and not summary.unlike}
    found = [FileEdit(edit, file.path) for file in files for edit in file.edits if edit.commit.position in at]
    return sorted(found, key=lambda each: -each.edit.commit.position)


def _by_chance(scored: Sequence[EvalStanding], files: Iterable[InstructionHistory], fate: str) -> Iterator[Phrase]:
    """What ``broke`` or ``were fixed``, by chance but for a section: in which eval and field most, after which edit."""
    moves = [(*_flips(one), one.summary) for one in scored]
    fates = {"broke": [of.broken for of, *_ in moves], "were fixed": [of.fixed for of, *_ in moves]}
    groups = [summary.together * (fate == "broke" and bool(of.broken)) for of, *_, summary in moves]
    largest = max(range(len(moves)), key=lambda at: (bool(groups[at]), number_of_cells(fates[fate][at])))
    moved, (_, *points, model, summary) = fates[fate][largest], moves[largest]
    number, of_eval, (field, most) = number_of_cells(moved), eval_phrase(summary), max(moved, key=itemgetter(1))
    values = counted(number, summary.info.nouns.value)
    name = Phrase(said_of(summary.info, field), links.field(summary.info.id, field), field)
    became = "was fixed" if number == 1 and fate == "were fixed" else fate
    opposite = "were fixed" if fate == "broke" else "broke"
    if back := number_of_cells(fates[opposite][largest]):
        became += f" ({back:,} {'was fixed' if back == 1 and fate == 'broke' else opposite})"
    before, after = (output_phrase(summary, summary.headlines[at]) for at in points)
    doubt = "Nothing for certain: " * (not groups[largest])
    yield from said(f"{doubt}{values} {became} in ", of_eval, " from ", before, " to ", after)
    yield Phrase(f", which {summary.unlike}" * bool(summary.unlike))
    yield from said(*(" when ", Phrase(model, "", model)) * bool(model))
    edits = [each.edit.commit for each in _edits_since(points[0], summary, files)]
    for first in edits[: not model]:
        yield from _after(first)
        if other := summary.windows[-1].or_edit or next((commit for commit in edits if commit != first), None):
            yield from said(" or ", Phrase(other.short, links.commit(other.sha)))
    others = sum(map(bool, fates[fate])) - 1
    too = f"; others {fate} in {counted(others, 'more eval')} too" * bool(others)
    where = () if summary.specs[0].equals else (f", {most:,} of them in " if most < number else ", in ", name)
    together = first_names(groups[largest], NAMED_SLICES, lambda of: "{} ({} fixed, {} broken)".format(*of))
    report = Phrase(together, links.report(summary.info.id, summary.headlines[-1].slug), together)
    end = (", beyond chance in ", report) if together else (". This may be chance",)
    yield from said(*where, *end, too)


_BEST: Final = links.regressions() + "#h-best"
"""Where the best output of each eval is listed."""
_ALIKE: Final = " by the same ground truth and rules"  # if these changed as well
_MUTED: Final = links.regressions() + "#h-muted"  # where what is muted is listed


def loss(standing: EvalStanding) -> Iterator[Phrase]:
    """A sentence on the loss of an eval, which must have one."""
    summary, newest, of_eval = standing.summary, standing.newest, eval_phrase(standing.summary)
    if standing.trouble == "unscored":
        output = output_phrase(summary, newest)
        if summary.without_output:
            return said(of_eval, ": its newest output is missing.")
        if newest.status == "no_ground_truth":
            why = ": its ground truth cannot be read, so that its newest output, "
            return said(of_eval, why, output, ", is not scored.")
        if newest.status == "unreadable":
            return said(of_eval, ": its newest output, ", output, ", cannot be read.")
        return said(of_eval, ": its newest output, ", output, ", has no ", metric_phrase(standing.spec), ".")
    step = standing.worst_step
    output, apart = output_phrase(summary, summary.headlines[step.at]), summary.not_by_an_edit(step)
    after = (Phrase(f", {apart}"),) if apart else tuple(_after_edit(step))
    if step.status == "behind":
        most = ", by more than chance; most of it was lost at "
        return said(_distance(standing), most, output, after, ".")
    (spec, metric), verdict = ListedStep(summary, step).metrics[0], step.verdict
    at_once = _fall_at_once(summary, step)
    moved, value = at_once or (metric.change, metric.after)
    whole = step.delta.change if step.delta and step.status == "fell" else None
    end = {"fell": "", "open": " and was not regained"}.get(step.status, "; one more run is needed to tell")
    end += f": its mean since is {metric_text(metric.after, spec.unit)}" * (abs(value - metric.after) > ROUNDING)
    alike = _ALIKE * (whole is not None and abs(moved - whole) > ROUNDING)
    before = ("since ", output_phrase(summary, summary.headlines[step.before]), alike)
    what, since = ((), (" ", *before)) if at_once or step.status == "fell" else (("mean ",), ())
    moves = f" {'fell' if moved < 0 else 'rose'} by {metric_text(abs(moved), spec.unit)}"
    how = (" stayed at ",) if abs(moved) < ROUNDING else (moves, *since, ", to ")
    lost = f"{lost_words(verdict)}; " if verdict and verdict.lost_fields else ""
    now = f"{metric_text(value, spec.unit)} at "
    doubt = Phrase("")
    if verdict and verdict.fixed + verdict.broken and step.status == "fell":
        flaky = f"{links.fields()}#flaky" if verdict.doubts[0] else links.suspect_labels()
        doubt = Phrase(doubts_of(verdict.doubts), flaky * any(verdict.doubts))
        end = f": {moved_words(verdict, summary.specs[0], summary.info.nouns)}"
        end += "; of the broken, " * any(verdict.doubts)
    return said(of_eval, ": ", lost, *what, metric_phrase(spec), *how, now, output, after, end, doubt, ".")


def _fall_at_once(summary: EvalSummary, step: Step) -> tuple[float, float] | None:
    """The change of the headline at an open step, and its value there, if that output alone is worse beyond chance.

    The report of the output says these. None if only the means of several outputs show the loss.
    """
    verdict, value, level = step.verdict, summary.headlines[step.at].values[0], step.metrics[0]
    if step.status != "open" or not verdict or verdict.decision != "worse" or not verdict.change or value is None:
        return None
    is_headline = level.name == summary.specs[0].name and summary.values_now[step.at] == value
    return (verdict.change, value) if is_headline and verdict.change * level.change > 0 else None


def _after_edit(step: Step) -> Iterator[Phrase]:
    """The newest edit between the outputs before and after a step, whether an earlier commit edited, and the model."""
    if step.edited:
        yield from _after(step.edited)
        yield from said(" or an earlier edit" * any(sha != step.edited.sha for _, sha in step.edits))
    if model := exchange("model", step.model):
        yield from said(" and when ", Phrase(model, "", model))


def _after(commit: Commit) -> Iterator[Phrase]:
    page = "" if commit.sha == WORKTREE else links.commit(commit.sha)
    edit = Phrase(f"“{subject_of(commit, 100)}”", page, commit.subject)
    by = (Phrase(line(commit.author, 60), "", commit.author), ", ") if commit.author else ()  # none if uncommitted
    return said(" after ", edit, " (", *by, f"{day(commit.committed_at)})")


def _better(scored: Sequence[EvalStanding], files: Sequence[InstructionHistory]) -> Iterator[Phrase]:
    gained = [standing for standing in scored if standing.summary.gain > ROUNDING]
    steps = [(step, one.summary) for one in scored for step in one.summary.steps if step.status == "better"]
    if gained:
        yield from _gained(gained)
    elif all(len(standing.summary.headlines) == 1 for standing in scored):
        yield from _first_outputs(scored)
    elif any(_flips(standing)[0].fixed for standing in scored):
        yield from _by_chance(scored, files, "were fixed")
    elif steps:
        of_headline = [pair for pair in steps if pair[0].metrics[0].name == pair[1].specs[0].name]
        step, summary = max(of_headline or steps, key=lambda pair: (pair[0].commit.position, pair[0].metrics[0].points))
        spec, metric = ListedStep(summary, step).metrics[0]
        before, after = (metric_text(value, spec.unit) for value in (metric.before, metric.after))
        output = output_phrase(summary, summary.headlines[step.at])
        yield Phrase("No newest output gained anything; the last lasting gain is that of ")
        moved = f" went from {before} to {after} at "
        yield from said(eval_phrase(summary), ": mean ", metric_phrase(spec), moved, output, _after_edit(step))
    else:
        yield Phrase("No newest output gained anything")
    best = sum(standing.behind == 0 for standing in scored)
    if best and any(len(standing.summary.headlines) > 1 for standing in scored):
        all_of = "The eval is" if best == 1 else "Both evals are" if best == 2 else f"All {best} evals are"
        words = all_of if best == len(scored) else f"{best} of {len(scored)} evals {'is' if best == 1 else 'are'}"
        yield from said(". ", Phrase(f"{words} at {'its' if best == 1 else 'their'} best", _BEST))
    yield Phrase(".")


def _first_outputs(scored: Sequence[EvalStanding]) -> Iterator[Phrase]:
    first = min(scored, key=lambda standing: (standing.newest.values[0] is None, standing.summary.info.id))
    output, value = output_phrase(first.summary, first.newest), first.newest.values[0]
    yield from said(eval_phrase(first.summary), " has its first output, ", output)
    if value is not None:
        yield from said(", with ", metric_phrase(first.spec), f" {metric_text(value, first.spec.unit)}")
    if others := len(scored) - 1:
        yield Phrase(f", and {counted(others, 'more eval')} {'has its' if others == 1 else 'have theirs'}")


def _gained(evals: Sequence[EvalStanding]) -> Iterator[Phrase]:
    """The surest gain, then the largest, and how many others there are."""
    standing, *others = sorted(
        evals, key=lambda one: (not _is_sure(one.summary), -one.summary.gain / one.spec.size, one.summary.info.id)
    )
    summary, spec, newest = standing.summary, standing.spec, standing.newest
    amount = metric_text(summary.gain, spec.unit)
    value = metric_text(newest.values[0] or 0.0, spec.unit)
    rose, before = f" {'rose' if spec.higher_is_better else 'fell'} by {amount} since ", summary.headlines[-2]
    whole = summary.change.headline.change if summary.change else None
    alike = _ALIKE * (abs((summary.headline_change or 0.0) - (whole or 0.0)) > ROUNDING)
    yield from said(eval_phrase(summary), ": ", metric_phrase(spec), rose, output_phrase(summary, before), alike)
    yield from said(f", to {value} with ", output_phrase(summary, newest))
    model = exchange("model", summary.change.model if summary.change else None)
    yield from said(*(" when ", Phrase(model, "", model)) * bool(model))
    verdict = summary.change.verdict if summary.change else None
    if verdict and verdict.lost_fields:
        yield Phrase(f", though {lost_words(verdict)}")
    elif not _is_sure(summary):
        likely = verdict is not None and verdict.decision == "likely better"
        why = links.report(summary.info.id, newest.slug) + "#h-y" if verdict else ""
        yield from said(", which ", Phrase("is likely better" if likely else "may be chance", why))
    if others:
        sure = sum(_is_sure(one.summary) for one in others)
        chance = f", {sure} by more than chance" if sure else ", perhaps by chance"
        yield Phrase(f", and {counted(len(others), 'more eval')} gained too{chance * (sure < len(others))}")


def _distance(standing: EvalStanding) -> Iterator[Phrase]:
    best, amount = standing.best, metric_text(standing.behind or 0.0, standing.spec.unit)
    behind = f" is {amount} behind its best "
    yield from said(eval_phrase(standing.summary), behind, metric_phrase(standing.spec))
    if best:
        pair = f"#a={best.slug}&b={standing.newest.slug}"
        yield from said(", ", Phrase(best.label, links.compare(standing.summary.info.id) + pair, best.label))


def _is_sure(summary: EvalSummary) -> bool:
    verdict = summary.change.verdict if summary.change else None
    return verdict is not None and verdict.decision == "better"


Undo: TypeAlias = tuple[ChangedLines, str | None, list[Effect]]
"""The newest edit between the outputs before and after a loss. Association in time: it need not be the cause.

With it the ``way_back``, of all its files, and the evals that got better with the edit, which may lose that again.
"""


def undo_of(
    evals: Sequence[EvalStanding],
    files: Iterable[InstructionHistory],
    effects: EffectIndex,
    patches_of: Callable[[Sequence[Edit]], Iterable[bytes]],
) -> Undo | None:
    """Return the edit before the loss, or the flips, that the first sentence names; None if it names no edit.

    ``evals``: as for ``news``; ``effects``: those of all edits; ``patches_of``: reads the patches of edits. Nothing is
    to be undone after which the headline did not fall.
    """
    scored = [standing for standing in evals if standing.summary.headlines]
    if not scored or scored[0].trouble == "unscored":
        return None
    if scored[0].trouble in LOST:
        step = scored[0].worst_step
        if step.model or scored[0].summary.not_by_an_edit(step):
            return None  # nothing says that it was an edit
        every = (FileEdit(edit, file.path) for file in files for edit in file.edits)
        found = [at for at in every if (at.edit.path, at.edit.commit.sha) in step.edits]
        named = [at for at in found if (at.edit.path, at.edit.commit.sha) in step.edits[:1]] or found
    else:
        (flips, before, after, model), summary = max(
            ((_flips(one), one.summary) for one in scored),
            key=lambda move: (bool(move[0][0].broken and move[1].together), number_of_cells(move[0][0].broken)),
        )
        broken = () if any(one.summary.fallen for one in scored) else flips.broken  # the sentence is of slices
        old, new = (summary.values_now[at] or 0.0 for at in (before, after))
        fell = new < old if summary.specs[0].higher_is_better else new > old
        since = _edits_since(before, summary, files) if broken and fell and not model else []
        found = [at for at in since if effects.drives(at.file, summary.info.id)]
        named = [at for at in found if words_of_name(section(broken[0][0])) <= words_of_name(at.file)] or found
    if not found:
        return None
    changed = changed_lines(named, patches_of([at.edit for at in named]))
    commits = {None, *(at.edit.commit for at in found)}
    by_either = scored[0].trouble not in LOST and summary.windows[-1].or_edit not in commits
    of_edit = effects.effects_of(changed[0].edit.commit.position)
    gained = [effect for effect in of_edit if effect.decision in ("better", "likely better")]
    return changed, None if by_either else way_back(found), gained
