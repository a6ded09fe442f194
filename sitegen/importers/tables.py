"""Reads tables in CSV, JSON Lines or JSON within bounds, and turns their rows into judged cases."""

from collections import Counter, deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from decimal import Decimal
from hashlib import sha256
from itertools import chain
from math import inf
from typing import Final

from msgspec.structs import replace

from sitegen.config.findings import settings_finding
from sitegen.data_files.folders import DATA
from sitegen.data_files.reading import LINES, MOST_ROWS, UnreadableError, csv_dicts, json_lines
from sitegen.data_files.yaml_reader import read_data
from sitegen.importers.case import (
    ANY_SCALE,
    MOST_NUMBERS,
    RIGHT,
    WORDS,
    WRONG,
    AnswerGrade,
    Grader,
    JudgedCase,
    JudgedResults,
    Opinion,
    grade_of,
    graded,
    grader_name,
    is_no_score,
    is_verdict,
    texts_of,
    with_verdicts_as_fields,
)
from sitegen.importers.case_rows import WINS, case_rows, named_rows, nearest_cases, newest_run, run_column, with_shares
from sitegen.importers.columns import EVERY, GROUP, PRESETS, SCALES, ColumnMap, scale_of, usual_columns
from sitegen.importers.recorded_layouts import is_measure
from sitegen.importers.tool_values import (
    as_text,
    conversation,
    items,
    list_of,
    lone_item,
    members,
    name_of,
    stated_confidence,
    text,
    transcript,
    value_at,
)
from sitegen.importers.usual_names import GRADES, LOGPROB, NAMES, REASONS, TRUE_LABELS, USAGE, VERDICTS_OF_CHECKS
from sitegen.model.metrics import Counts
from sitegen.model.outcomes import Unusable, Value
from sitegen.model.problems import Finding, Parsed
from sitegen.model.recorded import Recorded
from sitegen.model.scorecards import FieldScore
from sitegen.model.usage import JUDGES, LATENCIES, Call, Usage, amount_of, spelled_number, stated, stated_judge
from sitegen.text.keys import plain_key
from sitegen.text.plain import cut

_JUDGE: Final = "judge_model"  # the column of the model that graded all rows, which the file names beside them
_MOST_COLUMNS: Final = 1_000  # of a table that is read
_MOST_CELLS: Final = 4_000_000  # the most of a CSV file of results: few of them are compared one by one
_FIX: Final = "Write the table again."
_READ: Final[dict[str, Parsed[list[dict[str, Value]]]]] = {}
"""The rows of the table whose grades alone were asked for last, by their source: as a rule, it is scored next."""


def read_table(
    ending: str, content: bytes, described: ColumnMap | None, grades: Collection[str] | None
) -> JudgedResults:
    """Read a table in the format that belongs to the ending of its file name. Raises UnreadableError.

    ``described``: the meaning of its columns; None if it follows from their usual names. ``grades``: the scores that
    are grades in the whole series; None if only those of the table are asked for, and no cases.
    """
    source = f"{ending} {sha256(content).hexdigest()} {described}"
    rows, findings = _READ.pop(source) if source in _READ else _read_rows(ending, content, described)
    _READ.clear()
    columns = described if described and (described.parts or described.scores) else usual_columns(rows)
    if columns is None:
        raise UnreadableError(
            "it is in no format that is known, and no column with the usual name of a score or a verdict holds one",
            f"Write `settings: {{preset: ...}}` (one of {', '.join(PRESETS)}) or `settings: {{columns: {{...}}}}`, a "
            "score as 0.5, and a verdict as pass or fail.",
        )
    if described:
        columns = replace(columns, low=described.low, high=described.high)
    try:
        reader = _TableReader(rows, columns, grades or ())
    except UnreadableError:  # the columns may be those of another output of the series
        if (usual := usual_columns(rows)) is None:
            raise
        columns = replace(usual, low=columns.low, high=columns.high)
        reader = _TableReader(rows, columns, grades or ())
        message = "No column that the settings name has a score or a verdict: those with usual names count"
        reader.findings.append(Finding("warning", message, "Call the columns alike in all outputs."))
    if grades is None:
        _READ[source] = Parsed(rows, findings)
        return JudgedResults((), run=Recorded(grades=tuple(dict.fromkeys(reader.own_grades()))))
    stated = [reader.value(row, "human") for row in rows] if columns.parts.get("human") else [None] * len(rows)
    people = [grade and grade.score for grade in (grade_of(value, WORDS) for value in stated)]
    of_header = int(ending == "csv")
    has_line_each = content.rstrip(b"\n").count(b"\n") + 1 == len(rows) + of_header and ending != "json"
    lines = range(of_header + 1, of_header + 1 + len(rows)) if has_line_each else ()
    del rows  # each of which is dropped for its case: both take much memory
    cases = tuple(reader.cases())
    results = JudgedResults(cases, (*findings, *reader.findings)).with_confidences(lines).with_fields(grades)
    rated = [
        case if case.passed is None or person not in (0, 1) else replace(case, verdicts=(case.passed == 1, person == 1))
        for case, person in zip(results.cases, people, strict=True)
    ]
    return replace(results, cases=with_verdicts_as_fields(rated))


