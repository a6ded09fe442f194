"""The usual names of the columns in which tools write results, and the columns of a table that no setting describes."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from functools import lru_cache
from itertools import chain
from typing import Final

from sitegen.data_files.reading import UnreadableError, parse_json
from sitegen.importers.case import VERDICTS, WORDS, grade_of, is_no_score
from sitegen.importers.columns import ColumnMap, parts_of
from sitegen.importers.preferences import preference_in
from sitegen.importers.tool_values import as_float, lone_item, members, name_of
from sitegen.model.frozen import grouped
from sitegen.model.outcomes import Value
from sitegen.model.problems import Finding, Parsed
from sitegen.model.usage import LATENCIES, TOKENS_IN, TOKENS_OUT, spelled_number
from sitegen.text.keys import plain_key
from sitegen.text.values import id_text

TRUE_LABELS: Final = ("ytrue", "truelabel", "goldlabel")
PREDICTED_LABELS: Final = ("ypred", "predictedlabel", "predlabel")
"""Names that occur in pairs, in tables of a classification."""
LOGPROB: Final = "logprob"
"""The name of a confidence as the natural logarithm of a probability."""
PARTS: Final = parts_of(f"""
    id=datasourceitemid|datasetitemid|id|caseid|testid|testcaseid|questionid|exampleid|sampleid|itemid|taskid|docid|
       documentid|scenarioid|evalid|test|testcase|testname|case|eval|scenario|task|name|key
    input=input|inputs|question|query|prompt|userinput|instruction|text|sentence
    variant=variant|providerid|provider|promptid|experiment|experimentname|arm|condition|agent|target|system|
            promptversion|appversion|promptname|prompt
    model=model|modelid|modelname
    expected=expected|expectedoutput|expectedanswer|expectedresponse|expectedresult|expectedvalue|groundtruth|target|
             gold|reference|referenceanswer|ideal|{"|".join(TRUE_LABELS)}|label|answerkey|correctanswer|goldanswer|
             goldenanswer|golden
    output=output|actual|actualoutput|modeloutput|extracted|prediction|predicted|response|modelresponse|modelanswer|
           llmresponse|generatedanswer|agentresponse|answer|result|completion|{"|".join(PREDICTED_LABELS)}
    error=error|errormessage
    reasoning=reasoning|reason|explanation|rationale|justification
    cost=cost|costusd|totalcost
    confidence=confidence|modelconfidence|answerconfidence|confidencescore|probability|{LOGPROB}
    latency={"|".join(LATENCIES)}
    tokens_in={"|".join(TOKENS_IN)}
    tokens_out={"|".join(TOKENS_OUT)}""")
"""Part of a case -> usual column names, the most specific first, in lower case without separators."""
USAGE: Final = ("tokens_in", "tokens_out", "cost", "latency")

WEAK_VERDICTS: Final = ("success", "status", "outcome", "classification", "ok")
"""Names that often mean only that a call succeeded."""
SCORES: Final = ("score", "overallscore", "totalscore", "finalscore", "weightedscore", "rating", "grade")
MAXIMA: Final = ("max", "maxscore", "maxpoints", "scoremax", "maximum", "outof", "pointspossible", "maxpossible")
"""Names of the highest score that is possible in a row."""
SCALES: Final = (1, 5, 10, 100)  # the upper ends of usual scales
_VERDICT: Final = "verdict"  # the name that has no other meaning, so that a word which is not known is a verdict too
_PASSED: Final = re.compile("pass(?:ed)?|fail(?:ed)?", re.IGNORECASE)
_ANY: Final = (-1e300, 1e300)  # the range of a number on an unknown scale
OBJECTS: Final = (
    *("scores", "assertions", "grades", "verdicts", "checks", "evaluations", "judgescores", "judgescore"),
    *("assertionresults", "checkresults", "evaluationresults", "metricsdata"),
)
"""Names of objects that hold the scores or verdicts of a case, by the name of their judge, or of lists of these."""
_ATTEMPTS: Final = frozenset(("attempts", "trials", "tries", "repeats", "repetitions", "runs", "samples"))
"""Names of lists with the answers to one case."""
SYSTEMS: Final = frozenset(("pipelines", "systems", "models", "variants", "providers", "arms", "conditions"))
"""Names of objects with the answer to one case of each system, by its name."""
_LISTS: Final = frozenset((*OBJECTS, "expectations", "results", "metrics"))
"""Names of lists of such checks. Objects of the last three names hold other things."""
VERDICTS_OF_CHECKS: Final = ("passed", "pass", "success", "verdict")
GRADES: Final = ("score", "value", *VERDICTS_OF_CHECKS)
"""Members of an object that states a score or a verdict, in order of precedence."""
_NAMES: Final = (
    *("name", "metric", "check", "criterion", "assertion", "evaluator", "evaluatorName", "title", "id", "type", "text"),
)
_MOST_CHECKS: Final = 200  # checks of a case
LEAST_VARIANTS: Final = 2  # of which each answers every case
MOST_LABELS: Final = 12  # of a classification
_ONE_NUMBER: Final = re.compile(r"\[[-+0-9.eE]{1,40}\]")  # matches a cell of CSV with a list of one number
_SPANS: Final = frozenset(("rootspanid", "spanid", "traceid", "observationcount"))
"""Names of columns by which a row is a trace, whose id is another one at each run and whose name is that of all."""
_GRADING: Final = re.compile(
    r"assertions?|checks?|grad(?:es?|ing\w*)|scoring|verdicts?|evaluat\w*|judge\w*|metrics?(?:data|results?)"
)
"""Matches plain names of objects or lists in which a tool explains its verdict on a case."""
CHECKS: Final = "checks"
_OF_FIELD: Final = re.compile(
    r"(.+)[_. ](?:(?P<expected>true|truth|gold|gt|expected)|(?P<output>pred|predicted|prediction|extracted)|"
    r"(?P<checks>ok|correct|match))",
    re.IGNORECASE,
)
"""Matches a column with a side of a field, or with the verdict that the file states on it."""
_in_column: Final = lru_cache(1024)(_OF_FIELD.fullmatch)  # all rows of a table have the same columns
_OF_WHAT: Final = r"(?:_?(?:labels?|class|category|intent|answer|value))?"
OWN_SIDES: Final = {
    "expected": re.compile(rf"(?:(?:ground_?)?truth|gold(?:en)?|expected|true){_OF_WHAT}", re.IGNORECASE),
    "output": re.compile(rf"pred(?:icted)?{_OF_WHAT}", re.IGNORECASE),
}
"""Part -> names of columns of the author's own, such as ``ground_truth_label``."""
_ANSWER: Final = r"(?:pred|predicted|prediction|response|output|answer)"
_ANSWER_OF: Final = re.compile(rf"{_ANSWER}[_. -](.+)|(.+)[_. -]{_ANSWER}", re.IGNORECASE)
"""Matches a column with the answers of a system: ``response_mini``, ``mini_output``."""
NO_ANSWERER: Final = re.compile(
    r"(?i)(?:^|[^a-z])(?:(?:judge|annotator|rater|human|reviewer)s?|truth|gold|(?:old|previous)[_ -]label)(?:[^a-z]|$)"
)
"""Matches a column of what somebody says of an answer or said before, which the expected label sums up."""
_RUBRIC: Final = re.compile(
    r"(?:accura(?:cy|te)|clarity|clear|coheren(?:ce|t)|complete(?:ness)?|concise(?:ness)?|consistency|correct(?:ness)?|"
    r"creativity|depth|empathy|engagement|factuality|faithful(?:ness)?|fluency|grammar|grounded(?:ness)?|"
    r"harmless(?:ness)?|helpful(?:ness)?|honesty|naturalness|polite(?:ness)?|professionalism|quality|readability|"
    r"relevan(?:ce|cy|t)|safety|style|tone|useful(?:ness)?)(?:score|rating|grade)?"
)
"""Matches plain names of qualities of an answer, each of which a judge grades by a rubric."""
_SAYS: Final = "verdict|judge?ment|pass(?:ed)?|ok|correct|check|grade|rating|score"
PERSON: Final = re.compile(rf"(?i)(?:human|expert|annotator|reviewer)[_ .-]?(?:[0-9]|label|{_SAYS})?")
"""Matches a column with the verdict of a person."""
OF_PERSON: Final = re.compile(rf"(?i)(?:human|expert|annotator|reviewer|rater|manual)[_ .-]?(?:{_SAYS})")
"""Matches a column that by its name has what a person says of an answer, which counts where nobody else judged."""
_STATED_MEASURE: Final = re.compile(
    r"(?:.*similarity|(?:answer|context)?relevan\w+|(?:answer)?correctness|faithfulness|groundedness|helpfulness|coherence|"
    r"bertscore(?:f1)?|bleu\d?|rouge[l\d]?|judge)(?:score)?|score(?!d)[a-z]+|"
    r"(?:llm|judge|grader|evaluator|eval)(?:score|rating|grade)"
)
"""Matches plain names of numbers that nothing else than a grader writes beside an output."""


