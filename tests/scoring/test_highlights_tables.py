"""Runs the tables of ``highlights.md``."""

import re
from pathlib import Path

import pytest

from tests.scored import scored
from tests.scoring.test_tables import NOTHING, tables

CHECKS = ("counts", "accuracy, precision, F1", "status")


def rows() -> list[tuple[str, dict[str, str]]]:
    text = (Path(__file__).parent / "highlights.md").read_text("utf-8")
    sections = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    return [(section.split("\n", 1)[0], row) for section in sections for table in tables(section) for row in table]


@pytest.mark.parametrize("row", [pytest.param(row, id=f"{title}: {row['case']}") for title, row in rows()])
def test_the_result_is_what_the_table_says(row: dict[str, str]) -> None:
    if "log" in row:
        output = {"processing-log.ndjson": row["log"].replace("¶", "\n")}
    else:
        output = {"raw-llm-run.json": row["given"]}
    settings = row.get("settings") or "{}"
    result = scored("highlights", output, {"gold-standard.json": row["gold"]}, settings)
    card = result.scorecard
    values = (NOTHING if value is None else f"{value:.3f}" for _, value in card.metrics)
    said = {
        "counts": f"{card.counts.tp} {card.counts.omission} {card.counts.hallucination}",
        "accuracy, precision, F1": " ".join(values),
        "status": card.status,
    }
    assert {name: said[name] for name in CHECKS if name in row} == {name: row[name] for name in CHECKS if name in row}
