"""Configuration: what is understood, and what is said where it is not."""

import json
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Self

import pytest
from pydantic import (
    BeforeValidator,
    Field,
    TypeAdapter,
    ValidationError,
    field_serializer,
    field_validator,
    model_validator,
)

from sitegen.config.manifest import manifest_in_force, read_manifest
from sitegen.config.models import (
    BuildLimits,
    ConfigTable,
    Engine,
    EvalConfig,
    GateSettings,
    Limit,
    Manifest,
    Mute,
    Regressions,
    SiteConfig,
    SlicedLimits,
)
from sitegen.config.site import read_rules, read_site
from sitegen.errors import ConfigurationError
from sitegen.model.problems import Finding, Parsed
from tests.rows import in_table
from tests.scoring.test_tables import tables

PATH = "evals/manifest.yaml"
SITE, UNREADABLE, ENTRIES, KEYS = tables(Path(__file__).with_name("configuration.md").read_text(encoding="utf-8"))


def manifest(text: str) -> Manifest:
    return manifest_in_force(text.encode(), PATH, "evals").value


def refusal(text: str) -> tuple[str, str | None, str | None]:
    with pytest.raises(ConfigurationError) as caught:
        manifest(text)
    return caught.value.message, caught.value.where, caught.value.fix


def lost(text: str) -> tuple[Manifest, list[tuple[str, int | None]]]:
    """The manifest, and what is said of each part that does not count."""
    manifest, findings = manifest_in_force(text.encode(), PATH, "evals")
    assert all(finding.severity == "error" for finding in findings)
    return manifest, [(finding.message, finding.line) for finding in findings]


def site(folder: Path, text: str, name: str = "sitegen.toml") -> Parsed[SiteConfig]:
    (folder / name).write_text(text)
    return read_site(partial(read_rules, folder))


def test_without_any_file_the_defaults_hold(tmp_path: Path) -> None:
    assert read_site(partial(read_rules, tmp_path)) == Parsed(SiteConfig())


def test_every_key_of_the_site_is_read(tmp_path: Path) -> None:
    (tmp_path / "sitegen.toml").write_text(
        'title = " Mine "\nbase_url = "https://example.org"\ninstructions = ["a/*.md"]\n'
        "[limits]\ndiscrepancies_per_type = 7\n[engine]\njobs = 2\n"
        '[[regressions.mute]]\neval = "a"\ncommit = "1a2b3c4"\nwhy = "known"\n'
        '[gate]\nfloor = 0.5\nnoise = false\nremoved = ["old"]\nmetrics.recall = {drop = 1}\n'
        '[gate.evals."a.b"]\ndrop = 2.5\nmetrics = {f1 = {floor = 0.9}}\n'
    )
    assert read_site(partial(read_rules, tmp_path)).value == SiteConfig(
        title="Mine",
        base_url="https://example.org",
        instructions=("a/*.md",),
        limits=BuildLimits(discrepancies_per_type=7),
        engine=Engine(jobs=2),
        regressions=Regressions(mute=(Mute(eval="a", commit="1a2b3c4", why="known"),)),
        gate=GateSettings(
            floor=0.5,
            noise=False,
            removed=("old",),
            metrics={"recall": Limit(drop=1)},
            evals={"a.b": SlicedLimits(drop=2.5, metrics={"f1": Limit(floor=0.9)})},
        ),
    )


