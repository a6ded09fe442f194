"""Reads the recorded numbers of a file.

Known layouts (lm-eval, github-action-benchmark, comparisons of prompts, results of sitegen) define which numbers are
results. In any other file, every number counts.

The name of a number is the path of keys, joined by dots. Items of lists contribute the text that tells them apart, such
as their name, or their index if there is none.

The name also tells which direction is better, the range of the number, and whether it may be a headline: a guess.
"""

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from itertools import chain, combinations
from math import floor, log10, prod
from operator import itemgetter
from pathlib import PurePosixPath
from typing import Final

from msgspec.structs import replace

from sitegen.data_files.reading import LINES, UnreadableError, csv_dicts, ending, parse_json, text_of
from sitegen.data_files.yaml_reader import read_data
from sitegen.importers.case_rows import with_shares
from sitegen.importers.tool_values import as_float
from sitegen.model.changes import Ends
from sitegen.model.frozen import Frozen
from sitegen.model.outcomes import Unusable, Value
from sitegen.model.problems import Finding, Parsed
from sitegen.model.usage import spelled_number
from sitegen.text.keys import plain_key
from sitegen.text.plain import line

_LONGEST_NAME: Final = 200  # Characters of a name. Numbers with longer names are left out.
_NAMES: Final = ("name", "metric", "task", "id", "label")  # keys that name an item of a list, the best first
_NAMING: Final = re.compile(r"(?i)(?:^|[_\-. ])(?:agent|case|id|method|model|name|provider|skill|test)$|(?:Id|Name)$")
"""Matches other keys that usually name a row."""
_NUMBERED: Final = re.compile(r"(?:^|[_\-. ])id$|Id$")  # matches keys whose whole numbers name a row
_TIME: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_RUN: Final = re.compile(r"run|iteration|round", re.IGNORECASE)
_OF_RUNS: Final = ("runs", "history", "iterations")  # keys of lists with a row for each run
_LONGEST_TEXT: Final = 80  # characters of a cell that names a row or is a number
_MOST_MODELS: Final = 100  # the most lines that are read to see whether each is of another model
_MOST_TEXTS: Final = 6  # columns of which two together may name the rows


class RecordedNumber(Frozen):
    """One number of a file."""

    name: str
    """Its path: ``retail.f1``."""
    value: float | None
    """None for NaN, Infinity, and numbers too large for a float."""
    higher_is_better: bool | None = None
    """None if the file does not state it."""
    unit: str = ""
    """As the file states it."""
    is_sample: bool = False
    """Whether it is an item of a plain list of numbers. Such lists mostly hold the values of single cases."""

    @property
    def is_count(self) -> bool:
        """Whether the number counts something, by its name and its value: it is whole, and no share or percent.

        A 0 or 1 is a count only if its name is that of an amount or of errors.
        """
        if self.value is None or not self.value.is_integer():
            return False
        words = _name_words(self.name.rpartition(".")[2])
        return True if words & _AMOUNTS else not words & _PERCENT and (abs(self.value) > 1 or bool(words & _LOWER))

    @property
    def range(self) -> Ends:
        """The range of such a number, from its name and this first value. Changes are measured as parts of it.

        A share ranges from 0 to 1, or to 100 if its value shows that it is a percentage. Any other range ends at the
        next round number (1, 2 or 5 times a power of ten) that is not below the value.
        """
        size, amount = abs(self.value or 0.0), is_amount(self.name)
        if not amount and 1 < size <= 100 and _name_words(self.name) & _PERCENT:
            high = 100.0 if size > 10 else _round_up(size)
        elif size == 0 or (size <= 1 and not amount):
            high = 1.0
        else:
            high = _round_up(size)
        return Ends(-high if self.value is not None and self.value < 0 else 0.0, high)


