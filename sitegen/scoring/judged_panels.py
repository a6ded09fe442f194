"""Shows the answers and the opinions of judges on a report. Long ones are cut; the data file has them in full."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal
from statistics import fmean
from typing import Final

from msgspec.structs import replace

from sitegen.importers.case import JudgedCase, Opinion
from sitegen.importers.preferences import OVER
from sitegen.model.outcomes import Value
from sitegen.model.scorecards import Kappa, NotePanel, Panel, PanelColumn, TablePanel
from sitegen.stats.intervals import ROUNDING, around, mean_of
from sitegen.text.plain import cut
from sitegen.text.values import json_value

ROWS: Final = 200
"""Rows of a table. If there are more cases, those with the lowest scores are listed."""

_CLASSES: Final = 30
"""The most classes of a confusion matrix."""
_LABEL: Final = 40  # characters
_CELL: Final = 500  # characters
_JSON: Final = 2_000  # characters

_TOGETHER: Final = "together"
"""The name of the judge in the row that sums up several judges."""

_OPINIONS: Final = (
    ("Case", "text"),
    ("Judge", "text"),
    ("Score", "number"),
    ("Hits", "text"),
    ("Misses", "text"),
    ("Reasoning", "text"),
    ("Details", "code"),
)
_ANSWERS: Final = (
    ("Case", "text"),
    ("Passed", "text"),
    ("Variant", "text"),
    ("Input", "text"),
    ("Expected", "text"),
    ("Output", "text"),
    ("Error", "text"),
    ("Model", "text"),
    ("Tokens in", "number"),
    ("Tokens out", "number"),
    ("Cost", "number"),
    ("Seconds", "number"),
)
_MERGED: Final = ("score", "hits", "misses", "reasoning", "details")
"""The fields of opinions that are merged if they do not contradict each other."""
_EMPTY: Final = (None, (), "")

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


def panels(cases: Sequence[JudgedCase]) -> tuple[Panel, ...]:
    """Make the tables of answers, of opinions, and of the items that judges aligned, as far as they have rows."""
    if len(cases) > ROWS:
        cases = sorted(cases, key=lambda case: -1.0 if case.score is None else case.score)
    opinions = [_opinion_row(case, opinion) for case in cases for opinion in _listed_opinions(case)]
    pairs = [row for case in cases for row in _pair_rows(case)]
    tables: list[Panel] = list(_confusion_matrix(cases))
    listed: tuple[tuple[str, tuple[PanelColumn, ...], Sequence[tuple[str, ...]]], ...] = (
        ("Answers", _ANSWERS, list(map(_answer_row, cases))),
        ("What the judges said", _OPINIONS, opinions),
        ("Alignment", _PAIRS, pairs),
    )
    for title, columns, rows in listed:
        # Columns that are empty in all rows are left out, and tables of which only the names of cases are left.
        filled = [place for place in range(len(columns)) if columns is _PAIRS or any(row[place] for row in rows)]
        if rows and filled != [0]:
            shown = tuple(tuple(row[place] for place in filled) for row in rows[:ROWS])
            note = f"{len(rows) - ROWS:,} more in the data file" if len(rows) > ROWS else ""
            of_table = tuple(columns[place] for place in filled)
            tables.append(TablePanel(title=title, note=note, columns=of_table, rows=shown))
    return tuple(tables)


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
    if 1 < len(classes) <= _CLASSES:
        columns: list[PanelColumn] = [("Expected", "text")]
        columns += ((cut(label, _LABEL) or "no class", "number") for label in classes)
        rows = tuple(
            (cut(expected, _LABEL), *(f"{times[expected, given]:,}" for given in classes))
            for expected in dict.fromkeys(sorted(expected for expected, _ in pairs))
        )
        note = "Rows are the expected classes, columns the given ones"
        yield TablePanel(title="Confusion matrix", note=note, columns=tuple(columns), rows=rows)


def _answer_row(case: JudgedCase) -> tuple[str, ...]:
    usage, passed = case.call.usage, case.passed
    share = "" if passed is None else f"{passed:.0%} of the answers"
    return (
        case.document,
        {1.0: "yes", 0.0: "no"}.get(passed, share) if passed is not None else share,
        cut(case.variant, _CELL),
        cut(case.input, _CELL),
        cut(case.expected, _CELL),
        cut(case.output, _CELL),
        cut(case.error, _CELL),
        cut(case.model, _CELL),
        "" if usage.tokens_in is None else f"{usage.tokens_in:,}",
        "" if usage.tokens_out is None else f"{usage.tokens_out:,}",
        "" if usage.cost is None else f"{usage.cost:.6f}",
        "" if usage.latency is None else f"{usage.latency:.3f}",
    )


def _listed_opinions(case: JudgedCase) -> Iterator[Opinion]:
    """The opinions on a case. The opinion of a single judge, which the case usually repeats, is listed once."""
    overall = replace(case.opinion, score=case.score)
    if len(case.judges) == 1 and (merged := _merged(overall, case.judges[0])):
        yield merged
    else:
        yield replace(overall, name=_TOGETHER) if case.judges else overall
        yield from case.judges


def _merged(overall: Opinion, judge: Opinion) -> Opinion | None:
    """Two opinions as a single one. None if they contradict each other."""
    fields = {}
    for name in _MERGED:
        values = [value for value in (getattr(overall, name), getattr(judge, name)) if value not in _EMPTY]
        if len(values) == 2 and values[0] != values[1]:
            return None
        fields[name] = values[0] if values else getattr(judge, name)
    return replace(judge, **fields)


def _opinion_row(case: JudgedCase, opinion: Opinion) -> tuple[str, ...]:
    details = opinion.details
    written = "" if details is None else json.dumps(json_value(details), default=float, ensure_ascii=False)
    return (
        case.document,
        opinion.name,
        "—" if opinion.score is None else f"{opinion.score:.3f}",
        cut("; ".join(opinion.hits), _CELL),
        cut("; ".join(opinion.misses), _CELL),
        cut(opinion.reasoning, _CELL),
        cut(written, _JSON),
    )


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
                row = ["—", "—", "—"]
                row[column] = _number_cell(index)
                yield (case.document, opinion.name, "", *row)


def _pair_cells(pair: Value) -> tuple[str, str, str] | None:
    """A pair in the forms of judges: ``[0, 1, 0.9]``, or an object with two indices."""
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
        "note",
        f"The judge and people graded {agreement.agreed:,} of {agreement.judged:,} {documents} alike: Cohen's kappa "
        f"{agreement.value:.3f}, 95 % interval {agreement.low:.3f} to {agreement.high:.3f}.",
    )


def lift_note(lifts: Sequence[float]) -> Iterator[NotePanel]:
    """State the mean of how far the score of each case is above that of the baseline, with its interval."""
    if lifts:
        spread = mean_of(lifts)
        ends = around(spread) if spread and spread.error > ROUNDING else None
        interval = f", 95 % interval {max(-1.0, ends.low):+.3f} to {min(1.0, ends.high):+.3f}" if ends else ""
        cases = f"{len(lifts):,} {'case' if len(lifts) == 1 else 'cases'}"
        text = f"Lift of the score over the {cases} that the baseline answered as well: {fmean(lifts):+.3f}{interval}."
        yield NotePanel("note", text)


def preference_notes(cases: Sequence[JudgedCase]) -> Iterator[NotePanel]:
    """State how often each side that answers were compared for won, tied and lost."""
    shares: dict[str, list[float]] = {}
    for case in cases:
        for judge in case.judges:
            if OVER in judge.name and judge.score is not None:
                shares.setdefault(judge.name, []).append(judge.score)
    for name, of_pair in shares.items():
        won, tied = sum(share > 0.5 for share in of_pair), sum(share == 0.5 for share in of_pair)
        lost = len(of_pair) - won - tied
        yield NotePanel("note", f"{cut(name, _LABEL)}: {won:,} won, {tied:,} tied, {lost:,} lost.")
