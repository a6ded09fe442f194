"""Three sentences on the state of all evals: what got worse, what got better, and what to do next.

The overview and ``summary.md`` begin with them. Each names its evidence as a link.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from sitegen.analysis.standing import LOST, EvalStanding, nothing_is_worse
from sitegen.model.commits import WORKTREE
from sitegen.model.metrics import MetricSpec
from sitegen.model.noise import Decision
from sitegen.model.regressions import Step
from sitegen.model.series import EvalSummary, Headline
from sitegen.pages import links
from sitegen.pages.labels import CAUSES, exchange
from sitegen.pages.overview.focus import FocusView
from sitegen.pages.report.patterns import pattern_words
from sitegen.pages.report.sections import TOP_LEVEL
from sitegen.text.values import metric_text

BETTER: Final[tuple[Decision, ...]] = ("better",)
"""Verdicts on a gain that are more than chance."""

_ROUNDING: Final = 1e-9


class Phrase(NamedTuple):
    """A part of a sentence: words of ours, or a name of the project."""

    text: str
    href: str = ""
    """The page with the evidence, from the root of the site; empty: no link."""
    quoted: str = ""
    """Of a name of the project: what a text for programs quotes in its place, such as the id of an eval."""


class Sentence(NamedTuple):
    """One sentence."""

    title: str
    phrases: tuple[Phrase, ...]
    good: bool = False
    """Whether it says that nothing is worse."""

    @property
    def text(self) -> str:
        """The sentence without links."""
        return "".join(phrase.text for phrase in self.phrases)


def news(
    evals: Sequence[EvalStanding], focus: FocusView | None, *, losses_follow: bool = False
) -> tuple[Sentence, ...]:
    """The sentences, from all evals that are not deleted, the one in most trouble first; none if there are none.

    *losses_follow* says that the losses of further evals stand below, so that the first sentence does not name them.
    """
    scored = [standing for standing in evals if standing.summary.headlines]
    if not evals:
        return ()
    if not scored:
        first = evals[0].summary
        return (
            Sentence("What got worse", (Phrase("Nothing can be told yet: no eval has an output."),)),
            Sentence("What to do next", (Phrase("Commit the first output of "), _eval_name(first), Phrase("."))),
        )
    return (
        Sentence("What got worse", tuple(_worse(scored, losses_follow)), good=nothing_is_worse(scored)),
        Sentence("What got better", tuple(_better(scored))),
        Sentence("What to do next", tuple(_next(scored, focus))),
    )


def _worse(scored: Sequence[EvalStanding], losses_follow: bool) -> Iterator[Phrase]:
    lost = [standing for standing in scored if standing.trouble in LOST]
    if lost:
        yield from loss(lost[0])
        if len(lost) > 1 and not losses_follow:
            yield Phrase(" Also worse, or seemingly so: ")
            yield (
                _eval_name(lost[1].summary)
                if len(lost) == 2
                else Phrase(f"{len(lost) - 1:,} evals", links.regressions())
            )
            yield Phrase(".")
        return
    if all(len(standing.summary.headlines) == 1 for standing in scored):
        yield Phrase("Nothing can be worse yet: no eval has a second output.")
        return
    behind = sorted((standing for standing in scored if standing.behind), key=lambda standing: -standing.size)
    yield Phrase("Nothing by more than noise")
    if behind:
        yield Phrase("; ")
        yield from _distance(behind[0])
        yield Phrase(", which may be chance")
        if len(behind) > 1:
            yield Phrase(", and ")
            yield Phrase(_count(len(behind) - 1, "more eval is behind too", "more evals are behind too"), _BEST)
    yield Phrase(".")


_BEST: Final = links.regressions() + "#h-best"
"""Where the best output of each eval is listed."""


def loss(standing: EvalStanding) -> Iterator[Phrase]:
    """What an eval lost, as a sentence; of an eval that lost something."""
    summary, spec, newest = standing.summary, standing.spec, standing.newest
    if standing.trouble == "unscored":
        yield _eval_name(summary)
        yield Phrase(": its newest output, ")
        yield _output(summary, newest)
        yield Phrase(", ")
        if newest.status == "no_ground_truth":
            yield Phrase("has no ground truth that can be read.")
        elif newest.status == "unreadable":
            yield Phrase("cannot be read.")
        else:
            yield Phrase("has no ")
            yield from _metric(spec)
            yield Phrase(".")
        return
    steps = [*standing.lost, *standing.too_new]
    of_headline = standing.lost and standing.lost[0].metrics[0].name == spec.name
    if standing.behind_by_more_than_chance and not of_headline:
        yield from _distance(standing)
        yield Phrase(", by more than chance.")
        return
    step, metric = steps[0], steps[0].metrics[0]
    stepped = next(spec for spec in summary.specs if spec.name == metric.name)
    yield _eval_name(summary)
    yield Phrase(": ")
    yield from _metric(stepped)
    yield Phrase(
        f" {'fell' if metric.after < metric.before else 'rose'} from {metric_text(metric.before, 3, stepped.unit)} to "
        f"{metric_text(metric.after, 3, stepped.unit)} at "
    )
    yield _output(summary, summary.headlines[step.at])
    yield Phrase(" and was not regained." if step.status == "open" else ", too new to tell from noise.")


def _better(scored: Sequence[EvalStanding]) -> Iterator[Phrase]:
    gains = sorted(
        ((_gain(standing.summary), standing) for standing in scored if _gain(standing.summary) > _ROUNDING),
        key=lambda pair: (not _is_sure(pair[1].summary), -pair[0], pair[1].summary.info.id),
    )
    if gains:
        yield from _gained(*gains[0])
        if len(gains) > 1:
            yield Phrase(f", and {_count(len(gains) - 1, 'more eval', 'more evals')} gained too")
    elif all(len(standing.summary.headlines) == 1 for standing in scored):
        first = min(scored, key=lambda standing: (standing.newest.values[0] is None, standing.summary.info.id))
        yield from _first_output(first)
        if len(scored) > 1:
            yield Phrase(f", and {_count(len(scored) - 1, 'more eval has its', 'more evals have theirs')}")
    elif steps := [(step, standing.summary) for standing in scored for step in standing.summary.steps if _is_up(step)]:
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
    yield _eval_name(summary)
    yield Phrase(": ")
    yield from _metric(spec)
    yield Phrase(f" {'rose' if spec.higher_is_better else 'fell'} by {metric_text(amount, 3, spec.unit)} to ")
    yield Phrase(f"{metric_text(newest.values[0] or 0.0, 3, spec.unit)} with ")
    yield _output(summary, newest)
    if not _is_sure(summary):
        yield Phrase(", which may be chance")


def _first_output(standing: EvalStanding) -> Iterator[Phrase]:
    summary, value = standing.summary, standing.newest.values[0]
    yield _eval_name(summary)
    yield Phrase(" has its first output, ")
    yield _output(summary, standing.newest)
    if value is not None:
        yield Phrase(", with ")
        yield from _metric(standing.spec)
        yield Phrase(f" {metric_text(value, 3, standing.spec.unit)}")


def _last_gain(step: Step, summary: EvalSummary) -> Iterator[Phrase]:
    metric = step.metrics[0]
    spec = next(spec for spec in summary.specs if spec.name == metric.name)
    yield _eval_name(summary)
    yield Phrase(": ")
    yield from _metric(spec)
    before, after = (metric_text(value, 3, spec.unit) for value in (metric.before, metric.after))
    yield Phrase(f" went from {before} to {after} at ")
    yield _output(summary, summary.headlines[step.at])


def _next(scored: Sequence[EvalStanding], focus: FocusView | None) -> Iterator[Phrase]:
    worst = scored[0]
    step = next((step for step in worst.lost if step.metrics[0].name == worst.spec.name), None)
    if worst.trouble == "unscored":
        yield Phrase("Repair the newest output of ")
        yield _eval_name(worst.summary)
        yield Phrase("; the problems page says ")
        yield Phrase("what is wrong with it", links.problems())
    elif step:
        yield from _look_at(worst.summary, step)
    elif worst.behind_by_more_than_chance and worst.best:
        pair = f"#a={worst.best.slug}&b={worst.newest.slug}"
        yield Phrase("Compare", links.compare(worst.summary.info.id) + pair)
        yield Phrase(" the newest output of ")
        yield _eval_name(worst.summary)
        yield Phrase(" with its best, ")
        yield _output(worst.summary, worst.best)
        yield Phrase(", and undo what broke it")
    elif worst.trouble == "too new":
        yield Phrase("Make another output of ")
        yield _eval_name(worst.summary)
        yield Phrase(" or two: they tell whether the fall is noise")
    elif stale := [standing for standing in scored if standing.summary.stale]:
        yield Phrase("Make new outputs of ")
        yield _eval_name(stale[0].summary)
        if len(stale) > 1:
            yield Phrase(f" and {_count(len(stale) - 1, 'more eval', 'more evals')}")
        yield Phrase(": instructions were edited since the newest")
    else:
        yield from _work(scored, focus)
    yield Phrase(".")


def _look_at(summary: EvalSummary, step: Step) -> Iterator[Phrase]:
    at, circumstances = summary.headlines[step.at], step.circumstances
    if circumstances.edits:
        edit = circumstances.edits[0]
        yield Phrase("Look at the edit of ")
        yield Phrase(edit.path, "" if edit.sha == WORKTREE else links.commit(edit.sha), edit.path)
        yield Phrase(" before ")
        yield _output(summary, at)
        yield Phrase(" of ")
        yield _eval_name(summary)
        number = len(circumstances.edits) + circumstances.more_edits - 1
        if number:
            yield Phrase(f", and {_count(number, 'edit', 'edits')} beside it")
        return
    yield Phrase("Look at ")
    yield _output(summary, at)
    yield Phrase(" of ")
    yield _eval_name(summary)
    yield Phrase(": ")
    yield Phrase(" and ".join(CAUSES[cause] for cause in circumstances.causes) + ", ")
    if circumstances.model:
        yield Phrase(exchange("model", circumstances.model), "", exchange("model", circumstances.model))
    else:
        yield Phrase("and no edit of instructions beside it")


def _work(scored: Sequence[EvalStanding], focus: FocusView | None) -> Iterator[Phrase]:
    """Where the errors are: of the eval below its target that lacks most, else of all."""
    missed = next((standing for standing in scored if standing.below_target), None)
    alike = max((standing for standing in scored if _is_mostly_alike(standing)), key=_errors_alike, default=None)
    if alike:
        yield Phrase("Work on ")
        yield _eval_name(alike.summary)
        yield Phrase(": ")
        yield from _alike(alike)
    elif missed:
        target = dict(missed.summary.info.thresholds)[missed.spec.name]
        value = metric_text(missed.newest.values[0] or 0.0, 3, missed.spec.unit)
        yield Phrase("Bring ")
        yield _eval_name(missed.summary)
        yield Phrase(f" from {value} to its target of {metric_text(target, 3, missed.spec.unit)}")
        if missed.summary.focus.sections:
            section = missed.summary.focus.sections[0]
            yield Phrase(": ")
            yield from _errors(sum(section.errors), sum(missed.newest.errors), section.name, missed.summary)
    elif focus:
        row = focus.sections[0]
        shares = [
            (sum(section.errors), standing.summary)
            for standing in scored
            for section in standing.summary.focus.sections
            if section.name == row.name
        ]
        most, summary = max(shares, key=lambda share: share[0])
        every = sum(sum(s.newest.errors) for s in scored if not s.summary.info.recorded)
        if len(scored) == 1:
            yield Phrase("Work on ")
            yield _eval_name(summary)
            yield Phrase(": ")
            yield from _errors(most, every, row.name, summary)
        else:
            yield Phrase("Work on ")
            yield _section(row.name)
            yield Phrase(f": {sum(row.errors):,} of {_count(every, 'error', 'errors')} are there, {most:,} of them in ")
            yield Phrase(summary.info.name, links.report(summary.info.id, summary.headlines[-1].slug), summary.info.id)
    elif all(standing.summary.info.recorded for standing in scored):
        yield Phrase("Nothing follows from these numbers: runs recorded them without what was wrong")
    else:
        yield Phrase("Nothing: no newest output has an error")
    yield from _suspects([standing.summary for standing in scored if standing.summary.suspects])


def _alike(standing: EvalStanding) -> Iterator[Phrase]:
    words = pattern_words(standing.summary.patterns[0], standing.spec, standing.summary.info.nouns)
    yield Phrase(words.share, links.report(standing.summary.info.id, standing.newest.slug) + "#h-ep")
    yield Phrase(words.where)
    if words.since:
        yield Phrase(words.since, "", words.since)
    yield Phrase(words.without)


def _is_mostly_alike(standing: EvalStanding) -> bool:
    """Whether one error pattern explains half of the errors of the newest output."""
    patterns = standing.summary.patterns
    return bool(patterns) and 2 * patterns[0].errors >= patterns[0].total


def _errors_alike(standing: EvalStanding) -> int:
    return standing.summary.patterns[0].errors


def _suspects(evals: Sequence[EvalSummary]) -> Iterator[Phrase]:
    """The labels that may be wrong in these evals, each of which has some."""
    if not evals:
        return
    yield Phrase("; settle the ")
    number = _count(sum(len(summary.suspects) for summary in evals), "label", "labels")
    yield Phrase(f"{number} that may be wrong", links.suspect_labels())
    yield Phrase(" in ")
    yield _eval_name(evals[0]) if len(evals) == 1 else Phrase(f"{len(evals)} evals")
    yield Phrase(" first")


def _errors(number: int, every: int, section: str, summary: EvalSummary) -> Iterator[Phrase]:
    at = summary.headlines[-1]
    yield Phrase(f"{number:,} of its {_count(every, 'error', 'errors')}", links.report(summary.info.id, at.slug))
    yield Phrase(f" {'is' if number == 1 else 'are'} in ")
    yield _section(section)


def _section(section: str) -> Phrase:
    return Phrase("its fields at the top level") if section in ("", TOP_LEVEL) else Phrase(section, "", section)


def _distance(standing: EvalStanding) -> Iterator[Phrase]:
    yield _eval_name(standing.summary)
    yield Phrase(f" is {metric_text(standing.behind or 0.0, 3, standing.spec.unit)} behind its best ")
    yield from _metric(standing.spec)
    if standing.best:
        yield Phrase(", ")
        yield _output(standing.summary, standing.best)


def _metric(spec: MetricSpec) -> Iterator[Phrase]:
    yield Phrase(spec.label, "", spec.label if spec.recorded else "")


def _eval_name(summary: EvalSummary) -> Phrase:
    return Phrase(summary.info.name, links.eval_trend(summary.info.id), summary.info.id)


def _output(summary: EvalSummary, at: Headline) -> Phrase:
    return Phrase(at.label, links.report(summary.info.id, at.slug), at.label)


def _count(number: int, singular: str, plural: str) -> str:
    return f"{number:,} {singular if number == 1 else plural}"


def _gain(summary: EvalSummary) -> float:
    """What the newest output gained, in hundredths of the metric's range; 0 if nothing, or if it is undefined."""
    delta, spec = summary.delta, summary.specs[0]
    if delta is None or delta.headline.change is None:
        return 0.0
    change = delta.headline.parts.outputs if delta.headline.parts else delta.headline.change
    return 100 * change / (spec.high - spec.low) * (1 if spec.higher_is_better else -1)


def _is_sure(summary: EvalSummary) -> bool:
    return summary.last_change is not None and summary.last_change.decision in BETTER


def _is_up(step: Step) -> bool:
    return step.status == "better"
