"""Whoever is asked what became of an eval between two outputs gives the same verdict, counts and words."""

from __future__ import annotations

import html
import json
import re
from collections import Counter
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import pytest

from sitegen.pages.compare import FATES, compare_data
from sitegen.pages.compare_cells import STATES
from sitegen.pages.labels import SAME_OUTPUT, grade_word
from sitegen.project import Options
from sitegen.questions.comparison import compare_iterations, compare_revisions
from sitegen.questions.study import read_series
from tests.gitrepo import GitRepo
from tests.sites import build_site, run

OUTPUTS = 5


def drawn(random: Random, kind: str) -> tuple[str, Any, list[Any]]:
    """Name and content of a ground truth, and outputs of which each value is right with a chance of its own."""
    documents = [f"d-{number}" for number in range(random.choice([1, 3, 8]))]
    names = [f"f{number}" for number in range(random.choice([3, 12]))]
    chances = [random.choice([0.3, 0.5, 0.5, 0.9]) for _ in range(OUTPUTS)]
    if kind == "responses":
        cases = [{"id": f"{name} {field}", "expected": "yes"} for name in documents for field in names]
        answers = [
            [{"case_id": case["id"], "output": "yes" if random.random() < chance else "no"} for case in asked]
            for chance in chances
            for asked in [[*cases, *random.choices(cases, k=len(cases))]]
        ]
        return "test_cases.json", cases, answers
    if kind == "highlights":
        gold = [{"id": f"p-{name}", "terms": names if number else []} for number, name in enumerate(documents)]
        marked = [
            [{"id": one["id"], "terms": [field for field in names if random.random() < chance]} for one in gold]
            for chance in chances
        ]
        return "gold-standard.json", {"paragraphs": gold}, [{"paragraphs": each} for each in marked]
    truth = [
        {"id": name, **dict.fromkeys(names, 7)} if number else {"id": name} for number, name in enumerate(documents)
    ]
    outputs = [
        [{"id": name, **{field: 7 if random.random() < chance else 9 for field in names}} for name in documents]
        for chance in chances
    ]
    return "ground_truth.json", truth, outputs


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> tuple[GitRepo, Path]:
    """Evals of three kinds, with instructions that are edited between some outputs, so that the others are repeats."""
    random = Random(1)
    repo = GitRepo(tmp_path_factory.mktemp("one-answer") / "project")
    kinds = {"values": "fields", "marks": "highlights", "faq": "responses"}
    entries = ", ".join(f"{name}: {{kind: {kind}}}" for name, kind in kinds.items())
    drawings = {name: drawn(random, kind) for name, kind in kinds.items()}
    first = {f"evals/{name}/{file}": json.dumps(truth) for name, (file, truth, _) in drawings.items()}
    repo.commit({**first, "CLAUDE.md": "Read.", "evals/manifest.yaml": f'version: "2.0"\nevals: {{{entries}}}\n'})
    written = {"fields": "extracted.json", "highlights": "raw-llm-run.json", "responses": "responses.json"}
    for number in range(OUTPUTS):
        if number and random.random() < 0.3:
            repo.commit({"CLAUDE.md": f"Read {number} times."})
        repo.commit(
            {
                f"evals/{name}/results/iteration-{number + 1:03d}/{written[kind]}": json.dumps(
                    drawings[name][2][number]
                )
                for name, kind in kinds.items()
            }
        )
    repo.checkout()
    site = tmp_path_factory.mktemp("one-answer-site")
    with pytest.MonkeyPatch.context() as patch:
        # Looking for the lines of labels that may be wrong takes nine tenths of the build, and is not asked about here.
        patch.setattr("sitegen.engine.eval_job.LOCATED", 0)
        build_site(repo.path, site, jobs=1)
    return repo, site


def plain(markup: str) -> str:
    return " ".join(html.unescape(re.sub("<[^>]*>", "", markup)).split())


def counted(block: dict[str, Any], fates: list[list[list[int | None]]], before: int, after: int) -> Counter[str]:
    """Count as the script of the page does, from the states of the cells and the table of fates."""
    absent = STATES.index("absent")

    def state(numbers: list[int], place: int) -> int:
        begun = [numbers[at + 1] for at in range(0, len(numbers), 4) if numbers[at] <= place]
        return begun[-1] if begun else absent

    def holds(document: int, place: int) -> bool:
        return bool(sum(start <= place for start in block["held"][document]) % 2)

    found: Counter[str] = Counter()
    for document, _, _, _, numbers, *_ in block["cells"]:
        held = holds(document, before) and holds(document, after)
        fate = fates[held][state(numbers, before)][state(numbers, after)]
        if fate is not None:
            found[FATES[fate]] += 1
    return found


@pytest.mark.parametrize("eval_id", ["values", "marks", "faq"])
def test_page_command_report_and_history_give_one_answer(history, eval_id, tmp_path):
    repo, site = history
    options = Options(repo=repo.path, cache=tmp_path / "memo")
    series = read_series(options, eval_id)
    assert any(point.noise for point in series.points)
    pairs = list(combinations(range(OUTPUTS), 2))
    page = compare_data(series, pairs).page
    assert page is not None
    listed = json.loads(run("history", eval_id, "--json", "--repo", repo.path, "--cache", tmp_path / "memo").stdout)
    numbers = [str(number + 1) for number in range(OUTPUTS)]
    changes = [compare_iterations(options, eval_id, numbers[before:])[0].changes for before in range(OUTPUTS - 1)]
    for before, after in pairs:
        told = changes[before][after - before - 1]
        said = plain(page["judged"][f"{before + 1:04d} {after + 1:04d}"][0])
        assert (f"{grade_word(told.verdict.decision)}: {told.words}" if told.verdict else SAME_OUTPUT) in said
        fates = counted(page["block"], page["fates"], before, after)
        assert (told.fixed, told.broken, told.still_wrong) == (fates["fixed"], fates["broken"], fates["still_wrong"])
        if after == before + 1:
            point = listed["points"][after]
            verdict = told.verdict and {"decision": told.verdict.decision, "words": told.words}
            assert point["delta"].get("verdict") == verdict
            assert (point["fixed"], point["broken"], point["still"]) == (told.fixed, told.broken, told.still_wrong)
            report = plain((site / f"evals/{eval_id}/{after + 1:04d}.html").read_text())
            words = (
                (grade_word(told.verdict.decision), told.words.partition(";")[0]) if told.verdict else ("same output",)
            )
            assert all(word in report for word in words)


def test_a_comparison_of_revisions_is_that_of_their_newest_iterations(history, tmp_path):
    repo, _ = history
    options = Options(repo=repo.path, cache=tmp_path / "memo")
    commits = repo.git("log", "--format=%H %s", "--reverse", "--", "evals/values/results").split("\n")
    shas = [line.split()[0] for line in commits]
    for before, after in combinations(range(0, OUTPUTS, 2), 2):
        told = {one.eval_id: one for one in compare_revisions(options, (shas[before], shas[after]))[0].changes}
        assert told.keys() == {"values", "marks", "faq"}
        for eval_id, one in told.items():
            (same,) = compare_iterations(options, eval_id, [str(before + 1), str(after + 1)])[0].changes
            seen = (one.verdict, one.words, one.flips, one.metrics)
            assert seen == (same.verdict, same.words, same.flips, same.metrics)
