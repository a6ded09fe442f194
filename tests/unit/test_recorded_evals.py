"""Recorded numbers: through history, on every page, at the gate, in the terminal, beside what the files give."""

import json
import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from sitegen.api import history
from sitegen.model.metrics import Counts, Metric
from sitegen.model.scorecards import Scorecard, Status
from sitegen.model.series import Point
from sitegen.model.timeline import Cause, Snapshot
from sitegen.pages.report.why_rows import agrees, agrees_with_now, recorded_rows, why_otherwise
from tests import pages_sample as sample
from tests.gitrepo import GitRepo
from tests.rows import in_table
from tests.sites import broken_links, build_site, content, differences, problems_text, run
from tests.unit.test_schemas import complaints

MANIFEST = """evals:
  sums:
    name: Sums
    kind: recorded
    outputs: results/sums-*.json
    thresholds: {latency_ms: 1500}
    settings: {metrics: [retail.f1, latency_ms], where: {model: small}}
  speed:
    kind: recorded
  mistakes: {kind: recorded}
  latest:
    kind: recorded
    outputs: latest.json
    settings: {where: {model: small}}
"""
LEVELS = (0.81, 0.8, 0.82, 0.8, 0.81, 0.8, 0.6, 0.61, 0.6, 0.59, 0.6, 0.61)


def recorded(number: int, model: str = "small") -> str:
    numbers = {"retail": {"f1": LEVELS[number]}, "latency_ms": 1200 + number, "cost": 0.00012}
    return json.dumps({"model": model, **numbers})


def commit(repo: GitRepo, number: int) -> None:
    later = {"f1": 0.5} if number > 4 else {}
    files = {
        f"evals/sums/results/sums-{number:02d}.json": recorded(number),
        f"evals/sums/results/sums-{number:02d}-large.json": recorded(number, "large"),
        "evals/speed/metrics.json": json.dumps({"loss": 2.5 / (number + 1), "step": number, "=x": 1} | later),
        "evals/mistakes/metrics.json": json.dumps({"errors": 22 - number}),
        "evals/latest/latest.json": recorded(number, "large" if number % 2 else "small"),
        "evals/speed/ground_truth.csv": f"id,a\n1,{number}\n",
    }
    if number in (0, 6):
        files["prompts/sum.md"] = f"# Version {number}\n"
    repo.commit(files, message=f"Run {number}")


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> tuple[GitRepo, Path, Path]:
    """A repository, its site built in two parts, and built at once."""
    folder = tmp_path_factory.mktemp("recorded")
    repo = GitRepo(folder / "repo")
    repo.commit({"evals/manifest.yaml": MANIFEST})
    for number in range(4):
        commit(repo, number)
    build_site(repo.path, folder / "parts", jobs=1)
    for number in range(4, len(LEVELS)):
        commit(repo, number)
    build_site(repo.path, folder / "parts", jobs=1)
    build_site(repo.path, folder / "once", jobs=1, cache=folder / "memo")
    return repo, folder / "parts", folder / "once"


def page(site: Path, address: str) -> str:
    return (site / address).read_text("utf-8")


def test_a_site_built_in_parts_is_the_one_built_at_once_though_numbers_were_added(sites):
    _, parts, once = sites
    assert differences(parts, once) == []
    assert broken_links(once) == []
    assert "No problems" in problems_text(once)


def test_only_runs_that_state_what_is_wanted_are_points_and_settings_and_truth_start_none(sites):
    _, _, site = sites
    sums = json.loads(page(site, "data/evals/sums.json"))["points"]
    assert [point["label"] for point in sums] == [f"sums-{number:02d}" for number in range(len(LEVELS))]
    assert [point["then"]["metrics"]["retail.f1"] for point in sums] == list(LEVELS)
    latest = json.loads(page(site, "data/evals/latest.json"))["points"]
    assert [point["then"]["metrics"]["retail.f1"] for point in latest] == list(LEVELS[::2])
    speed = json.loads(page(site, "data/evals/speed.json"))["points"]
    assert [point["cause"] for point in speed] == [["outputs"]] * len(LEVELS)
    assert list(speed[-1]["then"]["metrics"]) == ["=x", "loss"]
    assert ",'=x,loss," in page(site, "data/evals/speed.csv").split("\n", 1)[0]
    assert [point["now"] for point in speed] == [None] * len(LEVELS)
    assert speed[-1]["delta"]["parts"] is None
    assert speed[-1]["then"]["f1"] == 0.5


@in_table
def test_every_page_of_it_says_that_its_numbers_are_recorded(sites, address):
    assert "recorded" in page(sites[2], address)


def test_the_page_of_a_commit_and_of_an_edit_say_so_as_well(sites):
    repo, _, site = sites
    sha = repo.git("log", "--format=%H", "--grep", "Run 6$")[:12]
    of_commit = page(site, f"commits/{sha}.html")
    assert ">recorded</span>" in of_commit
    assert "whether this is more than chance is unknown" in of_commit
    (edit,) = (path for path in content(site) if path.startswith("instructions/") and path.endswith(f"{sha}.html"))
    assert ">recorded</span>" in page(site, edit)