def numbers_in(value: Value, start: str = "") -> Iterator[RecordedNumber]:
    """Yield every number in file order. Booleans do not count, and of numbers written as text, percentages alone."""
    if isinstance(value, dict):
        for key, member in value.items():
            inside = numbers_in(_with_shares(member) if isinstance(member, dict) else member, joined_name(start, key))
            yield from (_as_stated(number, value) for number in inside) if key == "value" else inside
    elif isinstance(value, list):
        keys = _naming_keys(value)
        for index, item in enumerate(value):
            if isinstance(item, dict):
                usual = tuple(key for key in _NAMES if isinstance(item.get(key), str) and item[key])
                named_by = keys or usual[:1]
                names = [str(item[key]) for key in named_by] or [str(index)]
                name = joined_name(start, *names)
                rest = {key: member for key, member in item.items() if key not in named_by}
                first = next((key for key, member in rest.items() if as_float(member) is not None), None)
                if named_by and (first == "value" or (first == "score" and named_by[0] in _NAMES)):  # is that number
                    yield from (_as_stated(number, rest) for number in numbers_in(rest.pop(first), name))
                yield from numbers_in(rest, name)
            else:
                is_sample = not isinstance(item, list)
                numbers = numbers_in(item, joined_name(start, str(index)))
                yield from (replace(number, is_sample=is_sample) for number in numbers)
    elif isinstance(value, Unusable | int | Decimal) and type(value) is not bool and 0 < len(start) <= _LONGEST_NAME:
        yield RecordedNumber(start, as_float(value))
    elif isinstance(value, str) and value[-1:] == "%" and start:
        share = spelled_number(value[:-1])
        yield from () if share is None else [RecordedNumber(start, as_float(share))]


_STATED: Final = ("higherisbetter", "biggerisbetter", "lowerisbetter", "smallerisbetter", "direction")
_LOWER_IS_BETTER: Final = r"(?:low|small)\w+ true|(?:high|bigg)\w+ false|direction (?:low|down|min|decr|small)"
_EITHER: Final = r"\w+ (?:true|false)|direction (?:high|up|max|incr|big)"


def _as_stated(number: RecordedNumber, row: Mapping[str, Value]) -> RecordedNumber:
    """Return a number with the direction and the unit that are stated beside it."""
    told = {plain_key(key): str(cell).strip() for key, cell in row.items() if isinstance(cell, str | bool)}
    said = next((f"{name} {told[name]}".lower() for name in _STATED if name in told), "")
    higher = False if re.match(_LOWER_IS_BETTER, said) else True if re.match(_EITHER, said) else None
    return replace(number, higher_is_better=higher, unit=line(told.get("unit", ""), 20))


def _with_shares(run: dict[str, Value]) -> dict[str, Value]:
    """Return an object with its points as a share of their maximum, and a share of what passed if it states none."""
    for good, rate in (("passed", "pass_rate"), ("correct", "accuracy")):
        part, total = as_float(run.get(good)), as_float(run.get("total"))
        stated = [key for key in run if good in run and (headline_place(key) or (2,))[0] < 2]
        if part is not None and total and 0 <= part <= total and not stated:
            return {rate: Decimal(str(part / total)), **run}
    return with_shares([run])[0]


def joined_name(*names: str) -> str:
    """Join names into one path. Empty names are skipped."""
    return ".".join(name for name in names if name)


def _naming_keys(rows: list[Value]) -> tuple[str, ...]:
    """Return the keys of the texts that tell all rows of a list apart: one, else two; none if there are none.

    A usual name goes before others, and only it names a single row. Times do not name a row: they say when it was
    written.
    """
    objects = [row for row in rows if isinstance(row, dict)]
    if len(objects) != len(rows) or not rows:
        return ()
    keys = []
    for key in objects[0]:
        kinds = (str, int) if _NUMBERED.search(key) else (str,)
        cells = [str(row[key]) for row in objects if type(row.get(key)) in kinds]
        if len(cells) == len(rows) and all(0 < len(cell) <= _LONGEST_TEXT and not _TIME.match(cell) for cell in cells):
            keys.append(key)
    usual = {key: bool(_NAMING.search(key)) > bool(_RUN.match(key)) for key in keys}
    keys.sort(key=lambda key: (_NAMES.index(key) if key in _NAMES else len(_NAMES), not usual[key]))
    if len(rows) == 1:
        keys = [key for key in keys if key in _NAMES or _NAMING.search(key)]
    for choice in chain(combinations(keys, 1), combinations(keys[:_MOST_TEXTS], 2)):
        if len({tuple(map(str, map(row.get, choice))) for row in objects}) == len(objects):
            return choice
    return ()


