"""What to work on, for one eval and for all: errors by section of the schema, and the sentence on what to do next."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, TypeAlias

from sitegen.analysis.change import change
from sitegen.analysis.flips import count_flips, flipped_cells, number_of_cells
from sitegen.analysis.series import last_other_output, output_of_each
from sitegen.analysis.slices import At
from sitegen.analysis.standing import EvalStanding
from sitegen.importers.case import VERDICT_FIELD
from sitegen.model.changes import Step
from sitegen.model.commits import WORKTREE
from sitegen.model.frozen import Frozen, grouped
from sitegen.model.metrics import MetricSpec, traits_of
from sitegen.model.outcomes import Flips
from sitegen.model.series import EvalInfo, EvalSummary, Headline, Point, Series, Streak, WeakSection
from sitegen.model.timeline import InstructionHistory
from sitegen.pages import links
from sitegen.pages.labels import CAUSES, doubts_of, exchange
from sitegen.pages.report.discrepancies import TOP_LEVEL, grouping, sections
from sitegen.pages.report.patterns import pattern_words
from sitegen.stats.counts import PASSED
from sitegen.stats.significance import ALPHA, sign_test
from sitegen.text.plain import counted
from sitegen.text.values import metric_text

_OF_EVAL: Final = 12  # number of entries in each list of the focus of one eval
_LISTED_ROWS: Final = 6  # number of entries in each list on the overview
PATTERNS: Final = 3
"""Number of evals whose error pattern the overview names."""
_DOUBTS: Final = ("another judge", "within the noise of repeats", "documents flip as a whole")  # not by counts of flips


BrokenField: TypeAlias = tuple[str, int, tuple[EvalSummary, ...], str]
"""A field that is wrong in the newest outputs of evals, and right in the previous ones: its cells, the evals, and why
some of this says little."""


class FocusView(Frozen):
    """What to work on in all evals."""

    sections: tuple[tuple[WeakSection, tuple[EvalSummary, ...]], ...]
    """Sections of the schema with their errors in all evals, and the evals that have them in their newest report."""
    broken: tuple[BrokenField, ...]
    longest: tuple[tuple[EvalInfo, Streak], ...]
    """The longest streaks of errors that last to the newest output."""
    patterns: tuple[EvalSummary, ...] = ()
    """The evals whose error patterns have the most errors."""


def weak_sections(series: Series) -> tuple[WeakSection, ...]:
    """The sections with the most errors of the newest output of an eval."""
    fields = series.points[-1].scorecard.fields if series.points else ()
    weak = [section for section in sections(fields, grouping(series.info, fields)) if sum(section.errors)]
    weak.sort(key=lambda section: (-sum(section.errors), section.name))
    return tuple(weak[:_OF_EVAL])


def focus_view(alive: Sequence[EvalSummary]) -> FocusView | None:
    """The focus over evals that are not deleted; None if nothing is wrong anywhere."""
    rows = []
    sections = ((section, summary) for summary in alive for section in summary.weak)
    for name, of_evals in grouped((section.name, (section, summary)) for section, summary in sections).items():
        errors = tuple(map(sum, zip(*(section.errors for section, _ in of_evals), strict=True)))
        total = WeakSection(name=name, errors=errors, judged=sum(section.judged for section, _ in of_evals))
        rows.append((total, tuple(summary for _, summary in of_evals)))
    weak = tuple(sorted(rows, key=lambda row: (-sum(row[0].errors), row[0].name))[:_LISTED_ROWS])
    if not weak:
        return None
    streaks = [(summary.info, streak) for summary in alive for streak in summary.longest]
    streaks.sort(key=lambda row: (-row[1].outputs, -row[1].cells, row[0].id, row[1].attribute))
    with_patterns = [summary for summary in alive if summary.patterns]
    with_patterns.sort(key=lambda summary: (-summary.patterns[0].errors, summary.info.id))
    return FocusView(
        sections=weak,
        broken=_broken_rows(alive),
        longest=tuple(streaks[:_LISTED_ROWS]),
        patterns=tuple(with_patterns[:PATTERNS]),
    )


def words_of(summary: EvalSummary) -> tuple[str, str, str, str]:
    """The parts of the sentence on the largest error pattern of the newest output of an eval."""
    return pattern_words(summary.patterns[0], summary.specs[0], summary.value, summary.info.nouns)


def said_of(info: EvalInfo, attribute: str) -> str:
    """What lists of errors call an attribute: the one verdict of a case, ``passed``, has failed there."""
    return "failed" if traits_of(info.kind).names_scores and attribute == VERDICT_FIELD else attribute


def newly_wrong(series: Series) -> Flips:
    """The fields that the newest output broke, by the newest ground truth and rules."""
    before = last_other_output(series.points)
    flips = Flips() if before is None else change(series, before, len(series.points) - 1).flips
    return Flips(broken=flips.broken[:_OF_EVAL], doubts=flips.doubts)


def fell_together(info: EvalInfo, point: Point | None, at: At) -> Iterator[tuple[str, int, int]]:
    """The sections of which several fields broke by more than chance, with the values fixed and broken in each."""
    verdict = point.change.verdict if point and point.change else None
    if point is None or verdict is None or verdict.why in _DOUBTS:
        return
    group = grouping(info, point.scorecard.fields)
    # At the level of all sections together.
    level = ALPHA / max(1, len({group(field.attribute) for field in point.scorecard.fields}))
    for name, flipped in grouped((group(flip.cell.attribute), flip) for flip in flipped_cells(*at)).items():
        found = count_flips(flipped, at[0].cases)
        fixed, broken = found.independent
        if name != TOP_LEVEL and found.broken[1:] and broken > fixed and sign_test(fixed, broken) < level:
            yield name, number_of_cells(found.fixed), number_of_cells(found.broken)


def longest_streaks(series: Series) -> tuple[Streak, ...]:
    """The streaks that last to the newest point, one for each section and start; an attribute counts by its longest."""
    if not series.points:
        return ()
    last = len(series.points) - 1
    outputs = output_of_each([point.first_with_output for point in series.points])
    starts: dict[str, list[int]] = {}
    for cell in series.cells.cells:
        since = cell.wrong_since(last)
        if since is not None:
            starts.setdefault(cell.attribute, []).append(since)
    together: dict[tuple[int, str], list[tuple[int, str]]] = {}
    group = grouping(series.info, series.points[-1].scorecard.fields)
    for attribute, cell_starts in starts.items():
        start = min(cell_starts)
        together.setdefault((start, group(attribute)), []).append((-cell_starts.count(start), attribute))
    streaks = []
    for (start, _), fields in together.items():
        at = series.points[start].snapshot
        _, attribute = min(fields)  # the field with the most cells, because their number is negated
        streaks.append(
            Streak(
                attribute=attribute,
                more=len(fields) - 1,
                cells=-sum(negative for negative, _ in fields),
                since=at.label,
                slug=at.slug,
                outputs=len(set(outputs[start:])),
            )
        )
    return tuple(sorted(streaks, key=lambda streak: (-streak.outputs, -streak.cells, streak.attribute))[:_OF_EVAL])


def _broken_rows(summaries: Iterable[EvalSummary]) -> tuple[BrokenField, ...]:
    found: dict[str, list[tuple[int, int, int, EvalSummary]]] = {}
    for summary in summaries:
        doubts = {attribute: counts for attribute, *counts in summary.newly_wrong.doubts}
        for attribute, cells in summary.newly_wrong.broken:
            often, labels = doubts.get(attribute, (0, 0))
            found.setdefault(attribute, []).append((cells, often, labels, summary))
    rows = [
        (attribute, sum(cells), evals, doubts_of((sum(often), sum(labels))))
        for attribute, of_evals in found.items()
        for cells, often, labels, evals in [tuple(zip(*of_evals, strict=True))]
    ]
    return tuple(sorted(rows, key=lambda row: (-row[1], row[0]))[:_LISTED_ROWS])


def lacking(before: Point, after: Point) -> str:
    """That an output lacks documents that the one before had: ``lacks 2 documents``; empty if it has them all."""
    had = {document.name for document in before.scorecard.documents if document.status == "scored"}
    lost = sum(document.status == "unreadable" and document.name in had for document in after.scorecard.documents)
    return f"lacks {counted(lost, 'document')}" if lost else ""


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


def metric_phrase(spec: MetricSpec) -> Phrase:
    """The name of a metric, which is the project's if runs recorded it."""
    return Phrase(spec.label, "", spec.label if spec.recorded else "")


