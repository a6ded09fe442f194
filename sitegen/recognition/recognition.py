"""Recognises the kind of eval that an output could belong to by its content: a function for each kind of evidence."""

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import permutations
from typing import Any, Final, TypeAlias

from msgspec.structs import replace

from sitegen.config.models import files_of
from sitegen.data_files.folders import DATA
from sitegen.data_files.reading import LINES, UnreadableError, ending
from sitegen.importers import ANY_LINES, importer_of, read_results, recorded_layouts
from sitegen.importers.case import grade_of, is_no_score, is_verdict
from sitegen.importers.case_rows import MOST_LABELS, WINS, case_rows, run_column, with_labels_of, with_shares
from sitegen.importers.columns import AUTO, SCALES, rubric_columns, scale_of, usual_parts
from sitegen.importers.tool_values import members, name_of
from sitegen.importers.usual_names import (
    CHECKS,
    GRADES,
    MADE_ID,
    MODEL,
    NAMED_VERDICT,
    NAMES,
    NO_ANSWERER,
    OWN_SIDES,
    PARTS,
    PERSON,
    PREDICTED_LABELS,
    SCORES,
    TRUE_LABELS,
    VERDICTS,
    WEAK_VERDICTS,
    by_plain_name,
    called,
)
from sitegen.model.metrics import traits_of
from sitegen.model.outcomes import Unusable, Value
from sitegen.recognition.files import ROWS, FoundTable, leaf_paths, table_of, value_of
from sitegen.recognition.output_series import OutputSeries, TruthFinder, is_result_by_name
from sitegen.scoring.case_files import kind_of_case_file
from sitegen.text.keys import plain_key
from sitegen.text.plain import counted
from sitegen.text.values import id_text

_MOST_NUMBERS: Final = 200  # the most numbers in a file with the metrics of a run
_MOST_ALIKE: Final = 20
"""The most numbers like the headline in a file with more numbers than that. If there are more, each is of one case."""
_HIGHEST: Final = 100
"""The highest value of a metric that is a share, a percentage or a grade; a count or a time may be higher."""
_LARGEST_SUMS: Final = 3_000_000  # the size of the largest file that is read as the metrics of a run, in bytes


Recognition: TypeAlias = tuple[dict[str, Any], str]
"""Keys of the manifest entry of an eval, except those that locate its outputs, and the evidence for it.

The path under ``ground_truth`` is relative to the root.
"""


def recognise(series: OutputSeries, content: bytes, truths: TruthFinder) -> Recognition | None:
    """Recognise the kind of eval that an output could belong to, trying the most specific evidence first."""
    path = series.newest.path
    kind = None
    with suppress(UnreadableError):
        kind = kind_of_case_file(path, content) if series.hinted and series.newest.ending in DATA else None
    both = {"kind": kind, "ground_truth_format": "cases"}, "cases with what was expected beside what was given"
    cases = both if kind and files_of(kind).ground_truths else ({"kind": kind}, "cases with a verdict or a score")
    if kind and traits_of(kind).is_structured:
        return cases
    of_tool, table = _tool_results(path, content), _graded_table(series, content)
    if of_tool and table and importer_of(path, content) is ANY_LINES:
        columns = table[0]["settings"]["columns"]
        is_usual = plain_key(columns.get("variant", "")) in ("", *PARTS["variant"])
        of_tool = (of_tool[0], table[1]) if is_usual and columns.keys() & {"score", "scores", "passed"} else None
    graded = of_tool or table or (cases if kind else None)
    score = table[0]["settings"]["columns"].get("score", "") if table and graded is table else ""
    is_any_rate = (recorded_layouts.headline_place(score) or (0,))[0] > 0  # a value of the documents may be called so
    pair = truths.paired(series) if is_any_rate or not graded else None
    if graded and not (pair and series.is_namesake(pair[0])):
        return graded
    if pair:
        file, keys = pair
        return {**keys, "ground_truth": file.path}, f"expected values in {file.path}, with the fields of these outputs"
    return _recorded_numbers(series, content)