_SCRIPT: Final = re.compile(r"\s*(?:window\.)?[A-Za-z_$][\w$.]*\s*=\s*(?=[{\[])")
"""The assignment before the data of a ``data.js``."""
_NUMBER: Final = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]{1,3})?")

_LENGTH: Final = "sample_len"  # the number of documents of a task, which lm-eval writes among the task's metrics
_BIGGER: Final = frozenset(("benchmarkjs", "pytest", "custombiggerisbetter"))
"""Tools of github-action-benchmark whose results are rates. Those of all others are times or sizes."""


def read_record(path: str, content: bytes) -> Parsed[dict[str, Value] | list[Value]]:
    """Read a file of numbers; of several lines, the last, unless each is of a model. Raises UnreadableError.

    It is unreadable if it is not an object or list.
    """
    suffix = ending(path)
    root: Value = None
    findings: tuple[Finding, ...] = ()
    if suffix in LINES:
        lines = text_of(content).rstrip().split("\n")
        root, findings = parse_json(lines[-1], len(lines))
        if isinstance(root, dict) and "model" in root and len(lines) <= _MOST_MODELS:
            rows = [parse_json(each).value for each in lines if each.strip()]
            says_when = any(_RUN.match(key) or _TIME.match(str(member)) for key, member in root.items())
            root = rows if _naming_keys(rows) == ("model",) and not says_when else root
    elif suffix == "csv":
        root = [
            {
                name: Decimal(cell) if len(cell) <= _LONGEST_TEXT and _NUMBER.fullmatch(cell.strip()) else cell
                for name, cell in row.items()
            }
            for row in csv_dicts(content)
        ]
    elif suffix == "js":
        text = text_of(content)
        start = _SCRIPT.match(text)
        begin = start.end() if start else 0
        root, findings = parse_json(text[begin:].rstrip().rstrip(";"), text.count("\n", 0, begin) + 1)
    else:
        root, findings = read_data(suffix, content)
    if not isinstance(root, dict | list):
        raise UnreadableError("it is neither an object nor a list", "Write an object of names and numbers.")
    return Parsed(root, findings)


def runs_in(root: Value) -> list[dict[str, Value]]:
    """Return the runs of a list with one row for each, the newest last; none if the rows are something else.

    Each row states its time or the number of its run, by which the rows are in order. No usual name tells all of
    several rows apart, and the rows are not those of each model on each data set. The list may be under a key such as
    ``history``, if nothing beside it measures anything.
    """
    if isinstance(root, dict):
        found = ((key, runs_in(root.get(key))) for key in _OF_RUNS)
        key, runs = next(filter(itemgetter(1), found), ("", []))
        beside = numbers_in({name: value for name, value in root.items() if name != key}) if runs else iter(())
        return [] if any(is_measure(number.name) for number in beside) else runs
    rows = [row for row in root if isinstance(row, dict)] if isinstance(root, list) else []
    if not isinstance(root, list) or not rows or len(rows) < len(root) or runs_of_models(root):
        return []
    named = [key for key in rows[0] if key in _NAMES or (_NAMING.search(key) and not _RUN.match(key))]
    if len(rows) > 1 and any(len({str(row.get(key)) for row in rows}) == len(rows) for key in named):
        return []
    return _in_order_of_time(rows)


def runs_of_models(root: Value, headline: str | None = None) -> dict[str, dict[str, Value]]:
    """Return the newest run of each model, by its name, of rows in the order of their times; empty for other rows.

    A model has several of these rows, or else the headline is one of their own numbers.
    """
    rows = [row for row in root if isinstance(row, dict)] if isinstance(root, list) else []
    models = {name for row in rows if isinstance(name := row.get("model"), str) and name}
    are_runs = 1 < len(models) < len(rows) or (len(models) > 1 and headline in rows[0])
    in_order = _in_order_of_time(rows) if are_runs and root == rows else []
    return {str(row["model"]): row for row in in_order if row.get("model")}


