"""Turns the rows of any table or list into rows of which each is one answer to one case, as ``columns`` describes them.

A row may be of several answers (attempts, systems, variants), and several rows may be of one (the scores of a trace).
``case_rows`` says in which order they are told apart. It adds no judgement: whatever it cannot tell stays as it is.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from functools import lru_cache
from itertools import chain
from typing import Final

from sitegen.data_files.folders import FILE_ENDING
from sitegen.data_files.reading import UnreadableError, parse_json
from sitegen.importers.case import BASELINES, is_no_score, is_number, is_verdict
from sitegen.importers.tool_values import as_float, as_number, members, name_of, number
from sitegen.importers.usual_names import (
    ANSWER_OF,
    CHECKS,
    COMPARED,
    EXPECTED,
    GRADES,
    GRADING,
    MODEL,
    NAMED_VERDICT,
    NAMES,
    NAMES_OF_CHECKS,
    NO_ANSWERER,
    OUTPUT,
    OWN_SIDES,
    PARTS,
    PREDICTED_LABELS,
    RUN_COLUMNS,
    SCORES,
    SIDES_OF_FIELDS,
    STATED_MEASURE,
    TRUE_LABELS,
    USAGE,
    VERDICT,
    VERDICTS,
    WEAK_VERDICTS,
    by_plain_name,
    called,
    usual_key,
)
from sitegen.model.frozen import grouped
from sitegen.model.outcomes import Value
from sitegen.model.problems import Finding, Parsed
from sitegen.text.keys import plain_key
from sitegen.text.plain import natural_order
from sitegen.text.values import id_text

LEAST_VARIANTS: Final = 2  # of which each answers every case
MOST_LABELS: Final = 12  # of a classification
_MOST_CHECKS: Final = 200  # checks of a case
_MAX_DEPTH: Final = 3  # number of levels below the root that are searched for a list of cases
_OWN_SCHEMA: Final = "sitegen/"  # the beginning of ``schema`` in files that sitegen itself writes about an output
_ONE_NUMBER: Final = re.compile(r"\[[-+0-9.eE]{1,40}\]")  # matches a cell of CSV with a list of one number
_PASSED: Final = re.compile("pass(?:ed)?|fail(?:ed)?", re.IGNORECASE)


@lru_cache(1024)  # all rows of a table have the same columns
def _side_in(column: str) -> tuple[str, str]:
    """Return the side that a column holds of a field, and the field: ``total_true``, ``true_total``; else no names."""
    words = re.split(r"[_. ]", column.casefold())
    first, last = words[0], words[-1]
    if last in SIDES_OF_FIELDS:
        return SIDES_OF_FIELDS[last], column[: -len(last) - 1]
    side = SIDES_OF_FIELDS.get(first, CHECKS)  # ``correct_total`` is no verdict on a total
    return ("", "") if side == CHECKS else (side, column[len(first) + 1 :])


def case_rows(rows: Iterable[dict[str, Value]]) -> list[dict[str, Value]]:
    """Return a row for each answer: without those of the spans in a case, and with all scores of a trace in one row."""
    cases = _by_trace([row for row in rows if row.get("is_root") is not False and not row.get("span_parents")])
    cases = _by_answerer(cases) or cases
    attempts = chain.from_iterable(_attempts(case) or [case] for case in cases)
    answers = chain.from_iterable(_by_variant(attempt) or [attempt] for attempt in attempts)
    return [preference_in(row) or with_named_checks(row) for row in answers]


def _by_trace(scores: list[dict[str, Value]]) -> list[dict[str, Value]]:
    """Return a row for each trace if each of these rows is one score of a trace; else the same rows."""
    traces = [name_of(row.get("traceId")) or name_of(row.get("trace_id")) for row in scores]
    if not (scores and all(traces) and all("name" in row and "value" in row for row in scores)):
        return scores
    by_trace: dict[str, list[Value]] = {}
    for trace, score in zip(traces, scores, strict=True):
        stated = (score.get(key) for key in ("value", "stringValue", "string_value"))
        value = next((value for value in stated if not is_no_score(value)), None)
        by_trace.setdefault(trace, []).append({**score, "value": value})
    return [{"id": trace, "scores": each} for trace, each in by_trace.items()]


def _by_answerer(cases: Sequence[Mapping[str, Value]]) -> list[dict[str, Value]]:
    """Return a row for each system whose answers, or verdicts on them, have a column; else none.

    Columns are named after answers, and each system has a verdict or a score of its own; or most cells of several are
    expected labels; or each has verdicts alone. Costs and times beside several systems are those of nobody.
    """
    names = [*cases[0]] if cases else []
    by_name = by_plain_name(names)
    answers = {name: match[1] or match[2] for name in names if (match := ANSWER_OF.fullmatch(name))}
    usual = (*PARTS["expected"], *(["answer"] if len(answers) >= LEAST_VARIANTS else ()))
    truth = next(chain(called(by_name, usual), filter(OWN_SIDES["expected"].fullmatch, names)), "")
    if {*called(by_name, (*PARTS["output"], *VERDICTS, *SCORES))} - {truth}:
        return []
    cells = {name: [case.get(name) for case in cases] for name in names}
    # The system and the part of each column that may be named after both: ``mini_score``, ``score.mini``.
    parted = ((name, name[:at], name[at + 1 :]) for name in names for at, sign in enumerate(name) if sign in "_. -")
    named = [(name, *ends) for name, start, end in parted for ends in ((end, start), (start, end))]
    systems = {name: system for name, system in answers.items() if name != truth}
    judged = {system for _, system, part in named if plain_key(part) in (*VERDICTS, *SCORES, "ok")}
    # A prediction may be that of one field of several; nobody else gives an answer.
    are_judged = judged.issuperset(systems.values()) and (truth or not any("pred" in name.lower() for name in systems))
    if not are_judged or len({*systems.values()}) < LEAST_VARIANTS:
        labelled = with_labels_of(truth, cells) if truth else []
        of_labels = {name: system for name, system in systems.items() if name in labelled}
        about = NAMES["about the question"]
        free = {name: name for name in labelled if plain_key(name) not in about and not NO_ANSWERER.search(name)}
        systems = of_labels if len(of_labels) >= LEAST_VARIANTS else free
    answered = PREDICTED_LABELS[1]
    if len(systems) < LEAST_VARIANTS:
        systems = _with_verdicts({name: cells[name] for name in names if name != truth}, named)
        are_labels = truth and all(map(is_verdict, cells[truth])) and systems == {name: name for name in systems}
        answered = answered if are_labels else VERDICTS[0]
    if len(systems) < LEAST_VARIANTS:
        return []
    beside = {name: (who, part) for name, who, part in named if name not in systems and who in systems.values()}
    apart = {truth, *systems, *beside, *called(by_name, chain.from_iterable(PARTS[part] for part in USAGE))}
    tells = "" if any(called(by_name, PARTS["id"] + PARTS["input"])) else next(iter(columns_apart(cases)), "")
    return [
        {
            **({"id": case[tells]} if tells else {}),
            **{name: cell for name, cell in case.items() if name not in apart},
            **{part: case[name] for name, (owner, part) in beside.items() if owner == system and name in case},
            "variant": system,
            **({TRUE_LABELS[1]: case.get(truth)} if truth else {}),
            answered: case.get(column),
        }
        for case in cases
        for column, system in systems.items()
    ]


def _with_verdicts(columns: Mapping[str, Sequence[Value]], named: Sequence[tuple[str, str, str]]) -> dict[str, str]:
    """Return the systems of columns of verdicts: models, or all beside a baseline; any others may be checks.

    Beside what a judge or a person says, models are judges. ``named``: (column, system, part) in each way in which a
    column may be named after both.
    """
    verdicts = [
        name
        for name, cells in columns.items()
        if all(is_verdict(cell) or is_no_score(cell) for cell in cells) and any(map(is_verdict, cells))
    ]
    if any(map(NO_ANSWERER.search, verdicts)):
        return {}
    own = {name: system for name, system, part in named[::-1] if name in verdicts and plain_key(part) in VERDICTS}
    systems = {name: own.get(name, name) for name in verdicts if name in own or len(own) < LEAST_VARIANTS}
    known = {name: system for name, system in systems.items() if MODEL.search(system) or BASELINES.fullmatch(system)}
    return systems if known and (systems == own or len(systems) == LEAST_VARIANTS) else known


def with_labels_of(column: str, columns: Mapping[str, Sequence[Value]]) -> list[str]:
    """Return the other columns in which most texts are labels of a column, and most cells; none if that holds none."""
    labels = {cell for cell in columns[column] if isinstance(cell, str) and cell and not is_verdict(cell)}
    if not 1 < len(labels) <= min(MOST_LABELS, len(columns[column]) // 2):
        return []
    texts = {name: cells for name, cells in columns.items() if all(isinstance(cell, str | None) for cell in cells)}
    numbers = {name: (sum(cell in labels for cell in cells), sum(map(bool, cells))) for name, cells in texts.items()}
    agree = (name for name, (same, given) in numbers.items() if 10 * same >= max(9 * given, 5 * len(texts[name])))
    return [name for name in agree if name != column]


def _attempts(case: Mapping[str, Value]) -> list[dict[str, Value]]:
    """Return a row for each attempt that a case lists, or for each system of ``{"pipelines": {name: answer}}``.

    The list is empty unless these state results, and the case has none of its own.
    """
    lists = {
        name: cell for name, cell in case.items() if isinstance(cell, list) and plain_key(name) in NAMES["attempts"]
    }
    lists |= {
        name: [{"variant": system, **members(row)} for system, row in cell.items()]
        for name, cell in case.items()
        if isinstance(cell, dict) and plain_key(name) in NAMES["systems"]
    }
    if not lists:
        return []
    rest = {name: cell for name, cell in case.items() if name not in lists}
    rows = list(map(members, next(iter(lists.values()))))
    if not rows or not all(map(states_a_result, rows)) or states_a_result(rest):
        return []
    return [{**{name: cell for name, cell in row.items() if name not in rest}, **rest} for row in rows]


def _by_variant(case: dict[str, Value]) -> list[dict[str, Value]]:
    """Return a row for each number of ``{"scores": {dimension: {variant: number}}}``; none for other scores.

    The dimensions of a case are its scores. Where no name of a case is stated, they are the cases.
    """
    objects = (name for name, cell in case.items() if isinstance(cell, dict) and plain_key(name) in NAMES["checks"])
    if (name := next(objects, None)) is None:
        return []
    dimensions = {dimension: members(graded) for dimension, graded in members(case[name]).items()}
    variants = dict.fromkeys(variant for graded in dimensions.values() for variant in graded)
    numbers = (graded.get(variant) for graded in dimensions.values() for variant in variants)
    if len(variants) < LEAST_VARIANTS or variants.keys() & {*GRADES} or None in map(as_float, numbers):
        return []
    rest = {key: cell for key, cell in case.items() if key != name}
    if {*map(plain_key, rest)} & {*PARTS["id"], *PARTS["input"]}:
        return [
            {**rest, "variant": variant, name: {dimension: graded[variant] for dimension, graded in dimensions.items()}}
            for variant in variants
        ]
    return [
        {**rest, "id": dimension, "variant": variant, "score": number}
        for dimension, graded in dimensions.items()
        for variant, number in graded.items()
    ]


def with_sides(row: dict[str, Value]) -> dict[str, Value]:
    """Return a row with one expected side and one output in place of a pair of columns for each field.

    The field ``total`` has the columns ``total_true`` and ``total_pred``, and perhaps its verdict in ``total_ok``, a
    check. A single pair without a verdict may be a classification.
    """
    own = {key: side for key in row for side in OWN_SIDES if type(row[key]) is dict and OWN_SIDES[side].fullmatch(key)}
    if len({*own.values()}) == len(OWN_SIDES):  # ``{"gold": {"total": 1}, "pred": {"total": 2}}``
        return {own.get(name, name): cell for name, cell in row.items()}
    columns: dict[str, dict[str, str]] = {"expected": {}, "output": {}, CHECKS: {}}
    for name in row:
        side, field = _side_in(name)
        if field:
            columns[side][field] = name
    fields = columns["expected"]
    columns[CHECKS] = {
        field: name for field, name in columns[CHECKS].items() if field in fields and is_verdict(row[name])
    }
    if fields.keys() != columns["output"].keys() or len(fields) < (1 if columns[CHECKS] else 2):
        return row
    used = {name for names in columns.values() for name in names.values()}
    sides = {side: {field: row[name] for field, name in names.items()} for side, names in columns.items() if names}
    return {**{name: value for name, value in row.items() if name not in used}, **sides}


def with_named_checks(row: dict[str, Value]) -> dict[str, Value]:
    """Return the row of a case with an object by name in place of each list of checks (``[{name, passed}]``).

    In CSV, a list or an object of checks is JSON in a cell. LangSmith has such a list below ``results``.
    """
    sided = with_sides(row)
    row = sided if CHECKS in sided else row
    checks = dict[str, Value]()
    for name, cell in row.items():
        is_json = isinstance(cell, str) and cell[:1] in ("{", "[")
        if not (is_json or isinstance(cell, list | dict)):
            continue
        is_object = plain_key(name) in NAMES["checks"]
        if is_object and isinstance(cell, dict) and isinstance(cell.get("results"), list):
            cell = cell["results"]
        may_be_list = is_object or plain_key(name) in NAMES["listed checks"]
        if isinstance(cell, str) and (may_be_list or _ONE_NUMBER.fullmatch(cell)):
            with suppress(UnreadableError):
                checks[name] = cell = parse_json(cell).value
        if isinstance(cell, list) and may_be_list:
            by_name = _by_name(cell)
            checks[name if is_object or not by_name else CHECKS] = by_name or cell
    return {**row, **checks} if checks else row


def _by_name(checks: list[Value]) -> dict[str, Value]:
    """Return the checks by their names; empty if any has no name or states no result."""
    by_name: dict[str, Value] = {}
    for check in checks[:_MOST_CHECKS]:
        stated = members(check)
        name = next(filter(None, (name_of(stated.get(key)) for key in NAMES_OF_CHECKS)), "")
        if not name or not any(key in stated for key in GRADES):
            return {}
        number = sum(other == name or other.startswith(f"{name} (") for other in by_name)
        by_name[f"{name} ({number + 1})" if number else name] = stated
    return by_name


def states_a_result(row: dict[str, Value], *, of_response: bool = False) -> bool:
    """Whether a tool states in the row of a case how good the answer is, in whatever form.

    In the row of a response, the usual names of verdicts and scores alone count: its success or status may be that of
    the call, and objects such as ``judge_usage`` or ``metrics`` hold no verdicts.
    """
    verdicts = VERDICTS if of_response else (*VERDICTS, *WEAK_VERDICTS)
    for name, value in with_named_checks(row).items():
        plain, above = plain_key(name), plain_key(name.partition(".")[0])
        of_checks, is_score = above in NAMES["checks"], plain in SCORES
        if isinstance(value, dict) or (isinstance(value, list) and not of_response):
            explains = not of_response and GRADING.fullmatch(plain) is not None
            stated = bool(value) and (of_checks or explains)
        else:
            is_measure = not of_response and STATED_MEASURE.fullmatch(plain) is not None
            has_number = is_score or is_measure or ("." in name and of_checks)
            stated = (has_number and is_number(value)) or (is_score and is_verdict(value))
        is_named = plain in verdicts or (not of_response and COMPARED.fullmatch(plain) and NAMED_VERDICT.search(name))
        if stated or (is_named and is_verdict(value)) or (plain == VERDICT and not is_no_score(value)):
            return True
    return False


def with_shares(rows: list[dict[str, Value]]) -> list[dict[str, Value]]:
    """Return rows with the share of the possible points as score; the same rows if one does not state its maximum."""
    by_name = by_plain_name(rows[0]) if rows else {}
    points = next(called(by_name, (*SCORES, *NAMES["points"])), None)
    maximum = next(called(by_name, NAMES["maximum"]), None)
    if points is None or maximum is None or any(called(by_name, NAMES["minimum"])):
        return rows
    pairs = [(as_number(row.get(points)), as_number(row.get(maximum))) for row in rows]
    are_points = any((earned or 0) > 1 or len(pairs) == earned == 1 for earned, _ in pairs)  # a lone 1 of 10 is a point
    if not are_points or not all(most and 0 <= (earned or 0) <= most for earned, most in pairs):
        return rows
    name = points if plain_key(points) in SCORES else SCORES[0]
    return [
        {**row, name: Decimal(str(earned / most)) if most and earned is not None else row.get(points)}
        for row, (earned, most) in zip(rows, pairs, strict=True)
    ]


WINS: Final = "win rate of "
"""Begins the name of such a judge, whose scores are shares of a win and no verdicts."""
_WINNERS: Final = ("winner", "preferred", "preference")
_SIDES: Final = re.compile(
    r"(?P<kind>model|generator|variant|prompt|system|agent|skill|candidate|framework|fw|method|name)_?(?P<side>[abAB12])"
)
_TIES: Final = re.compile(r"tie\b.*|tied|draw|equal|same|both.*|neither|none", re.IGNORECASE)
_FIRST: Final = frozenset(("a", "1", "first", "left"))
_SECOND: Final = frozenset(("b", "2", "second", "right"))


def preference_in(row: Mapping[str, Value]) -> dict[str, Value]:
    """Return a row that says which of two answers is better with the share of a win as score; empty for any other row.

    Arenas and A/B tests of prompts write such rows. A tie is half a win. The share is that of one of the two by their
    names, as they may change sides: not of the baseline, else of the last in natural order (``m-10`` over ``m-9``).
    AlpacaEval's numbers are of the second one.
    """
    stated = next((row[name] for name in _WINNERS if row.get(name) not in (None, "")), None)
    if stated is None:
        return {}
    named = [(match["side"].lower(), name_of(row[name])) for name in row if (match := _SIDES.fullmatch(name))]
    first = next((name for side, name in named if side in _FIRST and name), "A")
    second = next((name for side, name in named if side in _SECOND and name), "B")
    size, word = number(stated), name_of(stated)
    if size is None and re.fullmatch(r"[12](?:\.[0-9]{1,20})?", word):
        size = float(word)
    side = match["side"] if (match := _SIDES.fullmatch(word)) else word
    of_alpaca = size is not None and bool(named) and 1 <= size <= 2
    if size is not None and of_alpaca:  # 1 is for the first, 2 for the second
        share = size - 1
    elif word == second or side.lower() in _SECOND:
        share = 1.0
    elif word == first or side.lower() in _FIRST:
        share = 0.0
    elif _TIES.fullmatch(word):
        share = 0.5
    else:
        return {}
    ranks = [(not BASELINES.fullmatch(name), () if of_alpaca else natural_order(name)) for name in (first, second)]
    if ranks[1] < ranks[0]:
        first, second, share = second, first, 1 - share
    rest = {name: cell for name, cell in row.items() if name not in _WINNERS}
    return {"scores": {f"{WINS}{second} over {first}": str(share)}, **rest}


def nearest_cases(root: Value, is_case: Callable[[dict[str, Value]], object] | None = None) -> Sequence[Value]:
    """Return the list nearest to the root any member of which is a case; empty if there is none.

    A case has an expected side and an output under usual names, if nothing else is said.
    """
    is_case = is_case or (lambda case: usual_key([case], EXPECTED) and usual_key([case], OUTPUT))
    if isinstance(root, dict) and str(root.get("schema", "")).startswith(_OWN_SCHEMA):
        return ()
    level: list[Value] = [root]
    for _ in range(_MAX_DEPTH):
        below: list[Value] = []
        for container in level:
            if isinstance(container, list) and any(isinstance(case, dict) and is_case(case) for case in container):
                return container
            if isinstance(container, dict):
                if is_case(container):
                    return [container]
                if container and all(isinstance(case, dict) and is_case(case) for case in container.values()):
                    return [{"id": name, **case} for name, case in container.items() if isinstance(case, dict)]
                below += [inner for key, inner in container.items() if plain_key(key) not in NAMES["part of the cases"]]
        level = below
    return ()


def named_rows(value: Value) -> list[Value]:
    """Return the rows of cases by name (``{"case 1": {"passed": true}}``), with the names as their ids; else none."""
    named = members(value)
    rows = list(map(members, named.values()))
    lists = [cell for cell in named.values() if isinstance(cell, list)]
    if len(rows) == len(lists) > 1:  # the attempts at each case, which name none themselves
        keys = {plain_key(key) for attempts in lists for attempt in attempts for key in members(attempt)}
        rows = [{"attempts": attempts} for attempts in lists] if keys.isdisjoint(PARTS["id"] + PARTS["input"]) else rows
    if all(re.search("[0-9 /]", name) and _PASSED.fullmatch(str(cell)) for name, cell in named.items()):
        rows = [{VERDICT: cell} for cell in named.values()]  # ``{"case 1": "pass"}``
    failed = [row for row in rows if [*map(plain_key, row)] == ["error"]]
    for row in rows if len(failed) < len(rows) else ():
        is_named = any(NAMED_VERDICT.search(name) and is_verdict(cell) for name, cell in row.items())
        has_result = is_named or states_a_result(row) or _attempts(row)
        if not (has_result or row in failed) or not {*map(plain_key, row)}.isdisjoint(NAMES["count"]):
            return []
    return [{"id": name, **row} for name, row in zip(named, rows, strict=True)]


def expected_side(rows: Sequence[dict[str, Value]], key: str) -> str:
    """Return the key of what is expected, if the rows hold it beside nothing but their id and their question.

    ``key`` names the id. Empty if the rows have other fields, which are expected as well.
    """
    side = usual_key(rows, EXPECTED)
    others = {plain_key(name) for row in rows for name in row} - {plain_key(key), plain_key(side)}
    is_alone = plain_key(side) not in NAMES["side or field"] and others.issubset(NAMES["about the question"])
    return side if is_alone else ""


def columns_apart(rows: Sequence[Mapping[str, Value]]) -> dict[str, frozenset[str]]:
    """Return the values of each column that tells all rows apart, those that are file names without their endings."""
    names = {name: frozenset(FILE_ENDING.sub("", id_text(row.get(name))) for row in rows) for name in chain(*rows[:1])}
    return {name: values for name, values in names.items() if len(values - {""}) == len(rows)}


def run_column(lines: Sequence[Value]) -> str:
    """Return the column that names the run of each line of cases, all of which may be of one; empty if there is none.

    More than half of the cases of each run are in the largest. Other names in such a column are those of variants or
    of repeats.
    """
    rows = [line for line in lines if isinstance(line, dict)]
    columns = by_plain_name(rows[0] if rows else ())
    of_cases = [name for row in rows[:1] for name in row if plain_key(name) in (*PARTS["id"], *PARTS["input"])]
    for plain, looks_like_a_run in RUN_COLUMNS.items():
        runs = [id_text(row.get(columns[plain])) for row in rows] if plain in columns else []
        # A time that all rows share may be one of their values.
        if (plain in NAMES["time"]) < len({*runs}) < len(runs) and all(map(looks_like_a_run.search, {*runs})):
            for name in of_cases:
                pairs = zip(runs, (str(row.get(name)) for row in rows), strict=True)
                largest = max(of_runs := [{*cases} for cases in grouped(pairs).values()], key=len)
                if len(largest) > 1 and all(2 * len(cases & largest) > len(cases) for cases in of_runs):
                    return columns[plain]
    return ""


def newest_run(lines: Sequence[Value], key: str) -> Parsed[tuple[int, ...]]:
    """Return the indices of the lines of the run that the last line names under a key; all lines without a key.

    Lines that are no objects belong to every run.
    """
    runs = {index: id_text(line.get(key)) for index, line in enumerate(lines) if key and isinstance(line, dict)}
    newest = next(reversed(runs.values()), "")
    of_newest = tuple(index for index in range(len(lines)) if runs.get(index, newest) == newest)
    left_out = len(lines) - len(of_newest)
    message = f"{left_out} lines are of earlier runs and do not count; the newest run is {newest[:80]!r}"
    fix = "Nothing need be done: each commit of the file is an iteration; so is each run of cases in CSV or JSON Lines."
    return Parsed(of_newest, (Finding("note", message, fix),) if left_out else ())