def case_rows(rows: Iterable[dict[str, Value]]) -> list[dict[str, Value]]:
    """Return the rows of cases: without those of the spans in a case, and with all scores of a trace in one row."""
    cases = [row for row in rows if row.get("is_root") is not False and not row.get("span_parents")]
    traces = [name_of(row.get("traceId")) or name_of(row.get("trace_id")) for row in cases]
    if cases and all(traces) and all("name" in row and "value" in row for row in cases):
        by_trace: dict[str, list[Value]] = {}
        for trace, score in zip(traces, cases, strict=True):
            stated = [score.get(key) for key in ("value", "stringValue", "string_value")]
            by_trace.setdefault(trace, []).append(
                {**score, "value": next((value for value in stated if not is_no_score(value)), None)}
            )
        cases = [{"id": trace, "scores": scores} for trace, scores in by_trace.items()]
    cases = _by_answerer(cases) or cases
    return [
        preference_in(row) or with_named_checks(row)
        for case in cases
        for attempt in _attempts(case) or [case]
        for row in _by_variant(attempt) or [attempt]
    ]


def with_shares(rows: list[dict[str, Value]]) -> list[dict[str, Value]]:
    """Return rows with the share of the possible points as score; the same rows if one does not state its maximum."""
    by_name = {plain_key(name): name for name in reversed(rows[0])} if rows else {}
    points = next((by_name[name] for name in (*SCORES, "points", "pointsearned", "earned") if name in by_name), None)
    maximum = next((by_name[name] for name in MAXIMA if name in by_name), None)
    if points is None or maximum is None or not by_name.keys().isdisjoint(("min", "minscore")):
        return rows
    pairs = [(_as_number(row.get(points)), _as_number(row.get(maximum))) for row in rows]
    are_points = any((earned or 0) > 1 or len(pairs) == earned == 1 for earned, _ in pairs)  # a lone 1 of 10 is a point
    if not are_points or not all(most and 0 <= (earned or 0) <= most for earned, most in pairs):
        return rows
    name = points if plain_key(points) in SCORES else SCORES[0]
    return [
        {**row, name: Decimal(str(earned / most)) if most and earned is not None else row.get(points)}
        for row, (earned, most) in zip(rows, pairs, strict=True)
    ]