def _in_order_of_time(rows: list[dict[str, Value]]) -> list[dict[str, Value]]:
    """Return rows by their times or numbers of runs, the newest last; none if they have another order or are a grid."""
    alike = [len({str(row.get(key)) for row in rows}) for key in _naming_keys([*rows])]
    if len(alike) > 1 and prod(alike) == len(rows):
        return []
    for key in rows[0]:
        cells = [row.get(key) for row in rows]
        times = [(0.0, cell) for cell in cells if isinstance(cell, str) and _TIME.match(cell)]
        numbers = [(cell, "") for cell in map(as_float, cells) if cell is not None] if _RUN.fullmatch(key) else []
        order = times or numbers
        if len(order) == len(rows) and order in (sorted(order), sorted(order, reverse=True)):
            return rows if order[0] <= order[-1] else rows[::-1]
    return []


def numbers_of_layout(root: dict[str, Value] | list[Value], where: Mapping[str, str]) -> Iterator[RecordedNumber]:
    """Yield the numbers of a file; of a table of runs, those of the newest.

    ``where``: what the selected run states, for files that hold several runs.
    """
    if runs := [*runs_of_models(root).values()] or runs_in(root):
        return numbers_in(_with_shares(runs[-1]))
    if isinstance(root, list):
        return numbers_in(root)
    root = _with_shares(root)
    results, entries = root.get("results"), root.get("entries")
    if isinstance(results, dict) and ("n-shot" in root or "lm_eval_version" in root or "higher_is_better" in root):
        return _of_tasks(results, root.get("higher_is_better"))
    if isinstance(entries, dict) and any(isinstance(runs, list) for runs in entries.values()):
        return _of_benchmarks(entries)
    prompts, individual = root.get("prompt_paths"), root.get("individual_results")
    if isinstance(prompts, list) and isinstance(individual, dict):
        return _of_prompts(prompts, individual, where.get("prompt_path"))
    is_ours = str(root.get("schema")).startswith("sitegen/")
    if isinstance(results, dict) and ("prompt_path" in root or is_ours):
        return numbers_in(results)
    if is_ours:  # the totals, without fields, documents and metadata
        totals = {key: at for key, at in root.items() if key == "errors_by_type" or not isinstance(at, dict | list)}
        return chain(numbers_in(root.get("metrics")), numbers_in(totals), _lengths(root))
    of_highlights = {"accuracy", "correct", "expected"} <= root.keys() and isinstance(root.get("missed"), list)
    return chain(numbers_in(root), _lengths(root) if of_highlights else ())


def _of_tasks(results: dict[str, Value], stated: Value) -> Iterator[RecordedNumber]:
    """lm-evaluation-harness: numbers are named ``metric,filter``, and the filter ``none`` is dropped."""
    directions = stated if isinstance(stated, dict) else {}
    for task, values in results.items():
        of_task = directions.get(task)
        for number in numbers_in(values, task):
            if number.name == joined_name(task, _LENGTH):
                continue
            name = number.name.removesuffix(",none")
            metric = name[len(task) + 1 :].partition(",")[0]
            higher = of_task.get(metric) if isinstance(of_task, dict) else None
            yield replace(number, name=name, higher_is_better=higher if isinstance(higher, bool) else None)


def _of_benchmarks(entries: dict[str, Value]) -> Iterator[RecordedNumber]:
    """github-action-benchmark: the newest run of each suite. Older runs are in older versions of the file."""
    for suite, runs in entries.items():
        newest = runs[-1] if isinstance(runs, list) and runs else None
        benches = newest.get("benches") if isinstance(newest, dict) else None
        if not isinstance(newest, dict) or not isinstance(benches, list):
            continue
        higher = str(newest.get("tool")).casefold() in _BIGGER
        start = suite if len(entries) > 1 else ""
        for bench in benches:
            name = bench.get("name") if isinstance(bench, dict) else None
            if isinstance(bench, dict) and isinstance(name, str):
                number = _as_stated(RecordedNumber(joined_name(start, name), as_float(bench.get("value"))), bench)
                yield replace(number, higher_is_better=higher)


