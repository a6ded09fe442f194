"""What became of an eval between two of its points, as files and the terminal show it."""

from collections import Counter
from collections.abc import Sequence

from sitegen.analysis.blame import FLIPS
from sitegen.analysis.change import compared_alike
from sitegen.analysis.flips import flipped_cells, number_of_cells
from sitegen.analysis.noise.samples import interval_of
from sitegen.analysis.variant_tests import ORDER, PairedFate
from sitegen.model.changes import Change, ChangeVerdict, DeltaParts, Interval
from sitegen.model.commits import WORKTREE
from sitegen.model.frozen import FrozenObject, replace
from sitegen.model.metrics import ROUNDING
from sitegen.model.outcomes import ABSENT, Cell, CellFlip, CellMap, Outcome
from sitegen.model.scorecards import DocumentScore
from sitegen.model.series import Series
from sitegen.pages import labels
from sitegen.pages.labels import apart_words, smallest_change, subject_of, verdict_words
from sitegen.scoring.results_file import OfAnswer, of_answer
from sitegen.stats.counts import OF_DRAWS, f1
from sitegen.text.plain import counted
from sitegen.text.values import written


class MetricChange(FrozenObject):
    """One metric on both sides."""

    name: str
    label: str
    before: float | None
    after: float | None
    change: float | None
    """Over the documents that both sides have; None if a value is undefined, or if two judges graded the sides. The
    ground truth and rules of the later side judge both."""
    higher_is_better: bool
    unit: str = ""
    """Of amounts, such as `USD` or `s`; `count` of counts."""


class Flip(OfAnswer):
    """A judgement that was wrong on at least one side."""

    document: str
    path: str
    change: PairedFate
    before: Outcome | None
    """None if no value was expected, and the output gave none."""
    after: Outcome | None
    values: tuple[str, str, str] = ("", "", "")
    """What was expected, and what each side has, as texts that are cut to 200 characters; empty for nothing."""
    named_path: str = ""
    """The path with list items by name, `walls[E Wall].area`; empty if it is the same."""
    since: str = ""
    """For what was fixed or broken: the output with which it last became so, and the newest edit before that."""


class DocumentChange(OfAnswer):
    """The headline metric of one document on both sides."""

    id: str
    before: float | None
    after: float | None


class ResultChange(FrozenObject):
    """A point of an eval compared with another one."""

    eval_id: str
    before: str
    """The name of the earlier side: ``iteration-011``, or a revision."""
    after: str
    metrics: tuple[MetricChange, ...]
    fixed: int
    broken: int
    still_wrong: int
    still_right: int
    unpaired: int
    """Number of judgements that only one side has, because documents or ground truth differ."""
    documents: tuple[DocumentChange, ...]
    """The documents that both sides have."""
    flips: tuple[Flip, ...]
    """Broken, then fixed, then still wrong; each group sorted by document and path."""
    origin: DeltaParts | None = None
    """Over common documents; None if the headline is undefined on a side, or if a mixture of both was not scored."""
    verdict: ChangeVerdict | None = None
    """Whether the headline moved by more than chance; None for the same output, whose change is certain, and for
    recorded numbers."""
    words: str = ""
    """What pages say after the word of the verdict: the reason, and what holds beyond these cases."""
    too_few: str = ""
    """From which size on a change can be told from chance here, in words; empty unless this one may be chance."""
    interval_before: Interval | None = None
    interval_after: Interval | None = None
    warnings: tuple[str, ...] = ()
    """Sentences about a changed judge or model, about documents that only one side has, and about the same output."""


