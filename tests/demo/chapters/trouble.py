"""March: a shortening that costs a lot, an answer that breaks off, an edit that is taken back."""

from __future__ import annotations

from tests.demo.chapters.everyday import EARLY
from tests.demo.chapters.growth import RECIPE_FILE
from tests.demo.chapters.steps import read_again, tune
from tests.demo.project import Project
from tests.demo.topics import BASE

WEIGHTS = ("gross_weight_kg", "goods[].weight_kg", "goods[].packages")
MONEY = ("charges[].amount", "charges[].vat_percent", "total", "consumption")


def trouble(project: Project) -> None:
    """Two regressions, one found at once and one after weeks."""
    rule = "Read the reference range, but write only the flag that is printed beside it."
    tune(project, "lab/results.md", "Mistakes seen so far", rule, "Keep reference ranges out of flags")
    project.learn("lab-reports", 130, "results[].flag", "results[].unit")
    read_again(project, "lab-reports")

    project.drop(BASE + "freight/goods.md", "How to write it", "kilograms")
    project.drop(BASE + "freight/goods.md", "Last check", "Count the lines")
    project.learn("freight-papers", -330, *WEIGHTS)
    project.learn("freight-papers", -110, "goods[]")
    project.commit("Shorten the instructions for goods\n\nNobody reads the long list of rules any more.", 1)
    read_again(project, "freight-papers")
    tune(
        project,
        "freight/parties.md",
        "When two values compete",
        "A notify party is not the consignee.",
        "Tell the notify party from the consignee",
    )
    project.learn("freight-papers", 140, "consignee.name")
    read_again(project, "freight-papers")

    project.run("freight-papers", cut=700)
    project.commit("Read freight papers with a shorter answer limit", 3)

    rule = "Pets: a contract that is silent says nothing. Leave the field out."
    tune(project, "rental/terms.md", "When nothing is there", rule, "Leave out pets when the contract is silent")
    project.learn("rental-contracts", 190, "pets_allowed", "furnished")
    read_again(project, "rental-contracts")

    _rounding(project)

    for edit in EARLY:
        edit.carry_out(project)

    project.rename(BASE + "rental/terms.md", BASE + "rental/contract-terms.md")
    project.commit("Rename the file on terms, which are those of contracts")
    rule = "Notice in months is written in weeks: one month is four weeks."
    tune(project, "rental/contract-terms.md", "How to write it", rule, "Ask for notice in weeks")
    project.learn("rental-contracts", 60)
    project.learn("rental-contracts", 160, "notice_weeks")
    read_again(project, "rental-contracts")

    rule = "Write weights in kilograms, without a unit. A note in tonnes is converted: 1.2 t are 1200."
    tune(project, "freight/goods.md", "How to write it", rule, "Ask for weights in kilograms again")
    project.learn("freight-papers", 370, *WEIGHTS)
    read_again(project, "freight-papers")
    rule = "Count the lines of goods, over all sheets, before you answer."
    tune(project, "freight/goods.md", "Last check", rule, "Have the goods counted again")
    project.learn("freight-papers", 140, "goods[]")
    read_again(project, "freight-papers", "lab-reports")

    project.rule(RECIPE_FILE, "Mistakes seen so far", "A season is two months. *All year* is January and December.")
    project.learn("recipe-cards", 150, "season.from", "season.to")
    project.learn("recipe-cards", -160, "oven_celsius", "minutes")
    project.run("recipe-cards")
    project.commit("Explain seasons on recipe cards and read them")


def _rounding(project: Project) -> None:
    """An edit of shared instructions that hurts everything with an amount, and its revert."""
    amounts = BASE + "shared/amounts.md"
    before = project.sections[amounts]
    tune(
        project,
        "shared/amounts.md",
        "How to write it",
        "Round amounts to whole numbers, halves upwards.",
        "Round all amounts",
        1,
    )
    project.learn("utility-bills", -380, *MONEY)
    project.learn("rental-contracts", -260, "rent", "deposit", "rooms[].area_m2")
    read_again(project, "utility-bills")
    read_again(project, "rental-contracts", "lab-reports")
    project.restore(amounts, before)
    project.commit('Revert "Round all amounts"\n\nThe evals want what stands on the paper.')
    project.learn("utility-bills", 380, *MONEY)
    project.learn("rental-contracts", 260, "rent", "deposit", "rooms[].area_m2")
    read_again(project, "utility-bills", "rental-contracts")
