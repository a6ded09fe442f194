"""Metrics of installed packages: the example of EXTENDING.md, installed and used."""

import json
import os
import re
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from sitegen.analysis.deltas import Compared
from sitegen.analysis.noise.changes import metric_verdict
from sitegen.analysis.noise.samples import interval_of
from sitegen.config.findings import read_keys
from sitegen.importers.columns import KEYS as TABLE_KEYS
from sitegen.model.metrics import MetricSpec
from sitegen.model.outcomes import Flips
from sitegen.model.scorecards import Scorecard
from sitegen.scoring.highlights_files import KEYS as HIGHLIGHTS_KEYS
from sitegen.scoring.kinds import File, OwnMetric, ScoringInputs, scored_with_own_metrics, scorer
from sitegen.scoring.mapping import Mapping, read_mapping
from sitegen.scoring.recorded import KEYS as RECORDED_KEYS
from tests.gitrepo import GitRepo, put

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / ".github/EXTENDING.md").read_text(encoding="utf-8")
BLOCKS: dict[str, str] = dict(re.findall(r"```(\w+)\n(.*?)```", TEXT, re.DOTALL))
TRUTH = '[{"id": "a", "n": 1}, {"id": "b", "n": 2}]'


def pack(folder: Path, module: str) -> Path:
    """The wheel of the example, with some text as its module."""
    put(folder / "pyproject.toml", BLOCKS["toml"])
    (folder / "house_metrics.py").write_text(module, encoding="utf-8")
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel"], cwd=folder, check=True)
    return next((folder / "dist").glob("*.whl"))