def _read_rows(ending: str, content: bytes, described: ColumnMap | None) -> Parsed[list[dict[str, Value]]]:
    findings: list[Finding] = []
    rows: list[Value] = []
    same: dict[str, str] = {}  # of a text in many rows, such as the input of a case, one is kept in memory
    if ending == "csv":
        rows += ({**row} for row in csv_dicts(content, _MOST_CELLS))
        fix = "Write a row for each case below the names of the columns."
    elif ending in LINES:
        for line, value in json_lines(content, findings, "Write valid JSON."):
            if isinstance(value, dict):
                rows.append(
                    {key: same.setdefault(cell, cell) if type(cell) is str else cell for key, cell in value.items()}
                )
            else:
                findings.append(Finding(severity="error", message=f"Line {line} is not an object", fix=_FIX, line=line))
        fix = "Write one JSON object a line."
    elif ending in DATA:
        value, odd = read_data(ending, content)
        findings += odd
        # The model that judged all rows, and the one that answered, if the file names these beside them.
        beside: dict[str, Value] = {_JUDGE: judge} if (judge := stated_judge(value)) else {}
        if described is not None and "model" in described.parts and (model := stated(value).model):
            beside["model"] = model
        listed = _listed(value, described.list_at if described else ())
        rows += ({**beside, **row} for row in listed if isinstance(row, dict))
        if not rows and described is None and isinstance(value, dict):
            rows.append(value)  # a case that has the file for itself
        fix = 'Write a list of objects, or {"columns": [...], "data": [[...]]}; or name its key: `list: results`.'
    else:
        fix = "Write one of: csv, jsonl, ndjson, json, yaml."
        raise UnreadableError(f"it is not a table: its name ends in {ending[:20]!r}", fix)
    if not rows:
        raise UnreadableError("it has no rows", fix)
    if len(rows) > MOST_ROWS:
        raise UnreadableError(f"it has more than {MOST_ROWS:,} rows", "Split it into several evals.")
    key = run_column(rows)
    is_no_run = described is not None and any(key in names for names in described.parts.values())
    newest, remarks = newest_run(rows, "" if is_no_run else key)
    findings += remarks
    cases = case_rows(members(rows[index]) for index in newest)
    has_range = described is not None and (described.low, described.high) != (0, 1)
    return Parsed(cases if has_range else with_shares(cases), tuple(findings))


def _listed(value: Value, list_at: Sequence[str]) -> Sequence[Value]:
    if list_at and not isinstance(value, list):
        rows: list[Value] = []
        for path in list_at:
            above, of_groups, below = path.partition(".*.")
            listed = value_at(members(value), above)
            if not of_groups:
                rows += items(listed) or named_rows(listed)
            for group in list_of(members)(listed) if of_groups else ():
                rows += ({GROUP: group.get("name"), **row} for row in list_of(members)(value_at(group, below)))
        return rows
    if not isinstance(value, dict):
        return items(value)
    names = [str(name) for name in items(value.get("columns"))]
    in_columns: list[Value] = [dict(zip(names, items(row), strict=False)) for row in items(value.get("data"))]
    # The cases with an expected side and an output, else the longest list of objects below a key.
    lists = [below for below in value.values() if isinstance(below, list) and any(map(members, below))]
    named = chain([value], value.values())
    longest: Sequence[Value] = max(lists, key=len, default=[])
    return (names and in_columns) or nearest_cases(value) or longest or next(filter(None, map(named_rows, named)), [])


