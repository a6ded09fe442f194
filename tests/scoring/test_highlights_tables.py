"""Runs the tables of ``highlights.md``."""

import pytest

from tests.scored import scored
from tests.scoring.test_tables import NOTHING, titled_rows

CHECKS = ("counts", "accuracy, precision, F1", "status")


@pytest.mark.parametrize("row", titled_rows("highlights.md"))
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
