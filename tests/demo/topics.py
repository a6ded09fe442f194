"""The demo's instruction files by path, and what each is about."""

from __future__ import annotations

from typing import Final

from tests.demo.prose import Topic

BASE: Final = ".claude/instructions/"

TOPICS: Final[dict[str, Topic]] = {
    BASE + "shared/dates.md": Topic(
        title="Dates",
        thing="document",
        words=(
            ("sampled_on", "Sample taken"),
            ("loaded_on", "Loaded"),
            ("period.from", "valid from"),
            ("starts_on", "Commencement"),
            ("apply_by", "Apply by"),
        ),
        places=("the head of the page", "the line above the signature", "the stamp"),
        length=5,
    ),
    BASE + "shared/amounts.md": Topic(
        title="Amounts and measures",
        thing="document",
        words=(
            ("total", "To pay"),
            ("rent", "Monthly rent"),
            ("gross_weight_kg", "Gross weight"),
            ("results[].value", "Result"),
        ),
        places=("the last row of the table", "the right column", "the foot of the page"),
        length=5,
    ),
    BASE + "shared/blank-values.md": Topic(
        title="Blank values",
        thing="document",
        words=(("remarks", "Remarks"), ("seal_number", "Seal"), ("parking_bay", "Parking")),
        places=("an empty box", "the second page", "the margin"),
        length=6,
    ),
    BASE + "lab/header.md": Topic(
        title="Head of a lab report",
        thing="lab report",
        words=(
            ("patient_ref", "Patient"),
            ("laboratory", "Laboratory"),
            ("sampled_on", "Sample taken"),
            ("reported_on", "Reported"),
            ("fasting", "Fasting"),
        ),
        places=("the box on the right", "the letterhead", "the line under the title"),
        length=6,
    ),
    BASE + "lab/results.md": Topic(
        title="Table of results",
        thing="lab report",
        words=(
            ("results[].description", "Test"),
            ("results[].value", "Result"),
            ("results[].unit", "Unit"),
            ("results[].flag", "H/L"),
        ),
        places=("the first column", "the column of results", "the column of flags"),
        length=9,
    ),
    BASE + "freight/parties.md": Topic(
        title="Who sends and who receives",
        thing="consignment note",
        words=(
            ("consignor.name", "Sender"),
            ("consignor.city", "Place of loading"),
            ("consignee.name", "Consignee"),
            ("consignee.city", "Place of delivery"),
        ),
        places=("box 1", "box 2", "the stamp of the haulier"),
        length=6,
    ),
    BASE + "freight/goods.md": Topic(
        title="List of goods",
        thing="consignment note",
        words=(
            ("goods[].description", "Nature of the goods"),
            ("goods[].packages", "Number of packages"),
            ("goods[].weight_kg", "Weight"),
            ("gross_weight_kg", "Gross weight"),
            ("goods[].hazard_class", "Class"),
        ),
        places=("the list on the front", "the continuation sheet", "the bottom row"),
        length=9,
    ),
    BASE + "bills/meter.md": Topic(
        title="Meter and period",
        thing="bill",
        words=(
            ("meter.id", "Meter no."),
            ("meter.reading", "New reading"),
            ("period.from", "From"),
            ("period.to", "To"),
            ("consumption", "Used"),
        ),
        places=("the grey box", "page two", "the table of readings"),
        length=7,
    ),
    BASE + "bills/charges.md": Topic(
        title="Charges",
        thing="bill",
        words=(
            ("charges[].description", "Item"),
            ("charges[].amount", "Net"),
            ("charges[].vat_percent", "VAT"),
            ("total", "Amount due"),
        ),
        places=("the table of charges", "the summary on page one", "the payment slip"),
        length=8,
    ),
    BASE + "rental/terms.md": Topic(
        title="Terms of a contract",
        thing="rental contract",
        words=(
            ("starts_on", "Commencement"),
            ("term_months", "Term"),
            ("notice_weeks", "Notice"),
            ("rent", "Monthly rent"),
            ("deposit", "Security"),
            ("pets_allowed", "Animals"),
        ),
        places=("clause 2", "clause 5", "the schedule", "the handwritten addendum"),
        length=9,
    ),
    BASE + "rental/rooms.md": Topic(
        title="Rooms",
        thing="rental contract",
        words=(("rooms[].description", "Room"), ("rooms[].area_m2", "Area"), ("rooms[].floor_covering", "Floor")),
        places=("the inventory", "the floor plan", "annex B"),
        length=5,
    ),
    BASE + "recipes/zutaten-und-größen.md": Topic(
        title="Zutaten und Größen",
        thing="recipe card",
        words=(
            ("ingredients[].description", "Zutaten"),
            ("ingredients[].quantity", "Menge"),
            ("ingredients[].unit", "Maß"),
            ("serves", "Portionen"),
            ("oven_celsius", "Ofen"),
        ),
        places=("the left side of the card", "the back", "the coloured corner"),
        length=7,
    ),
    BASE + "roof/slopes.md": Topic(
        title="Slopes of a roof",
        thing="survey",
        words=(
            ("slopes[].azimuth", "Direction"),
            ("slopes[].pitch", "Pitch"),
            ("slopes[].area_m2", "Area"),
            ("magnetic_declination", "Declination"),
        ),
        places=("the plan", "the compass rose", "the table of slopes"),
        length=6,
    ),
    BASE + "jobs/adverts.md": Topic(
        title="Job adverts",
        thing="advert",
        words=(("title", "We look for"), ("apply_by", "Apply by"), ("hours_per_week", "Hours"), ("hourly_pay", "Pay")),
        places=("the headline", "the last paragraph", "the box"),
        length=4,
    ),
    ".claude/agents/document-reader.md": Topic(
        title="Document reader",
        thing="document",
        words=(("description", "Item"), ("total", "Total"), ("remarks", "Remarks")),
        places=("the first page", "the last page", "the envelope"),
        length=3,
    ),
}