def _of_prompts(
    prompts: list[Value], individual: dict[str, Value], chosen_path: str | None
) -> Iterator[RecordedNumber]:
    """Yield the results of the chosen prompt of a comparison, else of every prompt under the name of its file."""
    for prompt, (key, value) in zip(prompts, individual.items(), strict=False):
        path = value.get("prompt_path", prompt) if isinstance(value, dict) else prompt
        results = value.get("results", value) if isinstance(value, dict) else value
        if chosen_path is None:
            yield from numbers_in(results, PurePosixPath(path).stem if isinstance(path, str) else key)
        elif path == chosen_path:
            yield from numbers_in(results)


def _lengths(root: dict[str, Value]) -> Iterator[RecordedNumber]:
    """Yield the number of texts that results of highlights list as missed and as wrong."""
    for key in ("missed", "wrong"):
        texts = root.get(key)
        if isinstance(texts, list):
            yield RecordedNumber(key, float(len(texts)), False)


_WORD: Final = re.compile(r"[A-Z]?[a-z]+[0-9]*|[A-Z]+(?![a-z])[0-9]*|[0-9]+")


def _words_of(text: str) -> frozenset[str]:
    return frozenset(text.split())


_AMOUNTS: Final = _words_of("""
    bits bpb byte bytes cost costs count counts distance distances duration elapsed gb kb latencies latency loss losses
    mae mb memory milliseconds ms mse nll number perplexity ppl price regret rmse runtime s sec second seconds secs size
    time times token tokens total usd""")
"""Words that name amounts without a natural upper bound."""
_LOWER: Final = (_AMOUNTS - _words_of("count counts number size total")) | _words_of("""
    brier cer ece err error errors fail failed failing failure failures false fn fnr fp fpr hallucinated hallucination
    hallucinations invalid mape missed misses missing omission omissions regression regressions rejected skipped std
    stderr stddev stdev timeout timeouts toxicity violation violations wer wrong""")
_HIGHER: Final = _words_of("""
    acc accuracy auc auroc bertscore bleu correct em exact f1 f2 found grade match matched pass passed passing
    precision quality recall resolved reward rouge score scores similarity success successes""")
_METRICS: Final = _HIGHER | _words_of("""
    brier cer citation coherence coherent completeness correctness faithful faithfulness grounded groundedness helpful
    helpfulness hit kappa loss mae mape mrr ndcg perplexity relevance relevancy relevant rmse safety solve toxicity wer
    win""")
_COUNTED: Final = _words_of("correct count counts found match matched pass passed passing resolved success successes")
"""Words for what is good of each case. Alone, as in ``passed`` and ``total_correct``, they name a count."""
_MEANS: Final = _words_of("average avg mean rate ratio share")
_OF_ALL: Final = _MEANS | _words_of("aggregate aggregated all macro overall summary total totals")
_AROUND: Final = _words_of("eval evaluation evaluations metrics report results scores")  # objects around all numbers
_LIMITS: Final = _words_of("applicable cache eligible limit max maximum min minimum reranked retrieved")
"""Words for what is allowed or extreme, and for what says nothing of answers: ``max_error_rate``, ``cache_hit``."""
_SET: Final = _words_of("dropout frame learning sample sampling")  # words for rates that somebody sets before a run
_SHARES: Final = _words_of("percent percentage pct rate")
_PERCENT: Final = _HIGHER | _SHARES
_HEADLINES: Final = (
    "main_score",  # which MTEB states beside the metric that it is
    *("f1", "macro_f1", "f1_macro", "pooled_f1", "f1_score", "accuracy", "acc", "acc_norm", "exact_match", "em"),
    *("pass_rate", "pass@1", "success_rate", "average_quality", "score", "mean_score", "overall"),
)
"""Names that become the headline unless the settings choose one, the best first."""
_NO_MEASURES: Final = _words_of("""
    batch build concurrency date day epoch epochs exit hash id idx index iteration iterations line month overlap pid
    port priority rank run seed shots size step steps temperature threshold timestamp version workers year""")
_SIZES: Final = _words_of("cases count counts documents examples files lines n questions rows samples")
"""Words for the size of what was run. What is good or bad of it is measured: ``failed_cases``, ``error_count``."""
_ENDS: Final = ("_stderr", "_at", "top_k", "top_p", "learning_rate", "max_tokens", "num_samples")
_NO_RESULTS: Final = _words_of("""
    args arguments config configuration env environment git hyperparameters limits metadata options parameters params
    range rubric settings system thresholds versions weighting weights worst""")


