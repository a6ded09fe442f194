"""February: contracts, recipes and adverts; most edits help."""

from __future__ import annotations

from tests.demo.chapters.steps import read_again, tune
from tests.demo.project import Project
from tests.demo.specs import JOBS, RECIPES, RENTAL
from tests.demo.topics import BASE

RECIPE_FILE = BASE + "recipes/zutaten-und-größen.md"


def growth(project: Project) -> None:
    """Three more evals, a change of the mapping, a side branch that is merged."""
    project.instruct(BASE + "rental/terms.md", BASE + "rental/rooms.md")
    project.add_eval(RENTAL)
    project.commit("Annotate a rental contract", 2)
    read_again(project, "rental-contracts")

    rule = "A term in years is written in months: two years are 24."
    tune(project, "rental/terms.md", "How to write it", rule, "Ask for terms in months")
    project.learn("rental-contracts", 240, "term_months", "notice_weeks")
    read_again(project, "rental-contracts")

    project.instruct(RECIPE_FILE)
    project.add_eval(RECIPES)
    project.run("recipe-cards")
    project.commit("Rezeptkarten: Zutaten und Größen\n\nFirst card of the canteen's box, with crème fraîche.", 1)

    tune(
        project,
        "recipes/zutaten-und-größen.md",
        "What stands where",
        "Ein halbes Pfund sind 250 g. The unit is `g`, whatever the card says.",
        "Erkläre alte Maße auf Rezeptkarten",
    )
    project.learn("recipe-cards", 190, "ingredients[].quantity", "ingredients[].unit")
    read_again(project, "recipe-cards")

    rule = "What is included in the rent is a list: one word for each thing, in the order of the contract."
    tune(project, "rental/terms.md", "What stands where", rule, "Ask for inclusions as a list")
    project.learn("rental-contracts", 220, "included")
    read_again(project, "rental-contracts")

    project.map_rule("lab-reports", "tolerances", {"default": {"percent": 1.0, "absolute": 0.05}})
    project.commit("Accept one per cent in lab values\n\nThe reports round, the laboratory's list does not.", 2)

    _merge_allergens(project)

    project.instruct(BASE + "jobs/adverts.md")
    project.add_eval(JOBS)
    project.run("job-adverts")
    project.commit("Try job adverts", 1)
    tune(project, "jobs/adverts.md", "Last check", "Pay is per hour, before tax.", "Ask for hourly pay")
    project.learn("job-adverts", 90, "hourly_pay", "hours_per_week")
    read_again(project, "job-adverts")

    rule = "*To pay* is the amount after credits. It is the total even if a larger sum is printed bold."
    tune(project, "shared/amounts.md", "When two values compete", rule, "Say which of several totals counts")
    project.learn("utility-bills", 160, "total", "consumption")
    project.learn("rental-contracts", 120, "rent", "deposit")
    read_again(project, "utility-bills", "rental-contracts")

    project.correct("utility-bills", "bill-04", "total")
    project.commit("Correct the total of bill 04 in the ground truth", 2)

    rule = "Count the lines of goods on every sheet. The answer has as many items."
    tune(project, "freight/goods.md", "Last check", rule, "Have the goods counted")
    project.learn("freight-papers", 60, "goods[]", "goods[].packages")
    read_again(project, "freight-docs")

    project.rename_eval("freight-docs", "freight-papers")
    project.commit("Call the freight eval what everybody calls it: freight papers")

    rule = "The reading is the new one. Consumption is the difference, but it is copied and never worked out."
    tune(project, "bills/meter.md", "When two values compete", rule, "Prefer the new meter reading")
    project.learn("utility-bills", 190, "meter.reading", "consumption")
    read_again(project, "utility-bills")


def _merge_allergens(project: Project) -> None:
    """Allergens are worked out on a side branch while the main line goes on."""
    side = project.fork()
    side.rule(RECIPE_FILE, "What stands where", "Allergens are printed small in the coloured corner.")
    side.commit("Say where allergens stand", 1)
    side.rule(RECIPE_FILE, "How to write it", "An allergen is one word in small letters: `milk`, not *contains milk*.")
    side.learn("recipe-cards", 240, "allergens")
    side.commit("Ask for allergens in one word each", 1)

    rule = "Cities have no postal code in front of them."
    tune(project, "freight/parties.md", "How to write it", rule, "Keep postal codes out of cities")
    project.learn("freight-papers", 120, "consignor.city", "consignee.city")
    project.merge(side, "Merge branch 'allergens'", RECIPE_FILE)
    read_again(project, "recipe-cards", "freight-docs")
