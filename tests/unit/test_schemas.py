"""Every file that is written, and every file that is read, fits its schema, and the schemas fit the code."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import referencing
import yaml

from sitegen import schemas
from sitegen.scoring.rules import compile_rules
from tests.golden.repository import write
from tests.rows import in_table
from tests.schemas.forms import FOLDER, WRITTEN, generated
from tests.scoring.test_tables import tables
from tests.sites import build_site, content, run

ROOT = Path(__file__).parents[2]
BY_ADDRESS = {
    r"data/index\.json": "index",
    r"data/evals/[^/]+\.json": "series",
    r"badges/[^/]+\.json": "badge",
    r"data/schemas/[^/]+\.json": None,
}
"""Pattern of an address -> the schema; None: it is a schema itself. Whole results name their own form."""

RESULTS = r"evals/[^/]+/[^/]+\.json"
KINDS = ("eval", "highlights", "responses", "judged")
BY_FORM = {form: name for name, (form, _) in WRITTEN.items()}

WRONG, RIGHT = tables(Path(__file__).with_name("mappings.md").read_text(encoding="utf-8"))
MAPPINGS = [(rows is RIGHT, row["mapping"]) for rows in (WRONG, RIGHT) for row in rows]


def closed(schema: Any) -> Any:
    """A schema that refuses every key it does not name: what is read must stand there, what is new must be added."""
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {key: closed(value) for key, value in schema.items()}
    return {"additionalProperties": False, **inner} if "properties" in inner and "type" in inner else inner


def schema_of(name: str) -> Any:
    return closed(json.loads(schemas.content(name)))


def complaints(name: str, document: Any) -> list[str]:
    registry = referencing.Registry().with_resources(
        (f"urn:sitegen:{each}:1", referencing.Resource.from_contents(schema_of(each))) for each in schemas.TITLES
    )
    errors = jsonschema.Draft202012Validator(schema_of(name), registry=registry).iter_errors(document)
    return [f"{error.json_path}: {error.message[:200]}" for error in errors]


def name_for(path: str, body: bytes) -> str | None:
    for pattern, name in BY_ADDRESS.items():
        if re.fullmatch(pattern, path):
            return name
    assert re.fullmatch(RESULTS, path), f"no schema for {path}"
    return BY_FORM[json.loads(body)["schema"]]


def checked(site: Path) -> dict[str, int]:
    """Name of a schema -> how many files of a site were held against it."""
    found: dict[str, int] = {}
    for path, body in content(site).items():
        if path.endswith(".json") and (name := name_for(path, body)):
            assert complaints(name, json.loads(body)) == [], path
            found[name] = found.get(name, 0) + 1
    return found


@pytest.fixture(scope="module")
def golden(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with an eval of every kind, its work tree at HEAD."""
    repo = write(tmp_path_factory.mktemp("schemas") / "golden")
    repo.checkout()
    return repo.path


def test_every_data_file_of_the_demo_fits_its_schema(demo_site):
    found = checked(demo_site)
    assert found.keys() >= {"index", "series"}


def test_every_data_file_of_a_site_with_every_kind_fits_its_schema(golden, tmp_path):
    build_site(golden, tmp_path / "site", jobs=1)
    assert checked(tmp_path / "site").keys() >= {
        "index",
        "series",
        "highlights-results",
        "responses-results",
        "judged-results",
    }


@pytest.mark.parametrize("eval_id", ["orders", "notes", "faq", "checks"])
def test_what_verify_one_prints_and_saves_fits_its_schema(golden, eval_id):
    done = run("verify-one", eval_id, "--save", "--json", cwd=golden)
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    saved = Path(re.findall(r"^saved (.+)$", done.stderr, re.MULTILINE)[0])
    file = saved if saved.is_file() else saved / "eval-results.json"
    assert json.loads(file.read_bytes()) == printed
    assert complaints(BY_FORM[printed["schema"]], printed) == []
    aggregate = file.parents[1] / "aggregate.json"
    if eval_id != "notes":  # a log keeps its own runs
        schema = schema_of("aggregate")
        if eval_id != "orders":  # other kinds have metrics of their own
            schema = json.loads(schemas.content("aggregate"))
        written = json.loads(aggregate.read_bytes())
        assert list(jsonschema.Draft202012Validator(schema).iter_errors(written)) == []
        if eval_id == "faq":
            assert written["iterations"][-1]["accuracy"] == printed["results"]["exact_match"]["accuracy"] == 0.75