def eval_phrase(summary: EvalSummary) -> Phrase:
    """The name of an eval, with a link to its trend."""
    return Phrase(summary.info.name, links.eval_trend(summary.info.id), summary.info.id)


def output_phrase(summary: EvalSummary, at: Headline) -> Phrase:
    """The label of an output, with a link to its report."""
    return Phrase(at.label, links.report(summary.info.id, at.slug), at.label)


def said(*parts: str | Phrase | Iterable[Phrase]) -> Iterator[Phrase]:
    """A sentence, or a part of one, from its parts in order. A text is in our words; a part may be empty."""
    for part in parts:
        if isinstance(part, str):
            yield Phrase(part)
        else:
            yield from (part,) if isinstance(part, Phrase) else part


def next_step(
    scored: Sequence[EvalStanding], focus: FocusView | None, files: Iterable[InstructionHistory]
) -> Iterator[Phrase]:
    """The sentence, from the evals with output, the one in most trouble first."""
    worst = scored[0]
    of_eval, step = eval_phrase(worst.summary), worst.worst_step if worst.worse else None
    if worst.trouble == "unscored":
        is_truth = worst.newest.status == "no_ground_truth" and not worst.summary.without_output
        problem = Phrase("what is wrong with it", links.problems())
        file = "ground truth" if is_truth else "newest output"
        return said(f"Repair the {file} of ", of_eval, "; the problems page says ", problem, ".")
    if step and step.status in ("fell", "open"):
        return _look_at(worst.summary, step)
    if step and step.status == "behind" and worst.best:
        pair = f"#a={worst.best.slug}&b={worst.newest.slug}"
        compare = Phrase("Compare", links.compare(worst.summary.info.id) + pair)
        best = output_phrase(worst.summary, worst.best)
        return said(compare, " the newest output of ", of_eval, " with its best, ", best, ", and undo what broke it.")
    if worst.trouble == "too new":
        return said("Make another output of ", of_eval, " or two: they tell whether the fall is noise.")
    if stale := [standing.summary for standing in scored if standing.summary.stale]:
        others = f" and {counted(len(stale) - 1, 'more eval')}" if len(stale) > 1 else ""
        return said(
            "Make new outputs of ", eval_phrase(stale[0]), f"{others}: instructions were edited since the newest."
        )
    work, suspects = _work(scored, focus, files), [each.summary for each in scored if each.summary.suspects]
    if not suspects:
        return said(work, ".")
    number = counted(sum(len(summary.suspects) for summary in suspects), "label")
    labels = Phrase(f"{number} that may be wrong", links.suspect_labels())
    where = eval_phrase(suspects[0]) if len(suspects) == 1 else f"{len(suspects)} evals"
    return said(work, "; settle the ", labels, " in ", where, " first.")