class Environment:
    """A Python that has all that these tests have, and packages of its own."""

    def __init__(self, folder: Path) -> None:
        venv.create(folder, with_pip=False, symlinks=True)
        self.python = folder / "bin/python"
        self.packages = next(folder.glob("lib/python*/site-packages"))
        (self.packages / "tests.pth").write_text(f"{sysconfig.get_path('purelib')}\n{ROOT}\n", encoding="utf-8")

    def install(self, wheel: Path) -> None:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(self.packages)

    def run(self, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        variables = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
        command = [str(self.python), "-m", "sitegen", *arguments]
        return subprocess.run(command, cwd=cwd, env=variables, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    environment = Environment(tmp_path_factory.mktemp("environment"))
    environment.install(pack(tmp_path_factory.mktemp("package") / "house", BLOCKS["python"]))
    return environment


@pytest.fixture
def project(repo: GitRepo) -> GitRepo:
    start = {"CLAUDE.md": "# Rules\n", "evals/invoices/ground_truth.json": TRUTH}
    repo.commit({**start, "evals/invoices/extracted.json": TRUTH.replace("2", "3")})
    repo.commit({"evals/manifest.yaml": BLOCKS["yaml"]}, message="Measure clean documents")
    repo.check_in({"evals/invoices/extracted.json": TRUTH})
    return repo


def series(project: GitRepo, eval_id: str, metric: str) -> list[float | None]:
    data = json.loads((project.path / f"site/data/evals/{eval_id}.json").read_text(encoding="utf-8"))
    return [{**point["now"], **point["now"]["metrics"]}.get(metric) for point in data["points"]]


def test_metrics_of_an_installed_package_are_on_every_page(environment, project):
    done = environment.run("build", cwd=project.path)
    assert (done.returncode, done.stdout.splitlines()[0].partition(";")[0]) == (0, "3 commits, 1 eval, 2 iterations")
    assert series(project, "invoices", "clean_documents") == [0.5, 1.0]
    pages = project.path / "site"
    assert "Clean documents" in (pages / "evals/invoices/0002.html").read_text(encoding="utf-8")
    methods = (pages / "methods.html").read_text(encoding="utf-8")
    assert "The share of documents without any error." in methods
    project.commit({"CLAUDE.md": "# Rules\nAnswer.\n"})
    environment.run("build", cwd=project.path)
    assert (pages / "methods.html").read_text(encoding="utf-8") == methods  # none of the evals is new to this build
    checked = environment.run("check", "--base", "HEAD~2", "--json", cwd=project.path)
    [moved] = json.loads(checked.stdout)["evals"]
    assert "clean_documents" in [metric["name"] for metric in moved["metrics"]]


def test_a_raised_version_is_computed_again(environment, project, tmp_path):
    other = Environment(tmp_path / "environment")
    changed = (
        BLOCKS["python"].replace("version=1", "version=2").replace("return clean / len", "return 0.5 * clean / len")
    )
    environment.run("build", cwd=project.path)
    other.install(pack(tmp_path / "house", changed))
    other.run("build", cwd=project.path)
    assert series(project, "invoices", "clean_documents") == [0.25, 0.5]


def test_a_metric_that_is_not_installed_or_fails_is_a_problem_and_harms_no_other_number(project, tmp_path):
    plain = Environment(tmp_path / "plain")
    done = plain.run("build", cwd=project.path)
    assert done.returncode == 0, done.stderr
    problems = (project.path / "site/problems.html").read_text(encoding="utf-8")
    assert "no installed package has &#39;clean_documents&#39;" in problems
    assert series(project, "invoices", "f1") == [0.5, 1.0]
    failing = BLOCKS["python"].replace("    clean = sum", "    raise ValueError('too few')\n    clean = sum")
    plain.install(pack(tmp_path / "house", failing))
    assert plain.run("build", cwd=project.path).returncode == 0
    problems = (project.path / "site/problems.html").read_text(encoding="utf-8")
    assert "The metric &#39;clean_documents&#39; failed: ValueError: too few" in problems


def test_nothing_of_a_project_is_imported(environment, project, tmp_path):
    bare = Environment(tmp_path / "bare")
    with zipfile.ZipFile(pack(tmp_path / "house", "raise SystemExit('run')")) as archive:
        archive.extractall(project.path)
    done = bare.run("build", cwd=project.path)
    problems = project.path / "site/problems.html"
    assert "run" not in done.stderr.split()
    assert "no installed package has &#39;clean_documents&#39;" in problems.read_text(encoding="utf-8")
    (bare.packages / "editable.pth").write_text(f"{project.path}\n", encoding="utf-8")
    info = next(project.path.glob("*.dist-info"))
    info.rename(bare.packages / info.name)
    site = tmp_path / "site"
    done = bare.run("build", str(project.path), "-o", str(site), "--cache", str(tmp_path / "memo"), cwd=tmp_path)
    assert "run" not in done.stderr.split()
    problems = site / "problems.html"
    assert "does not lie in the environment that runs sitegen" in problems.read_text(encoding="utf-8")


@pytest.mark.parametrize("known", [RECORDED_KEYS, HIGHLIGHTS_KEYS, TABLE_KEYS])
def test_every_kind_knows_the_setting_that_names_installed_metrics(known):
    stated, findings = read_keys('{"own_metrics": ["clean_documents"], "odd": 1}', known)
    assert stated["own_metrics"] == ["clean_documents"]
    assert [finding.message for finding in findings] == ["Unknown key 'odd'"]


def test_an_eval_of_fields_knows_that_setting_too_and_a_mapping_file_does_not():
    assert read_mapping(None, '{"own_metrics": ["clean_documents"]}') == (Mapping(), ())
    [finding] = read_mapping(b"own_metrics: [clean_documents]", "{}").findings
    assert finding.message == "Unknown key 'own_metrics'"


def measured(monkeypatch: pytest.MonkeyPatch, right: int, by_document: dict[str, float] | None) -> Scorecard:
    """Ten documents, so many of them right, with a metric of a package that says what each of them is worth."""
    truth = json.dumps([{"id": f"d{number}", "n": 1} for number in range(10)]).encode()
    output = json.dumps([{"id": f"d{number}", "n": int(number < right)} for number in range(10)]).encode()
    spec = MetricSpec("clean", "Clean", "")
    own = OwnMetric(
        spec=spec,
        version=1,
        kinds=("fields",),
        value=lambda _: right / 10,
        of_documents=None if by_document is None else lambda _: by_document,
    )
    monkeypatch.setattr("sitegen.scoring.kinds.own_metrics", lambda _: (own,))
    inputs = ScoringInputs(outputs=(File("o.json", output),), ground_truth=File("t.json", truth))
    return scored_with_own_metrics(scorer("fields"), inputs).scorecard


def worth(right: int) -> dict[str, float]:
    return {f"d{number}": float(number < right) for number in range(10)}


def test_a_metric_that_gives_its_value_of_each_document_has_an_interval_and_a_noise(monkeypatch) -> None:
    before, after = measured(monkeypatch, 1, worth(1)), measured(monkeypatch, 9, worth(9))
    interval = interval_of(after, "clean")
    assert interval is not None
    assert (interval.unit, interval.n, interval.low < 0.9 < interval.high) == ("documents", 10, True)
    told = metric_verdict(MetricSpec("clean", "Clean", ""), Compared(before, after), Flips())
    assert told is not None
    assert told.decision == "better"
    assert told.change == pytest.approx(0.8)
    without = measured(monkeypatch, 9, None)
    assert (without.metric("clean"), interval_of(without, "clean")) == (0.9, None)


@pytest.mark.parametrize("values", [worth(3), {"x": 0.9}, {"d0": 1.8, "d1": 0.0}])
def test_values_of_documents_that_do_not_make_the_metric_are_a_problem(monkeypatch, values: dict[str, float]) -> None:
    card = measured(monkeypatch, 9, values)
    assert card.metric("clean") is None
    assert "The metric 'clean' failed: ValueError" in card.findings[0].message
    assert interval_of(card, "clean") is None
