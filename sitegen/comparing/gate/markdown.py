"""The gate's report for a job summary and for a comment: quiet when nothing moved, and never too long for either."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from typing import Final

from sitegen.comparing.gate.document import expected_of
from sitegen.comparing.gate.wording import is_amount, of_error, of_whole, points_of, sentences
from sitegen.comparing.words import NIL, code, count, name, number, points, prose, table
from sitegen.errors import SitegenError
from sitegen.model.cells import CellFlip
from sitegen.model.commits import WORKTREE
from sitegen.model.gate import EvalCheck, GatedChange, GateReport, InstructionChange, MetricCheck
from sitegen.pages.changes import split

LONGEST: Final = 65_000
"""Characters; GitHub takes 65,536 in a comment."""

CELLS: Final = 20
"""Broken cells that are listed of an eval."""

NAMED: Final = 20
"""Evals, files or commits that are named in a sentence."""

_END: Final = 20_000
"""Characters, at most, of what is said of all evals together."""

_CALLING: Final = re.compile(r"[@#]|\bGH-(?=\d)|:(?=//)|\bwww\\?\.", re.IGNORECASE)
"""What begins a mention, a reference to an issue or an address, in text whose markup is escaped."""

_CLOSING: Final = 200
"""Characters of the sentence that says that there is more."""


def markdown(report: GateReport) -> str:
    """The whole, ending with a line feed; at most ``LONGEST`` characters."""
    shown = [one for one in report.evals if _moved(one)]
    still = [one for one in report.evals if not _moved(one)]
    if report.passed and not shown:
        return _joined([f"{_head(report)} Nothing moved in {_evals(len(still))}.", *_not_made_again(report.evals)])
    begin = [_head(report), *filter(None, [prose(of_whole(report))])]
    unmoved = [f"Nothing moved in {_list([code(one.info.id, 60) for one in still])}."] if still else []
    end = [*unmoved, *_not_made_again(report.evals), *_edited(report.evals)]
    kept = list(takewhile(_Room(_END).take, end))
    sections, left_out = _sections(shown, LONGEST - len(_joined([*begin, *kept])) - _CLOSING)
    if left_out:
        kept.append(f"{_evals(left_out).capitalize()} more moved: this is as much as fits, the JSON has all.")
    elif len(kept) < len(end):
        kept.append("More instructions were edited than fit here: the JSON has all.")
    return _joined([*begin, *sections, *kept])


def markdown_of_error(error: SitegenError) -> str:
    """What stands in the place of a report if there can be none."""
    return _joined(["**Evals: fail.**", _calm(prose(of_error(error)))])


def _head(report: GateReport) -> str:
    head = report.head if report.head == WORKTREE else report.head[:7]
    outcome = "pass" if report.passed else "fail"
    number_ = Counter(one.verdict for one in report.evals)  # the worst first, as the report has them
    tally = f": {', '.join(f'{count(number_[verdict])} {verdict}' for verdict in number_)}" if len(number_) > 1 else ""
    return (
        f"**Evals: {outcome}.** {code(head)} against {code(report.base[:7])}, {count(report.matched)} compared{tally}."
    )


def _moved(one: EvalCheck) -> bool:
    if one.presence != "both" or one.verdict != "pass" or one.compared is None:
        return True
    uncommon = one.compared.overlap.verdict != "comparable"
    return uncommon or bool(one.compared.flipped) or any(metric.change for metric in one.metrics)


class _Room:
    """Characters that are left."""

    def __init__(self, characters: int) -> None:
        self._left = characters

    def take(self, block: str) -> bool:
        """Use what a block needs, with the lines around it; False if there is not that much."""
        fits = len(block) + 2 <= self._left
        self._left -= (len(block) + 2) * fits
        return fits


def _sections(evals: Sequence[EvalCheck], characters: int) -> tuple[list[str], int]:
    """Those that fit, the worst eval first, and how many do not. Cells go in where all sections leave room."""
    room = _Room(characters)
    fitting = list(takewhile(room.take, map(_section, evals)))
    blocks = []
    for one, section in zip(evals, fitting, strict=False):
        cells = _cells(one.compared) if one.compared else ""
        blocks += [section, cells] if cells and room.take(cells) else [section]
    return blocks, len(evals) - len(fitting)


def _section(one: EvalCheck) -> str:
    """An eval: what became of its metrics, why it does not pass, and what was edited."""
    title = "" if one.info.name == one.info.id else f" {name(one.info.name, 60)}"
    title += " (recorded)" if one.info.recorded else ""
    parts = [f"### {code(one.info.id, 60)}{_calm(title)}: {one.verdict}"]
    rows = [_row(metric) for metric in one.metrics if _is_shown(metric, one)]
    if rows:
        heads = ("Metric", "Base", "Head", "Points", "From", "Limits", "Verdict")
        parts.append("\n".join(table(heads, rows, range(1, 4))))
    if one.presence == "new":
        parts.append("New: there is nothing to compare it with, and only floors are held.")
    parts += (_calm(prose(sentence)) for sentence in sentences(one))
    if one.compared:
        parts += _circumstances(one.compared)
    return "\n\n".join(parts)


def _is_shown(metric: MetricCheck, one: EvalCheck) -> bool:
    return metric is one.metrics[0] or metric.limits != (None, None) or bool(metric.change)


def _row(one: MetricCheck) -> tuple[str, ...]:
    change, unit = points_of(one), one.spec.unit
    parts = split(one.parts, one.spec) if one.parts and not is_amount(one.spec) else ()
    side = "≥" if one.spec.higher_is_better else "≤"
    limits = [f"{side} {one.limits.floor:g}"] if one.limits.floor is not None else []
    limits += [f"drop ≤ {one.limits.drop:g}"] if one.limits.drop is not None else []
    return (
        _calm(name(one.spec.label, 40)),
        number(one.before, unit=unit),
        number(one.after, unit=unit),
        points(change) + " %" * (change is not None and is_amount(one.spec)),
        ", ".join(f"{part.name} {points(part.points)}" for part in parts),
        ", ".join(limits) or NIL,
        _verdict(one),
    )


def _verdict(one: MetricCheck) -> str:
    if one.limits == (None, None):
        return NIL
    return f"**{one.verdict}**" if one.verdict == "fail" else one.verdict


_EXCHANGED: Final = {
    "model": "what of the change is its doing, and what that of instructions, nothing here tells",
    "judge": "its grades are not held against those of the base",
}


def _circumstances(one: GatedChange) -> Iterator[str]:
    for who, found in (("model", one.model), ("judge", one.judge)):
        if found:
            before, after = (", ".join(code(each, 60) for each in names[:4]) for names in found[:2])
            yield f"The {who} changed from {before} to {after}: {_EXCHANGED[who]}."
    overlap = one.overlap
    if overlap.verdict == "bridged":
        sides = (("the base", len(overlap.only_before)), ("the head", len(overlap.only_after)))
        alone = "; ".join(f"{count(number_)} only at {side}" for side, number_ in sides if number_)
        yield f"{count(overlap.common)} {one.units[overlap.common != 1]} in common; not matched: {alone}."


def _edited(evals: Sequence[EvalCheck]) -> list[str]:
    """The instructions that were edited, once for all evals that they drive."""
    driven: dict[tuple[InstructionChange, ...], list[str]] = {}
    for one in evals:
        if one.compared and one.compared.edits:
            driven.setdefault(one.compared.edits, []).append(code(one.info.id, 60))
    begin = "Instructions edited since the base, which goes together in time and need not be the cause"
    return [f"{begin}, of {_list(names)}: {_list([_edit(one) for one in edits])}." for edits, names in driven.items()]


def _edit(one: InstructionChange) -> str:
    commits = _list([code(commit.short) for commit in one.commits], 3)
    return f"{code(one.path, 80)} ({commits})" if commits else code(one.path, 80)


def _cells(one: GatedChange) -> str:
    """What broke, folded up; what was fixed is counted."""
    counts = f"{count(one.broken)} broken, {count(one.fixed)} fixed"
    broken = [flip for flip in one.flipped if flip.fate == "broken"][:CELLS]
    if not broken:
        return f"{counts}." if one.fixed else ""
    heads = ("Document", "Field", "Expected", "Base", "Head")
    named = 0 if any(flip.cell.document for flip in broken) else 1
    lines = [f"<details><summary>{counts}</summary>", ""]
    lines += [*table(heads[named:], (_cell(flip)[named:] for flip in broken)), ""]
    if one.broken > len(broken):
        lines += [f"{count(one.broken - len(broken))} more broken ones are in the JSON.", ""]
    return "\n".join([*lines, "</details>"])


def _cell(flip: CellFlip) -> tuple[str, ...]:
    before, after = flip.before, flip.after
    given = (run.actual if run else "" for run in (before, after))
    values = (code(value, 60) if value else NIL for value in (expected_of(flip), *given))
    return (code(flip.cell.document, 60) if flip.cell.document else NIL, code(flip.cell.label, 80), *values)


def _not_made_again(evals: Iterable[EvalCheck]) -> list[str]:
    names = [code(one.info.id, 60) for one in evals if one.compared and one.compared.stale]
    if not names:
        return []
    return [f"Not measured: instructions were edited, and no new output was made with them of {_list(names)}."]


def _list(names: Sequence[str], most: int = NAMED) -> str:
    more = f" and {count(len(names) - most)} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _evals(number_: int) -> str:
    return "1 eval" if number_ == 1 else f"{count(number_)} evals"


def _calm(text: str) -> str:
    """Escaped text that calls nobody and links nothing on GitHub: a word joiner after each sign that would."""
    return _CALLING.sub("\\g<0>\u2060", text)


def _joined(blocks: Iterable[str]) -> str:
    return "\n\n".join(blocks) + "\n"
