"""The field mapping: what is wrong is reported, and the rest is used."""

import json
from decimal import Decimal
from pathlib import Path

import pytest
from msgspec.structs import replace

from sitegen.config.findings import settings_finding
from sitegen.scoring.mapping import Documents, FieldSettings, ListSettings, Mapping, Tolerance, read_mapping
from sitegen.scoring.mapping_use import mapped_columns
from sitegen.scoring.paths import ValuePlace, parse_path, pattern
from sitegen.scoring.rules import _PatternTable, compile_rules
from tests.rows import in_table
from tests.scoring.test_tables import tables

WRONG, _ = tables(Path(__file__).with_name("mappings.md").read_text(encoding="utf-8"))


def test_no_mapping_and_no_settings_are_the_defaults() -> None:
    assert read_mapping(None, "{}") == (Mapping(), ())


def test_a_mapping_is_read_with_everything_it_may_say() -> None:
    content = b"""
csv_to_json: {"Column": "a.b"}
field_types: {numeric: ["a.*"], date: [c]}
tolerances: {default: {percent: 0.5, absolute: 0.01}, area: {percent: 1}}
tolerance_categories: {area: [floor_area]}
non_extractable_fields: [x]
ignore: [y]
documents: {path: results, key: file}
id_column: File
fields: {c: {formats: ["%d.%m.%Y"], ordered: false}}
lists: {"l[*].k": {match_fields: [sku], score_fields: [n], threshold: 0.7, algorithm: hungarian}}
coerce: true
null_values: ["N/A", -99]
true_values: [ja]
false_values: [nein]
extra_fields: ignore
convention: omissions_only
"""
    mapping, findings = read_mapping(content, "{}")
    assert findings == ()
    assert mapping == Mapping(
        csv_to_json={"Column": "a.b"},
        field_types={"numeric": ("a.*",), "date": ("c",)},
        tolerances={
            "default": Tolerance(percent=Decimal("0.5"), absolute=Decimal("0.01")),
            "area": Tolerance(percent=Decimal(1)),
        },
        tolerance_categories={"area": ("floor_area",)},
        ignore=("x", "y"),
        documents=Documents(path="results", key="file"),
        id_column="File",
        fields={"c": FieldSettings(formats=("%d.%m.%Y",), ordered=False)},
        lists={
            "l[*].k": ListSettings(match_fields=("sku",), score_fields=("n",), threshold=0.7, algorithm="hungarian")
        },
        coerce=True,
        null_values=("N/A", -99),
        true_values=("ja",),
        false_values=("nein",),
        extra_fields="ignore",
        convention="omissions_only",
    )


def test_the_advice_on_a_section_with_a_path_is_the_entry_to_write() -> None:
    content = b"array_mappings:\n  Exterior Walls:\n    path: building.walls\n    fields: {Area: area}\n"
    (finding,) = read_mapping(content, "{}")[1]
    assert (finding.message, finding.line) == ("Unknown key 'array_mappings.Exterior Walls.path'", 3)
    assert '`building.walls: {csv_section: "Exterior Walls", fields: ...}`' in finding.fix


@pytest.mark.parametrize("row", WRONG, ids=lambda row: row["mapping"])
def test_what_a_mapping_says_wrongly_is_named_with_what_to_type(row: dict[str, str]) -> None:
    (finding,) = read_mapping(row["mapping"].encode(), "{}")[1]
    assert (finding.severity, finding.about) == ("error", "mapping")
    assert (finding.message, finding.fix) == (row["message"], row["what to do"])


def test_each_wrong_value_is_lost_alone() -> None:
    mapping, findings = read_mapping(b"ignore: [a, b, {}, d, e, f, g, h, i, j, {}, l, m]\nfields: {a: 2%}", "{}")
    assert mapping == Mapping(ignore=tuple("abdefghijlm"))
    assert [finding.message[:12] for finding in findings] == ["'ignore[2]' ", "'ignore[10]'", "'fields.a' i"]


def test_settings_win_key_by_key() -> None:
    content = b"tolerances: {default: {percent: 1, absolute: 2}}\nignore: [a]\ncoerce: true\n"
    mapping, findings = read_mapping(content, '{"tolerances": {"default": {"percent": 3}}, "ignore": ["b"]}')
    assert findings == ()
    assert mapping == Mapping(
        tolerances={"default": Tolerance(percent=Decimal(3), absolute=Decimal(2))}, ignore=("b",), coerce=True
    )


def test_an_unknown_setting_is_an_error_of_the_settings() -> None:
    unknown = settings_finding("Unknown key 'convension'", "Write 'convention' instead.", "convension")
    assert read_mapping(None, '{"convension": "standard"}') == (Mapping(), (replace(unknown, type="unknown_key"),))


def test_a_mapping_that_is_no_yaml_leaves_the_defaults() -> None:
    mapping, findings = read_mapping(b"a: [1,\nb: }", "{}")
    assert mapping == Mapping()
    assert [(each.severity, each.line, each.about) for each in findings] == [("error", 2, "mapping")]


def test_what_can_be_read_and_makes_no_sense_is_reported() -> None:
    content = b"""
tolerances: {area: {percent: -1}}
tolerance_categories: {aera: [x]}
lists: {l: {threshold: 2}}
ignore: ["a[", ok]
"""
    rules, findings = compile_rules(content, "{}")
    assert [each.message for each in findings] == [
        "'tolerances.area.percent' is a number (-1), a number that is not negative is wanted.",
        "In 'ignore': 'a[' is not a field path",
        "The tolerance category 'aera' has no tolerance",
        "The threshold of 'l' lies outside 0..1",
    ]
    assert rules.list_rule("l").threshold == 0.8
    assert rules.ignored(ValuePlace("ok", "ok", ""))


def test_a_schema_that_is_no_json_is_an_error_of_the_schema() -> None:
    _, findings = compile_rules(None, "{}", b"{")
    assert [(each.severity, each.about) for each in findings] == [("error", "schema")]


def test_columns_are_told_with_their_fields_those_of_a_list_behind_their_section() -> None:
    text = b"""
csv_to_json: {"Climate Zone": project.climate_zone}
array_mappings: {walls: {csv_section: "Exterior Walls:", fields: {"Area": area}}}
"""
    mapping = read_mapping(text, '{"csv_to_json": {"City": "city"}}').value
    assert mapped_columns("ground_truth.csv", mapping) == (
        ("Climate Zone", "project.climate_zone"),
        ("City", "city"),
        ("Exterior Walls: Area", "walls[].area"),
    )
    assert mapped_columns("ground_truth.json", mapping) == ()
    assert mapped_columns("ground_truth.csv", read_mapping(b"csv_to_json: {city: city}", "{}").value) == ()


@in_table
def test_the_index_of_patterns_finds_what_trying_each_of_them_would(path: str) -> None:
    texts = [
        *("area", "*", "*.area", "walls[*].area", "walls[0].area", "meta.*", "a.*.area", "a.b.*", '[""]'),
        "ceiling_area",
    ]
    patterns = [(pattern(text), text) for text in texts]
    steps = parse_path(path)
    ranked = sorted(patterns, key=lambda entry: entry[0].weight, reverse=True)
    assert _PatternTable(patterns).matching(steps) == [text for each, text in ranked if each.matches(steps)]
    categories = {"tolerance_categories": {text: (text,) for text in texts}, "tolerances": {text: {} for text in texts}}
    rules, _ = compile_rules(json.dumps(categories).encode(), "{}")
    whole = next((text for each, text in ranked if each.matches(steps)), None)
    assert rules._category(steps) == (whole or next((text for each, text in ranked if each.matches_end(steps)), None))