def test_the_table_of_pyproject_counts_where_there_is_no_file_of_our_own(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "x"\n[tool.sitegen]\ntitle = "Theirs"\n')
    assert read_site(partial(read_rules, tmp_path)).value.title == "Theirs"
    (tmp_path / "sitegen.toml").write_text('title = "Ours"\n')
    assert read_site(partial(read_rules, tmp_path)).value.title == "Ours"


def test_a_repository_without_a_work_tree_is_read_through_git() -> None:
    assert read_site(lambda name, _: {"sitegen.toml": b'title = "Bare"'}.get(name)).value.title == "Bare"


@pytest.mark.parametrize("row", SITE, ids=lambda row: row["text"])
def test_what_is_not_understood_is_named_with_its_line_and_lost_alone(tmp_path: Path, row: dict[str, str]) -> None:
    read, findings = site(tmp_path, f"{json.loads(row['text'])}\n[public]\nallow = ['kept']\n")
    said = next(finding for finding in findings if finding.message.startswith(row["message"]))
    assert (said.severity, str(said.line), said.fix) == ("error", row["line"], row["what to do"])
    assert read.public.allow == ("kept",)


@pytest.mark.parametrize("row", UNREADABLE, ids=lambda row: row["text"])
def test_what_the_manifest_says_wrongly_is_named_with_its_line(row: dict[str, str]) -> None:
    said, where, _ = refusal(json.loads(row["text"]))
    assert said.startswith(row["message"])
    assert where == f"{PATH}:{row['line']}"


@pytest.mark.parametrize("row", ENTRIES, ids=lambda row: row["entry"])
def test_a_wrong_value_of_an_entry_is_lost_alone_and_named(row: dict[str, str]) -> None:
    manifest, said = lost(f"evals:\n  {json.loads(row['entry'])}\n  b: {{dir: x}}\n")
    assert manifest == Manifest(evals=(EvalConfig(id="a"), EvalConfig(id="b", dir="x")))
    assert said == [(f"{row['message']} It does not count.", int(row["line"]))]


@pytest.mark.parametrize("row", KEYS, ids=lambda row: row["key"])
def test_a_key_that_is_nearly_a_known_one_is_remarked_on(row: dict[str, str]) -> None:
    content = f"evals:\n  a:\n    owner: Kim\n    {row['key']}: x\n".encode()
    manifest, remarks = manifest_in_force(content, PATH, "evals")
    assert manifest.entry("a").metadata == {"owner": "Kim", row["key"]: "x"}
    assert remarks == (
        Finding(
            severity="warning",
            message=f"The key 'evals.a.{row['key']}' is not known and counts as metadata.",
            fix=f"Write {row['near']!r} if that is meant; otherwise give it a name that is less like it.",
            line=4,
        ),
    )


def test_only_what_is_wrong_of_a_table_is_lost(tmp_path: Path) -> None:
    read, findings = site(
        tmp_path,
        'title = 3\nnoindex = true\ninstructions = ["../x", "a.md", 7]\n[gate]\ndrop = "a"\nfloor = 0.5\n'
        '[[regressions.mute]]\neval = "a"\n[[regressions.mute]]\neval = "b"\ncommit = "1a2b3c4"\nwhy = "known"\n',
    )
    assert len(findings) == 5
    assert read == SiteConfig(
        noindex=True,
        instructions=("a.md",),
        gate=GateSettings(floor=0.5),
        regressions=Regressions(mute=(Mute(eval="b", commit="1a2b3c4", why="known"),)),
    )


@in_table
def test_a_configuration_that_may_hide_values_in_vain_ends_the_command(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        site(tmp_path, text)
    assert caught.value.where == "sitegen.toml:1"


def test_a_key_of_pyproject_is_named_with_its_line(tmp_path: Path) -> None:
    text = '[project]\ntitel = "not ours"\n[tool.sitegen]\ntitel = "x"\n'
    (unknown,) = site(tmp_path, text, "pyproject.toml").findings
    assert unknown.message == "The key 'titel' is not known. It does not count."
    assert (unknown.fix, unknown.file, unknown.line) == ("Did you mean 'title'?", "pyproject.toml", 4)
    (other,) = site(tmp_path, "[tool]\nsitegen = 5\n", "pyproject.toml").findings
    assert other.message == "[tool.sitegen] is a number (5), a table is wanted. It does not count."
    assert (other.fix, other.file, other.line) == ("Write [tool.sitegen].", "pyproject.toml", None)


def test_lines_are_found_beside_names_of_any_depth_and_any_number_of_tables(tmp_path: Path) -> None:
    many = f"# {'a.' * 100_000} =\n" + "[[regressions.mute]]\nevl = 1\n" * 2_000
    assert [found.line for found in site(tmp_path, many).findings if "evl" in found.message] == [*range(3, 4_002, 2)]


def test_an_entry_of_the_manifest_is_read_with_what_it_says_besides_as_metadata() -> None:
    text = """
version: 2.0
evals:
  till-receipts:
    name: Till receipts
    dir: evals/tills
    ground_truth_format: long
    aliases: tills
    instructions: [a/**, b.md]
    thresholds: {f1: 0.9, recall: 1}
    settings: {b: 1, a: {ü: [x]}}
    pdf: plans.pdf
    features: [Small, 2]
    expected: {walls: 4}
    built: 2020-01-02
  plain:
  7: {name: Number}
"""
    assert manifest(text) == Manifest(
        evals=(
            EvalConfig(
                id="till-receipts",
                name="Till receipts",
                dir="evals/tills",
                ground_truth_format="long",
                aliases=("tills",),
                instructions=("a/**", "b.md"),
                thresholds={"f1": 0.9, "recall": 1.0},
                settings='{"a":{"ü":["x"]},"b":1}',
                metadata={
                    "pdf": "plans.pdf",
                    "features": '["Small",2]',
                    "expected": '{"walls":4}',
                    "built": "2020-01-02",
                },
            ),
            EvalConfig(id="plain"),
            EvalConfig(id="7", name="Number"),
        )
    )


@pytest.mark.parametrize("text", ["", "# nothing\n", "evals:\n", "{}"])
def test_an_empty_manifest_names_no_evals(text: str) -> None:
    assert manifest(text) == Manifest()


@pytest.mark.parametrize("stated", ["5", "[a, 5]", "{b: c}"])
def test_an_eval_whose_hidden_fields_are_not_known_shows_none(stated: str) -> None:
    manifest, [(what, line)] = lost(f"evals:\n  a:\n    redact: {stated}\n")
    assert manifest.entry("a").redact == ("*",)
    assert what.endswith(" is wanted. Every value of the eval is hidden.")
    assert line == 3


def test_an_eval_whose_hidden_fields_have_a_misspelt_key_shows_none() -> None:
    manifest, [finding] = manifest_in_force(b"evals:\n  a:\n    redcat: [b]\n", PATH, "evals")
    assert manifest.entry("a").redact == ("*",)
    assert (finding.message, finding.fix[:14], finding.line) == (
        "The key 'evals.a.redcat' is not known and counts as metadata. Every value of the eval is hidden.",
        "Write 'redact'",
        3,
    )


def test_a_misspelt_key_for_the_evals_is_named() -> None:
    assert lost("version: 2\neval: {}\n") == (Manifest(), [("The key 'eval' is not known. It does not count.", 2)])


def test_a_key_of_the_manifest_that_nothing_depends_on_is_lost_alone_and_remarked_on() -> None:
    content = b"owner: Kim\nverison: 3\nevals:\n  a: {name: [x], description: 3, dir: b}\n? [a, b]\n: 1\n"
    manifest, remarks = manifest_in_force(content, PATH, "evals")
    assert manifest == Manifest(evals=(EvalConfig(id="a", dir="b"),))
    assert [(each.severity, each.message, each.fix, each.line) for each in remarks] == [
        ("warning", "The key 'owner' is not known. It does not count.", "Known keys: evals, version.", 1),
        ("warning", "The key 'verison' is not known. It does not count.", "Did you mean 'version'?", 2),
        ("warning", "The key '?' is not known. It does not count.", "Known keys: evals, version.", 5),
        ("warning", "evals.a.name is a list, text is wanted. It does not count.", "Correct the value.", 4),
        ("warning", "evals.a.description is a number (3), text is wanted. It does not count.", "Correct the value.", 4),
    ]


def test_metadata_is_not_remarked_on() -> None:
    words = (
        "features pdf expected notes owner type model path source names languages tags team page pages title date kin "
    )
    words += "text file files folder link truth author status direction input inputs dim mind game redacted script set"
    entry = "".join(f"    {word}: x\n" for word in words.split())
    assert manifest_in_force(f"evals:\n  a:\n{entry}".encode(), PATH, "evals")[1] == ()


def test_an_id_beside_the_key_that_counts_is_remarked_on() -> None:
    _, remarks = manifest_in_force(b"evals:\n  a: {id: a}\n  b: {id: c}\n", PATH, "evals")
    assert [(each.message, each.line) for each in remarks] == [
        ("The eval 'b' has the key id, text ('c'), which does not count.", 3)
    ]


def test_a_manifest_that_cannot_be_read_is_none() -> None:
    manifest, [finding] = read_manifest(b"\xff\xfe\x00", "evals")
    assert (manifest, finding.severity) == (None, "error")


def test_documents_that_would_grow_are_refused() -> None:
    bomb = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 11))
    assert refusal(bomb)[0] == "The manifest cannot be read: it grows beyond 200,000 keys and values."
    too_deep = "The manifest cannot be read: it is nested deeper than 100 levels."
    for nested in ("[" * 100_000, "[" * 200, "[\n" * 200, "- " * 100_000, "- " * 200):
        assert refusal(f"# \n{nested}")[0] == too_deep, nested[:9]
    assert refusal("# " + "x" * 1_000_000)[0] == "The manifest cannot be read: it has 1,000,002 bytes."