@pytest.mark.parametrize("address", ["evals/sums/index.html", "evals/sums/0007-sums-06.html"])
def test_nothing_is_claimed_that_only_cases_can_give(sites, address):
    text = re.sub(r"<[^>]+>|\s+", " ", page(sites[2], address))
    for word in ("95 %", "Discrepanc", "Fixed", "Broken", "still wrong", "Errors", "More than chance", "label may be"):
        assert word not in text


def test_the_trend_shows_every_number_its_direction_and_the_step_with_the_edit_beside_it(sites):
    trend = page(sites[2], "evals/sums/index.html")
    assert "Recorded by the run; higher is better (guessed from the name)." in trend
    assert "Recorded by the run; lower is better (guessed from the name)." in trend
    assert "retail.f1 −0.205 at sums-06" in trend
    regressions = " ".join(re.sub(r"<[^>]+>", "", page(sites[2], "regressions.html")).split())
    assert "New output. With Run 6 (Ann) prompts/sum.md" in regressions
    assert "retail.f1 0.807 → 0.602" in regressions


def test_numbers_of_things_are_whole_on_every_page(sites):
    for page in ("mistakes/index.html", "mistakes/0012.html", "mistakes/compare.html"):
        said = (sites[2] / "evals" / page).read_text(encoding="utf-8")
        assert re.search(r"(?:>|<b>|then )11\b(?!\.)", said), page
        assert not re.search(r"\b(?:11|12|22)\.000", said), page
    assert '"whole":[0]' in (sites[2] / "evals/mistakes/index.html").read_text(encoding="utf-8")
    assert "11.000" not in (sites[2] / "index.html").read_text(encoding="utf-8")


def test_numbers_of_things_are_whole_for_machines_and_on_the_axis_of_the_trend_too(sites):
    texts = {name: page(sites[2], name) for name in ("feed.xml", "summary.md", "badges/mistakes.svg")}
    assert "mistakes, errors 12 to 11 (recorded)" in texts["feed.xml"]
    assert re.search(r"\| +11 \|", texts["summary.md"])
    assert ">11<" in texts["badges/mistakes.svg"]
    for name, written in texts.items():
        assert not re.search(r"\b(?:1[0-9]|2[0-2])\.0+\b", written), name
    assert not re.search(r"<text[^>]*>[0-9]+\.[0-9]+<", page(sites[2], "evals/mistakes/index.html"))


def test_a_target_of_what_is_better_lower_is_a_ceiling(sites):
    report = re.sub(r"<[^>]+>|\s+", " ", page(sites[2], "evals/sums/0007-sums-06.html"))
    assert "latency_ms 1,206 1,500 PASS" in re.sub(r" +", " ", report)


def test_the_gate_holds_recorded_numbers_and_takes_any_drop_for_one(sites):
    repo, _, _ = sites
    done = run("check", "--base", "HEAD~6", "--exact", "--json", cwd=repo.path)
    assert done.returncode == 1, done.stderr
    found = json.loads(done.stdout)
    sums = next(one for one in found["evals"] if one["eval_id"] == "sums")
    headline = sums["metrics"][0]
    assert (headline["name"], headline["reasons"], headline["noise"]) == ("retail.f1", ["dropped"], None)
    assert headline["points"] == pytest.approx(-19)
    told = [(one["name"], one["higher_is_better"], one["range"]) for one in sums["metrics"]]
    assert told == [("retail.f1", True, [0.0, 1.0]), ("latency_ms", False, [0.0, 2000.0])]


def test_the_terminal_compares_and_verifies_them(sites):
    repo, _, _ = sites
    repo.checkout()
    done = run("compare", "sums@1", "sums@12", "--json", cwd=repo.path)
    assert done.returncode == 0, done.stderr
    (change,) = json.loads(done.stdout)["changes"]
    told = [(one["name"], one["before"], one["after"]) for one in change["metrics"]]
    assert told == [("retail.f1", 0.81, 0.61), ("latency_ms", 1200.0, 1211.0)]
    assert change["verdict"] is None
    done = run("verify-one", "speed", "--json", cwd=repo.path)
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    assert complaints("recorded-results", printed) == []
    seen = [(one["name"], one["higher_is_better"]) for one in printed["numbers"]]
    assert seen == [("=x", True), ("loss", False), ("f1", True)]


