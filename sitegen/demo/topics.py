"""The demo's instruction files by path, and what each is about."""

from __future__ import annotations

from typing import Final

from sitegen.demo.prose import Topic

BASE: Final = ".claude/instructions/"

TOPICS: Final[dict[str, Topic]] = {
    BASE + "shared/dates.md": Topic(
        "Dates",
        "document",
        ("sampled_on", "loaded_on", "period.from", "starts_on"),
        ("Date", "Datum", "issued", "valid from"),
        ("the head of the page", "the line above the signature", "the stamp"),
        4,
    ),
    BASE + "shared/amounts.md": Topic(
        "Amounts and measures",
        "document",
        ("total", "rent", "gross_weight_kg", "value"),
        ("Total", "Sum", "to pay", "gross"),
        ("the last row of the table", "the right column", "the foot of the page"),
        5,
    ),
    BASE + "shared/blank-values.md": Topic(
        "Blank values",
        "document",
        ("remarks", "seal_number", "parking_bay"),
        ("n/a", "none", "see overleaf"),
        ("an empty box", "the second page", "the margin"),
        3,
    ),
    BASE + "lab/header.md": Topic(
        "Head of a lab report",
        "lab report",
        ("patient_ref", "laboratory", "sampled_on", "reported_on", "fasting"),
        ("Patient", "Sample taken", "Reported", "Fasting"),
        ("the box on the right", "the letterhead", "the line under the title"),
        6,
    ),
    BASE + "lab/results.md": Topic(
        "Table of results",
        "lab report",
        ("results[].description", "results[].value", "results[].unit", "results[].flag"),
        ("Test", "Result", "Unit", "Reference range"),
        ("the first column", "the column of results", "the column of flags"),
        9,
    ),
    BASE + "freight/parties.md": Topic(
        "Who sends and who receives",
        "consignment note",
        ("consignor.name", "consignor.city", "consignee.name", "consignee.city"),
        ("Sender", "Consignee", "Place of loading", "Notify"),
        ("box 1", "box 2", "the stamp of the haulier"),
        6,
    ),
    BASE + "freight/goods.md": Topic(
        "List of goods",
        "consignment note",
        ("goods[].description", "goods[].packages", "goods[].weight_kg", "gross_weight_kg"),
        ("Nature of the goods", "Number of packages", "Gross weight", "Class"),
        ("boxes 6 to 12", "the continuation sheet", "the bottom row"),
        9,
    ),
    BASE + "bills/meter.md": Topic(
        "Meter and period",
        "bill",
        ("meter.id", "meter.reading", "period.from", "period.to", "consumption"),
        ("Meter no.", "New reading", "Billing period", "Used"),
        ("the grey box", "page two", "the table of readings"),
        7,
    ),
    BASE + "bills/charges.md": Topic(
        "Charges",
        "bill",
        ("charges[].description", "charges[].amount", "charges[].vat_percent", "total"),
        ("Standing charge", "Net", "VAT", "Amount due"),
        ("the table of charges", "the summary on page one", "the payment slip"),
        8,
    ),
    BASE + "rental/terms.md": Topic(
        "Terms of a contract",
        "rental contract",
        ("starts_on", "term_months", "notice_weeks", "rent", "deposit", "pets_allowed"),
        ("Commencement", "Term", "Notice", "Monthly rent", "Security"),
        ("clause 2", "clause 5", "the schedule", "the handwritten addendum"),
        9,
    ),
    BASE + "rental/rooms.md": Topic(
        "Rooms",
        "rental contract",
        ("rooms[].description", "rooms[].area_m2", "rooms[].floor_covering"),
        ("Room", "Area", "Floor"),
        ("the inventory", "the floor plan", "annex B"),
        5,
    ),
    BASE + "recipes/zutaten-und-größen.md": Topic(
        "Zutaten und Größen",
        "recipe card",
        ("ingredients[].description", "ingredients[].quantity", "ingredients[].unit", "serves"),
        ("Zutaten", "Menge", "Portionen", "Ofen"),
        ("the left side of the card", "the back", "the coloured corner"),
        7,
    ),
    BASE + "roof/slopes.md": Topic(
        "Slopes of a roof",
        "survey",
        ("slopes[].azimuth", "slopes[].pitch", "slopes[].area_m2", "magnetic_declination"),
        ("Direction", "Pitch", "Area", "North"),
        ("the plan", "the compass rose", "the table of slopes"),
        6,
    ),
    BASE + "jobs/adverts.md": Topic(
        "Job adverts",
        "advert",
        ("title", "apply_by", "hours_per_week", "hourly_pay"),
        ("We look for", "Apply by", "Hours", "Pay"),
        ("the headline", "the last paragraph", "the box"),
        4,
    ),
    ".claude/agents/document-reader.md": Topic(
        "Document reader",
        "document",
        ("description", "total", "remarks"),
        ("Page", "Continued", "Copy"),
        ("the first page", "the last page", "the envelope"),
        3,
    ),
}
