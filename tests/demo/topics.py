"""The demo's instruction files by path, and what each is about."""

from __future__ import annotations

from typing import Final

from tests.demo.prose import Topic

BASE: Final = ".claude/instructions/"

TOPICS: Final[dict[str, Topic]] = {
    BASE + "shared/dates.md": Topic(
        "Dates",
        "document",
        (
            ("sampled_on", "Sample taken"),
            ("loaded_on", "Loaded"),
            ("period.from", "valid from"),
            ("starts_on", "Commencement"),
            ("apply_by", "Apply by"),
        ),
        ("the head of the page", "the line above the signature", "the stamp"),
        5,
    ),
    BASE + "shared/amounts.md": Topic(
        "Amounts and measures",
        "document",
        (
            ("total", "To pay"),
            ("rent", "Monthly rent"),
            ("gross_weight_kg", "Gross weight"),
            ("results[].value", "Result"),
        ),
        ("the last row of the table", "the right column", "the foot of the page"),
        5,
    ),
    BASE + "shared/blank-values.md": Topic(
        "Blank values",
        "document",
        (
            ("remarks", "Remarks"),
            ("seal_number", "Seal"),
            ("parking_bay", "Parking"),
        ),
        ("an empty box", "the second page", "the margin"),
        6,
    ),
    BASE + "lab/header.md": Topic(
        "Head of a lab report",
        "lab report",
        (
            ("patient_ref", "Patient"),
            ("laboratory", "Laboratory"),
            ("sampled_on", "Sample taken"),
            ("reported_on", "Reported"),
            ("fasting", "Fasting"),
        ),
        ("the box on the right", "the letterhead", "the line under the title"),
        6,
    ),
    BASE + "lab/results.md": Topic(
        "Table of results",
        "lab report",
        (
            ("results[].description", "Test"),
            ("results[].value", "Result"),
            ("results[].unit", "Unit"),
            ("results[].flag", "H/L"),
        ),
        ("the first column", "the column of results", "the column of flags"),
        9,
    ),
    BASE + "freight/parties.md": Topic(
        "Who sends and who receives",
        "consignment note",
        (
            ("consignor.name", "Sender"),
            ("consignor.city", "Place of loading"),
            ("consignee.name", "Consignee"),
            ("consignee.city", "Place of delivery"),
        ),
        ("box 1", "box 2", "the stamp of the haulier"),
        6,
    ),
    BASE + "freight/goods.md": Topic(
        "List of goods",
        "consignment note",
        (
            ("goods[].description", "Nature of the goods"),
            ("goods[].packages", "Number of packages"),
            ("goods[].weight_kg", "Weight"),
            ("gross_weight_kg", "Gross weight"),
            ("goods[].hazard_class", "Class"),
        ),
        ("the list on the front", "the continuation sheet", "the bottom row"),
        9,
    ),
    BASE + "bills/meter.md": Topic(
        "Meter and period",
        "bill",
        (
            ("meter.id", "Meter no."),
            ("meter.reading", "New reading"),
            ("period.from", "From"),
            ("period.to", "To"),
            ("consumption", "Used"),
        ),
        ("the grey box", "page two", "the table of readings"),
        7,
    ),
    BASE + "bills/charges.md": Topic(
        "Charges",
        "bill",
        (
            ("charges[].description", "Item"),
            ("charges[].amount", "Net"),
            ("charges[].vat_percent", "VAT"),
            ("total", "Amount due"),
        ),
        ("the table of charges", "the summary on page one", "the payment slip"),
        8,
    ),
    BASE + "rental/terms.md": Topic(
        "Terms of a contract",
        "rental contract",
        (
            ("starts_on", "Commencement"),
            ("term_months", "Term"),
            ("notice_weeks", "Notice"),
            ("rent", "Monthly rent"),
            ("deposit", "Security"),
            ("pets_allowed", "Animals"),
        ),
        ("clause 2", "clause 5", "the schedule", "the handwritten addendum"),
        9,
    ),
    BASE + "rental/rooms.md": Topic(
        "Rooms",
        "rental contract",
        (
            ("rooms[].description", "Room"),
            ("rooms[].area_m2", "Area"),
            ("rooms[].floor_covering", "Floor"),
        ),
        ("the inventory", "the floor plan", "annex B"),
        5,
    ),
    BASE + "recipes/zutaten-und-größen.md": Topic(
        "Zutaten und Größen",
        "recipe card",
        (
            ("ingredients[].description", "Zutaten"),
            ("ingredients[].quantity", "Menge"),
            ("ingredients[].unit", "Maß"),
            ("serves", "Portionen"),
            ("oven_celsius", "Ofen"),
        ),
        ("the left side of the card", "the back", "the coloured corner"),
        7,
    ),
    BASE + "roof/slopes.md": Topic(
        "Slopes of a roof",
        "survey",
        (
            ("slopes[].azimuth", "Direction"),
            ("slopes[].pitch", "Pitch"),
            ("slopes[].area_m2", "Area"),
            ("magnetic_declination", "Declination"),
        ),
        ("the plan", "the compass rose", "the table of slopes"),
        6,
    ),
    BASE + "jobs/adverts.md": Topic(
        "Job adverts",
        "advert",
        (
            ("title", "We look for"),
            ("apply_by", "Apply by"),
            ("hours_per_week", "Hours"),
            ("hourly_pay", "Pay"),
        ),
        ("the headline", "the last paragraph", "the box"),
        4,
    ),
    ".claude/agents/document-reader.md": Topic(
        "Document reader",
        "document",
        (
            ("description", "Item"),
            ("total", "Total"),
            ("remarks", "Remarks"),
        ),
        ("the first page", "the last page", "the envelope"),
        3,
    ),
}