def lower_is_better(name: str) -> bool:
    """Whether the name suggests that lower is better: a loss, an error, a time, a cost.

    The last part of the name decides if it has a word for either direction, then a word for "lower" in an earlier part.
    Otherwise higher is better.
    """
    parts = [_name_words(part) for part in name.split(".")]
    if parts[-1] & _LOWER or {"attack", "success"} <= parts[-1]:
        return True
    return not parts[-1] & _HIGHER and any(part & _LOWER for part in parts[:-1])


def says_direction(name: str) -> bool:
    """Whether the name has a word for either direction; otherwise higher is better by default."""
    return not _name_words(name).isdisjoint(_LOWER | _METRICS)


def is_measure(name: str) -> bool:
    """Whether a number is a measurement, and not a seed, a time stamp or part of the run's configuration."""
    *outer, last = name.split(".")
    words = [word.casefold() for word in _WORD.findall(last)]
    if words and words[-1] in _NO_MEASURES and _MEANS.isdisjoint(words):
        return False
    if words and words[-1] in _SIZES and (_MEANS | _METRICS | _LOWER).isdisjoint(words):
        return False
    if last.endswith(_ENDS) or "_stderr," in last:
        return False
    return not any(part.casefold() in _NO_RESULTS for part in outer)


def headline_rank(name: str) -> int:
    """Return how well a number of this name serves as the headline, also as ``accuracy_overall``. 0 is best."""
    last = name.rpartition(".")[2].casefold().partition(",")[0]
    usual = last if last in _HEADLINES else "_".join(word for word in last.split("_") if word not in _OF_ALL - _MEANS)
    if usual in _HEADLINES:
        return _HEADLINES.index(usual)
    is_amount_or_error = lower_is_better(name) or _name_words(name) & _AMOUNTS
    return len(_HEADLINES) + (2 if is_amount_or_error else 0 if last.endswith("f1") else 1)


def is_headline(name: str) -> bool:
    """Whether the name is that of a usual headline metric, such as ``f1``."""
    return headline_rank(name) < len(_HEADLINES)


def headline_place(name: str) -> tuple[int, int, bool, int, int] | None:
    """Return the place of a number among those that may be the headline, best first; None if it has no metric's name.

    A number of all cases comes before that of one, which is deeper, but for objects such as ``results``, or not called
    ``overall``. Last come means and rates of anything, then counts of what is good, such as ``passed``.
    """
    *_, above, last = ("", *name.split("."))
    words, rank = _name_words(last), headline_rank(name)
    if words <= _MEANS | {"all"} and (measured := _name_words(above) & _METRICS):  # ``{"recall": {"rate": 0.5}}``
        words |= measured
    words = words if words.isdisjoint(_LIMITS) else frozenset()
    outer, depth = _name_words(name.rpartition(".")[0]), max(1, name.count("."))
    place = (1 if outer <= _OF_ALL | _AROUND else depth, bool(outer) and outer.isdisjoint(_OF_ALL), depth, rank)
    if is_headline(name) or (words & _METRICS and (words & (_MEANS | _SHARES) or not words & _COUNTED)):
        return (0, *place)
    if words & _MEANS and not words <= _SHARES | {"ratio"} and not words & _SET:
        return (1, *place)
    return (2, *place) if words & _METRICS else None


def is_amount(name: str) -> bool:
    """Whether a number is an amount, such as a time, a cost or a number of tokens, which no judge gives."""
    return bool(_name_words(name.rpartition(".")[2]) & _AMOUNTS)


def _name_words(name: str) -> frozenset[str]:
    """Return the words of a name in lower case. A word with a digit, such as ``rouge1``, counts without it as well."""
    words = [word.casefold() for word in _WORD.findall(name)]
    return frozenset((*words, *(word.rstrip("0123456789") for word in words)))


def _round_up(size: float) -> float:
    if not 1e-300 < size < 1e300:
        return max(size, 1.0)
    power = 10.0 ** floor(log10(size))
    return next(float(f"{factor * power:.6g}") for factor in (1, 2, 5, 10) if factor * power >= size * (1 - 1e-9))
