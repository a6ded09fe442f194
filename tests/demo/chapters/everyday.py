"""Everyday work: a rule, and a reading that shows what it did. Most rules help a little, some do not."""

from __future__ import annotations

from typing import Final, NamedTuple

from tests.demo.chapters.steps import read_again, tune
from tests.demo.project import Project


class Edit(NamedTuple):
    """One rule, and what it does to an eval."""

    file: str
    heading: str
    rule: str
    subject: str
    eval_id: str
    by: int
    """How it moves the skill at the attributes, in thousandths."""
    attributes: tuple[str, ...]

    def carry_out(self, project: Project) -> None:
        """Commit the rule, then a reading."""
        tune(project, self.file, self.heading, self.rule, self.subject)
        project.learn(self.eval_id, 20 if self.by > 0 else 0)
        project.learn(self.eval_id, self.by, *self.attributes)
        read_again(project, self.eval_id)


EARLY: Final = (
    Edit(
        "recipes/zutaten-und-größen.md",
        "How to write it",
        "A quantity is a number: ½ is 0.5, *a dozen* is 12.",
        "Ask for quantities as numbers",
        "recipe-cards",
        170,
        (
            "ingredients[].quantity",
            "serves",
        ),
    ),
    Edit(
        "bills/meter.md",
        "Mistakes seen so far",
        "The number of the bill was taken for `meter.id`.",
        "Tell the meter from the bill's own number",
        "utility-bills",
        150,
        ("meter.id",),
    ),
    Edit(
        "freight/parties.md",
        "What stands where",
        "The seal is stamped across box 2, often in red.",
        "Say where the seal is",
        "freight-papers",
        200,
        (
            "seal_number",
            "incoterm",
        ),
    ),
    Edit(
        "lab/header.md",
        "Words to look for",
        "*Nüchtern* and *fasting* lead to `fasting`.",
        "Name the words for fasting",
        "lab-reports",
        190,
        (
            "fasting",
            "remarks",
        ),
    ),
    Edit(
        "bills/charges.md",
        "Last check",
        "Add the charges up. If they miss the total, read them again.",
        "Have the charges added up",
        "utility-bills",
        -60,
        (
            "charges[].amount",
            "charges[]",
        ),
    ),
    Edit(
        "recipes/zutaten-und-größen.md",
        "Last check",
        "Every unit of the card stands in the list of units.",
        "Hold units against a list",
        "recipe-cards",
        120,
        ("ingredients[].unit",),
    ),
)

LATE: Final = (
    Edit(
        "lab/header.md",
        "Mistakes seen so far",
        "The date of printing is not `reported_on`.",
        "Ignore the date of printing",
        "lab-reports",
        220,
        (
            "reported_on",
            "sampled_on",
        ),
    ),
    Edit(
        "bills/charges.md",
        "What stands where",
        "The rate of VAT stands once above the table and holds for all its lines.",
        "Say where the rate of VAT stands",
        "utility-bills",
        220,
        (
            "charges[].vat_percent",
            "charges[].amount",
        ),
    ),
    Edit(
        "roof/slopes.md",
        "Mistakes seen so far",
        "A dormer has two small slopes. It is one item.",
        "Count a dormer once",
        "roof-surveys",
        220,
        (
            "slopes[]",
            "slopes[].shaded",
        ),
    ),
    Edit(
        "freight/goods.md",
        "When nothing is there",
        "No class means that the goods are harmless. Leave the field out.",
        "Leave out the class of harmless goods",
        "freight-papers",
        220,
        ("goods[].hazard_class",),
    ),
    Edit(
        "recipes/zutaten-und-größen.md",
        "When nothing is there",
        "No oven is no temperature. Leave the field out.",
        "Leave out the oven of cold dishes",
        "recipe-cards",
        180,
        (
            "oven_celsius",
            "allergens",
        ),
    ),
    Edit(
        "rental/contract-terms.md",
        "When two values compete",
        "The addendum wins over the clause.",
        "Prefer the addendum",
        "rental-contracts",
        220,
        (
            "deposit",
            "starts_on",
            "parking_bay",
        ),
    ),
    Edit(
        "roof/slopes.md",
        "How to write it",
        "A pitch in per cent is turned into degrees: 100 % are 45.",
        "Ask for pitches in degrees",
        "roof-surveys",
        200,
        ("slopes[].pitch",),
    ),
    Edit(
        "bills/meter.md",
        "How to write it",
        "Spaces in `customer_ref` stay.",
        "Keep spaces in references",
        "utility-bills",
        220,
        (
            "customer_ref",
            "meter.id",
        ),
    ),
    Edit(
        "lab/results.md",
        "Last check",
        "A result that begins with < keeps its number and loses the sign.",
        "Drop the signs of lab results",
        "lab-reports",
        -70,
        ("results[].value",),
    ),
    Edit(
        "lab/results.md",
        "How to write it",
        "A result that begins with < is left as text, sign and all.",
        "Keep the signs of lab results after all",
        "lab-reports",
        110,
        ("results[].value",),
    ),
)