def scale_of(highest: float) -> int:
    """Return the least usual scale that a highest score fits."""
    return next(scale for scale in SCALES if highest <= scale)


def _as_number(cell: Value) -> float | None:
    """Return a number, which may be written as text; one in percent as a share."""
    if not isinstance(cell, str):
        return as_float(cell)
    spelled = spelled_number(cell.strip().removesuffix("%"))
    return as_float(spelled / 100 if spelled is not None and "%" in cell else spelled)


def _by_answerer(cases: Sequence[Mapping[str, Value]]) -> list[dict[str, Value]]:
    """Return a row for each system whose answers have a column, beside a column of what is expected; else none.

    The columns are named after answers, and each system has a verdict or a score of its own; or most cells of several
    are expected labels. Costs and times beside several systems are those of nobody.
    """
    names = [*cases[0]] if cases else []
    by_name = {plain_key(name): name for name in names}
    own_truth = next((name for name in names if OWN_SIDES["expected"].fullmatch(name)), "")
    truth = next((by_name[name] for name in PARTS["expected"] if name in by_name), own_truth)
    if not truth or not by_name.keys().isdisjoint((*PARTS["output"], *VERDICTS, *SCORES)):
        return []
    systems = {name: match[1] or match[2] for name in names if name != truth and (match := _ANSWER_OF.fullmatch(name))}
    longest_first = "|".join(map(re.escape, sorted(systems.values(), key=len, reverse=True)))
    of_system = re.compile(rf"({longest_first})[_. -](.+)|(.+)[_. -]({longest_first})")
    matches = ((name, of_system.fullmatch(name)) for name in names if systems and name not in systems)
    beside = {name: (match[1] or match[4], match[2] or match[3]) for name, match in matches if match}
    judged = {system for system, part in beside.values() if plain_key(part) in (*VERDICTS, *SCORES)}
    if len(judged) < LEAST_VARIANTS or not judged.issuperset(systems.values()):
        labelled = with_labels_of(truth, {name: [case.get(name) for case in cases] for name in names})
        named = {name: system for name, system in systems.items() if name in labelled}
        free = {name: name for name in labelled if plain_key(name) not in _QUESTION and not NO_ANSWERER.search(name)}
        systems = named if len(named) >= LEAST_VARIANTS else free
    if len(systems) < LEAST_VARIANTS:
        return []
    apart = {truth, *systems, *beside, *(by_name.get(name) for part in USAGE for name in PARTS[part])}
    distinct = (name for name in names if len({str(case.get(name)) for case in cases}) == len(cases))
    tells = next(distinct, "") if by_name.keys().isdisjoint((*PARTS["id"], *PARTS["input"])) else ""
    return [
        {
            **({"id": case[tells]} if tells else {}),
            **{name: cell for name, cell in case.items() if name not in apart},
            **{part: case[name] for name, (owner, part) in beside.items() if owner == system and name in case},
            "variant": system,
            TRUE_LABELS[1]: case.get(truth),
            PREDICTED_LABELS[1]: case.get(answer),
        }
        for case in cases
        for answer, system in systems.items()
    ]


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
    lists = {name: cell for name, cell in case.items() if isinstance(cell, list) and plain_key(name) in _ATTEMPTS}
    lists |= {
        name: [{"variant": system, **members(row)} for system, row in cell.items()]
        for name, cell in case.items()
        if isinstance(cell, dict) and plain_key(name) in SYSTEMS
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
    name = next((name for name, cell in case.items() if isinstance(cell, dict) and plain_key(name) in OBJECTS), None)
    if name is None:
        return []
    dimensions = {dimension: members(graded) for dimension, graded in members(case.get(name)).items()}
    variants = dict.fromkeys(variant for graded in dimensions.values() for variant in graded)
    numbers = [graded.get(variant) for graded in dimensions.values() for variant in variants]
    if (
        len(variants) < LEAST_VARIANTS
        or variants.keys() & {*GRADES}
        or not all(as_float(each) is not None for each in numbers)
    ):
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
        if match := _in_column(name):
            columns[str(match.lastgroup)][match[1]] = name
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

    In CSV, a list or an object of checks is JSON in a cell.
    """
    sided = with_sides(row)
    row = sided if CHECKS in sided else row
    checks = dict[str, Value]()
    for name, cell in row.items():
        is_json = isinstance(cell, str) and cell[:1] in ("{", "[")
        if isinstance(cell, str) and is_json and (plain_key(name) in _LISTS or _ONE_NUMBER.fullmatch(cell)):
            with suppress(UnreadableError):
                checks[name] = cell = parse_json(cell).value
        if isinstance(cell, list) and plain_key(name) in _LISTS:
            by_name = _by_name(cell)
            checks[name if plain_key(name) in OBJECTS or not by_name else CHECKS] = by_name or cell
    return {**row, **checks} if checks else row


def _by_name(checks: list[Value]) -> dict[str, Value]:
    """Return the checks by their names; empty if any has no name or states no result."""
    by_name: dict[str, Value] = {}
    for check in checks[:_MOST_CHECKS]:
        stated = members(check)
        name = next(filter(None, (name_of(stated.get(key)) for key in _NAMES)), "")
        if not name or not any(key in stated for key in GRADES):
            return {}
        number = sum(other == name or other.startswith(f"{name} (") for other in by_name)
        by_name[f"{name} ({number + 1})" if number else name] = stated
    return by_name


def stated_confidence(*objects: Mapping[str, Value]) -> float | None:
    """Return how sure the model was of its answer, as the first of these objects states in a number of any range.

    A natural logarithm becomes the probability; one above 0 is none, and becomes infinite.
    ``JudgedResults.with_confidences`` reads the numbers of a file together.
    """
    for stated in objects:
        for name, value in stated.items():
            if (key := plain_key(name)) in PARTS["confidence"] and (number := _as_number(value)) is not None:
                return number if key != LOGPROB else math.exp(number) if number <= 0 else math.inf
    return None


def is_verdict(value: Value) -> bool:
    """Whether a value states a verdict: a truth value, 0 or 1, which may be text, or a word such as ``failed``."""
    grade = grade_of(value, WORDS)
    return grade is not None and (grade.right is not None or grade.score in (0, 1))


def states_a_result(row: dict[str, Value], *, of_response: bool = False) -> bool:
    """Whether a tool states in the row of a case how good the answer is, in whatever form.

    In the row of a response, the usual names of verdicts and scores alone count: its success or status may be that of
    the call, and objects such as ``judge_usage`` or ``metrics`` hold no verdicts.
    """
    verdicts = VERDICTS if of_response else (*VERDICTS, *WEAK_VERDICTS)
    for name, value in with_named_checks(row).items():
        plain, holds_checks = plain_key(name), plain_key(name.partition(".")[0]) in OBJECTS
        if isinstance(value, dict) or (isinstance(value, list) and not of_response):
            stated = bool(value) and (holds_checks or (not of_response and _GRADING.fullmatch(plain) is not None))
        else:
            is_score = plain in SCORES or ("." in name and holds_checks)
            is_score = is_score or (not of_response and _STATED_MEASURE.fullmatch(plain) is not None)
            stated = (is_score and _is_number(value)) or (plain in SCORES and is_verdict(value))
        is_named = plain in verdicts or (not of_response and _COMPARED.fullmatch(plain) and NAMED_VERDICT.search(name))
        if stated or (is_named and is_verdict(value)) or (plain == _VERDICT and not is_no_score(value)):
            return True
    return False


NAMED_VERDICT = re.compile(
    r"^(?!must|should|expect|truth|gold|ground|requir|pars|request|api|.*execut|.*cache|human|annotat|expert|review)"
    r".*[a-z0-9]"
    r"(?:[_ .-](?:status|passed|pass|correct|ok|match|hit|verdict)|Status|Passed|Pass|Correct|Ok|OK|Match|Hit|Verdict)$"
    r"|^match(?:es|ed)?_(?:expect|truth|gold)|^(?:is[_ .-]?)?acceptable$"
    r"|^(?:pass|passed|auto|fact|quality|answer|output|judge|llm|eval|final)(?:[_ .-]c|C)heck$"
)
"""Matches names of verdicts of one judge of several: ``retrievalStatus``, ``answer_correct``, ``matches_expected``, but
not ``mustPass``, ``parse_ok``, ``cache_hit`` or ``execution_status``."""
_COMPARED: Final = re.compile(
    r"(?!.*(?:chunk|context|doc|passage|retriev|search|source).*hit$)"
    r".*(?:correct|match|hit|ok|pass|passed|verdict|check|acceptable)"
)
"""Matches plain names of those that judge an answer: ``category_match``, and no hit of a search (``doc_hit``)."""
_OF_A_DATE: Final = re.compile(r"(?i)20[0-9]{2}[-_.]?[01][0-9][-_.]?[0-3][0-9]|(?=[a-f-]*[0-9])[0-9a-f-]{6,}$")
_TIMES: Final = ("rundate", "runat", "startedat", "createdat", "timestamp", "date")
RUN_COLUMNS: Final[dict[str, re.Pattern[str]]] = {
    **dict.fromkeys(("runid", "evalrunid"), re.compile(rf"{_OF_A_DATE.pattern}|[0-9]$")),
    **dict.fromkeys(("run", "runname", "evalrun", "experiment", "experimentname", "experimentid"), _OF_A_DATE),
    **dict.fromkeys(_TIMES, re.compile("^(?=.*[0-9]).{4,40}$")),
}
"""Plain names of columns that may name the run of a row -> what its names look like: a date, an id or a number."""
COUNTS: Final = frozenset({"total", "failed", "fail", "count"})
"""Names of numbers of cases: what has them is a group of cases."""


def run_column(lines: Sequence[Value]) -> str:
    """Return the column that names the run of each line of cases, all of which may be of one; empty if there is none.

    More than half of the cases of each run are in the largest. Other names in such a column are those of variants or
    of repeats.
    """
    rows = [line for line in lines if isinstance(line, dict)]
    columns = {plain_key(name): name for row in rows[:1] for name in reversed(row)}
    of_cases = [name for row in rows[:1] for name in row if plain_key(name) in (*PARTS["id"], *PARTS["input"])]
    for plain, looks_like_a_run in RUN_COLUMNS.items():
        runs = [id_text(row.get(columns[plain])) for row in rows] if plain in columns else []
        # A time that all rows share may be one of their values.
        if (plain in _TIMES) < len({*runs}) < len(runs) and all(map(looks_like_a_run.search, {*runs})):
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


def named_rows(value: Value) -> list[Value]:
    """Return the rows of cases by name (``{"case 1": {"passed": true}}``), with the names as their ids; else none."""
    rows = list(map(members, members(value).values()))
    lists = [cell for cell in members(value).values() if isinstance(cell, list)]
    if len(rows) == len(lists) > 1:  # the attempts at each case, which name none themselves
        keys = {plain_key(key) for attempts in lists for attempt in attempts for key in members(attempt)}
        rows = [{"attempts": attempts} for attempts in lists] if keys.isdisjoint(PARTS["id"] + PARTS["input"]) else rows
    if all(re.search("[0-9 /]", name) and _PASSED.fullmatch(str(cell)) for name, cell in members(value).items()):
        rows = [{_VERDICT: cell} for cell in members(value).values()]  # ``{"case 1": "pass"}``
    for row in rows:
        named = any(NAMED_VERDICT.search(name) and is_verdict(value) for name, value in row.items())
        if not (named or states_a_result(row) or _attempts(row)) or COUNTS & {*map(plain_key, row)}:
            return []
    return [{"id": name, **row} for name, row in zip(members(value), rows, strict=True)]


def _is_number(value: Value) -> bool:
    """Whether a value is a number, which may be written as text; a grade may also be that of a school."""
    grade = grade_of(value, {}, _ANY)
    return grade is not None and grade.score is not None


def usual_parts(by_name: Mapping[str, str], fits: Callable[[str, str], bool]) -> dict[str, str]:
    """Return the column of each part that one with a usual name can be.

    ``by_name``: the columns by their names in lower case without separators. ``fits``: whether a column can be a part.
    """
    are_spans, parts = not _SPANS.isdisjoint(by_name), dict[str, str]()
    for part, names in PARTS.items():
        usual = [name for name in names if name in by_name and not (are_spans and name in ("id", "name", "key"))]
        free = (by_name[name] for name in usual if by_name[name] not in parts.values())
        if column := next((name for name in free if fits(part, name)), None):
            parts[part] = column
    return parts


def usual_columns(rows: Sequence[Mapping[str, Value]]) -> ColumnMap | None:
    """Return the meaning of columns by their names; None if none of them has a score or a verdict."""
    by_name: dict[str, str] = {}
    for name in dict.fromkeys(chain.from_iterable(rows)):
        by_name.setdefault(plain_key(name), name)
    variant = next(filter(None, map(by_name.get, PARTS["variant"])), "")
    # What is called a run and has no number is a variant.
    runs = (by_name[name] for name in RUN_COLUMNS if name in by_name and name not in _TIMES)
    named = (name for name in runs if not any(re.search("[0-9]$", str(row.get(name))) for row in rows))
    variant = variant or next(named, "")
    texts = [cell for row in rows if isinstance(cell := row.get(variant), str)]
    asked = next((by_name[name] for name in PARTS["input"] if name in by_name), "")
    # Names of variants are several texts, at least one in several rows.
    repeat = 1 < len({*texts}) < len(texts) and (plain_key(variant) != "prompt" or names_prompts(rows, variant, asked))
    parts = usual_parts(by_name, lambda part, name: part != "variant" or (repeat and name == variant))
    parts |= {"variant": variant} if repeat and variant not in parts.values() else {}

    overall = [by_name[name] for name in SCORES if name in by_name]
    score = next(iter(numeric := [name for name in overall if any(_is_number(row.get(name)) for row in rows)]), "")
    qualities = (name for plain, name in by_name.items() if _RUBRIC.fullmatch(plain))
    rubric = rubric_columns({name: [row.get(name) for row in rows] for name in qualities})
    usual = [by_name[name] for name in (*VERDICTS, *WEAK_VERDICTS) if name in by_name and by_name[name] not in rubric]
    usual += [name for name in overall if name not in numeric]  # a grade may be a word as well
    verdict = next((name for name in usual if _states_verdicts(name, rows)), "")
    if plain_key(verdict) not in VERDICTS:
        graded = (  # a verdict in an object: ``{"ok": true, "scoring": {"passed": false}}``
            f"{name}.{key}"
            for row in rows
            for name, inner in row.items()
            if isinstance(inner, dict) and _GRADING.fullmatch(plain_key(name))
            for key, cell in inner.items()
            if plain_key(key) in VERDICTS and is_verdict(cell)
        )
        verdict = next(graded, verdict)
    above = dict.fromkeys(
        name.partition(".")[0] for row in rows for name in row if "." in name or isinstance(row[name], dict)
    )
    scores = [f"{name}.*" for plain in OBJECTS for name in above if plain_key(name) == plain]
    if not scores and not _SPANS.isdisjoint(by_name):  # whose scores are lists: a trace may have several of a name
        lists = [name for name in by_name.values() if any(isinstance(row.get(name), list) for row in rows)]
        scores = [name for name in lists if any(_is_number(lone_item(row.get(name))) for row in rows)]
    if not scores and (verdict or score or (len(rubric) > 1 and {"input", "output"} & parts.keys())):
        scores = rubric
    if not (verdict or score or scores):
        measures = [name for plain, name in by_name.items() if _STATED_MEASURE.fullmatch(plain)]
        scores = [name for name in measures if any(_is_number(row.get(name)) for row in rows)]
        scores += [name for name in rubric if scores and name not in scores]
        of_people = [name for name in by_name.values() if not scores and OF_PERSON.fullmatch(name)]
        compared = [name for key, name in by_name.items() if _COMPARED.fullmatch(key) and NAMED_VERDICT.search(name)]
        compared = [name for name in compared if not scores and _states_verdicts(name, rows)]
        compared = compared or [name for name in of_people if _states_verdicts(name, rows)]
        scores = scores or [
            name for name in of_people if not compared and any(_is_number(row.get(name)) for row in rows)
        ]
        verdict, scores = (compared[0], []) if len(compared) == 1 else ("", [*scores, *compared])
    expected, output = (plain_key(parts.get(side, "")) for side in ("expected", "output"))
    is_classified = expected in TRUE_LABELS and output in PREDICTED_LABELS
    if not (verdict or score or scores or is_classified):
        return None
    people = [name for name in by_name.values() if name not in (verdict, score) and PERSON.fullmatch(name)]
    people = [name for name in people if _states_verdicts(name, rows)]
    person = people[0] if len(people) == 1 else ""  # of several people, nobody says whose verdict counts
    stated = {"passed": verdict, "score": score, "human": person}
    parts |= {part: column for part, column in stated.items() if column}
    return ColumnMap({part: (column,) for part, column in parts.items()}, scores=tuple((name, "") for name in scores))


def rubric_columns(columns: Mapping[str, Sequence[Value]]) -> list[str]:
    """Return the columns of grades that are called after qualities of an answer: ``helpfulness``, ``tone``.

    A column of only 0 and 1 holds verdicts. One of only 1 is graded too if another one is.
    """
    named = {name: cells for name, cells in columns.items() if _RUBRIC.fullmatch(plain_key(name))}
    numbers = {
        name: {number for cell in cells if (number := _as_number(cell)) is not None} for name, cells in named.items()
    }
    are_graded = any(not of <= {0, 1} for of in numbers.values())
    return [name for name, of in numbers.items() if are_graded and of and (0 not in of or not of <= {0, 1})]


def names_prompts(rows: Sequence[Mapping[str, Value]], column: str, asked: str) -> bool:
    """Whether a column names the prompts for the inputs in another one, and holds no texts with these in them."""
    prompts, inputs = ({str(row.get(name)) for row in rows} for name in (column, asked))
    return column != asked and 1 < len(prompts) < len(inputs)


def _states_verdicts(column: str, rows: Sequence[Mapping[str, Value]]) -> bool:
    """Whether most cells of a column that are not empty state a verdict; in a column with that name, any of them."""
    cells = [row[column] for row in rows if column in row and not is_no_score(row[column])]
    stated = sum(map(is_verdict, cells))
    return stated * 2 > len(cells) or (plain_key(column) == _VERDICT and bool(cells))


EXPECTED: Final = tuple(name for name in PARTS["expected"] if name not in TRUE_LABELS)
OUTPUT: Final = tuple(name for name in PARTS["output"] if name not in PREDICTED_LABELS)
"""Usual names of each side, the most certain first. Letter case, ``_``, ``-`` and spaces do not count."""
ANSWER: Final = (*OUTPUT, "pred")
"""Usual names of an output in a file without an expected side."""
INPUTS: Final = ("input", "question", "query", "prompt", "instruction", "task", "text", "messages")
_QUESTION: Final = (
    *INPUTS,
    *("inputs", "context", "category", "class", "difficulty", "domain", "intent", "language", "level", "source"),
    *("tags", "topic", "type", "split", "metadata", "notes", "comment"),
)
"""Names of what a row states about a question besides what is expected."""
_AMBIGUOUS: Final = frozenset(("target", "reference"))  # names of an expected side that are as often those of a field
_PARTIAL_LISTS: Final = frozenset(
    ("errors", "discrepancies", "mismatches", "failures", "differences", "diffs", "missed", "wrong", "regressions")
)
"""Keys of lists in which a report repeats only some of its cases."""
_MAX_DEPTH: Final = 3  # number of levels below the root that are searched for a list of cases
_OWN_SCHEMA: Final = "sitegen/"  # the beginning of ``schema`` in files that sitegen itself writes about an output


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
                below += [value for key, value in container.items() if plain_key(key) not in _PARTIAL_LISTS]
        level = below
    return ()


def expected_side(rows: Sequence[dict[str, Value]], key: str) -> str:
    """Return the key of what is expected, if the rows hold it beside nothing but their id and their question.

    ``key`` names the id. Empty if the rows have other fields, which are expected as well.
    """
    side = usual_key(rows, EXPECTED)
    others = {plain_key(name) for row in rows for name in row} - {plain_key(key), plain_key(side)}
    return "" if plain_key(side) in _AMBIGUOUS or not others <= {*map(plain_key, _QUESTION)} else side


def usual_key(members: Sequence[dict[str, Value]], names: Sequence[str]) -> str:
    """Return the key, as written, of the first of these names that any member has; empty if there is none."""
    written = {plain_key(key): key for member in reversed(members) for key in reversed(member)}
    return next((written[plain] for name in names if (plain := plain_key(name)) in written), "")
