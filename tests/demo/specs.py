"""The seven evals of the demo. One of them is given up before the end."""

from __future__ import annotations

from typing import Final

from tests.demo.documents import EvalSpec, Field, Items

LAB: Final = EvalSpec(
    id="lab-reports",
    name="Lab reports",
    description="Four reports of a small clinic's laboratory, with a table of results each",
    truth="wide",
    layout="iterations",
    documents=("report-a", "report-b", "report-c", "report-d"),
    fields=(
        Field("patient_ref", "string", ("P-1044", "P-1071", "P-1120", "P-1188", "P-1203"), skill=820),
        Field("laboratory", "string", ("North Wing Laboratory", "Harbour Diagnostics", "Labor Am Kanal"), skill=760),
        Field("sampled_on", "date", skill=560),
        Field("reported_on", "date", skill=500),
        Field("fasting", "boolean", skill=600, blank=20),
        Field("remarks", "string", ("haemolysed sample", "repeat in two weeks", "small volume"), skill=640, blank=55),
    ),
    items=Items(
        path="results",
        least=3,
        most=5,
        fields=(
            Field(
                "description",
                "string",
                ("Haemoglobin", "Leukocytes", "Platelets", "Creatinine", "Sodium", "Potassium", "Ferritin", "Glucose"),
                skill=860,
            ),
            Field("value", "numeric", low=40, high=29900, skill=640),
            Field("unit", "string", ("g/dl", "10^9/l", "mmol/l", "umol/l", "ug/l"), skill=620),
            Field("flag", "string", ("H", "L"), skill=660, blank=60),
        ),
    ),
    instructions=(".claude/instructions/lab/**", ".claude/instructions/shared/**"),
)

FREIGHT: Final = EvalSpec(
    id="freight-papers",
    name="Freight papers",
    description="One consignment note with a long list of goods",
    truth="json",
    layout="iterations",
    documents=("consignment",),
    fields=(
        Field("consignor.name", "string", ("Kiln & Clay Supplies", "Westend Timber", "Alder Mill"), skill=780),
        Field("consignor.city", "string", ("Norrtorp", "Oldebridge", "Saint-Aubin"), skill=760),
        Field("consignee.name", "string", ("Tile House", "Studio Supply Co-op", "Brick Barn"), skill=700),
        Field("consignee.city", "string", ("Veldhoek", "Marlow Cross", "Port-Lys"), skill=700),
        Field("loaded_on", "date", skill=500),
        Field("delivered_on", "date", skill=470, blank=20),
        Field("incoterm", "string", ("DAP", "EXW", "FCA", "CPT"), skill=720),
        Field("gross_weight_kg", "numeric", low=90000, high=2400000, skill=520),
        Field("temperature_controlled", "boolean", skill=640),
        Field("seal_number", "string", ("SL 00712", "SL 00920", "SL 01455"), skill=560),
    ),
    items=Items(
        path="goods",
        least=9,
        most=11,
        fields=(
            Field(
                "description",
                "string",
                (
                    "Stoneware clay, grey, 12.5 kg bags",
                    "Stoneware clay, speckled, 12.5 kg bags",
                    "Porcelain slip, 5 l canisters",
                    "Kiln shelves 40 x 40 cm",
                    "Kiln shelves 50 x 45 cm",
                    "Transparent glaze, 10 kg",
                    "Cobalt oxide, 1 kg tins",
                    "Plaster moulds, mixed",
                    "Throwing wheels",
                    "Wooden ribs, set of six",
                    "Propane burners",
                ),
                skill=800,
            ),
            Field("packages", "integer", low=1, high=60, skill=660),
            Field("weight_kg", "numeric", low=500, high=180000, skill=600),
            Field("hazard_class", "string", ("2.1", "6.1", "9"), skill=700, blank=80),
        ),
    ),
    instructions=(".claude/instructions/freight/**", ".claude/instructions/shared/**", ".claude/agents/*.md"),
)

BILLS: Final = EvalSpec(
    id="utility-bills",
    name="Utility bills",
    description="Five bills for power and water of one household",
    truth="jsonl",
    layout="overwritten",
    documents=("bill-01", "bill-02", "bill-03", "bill-04", "bill-05"),
    fields=(
        Field("customer_ref", "string", ("0044 1183", "0044 1190", "0051 2007"), skill=700),
        Field("meter.id", "string", ("W-220817", "E-118802", "E-118945", "W-310022"), skill=680),
        Field("meter.reading", "integer", low=1200, high=88000, skill=600),
        Field("period.from", "date", skill=520),
        Field("period.to", "date", skill=500),
        Field("tariff", "string", ("Green Basic", "Day and Night", "Household Water"), skill=740),
        Field("consumption", "numeric", low=2100, high=98000, skill=560),
        Field("total", "numeric", low=1900, high=64000, skill=580),
        Field("direct_debit", "boolean", skill=660),
    ),
    items=Items(
        path="charges",
        least=2,
        most=4,
        fields=(
            Field(
                "description",
                "string",
                (
                    "Standing charge",
                    "Energy used",
                    "Grid fee",
                    "Water supplied",
                    "Waste water",
                    "Credit from last bill",
                ),
                skill=820,
            ),
            Field("amount", "numeric", low=150, high=32000, skill=560),
            Field("vat_percent", "numeric", low=500, high=2000, skill=620, blank=20),
        ),
    ),
    instructions=(".claude/instructions/bills/**", ".claude/instructions/shared/**"),
)

