"""Shows on a report what judges said of all answers together, and what they aligned."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from statistics import fmean
from typing import Final

from sitegen.importers.case import JudgedCase
from sitegen.importers.case_rows import WINS
from sitegen.model.frozen import grouped
from sitegen.model.metrics import Counts
from sitegen.model.outcomes import Value
from sitegen.model.scorecards import Kappa, NotePanel, Panel, PanelColumn, TablePanel
from sitegen.stats.counts import RATIOS
from sitegen.stats.intervals import ROUNDING, around, mean_of
from sitegen.text.plain import counted, cut

_ROWS: Final = 200  # the most rows of a table

_CLASSES: Final = 30  # the most classes of a confusion matrix
_LABEL: Final = 40  # characters
_PAIRS: Final = (
    ("Case", "text"),
    ("Judge", "text"),
    ("List", "code"),
    ("Expected", "number"),
    ("Actual", "number"),
    ("Similarity", "number"),
)


_INDICES: Final = (
    ("expectedIdx", "expected_idx", "expected_index", "expected"),
    ("parsedIdx", "parsed_idx", "actual_index", "actual", "parsed"),
)
"""Keys of the two indices of a pair, in order of precedence."""


def panels(cases: Sequence[JudgedCase]) -> Iterator[Panel]:
    """Yield the confusion matrix of classes, and the items that judges aligned, as far as there are any."""
    yield from _confusion_matrix(cases)
    if rows := [row for case in cases for row in _pair_rows(case)]:
        note = f"{len(rows) - _ROWS:,} more in the data file" if len(rows) > _ROWS else ""
        yield TablePanel(title="Alignment", note=note, columns=_PAIRS, rows=tuple(rows[:_ROWS]))


def _confusion_matrix(cases: Sequence[JudgedCase]) -> Iterator[Panel]:
    """Yield how often each class was given for each expected one, if the fields of the cases are classes."""
    pairs = [
        (expected, expected if opinion.score == 1 else case.output)
        for case in cases
        for opinion in case.judges
        for expected, _ in opinion.counts[:1]
        if expected == case.expected
    ]
    times, classes = Counter(pairs), sorted({label for pair in pairs for label in pair})
    expected, given = (Counter(labels) for labels in zip(*pairs, strict=True)) if pairs else (Counter[str](),) * 2
    right = {label: times[label, label] for label in classes}
    counts = {each: Counts(right[each], given[each] - right[each], expected[each] - right[each]) for each in classes}
    if 1 < len(classes) <= _CLASSES:
        columns: list[PanelColumn] = [("Expected", "text")]
        columns += ((cut(label, _LABEL) or "no class", "number") for label in classes)
        columns += ((ratio.label, "number") for ratio in RATIOS)
        rows = tuple(
            (
                cut(label, _LABEL),
                *(f"{times[label, each]:,}" for each in classes),
                *("—" if (value := ratio.of(counts[label])) is None else f"{value:.3f}" for ratio in RATIOS),
            )
            for label in classes
            if expected[label]
        )
        macro = fmean(RATIOS[0].of(of_class) or 0.0 for of_class in counts.values())
        note = f"Rows are the expected classes, columns the given ones; mean F1 of all classes (macro F1) {macro:.3f}"
        yield TablePanel(title="Confusion matrix", note=note, columns=tuple(columns), rows=rows)


def _pair_rows(case: JudgedCase) -> Iterator[tuple[str, ...]]:
    for opinion in case.opinions:
        details = opinion.details if isinstance(opinion.details, dict) else {}
        alignment = details.get("alignment")
        for name, pairs in alignment.items() if isinstance(alignment, dict) else (("", alignment),):
            for pair in pairs if isinstance(pairs, list) else ():
                if (pair_row := _pair_cells(pair)) is not None:
                    yield (case.document, opinion.name, name, *pair_row)
        for key, column in (("unmatched_expected", 0), ("unmatched_parsed", 1), ("unmatched_actual", 1)):
            unmatched = details.get(key)
            for index in unmatched if isinstance(unmatched, list) else ():
                yield (case.document, opinion.name, "", *("—",) * column, _number_cell(index), *("—",) * (2 - column))


def _pair_cells(pair: Value) -> tuple[str, str, str] | None:
    """Return a pair in the forms of judges: ``[0, 1, 0.9]``, or an object with two indices."""
    if isinstance(pair, list) and len(pair) >= 2:
        return _number_cell(pair[0]), _number_cell(pair[1]), _number_cell(pair[2] if len(pair) > 2 else None)
    if not isinstance(pair, dict):
        return None
    expected, actual = (next((pair[key] for key in keys if key in pair), None) for keys in _INDICES)
    return _number_cell(expected), _number_cell(actual), _number_cell(pair.get("similarity"))


def _number_cell(value: Value) -> str:
    return str(value)[:20] if isinstance(value, int | Decimal) else "—"


def agreement_note(agreement: Kappa, documents: str) -> NotePanel:
    """State Cohen's kappa with its interval and counts. ``documents``: the plural noun for the graded items."""
    return NotePanel(
        f"The judge and people graded {agreement.agreed:,} of {agreement.judged:,} {documents} alike: Cohen's kappa "
        f"{agreement.value:.3f}, 95 % interval {agreement.low:.3f} to {agreement.high:.3f}."
    )


def lift_note(of_cases: Mapping[str, Sequence[float]]) -> Iterator[NotePanel]:
    """State the mean of how far the score of each case is above that of the baseline, with its interval."""
    if lifts := [*map(fmean, of_cases.values())]:
        spread = mean_of(lifts)
        ends = around(spread) if spread and spread.error > ROUNDING else None
        interval = f", 95 % interval {max(-1.0, ends.low):+.3f} to {min(1.0, ends.high):+.3f}" if ends else ""
        over = f"Lift of the score over the {counted(len(lifts), 'case')} that the baseline answered as well"
        yield NotePanel(f"{over}: {fmean(lifts):+.3f}{interval}.")


def preference_notes(cases: Sequence[JudgedCase]) -> Iterator[NotePanel]:
    """State how often each side that answers were compared for won, tied and lost."""
    scored = ((judge.name, judge.score) for case in cases for judge in case.judges if judge.score is not None)
    for name, of_pair in grouped(each for each in scored if each[0].startswith(WINS)).items():
        won, tied = sum(share > 0.5 for share in of_pair), sum(share == 0.5 for share in of_pair)
        lost = len(of_pair) - won - tied
        yield NotePanel(f"{cut(name, _LABEL)}: {won:,} won, {tied:,} tied, {lost:,} lost.")
