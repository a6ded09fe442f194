"""What a report shows of a judge's results: bounded, for the whole is in the data file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Final

from sitegen.model.panels import NotePanel, Panel, PanelColumn, TablePanel
from sitegen.model.scorecards import Kappa
from sitegen.model.values import Value
from sitegen.scoring.judged.case import JudgedCase, Opinion
from sitegen.text.values import json_value

ROWS: Final = 200
"""Rows of a table; of more cases, those with the lowest scores."""

_CELL: Final = 500
_JSON: Final = 2_000

_TOGETHER: Final = "together"
"""Stands for the name of a judge where several are summed up."""

_SAID: Final = (
    PanelColumn("Case"),
    PanelColumn("Judge"),
    PanelColumn("Score", "number"),
    PanelColumn("Hits"),
    PanelColumn("Misses"),
    PanelColumn("Reasoning"),
    PanelColumn("Details", "code"),
)
_ANSWERS: Final = (
    PanelColumn("Case"),
    PanelColumn("Passed"),
    PanelColumn("Variant"),
    PanelColumn("Input"),
    PanelColumn("Expected"),
    PanelColumn("Output"),
    PanelColumn("Error"),
    PanelColumn("Model"),
    PanelColumn("Tokens in", "number"),
    PanelColumn("Tokens out", "number"),
    PanelColumn("Cost", "number"),
    PanelColumn("Seconds", "number"),
)
_REPEATED: Final = ("score", "hits", "misses", "reasoning", "details")
_EMPTY: Final = (None, (), "")

_PAIRS: Final = (
    PanelColumn("Case"),
    PanelColumn("Judge"),
    PanelColumn("List", "code"),
    PanelColumn("Expected", "number"),
    PanelColumn("Actual", "number"),
    PanelColumn("Similarity", "number"),
)


def panels(cases: Sequence[JudgedCase]) -> tuple[Panel, ...]:
    """What each case was and took, what its judges said, together and each, and which items a judge took for which."""
    worst = sorted(cases, key=lambda case: -1.0 if case.score is None else case.score)
    shown = worst if len(cases) > ROWS else cases
    tables = (
        _without_empty_columns(_table("Answers", _ANSWERS, (_answer_row(case) for case in shown))),
        _table("What the judges said", _SAID, (_row(case, each) for case in shown for each in _said(case))),
        _table("Alignment", _PAIRS, (row for case in shown for row in _pair_rows(case))),
    )
    return tuple(table for table in tables if table.rows)


def _table(title: str, columns: tuple[PanelColumn, ...], rows: Iterator[tuple[str, ...]]) -> TablePanel:
    every = list(rows)
    left_out = max(0, len(every) - ROWS)
    note = f"{left_out:,} more in the data file" if left_out else ""
    return TablePanel(title=title, note=note, columns=columns, rows=tuple(every[:ROWS]))


def _without_empty_columns(table: TablePanel) -> TablePanel:
    """Only what the tool says of some case; nothing at all if it says no more than which cases there are."""
    filled = [place for place in range(len(table.columns)) if any(row[place] for row in table.rows)]
    if filled == [0]:
        return table._replace(rows=())
    columns = tuple(table.columns[place] for place in filled)
    return table._replace(columns=columns, rows=tuple(tuple(row[place] for place in filled) for row in table.rows))


def _answer_row(case: JudgedCase) -> tuple[str, ...]:
    usage = case.usage
    return (
        case.id,
        {True: "yes", False: "no", None: ""}[case.passed],
        _cut(case.variant),
        _cut(case.input),
        _cut(case.expected),
        _cut(case.output),
        _cut(case.error),
        _cut(case.model),
        "" if usage.tokens_in is None else f"{usage.tokens_in:,}",
        "" if usage.tokens_out is None else f"{usage.tokens_out:,}",
        "" if usage.cost is None else f"{usage.cost:.6f}",
        "" if usage.latency is None else f"{usage.latency:.3f}",
    )


def _said(case: JudgedCase) -> Iterator[Opinion]:
    """The opinions on a case; that of a single judge, which the case mostly repeats, only once."""
    whole = case.opinion._replace(score=case.score)
    if len(case.judges) == 1 and (one := _merged(whole, case.judges[0])):
        yield one
    else:
        yield whole._replace(name=_TOGETHER) if case.judges else whole
        yield from case.judges


def _merged(whole: Opinion, judge: Opinion) -> Opinion | None:
    """Two opinions as one; None if they contradict each other."""
    pairs = [(getattr(whole, name), getattr(judge, name)) for name in _REPEATED]
    if any(one != other for one, other in pairs if one not in _EMPTY and other not in _EMPTY):
        return None
    filled = {name: one if one not in _EMPTY else other for name, (one, other) in zip(_REPEATED, pairs, strict=True)}
    return judge._replace(**filled)


def _row(case: JudgedCase, opinion: Opinion) -> tuple[str, ...]:
    details = opinion.details
    written = "" if details is None else json.dumps(json_value(details), default=float, ensure_ascii=False)
    return (
        case.id,
        opinion.name,
        _score(opinion.score),
        _listed(opinion.hits),
        _listed(opinion.misses),
        _cut(opinion.reasoning),
        _cut(written, _JSON),
    )


def _pair_rows(case: JudgedCase) -> Iterator[tuple[str, ...]]:
    for opinion in case.opinions:
        details = opinion.details if isinstance(opinion.details, dict) else {}
        alignment = details.get("alignment")
        for name, pairs in alignment.items() if isinstance(alignment, dict) else (("", alignment),):
            for pair in pairs if isinstance(pairs, list) else ():
                if (row := _pair(pair)) is not None:
                    yield (case.id, opinion.name, name, *row)
        for key, before in (("unmatched_expected", 0), ("unmatched_parsed", 1), ("unmatched_actual", 1)):
            unmatched = details.get(key)
            for index in unmatched if isinstance(unmatched, list) else ():
                found = ["—", "—", "—"]
                found[before] = _number(index)
                yield (case.id, opinion.name, "", *found)


def _pair(pair: Value) -> tuple[str, str, str] | None:
    """A pair as a judge may write it: ``[0, 1, 0.9]``, or an object with the two indices."""
    if isinstance(pair, list) and len(pair) >= 2:
        return _number(pair[0]), _number(pair[1]), _number(pair[2] if len(pair) > 2 else None)
    if not isinstance(pair, dict):
        return None
    expected = _first(pair, "expectedIdx", "expected_idx", "expected_index", "expected")
    actual = _first(pair, "parsedIdx", "parsed_idx", "actual_index", "actual", "parsed")
    return _number(expected), _number(actual), _number(pair.get("similarity"))


def _first(pair: dict[str, Value], *keys: str) -> Value:
    return next((pair[key] for key in keys if key in pair), None)


def _number(value: Value) -> str:
    return str(value)[:20] if isinstance(value, int | Decimal) else "—"


def _score(score: float | None) -> str:
    return "—" if score is None else f"{score:.3f}"


def _listed(texts: tuple[str, ...]) -> str:
    return _cut("; ".join(texts)) if texts else ""


def _cut(text: str, longest: int = _CELL) -> str:
    return text if len(text) <= longest else f"{text[:longest]} … ({len(text) - longest:,} more characters)"


def agreement_note(agreement: Kappa, things: str) -> NotePanel:
    """Cohen's kappa with its interval, and the counts behind it. *things*: what both judged, in the plural."""
    return NotePanel(
        "note",
        f"The judge and people graded {agreement.agreed:,} of {agreement.judged:,} {things} alike: Cohen's kappa "
        f"{agreement.value:.3f}, 95 % interval {agreement.low:.3f} to {agreement.high:.3f}.",
    )
