"""Outputs that several variants and models answered, and cases with tags: the numbers of each group of answers."""

import csv
import io
import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from sitegen import api
from sitegen.analysis.noise.samples import interval_of
from sitegen.analysis.slices import Split, cheapest, crowded, slices_of, splits
from sitegen.errors import ConfigurationError
from sitegen.model.scorecards import Scorecard
from sitegen.questions.gate_junit import gate_junit
from sitegen.scoring.kinds import File, ScoringInputs, scorer
from sitegen.scoring.redaction import redaction
from sitegen.text.values import schema_first
from tests.gitrepo import GitRepo
from tests.rows import in_table
from tests.scored import scored as scored_files
from tests.scoring.test_tables import tables
from tests.sites import build_site, run, text_of
from tests.unit.test_schemas import complaints

COLUMNS = {name: name for name in ("id", "variant", "model", "score", "cost", "latency")}

LIMITS, PRINTED = tables(Path(__file__).with_name("slice_limits.md").read_text(encoding="utf-8"))


def table(rows: list[dict[str, Any]]) -> bytes:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def scored(rows: list[dict[str, Any]]) -> Scorecard:
    columns = {name: column for name, column in COLUMNS.items() if column in rows[0]}
    return scored_files("judged", {"results.csv": table(rows)}, settings={"columns": columns}).scorecard


def answers(mini: float = 0.4, **of_case: str) -> list[dict[str, Any]]:
    """Eight cases, each answered by two models with two variants of a prompt. ``long`` is 0.1 better."""
    return [
        {
            "id": f"c{case}",
            "variant": variant,
            "model": model,
            "score": round(score + more + case / 100, 2),
            "cost": cost,
            "latency": cost * 100,
            "language": "de" if case % 2 else "en",
            **of_case,
        }
        for case in range(8)
        for model, score, cost in (("mini", mini, 0.001), ("large", 0.7, 0.02))
        for variant, more in (("short", 0.0), ("long", 0.1))
    ]


def split_of(card: Scorecard, *axes: str, before: Scorecard | None = None) -> Split:
    return {tuple(it.where): of for of in splits(before, card, scorer("judged").metrics[0]) for it in of.values()}[axes]


def test_every_axis_with_several_values_is_one_and_both_answerers_come_first():
    card = scored(answers())
    found, interval = splits(None, card, scorer("judged").metrics[0]), interval_of(card)
    assert (interval and (interval.n, interval.unit)) == (8, "cases"), "all answers to a case are one unit"
    axes = [",".join(next(iter(split.values())).where) for split in found]
    assert axes == ["variant,model", "variant", "model", "language"]


def test_the_matrix_has_the_mean_the_cost_and_the_latency_of_each_pair():
    matrix = split_of(scored(answers()), "variant", "model")
    assert [*matrix] == [("short", "mini"), ("long", "mini"), ("short", "large"), ("long", "large")]
    cell = matrix["long", "mini"]
    assert [cell.value, cell.cases, cell.cost, cell.latency] == pytest.approx([0.535, 8, 0.008, 0.1])
    best_of = {values: part.best_of for values, part in matrix.items() if part.best_of}
    assert best_of == {("long", "mini"): ("model",), ("short", "large"): ("variant",), ("long", "large"): ("all",)}


def test_the_best_model_is_better_than_each_other_one_by_more_than_chance():
    assert [part.best_of for part in split_of(scored(answers()), "model").values()] == [(), ("all",)]
    alike = [{**row, "score": 0.5 if row["id"] < "c4" or row["model"] == "mini" else 0.6} for row in answers()]
    assert not any(part.best_of for part in split_of(scored(alike[:-4]), "model").values())
    for rows, expected in ((answers(), ("large", "large", None)), (alike[20:], ("mini", "large", "cannot tell"))):
        found = cheapest(split_of(scored(rows), "model"), scorer("judged").metrics[0])
        assert found is not None
        assert (*found[0].values, *found[1].values, found[2] and found[2].decision) == expected


def test_a_change_is_that_of_the_same_slice():
    split = split_of(scored(answers(mini=0.2)), "model", before=scored(answers(mini=0.4)))
    changes = {each.values[0]: (each.change, each.verdict and each.verdict.decision) for each in split.values()}
    assert changes == {"mini": (pytest.approx(-0.2), "worse"), "large": (0, "same")}
    assert [values for values, each in split.items() if each.is_worse] == [("mini",)]


def test_what_an_answer_costs_does_not_depend_on_how_often_each_case_was_asked():
    for times in (1, 2):
        split = split_of(scored(answers() * times), "model")
        costs = {each.values[0]: each.cost_of_answer for each in split.values()}
        assert costs == {"mini": pytest.approx(0.001), "large": pytest.approx(0.02)}