@pytest.mark.parametrize("sides", [["orders@1", "orders@2"], ["--eval", "faq"], ["HEAD~3", "HEAD"]])
def test_what_compare_writes_fits_its_schema(golden, tmp_path, sides):
    assert run("compare", *sides, "-o", tmp_path, "--cache", tmp_path / "memo", cwd=golden).returncode == 0
    assert complaints("comparison", json.loads((tmp_path / "comparison_results.json").read_bytes())) == []


def test_what_verify_all_prints_fits_its_schema(golden):
    done = run("verify-all", "--json", cwd=golden)
    assert done.returncode == 0
    printed = json.loads(done.stdout)
    forms = {each["schema"] for each in printed["evals"]} - {"sitegen/recorded-results/1"}  # of runs saved before
    assert forms == set(BY_FORM) & {f"sitegen/{kind}-results/1" for kind in KINDS}
    assert complaints("all-results", printed) == []


def test_the_files_of_this_project_and_of_the_demo_fit_the_schemas_of_what_is_read(demo):
    for root in (ROOT, demo):
        manifest = yaml.safe_load((root / "evals" / "manifest.yaml").read_bytes())
        open_schema = json.loads(schemas.content("manifest"))
        assert list(jsonschema.Draft202012Validator(open_schema).iter_errors(manifest)) == []
    mappings = [ROOT / "evals" / "field_mapping.yaml", *demo.rglob("field_mapping.yaml")]
    mappings.append(ROOT / "sitegen" / "recognition" / "skeletons" / "field_mapping.yaml")
    for mapping in mappings:
        assert complaints("field-mapping", yaml.safe_load(mapping.read_bytes()) or {}) == [], mapping
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["sitegen"]
    assert complaints("config", config) == []


@in_table
def test_what_the_readers_refuse_the_schemas_refuse(name, document):
    schema = json.loads(schemas.content(name))
    assert [*jsonschema.Draft202012Validator(schema).iter_errors(document)] != []


@pytest.mark.parametrize(("is_right", "mapping"), MAPPINGS)
def test_a_field_mapping_is_right_by_its_schema_if_it_is_by_its_reader(is_right, mapping):
    assert (compile_rules(mapping.encode(), "{}")[1] == ()) == is_right
    assert (complaints("field-mapping", yaml.safe_load(mapping)) == []) == is_right


@pytest.mark.parametrize("name", sorted(schemas.TITLES))
def test_a_schema_is_one_of_draft_2020_12_and_says_what_it_describes(name):
    schema = json.loads(schemas.content(name))
    jsonschema.Draft202012Validator.check_schema(schema)
    assert {key: schema[key] for key in ("$schema", "$id", "title")} == schemas.head(name)


def test_there_is_a_file_for_every_schema_and_no_other():
    files = {path.name for path in FOLDER.glob("*.json")}
    assert files == {schemas.file_name(name) for name in schemas.TITLES}


def test_every_schema_is_what_the_types_say_now():
    made = generated()
    assert made.keys() == {schemas.file_name(name) for name in schemas.TITLES}
    assert [name for name in made if (FOLDER / name).read_bytes() != made[name]] == [], (
        "make schemas, and read the diff"
    )


def test_schema_prints_one_or_all_of_them():
    one = run("schema", "series")
    assert (one.returncode, one.stderr, one.stdout.encode()) == (0, "", schemas.content("series"))
    every = run("schema")
    assert (every.returncode, every.stderr) == (0, "")
    assert json.loads(every.stdout) == {name: json.loads(schemas.content(name)) for name in schemas.TITLES}


def test_a_schema_that_there_is_not_is_an_error_that_names_those_there_are():
    done = run("schema", "serie")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"sitegen: There is no schema 'serie'.\n  do: Use one of: {', '.join(schemas.TITLES)}.\n"