RENTAL: Final = EvalSpec(
    id="rental-contracts",
    name="Rental contracts",
    description="One contract for a flat, eleven pages",
    truth="long",
    layout="iterations",
    documents=("contract",),
    fields=(
        Field("landlord", "string", ("Lime Yard Housing", "Canal Street Homes"), skill=760),
        Field("address.street", "string", ("4 Weir Lane", "19 Old Dairy Road", "2 Sluice Street"), skill=740),
        Field("address.city", "string", ("Oldebridge", "Marlow Cross"), skill=800),
        Field("starts_on", "date", skill=480),
        Field("term_months", "integer", low=6, high=48, skill=620),
        Field("notice_weeks", "integer", low=4, high=12, skill=520),
        Field("rent", "numeric", low=48000, high=210000, skill=640),
        Field("deposit", "numeric", low=96000, high=420000, skill=500),
        Field("pets_allowed", "boolean", skill=560),
        Field("furnished", "boolean", skill=640),
        Field("included", "list", ("heating", "water", "waste", "internet", "cellar"), skill=460),
        Field("parking_bay", "string", ("B 07", "B 12"), skill=540, blank=40),
    ),
    items=Items(
        path="rooms",
        least=4,
        most=6,
        fields=(
            Field(
                "description",
                "string",
                ("Living room", "Large bedroom", "Small bedroom", "Kitchen", "Bathroom", "Hall", "Box room"),
                skill=820,
            ),
            Field("area_m2", "numeric", low=300, high=3200, skill=600),
            Field("floor_covering", "string", ("oak boards", "tiles", "linoleum", "carpet"), skill=620, blank=15),
        ),
    ),
    instructions=(".claude/instructions/rental/**", ".claude/instructions/shared/**"),
    records_runs=True,
)

RECIPES: Final = EvalSpec(
    id="recipe-cards",
    name="Recipe cards",
    description="A card from a canteen's box, with a dozen ingredients",
    truth="yaml",
    layout="overwritten",
    documents=("card",),
    fields=(
        Field("title", "string", ("Lentil soup with lemon", "Leek and barley pot", "Beetroot cakes"), skill=860),
        Field("serves", "integer", low=4, high=40, skill=700),
        Field("minutes", "integer", low=15, high=180, skill=600),
        Field("oven_celsius", "integer", low=120, high=240, skill=560, blank=30),
        Field("vegetarian", "boolean", skill=680),
        Field("allergens", "list", ("celery", "gluten", "milk", "mustard", "sesame"), skill=440),
        Field("season.from", "string", ("March", "May", "September"), skill=620),
        Field("season.to", "string", ("June", "August", "November"), skill=600),
    ),
    items=Items(
        path="ingredients",
        least=10,
        most=12,
        fields=(
            Field(
                "description",
                "string",
                (
                    "red lentils",
                    "pearl barley",
                    "crème fraîche",
                    "lemon juice",
                    "ground cumin",
                    "sweet paprika",
                    "celeriac, diced",
                    "leeks, sliced",
                    "vegetable stock",
                    "flat-leaf parsley",
                    "rapeseed oil",
                    "black pepper",
                    "coarse salt",
                ),
                skill=800,
            ),
            Field("quantity", "numeric", low=50, high=90000, skill=600),
            Field("unit", "string", ("g", "ml", "tbsp", "bunch", "pinch"), skill=640, blank=10),
        ),
    ),
    instructions=(".claude/instructions/recipes/**",),
)

ROOFS: Final = EvalSpec(
    id="roof-surveys",
    name="Roof surveys",
    description="Two surveys for solar panels: slopes, their directions and areas",
    truth="json",
    layout="iterations",
    documents=("survey-east", "survey-west"),
    fields=(
        Field("site", "string", ("Barn by the lock", "School hall", "Depot roof"), skill=780),
        Field("surveyed_on", "date", skill=560),
        Field("magnetic_declination", "angle", low=0, high=9, skill=560),
        Field("listed_building", "boolean", skill=700),
        Field("year_built", "integer", low=1890, high=2019, skill=640, blank=10),
    ),
    items=Items(
        path="slopes",
        least=3,
        most=5,
        fields=(
            Field(
                "description",
                "string",
                ("Main roof, front", "Main roof, back", "Dormer", "Porch", "Annexe, left side", "Annexe, right side"),
                skill=840,
            ),
            Field("azimuth", "angle", low=0, high=359, skill=480),
            Field("pitch", "integer", low=8, high=52, skill=600),
            Field("area_m2", "numeric", low=400, high=18000, skill=620),
            Field("shaded", "boolean", skill=600),
        ),
    ),
    instructions=(".claude/instructions/roof/**", ".claude/instructions/shared/**"),
)

JOBS: Final = EvalSpec(
    id="job-adverts",
    name="Job adverts",
    description="One advert for a workshop job",
    truth="long",
    layout="iterations",
    documents=("advert",),
    fields=(
        Field("title", "string", ("Kiln operator", "Workshop assistant"), skill=760),
        Field("employer", "string", ("Brick Barn", "Tile House"), skill=700),
        Field("apply_by", "date", skill=520),
        Field("hours_per_week", "integer", low=8, high=40, skill=600),
        Field("hourly_pay", "numeric", low=1400, high=2900, skill=560),
        Field("remote", "boolean", skill=560),
        Field("languages", "list", ("Dutch", "English", "French", "German"), skill=480),
    ),
    items=Items(
        path="duties",
        least=3,
        most=5,
        fields=(
            Field(
                "description",
                "string",
                ("Load and fire the kilns", "Mix glazes", "Pack orders", "Keep the stock list", "Show visitors round"),
                skill=700,
            ),
            Field("share_percent", "integer", low=10, high=50, skill=560, blank=30),
        ),
    ),
    instructions=(".claude/instructions/jobs/**", ".claude/instructions/shared/**"),
)

SPECS: Final = (LAB, FREIGHT, BILLS, RENTAL, RECIPES, ROOFS, JOBS)