def test_a_cost_that_not_all_answers_state_is_unknown():
    rows = answers()
    rows[0]["cost"] = ""
    costs = {each.values[0]: each.cost for each in split_of(scored(rows), "model").values()}
    assert costs == {"mini": None, "large": pytest.approx(0.32)}


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ([{**row, "model": "mini", "variant": "short"} for row in answers()], "one model and one variant"),
        ([{**row, "note": f"{n}.", "s": f"{n % 16}.5"} for n, row in enumerate(answers())], "texts, and many numbers"),
    ],
)
def test_what_does_not_group_answers_is_no_axis(rows, why):
    axes = {axis for axis, _ in slices_of(None, scored(rows), scorer("judged").metrics[0])}
    assert axes <= {"variant", "model", "language"}, why


def test_of_an_axis_with_too_many_values_the_best_and_the_worst_are_said():
    rows = [{**answers()[0], "id": f"c{n}", "score": n % 70 / 70, "topic": f"t{n % 70}"} for n in range(141)]
    (axis, topics), *others = crowded(scored(rows), scorer("judged").metrics[0])
    assert (axis, len(topics), topics[0], topics[-1], others) == ("topic", 70, ("t69", 69 / 70, 2), ("t0", 0, 3), [])


def test_tags_of_a_redacted_eval_are_hidden():
    result = scored_files("judged", {"results.csv": table(answers())}, settings={"columns": COLUMNS})
    hidden = redaction(("**",))
    assert hidden
    card = hidden.applied(result).scorecard
    assert {axis for document in card.documents for axis in document.axes} == {"variant", "model"}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two commits: the large model becomes better, and the mini one worse."""
    repo = GitRepo(tmp_path_factory.mktemp("slices") / "repo")
    better = [{**row, "score": 0.9} if row["model"] == "large" else row for row in answers(mini=0.3)]
    manifest = 'version: "2.0"\nevals: {support: {kind: judged, outputs: results.csv}}\n'
    for rows in (answers(mini=0.4), better):
        repo.commit({"CLAUDE.md": f"Answer, as in {len(table(rows))}."})
        repo.commit({"evals/manifest.yaml": manifest, "evals/support/results.csv": table(rows)})
    repo.checkout()
    return repo.path


def test_a_report_has_the_matrix_and_says_what_the_average_hides(project, tmp_path):
    build_site(project, tmp_path / "site")
    text, trend = (text_of(tmp_path / "site" / f"evals/support/{page}.html") for page in ("0002", "index"))
    assert all("Score by variant and model" in page for page in (text, trend))
    assert "All variants" in text
    assert "short · large has the best Score, as has long · large. It costs " in text
    assert "0.385 mini 0.900 large" in trend
    assert "variant and model: long · mini" in trend
    drawn = (tmp_path / "site/evals/support/index.html").read_text()
    dots = re.findall(r'<circle class="dot (v\d(?: past)?)"', drawn)
    assert {"v0", "v0 past"} <= {*dots}, "points of older outputs are pale"
    assert "Hidden by the average: Score of model mini ▼ down 0.100" in text
    today = text_of(tmp_path / "site/index.html")
    assert "worse by more than chance where model is mini (Score fell by 0.100 at iteration-002)" in today
    assert "worse where `model` is `mini`: Score fell by 0.100" in (tmp_path / "site" / "summary.md").read_text()
    series = json.loads((tmp_path / "site" / "data/evals/support.json").read_text())
    assert series["points"][1]["slices"]["model"] == {"mini": pytest.approx(0.385), "large": pytest.approx(0.9)}
    variants = "By variant: short rose by 0.033 to 0.618 (better), long fell by 0.018 to 0.667 (worse)."
    models = "By model: large rose by 0.115 to 0.900 (better), mini fell by 0.100 to 0.385 (worse)."
    assert sum(f"{variants} {models}" in text_of(page) for page in (tmp_path / "site/commits").glob("*.html")) == 2


def test_a_group_is_hidden_by_a_mean_that_fell_by_less_than_can_be_told_from_chance(repo, tmp_path):
    rows = [{**row, "id": f"{row['id']}{number}"} for number in range(2) for row in answers()]
    moved = [{**row, "score": round(row["score"] + (-0.2 if row["language"] == "de" else 0.1), 2)} for row in rows]
    for each in (rows, moved):
        repo.commit(
            {"evals/manifest.yaml": "evals: {qa: {kind: judged, outputs: a.csv}}", "evals/qa/a.csv": table(each)}
        )
    repo.checkout()
    gate = api.check(repo.path, "HEAD~1", exact=True).markdown()
    assert "hidden by the average, worse by more than chance: language=de (Score fell by 0.200)." in gate
    build_site(repo.path, tmp_path / "site")
    report = text_of(tmp_path / "site/evals/qa/0002.html")
    assert "Hidden by the average: Score of language de ▼ down 0.200" in report
    assert "Score ▼ down 0.050, cannot tell" in report


def test_a_long_name_of_a_variant_stays_in_its_cell(repo, tmp_path):
    repo.commit({"evals/support/results.csv": table([{**row, "variant": row["variant"] * 20} for row in answers()])})
    build_site(repo.path, tmp_path / "site")
    assert 'characters">' not in text_of(tmp_path / "site/evals/support/0001.html")


@pytest.mark.parametrize("row", PRINTED, ids=lambda row: row["command"])
def test_commands_print_slices(project, row):
    done = run(*row["command"].split(), "--repo", project)
    assert row["printed"] in " ".join((done.stdout + done.stderr).split())


def test_slices_are_data(project, tmp_path):
    document = json.loads(run("verify-one", "support", "--json", "--repo", project).stdout)
    mini = next(row for row in document["slices"] if row["value"] == "mini")
    assert complaints("judged-results", document) == []
    assert {"axis": "model", "cases": 8, "headline": pytest.approx(0.385)}.items() <= mini.items()

    frame = api.history(project, "support").slices()
    assert dict(frame[frame.axis == "model"].groupby("slice").score.last()) == pytest.approx(
        {"mini": 0.385, "large": 0.9}
    )
    assert {*api.score(project, "support").frame().columns} >= {"case", "variant", "model", "language"}

    api.export(project, tmp_path / "x.sqlite")
    with closing(sqlite3.connect(tmp_path / "x.sqlite")) as database:
        worse = "SELECT slice FROM slices WHERE point = 1 AND axis = 'model' AND verdict = 'worse'"
        assert database.execute(worse).fetchall() == [("mini",)]
        pairs = "SELECT slice, cases FROM slices WHERE point = 1 AND axis = 'variant,model' ORDER BY slice LIMIT 2"
        assert database.execute(pairs).fetchall() == [("long · large", 8), ("long · mini", 8)]
        tags = "SELECT count(*), tags FROM documents WHERE point = 1 AND model = 'mini' GROUP BY tags ORDER BY tags"
        assert database.execute(tags).fetchall() == [(8, '{"language": "de"}'), (8, '{"language": "en"}')]


@pytest.mark.parametrize("row", LIMITS, ids=lambda row: row["case"])
def test_slices_with_limits_are_judged_as_evals_are(repo, row):
    better = [{**each, "score": 0.9} if each["model"] == "large" else each for each in answers(mini=0.3)]
    manifest = 'version: "2.0"\nevals: {support: {kind: judged, outputs: results.csv}}\n'
    before = [each for each in answers() if each["model"] == "large" and each["language"] == "en"]  # some are newer
    files = {"evals/manifest.yaml": manifest, "sitegen.toml": row["limits"].replace(" / ", "\n")}
    for rows in (before, answers(mini=0.4), [each for each in better if each["language"] != row["without"]]):
        repo.commit({**files, "evals/support/results.csv": table(rows)})
    repo.checkout()
    found = api.check(repo.path, "HEAD~1", exact=True)
    verdicts = ", ".join(sorted(f"{name} {verdict}" for name, verdict in found.evals.items()))
    assert verdicts.replace("support ", "") == row["verdicts"]
    assert row["said"] in found.markdown()
    forms = found.markdown(), gate_junit(found.report).decode("utf-8")
    assert len({form.count("hidden by the average, worse by more than chance: ") for form in forms}) == 1
    assert (found.report.matched, forms[1].count("<testsuite ")) == (1, 1)
    assert complaints("gate", json.loads(schema_first(found.report))) == []


def test_a_limit_of_an_axis_that_no_answer_has_is_refused(project):
    for limits, refused in (
        ("languag]\nfloor", "'languag', and no slice has that name"),
        ("language.metrics.scroe]\nfloor", r"\[gate.slices.language\] has limits for 'scroe'(.|\n)*'score'"),
        ('"model=mini,variant=long"]\nfloor', "Did you mean 'variant=long,model=mini'"),
    ):
        (project / "sitegen.toml").write_text(f"[gate.slices.{limits} = 0.1\n")
        with pytest.raises(ConfigurationError, match=refused):
            api.check(project, "HEAD~1", exact=True)
    (project / "sitegen.toml").unlink()


@in_table
def test_repeats_show_how_often_any_and_all_answers_to_a_case_pass(passed, any_of_k, all_of_k, flaky, spread):
    rows = [
        json.dumps({"id": case, "passed": sign == "1", "error": "No quota." * (sign == "e")})
        for case, signs in passed.items()
        for sign in signs
    ]
    card = scorer("judged").score(ScoringInputs(outputs=(File("r.jsonl", "\n".join(rows).encode()),))).scorecard
    wanted = {"pass_any": any_of_k, "pass_all": all_of_k, "flaky": flaky, "spread": spread}
    assert {name: card.metric(name) for name in wanted} == pytest.approx(wanted)
    repeated = {name for name, _ in card.metrics} & {*wanted}
    assert repeated == (set() if any_of_k is None else {*wanted}), "a metric that no repeat shows is not listed"
