"""Rows of a table as judged cases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Final

from sitegen.data_files.reading import UnreadableError
from sitegen.model.problems import Finding
from sitegen.model.values import Unusable, Value
from sitegen.scoring.judged.case import Grader, JudgedCase, JudgedResults, Opinion, Usage, grader_name
from sitegen.scoring.judged.formats.grades import Grade, Graded, grade_of, names_of_fields, opinions, passed
from sitegen.scoring.judged.formats.json_values import items, number, text, whole, written
from sitegen.scoring.judged.tables.columns import EVERY, ColumnMap, columns_of, value_at
from sitegen.scoring.judged.tables.rows import ResultTable, read_rows
from sitegen.text.plain import cut

RIGHT, WRONG = Grade(1.0, True), Grade(0.0, False)
WORDS: Final = {
    **dict.fromkeys(("true", "yes", "pass", "passed", "correct"), RIGHT),
    **dict.fromkeys(("false", "no", "fail", "failed", "incorrect"), WRONG),
}
"""What a cell says in words, in small letters."""

EXACT_MATCH: Final = "exact match"
"""The judge of a table without scores: ours, by rule 29."""

_NAME: Final = 120
_LISTED: Final = 30
_BETWEEN: Final = " · "


def read_table(ending: str, content: bytes, wanted: ColumnMap) -> JudgedResults:
    """Read a table by what its columns mean. Raises UnreadableError."""
    table = read_rows(ending, content, wanted.list_at)
    reader = _TableReader(table, wanted)
    return JudgedResults(reader.cases(), (*table.findings, *reader.findings))


class _TableReader:
    def __init__(self, table: ResultTable, wanted: ColumnMap) -> None:
        """Raises UnreadableError if nothing says how good a row is."""
        self.findings: list[Finding] = []
        self._rows = table.rows
        self._wanted = wanted
        numeric = _numeric(table) if any(score.pattern == EVERY for score in wanted.scores) else ()
        self._columns = columns = columns_of(wanted, table.columns, numeric)
        self._lists_scores = wanted.names_of_scores in table.columns
        known = ", ".join(name[:60] for name in table.columns[:_LISTED])
        if columns.missing:
            message = f"The table has no column {', '.join(map(repr, columns.missing))[:200]}"
            self.findings.append(
                Finding(severity="error", what=message, fix=f"Its columns are: {known}.", line=None, about="settings")
            )
        parts = columns.parts
        self._matches = bool(parts.get("expected") and parts.get("output"))
        if not (columns.scores or parts.get("score") or parts.get("passed") or self._lists_scores or self._matches):
            raise UnreadableError(
                f"no column of it says how good an answer is; its columns are: {known}",
                "Name a column for score, scores or passed, or for both expected and output.",
            )
        self._off_scale: dict[str, int] = {}

    def cases(self) -> tuple[JudgedCase, ...]:
        """A case of every row, in the order of the table."""
        graded = [self._graded(row) for row in self._rows]
        fields = names_of_fields(graded)
        names = self._names()
        cases = tuple(
            self._case(row, name, opinions(scores, fields))
            for row, name, scores in zip(self._rows, names, graded, strict=True)
        )
        if failed := sum(bool(case.error) for case in cases):
            message = f"{failed} of {len(cases)} rows state an error"
            self.findings.append(
                Finding("warning", message, "Ask again for the answers of these.", value=_errors(cases))
            )
        for column, times in self._off_scale.items():
            low, high = self._wanted.low, self._wanted.high
            message = (
                f"Scores in the column {column[:80]!r} are no numbers from {low:g} to {high:g}: {times} of {len(cases)}"
            )
            fix = "State the range of the scores (`range: [1, 5]`); without it these are left out."
            self.findings.append(Finding("warning", message, fix))
        return cases

    def _graded(self, row: Mapping[str, Value]) -> dict[str, Graded]:
        """The named scores of a row: those that the columns are for, else the verdict, else the exact match."""
        columns = self._columns
        of_scores = self._score_columns(row)
        if not of_scores:
            stated = columns.parts.get("score") or columns.parts.get("passed") or ()
            of_scores = {name: name for name in stated[:1]}
        if of_scores:
            return {
                name: Graded(
                    (self._grade(column, value_at(row, column)),),
                    reasoning=self._reason(row, name, alone=len(of_scores) == 1),
                    grader=self._grader(row),
                )
                for name, column in of_scores.items()
            }
        expected, output = self._text(row, "expected"), self._text(row, "output")
        if not self._matches or not expected.strip() or self._text(row, "error"):
            return {}
        same = expected.strip().casefold() == output.strip().casefold()
        return {EXACT_MATCH: Graded((RIGHT if same else WRONG,))}

    def _score_columns(self, row: Mapping[str, Value]) -> Mapping[str, str]:
        """Name of the score -> column."""
        if self._lists_scores:
            return {name: name for name in map(text, items(row.get(self._wanted.names_of_scores))) if name in row}
        return self._columns.scores

    def _reason(self, row: Mapping[str, Value], name: str, *, alone: bool) -> str:
        if name in self._columns.reasons:
            return said(value_at(row, self._columns.reasons[name]))
        return self._text(row, "reasoning") if alone else ""

    def _grader(self, row: Mapping[str, Value]) -> Grader | None:
        """The model that gave the scores of a row, where a column names it or what it was asked."""
        judge, rubric = self._text(row, "judge").strip(), self._text(row, "rubric")
        return Grader(grader_name(judge, ""), rubric) if judge or rubric else None

    def _case(self, row: Mapping[str, Value], name: str, judges: tuple[Opinion, ...]) -> JudgedCase:
        parts = self._columns.parts
        score = None
        if parts.get("score") and any(judge.name != parts["score"][0] for judge in judges):
            score = self._grade(parts["score"][0], value_at(row, parts["score"][0])).score
        reasoning = self._text(row, "reasoning") if len(judges) != 1 else ""
        verdict = grade_of(self._value(row, "passed"), WORDS)
        stated = verdict is not None and verdict.score in (0, 1)
        judged = verdict.score == 1 if verdict is not None and stated else passed(judges)
        person = grade_of(self._value(row, "human"), WORDS)
        grader = self._grader(row) if stated or score is not None else None
        return JudgedCase(
            id=name,
            opinion=Opinion("", score, reasoning=reasoning, grader=grader),
            judges=judges,
            variant=self._text(row, "variant"),
            passed=judged,
            input=self._text(row, "input"),
            expected=self._text(row, "expected"),
            output=self._text(row, "output"),
            error=self._text(row, "error"),
            model=self._text(row, "model"),
            usage=Usage(
                tokens_in=whole(_number(self._value(row, "tokens_in"))),
                tokens_out=whole(_number(self._value(row, "tokens_out"))),
                cost=number(_number(self._value(row, "cost"))),
                latency=number(_number(self._value(row, "latency"))),
            ),
            verdicts=(judged, person.score == 1) if judged is not None and person and person.score in (0, 1) else None,
        )

    def _names(self) -> list[str]:
        """What names each row: its id, else its input, else its place; with the variant where there are several."""
        variants = [self._text(row, "variant") for row in self._rows]
        several = len(set(variants)) > 1
        names: list[str] = []
        taken: dict[str, int] = {}
        twice = 0
        for place, (row, variant) in enumerate(zip(self._rows, variants, strict=True), 1):
            stated = self._text(row, "id") or self._text(row, "input")
            wanted = cut(" ".join(stated.split()), _NAME) or f"row {place}"
            wanted = f"{wanted}{_BETWEEN}{variant}" if several and variant else wanted
            taken[wanted] = taken.get(wanted, 0) + 1
            twice += taken[wanted] == 2
            names.append(wanted if taken[wanted] == 1 else f"{wanted} ({taken[wanted]})")
        if twice:
            message = f"Names of cases stand on several rows, which are told apart by their order: {twice}"
            self.findings.append(Finding("warning", message, "Name a column with an id for each row."))
        return names

    def _grade(self, column: str, value: Value) -> Grade:
        grade = grade_of(value, WORDS, self._wanted.low, self._wanted.high)
        if grade is None:
            self._off_scale[column] = self._off_scale.get(column, 0) + 1
            return Grade(None)
        return grade

    def _value(self, row: Mapping[str, Value], part: str) -> Value:
        columns = self._columns.parts.get(part, ())
        return value_at(row, columns[0]) if columns else None

    def _text(self, row: Mapping[str, Value], part: str) -> str:
        """The text of a part; of several columns each under its name."""
        columns = self._columns.parts.get(part, ())
        found = {name: shown for name in columns if (shown := said(value_at(row, name)))}
        if len(columns) == 1 or len(found) < 2:
            return next(iter(found.values()), "")
        return text("\n".join(f"{name}: {shown}" for name, shown in found.items()))


def _errors(cases: tuple[JudgedCase, ...]) -> str:
    return next(case.error for case in cases if case.error)[:200]


def said(value: Value) -> str:
    """A cell as text: of a list or object with one text in it that text, of anything else its JSON."""
    if isinstance(value, Unusable):
        return value.literal
    inside = list(value.values()) if isinstance(value, dict) else value
    if isinstance(inside, list) and len(inside) == 1 and isinstance(inside[0], str):
        return text(inside[0])
    return written(value)


def _numeric(table: ResultTable) -> tuple[str, ...]:
    """The columns with numbers or truth values, and nothing else but cells without any."""
    return tuple(name for name in table.columns if _is_numeric(row.get(name) for row in table.rows))


def _is_numeric(values: Iterable[Value]) -> bool:
    some = False
    for value in values:
        grade = grade_of(value, {}, -1e300, 1e300)
        if grade is None:
            return False
        some = some or grade.score is not None
    return some


def _number(value: Value) -> Value:
    """A cell as a number, which CSV has as text."""
    if not isinstance(value, str):
        return value
    grade = grade_of(value, {}, 0.0, 1e300)
    return None if grade is None or grade.score is None else Decimal(value.strip())