def _look_at(summary: EvalSummary, step: Step) -> Iterator[Phrase]:
    of_eval, output = eval_phrase(summary), output_phrase(summary, summary.headlines[step.at])
    model, number = exchange("model", step.model), len(step.edits) + step.more_edits
    if apart := summary.not_by_an_edit(step):
        return said("Look at ", output, " of ", of_eval, f", {apart}: it does not tell what an edit did.")
    if step.edits and not model:
        path, sha = step.edits[0]
        file = Phrase(path, "" if sha == WORKTREE else links.commit(sha), path)
        others = f" and {counted(number - 1, 'edit')} beside it" if number > 1 else ""
        return said(
            "Look at the edit of ", file, f"{others} before ", output, " of ", of_eval, ", and undo what broke it."
        )
    causes = " and ".join(CAUSES[cause] for cause in step.causes)
    beside = Phrase(model, "", model) if model else "and no edit of instructions beside it"
    both = "; instructions were edited too, so make an output with one of the two alone" * bool(step.edits)
    return said("Look at ", output, " of ", of_eval, f": {causes}, ", beside, both, ".")


def _work(
    scored: Sequence[EvalStanding], focus: FocusView | None, files: Iterable[InstructionHistory]
) -> Iterator[Phrase]:
    """Where the errors are: of the eval that is furthest below its target, or else of all evals."""
    missed = next((standing for standing in scored if standing.summary.target[1] is False), None)
    with_pattern = [standing.summary for standing in scored if standing.summary.patterns]
    mostly = [summary for summary in with_pattern if 2 * summary.patterns[0].errors >= summary.patterns[0].total]
    alike = max(mostly, key=lambda summary: summary.patterns[0].errors, default=None)
    if alike:
        share, where, since, without = words_of(alike)
        linked = Phrase(share, links.report(alike.info.id, alike.headlines[-1].slug) + "#h-ep")
        return said("Work on ", eval_phrase(alike), ": ", linked, where, Phrase(since, "", since), without)
    if missed:
        summary, weak = missed.summary, missed.summary.weak
        ends = (missed.newest.values[0], missed.spec.target(summary.info.thresholds))
        value, target = (metric_text(end or 0.0, missed.spec.unit) for end in ends)
        errors = _errors(sum(weak[0].errors), sum(missed.newest.errors), weak[0].name, summary) if weak else ""
        return said(
            "Bring ", eval_phrase(summary), f" from {value} to its target of {target}", ": " * bool(weak), errors
        )
    for at in (standing.summary for standing in scored):
        for name in (label for label, is_met in at.targets if not is_met):
            return said("Bring ", Phrase(name, "", name * at.info.recorded), " of ", eval_phrase(at), " to its target")
    if focus:
        row, _ = focus.sections[0]
        shares = [
            (sum(section.errors), standing.summary)
            for standing in scored
            for section in standing.summary.weak
            if section.name == row.name
        ]
        most, summary = max(shares, key=lambda share: share[0])
        every = sum(sum(s.newest.errors) for s in scored if not s.summary.info.recorded)
        if len(scored) == 1 or summary.specs[0].name == PASSED.name:
            return said(
                "Work on ", eval_phrase(summary), ": ", _errors(most, every, row.name, summary), _file(row.name, files)
            )
        here = f": {sum(row.errors):,} of {counted(every, 'error')} are there, {most:,} of them in "
        report = links.report(summary.info.id, summary.headlines[-1].slug)
        worst_eval = Phrase(summary.info.name, report, summary.info.id)
        return said("Work on ", _section(row.name), here, worst_eval, _file(row.name, files))
    if all(standing.summary.info.recorded for standing in scored):
        return said("These numbers suggest no next step: the runs did not record which values were wrong")
    for summary, newest, spec in ((it.summary, it.newest, it.spec) for it in scored if it.summary.has_only_scores):
        if newest.values[0] not in (None, spec.high if spec.higher_is_better else spec.low):
            output = output_phrase(summary, newest)
            return said("Read the cases with the lowest scores in ", output, " of ", eval_phrase(summary))
    return said("Nothing: no newest output has an error")