@pytest.mark.parametrize("stated", ["{}", "5", "{ground_truth: a.csv}", "{dir: ../a}", '{dir: "a\\0"}'])
def test_an_entry_whose_folder_is_outside_the_project_is_lost_with_a_problem_at_its_line(stated: str) -> None:
    text = f"evals:\n  ../../a: {stated}\n  b: {{}}\n"
    manifest, findings = read_manifest(text.encode(), "evals")
    assert manifest is not None
    assert [entry.id for entry in manifest.evals] == ["b"]
    message = findings[-1].message
    assert message == "evals.../../a is text ('evals/../../a'): it leads out of the project. It does not count."
    assert {finding.line for finding in findings} == {2}


def test_an_id_may_look_like_a_path_if_its_entry_states_a_folder() -> None:
    manifest, findings = read_manifest(b"evals:\n  ../../a: {dir: a}\n", "evals")
    assert manifest is not None
    assert ([entry.dir for entry in manifest.evals], findings) == (["a"], ())


def _words(stated: Any) -> Any:
    return stated.split() if isinstance(stated, str) else stated


@dataclass(frozen=True, kw_only=True)
class Purse(ConfigTable):
    """A table in which every means of pydantic is used that looks at a value."""

    owner: str
    coins: Annotated[int, Field(ge=0)] = 0
    notes: Annotated[tuple[str, ...], BeforeValidator(_words)] = ()

    @field_validator("owner")
    @classmethod
    def _in_lower_case(cls, owner: str) -> str:
        return owner.lower()

    @model_validator(mode="before")
    @classmethod
    def _with_notes(cls, stated: Any) -> Any:
        return {"notes": "found lost"} | stated

    @model_validator(mode="after")
    def _is_not_of_nobody(self) -> Self:
        if self.owner == "nobody":
            raise ValueError("nobody has no purse")
        return self

    @field_serializer("coins")
    def _in_words(self, coins: int) -> str:
        return f"{coins} coins"