EXACT_MATCH: Final = "exact match"  # the name of sitegen's own judge of tables without scores (rule 29)
_SHOWN: Final = ("a scale from 0 to {}", "a scale from 1 to {}", "a scale up to {}")  # what a table shows of its own
_MAY_BE_JUDGES: Final = ("judge", "grader", "evaluator", "judgedby", "gradedby", "evaluatedby")
"""Names of columns with the judge of all rows, or with what it says of each, in lower case without separators."""
_NOT_GRADED: Final = ("n/a", "N/A")  # what a cell says where a judge has nothing to grade
_MOST_UNWRITTEN: Final = 0.1  # of the rows, may lack the score of a judge without a word
_FAILED: Final = "evaluator_failures"  # the column in which pydantic-evals lists the evaluators that failed
_MOST_KEYS: Final = 200  # the most keys of the objects in columns, of which each is a column for all rows
_NAME: Final = 120  # characters
_LISTED: Final = 30  # columns in a message


def exact_match(column: str, expected: str, output: str) -> Opinion:
    """Return the opinion of the judge who holds an output against what a column expects: a text, or a class."""
    same = expected.strip().casefold() == output.strip().casefold()
    opinion = graded(EXACT_MATCH, (RIGHT if same else WRONG,))
    if plain_key(column) not in (*TRUE_LABELS, "label"):  # classes, each of which is a field
        return opinion
    if same:
        return replace(opinion, counts=(FieldScore(expected, Counts(tp=1)),))
    # One error, of the class that was expected. The class that was given has it in its precision.
    counts = FieldScore(expected, Counts(fn=1, wrong_value=1)), FieldScore(output or "no class", Counts(fp=1))
    return replace(opinion, counts=counts, misses=(f"{expected}: given {output}",))