def result_change(
    series: Series, before: int, after: int, change: Change, *, names: tuple[str, str], whole: Series | None = None
) -> ResultChange:
    """Show a change of an eval between two of its points; ``names`` are those of both sides.

    ``whole``: the series with all outputs of the eval, if the other one has only these two.
    """
    alike = compared_alike(series.points[before], series.points[after])
    first, last = alike.before, alike.after
    spec, nouns = series.specs[0], series.info.nouns
    flips = change.flips
    right = Counter[int]()  # cells that are right on every side that has them, by the number of these sides
    for cell in series.cells.cells:
        both = series.cells.judged_alike(cell, before, after), cell.at(after)
        sides = [period for period in both if period and period.state != "absent"]
        right[len(sides)] += not any(period.is_wrong for period in sides)
    listed = [flip for flip in flipped_cells(series.cells, before, after) if flip.fate in ORDER]
    listed.sort(key=lambda flip: (ORDER.index(flip.fate), flip.cell.document, flip.cell.path))
    past = whole or series
    cells = {cell.key: cell for cell in past.cells.cells}
    places = [past.place_of(series.points[side].snapshot) or 0 for side in (before, after)]
    known = {document.name: document for document in (*first.documents, *last.documents)}
    there = {} if series.info.recorded else {document.name: document for document in last.documents}
    documents = tuple(
        DocumentChange(
            id=document.name,
            before=document_headline(spec.name, document),
            after=document_headline(spec.name, there[document.name]),
            **of_answer(there[document.name]),
        )
        for document in first.documents
        if document.name in there
    )
    parts = None if series.info.recorded else change.headline.parts
    verdict = change.verdict
    is_same = verdict is None and not series.info.recorded
    metrics = tuple(
        MetricChange(
            name=metric.name,
            label=metric.label,
            before=first.metric(metric.name),
            after=last.metric(metric.name),
            change=change.of(metric.name),
            higher_is_better=metric.higher_is_better,
            unit=metric.unit,
        )
        for metric in series.specs
    )
    sentences = (
        *labels.exchanges(change.model, change.judge),
        labels.in_both(change, series),
        _of_draws(metrics) if change.overlap.verdict == "comparable" else "",
        labels.SAME_OUTPUT if is_same else "",
    )
    return ResultChange(
        eval_id=series.info.id,
        before=names[0],
        after=names[1],
        metrics=metrics,
        fixed=number_of_cells(flips.fixed),
        broken=number_of_cells(flips.broken),
        still_wrong=number_of_cells(flips.still),
        still_right=right[2],
        unpaired=right[1] + number_of_cells(flips.appeared) + number_of_cells(flips.vanished),
        documents=documents,
        flips=tuple(
            replace(
                _listed_flip(flip, _since(past, cells.get(flip.cell.key), flip, *places)),
                **of_answer(known[flip.cell.document]),
            )
            for flip in listed
        ),
        origin=parts,
        verdict=verdict,
        words=verdict_words(verdict, spec, nouns) + apart_words(verdict, first, last, spec=spec) if verdict else "",
        too_few=smallest_change(verdict, spec) if verdict else "",
        interval_before=interval_of(first),
        interval_after=interval_of(last),
        warnings=tuple(filter(None, sentences)),
    )


def _of_draws(metrics: Sequence[MetricChange]) -> str:
    """A sentence on what changes with equal k, while the values of a side with more answers have another k."""
    apart = [
        each.label
        for each in metrics
        if each.name in OF_DRAWS and None not in (each.before, each.after, each.change)
        if abs((each.after or 0.0) - (each.before or 0.0) - (each.change or 0.0)) > ROUNDING
    ]
    k = "as one side has more answers to a case, changes are with the smaller k and values with the k of their side"
    return f"{', '.join(apart)}: {k}." if apart else ""


def _listed_flip(flip: CellFlip, since: str) -> Flip:
    before, after = flip.before or ABSENT, flip.after or ABSENT
    texts = (after.expected or before.expected, before.actual, after.actual)
    expected, earlier_value, later_value = (written(text) or "" for text in texts)
    return Flip(
        document=flip.cell.document,
        path=flip.cell.path,
        change=next(fate for fate in ORDER if fate == flip.fate),
        before=None if before.state == "absent" else before.state,
        after=None if after.state == "absent" else after.state,
        values=(expected, earlier_value, later_value),
        named_path=flip.cell.named_path,
        since=since,
    )


def _since(series: Series, cell: Cell | None, flip: CellFlip, before: int, at: int) -> str:
    """Return the iteration in which a cell became what it is at a point, after one before it, and the edit before it.

    ``cell``: the cell in the series, None if it is not there. Nothing is said then, nor of a cell that began after the
    point: the later output stands first.
    """
    if cell is None or flip.fate not in FLIPS or cell.periods[0].start > at:
        return ""
    start = _became(series.cells, cell, before if before < at else -1, at, is_wrong=flip.fate == "broken")
    point = next((at for at in series.points[start::-1] if "outputs" in at.snapshot.cause), series.points[start])
    commits = list(dict.fromkeys(edit.commit for edit in point.beside))
    edit = f", after {commits[-1].short} {subject_of(commits[-1], 50)}" if commits else ", no edit before it"
    if point.snapshot.commit.sha == WORKTREE:  # it is no point of the history, so that its edits are not known
        edit = ""
    earlier = f" or {counted(len(commits) - 1, 'earlier edit')}" if commits[1:] else ""
    return f"{point.snapshot.label}{edit}{earlier}"


def _became(cells: CellMap, cell: Cell, before: int, at: int, *, is_wrong: bool) -> int:
    """Return the first of the points after one, up to another, whose outputs all have a cell right, or all wrong.

    The ground truth and rules of the point judge all of them: a label that was changed and put back made no difference.
    """
    start = at
    for index in range(at - 1, before, -1):
        is_same = cells.outputs[index] == cells.outputs[at]
        period = cell.at(at) if is_same else cells.judged_alike(cell, index, at)
        if (period is not None and period.is_wrong) is not is_wrong:
            break
        if period is not None and period.state != "absent":
            start = index
    return start


def document_headline(name: str, document: DocumentScore) -> float | None:
    """Return the headline metric of one document; F1 if the kind does not define metrics of documents."""
    return next((metric.value for metric in document.metrics if metric.name == name), f1(document.counts))
