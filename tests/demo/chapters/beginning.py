"""January: two evals, rough instructions, the first readings."""

from __future__ import annotations

from tests.demo.chapters.steps import read_again, tune
from tests.demo.project import Project
from tests.demo.specs import BILLS, FREIGHT, LAB
from tests.demo.topics import BASE

README = b"""# Paper reader

Instructions that make a language model read papers of all kinds, and evals that say how well it does.
This repository is a demo: every name, number and document in it is invented.
"""


def beginning(project: Project) -> None:
    """From an empty repository to three evals that run."""
    project.files["README.md"] = README
    project.commit("Say what this project is for")
    project.instruct(BASE + "shared/dates.md", BASE + "shared/blank-values.md", BASE + "lab/header.md")
    project.commit("Write first instructions for lab reports")
    project.add_eval(LAB)
    project.mistype("lab-reports", "report-b", "reported_on", "2026-01-01")
    project.commit("Annotate four lab reports", 2)
    read_again(project, "lab-reports", subject="Read lab reports for the first time")

    project.instruct(BASE + "lab/results.md")
    project.learn("lab-reports", 110, "results[].value", "results[].unit", "results[].flag", "results[]")
    project.commit("Describe the table of results")
    read_again(project, "lab-reports")

    project.instruct(BASE + "freight/parties.md", BASE + "freight/goods.md")
    project.add_eval(FREIGHT, "freight-docs")
    project.run("freight-docs")
    project.commit("Add freight docs: a consignment note with its list of goods", 1)

    tune(project, "shared/dates.md", "How to write it", "Write every date as `YYYY-MM-DD`.", "Ask for ISO dates")
    project.learn("lab-reports", 140, "sampled_on", "reported_on")
    project.learn("freight-papers", 120, "loaded_on", "delivered_on")
    read_again(project, "lab-reports", "freight-docs")

    project.correct("lab-reports", "report-b", "reported_on")
    project.commit(
        "Correct the date of lab report b in the ground truth\n\nIt had been left at the first of January.", 2
    )

    rule = "A weight is written in kilograms. Tonnes are multiplied by 1,000 before they are written down."
    tune(project, "freight/goods.md", "How to write it", rule, "Ask for weights in kilograms")
    project.learn("freight-papers", 130, "gross_weight_kg", "goods[].weight_kg")
    read_again(project, "freight-docs")

    project.instruct(".claude/agents/document-reader.md")
    project.learn("freight-papers", 40)
    project.commit("Define the agent that reads documents", 1)
    read_again(project, "freight-docs")

    project.instruct(BASE + "bills/meter.md", BASE + "bills/charges.md", BASE + "shared/amounts.md")
    project.add_eval(BILLS)
    project.mistype("utility-bills", "bill-04", "total", 100.0)
    project.run("utility-bills")
    project.commit("Add five utility bills", 1)

    rule = "The billing period has two dates. The first is `period.from`, even if the bill prints it second."
    tune(project, "bills/meter.md", "What stands where", rule, "Tell the two dates of a billing period apart")
    project.learn("utility-bills", 260, "period.from", "period.to")
    read_again(project, "utility-bills")

    rule = "A credit is an amount below zero. Its minus sign may stand behind the number."
    tune(project, "bills/charges.md", "How to write it", rule, "Explain credits on bills")
    project.learn("utility-bills", 100, "charges[].amount", "total")
    read_again(project, "utility-bills", "lab-reports")
