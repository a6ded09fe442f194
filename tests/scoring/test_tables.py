"""Runs the tables of the Markdown files beside it: each row is a case, each file can be read as documentation.

A row's ``expected`` and ``given`` are JSON. Where the table has a column ``outcome`` they are the values of one
attribute, ``field``, and ``field rule`` holds what the mapping says of it; in every other table they are whole
documents. ``expected (CSV)`` is the text of a cell instead. An em dash means that there is nothing. ``settings`` lays
over everything. The other columns are checked: ``outcome``, ``counts``, ``judgements``, ``alignment``, ``shown`` (the
paths as pages show them), ``status``.

A section that has fenced blocks is one case: the blocks are the files, and its table lists every judgement.

A file that is called as another eval kind is run by a module of its own.
"""

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from sitegen.config.models import KIND_FILES
from sitegen.model.scorecards import Result
from sitegen.scoring.fields import rules_of
from sitegen.scoring.kinds import File, ScoringInputs, scorer
from sitegen.stats import counts as stats

NOTHING = "—"
FENCE = re.compile(r"^```(\w+) (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Case(NamedTuple):
    name: str
    inputs: ScoringInputs
    checks: dict[str, Any]


def tables(text: str) -> list[list[dict[str, str]]]:
    """Every table as rows by column; ``\\|`` is a bar, and backquotes are only there for the reader."""
    found: list[list[dict[str, str]]] = []
    for block in re.findall(r"(?:^\|.*\n?)+", text, re.MULTILINE):
        lines = [
            [cell.replace("\\|", "|").strip() for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1]]
            for line in block.strip().split("\n")
        ]
        header, rule, *rows = lines
        assert all(re.fullmatch(r":?-+:?", cell) for cell in rule), header
        assert all(len(row) == len(header) for row in rows), rows
        found.append([{name: uncoded(cell) for name, cell in zip(header, row, strict=True)} for row in rows])
    return found


def titled_rows(name: str) -> list[Any]:
    """The rows of the document of this name beside this module, each called as its section and its case."""
    text = Path(__file__).with_name(name).read_text("utf-8")
    sections = [section.partition("\n") for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]]
    return [
        pytest.param(row, id=f"{title}: {row.get('case', row.get('expected'))}")
        for title, _, section in sections
        for table in tables(section)
        for row in table
    ]


def uncoded(cell: str) -> str:
    return cell[1:-1] if len(cell) > 1 and cell[0] == cell[-1] == "`" and "`" not in cell[1:-1] else cell


def cases(path: Path) -> list[Case]:
    found = []
    for section in re.split(r"^(?=## )", path.read_text("utf-8"), flags=re.MULTILINE):
        title = section.split("\n", 1)[0].removeprefix("## ")
        blocks = {name: body for _, name, body in FENCE.findall(section)}
        if blocks:
            found.append(section_case(title, blocks, tables(FENCE.sub("", section))))
        else:
            found += [row_case(title, row) for table in tables(section) for row in table]
    return found


def section_case(title: str, blocks: dict[str, str], found: list[list[dict[str, str]]]) -> Case:
    def files(prefix: str) -> list[File]:
        return [File(name, body.encode()) for name, body in blocks.items() if name.startswith(prefix)]

    def first(prefix: str) -> File | None:
        return next(iter(files(prefix)), None)

    outputs = tuple(
        File(name, body.encode()) for name, body in blocks.items() if name.startswith(("extracted", "out/"))
    )
    settings = blocks.get("settings.json", "{}")
    inputs = ScoringInputs(
        outputs=outputs,
        ground_truth=first("ground_truth"),
        mapping=first("mapping"),
        schema=first("schema"),
        settings=settings,
    )
    checks: dict[str, Any] = {}
    for table in found:
        if "path" in table[0]:
            checks["section"] = table
        else:
            checks |= table[0]
    return Case(title, inputs, checks)


