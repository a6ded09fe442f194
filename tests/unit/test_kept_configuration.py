"""What was read of configuration and mappings is kept between builds, and is the same as if it were read again."""

import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest

from sitegen.config.models import Manifest
from sitegen.engine.cached_kinds import CONFIGURATION, Configuration, TaskCache
from sitegen.engine.configuration import kept_manifest, kept_site_config
from sitegen.history.files_at_commit import FilesAt
from sitegen.history.repository import Repository
from sitegen.model.problems import Finding, Parsed
from sitegen.scoring.mapping import Mapping, kept_mapping, mapping_read, read_mapping, remember
from tests.gitrepo import GitRepo
from tests.names import MAPPING
from tests.sites import build_site, content

TRUTH = "id,name,total\na,Ann,1\n"
MANIFEST = (
    "evals:\n  names:\n    name: Names\n    owner: Kim\n    thresholds: {f1: 0.9}\n    settings: {coerce: true}\n"
)
SITE = 'title = "All names"\n\n[limits]\ndiscrepancies_per_type = 7\n'


class Kept(TaskCache):
    """Parts that count how often something is put."""

    def __init__(self) -> None:
        super().__init__(())
        self.puts = 0

    def put(self, kind: str, key: str, content: bytes) -> None:
        super().put(kind, key, content)
        self.puts += 1


def output(total: int) -> str:
    return f'{{"docs": [{{"id": "a", "name": "Ann", "total": {total}}}]}}'


@pytest.fixture
def project(tmp_path: Path) -> GitRepo:
    repo = GitRepo(tmp_path / "project")
    repo.commit({"evals/manifest.yaml": MANIFEST, "evals/field_mapping.yaml": MAPPING, "sitegen.toml": SITE})
    repo.commit({"evals/names/ground_truth.csv": TRUTH, "evals/names/extracted.json": output(3)})
    repo.checkout()
    return repo


@pytest.mark.parametrize(
    "read",
    [
        Parsed(Mapping()),
        read_mapping(MAPPING.encode(), '{"null_values":["N/A",-99],"tolerances":{"default":{"percent":0.50}}}'),
        read_mapping(b"tolerence: 1\nfields:\n  a: {percent: x}\n", "{}"),
        Parsed(Mapping(ignore=("\ud800",))),
        Parsed(
            Mapping(ignore=("caf\N{LATIN SMALL LETTER E WITH ACUTE}",)),
            (Finding(severity="error", message="a", fix="b", line=3, about="mapping"),),
        ),
    ],
)
def test_a_mapping_that_was_kept_is_the_mapping_that_was_read(read: Parsed[Mapping]) -> None:
    parts, kept = Kept(), kept_mapping(read)
    assert kept is not None
    CONFIGURATION.keep(parts, "key", Configuration(mapping=kept))
    found = CONFIGURATION.get(parts, "key")
    assert found is not None
    again = found.mapping
    assert again is not None
    assert mapping_read(again) == read


def test_a_mapping_that_json_cannot_hold_is_not_kept() -> None:
    assert kept_mapping(Parsed(Mapping(null_values=(Decimal("0.5"),)))) is None


@pytest.mark.parametrize("body", [b"", b"{}", b'{"mapping":[{"coerce":7},[]]}', b"\xff"])
def test_what_is_no_kept_mapping_is_read_again(body: bytes) -> None:
    parts = Kept()
    parts.put(CONFIGURATION.name, "key", body)
    found = CONFIGURATION.get(parts, "key")
    assert found is None or found.mapping is None


def test_a_mapping_that_is_remembered_is_not_read() -> None:
    said = Parsed(Mapping(coerce=True))
    remember(b"of an earlier build", "{}", said)
    assert read_mapping(b"of an earlier build", "{}") is said
    assert read_mapping(b"coerce: false", "{}") == (Mapping(), ())


def test_configuration_is_read_once_and_again_when_it_changes(project: GitRepo) -> None:
    parts = Kept()

    def read() -> tuple[str | None, int, Manifest]:
        files = FilesAt(Repository.open(project.path).place, project.git("rev-parse", "HEAD"))
        site = kept_site_config(files, parts).value
        return site.title, parts.puts, kept_manifest(files, site, parts, worktree=False).value

    title, puts, first = read()
    assert (title, puts, [entry.thresholds for entry in first.evals]) == ("All names", 1, [{"f1": 0.9}])
    assert read() == ("All names", 2, first)
    project.commit({"evals/manifest.yaml": MANIFEST.replace("0.9", "0.8"), "sitegen.toml": "title = 'Names'"})
    project.checkout()
    title, puts, changed = read()
    assert (title, puts, [entry.thresholds for entry in changed.evals]) == ("Names", 3, [{"f1": 0.8}])
    assert parts.puts == 4


UNNEEDED = {
    *("typer", "pydantic", "yaml", "email", "xml", "base64", "markdown_it", "rapidfuzz"),
    *("sitegen.analysis.mapping_lines", "sitegen.history.worktree", "sitegen.model.gate"),
    *("sitegen.pages.report.tree_source", "sitegen.engine.sources"),
    *("sitegen.engine.own_templates", "sitegen.engine.own_templates", "sitegen.scoring.judged.formats"),
    *("sitegen.scoring.highlights", "sitegen.scoring.responses.scorer"),
    *("sitegen.scoring.judged.scorer", "sitegen.scoring.recorded"),
}


def modules_of_one_more_build(project: GitRepo, out: Path, names: set[str]) -> str:
    """Which of these modules a build imports, as text."""
    program = (
        "import sys; from pathlib import Path; from tests.sites import build_site\n"
        "build_site(Path(sys.argv[1]), Path(sys.argv[2]))\n"
        f"print({names} & sys.modules.keys())"
    )
    arguments = [sys.executable, "-c", program, str(project.path), str(out)]
    done = subprocess.run(arguments, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_one_more_output_imports_nothing_that_only_other_projects_need_and_gives_the_bytes_of_a_cold_build(
    project: GitRepo, tmp_path: Path
) -> None:
    build_site(project.path, tmp_path / "out")
    project.commit({"evals/names/extracted.json": output(1)})
    project.checkout()
    assert modules_of_one_more_build(project, tmp_path / "out", UNNEEDED) == "set()"
    build_site(project.path, tmp_path / "cold")
    assert content(tmp_path / "out") == content(tmp_path / "cold")


def test_an_edit_of_instructions_reads_no_configuration_again_and_gives_the_bytes_of_a_cold_build(
    project: GitRepo, tmp_path: Path
) -> None:
    project.commit({"CLAUDE.md": "Read every line.\n", "evals/names/extracted.json": output(1)})
    build_site(project.path, tmp_path / "out")
    project.commit({"CLAUDE.md": "Read every line twice.\n"})
    assert modules_of_one_more_build(project, tmp_path / "out", {"pydantic", "yaml"}) == "set()"
    build_site(project.path, tmp_path / "cold")
    assert content(tmp_path / "out") == content(tmp_path / "cold")