def states_results(series: OutputSeries, content: bytes) -> bool:
    """Whether a file has what several systems answered, or is named like results and states verdicts or both sides."""
    value = value_of(series.newest.ending, content)
    table, paths = table_of(value), leaf_paths(value)
    columns = table.cells if table and table.size > 1 else {}
    given = (values for name, values in columns.items() if not _SIDE_OF.fullmatch(name))
    systems = [name for name in columns if "." in name and plain_key(name.partition(".")[0]) in NAMES["systems"]]
    of_systems = series.hinted and (bool(systems) or sum(_states_verdicts(values, 2) for values in given) > 1)
    if of_systems or not is_result_by_name(series.newest.name):
        return of_systems
    names = {plain_key(path.rpartition(".")[2].removesuffix("[]")) for path in paths}
    # Test cases state what is expected, and no output.
    has_sides = not any(names.isdisjoint(PARTS[side]) for side in ("expected", "output"))
    return not names.isdisjoint(_STATES) or {"score", "max"} <= names or has_sides


_STATES: Final = frozenset((*VERDICTS, *WEAK_VERDICTS, *SCORES[1:], *NAMES["maximum"][1:], "scores", "state"))
_EXAMPLES = re.compile(
    r"(?:^|/)(?:examples?|samples?|demos?|templates?|tutorials?)/|"
    r"^data(?:sets?)?/(?!.*(?:eval|result|output|run|bench|model|prompt)).*metrics[^/]*$",
    re.IGNORECASE,
)
"""Matches places of examples, and of numbers in a folder of data, which may be those of a business."""
_PEOPLE = re.compile(
    r"(?:^|[^a-z])(?:humans?(?![_-]?eval|[_-]ai(?![a-z]))|annotators?|raters?|labell?ers?)(?:[^a-z]|$)", re.IGNORECASE
)
_GRADE_OF_PEOPLE = re.compile(
    r"(?:^|[^a-z])(?:annotators?|raters?|labell?ers?)(?:[^a-z]|$)|"
    r"(?:^|\.)humans?(?:[_-]\w*(?:annotat|eval|grade|judge?ment|label|pass|rat[ei]|score|verdict)\w*)?$",
    re.IGNORECASE,
)
"""Matches paths of what people say of an answer, but not of what a model says of people: ``needs_human``."""
_OF_ERRORS = re.compile(
    r"(?:^|[^a-z])(?:errors?|failures?|failed|mismatch(?:es)?|misclassified|wrong)(?:[^a-z]|$)", re.I
)
"""Matches names of files that list only the cases in which something went wrong."""
_OF_OUTPUTS = re.compile("output|extract|predict|answer|respon", re.IGNORECASE)
"""Matches words for outputs in a path, whose numbers may be values that a model extracted."""
_ANSWERED: Final = (
    r"(?i)(?:^|[-_. ])(?:answer|extracted|prediction|response)s?$"  # at the end of a name they surely are
)
OFTEN: Final = 3
"""The least number of versions of an output in a folder of examples."""
_MOST_READINGS: Final = 20_000  # of files of models, in all commits
_MOST_BYTES: Final = 1_000_000_000
"""The most files of models, and bytes, that a build reads in all commits unless a manifest asks: some minutes."""


def doubt_about(series: OutputSeries, content: bytes, settings: Mapping[str, Any]) -> str:
    """Return why an output that was recognised, with these settings, may be something else; empty without a doubt."""
    headline, value = settings.get("headline", ""), value_of(series.newest.ending, content)
    guessed = settings if "columns" in settings else (guess_columns(table) if (table := table_of(value)) else None)
    person = (guessed or {}).get("columns", {}).get("human", "")
    readings = 0 if series.is_of_cases else len(series.parts) * series.versions
    if readings > _MOST_READINGS or readings * len(content) > _MOST_BYTES:
        return f"each commit that writes one of its files reads all, up to {readings:,} in all"
    if _EXAMPLES.search(series.path) and series.versions < OFTEN:
        return "it may be an example or input, as its folder says"
    if series.is_named_as_truth and series.versions < OFTEN:
        return "it may hold expected values alone, as its name says"
    is_written_once = series.versions == 1 and not is_result_by_name(_OF_OUTPUTS.sub("", series.path))
    is_answer = is_written_once or re.search(_ANSWERED, series.newest.stem)
    if headline and (recorded_layouts.headline_place(headline) or (3,))[0] in (3, 1 if is_answer else 3):
        return f"none of its numbers is called as a measure is, such as {headline[:80]}"
    if _OF_ERRORS.search(series.newest.stem):
        return "it may list only the cases that failed, as its name says"
    leaves = leaf_paths(value)
    paths = sorted(path for path in leaves if not person or path.rpartition(".")[2] != person)  # beside a judge
    names = [series.newest.name] if _PEOPLE.search(series.newest.name) else filter(_GRADE_OF_PEOPLE.search, paths)
    of_people = next(iter(names), "")
    return f"its grades may be those of people, as {of_people[:80]} says" if of_people else ""


