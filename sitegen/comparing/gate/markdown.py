"""The gate's report for a job summary and for a comment: quiet when nothing moved, and never too long for either."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from sitegen.comparing.gate.document import expected_of
from sitegen.comparing.gate.wording import of_whole, sentences
from sitegen.comparing.words import NIL, code, count, name, number, points, prose, table
from sitegen.model.commits import WORKTREE
from sitegen.model.flips import CellFlip
from sitegen.model.gate import Compared, EvalCheck, GateReport, MetricCheck
from sitegen.pages.changes import in_points, split

LONGEST: Final = 65_000
"""Characters; GitHub takes 65,536 in a comment."""

CELLS: Final = 20
"""Broken cells that are listed of an eval."""

NAMED: Final = 20
"""Evals, files or commits that are named in a sentence."""

_RESERVE: Final = 4_000
"""Characters for the beginning and the end."""


def markdown(report: GateReport) -> str:
    """The whole, ending with a line feed; at most ``LONGEST`` characters."""
    shown = [one for one in report.evals if _moved(one)]
    still = [one for one in report.evals if not _moved(one)]
    if report.passed and not shown:
        return _joined([f"{_head(report)} Nothing moved in {_evals(len(still))}.", *_not_made_again(report.evals)])
    begin = [_head(report), *filter(None, [prose(of_whole(report))])]
    end = [f"Nothing moved in {_list([code(one.info.id, 60) for one in still])}."] if still else []
    end += _not_made_again(report.evals)
    blocks, left_out = _fitting(shown)
    if left_out:
        end.append(f"{_evals(left_out).capitalize()} more moved: this is as much as fits, the JSON has all.")
    return _joined([*begin, *blocks, *end])


def _head(report: GateReport) -> str:
    head = report.head if report.head == WORKTREE else report.head[:7]
    outcome = "pass" if report.passed else "fail"
    return f"**Evals: {outcome}.** {code(head)} against {code(report.base[:7])}, {count(report.matched)} compared."


def _moved(one: EvalCheck) -> bool:
    if one.presence != "both" or one.verdict != "pass" or one.compared is None:
        return True
    uncommon = one.compared.overlap.verdict != "comparable"
    return uncommon or bool(one.compared.flipped) or any(metric.change for metric in one.metrics)


def _fitting(evals: Sequence[EvalCheck]) -> tuple[list[str], int]:
    """The sections, the worst eval first, and how many did not fit. Cells go in where all sections leave room."""
    left = LONGEST - 2 * _RESERVE
    sections: list[list[str]] = []
    for one in evals:
        text = _section(one)
        if len(text) > left:
            break
        left -= len(text) + 2
        sections.append([text])
    for one, section in zip(evals, sections, strict=False):
        cells = _cells(one.compared) if one.compared else ""
        if cells and len(cells) <= left:
            left -= len(cells) + 2
            section.append(cells)
    return [block for section in sections for block in section], len(evals) - len(sections)


def _section(one: EvalCheck) -> str:
    """An eval: what became of its metrics, why it does not pass, and what was edited."""
    title = "" if one.info.name == one.info.id else f" {name(one.info.name, 60)}"
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
    change = None if one.change is None else in_points(one.change, one.spec)
    parts = split(one.parts, one.spec) if one.parts else ()
    side = "≥" if one.spec.higher_is_better else "≤"
    limits = [f"{side} {one.limits.floor:g}"] if one.limits.floor is not None else []
    limits += [f"drop ≤ {one.limits.drop:g}"] if one.limits.drop is not None else []
    return (
        _calm(name(one.spec.label, 40)),
        number(one.before),
        number(one.after),
        points(change),
        ", ".join(f"{part.name} {points(part.points)}" for part in parts),
        ", ".join(limits) or NIL,
        f"**{one.verdict}**" if one.verdict == "fail" else one.verdict,
    )


def _circumstances(one: Compared) -> Iterator[str]:
    overlap = one.overlap
    if overlap.verdict == "bridged":
        sides = (("the base", len(overlap.only_before)), ("the head", len(overlap.only_after)))
        alone = "; ".join(f"{count(number_)} only at {side}" for side, number_ in sides if number_)
        yield f"{count(overlap.common)} {one.units[overlap.common != 1]} in common; not matched: {alone}."
    if one.edits:
        files = [_edit(edit.path, [commit.short for commit in edit.commits]) for edit in one.edits]
        yield f"Instructions edited since the base (together in time, which need not be the cause): {_list(files)}."


def _edit(path: str, commits: Sequence[str]) -> str:
    return f"{code(path, 80)} ({_list([code(commit) for commit in commits], 5)})" if commits else code(path, 80)


def _cells(one: Compared) -> str:
    """What broke, folded up; what was fixed is counted."""
    counts = f"{count(one.broken)} broken, {count(one.fixed)} fixed"
    broken = [flip for flip in one.flipped if flip.fate == "broken"][:CELLS]
    if not broken:
        return f"{counts}." if one.fixed else ""
    lines = [f"<details><summary>{counts}</summary>", ""]
    lines += [*table(("Document", "Field", "Expected", "Base", "Head"), map(_cell, broken)), ""]
    if one.broken > len(broken):
        lines += [f"{count(one.broken - len(broken))} more broken ones are in the JSON.", ""]
    return "\n".join([*lines, "</details>"])


def _cell(flip: CellFlip) -> tuple[str, ...]:
    before, after = flip.before, flip.after
    given = (run.actual if run else "" for run in (before, after))
    values = (code(value, 60) if value else NIL for value in (expected_of(flip), *given))
    return (code(flip.cell.document, 60) if flip.cell.document else NIL, code(flip.cell.path, 80), *values)


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
    """Escaped text in which nobody is called: a word joiner after the sign."""
    return text.replace("@", "@\u2060")


def _joined(blocks: Iterable[str]) -> str:
    return "\n\n".join(blocks) + "\n"