class _TableReader:
    def __init__(self, rows: Sequence[Mapping[str, Value]], column_map: ColumnMap, shown: Collection[str]) -> None:
        """Raises UnreadableError if the table has neither scores, nor verdicts, nor expected texts with outputs."""
        self.findings: list[Finding] = []
        self._rows = rows
        columns = tuple(dict.fromkeys(chain.from_iterable(rows)))
        if len(columns) > _MOST_COLUMNS:
            fix = "Leave out those that are not needed."
            raise UnreadableError(f"it has more than {_MOST_COLUMNS:,} columns", fix)
        self._judge_errors, self._is_judged, self._judge_columns, self._conversations = (
            [name for name in columns if plain_key(name) in usual]
            for usual in (NAMES["error of the judge"], NAMES["is judged"], JUDGES, NAMES["transcript"])
        )
        named = ((name, {str(row[name]) for row in rows if row.get(name)}) for name in columns)
        # What has these names may be the judge, or what it says: a name is the same in all rows.
        self._judge_columns += [
            name
            for name, cells in named
            if plain_key(name) in _MAY_BE_JUDGES and len(cells) == 1 and not grade_of(min(cells), WORDS, ANY_SCALE)
        ]
        self._map = column_map
        asked = columns if any(pattern == EVERY for pattern, _ in column_map.scores) else ()
        grades = ((name, {grade_of(row.get(name), {}, ANY_SCALE) for row in rows}) for name in asked)
        # Columns of numbers and truth values, some cells of which may be empty.
        numeric = [
            name for name, own in grades if None not in own and any(one and one.score is not None for one in own)
        ]
        names = self._names_with_members(columns)
        self._parts, self._scores, self._reasons = parts, scores, _ = column_map.in_table(names, numeric)
        self._lists_scores = column_map.names_of_scores in columns
        used = {*chain.from_iterable(parts.values()), *scores.values(), *self._reasons.values()}
        self._others = [name for name in columns if name not in used and name not in self._judge_columns]
        listed = ", ".join(name[:60] for name in columns[:_LISTED])
        if missing := column_map.missing_in(names):
            message = f"The table has no column {', '.join(map(repr, missing))[:200]}"
            self.findings.append(settings_finding(message, f"Its columns are: {listed}."))
        asks_for_scores = bool(column_map.scores or {"score", "passed"} & column_map.parts.keys())
        self._has_answers = bool(parts.get("expected") and parts.get("output")) and not asks_for_scores
        if not (scores or parts.get("score") or parts.get("passed") or self._lists_scores or self._has_answers):
            raise UnreadableError(
                f"none of its columns says how good an answer is; its columns are: {listed}",
                "Name a column for score, scores or passed, or for both expected and output.",
            )
        self._off_scale, self._unwritten = Counter[str](), Counter[str]()
        self._shown = self._judge = ""
        if column_map.high == inf:
            self._find_scale({*shown})
        elif (column_map.low, column_map.high) != (0, 1):  # one that is declared, for the outputs that came with it
            self._shown = f"a scale from {column_map.low:g} to {column_map.high:g}"
            self._judge = self._shown * any(name.startswith("a scale ") and name != self._shown for name in shown)
        last_step = plain_key(next(iter(parts.get("latency", ())), "").rpartition(".")[2])
        times = sorted(time for row in rows if (time := amount_of(self.value(row, "latency"))) is not None)
        # Without a unit, whole numbers most of which are not below 1,000 are milliseconds: ``{"duration": 5403}``.
        is_whole = times[len(times) // 2 :][:1] >= [1000] and all(map(float.is_integer, times))
        # How many units of the column of latencies are a second, by its name.
        self._per_second = 1000.0 if is_whole and f"{last_step}ms" in LATENCIES else LATENCIES.get(last_step, 1.0)

    def _find_scale(self, shown: set[str]) -> None:
        """Find the least scale that fits the scores; its lower end is what tables on it show.

        Tables on several scales have several judges: their grades are not compared.
        """
        self._map = replace(self._map, low=0.0, high=float(SCALES[-1]))
        columns = {*self._scores.values(), *self._parts.get("score", ())[:1]}
        given = [self._grade(name, value_at(row, name)) for row in self._rows if self._graded(row) for name in columns]
        self._off_scale.clear()
        scores = sorted(each.score for each in given if each.right is None and each.score is not None)
        numbers = [round(SCALES[-1] * score, 6) for score in scores] or [0.0]
        own = scale_of(numbers[-1])
        words = {scale: [form.format(scale) for form in _SHOWN] for scale in SCALES}
        # Grades from 1 may be halved, and a judge that failed may write a 0; whole grades alone show that they are.
        is_from_0 = sum(number < 1 for number in numbers) > _MOST_UNWRITTEN * len(numbers)
        are_whole = own > 1 and numbers[0] >= 1 and all(map(float.is_integer, numbers))
        is_from_1 = are_whole and (numbers[-1] == own == 5 or numbers[:3] == [1, 1, 1])  # grades of five words
        self._shown = words[own][0 if is_from_0 else 1 if is_from_1 else 2]
        shown.add(self._shown)
        lows = {scale: int(a not in shown and b in shown) for scale, (a, b, c) in words.items() if shown & {a, b, c}}
        self._map = replace(self._map, low=float(lows[own]), high=float(own))
        if len(lows) > 1:
            self._judge, *others = (words[scale][lows[scale]] for scale in sorted(lows, key=lambda scale: scale != own))
            message = f"The scores seem to be on {self._judge}, and in other outputs on {' or '.join(others)}"
            fix = f"If all have one, state it in what `sitegen init` writes: `range: [{lows[max(lows)]}, {max(lows)}]`."
            self.findings.append(Finding("warning", f"{message}: they are not compared", fix))

    def _names_with_members(self, columns: Sequence[str]) -> tuple[str, ...]:
        """Return the columns, and the members of the objects in those of which a pattern asks for any member."""
        patterns = (*chain.from_iterable(self._map.parts.values()), *(pattern for pattern, _ in self._map.scores))
        asked = {pattern.removesuffix(".*") for pattern in patterns if pattern.endswith(".*")} & {*columns}
        inner = dict.fromkeys(
            (name, key)
            for name in columns
            if name in asked
            for row in self._rows
            for key, value in members(row.get(name)).items()
            if type(value) not in (int, Decimal) or key[-1:].isdigit() or is_measure(key)  # the size of a window
        )
        if len(inner) > _MOST_KEYS:
            message = f"the objects in its columns have more than {_MOST_KEYS:,} keys"
            raise UnreadableError(message, "Write the scores of one judge under one key.")
        return tuple(dict.fromkeys((*columns, *(f"{name}.{key}" for name, key in inner))))

    def cases(self) -> list[JudgedCase]:
        """Return a case for each row, in the order of the table. The rows are dropped."""
        names = self._row_names()
        judges = list(map(self.opinions, self._rows))
        self._others = [column for column in self._others if not self._measures_answers(column, names)]
        partly = [row for row in self._rows if row.get(_FAILED)]
        rows, self._rows = deque(self._rows), ()
        cases = [self._case(rows.popleft(), name, opinions) for name, opinions in zip(names, judges, strict=True)]
        if errors := [case.error for case in cases if case.error]:
            message = f"{len(errors)} of {len(cases)} rows state an error"
            fix = "Run these cases again."
            self.findings.append(Finding("warning", message, fix, value=errors[0][:200]))
        if failures := [case.unjudged for case in cases if case.unjudged]:
            message = f"A judge failed at {len(failures)} of {len(cases)} rows, which are not judged"
            fix = "Let the judge judge them again."
            self.findings.append(Finding("warning", message, fix, value=failures[0][:200]))
        if partly:
            message = f"An evaluator failed at {len(partly)} of {len(cases)} rows, whose other scores count"
            why = text(value_at(partly[0], f"{_FAILED}.0.error_message"))[:200]
            self.findings.append(Finding("warning", message, "Let the evaluator judge them again.", value=why))
        for column, times in self._unwritten.items():
            if times > max(1, _MOST_UNWRITTEN * len(cases)):
                message = f"The judge {column[:80]!r} wrote no score for {times} of {len(cases)} rows"
                fix = "Let it grade these rows again; write n/a where it has nothing to grade."
                self.findings.append(Finding("warning", message, fix))
        for column, times in self._off_scale.items():
            limits = f"{self._map.low:g} to {self._map.high:g}"
            message = f"Scores in the column {column[:80]!r} are not numbers from {limits}: {times} of {len(cases)}"
            fix = "Let the judge grade these rows again; they are left out."
            if (self._map.low, self._map.high) == (0, 1):
                fix = "State the range of the scores (`range: [1, 5]`); without it these are left out."
            if column in self._parts.get("passed", ()):
                message = f"Verdicts in the column {column[:80]!r} are not known: {times} of {len(cases)}"
                fix = "Write pass or fail, true or false, or 1 or 0; any other word is left out."
            self.findings.append(Finding("warning", message, fix))
        return cases

    def own_grades(self) -> Iterator[str]:
        """Yield the scale, if it is to be found, and the scores of which a row shows that they are grades."""
        yield from filter(None, [self._shown])
        for row in self._rows:
            for name, column in (self._graded(row) or {}).items():
                grade = self._grade(column, value_at(row, column))
                if grade.right is None and grade.score not in (None, 0, 1):
                    yield name

    def _graded(self, row: Mapping[str, Value]) -> Mapping[str, str] | None:
        """Return the columns of the scores of a row, else of its verdict; None if one says that no judge saw it."""
        judged = (grade_of(row.get(name), WORDS) for name in self._is_judged)
        if any(grade is not None and grade.score == 0 for grade in judged):
            return None  # the zeros in its scores are none
        columns = self._scores
        if self._lists_scores:
            listed = map(text, items(row.get(self._map.names_of_scores)))
            columns = {name: name for name in listed if name in row}
        return columns or {name: name for name in (self._parts.get("score") or self._parts.get("passed") or ())[:1]}

    def opinions(self, row: Mapping[str, Value]) -> tuple[Opinion, ...]:
        """Yield an opinion for each score of a row, else on its verdict, else on whether the answer matches exactly."""
        columns = self._graded(row)
        if columns is None:
            return ()
        if columns:
            grader = self._grader(row)
            opinions = []
            for name, column in columns.items():
                cell = value_at(row, column)
                if cell is None and column not in row:
                    continue  # a check that this case does not have
                if len(columns) > 1 and is_no_score(cell) and cell not in _NOT_GRADED and not self._text(row, "error"):
                    self._unwritten[name] += 1
                reason = next((text(members(cell)[key]) for key in REASONS if key in members(cell)), "")
                if name in self._reasons:
                    reason = _cell_text(value_at(row, self._reasons[name]))
                elif not reason and len(columns) == 1:
                    reason = self._text(row, "reasoning")
                check = members(cell)
                judge = check and (stated_judge(cell) or name_of(value_at(check, "sample.model")))
                of_check = Grader(grader_name(judge, "")) if judge else grader
                opinions.append(graded(name, (self._grade(column, cell),), reasoning=reason, grader=of_check))
            return tuple([replace(each, counts=()) if each.name.startswith(WINS) else each for each in opinions])
        expected, output = self._text(row, "expected"), self._text(row, "output")
        if not self._has_answers or not expected.strip() or self._text(row, "error"):
            return ()
        return (exact_match(self._parts["expected"][0], expected, output),)

    def _grader(self, row: Mapping[str, Value]) -> Grader | None:
        """Return the model that gave the scores of a row, if a column or the file states its name or its rubric."""
        if not (self._judge_columns or self._parts.get("judge") or self._parts.get("rubric")):
            return None
        judge, rubric = self._text(row, "judge").strip(), self._text(row, "rubric")
        judge = judge or next(filter(None, (stated_judge({_JUDGE: row.get(name)}) for name in self._judge_columns)), "")
        return Grader(grader_name(judge, ""), rubric) if judge or rubric else None

    def _case(self, row: Mapping[str, Value], name: str, judges: tuple[Opinion, ...]) -> JudgedCase:
        parts = self._parts
        score = None
        if parts.get("score") and any(judge.name != parts["score"][0] for judge in judges):
            score = self._grade(parts["score"][0], value_at(row, parts["score"][0])).score
        reasoning = self._text(row, "reasoning") if len(judges) != 1 else ""
        verdict = grade_of(self.value(row, "passed"), WORDS)
        passed = verdict and (verdict.score if verdict.right is None else float(verdict.right))
        has_verdict = passed in (0, 1)
        if verdict is None and parts["passed"][0] not in {judge.name for judge in judges}:
            self._off_scale[parts["passed"][0]] += 1
        grader = self._grader(row) if has_verdict or score is not None else None
        # A judge failed if a column says so, or an object of scores has an error and no score.
        failures = [_cell_text(row.get(name)) for name in self._judge_errors]
        cells = map(members, (value_at(row, column) for column in self._scores.values()))
        failures += (_cell_text(cell.get("error")) for cell in cells if all(cell.get(key) is None for key in GRADES))
        sample = members(row.get("sample"))
        messages = next((row[name] for name in self._conversations if row.get(name)), None)
        tokens_in, tokens_out, cost = (amount_of(self.value(row, part)) for part in USAGE[:3])
        whole_in, whole_out = (None if size is None or size % 1 else int(size) for size in (tokens_in, tokens_out))
        latency = amount_of(self.value(row, "latency"), self._per_second)
        usage = Usage(tokens_in=whole_in, tokens_out=whole_out, cost=cost, latency=latency)
        # How sure the model was; beside a judge, it is the judge's unless the settings name the column.
        columns = parts.get("confidence", ())
        is_of_judge = set(columns).isdisjoint(self._map.required) and self._grader(row)
        sure = [{LOGPROB if plain_key(one) == LOGPROB else "confidence": value_at(row, one)} for one in columns]
        return JudgedCase(
            id=name,
            opinion=Opinion("", score, reasoning=reasoning, grader=grader),
            judges=judges,
            variant=self._text(row, "variant"),
            passed=passed if has_verdict else None,
            input=self._text(row, "input"),
            expected=self._text(row, "expected"),
            output=self._text(row, "output"),
            error=self._text(row, "error"),
            unjudged=next(filter(None, failures), ""),
            call=Call(usage, self._text(row, "model"), judge=self._judge),
            confidence=None if is_of_judge else stated_confidence(*sure),
            transcript=transcript(sample.get("input"), sample.get("output")) or transcript(messages),
            texts=texts_of({name: row[name] for name in self._others if name in row}),
        )

    def _row_names(self) -> list[str]:
        """Return the name of each row: its id, input or number.

        Rows of one name, variant and model are answers to one case if input and expected text are the same too.
        """
        stated = [" ".join((self._text(row, "id") or self._text(row, "input")).split()) for row in self._rows]
        names = [cut(name, _NAME) or f"row {place}" for place, name in enumerate(stated, 1)]
        used: dict[tuple[str, str, str], list[tuple[str, str]]] = {}
        for place, (row, name) in enumerate(zip(self._rows, names, strict=True)):
            cases = used.setdefault((name, self._text(row, "variant"), self._text(row, "model")), [])
            case = self._text(row, "input"), self._text(row, "expected")
            if case not in cases:
                cases.append(case)
            number = cases.index(case) + 1
            names[place] = name if number == 1 else f"{name} ({number})"
        if repeated := sum(len(cases) > 1 for cases in used.values()):
            message = f"Names of cases are on rows with different inputs, which are told apart by order: {repeated}"
            self.findings.append(Finding("warning", message, "Name a column with an id for each row."))
        return names

    def _measures_answers(self, column: str, names: Sequence[str]) -> bool:
        """Whether a column has many numbers, and several for one case: it says nothing of the cases."""
        numbers = {cell for row in self._rows if isinstance(cell := row.get(column), str)}
        if len(numbers) <= MOST_NUMBERS or None in map(spelled_number, numbers):
            return False
        return len({(name, row.get(column)) for name, row in zip(names, self._rows, strict=True)}) > len({*names})

    def _grade(self, column: str, value: Value) -> AnswerGrade:
        """Return the grade in a cell, which may be an object that states a verdict, a score or both."""
        stated = None
        if isinstance(value, dict):
            verdicts = (value[key] for key in VERDICTS_OF_CHECKS if is_verdict(value.get(key)))
            stated = grade_of(next(verdicts, None), WORDS)
            value = next((value[key] for key in GRADES if key in value), None)
        grade = grade_of(lone_item(value), WORDS, (self._map.low, self._map.high))
        if stated is not None and stated.score is not None:  # a score on another scale is a step on the way to it
            score = stated.score if grade is None or grade.score is None else grade.score
            return AnswerGrade(score, stated.score == 1)
        if grade is None:
            self._off_scale[column] += 1
        return grade or AnswerGrade(None)

    def value(self, row: Mapping[str, Value], part: str) -> Value:
        """Return the value of a part of a row."""
        columns = self._parts.get(part, ())
        return value_at(row, columns[0]) if columns else None

    def _text(self, row: Mapping[str, Value], part: str) -> str:
        """Return the text of a part. If several columns hold it, each text is preceded by the name of its column."""
        columns = self._parts.get(part, ())
        if len(columns) < 2:
            return _cell_text(value_at(row, columns[0])) if columns else ""
        cells = {name: _cell_text(value_at(row, name)) for name in columns}
        texts = {name: cell for name, cell in cells.items() if cell}
        if len(texts) < 2:
            return next(iter(texts.values()), "")
        return text("\n".join(f"{name}: {cell}" for name, cell in texts.items()))


def _cell_text(value: Value) -> str:
    """Return a cell as text: the text of a list or object with nothing else in it, else JSON."""
    if isinstance(value, str):
        return text(value)
    if isinstance(value, Unusable):
        return as_text(value)
    inner = lone_item(list(value.values()) if isinstance(value, dict) else value)
    return text(inner) if isinstance(inner, str) else conversation(value)