def test_what_pydantic_finds_in_a_table_holds_as_in_a_model_of_its_own() -> None:
    adapter: TypeAdapter[Purse] = TypeAdapter(Purse)
    purse = adapter.validate_python({"owner": " KIM ", "coins": 3})
    assert purse == Purse(owner="kim", coins=3, notes=("found", "lost"))
    assert adapter.dump_python(purse) == {"owner": "kim", "coins": "3 coins", "notes": ("found", "lost")}
    assert [adapter.validate_python({"owner": "a", "notes": ["b"]}).notes, Purse(owner="A").owner] == [("b",), "A"]
    for stated, what in (
        ({"owner": "a", "coins": -1}, "greater than or equal to 0"),
        ({"owner": "Nobody"}, "nobody has no purse"),
        ({"coins": 1}, "owner"),
        ({"owner": "a", "coin": 1}, "coin"),
    ):
        with pytest.raises(ValidationError, match=what):
            adapter.validate_python(stated)


def test_a_table_inside_another_is_written_by_its_own_serializers() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Chest(ConfigTable):
        purses: tuple[Purse, ...] = ()

    adapter: TypeAdapter[Chest] = TypeAdapter(Chest)
    chest = adapter.validate_python({"purses": [{"owner": "A", "notes": []}]})
    assert adapter.dump_python(chest) == {"purses": ({"owner": "a", "coins": "0 coins", "notes": ()},)}
