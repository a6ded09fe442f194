"""Sentences whose parts link to their evidence, and the sentence on what to do next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sitegen.analysis.standing import EvalStanding
from sitegen.model.changes import Step
from sitegen.model.commits import WORKTREE
from sitegen.model.frozen import Frozen
from sitegen.model.metrics import MetricSpec
from sitegen.model.series import EvalSummary, Headline
from sitegen.pages import links
from sitegen.pages.labels import CAUSES, exchange
from sitegen.pages.overview.focus import FocusView
from sitegen.pages.report.discrepancies import TOP_LEVEL
from sitegen.pages.report.patterns import pattern_words
from sitegen.text.plain import counted
from sitegen.text.values import metric_text


class Phrase(Frozen):
    """A part of a sentence: our words, or a name of the project."""

    text: str
    href: str = ""
    """Address of the page with the evidence, relative to the root of the site; empty without a link."""
    quoted: str = ""
    """For a name of the project, the text that files for programs quote in its place, such as the id of an eval."""


class Sentence(Frozen):
    """One sentence."""

    title: str
    phrases: tuple[Phrase, ...]
    good: bool = False
    """Whether it states that nothing is worse."""

    @property
    def text(self) -> str:
        """The sentence without links."""
        return "".join(phrase.text for phrase in self.phrases)


def metric_phrases(spec: MetricSpec) -> Iterator[Phrase]:
    """The name of a metric, which is the project's if runs recorded it."""
    yield Phrase(spec.label, "", spec.label if spec.recorded else "")


def eval_phrase(summary: EvalSummary) -> Phrase:
    """The name of an eval, with a link to its trend."""
    return Phrase(summary.info.name, links.eval_trend(summary.info.id), summary.info.id)


def output_phrase(summary: EvalSummary, at: Headline) -> Phrase:
    """The label of an output, with a link to its report."""
    return Phrase(at.label, links.report(summary.info.id, at.slug), at.label)


def next_step(scored: Sequence[EvalStanding], focus: FocusView | None) -> Iterator[Phrase]:
    """The sentence, from the evals with output, the one in most trouble first."""
    worst = scored[0]
    step = worst_step(worst) if worst.worse else None
    if worst.trouble == "unscored":
        is_truth = worst.newest.status == "no_ground_truth" and not worst.summary.without_output
        yield Phrase(f"Repair the {'ground truth' if is_truth else 'newest output'} of ")
        yield eval_phrase(worst.summary)
        yield Phrase("; the problems page says ")
        yield Phrase("what is wrong with it", links.problems())
    elif step and step.status in ("fell", "open"):
        yield from _look_at(worst.summary, step)
    elif step and step.status == "behind" and worst.best:
        pair = f"#a={worst.best.slug}&b={worst.newest.slug}"
        yield Phrase("Compare", links.compare(worst.summary.info.id) + pair)
        yield Phrase(" the newest output of ")
        yield eval_phrase(worst.summary)
        yield Phrase(" with its best, ")
        yield output_phrase(worst.summary, worst.best)
        yield Phrase(", and undo what broke it")
    elif worst.trouble == "too new":
        yield Phrase("Make another output of ")
        yield eval_phrase(worst.summary)
        yield Phrase(" or two: they tell whether the fall is noise")
    elif stale := [standing for standing in scored if standing.summary.stale]:
        yield Phrase("Make new outputs of ")
        yield eval_phrase(stale[0].summary)
        if len(stale) > 1:
            yield Phrase(f" and {counted(len(stale) - 1, 'more eval')}")
        yield Phrase(": instructions were edited since the newest")
    else:
        yield from _work(scored, focus)
    yield Phrase(".")


def worst_step(standing: EvalStanding) -> Step:
    """The loss to name first of an eval that has one: the surest, then the largest."""
    return min(standing.worse, key=lambda step: step.status == "new")


def _look_at(summary: EvalSummary, step: Step) -> Iterator[Phrase]:
    at, circumstances = summary.headlines[step.at], step.circumstances
    if circumstances.edits:
        edit = circumstances.edits[0]
        yield Phrase("Look at the edit of ")
        yield Phrase(edit.path, "" if edit.sha == WORKTREE else links.commit(edit.sha), edit.path)
        yield Phrase(" before ")
        yield output_phrase(summary, at)
        yield Phrase(" of ")
        yield eval_phrase(summary)
        number = len(circumstances.edits) + circumstances.more_edits - 1
        if number:
            yield Phrase(f", and {counted(number, 'edit')} beside it")
        return
    yield Phrase("Look at ")
    yield output_phrase(summary, at)
    yield Phrase(" of ")
    yield eval_phrase(summary)
    yield Phrase(": ")
    yield Phrase(" and ".join(CAUSES[cause] for cause in circumstances.causes) + ", ")
    if circumstances.model:
        yield Phrase(exchange("model", circumstances.model), "", exchange("model", circumstances.model))
    else:
        yield Phrase("and no edit of instructions beside it")


