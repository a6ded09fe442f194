"""The gate's report for a job summary or a comment: one line if nothing changed, and within GitHub's length limits."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice, zip_longest
from typing import Final

from sitegen.analysis.gate import VERDICTS
from sitegen.errors import SitegenError
from sitegen.importers.case import VERDICT_FIELD
from sitegen.model.commits import short_id
from sitegen.model.frozen import grouped
from sitegen.model.gate import GateCell, GateEval, GateInstruction, GateMetric, GateReport
from sitegen.model.metrics import traits_of
from sitegen.pages.labels import split, verdict_word
from sitegen.questions.gate_report import (
    allowed_drop,
    caveats,
    change_text,
    count_of_broken,
    error_sentence,
    eval_sentence,
    metric_sentences,
    nothing_compared,
    spread_sentences,
)
from sitegen.text.markdown_cells import NIL, code, count, name, number, prose, signed, table
from sitegen.text.plain import counted
from sitegen.text.values import first_names

LONGEST_REPORT: Final = 65_000
"""Largest number of characters of the report; a comment on GitHub may have 65,536."""

CELLS: Final = 20  # of the broken values of an eval, the most that are listed
WORST: Final = 3  # of them, the most that the list below the first table names
_MOST_NAMED: Final = 20  # evals, files or commits that a sentence lists at most
_LIST: Final = 10_000  # characters of a list: of broken values, of caveats, and of what closes the report
_INDEX: Final = re.compile(r"\[[^\]]*\]")  # of a list item in a path
_CALLING: Final = re.compile(r"[@#]|\bGH-(?=\d)|:(?=//)|\bwww\\?\.", re.IGNORECASE)
"""The start of a mention, an issue reference or an address in text whose markup is escaped."""

_CLOSING: Final = 200  # characters that are reserved for the sentence with the number of omitted evals


def gate_markdown(report: GateReport) -> str:
    """Return the whole report, at most ``LONGEST_REPORT`` characters, ending with a line feed."""
    moved = [check for check in report.evals if _has_moved(check)]
    unmoved = [check for check in report.evals if not _has_moved(check)]
    verdicts = Counter(check.verdict for check in report.evals)  # worst first, in the order of the report
    outcome = "pass" if report.passed else "fail"
    ids = (code(short_id(of)) for of in (report.head, report.base))
    tally = ", ".join(f"{count(number)} {verdict}" for verdict, number in verdicts.items())
    matched = _number_of(check for check in report.evals if check.matched)
    compared = f"{matched} compared{f': {tally}' if verdicts.keys() - {outcome} else ''}"
    open_ones = f", {number} inconclusive" if report.passed and (number := verdicts["inconclusive"]) else ""
    begin = [f"**Evals: {outcome}{open_ones}.** {' against '.join(ids)}, {compared}.", *_caveats(report.evals)]
    if report.passed and not moved:
        begin[0] += f" Nothing changed in {_number_of(unmoved)}." if unmoved else ""
        return "\n\n".join(begin) + "\n"
    begin += [*filter(None, [prose(nothing_compared(report))]), *_changes(moved)]
    end = [f"Nothing changed in {first_names(unmoved, _MOST_NAMED, _id_of_eval)}."] if unmoved else []
    end += _edit_sentences(report.evals)
    closing = list(_fitting(end, _LIST))
    # The sections that fit, the worst eval first; tables of cells are added if room remains.
    characters = LONGEST_REPORT - len("\n\n".join([*begin, *closing])) - _CLOSING
    fitting = list(_fitting(map(_eval_section, moved), characters))
    room = characters - sum(len(section) + 2 for section in fitting)
    sections = []
    for check, section in zip(moved, fitting, strict=False):
        cells = _broken_cells_table(check)
        has_room = bool(cells) and len(cells) + 2 <= room
        room -= (len(cells) + 2) * has_room
        sections += [section, cells] if has_room else [section]
    if left_out := moved[len(fitting) :]:
        closing.append(f"{_number_of(left_out)} more changed: the report is full, and the JSON has all of them.")
    elif len(closing) < len(end):
        closing.append("More instructions were edited than fit here: the JSON has all of them.")
    return "\n\n".join([*begin, *sections, *closing]) + "\n"


def markdown_of_error(error: SitegenError) -> str:
    """Return the text if no report could be made."""
    return f"**Evals: fail.**\n\n{_without_mentions(prose(error_sentence(error)))}\n"


def _has_moved(check: GateEval) -> bool:
    is_fine = check.presence == "both" and check.verdict == "pass"
    is_comparable = is_fine and check.overlap is not None and check.overlap.verdict == "comparable"
    moved = check.fixed or check.broken or check.hidden or any(metric.change for metric in check.metrics)
    return not is_comparable or bool(moved)


def _changes(moved: Sequence[GateEval]) -> Iterator[str]:
    """Yield a table of what changed, the worst first, and below it the worst values that broke."""
    if not moved:
        return
    heads = ("Eval", "Metric", "Base", "Head", "Change", "On these cases", "Broken", "Fixed", "Verdict")
    yield "\n".join(table(heads, map(_change_row, moved[:_MOST_NAMED]), (2, 3, 4, 6, 7)))
    if more := moved[_MOST_NAMED:]:
        yield f"{_number_of(more)} more changed."
    worst = (f"- {_id_of_eval(check)}: {words}" for check in moved[:_MOST_NAMED] if (words := _worst_broken(check)))
    if broken := list(_fitting(worst, _LIST)):
        yield "\n".join(broken)


def _change_row(check: GateEval) -> tuple[str, ...]:
    """Return the row of an eval: the first of its metrics with the worst verdict."""
    metric = max(check.metrics, key=lambda metric: VERDICTS.index(metric.verdict), default=None)
    values = _metric_row(metric)[:4] if metric else (NIL,) * 4
    words = "same output" if check.same_output else NIL
    words = verdict_word(metric.noise, metric.spec.higher_is_better) if metric and metric.noise else words
    return (
        _id_of_eval(check),
        *values,
        words,
        count(check.broken) if check.overlap else NIL,
        count(check.fixed) if check.overlap else NIL,
        f"**{check.verdict}**" if check.verdict == "fail" else check.verdict,
    )


def _worst_broken(check: GateEval) -> str:
    """Return the values that broke as text: one of each of the fields with most of them, more if fields are fewer."""
    broken = [cell for cell in check.cells if cell.fate == "broken"]
    if not broken:
        return ""
    by_field = grouped((_INDEX.sub("[]", cell.path), cell) for cell in broken)
    ranked = sorted(by_field.values(), key=len, reverse=True)  # of equally many, in the order of the cells
    by_turns = (cell for turn in zip_longest(*ranked) for cell in turn if cell)
    words = "; ".join(_broken_words(cell, check.kind) for cell in islice(by_turns, WORST))
    more = (check.broken or 0) - WORST
    return f"{count_of_broken(check)} broken: {words}{f'; and {count(more)} more' if more > 0 else ''}."


def _broken_words(cell: GateCell, kind: str) -> str:
    where = " ".join(code(part, 50) for part in (cell.document, cell.named_path or cell.path) if part)
    if cell.is_score:
        return f"{where} went from {code(cell.base or '', 40)} to {code(cell.head or '', 40)}"
    found, expected = (code(value, 40) if value else "" for value in (cell.head, cell.expected))
    if traits_of(kind).names_scores:  # the field is what was asked of an answer, and the values are the answer
        asked = "" if cell.path == VERDICT_FIELD else f" {code(cell.named_path or cell.path, 50)}"
        if cell.expected == '"passed"':  # which is all that is expected of an answer
            found, expected = found.replace('"failed: ', '"', 1), ""
        failed = f"{code(cell.document, 50)} failed{asked} with {found or 'no output'}"
        return f"{failed}{expected and f', expected {expected}'}"
    return f"{where} {f'is {found}' if found else 'is missing'}, expected {expected or 'nothing'}"


def _fitting(blocks: Iterable[str], characters: int) -> Iterator[str]:
    """Yield the first blocks that fit, each with the empty line after it; further ones are not made."""
    for block in blocks:
        characters -= len(block) + 2
        if characters < 0:
            return
        yield block


_EXCHANGED: Final = {
    "model": "how much of the change is due to it, and how much to the instructions, is unknown",
    "judge": "its grades are not compared with those of the base",
}


def _eval_section(check: GateEval) -> str:
    title = "" if check.name == check.eval_id else f" {name(check.name, 60)}"
    title += " (recorded)" if traits_of(check.kind).is_recorded else ""
    parts = [f"### {_id_of_eval(check)}{_without_mentions(title)}: {check.verdict}"]
    shown = (metric for metric in check.metrics if metric is check.metrics[0] or metric.has_limit or metric.change)
    if rows := [*map(_metric_row, shown)]:
        heads = ("Metric", "Base", "Head", "Change", "From", "Limits", "Verdict")
        parts.append("\n".join(table(heads, rows, range(1, 4))))
    if check.presence == "new":
        parts.append("New: there is nothing to compare it with, and only floors apply.")
    sentences = [*chain.from_iterable(map(spread_sentences, check.metrics[:1]))]
    sentences += (eval_sentence(check, reason) for reason in check.reasons)
    sentences += chain.from_iterable(metric_sentences(metric, check) for metric in check.metrics)
    parts += (_without_mentions(prose(sentence)) for sentence in sentences)
    for who, exchange in (("model", check.model), ("judge", check.judge)):
        if exchange:
            names = (", ".join(code(model, 60) for model in side[:4]) for side in (exchange.before, exchange.after))
            parts.append(f"The {who} changed from {' to '.join(names)}: {_EXCHANGED[who]}.")
    return "\n\n".join(parts)


def _metric_row(metric: GateMetric) -> tuple[str, ...]:
    unit = metric.unit
    parts = split(metric.parts, metric.spec) if metric.parts and not metric.is_amount else {}
    side = "≥" if metric.higher_is_better else "≤"
    limits = [f"{side} {metric.floor:,g}"] if metric.floor is not None else []
    limits += [f"drop ≤ {allowed_drop(metric)}"] if metric.drop is not None else []
    verdict = f"**{metric.verdict}**" if metric.verdict == "fail" else metric.verdict
    if metric.verdict == "pass" and metric.reasons:
        verdict = "still below"
    if not limits:
        verdict = NIL
    return (
        _without_mentions(name(metric.label, 40)),
        number(metric.base, unit),
        number(metric.head, unit),
        change_text(metric),
        ", ".join(f"{cause} {signed(amount)}" for cause, amount in parts.items()),
        ", ".join(limits) or NIL,
        verdict,
    )


def _edit_sentences(evals: Sequence[GateEval]) -> list[str]:
    """Sentences on the edited instructions: each group of edits once, with all evals that it drives."""
    evals_by_edits = grouped(((check.instructions, check.or_edit), check) for check in evals if check.instructions)
    begin = "Instructions edited since the base"
    return [
        f"{begin}, of {first_names(driven, _MOST_NAMED, _id_of_eval)}: {first_names(edits, _MOST_NAMED, _edit_words)}."
        + (f" The newest output may have been made with {code(short_id(other))} instead." if other else "")
        for (edits, other), driven in evals_by_edits.items()
    ]


def _edit_words(edit: GateInstruction) -> str:
    commits = first_names(edit.commits, 3, lambda commit: code(short_id(commit)))
    return f"{code(edit.path, 80)} ({commits})" if commits else code(edit.path, 80)


def _broken_cells_table(check: GateEval) -> str:
    counts = f"{count_of_broken(check)} broken, {count(check.fixed)} fixed"
    broken = [cell for cell in check.cells if cell.fate == "broken"][:CELLS]
    if not broken:
        return f"{counts}." if check.fixed or check.broken else ""
    heads = ("Document", "Field", "Expected", "Base", "Head")
    first = 0 if any(cell.document for cell in broken) else 1  # without the column of documents
    lines = [f"<details><summary>{counts}</summary>", ""]
    lines += [*table(heads[first:], (_broken_cell_row(cell)[first:] for cell in broken)), ""]
    if (more := (check.broken or 0) - len(broken)) > 0:
        lines += [f"{count(more)} more broken ones are in the JSON.", ""]
    return "\n".join([*lines, "</details>"])


def _broken_cell_row(cell: GateCell) -> tuple[str, ...]:
    gap = "missing" if cell.expected else "blank"
    shown = (
        (cell.document, NIL),
        (cell.expected, NIL if cell.is_score else "blank"),
        (cell.base, gap),
        (cell.head, gap),
    )
    document, *values = (code(value, 60) if value else none for value, none in shown)
    return (document, code(cell.named_path or cell.path, 80), *values)


def _caveats(evals: Iterable[GateEval]) -> Iterator[str]:
    """Yield a list of the caveats, each once, with the evals that it is about."""
    by_sentence = grouped((sentence, check) for check in evals for sentence in caveats(check))
    every = (
        f"- {first_names(several, _MOST_NAMED, _id_of_eval)}: {_without_mentions(prose(sentence))}."
        for sentence, several in by_sentence.items()
    )
    lines = [*_fitting(every, _LIST)]
    if (more := len(by_sentence) - len(lines)) > 0:
        lines.append(f"- {count(more)} more of these are in the JSON.")
    if lines:
        yield "\n".join(lines)


def _id_of_eval(check: GateEval) -> str:
    return " ".join(code(part, 60) for part in (check.eval_id, check.slice) if part)


def _without_mentions(text: str) -> str:
    """Escaped text with a word joiner after every sign that GitHub would turn into a mention or a link."""
    return _CALLING.sub("\\g<0>\u2060", text)


def _number_of(checks: Iterable[GateEval]) -> str:
    """Return how many evals and slices these are: ``2 evals``, ``1 eval and 4 slices``."""
    numbers = Counter("slice" if check.slice else "eval" for check in checks)
    return " and ".join(counted(numbers[noun], noun) for noun in sorted(numbers)) or counted(0, "eval")
