"""Joins the outputs of several models or variants to one series: ``results/gpt-4o.json`` and ``results/claude-3.json``.

They are in folders with the names of models, or in files with these in their names, and are otherwise called alike;
or in files of any name beside each other that have the same cases. Files that are one judged case each are joined too.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from posixpath import basename, commonprefix, splitext
from typing import Final

from msgspec.structs import replace

from sitegen.history.globs import run_glob
from sitegen.importers.case_rows import case_rows
from sitegen.importers.columns import usual_columns
from sitegen.importers.recorded_layouts import is_measure, numbers_of_layout
from sitegen.importers.tool_values import TRANSCRIPT
from sitegen.importers.usual_names import MADE_ID, MODEL, NAMES, PARTS
from sitegen.model.frozen import grouped
from sitegen.model.outcomes import Value
from sitegen.recognition.files import SearchedFile, table_of
from sitegen.recognition.output_series import (
    OF_EVALS,
    OF_NOW,
    OutputSeries,
    informative_part,
    is_result_by_name,
    is_truth_by_name,
    names_a_run,
    run_globs_of,
)
from sitegen.recognition.recognition import task_of
from sitegen.text.keys import plain_key
from sitegen.text.plain import natural_order
from sitegen.text.values import id_text

_LEAST: Final = 2
"""The least number of those who answered, of cases that variants have in common, and of answers in a run."""
MOST_BESIDE: Final = 6
"""The most proposed evals in one folder or below one glob. If there are more, each is probably a case or a model."""
_MOST_MODELS: Final = 60
"""The most files in a folder of which some name no model that is known, and which are those of models nevertheless."""
_MOST_COMPARED: Final = 100  # the most files that are read to see which have the same cases or task
_TIME: Final = re.compile(
    r"20[0-9]{2}[-_]?[01][0-9][-_]?[0-3][0-9][-_T ]?[0-2][0-9][-_:.]?[0-5][0-9][-_:.]?[0-9]{2,9}Z?"
)
"""Matches a date with a time of the day."""
_LAST_WORD: Final = r"[^-_. ]+$"  # matches what is left of a word at the end of what several names have in common
_CONFIGURED: Final = re.compile(r"config(?:uration)?|settings|param(?:eter)?s|options|model|retriever|strategy", re.I)
_VARIANT: Final = re.compile(r"(?i)(?:^|[-_. ])(?:baseline|(?:zero|few)[-_]?shot|cot|with(?:out)?)(?:[-_. ]|$)")
"""Matches names of variants of a prompt or a pipeline, beside which other names are those of variants too."""
_TASKS: Final = frozenset(("tasks", "numbers"))  # in place of the cases of files each of which may be of a task
_SIZE: Final = re.compile(
    r"(?:n|num|total)?[-_]?(?:cases|documents|examples|items|n|queries|questions|samples|size|tests|total)", re.I
)
"""Matches names of what a run says of its configuration, and of numbers of cases."""
_TEXTS: Final = frozenset(("input", "output", "reasoning"))  # parts of a case that a table of numbers does not have
_READ: Final = 3  # number of files that are read to see whether each is one case, or states the same task


def joined_series(several: Iterable[OutputSeries]) -> list[OutputSeries]:
    """Join the series of those who answered the same, in the place of the first of them; leave the others."""
    listed = [*map(_of_one_run, several)]
    present = {series.path: series for series in listed if not (series.deleted or series.parts)}
    joined: dict[str, list[OutputSeries]] = {}  # at the path of the first part, and nothing at those of the others
    in_folders = chain(_in_folders(present), _in_folders_of_runs(present), _in_folders_of_cases(present))
    for series in chain(in_folders, _in_files(present), _of_same_cases(present)):
        is_answered = "{" in series.outputs or series.outputs.endswith("/")
        for number, part in enumerate(series.parts):
            joined[part.path] = [] if number else [series if is_answered else replace(series, parts=())]
            del present[part.path]
    return [one for series in listed for one in joined.get(series.path, [series])]


def _of_one_run(series: OutputSeries) -> OutputSeries:
    """Return the outputs of variants for runs in folders whose names have the same date and time of the day."""
    start = len(series.folder) + 1 if series.folder else 0
    folders = {file.path[start:].partition("/")[0]: file for file in series.files}
    times = {match[0] if (match := _TIME.search(name)) else name for name in folders}
    if not series.is_glob or len(times) > 1 or len(folders) < max(_LEAST, len(series.files)):
        return series
    first = re.sub(_LAST_WORD, "", commonprefix([*folders]))
    last = re.sub(_LAST_WORD, "", commonprefix([name[::-1] for name in folders]))[::-1]
    below = next(iter(folders.values())).path[start:].partition("/")[2]
    parts = [OutputSeries(file.folder, file.name, (file,)) for file in folders.values()]
    return _joined(f"{series.folder}/{first}{{variant}}{last}/{below}".lstrip("/"), parts) if below else series


def _in_folders(present: Mapping[str, OutputSeries]) -> Iterator[OutputSeries]:
    by_parent: dict[str, dict[str, dict[str, OutputSeries]]] = {}
    for path, series in present.items():
        segments = path.split("/")
        for depth in range(1, len(segments) - 1):
            inside = by_parent.setdefault("/".join(segments[:depth]), {}).setdefault(segments[depth], {})
            inside["/".join(segments[depth + 1 :])] = series
    for parent in sorted(by_parent, key=lambda name: (name.count("/"), name)):
        folders = {name: by_parent[parent][name] for name in sorted(by_parent[parent], key=natural_order)}
        if all(map(names_a_run, folders)) or any(is_truth_by_name(name) or "*" in name for name in folders):
            continue
        joined = _by_folder(parent, folders)
        yield from (series for series in joined if all(part.path in present for part in series.parts))


def _by_folder(parent: str, folders: Mapping[str, Mapping[str, OutputSeries]]) -> Iterator[OutputSeries]:
    """Yield the outputs of the folders in a parent, by their paths below these: a series of cases, or one a path."""
    are_models = len([*filter(MODEL.search, folders)]) * 2 >= len(folders) >= _LEAST
    shared = {
        rest for rests in folders.values() for rest in rests if sum(rest in each for each in folders.values()) > 1
    }
    every = [series for rests in folders.values() for series in rests.values()]
    are_of_cases = len(shared) >= _LEAST and (are_models or is_result_by_name(basename(parent)))
    firsts = [min(rests.items())[1] for rests in folders.values()][:_READ]
    alone = {rest for rest in shared if not TRANSCRIPT.fullmatch(rest)}
    are_named = are_models or any(map(_VARIANT.search, folders))
    if len(alone) == 1 and not are_named and is_result_by_name(basename(parent)):
        scores = [one for rests in folders.values() for rest, one in rests.items() if rest in alone]
        tried = [_parts_of_case(one.newest) or {} for one in scores]
        are_judged = ("passed" in parts and _TEXTS & parts.keys() for parts in tried)
        tells = len(shared) > 1 or len(scores) >= _READ or all(are_judged)
        if tells and len(tried) >= _LEAST and all(tried):
            yield _joined(f"{parent}/", every)  # a folder is a case
            return
    are_same = all(2 * sum(rest in shared for rest in rests) >= len(rests) for rests in folders.values())
    are_of_cases &= are_same and all(not one.is_glob for one in firsts)
    if are_of_cases and all(_parts_of_case(one.newest) is not None for one in firsts):
        yield _joined(f"{parent}/{'{model}' if are_models else '{variant}'}/", every)
    elif are_models:
        for rest in sorted(shared):
            parts = [rests[rest] for rests in folders.values() if rest in rests]
            if _answer_together(series := _joined(f"{parent}/{{model}}/{rest}", parts)):
                yield series
        below = chain.from_iterable(rests.items() for rests in folders.values())
        by_glob = grouped((next(iter(run_globs_of(rest)), ""), series) for rest, series in below)
        for glob, parts in by_glob.items():  # each answered once, and on a day of its own
            are_alike = {part.folder for part in parts} == {f"{parent}/{name}" for name in folders}
            if are_alike and len(parts) == len(folders) and glob.endswith(f"*.{parts[0].newest.ending}"):
                yield _joined(f"{parent}/{{model}}/{re.sub(r'(?:20)?[*]', '{variant}', glob)}", parts)


def _parts_of_case(file: SearchedFile) -> Mapping[str, object] | None:
    """Return the parts of the one case that a file is; None if it states no verdict and no score, or several cases."""
    value = file.value
    if (
        not isinstance(value, dict)
        or table_of(value) is not None
        or task_of(value)
        or not {*map(plain_key, value)}.isdisjoint(NAMES["count"])
    ):
        return None
    columns = usual_columns(case_rows([value]))
    return None if columns is None else columns.parts


def _in_folders_of_cases(present: Mapping[str, OutputSeries]) -> Iterator[OutputSeries]:
    """Yield folders in which each file with a result is one judged case: ``results/c1.json``, ``runs/*/c1.json``."""
    beside: dict[str, list[OutputSeries]] = {}
    for path, series in present.items():
        folder, _, name = path.rpartition("/")
        place = folder if "*" in folder else next(iter(run_globs_of(f"{folder}/_")), folder).removesuffix("/_")
        are_runs = "*" in name and not re.match("(?i)(?:output|result)s?[-_ ]?[*]", name)
        if is_result_by_name(f"{place}/") and name.endswith(".json") and not (are_runs or MODEL.search(name)):
            beside.setdefault(f"{place}/", []).append(series)
    for place, several in beside.items():
        # A folder that every commit overwrites is read with the folders in it.
        is_whole = "*" in place or len(several) == sum(path.startswith(place) for path in present)
        files = [file for one in several for file in (one.files if "*" in basename(one.path) else (one.newest,))]
        some = (*files[:MOST_BESIDE], *files[MOST_BESIDE:][-1:]) if is_whole else ()
        tried = {file.path: _parts_of_case(file) for file in some}
        stated = [parts for parts in tried.values() if parts is not None]
        are_judged = all("passed" in parts and _TEXTS & parts.keys() for parts in stated)
        if are_judged and len(stated) >= max(_READ, len(tried) / 2):
            yield _joined(place, [one for one in several if tried.get(one.newest.path, {}) is not None])


def _in_folders_of_runs(present: Mapping[str, OutputSeries]) -> Iterator[OutputSeries]:
    """Yield what is joined by names of folders with the model and the date of a run: ``gpt-4o_2026-01-01/out.json``."""
    by_path: dict[str, dict[str, OutputSeries]] = {}
    for path, series in present.items():
        glob = path if series.is_glob else next(iter(run_globs_of(path)), "")
        start, _, end = glob.partition("*")
        above, _, name = start.rpartition("/")
        if "/" in end and (model := MODEL.search(name)):
            named = f"{name[: model.start()]}{{model}}{name[model.end() :]}"
            by_path.setdefault(f"{above}/{named}*{end}".lstrip("/"), {})[model[0]] = series
    for path, parts in by_path.items():
        if len(parts) >= _LEAST and _answer_together(series := _joined(path, [*parts.values()])):
            yield series


def _in_files(present: Mapping[str, OutputSeries]) -> Iterator[OutputSeries]:
    beside: dict[tuple[str, str], dict[str, OutputSeries]] = {}
    for path, series in present.items():
        stem, ending = splitext(path)
        beside.setdefault((stem.rpartition("/")[0], ending), {})[basename(stem)] = series
    for (folder, ending), by_stem in beside.items():
        of_runs = {MODEL.sub("", stem) for stem in by_stem if "*" in stem}
        for stem in [*by_stem]:
            run = next(iter(run_globs_of(f"{stem}.")), "").rstrip(".")
            if MODEL.sub("", run) in of_runs:  # the only run of this model
                by_stem[run] = by_stem.pop(stem)
        models = {stem: match for stem in sorted(by_stem, key=natural_order) if (match := MODEL.search(stem))}
        around = {stem: (stem[: match.start()], stem[match.end() :]) for stem, match in models.items()}
        by_ends = grouped((around[stem], stem) for stem in models)
        alone = [stem for (stem, *more) in by_ends.values() if not more]
        wanted = [ends for ends, stems in by_ends.items() if len(stems) > 1]
        if len({match[0].casefold() for match in models.values()}) == len(models) > 1:
            wanted, alone = [], [*models]  # none has several files, of several tasks
        if len(alone) > 1:
            starts, ends = ([*each] for each in zip(*(around[stem] for stem in alone), strict=True))
            wanted.append((commonprefix(starts), commonprefix([end[::-1] for end in ends])[::-1]))
        between = {
            ends: [each for each in by_stem if re.fullmatch(".+".join(map(re.escape, ends)), each)]
            for ends in (*wanted, ("", ""))
        }
        # More files than could be evals, most of which have another model, with a version or a date of its own each.
        are_models = MOST_BESIDE < len(by_stem) <= min(_MOST_MODELS, 2 * len(models)) and 2 * len(alone) > len(models)
        if are_models and 2 * sum(map(names_a_run, by_stem)) < len(by_stem):
            most = [ends for ends in wanted if len(by_stem) < 2 * len(between[ends]) < 2 * len(by_stem)]
            wanted, alone = most or [("", "")], [*by_stem]
        for start, end in wanted:
            fits = between[start, end]
            known = (*alone, *by_ends.get((start, end), ()))
            if len(fits) < _LEAST or not all(stem in known for stem in fits):
                continue  # other files have such names
            path = f"{folder}/{start}{{model}}{end}{ending}".lstrip("/")
            series = _joined(path, [by_stem[stem] for stem in sorted(fits, key=natural_order)])
            if _answer_together(series):
                alone = [stem for stem in alone if stem not in fits]
                yield series


def _of_same_cases(present: Mapping[str, OutputSeries]) -> Iterator[OutputSeries]:
    """Yield what is joined because files or folders beside each other have the same columns or numbers, and cases."""
    beside: dict[tuple[str, str], list[str]] = {}
    for stem, ending in map(splitext, (path for path in present if "*" not in path)):
        segments = stem.split("/")
        for depth, name in enumerate(segments):
            before, after = ("/".join(part) for part in ((*segments[:depth], ""), ("", *segments[depth + 1 :])))
            beside.setdefault((before, f"{after}{ending}"), []).append(name)
    room = _MOST_COMPARED
    for (before, after), names in sorted(beside.items(), key=lambda group: group[0][0].count("/")):
        fit = [name for name in names if f"{before}{name}{after}" in present]  # not joined already
        of_results = is_result_by_name(f"{before}{commonprefix(names)}") and not is_truth_by_name(before)
        if not of_results or not _LEAST <= len(fit) <= _MOST_MODELS or all(map(names_a_run, fit)):
            continue
        by_cases: dict[tuple[frozenset[str], frozenset[str]], list[str]] = {}
        named = [name for name in fit if not (is_truth_by_name(name) or OF_NOW.search(name))]
        for number, name in enumerate(named[:room], 1):
            value = present[f"{before}{name}{after}"].newest.value
            same = _same_of(value, are_variants=any(map(_VARIANT.search, fit)))
            by_cases.setdefault(same, []).append(name)
            room -= 1
            one_task = len(by_cases) == 1 and (task_of(value) or same[1] is _TASKS)
            if number == _READ and (one_task or ("/" in after and not any(cases for _, cases in by_cases))):
                by_cases = dict.fromkeys(by_cases, named)
                break
        for (_, cases), alike in by_cases.items():
            start = re.sub(_LAST_WORD, "", commonprefix(alike))
            end = re.sub(_LAST_WORD, "", commonprefix([name[::-1] for name in alike]))[::-1]
            fits = [name for name in fit if name.startswith(start) and name.endswith(end)]
            are_all = len(alike) == sum(path.startswith(before) for path in present) >= _READ
            if cases is _TASKS and not (are_all and "/" in after and basename(before[:-1]) not in OF_EVALS):
                continue  # these are evals, or sums of the cases beside them
            if len(cases) >= _LEAST and len(alike) >= _LEAST and len(fits) == len(alike):
                parts = [present[f"{before}{name}{after}"] for name in sorted(alike, key=natural_order)]
                sign = "{variant}" if any(map(informative_part, alike)) else "*"  # of commits, which are runs
                yield _joined(f"{before}{start}{'{case}' if cases is _TASKS else sign}{end}{after}", parts)


def _same_of(value: Value, *, are_variants: bool) -> tuple[frozenset[str], frozenset[str]]:
    """Return the columns of a table and its cases, or the names of a run's numbers and its task, sizes or _TASKS."""
    task, table = task_of(value), table_of(value)
    if isinstance(value, dict):
        every = [*numbers_of_layout(value, {})]
        numbers = [number for number in every if is_measure(number.name)]
        sizes = [f"{one.name} {one.value}" for one in every if _SIZE.fullmatch(one.name.rpartition(".")[2])]
        is_of_one = are_variants or any(_CONFIGURED.fullmatch(key) for key in value)
        over = [task] if task else sizes if is_of_one else []
        if over or (numbers and table is None and not is_of_one):
            return frozenset(number.name for number in numbers), frozenset((*over, "numbers")) if over else _TASKS
    columns = {plain_key(column): column for column in table.columns} if table else {}
    ids, inputs = ([columns[name] for name in PARTS[part] if name in columns] for part in ("id", "input"))
    named = (*(ids or [*filter(MADE_ID.fullmatch, columns.values())])[:1], *inputs[:1])
    cases = ({id_text(row.get(name)) for row in table.rows} - {""} for name in named) if table else ()
    return frozenset(columns), frozenset().union(*cases)


def _joined(path: str, parts: Sequence[OutputSeries]) -> OutputSeries:
    segments = path.split("/")
    wild = (index for index, segment in enumerate(segments) if "*" in segment or "{" in segment)
    first = next(wild, len(segments) - 2)
    files = tuple(file for part in parts for file in part.files)
    return OutputSeries("/".join(segments[:first]), "/".join(segments[first:]), files, parts=tuple(parts))


def _answer_together(series: OutputSeries) -> bool:
    """Whether several answered in at least half of the runs, if there are runs."""
    if not series.is_glob:
        return True
    runs, start = run_glob(series.outputs), len(series.folder) + 1 if series.folder else 0
    by_run = grouped((runs.name(file.path[start:]), part.path) for part in series.parts for file in part.files)
    return 2 * sum(len({*parts}) > 1 for parts in by_run.values()) >= len(by_run)