def _could_score_better(standing: EvalStanding) -> bool:
    """Whether an output has only scores, and its headline could be better."""
    value, spec = standing.newest.values[0], standing.spec
    is_best = value is None or (value >= spec.high if spec.higher_is_better else value <= spec.low)
    return not is_best and standing.summary.has_only_scores


def _work(scored: Sequence[EvalStanding], focus: FocusView | None) -> Iterator[Phrase]:
    """Where the errors are: of the eval that is furthest below its target, or else of all evals."""
    missed = next((standing for standing in scored if standing.below_target), None)
    alike = max((standing for standing in scored if _is_mostly_alike(standing)), key=_errors_alike, default=None)
    if alike:
        yield Phrase("Work on ")
        yield eval_phrase(alike.summary)
        yield Phrase(": ")
        yield from _pattern_phrases(alike)
    elif missed:
        target = missed.spec.target(missed.summary.info.thresholds) or 0.0
        value = metric_text(missed.newest.values[0] or 0.0, 3, missed.spec.unit)
        yield Phrase("Bring ")
        yield eval_phrase(missed.summary)
        yield Phrase(f" from {value} to its target of {metric_text(target, 3, missed.spec.unit)}")
        if missed.summary.focus.sections:
            section = missed.summary.focus.sections[0]
            yield Phrase(": ")
            yield from _errors(sum(section.errors), sum(missed.newest.errors), section.name, missed.summary)
    elif focus:
        row, _ = focus.sections[0]
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
            yield eval_phrase(summary)
            yield Phrase(": ")
            yield from _errors(most, every, row.name, summary)
        else:
            yield Phrase("Work on ")
            yield _section(row.name)
            yield Phrase(f": {sum(row.errors):,} of {counted(every, 'error')} are there, {most:,} of them in ")
            yield Phrase(summary.info.name, links.report(summary.info.id, summary.headlines[-1].slug), summary.info.id)
    elif all(standing.summary.info.recorded for standing in scored):
        yield Phrase("These numbers suggest no next step: the runs did not record which values were wrong")
    elif uncounted := next(filter(_could_score_better, scored), None):
        yield Phrase("Read the cases with the lowest scores in ")
        yield output_phrase(uncounted.summary, uncounted.newest)
        yield Phrase(" of ")
        yield eval_phrase(uncounted.summary)
    else:
        yield Phrase("Nothing: no newest output has an error")
    yield from _suspects([standing.summary for standing in scored if standing.summary.suspects])


def _pattern_phrases(standing: EvalStanding) -> Iterator[Phrase]:
    share, where, since, without = pattern_words(
        standing.summary.patterns[0], standing.spec, standing.summary.info.nouns
    )
    yield Phrase(share, links.report(standing.summary.info.id, standing.newest.slug) + "#h-ep")
    yield Phrase(where)
    if since:
        yield Phrase(since, "", since)
    yield Phrase(without)


def _is_mostly_alike(standing: EvalStanding) -> bool:
    """Whether one error pattern explains half of the errors of the newest output."""
    patterns = standing.summary.patterns
    return bool(patterns) and 2 * patterns[0].errors >= patterns[0].total


def _errors_alike(standing: EvalStanding) -> int:
    return standing.summary.patterns[0].errors


def _suspects(evals: Sequence[EvalSummary]) -> Iterator[Phrase]:
    """The labels that may be wrong in these evals, each of which has at least one."""
    if not evals:
        return
    yield Phrase("; settle the ")
    number = counted(sum(len(summary.suspects) for summary in evals), "label")
    yield Phrase(f"{number} that may be wrong", links.suspect_labels())
    yield Phrase(" in ")
    yield eval_phrase(evals[0]) if len(evals) == 1 else Phrase(f"{len(evals)} evals")
    yield Phrase(" first")


def _errors(number: int, every: int, section: str, summary: EvalSummary) -> Iterator[Phrase]:
    at = summary.headlines[-1]
    yield Phrase(f"{number:,} of its {counted(every, 'error')}", links.report(summary.info.id, at.slug))
    yield Phrase(f" {'is' if number == 1 else 'are'} in ")
    yield _section(section)


def _section(section: str) -> Phrase:
    return Phrase("its fields at the top level") if section in ("", TOP_LEVEL) else Phrase(section, "", section)