def _errors(number: int, every: int, section: str, summary: EvalSummary) -> Iterator[Phrase]:
    report = links.report(summary.info.id, summary.headlines[-1].slug)
    if summary.specs[0].name == PASSED.name:
        return said(Phrase(f"{counted(number, 'answer')} failed", report))
    nouns = summary.info.nouns
    wrong = f"failed {nouns.value}" if nouns.are_verdicts else "error"
    errors = Phrase(f"{number:,} of its {counted(every, wrong)}", report)
    return said(errors, f" {'is' if number == 1 else 'are'} in ", _section(section))


def _file(section: str, files: Iterable[InstructionHistory]) -> Iterator[Phrase]:
    """The instruction file on a section: of those whose path has each word of its name, the one with the most edits."""
    of_section = words_of_name(section)
    on_it = [file for file in files if not file.deleted and of_section and of_section <= words_of_name(file.path)]
    if on_it:
        path = max(on_it, key=lambda file: len(file.edits)).path
        yield from said("; its instructions are ", Phrase(path, links.instruction(path), path))


def words_of_name(name: str) -> set[str]:
    """The words of the name of a section, or of a path: the path of a file on a section has each word of its name."""
    return set(re.findall(r"[^\W_]+", name.lower()))


def _section(section: str) -> Phrase:
    return Phrase("its fields at the top level") if section in ("", TOP_LEVEL) else Phrase(section, "", section)