def test_a_number_of_several_models_is_their_mean_and_changes_by_the_models_that_both_runs_have(repo, tmp_path):
    repo.commit(
        {f"results/{model}.json": f'{{"accuracy": 0.{rate}}}' for model, rate in (("gpt-4o", 4), ("llama-3", 6))}
    )
    repo.commit(
        {"results/llama-3.json": '{"accuracy": 0.8}', "results/claude-4.json": '{"accuracy": 0.9, "recall": 1}'}
    )
    found = history(repo.path, "evals", cache=tmp_path / "memo")
    second = found.points[1]
    assert [point.scorecard.metric("accuracy") for point in found.points] == pytest.approx([0.5, 0.7])
    assert second.change is not None
    assert second.change.metrics[0].change == pytest.approx(0.1)
    assert set(found.slices()["slice"]) == {"gpt-4o", "llama-3", "claude-4"}
    repo.commit(
        {"results/llama-3.json": "{", "results/claude-4.json": None, "results/gpt-4o.json": '{"accuracy": 0.3}'}
    )
    last = history(repo.path, "evals", cache=tmp_path / "memo").points[2]
    assert last.change is not None
    assert (last.scorecard.metric("accuracy"), last.change.metrics[0].change) == pytest.approx((0.3, -0.1))
    build_site(repo.path, tmp_path / "site")
    report = (tmp_path / "site/evals/evals/0002.html").read_text()
    assert "accuracy by model" in report
    assert "cannot tell" not in report
    repo.check_in(
        {"sitegen.toml": 'redact = ["recall"]\n', "results/claude-4.json": '{"accuracy": 0.9, "recall": 0.77131}'}
    )
    build_site(repo.path, tmp_path / "site")
    assert [path for path in (tmp_path / "site").rglob("*.*") if b"0.771" in path.read_bytes()] == []


COUNTS = Counts(tp=2, fp=2, fn=2, wrong_value=2)


def snapshot(recorded: dict[str, float], *cause: Cause) -> Snapshot:
    return sample.snapshot(
        1, replace(sample.commit(0), subject="Read"), cause or ("outputs",), recorded_metrics=recorded
    )


def card(status: Status = "scored", f1: float = 0.5) -> Scorecard:
    metrics = (Metric("f1", f1), Metric("precision", 0.5), Metric("recall", 0.5))
    return Scorecard(status=status, counts=COUNTS, metrics=metrics, documents=(), fields=(), expected_values=4)


def test_what_differs_is_shown_with_both_numbers():
    rows = recorded_rows({"f1": 0.61, "precision": 0.5, "false_negatives": 4}, card(), sample.SPECS)
    assert [row for row in rows if not agrees(row)] == [("F1", 0.61, 0.5, False), ("False negatives", 4, 2, True)]
    assert len(rows) == 3


FURTHER = (
    "Possible causes are other tolerances, another pairing of list items, and ignored or unmapped fields that count."
)


@in_table
def test_the_reason_is_what_the_numbers_show(recorded, cause, why):
    assert why_otherwise(snapshot(recorded, *cause), card(), sample.SPECS, None, explained=False) == why.replace(
        "FURTHER", FURTHER
    )


def test_values_that_were_computed_until_the_ground_truth_changed_are_those_of_before():
    before = replace(sample.series(1).points[0], snapshot=snapshot({}), scorecard=card(f1=0.7))

    def why(f1: float, *cause: Cause) -> str:
        return why_otherwise(snapshot({"f1": f1}, *cause), card(), sample.SPECS, before, explained=False)

    assert why(0.7, "ground_truth") == (
        "The same output gave the recorded values until this commit: ground truth changed."
    )
    assert why(0.8, "ground_truth") == f"Since it was written: ground truth changed. {FURTHER}"
    assert why(0.7) == f"The file states too little to tell why its numbers differ. {FURTHER}"


def test_nothing_is_compared_that_was_not_recorded_or_cannot_be_computed():
    series = sample.series(1)
    cases: tuple[tuple[dict[str, float], Status], ...] = (
        ({}, "scored"),
        ({"speed": 7.0}, "scored"),
        ({"f1": 0.5}, "no_ground_truth"),
    )
    for recorded, status in cases:
        point = replace(series.points[0], snapshot=snapshot(recorded), scorecard=card(status))
        result = replace(sample.result([]), scorecard=point.scorecard)
        page = sample.report(series, point, None, result).page
        view = sample.view_of(page)
        assert (view.recorded, view.recorded_headline) == ([], None)


@pytest.mark.parametrize(
    ("recorded", "now", "agrees"),
    [
        ({"f1": 0.7}, card(f1=0.7), True),
        ({"f1": 0.7, "recall": 0.9}, card(f1=0.7), False),
        ({"f1": 0.5}, card(f1=0.7), False),
        ({"speed": 7}, card(f1=0.7), False),
        ({}, card(f1=0.7), False),
        ({"f1": 0.7}, None, False),
    ],
)
def test_a_record_of_what_a_later_ground_truth_gives_is_told_on_the_trend(
    recorded: dict[str, float], now: Scorecard | None, agrees: bool
) -> None:
    point = Point(snapshot(recorded), card(), (), now=now)
    assert agrees_with_now(point, sample.SPECS) is agrees
    view = sample.view_of(sample.trend(replace(sample.series(1), points=(point,))))
    assert view.recorded_by_now == agrees