def _tool_results(path: str, content: bytes) -> Recognition | None:
    """Recognise a known format of results in which most cases have a verdict or a score."""
    form = importer_of(path, content)
    if form is ANY_LINES and ending(path) not in LINES:
        return None
    for part in (b"\n".join(content.split(b"\n", ROWS)[:ROWS]), content) if form is ANY_LINES else (content,):
        try:
            cases = read_results(path, part).cases
        except UnreadableError:
            return None
        judged = [case for case in cases if case.passed is not None or case.score is not None]
        if not judged:
            return None
    # A line without a name, and with nothing but a score and a verdict, may be the total of a run.
    named = (
        not re.fullmatch("(?:line|row) [0-9]+", case.id) or {each.name for each in case.judges} - {"score"}
        for case in judged
    )
    if form is ANY_LINES and not any(named):
        return None
    if len(judged) * 2 < len(cases):
        return None
    number = len({case.id for case in cases})  # of which each may have several answers
    return {"kind": "judged"}, f"results in the format {form.name}, with {counted(number, 'case')}"


def _graded_table(series: OutputSeries, content: bytes) -> Recognition | None:
    value = value_of(series.newest.ending, content)
    inner = ((key, table_of(each)) for key, each in members(value).items() if isinstance(each, dict))
    below = (replace(each, key=f"{key}.{each.key}") for key, each in inner if each and plain_key(each.key) in _CASES)
    table = table_of(value) or next(below, None)
    settings = guess_columns(table) if table and (series.hinted or series.is_named_as_truth) else None
    if table is None or settings is None:
        return None
    recorded = _recorded_numbers(series, content) if {"tp", "fp", "fn"} <= {*table.columns} else None
    if recorded and not recorded[0]["settings"]["headline"].startswith(f"{table.key}."):
        return None  # F1 of all documents, which the file states, is no mean of theirs
    columns = settings["columns"]
    graded = [*columns.get("scores", ()), *(columns[part] for part in ("score", "passed") if part in columns)]
    left = ", ".join(name for name in rubric_columns(table.cells) if name not in graded)
    others = f"; not counted: {left}" if left else ""
    list_key = {"list": table.key} if table.key else {}
    output, expected = (columns.get(part, "") for part in ("output", "expected"))
    cells = [(row.get(expected), name_of(row.get("variant"))) for row in case_rows(table.rows)]
    several = ", ".join(dict.fromkeys(name for _, name in cells if "variant" not in table.columns))
    if not graded and output not in table.columns:  # a row has the answers of several, in columns of their own
        truth = [cell for cell, _ in cells[:: len(cells) // len(table.rows)]]
        same = (name for name in table.columns if [row.get(name) for row in table.rows] == truth)
        output, expected = several, next(same, "labels")
    by = ", ".join(dict.fromkeys(graded)) or f"comparing {output} with {expected}"
    by += f" for each of {several[:80]}" if several and graded else ""
    run = run_column(rows := value if isinstance(value, list) else [])
    of_runs = f"; {run} names runs, each an iteration" if run and table.size < len(rows) else ""
    why = f"a table of {counted(table.size, 'row')}, graded by {by}{others}{of_runs}"
    return {"kind": "judged", "settings": {**list_key, **settings}}, why


def task_of(value: Value) -> str:
    """Return the task that the numbers of a run are of, as MTEB names it; empty if the run does not state it."""
    keys = value if isinstance(value, dict) and table_of(value) is None else {}
    return next(filter(None, (name_of(keys.get(key)) for key in ("task_name", "task", "dataset", "benchmark"))), "")


def _recorded_numbers(series: OutputSeries, content: bytes) -> Recognition | None:
    """Recognise numbers that a run recorded, one of which has the name of a metric, the usual headlines first."""
    if not series.hinted or series.newest.ending not in DATA or len(content) > _LARGEST_SUMS:
        return None
    if series.newest.ending == "jsonl" and _is_of_cases(table_of(value_of("jsonl", content))):
        return None  # the last line is a case, and no run
    try:
        root = recorded_layouts.read_record(series.newest.path, content).value
        numbers = list(recorded_layouts.numbers_of_layout(root, {}))
    except UnreadableError:
        return None
    values = {
        number.name: not recorded_layouts.is_amount(number.name) and 0 <= number.value <= _HIGHEST
        for number in numbers
        if number.value is not None and not number.is_sample and recorded_layouts.is_measure(number.name)
    }
    of_one_row = task_of(root) and not any(".1." in name for name in values)
    names = [name for name in values if of_one_row or not any(map(str.isdecimal, name.split(".")))]  # not of a list
    names = [name for name in names if values[name] or recorded_layouts.is_headline(name) or name.endswith("_score")]
    places = {name: place for name in names if (place := recorded_layouts.headline_place(name))}
    headline = min(places, key=places.__getitem__, default="")
    if not headline and series.versions > 1 and len(values) <= _MOST_ALIKE:  # a share that is rewritten
        headline = next((one.name for one in numbers if one.name in names and 0 < (one.value or 0) < 1), "")
    form = headline.count("."), headline.rpartition(".")[2]
    alike = [name.rpartition(".")[0] for name in names if (name.count("."), name.rpartition(".")[2]) == form]
    if not headline or (len(values) > _MOST_NUMBERS and len(alike) > _MOST_ALIKE):
        return None
    # Without the setting, the headline would be an arbitrary number: the first of the first run.
    settings: dict[str, Any] = {"headline": headline}
    if form[0] and len(values) > _MOST_NUMBERS:
        settings["metrics"] = [f"{beside}.*" for beside in alike]
    keys = {"kind": "recorded", "settings": settings}
    return keys, f"{counted(len(values), 'number')} that a run recorded, such as {headline[:80]}"


def _is_of_cases(table: FoundTable | None) -> bool:
    """Whether each row has an id that is not of a run, and most rows have much text."""
    if table is None:
        return False
    ids = filter(MADE_ID.fullmatch, table.columns)
    told = sum(sum(len(cell) for cell in row.values() if isinstance(cell, str)) > _LONG for row in table.rows)
    unique = any(len({str(row.get(name)) for row in table.rows}) == len(table.rows) for name in ids)
    return unique and len(table.rows) > 1 and told * 2 > len(table.rows)


_LONG: Final = 80  # characters of a row with much text
_OF_WORDING = re.compile(r"rouge|bleu|similarity|meteor|bert", re.IGNORECASE)
"""Matches names of measures of how alike two texts are worded."""
_SIDE_OF = re.compile(
    r"(?i)(?:(?P<expected>expected|gold|human|true)|(?P<output>predicted|pred|got|final|model|llm)|actual)_(?P<what>.+)"
)
"""Matches a label on one side, such as ``expected_route``, beside which ``actual_route`` is the other one."""
_MOST_VARIANTS: Final = 20  # different values of a column of variants
_CASES: Final = frozenset(
    ("cases", "testcases", "tests", "scenarios", "evals", "tasks", "questions", "samples", "dimensions", "criteria")
)
"""Names of lists of cases, or of what a person or a model grades. What a search found has other names."""
_INFINITE = re.compile(r"[-+]?(?:inf(?:inity)?|[0-9.]+e\+?[0-9]{3,})", re.IGNORECASE)
_SPELLED = re.compile(r"-?[0-9]{1,12}(?:\.[0-9]{1,18})?")
_MOST_SCORES: Final = 20  # columns of scores


def guess_columns(table: FoundTable) -> dict[str, Any] | None:
    """Return settings that map columns to parts of a case.

    None without id and input, or without a verdict, a score, or the labels of a classification.
    """
    rows = case_rows(table.rows)
    has_maximum = (shares := with_shares(rows)) is not rows
    table = replace(table, rows=tuple(shares))
    columns, parts = table.cells, _parts_of_case(table)
    stated = [name for name in table.columns if NAMED_VERDICT.search(name) and _states_verdicts(columns[name], 1)]
    verdict, scores, highest = _verdict_and_scores(columns, stated)
    are_checks = any(plain_key(name.partition(".")[0]) in NAMES["checks"] for name in scores)
    if are_checks and not {"id", "input"} & parts.keys():
        parts["input"] = max(table.columns, key=lambda name: len({*map(id_text, columns[name])}))

    sides = [parts[part] for part in ("expected", "output") if part in parts]
    expected, output = (plain_key(parts.get(part, "")) for part in ("expected", "output"))
    are_usual = output in PARTS["output"] and bool(expected in PARTS["expected"] or verdict or scores)
    is_classified = len(sides) > 1 and (
        (expected in TRUE_LABELS and (output in PREDICTED_LABELS or output.endswith("label")))
        or (not are_usual and _are_labels(*map(columns.__getitem__, sides)))
    )
    are_graded = verdict or (scores and (stated or has_maximum or _are_grades(scores, parts, table)))
    if not is_classified and not (are_graded and {"id", "input"} & parts.keys()):
        return None  # a table of only ids and scores may be the result of a search
    if is_classified:  # labels are compared: a verdict on few cases is of a step, a number of another name of the text
        verdict = verdict if sum(map(is_no_score, columns.get(verdict, ()))) * 2 <= len(table.rows) else ""
        scores = [name for name in scores if verdict or plain_key(name) in SCORES]
    parts |= {"passed": verdict} if verdict else {}
    parts |= _parts_of_scores(scores, verdict, columns)
    people = [name for name in columns if PERSON.fullmatch(name) and _states_verdicts(columns[name], 1)]
    if len(people) == 1 and people[0] not in (*parts.values(), *scores):
        parts["human"] = people[0]
    return {"columns": parts, "range": AUTO} if scores and highest > 1 else {"columns": parts}


def _parts_of_case(table: FoundTable) -> dict[str, Any]:
    """Return the column of each part of a case besides verdict and scores, by usual names or else by what it holds."""
    columns = table.cells
    parts: dict[str, Any] = {**usual_parts(by_plain_name(columns), lambda part, name: _fits(part, columns[name]))}
    parts |= _parts_by_own_names(parts, columns)
    if not {"id", "input"} & parts.keys() and {"expected", "output"} & parts.keys():
        free = (name for name in table.columns if name not in parts.values())
        parts |= zip(
            ["id"],
            (name for name in free if len({*map(id_text, columns[name])} - {""}) == len(table.rows)),
            strict=False,
        )
    if {"id", "input"} & parts.keys() and (varied := _crossed_with(columns, parts)):
        if plain_key(parts.get("variant", "")) in PARTS["model"]:
            parts.setdefault("model", parts["variant"])
        parts["variant"] = varied
    return parts


def _verdict_and_scores(columns: Mapping[str, list[Value]], stated: Sequence[str]) -> tuple[str, list[str], float]:
    """Return (column with the verdict, columns with scores on one scale, the highest score); empty where there is none.

    ``stated``: columns with verdicts that are called after what they judge.
    """
    # A verdict may be in an object of the judge: ``judgment.verdict``. A judge with a score of its own is none.
    cells = (name for name in reversed([*columns]) if not any(isinstance(cell, dict) for cell in columns[name]))
    inner = {plain_key(name.rpartition(".")[2]): name for name in cells}
    by_name = inner | by_plain_name(columns)
    named = [(by_name[name], 1 + (name in WEAK_VERDICTS)) for name in (*VERDICTS, *WEAK_VERDICTS) if name in by_name]
    verdict = next((name for name, least in named if _states_verdicts(columns[name], least)), "")
    scores, highest = _score_columns(columns, by_name, verdict)
    scores = scores or [
        name for name in columns if name.startswith(f"{CHECKS}.") and _states_verdicts(columns[name], 1)
    ]
    if verdict:
        return verdict, scores, highest
    if len(stated) == 1 and (highest > 1 or not scores):
        return stated[0], scores, highest
    return "", [*scores, *stated] if highest <= 1 and len(stated) > len(scores) else scores, highest


def _are_grades(scores: Sequence[str], parts: Mapping[str, str], table: FoundTable) -> bool:
    """Whether scores are of cases that somebody judged, and not of what a search found."""
    if {"input", "expected", "output", "variant"} & parts.keys() or plain_key(table.key.rpartition(".")[2]) in _CASES:
        return True
    # deepeval writes the way in which a metric judges behind its name: ``Correctness [GEval]``.
    if any(name.endswith("]") or WINS in name for name in scores):
        return True
    if any(plain_key(name).endswith(PARTS["reasoning"]) for name in table.columns):  # is explained
        return True
    # No search gives two measures of what it found.
    ids, measures = parts.get("id", ""), [name for name in scores if not plain_key(name).endswith("score")]
    are_of_ids = MADE_ID.fullmatch(ids) and not any(MODEL.search(str(cell)) for cell in table.cells[ids])
    return (are_of_ids and len(measures) > 1) or (bool(measures) and _is_of_cases(table))


def _parts_of_scores(scores: list[str], verdict: str, columns: Mapping[str, list[Value]]) -> dict[str, Any]:
    plain = {plain_key(name): name for name in scores}
    overall = next((name for name in columns if plain_key(name) in SCORES and _numbers_of_column(columns[name])), "")
    if {"precision", "recall", "f1"} <= plain.keys():
        return {"scores": scores, "score": plain["f1"]}
    if len(scores) > 1 and (of_all := next((plain[name] for name in ("overall", *SCORES) if name in plain), "")):
        return {"scores": [name for name in scores if name != of_all], "score": of_all}
    by_object = {name.rpartition(".")[0].partition(".")[0] for name in scores} or {""}
    if plain_key(min(by_object)) not in NAMES["checks"] or len(by_object) > 1:
        return {"scores": scores} if len(scores) > 1 else {"score": scores[0]} if scores else {}
    parts: dict[str, Any] = {"scores": [f"{min(by_object)}.*"]}  # a judge that is added later counts as well
    if all(_states_verdicts(columns[name], 1) for name in scores) and (stated := verdict or overall):
        parts["score"] = stated  # not the share of the checks that passed
    return parts


def _parts_by_own_names(parts: Mapping[str, str], columns: Mapping[str, list[Value]]) -> dict[str, str]:
    """Return the id and the sides of a comparison, where columns have names of the author's own.

    What is expected of labels may have any name, if no other column has the same labels. Beside ``gold_label``, the one
    other column of labels (``gpt_label``) is the output, whatever text the row has.
    """
    free = [name for name in columns if "." not in name and name not in parts.values()]
    matches = [match for name in free if (match := _SIDE_OF.fullmatch(name))]
    pairs = [
        {"expected": one[0], "output": other[0]}
        for one, other in permutations(matches, 2)
        if one["what"] == other["what"]
        and _are_labels(columns[one[0]], columns[other[0]])
        and (bool(one["expected"]) > bool(other["expected"]) or bool(one["output"]) < bool(other["output"]))
    ]
    added: dict[str, str] = pairs[0] if len(pairs) == 1 and not {"expected", "output"} & parts.keys() else {}
    if "id" not in parts:
        added["id"] = next((name for name in free if MADE_ID.fullmatch(name) and _fits("id", columns[name])), "")
    for part, names in OWN_SIDES.items():
        if part not in parts and part not in added:
            sides = (name for name in free if names.fullmatch(name))
            added[part] = next((name for name in sides if _are_labels(columns[name])), "")
    expected, output = parts.get("expected", ""), parts.get("output") or added.get("output", "")
    if plain_key(expected) in TRUE_LABELS:
        may_be = [name for name in (output, *free) if name and not NO_ANSWERER.search(name)]
        alike = [name for name in may_be if _are_labels(columns[expected], columns[name])]
        named = [name for name in alike if plain_key(name).endswith("label") or OWN_SIDES["output"].fullmatch(name)]
        output = added["output"] = output if output in alike or len(named or alike) != 1 else (named or alike)[0]
    if output and not (parts.get("expected") or added["expected"]):
        same = with_labels_of(output, columns)
        added["expected"] = same[0] if len(same) == 1 and same[0] in free else ""
    return {part: name for part, name in added.items() if name}


def _are_labels(*sides: list[Value]) -> bool:
    """Whether columns hold a few labels that repeat, some of which all of them have, and neither holds numbers."""
    cells = [cell for side in sides for cell in side if cell is not None]
    labels = {cell for cell in cells if isinstance(cell, str) and not _SPELLED.fullmatch(cell.strip())}
    are_few = len(labels) <= MOST_LABELS and len(labels) * 2 <= len(cells)
    return are_few and all(isinstance(cell, str) for cell in cells) and bool(labels.intersection(*sides))


def _crossed_with(columns: Mapping[str, list[Value]], parts: Mapping[str, str]) -> str:
    """Return the column each of whose texts is in a row of most cases, as that of a variant; empty if there is none.

    Of several, that with the most different texts, and of these one with a usual name.
    """
    cases = list(map(str, columns[parts.get("id") or parts["input"]]))
    used = {name for part, name in parts.items() if part != "variant"}
    sizes = {}
    for name in dict.fromkeys((*filter(None, [parts.get("variant")]), *columns)):
        cells = [value for value in columns[name] if isinstance(value, str) and value]
        pairs, different = {*zip(cases, cells, strict=False)}, len({*cells})
        is_full = len(cells) == len(cases) and len(pairs) * 10 >= len({*cases}) * different * 9
        if name not in used and 1 < different <= _MOST_VARIANTS and is_full and not all(map(is_verdict, cells)):
            sizes[name] = different
    return max(sizes, key=sizes.__getitem__, default="")


def _states_verdicts(values: list[Value], least_different: int) -> bool:
    stated = [value for value in _stated(values) if not is_no_score(value)]
    different = {str(value).casefold() for value in stated}
    least_different = 1 if different <= {"passed", "failed"} else least_different  # no call is said to have passed
    return len(different) >= least_different and all(map(is_verdict, stated))


def _fits(part: str, values: list[Value]) -> bool:
    """Whether a column can be this part: ids differ from row to row, variants repeat."""
    cells = [str(value) for value in values if value is not None and not isinstance(value, dict | list)]
    different = len(set(cells))
    if part in ("id", "input"):
        return len(cells) * 10 >= len(values) * 9 and (different > 1 or len(values) == 1)
    return 1 < different < len(cells) if part == "variant" else bool(values)


def _score_columns(
    columns: Mapping[str, list[Value]], by_name: Mapping[str, str], verdict: str
) -> tuple[list[str], float]:
    """Return (columns with scores on one scale, the highest score). Scores of judges precede overall scores."""
    of_judges = [
        name
        for name in columns
        if name.endswith(".score") or ("." in name and plain_key(name.split(".")[0]) in NAMES["checks"])
    ]
    overall = [name for name in called(by_name, SCORES) if _numbers_of_column(columns[name])]
    # A number in an object that is the output, such as ``result.risk_score``, is what the model said.
    own = [name for name in columns if "." not in name or plain_key(name.partition(".")[0]) not in PARTS["output"]]
    own = [name for name in own if recorded_layouts.is_measure(name)]
    places = {name: recorded_layouts.headline_place(name) for name in own if not recorded_layouts.lower_is_better(name)}
    metric_columns = [name for name, place in places.items() if place and not place[0]]
    metric_columns = [name for name in metric_columns if not _OF_WORDING.search(name)] or metric_columns
    if not verdict:  # rates of anything, such as ``citation_rate``
        metric_columns = metric_columns or [name for name, place in places.items() if place and place[0] == 1]
    rubric = [name for name in rubric_columns(columns) if name != verdict]
    measured = {*rubric, *(metric_columns if not overall else ())}
    named = of_judges or [*overall[:1], *(name for name in columns if name in measured)]
    numbers = {name: found for name in named if (found := _numbers_of_column(columns[name]))}
    # Whole grades by one rubric have one scale, though one of them may never be high.
    whole = [
        name for name in rubric if max(found := numbers.get(name, [0.5])) <= 10 and all(map(float.is_integer, found))
    ]
    common = max((max(numbers[name]) for name in whole), default=0.0)
    highest = {name: common if name in whole else max(found) for name, found in numbers.items()}
    scale = scale_of(next(iter(highest.values()), 0.0))
    scores = [name for name, most in highest.items() if scale_of(most) == scale]
    scores += [name for name in rubric if scores and all(map(is_no_score, columns[name]))]
    return scores[:_MOST_SCORES], max((highest.get(name, 0.0) for name in scores), default=0.0)


def _stated(values: Iterable[Value]) -> list[Value]:
    """Return the values of a column, with the score or the verdict of an object of a judge in its place."""
    return [
        next((value[key] for key in GRADES if key in value), None) if isinstance(value, dict) else value
        for value in values
    ]


def _numbers_of_column(values: Iterable[Value]) -> list[float]:
    """Return the numbers of a column on the largest scale, without cells that are empty or infinite.

    An object of a judge counts by its score or verdict. The list is empty if half of the cells hold anything
    else: a few may say why there is no grade.
    """
    finite = (each for each in _stated(values) if not (isinstance(each, Unusable) or _INFINITE.fullmatch(str(each))))
    grades = [grade_of(int(each) if isinstance(each, bool) else each, {}, (0, SCALES[-1])) for each in finite]
    numbers = [round(SCALES[-1] * one.score, 6) for one in grades if one and one.score is not None]
    return numbers if 2 * grades.count(None) < len(grades) else []
