"""The rest of May: three evals are read on a schedule; one loss is mended after a week, one is there at the end."""

from __future__ import annotations

from typing import Final

from tests.demo.chapters.steps import tune
from tests.demo.project import Project
from tests.demo.topics import BASE

SCHEDULED: Final = ("freight-papers", "lab-reports", "rental-contracts")
LUCK: Final = 14
"""Thousandths of skill by which one reading is better or worse than another, at most."""
UNITS: Final = ("results[].unit", "results[].value", "results[].flag")
GOODS: Final = ("goods[].weight_kg", "goods[].packages", "gross_weight_kg", "seal_number")


def routine(project: Project) -> None:
    """The newest three weeks: what an edit does shows in the next reading, if anybody looks."""
    project.files["README.md"] += b"Freight papers, lab reports and rental contracts are read again on a schedule.\n"
    project.commit("Read three evals on a schedule", 1)
    _read(project, 6)

    short = "A unit that stands above its column is not repeated beside every result."
    tune(project, "lab/results.md", "How to write it", short, "Keep answers of lab reports short", 1)
    project.learn("lab-reports", -420, *UNITS)
    _read(project, 4)

    project.rule(".claude/agents/document-reader.md", "Before you begin", "Read every page once, from top to bottom.")
    project.learn("freight-papers", -280, *GOODS)
    project.commit("Let the agent read each page once\n\nThe second look took half of the time.", 1)
    _read(project, 4)

    project.drop(BASE + "lab/results.md", "How to write it", "not repeated")
    project.learn("lab-reports", 420, *UNITS)
    project.commit("Repeat the units of lab results\n\nWithout them nobody can use the values.")
    _read(project, 6)

    summary = "A value that stands in the summary on page one is not looked for again in the clauses."
    tune(project, "rental/contract-terms.md", "Before you begin", summary, "Trust the summary of a contract")
    project.learn("rental-contracts", -145)
    _read(project, 1)


def _read(project: Project, times: int) -> None:
    for _ in range(times):
        for eval_id in SCHEDULED:
            project.run(eval_id, luck=project.dice.between(-LUCK, LUCK))
        project.commit("Scheduled reading", 3)
