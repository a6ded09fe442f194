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
        file="recipes/zutaten-und-größen.md",
        heading="How to write it",
        rule="A quantity is a number: ½ is 0.5, *a dozen* is 12.",
        subject="Ask for quantities as numbers",
        eval_id="recipe-cards",
        by=170,
        attributes=("ingredients[].quantity", "serves"),
    ),
    Edit(
        file="bills/meter.md",
        heading="Mistakes seen so far",
        rule="The number of the bill was taken for `meter.id`.",
        subject="Tell the meter from the bill's own number",
        eval_id="utility-bills",
        by=150,
        attributes=("meter.id",),
    ),
    Edit(
        file="freight/parties.md",
        heading="What stands where",
        rule="The seal is stamped across box 2, often in red.",
        subject="Say where the seal is",
        eval_id="freight-papers",
        by=200,
        attributes=("seal_number", "incoterm"),
    ),
    Edit(
        file="lab/header.md",
        heading="Words to look for",
        rule="*Nüchtern* and *fasting* lead to `fasting`.",
        subject="Name the words for fasting",
        eval_id="lab-reports",
        by=190,
        attributes=("fasting", "remarks"),
    ),
    Edit(
        file="bills/charges.md",
        heading="Last check",
        rule="Add the charges up. If they miss the total, read them again.",
        subject="Have the charges added up",
        eval_id="utility-bills",
        by=-60,
        attributes=("charges[].amount", "charges[]"),
    ),
    Edit(
        file="recipes/zutaten-und-größen.md",
        heading="Last check",
        rule="Every unit of the card stands in the list of units.",
        subject="Hold units against a list",
        eval_id="recipe-cards",
        by=120,
        attributes=("ingredients[].unit",),
    ),
)

LATE: Final = (
    Edit(
        file="lab/header.md",
        heading="Mistakes seen so far",
        rule="The date of printing is not `reported_on`.",
        subject="Ignore the date of printing",
        eval_id="lab-reports",
        by=220,
        attributes=("reported_on", "sampled_on"),
    ),
    Edit(
        file="bills/charges.md",
        heading="What stands where",
        rule="The rate of VAT stands once above the table and holds for all its lines.",
        subject="Say where the rate of VAT stands",
        eval_id="utility-bills",
        by=220,
        attributes=("charges[].vat_percent", "charges[].amount"),
    ),
    Edit(
        file="roof/slopes.md",
        heading="Mistakes seen so far",
        rule="A dormer has two small slopes. It is one item.",
        subject="Count a dormer once",
        eval_id="roof-surveys",
        by=220,
        attributes=("slopes[]", "slopes[].shaded"),
    ),
    Edit(
        file="freight/goods.md",
        heading="When nothing is there",
        rule="No class means that the goods are harmless. Leave the field out.",
        subject="Leave out the class of harmless goods",
        eval_id="freight-papers",
        by=220,
        attributes=("goods[].hazard_class",),
    ),
    Edit(
        file="recipes/zutaten-und-größen.md",
        heading="When nothing is there",
        rule="No oven is no temperature. Leave the field out.",
        subject="Leave out the oven of cold dishes",
        eval_id="recipe-cards",
        by=180,
        attributes=("oven_celsius", "allergens"),
    ),
    Edit(
        file="rental/contract-terms.md",
        heading="When two values compete",
        rule="The addendum wins over the clause.",
        subject="Prefer the addendum",
        eval_id="rental-contracts",
        by=220,
        attributes=("deposit", "starts_on", "parking_bay"),
    ),
    Edit(
        file="roof/slopes.md",
        heading="How to write it",
        rule="A pitch in per cent is turned into degrees: 100 % are 45.",
        subject="Ask for pitches in degrees",
        eval_id="roof-surveys",
        by=200,
        attributes=("slopes[].pitch",),
    ),
    Edit(
        file="bills/meter.md",
        heading="How to write it",
        rule="Spaces in `customer_ref` stay.",
        subject="Keep spaces in references",
        eval_id="utility-bills",
        by=220,
        attributes=("customer_ref", "meter.id"),
    ),
    Edit(
        file="lab/results.md",
        heading="Last check",
        rule="A result that begins with < keeps its number and loses the sign.",
        subject="Drop the signs of lab results",
        eval_id="lab-reports",
        by=-70,
        attributes=("results[].value",),
    ),
    Edit(
        file="lab/results.md",
        heading="How to write it",
        rule="A result that begins with < is left as text, sign and all.",
        subject="Keep the signs of lab results after all",
        eval_id="lab-reports",
        by=110,
        attributes=("results[].value",),
    ),
)