def row_case(title: str, row: dict[str, str]) -> Case:
    settings = json.loads(row.get("settings") or "{}")
    if row.get("field rule"):
        settings.setdefault("fields", {})["field"] = json.loads(row["field rule"])
    one = "outcome" in row
    if "expected (CSV)" in row:
        cell = row["expected (CSV)"].replace('"', '""')
        truth = File("ground_truth.csv", f'field,other\n"{cell}",x\n'.encode())
        settings.setdefault("ignore", ["other"])
    else:
        truth = File("ground_truth.json", document(row["expected"], one))
    given = File("extracted.json", row["output"].encode() if "output" in row else document(row["given"], one))
    checks: dict[str, Any] = {
        name: row[name] for name in ("outcome", "counts", "judgements", "alignment", "shown", "status") if name in row
    }
    assert checks, row
    return Case(
        f"{title}: {row['case']}",
        ScoringInputs(outputs=(given,), ground_truth=truth, settings=json.dumps(settings)),
        checks,
    )


def document(cell: str, one: bool) -> bytes:
    if not one:
        return cell.encode()
    return b"{}" if cell == NOTHING else f'{{"field": {cell}}}'.encode()


def counts_of(result: Result) -> dict[str, str]:
    card = result.scorecard
    numbers: dict[str, float | None] = {
        "TP": card.counts.tp,
        "FP": card.counts.fp,
        "FN": card.counts.fn,
        "TN": card.counts.tn,
        "omission": card.counts.omission,
        "hallucination": card.counts.hallucination,
        "wrong_value": card.counts.wrong_value,
        "format_error": card.counts.format_error,
        "P": stats.BY_NAME["precision"].of(card.counts),
        "R": stats.BY_NAME["recall"].of(card.counts),
        "F1": stats.f1(card.counts),
        "accuracy": stats.FIELD_ACCURACY.of(card.counts),
        "macro": card.metric("macro_f1"),
        "pooled": card.metric("f1"),
        "attributes": card.metric("macro_f1_attributes"),
    }
    return {
        name: NOTHING if value is None else f"{value:.3f}" if isinstance(value, float) else str(value)
        for name, value in numbers.items()
    }


def checked(result: Result, checks: dict[str, Any]) -> dict[str, Any]:
    """What the result says in the words of the checks."""
    said: dict[str, Any] = {"status": result.scorecard.status}
    said["outcome"] = ", ".join(each.outcome for each in result.judgements) or NOTHING
    counts = counts_of(result)
    wanted = re.findall(r"(\S+) \S+?(?:,|$)", checks.get("counts", ""))
    said["counts"] = ", ".join(f"{name} {counts[name]}" for name in wanted)
    said["judgements"] = (
        "; ".join(
            f"{each.path} {each.outcome}" + (f" ({each.note})" if each.note else "") for each in result.judgements
        )
        or NOTHING
    )
    said["shown"] = "; ".join(f"{each.label} {each.outcome}" for each in result.judgements) or NOTHING
    said["alignment"] = (
        "; ".join(
            f"{each.path} {each.algorithm}: "
            + ", ".join(
                f"{NOTHING if i is None else i}-{NOTHING if j is None else j}"
                + ("" if alike is None else f" {alike:.3f}")
                + (" by agreement" if by == "agreement" else "")
                for i, j, alike, by, _ in each.rows
            )
            for each in result.alignments
        )
        or NOTHING
    )
    said["finding"] = "; ".join(f"{each.severity}: {each.text}" for each in result.scorecard.findings) or NOTHING
    said["section"] = [
        {
            "document": each.document,
            "path": each.path,
            "outcome": each.outcome,
            "expected": shown(each.expected),
            "given": shown(each.actual),
            "note": each.note,
        }
        for each in result.judgements
    ]
    for row, each in zip(checks.get("section", []), said["section"], strict=False):
        for name in set(each) - set(row):
            del each[name]
    return {name: said[name] for name in checks}


def shown(value: object) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        return f"[{', '.join(map(shown, value))}]"
    return NOTHING if value is None else json.dumps(value, default=str).strip('"')


ALL = [
    pytest.param(case, id=f"{path.stem}: {case.name}")
    for path in sorted(Path(__file__).parent.glob("*.md"))
    if path.stem not in {files.kind for files in KIND_FILES}
    for case in cases(path)
]


@pytest.mark.parametrize("case", ALL)
def test_the_result_is_what_the_table_says(case: Case) -> None:
    result = scorer("fields").score(case.inputs)
    wrong_rules = [one.message for one in rules_of(case.inputs).findings if one.about in ("mapping", "settings")]
    assert wrong_rules == []  # the row would hold what the defaults do
    assert checked(result, case.checks) == case.checks
