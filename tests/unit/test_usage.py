"""What answers took, and who gave them: read from every place that states it, and summed up without a guess."""

import json
from typing import Any

import pytest
from msgspec.structs import replace

from sitegen.analysis.variant_tests import VariantComparison
from sitegen.analysis.variants import variant_comparison, variant_of
from sitegen.model.recorded import read_recorded
from sitegen.model.scorecards import Result
from sitegen.model.usage import Call, Exchange, RunUsage, Usage, exchanged, stated
from sitegen.questions.comparison_files.markdown import comparison_markdown
from sitegen.questions.comparison_files.prompts import ComparisonDocument
from sitegen.scoring.documents import results_document
from sitegen.scoring.highlights import SCORER as HIGHLIGHTS
from sitegen.scoring.judged import SCORER as JUDGED
from sitegen.scoring.kinds import File, Scorer, ScoringInputs
from sitegen.scoring.responses.scorer import SCORER as RESPONSES
from sitegen.scoring.results_file import Metadata
from sitegen.scoring.usage import USAGE_METRICS, missing_usage, run_usage, specs_with_usage, with_stated
from sitegen.stats.intervals import nearest_rank
from sitegen.text.values import to_json_bytes
from tests.rows import in_table
from tests.scored import scored

CASES = json.dumps([{"id": "a", "input": "?", "expected": "x"}, {"id": "b", "input": "?", "expected": "y"}]).encode()


def score(scorer: Scorer, output: bytes, truth: bytes | None = None, name: str = "output.json") -> Result:
    given = File("truth.json", truth) if truth else None
    return scorer.score(ScoringInputs(outputs=(File(name, output),), ground_truth=given))


def responses(*rows: object, **beside: object) -> Result:
    body: object = {**beside, "responses": list(rows)} if beside else list(rows)
    return score(RESPONSES, json.dumps(body).encode(), CASES, "responses.json")


@in_table
def test_the_names_that_tools_use_mean_the_same(written: object, expected: dict[str, Any]) -> None:
    assert stated(written).usage == Usage(**expected)


def test_a_model_is_a_name_and_its_parameters_are_canonical() -> None:
    found = stated({"model": {"id": " m-1 "}, "temperature": 0, "params": {"top_p": 1}})
    assert (found.model, found.parameters) == ("m-1", '{"temperature": 0, "top_p": 1}')
    assert stated({"model_name": "m-2"}).model == "m-2"
    assert stated({"model": 7, "seed": None}) == stated({})


def test_a_judged_line_states_its_model_and_parameters_as_other_answers_do() -> None:
    line = {"id": "a", "score": 1, "model": "m-1", "parameters": {"top_p": 1, "temperature": 0}, "tokens_in": 3}
    usage = score(JUDGED, json.dumps(line).encode(), name="results.jsonl").scorecard.usage
    assert usage == RunUsage(1, ("m-1",), '{"temperature": 0, "top_p": 1}', tokens_in=3)


def test_sums_are_of_all_answers_or_undefined() -> None:
    calls = [
        Call(Usage(tokens_in=10, tokens_out=1, cost=0.5, latency=seconds), "m", '{"t": 0}')
        for seconds in (4.0, 1.0, 3.0, 2.0)
    ]
    failed = Call(Usage(tokens_in=5, tokens_out=0, cost=0.25, latency=60.0), "m", failed=True)
    assert run_usage([*calls, failed]) == RunUsage(
        answers=4,
        models=("m",),
        parameters='{"t": 0}',
        tokens_in=45,
        tokens_out=4,
        cost=2.25,
        latency_median=2.5,
        latency_p95=4.0,
    )
    unstated = Call(Usage(10, 1), "n", '{"t": 1}')
    assert run_usage([*calls, unstated]) == RunUsage(answers=5, models=("m", "n"), tokens_in=50, tokens_out=5)
    assert [finding.message for finding in missing_usage([*calls, unstated])] == [
        "Some of 5 answers do not state what they took: cost (1), latency (1)"
    ]
    assert missing_usage([*calls, failed]) == ()


def test_calls_that_state_nothing_have_no_usage() -> None:
    assert run_usage([]) is None
    assert run_usage([Call(), Call(failed=True)]) is None
    assert run_usage([Call()], RunUsage(models=("m",), cost=1.0)) == RunUsage(1, ("m",), cost=1.0)


@pytest.mark.parametrize(("share", "expected"), [(0.05, 15), (0.3, 20), (0.4, 20), (0.5, 35), (0.95, 50), (1.0, 50)])
def test_a_percentile_is_the_value_of_its_nearest_rank_whatever_is_rounded(share: float, expected: float) -> None:
    assert nearest_rank([40, 15, 50, 35, 20], share) == expected
    assert (nearest_rank(range(1, 101), 0.95), nearest_rank(range(1, 21), 0.95)) == (95, 19)


def test_responses_state_their_model_and_what_they_took() -> None:
    first = {"case_id": "a", "output": "x", "model": "m", "tokens_in": 9, "tokens_out": 2, "latency": 1, "cost": 0.1}
    second = {**first, "case_id": "b", "latency": 3, "quality": 4, "judge": "j", "judge_prompt": "0123456789abcdef"}
    card = responses(first, second).scorecard
    assert card.usage == RunUsage(
        answers=2,
        models=("m",),
        tokens_in=18,
        tokens_out=4,
        cost=0.2,
        latency_median=2.0,
        latency_p95=3.0,
        judges=("j prompt 0123456789ab",),
        graded=("average_quality",),
    )
    taken = {spec.name: card.metric(spec.name) for spec in USAGE_METRICS}
    assert taken == {"cost": 0.2, "tokens_in": 18, "tokens_out": 4, "latency_median": 2.0, "latency_p95": 3.0}
    assert card.metrics[0].name == "accuracy"


def test_what_stands_beside_a_list_of_responses_is_of_all_of_them() -> None:
    card = responses({"case_id": "a", "output": "x"}, model="m", total_cost=2, metadata={"temperature": 0.5}).scorecard
    assert card.usage == RunUsage(1, ("m",), '{"temperature": 0.5}', cost=2.0)


def test_responses_that_state_nothing_have_the_metrics_of_their_kind_alone() -> None:
    card = responses({"case_id": "a", "output": "x"}).scorecard
    assert card.usage is None
    own = tuple(spec for spec in RESPONSES.metrics if not spec.is_optional)
    assert [name for name, _ in card.metrics] == [spec.name for spec in own]
    assert specs_with_usage(RESPONSES.metrics, [card]) == own


def test_lines_of_a_log_state_what_the_chunks_took() -> None:
    gold = json.dumps({"chunks": [{"paragraphs": [{"id": "p", "highlights": {"terms": ["x"]}}]}]}).encode()
    line = {"chunkIndex": 0, "paragraphs": ["p"], "highlights": {"p": {"terms": ["x"]}}, "model": "m"}
    log = json.dumps({**line, "usage": {"input_tokens": 7, "output_tokens": 1}, "elapsed_ms": 40}).encode()
    card = score(HIGHLIGHTS, log, gold, "processing-log.ndjson").scorecard
    assert card.usage == RunUsage(
        answers=1, models=("m",), tokens_in=7, tokens_out=1, latency_median=0.04, latency_p95=0.04
    )


BESIDE = RunUsage(answers=2, models=("m",), tokens_in=70, tokens_out=9, cost=0.5, latency_median=4.0)


@pytest.mark.parametrize(
    ("own", "runs", "expected"),
    [
        ({}, (1, 1), BESIDE),
        ({"model": "own", "cost": 0.1}, (1, 1), replace(BESIDE, models=("own",), cost=0.2)),
        ({}, (1, 2), None),
    ],
)
def test_what_stands_beside_the_chunks_of_a_run_counts_where_they_state_none_and_are_one_run(
    own: dict[str, object], runs: tuple[int, ...], expected: RunUsage | None
) -> None:
    gold = json.dumps({"chunks": [{"paragraphs": [{"id": "p", "highlights": {"terms": ["x"]}}]}]}).encode()
    chunk = {"paragraphs": [{"id": "p", "highlights": {"terms": ["x"]}}], **own}
    beside = {"model": "m", "usage": {"input_tokens": 70, "output_tokens": 9}, "metadata": {"total_cost": 0.5}}
    raw = {**beside, "duration_seconds": 4, "chunks": [{**chunk, "run_id": run} for run in runs]}
    card = score(HIGHLIGHTS, json.dumps(raw).encode(), gold, "raw-llm-run.json").scorecard
    assert card.usage == expected


def test_a_record_beside_an_output_states_what_the_run_took() -> None:
    body = {"metadata": {"model": "m", "tokens_in": 5, "duration_seconds": 8}, "total_cost": 1.5, "metrics": {"f1": 1}}
    recorded = read_recorded(json.dumps(body).encode())
    assert recorded
    assert recorded.usage == RunUsage(models=("m",), tokens_in=5, cost=1.5, latency_median=8.0)
    other = read_recorded(b'{"metrics": {"cost": 3}}')
    assert other
    assert other.usage is None
    result = responses({"case_id": "a", "output": "x", "model": "own", "cost": 0})
    assert with_stated(result, recorded.usage).scorecard.usage == RunUsage(
        answers=1, models=("own",), tokens_in=5, cost=0.0, latency_median=8.0
    )


def test_an_exchange_needs_a_model_on_both_sides() -> None:
    assert exchanged(("m",), ("n",)) == Exchange(("m",), ("n",))
    assert exchanged(("m",), ("m",)) is None
    assert exchanged((), ("m",)) is None


def test_results_of_other_kinds_say_what_the_output_took() -> None:
    line = b'{"id": "a", "score": 1, "model": "m", "cost": 0.5}'
    judged = results_document(score(JUDGED, line, name="r.jsonl"), eval_id="e", metadata=Metadata())
    assert judged.usage == RunUsage(answers=1, models=("m",), cost=0.5)
    silent = results_document(score(JUDGED, b'{"id": "a", "score": 1}'), eval_id="e", metadata=Metadata())
    assert silent.usage is None


def agreement(content: str, name: str, settings: str = "{}") -> tuple[int, int, Any] | None:
    result = scored("judged", {name: content}, settings=settings)
    document = results_document(result, eval_id="e", metadata=Metadata())
    row = json.loads(to_json_bytes(document))["agreement_with_people"]
    assert any("graded" in str(panel) and "kappa" in str(panel) for panel in result.panels) == (row is not None)
    return row and (row["agreed"], row["judged"], row["kappa"])


@in_table
def test_a_table_with_a_column_of_a_persons_verdicts_says_how_far_the_judge_agrees(name, is_known) -> None:
    rows = "id,ok,person\na,yes,yes\nb,no,no\nc,yes,no\nd,no,\ne,no,maybe\n"
    columns = {"id": "id", "passed": "ok", "human": "person"}
    assert agreement(rows, "r.csv", json.dumps({"columns": columns})) == (2, 3, pytest.approx(0.4))
    del columns["human"]
    assert agreement(rows, "r.csv", json.dumps({"columns": columns})) is None
    named = [f"id,ok,{name}", *(f"{row},{row.rpartition(',')[2]}" for row in rows.split()[1:])]
    assert (agreement("\n".join(named), "r.csv", "{}") is not None) == is_known


def test_results_that_were_saved_in_the_place_of_a_record_state_what_it_did() -> None:
    result = responses({"case_id": "a", "output": "x"})
    before = RunUsage(models=("m",), tokens_in=5, tokens_out=6, cost=1.5, latency_median=8.0, latency_p95=9.0)
    saved = results_document(with_stated(result, before), eval_id="e", metadata=Metadata())
    recorded = read_recorded(to_json_bytes(saved))
    assert recorded
    assert recorded.usage == before


def compared(judge: str) -> VariantComparison:
    """Twelve answers of two prompts: all right, with grades far apart, the second graded by this judge."""
    cases = json.dumps([{"id": f"c{number}", "input": "?", "expected": "x"} for number in range(12)]).encode()
    variants = []
    for name, model, grade, who in (("old", "m", 2, "j"), ("new", "n", 5, judge)):
        took = {"model": model, "judge": who, "cost": 0.25, "tokens_in": 3, "latency": 2}
        rows = [{"case_id": f"c{number}", "output": "x", "quality": grade - number % 2, **took} for number in range(12)]
        result = score(RESPONSES, json.dumps(rows).encode(), cases, "responses.json")
        variants.append(variant_of(name, result))
    return variant_comparison("faq", variants)


def test_a_comparison_of_prompts_says_what_each_took() -> None:
    found = compared("j")
    took = [(each.models, each.judges, each.cost, each.tokens_in, each.latency_median) for each in found.variants]
    assert took == [(("m",), ("j",), 3.0, 36.0, 2.0), (("n",), ("j",), 3.0, 36.0, 2.0)]
    said = comparison_markdown(ComparisonDocument(variants=(found,)))
    table = [" ".join(line.split()) for line in said.partition("## Cost and time\n\n")[2].splitlines()]
    assert [table[0], *table[2:4]] == [
        "| Variant | Model | Judge | Total cost | Tokens in | Median latency | 95th percentile of latency |",
        "| old | m | j | 3.00 USD | 36 | 2.00 s | 2.00 s |",
        "| new | n | j | 3.00 USD | 36 | 2.00 s | 2.00 s |",
    ]
    assert found.winners["quality"] == "new"
    assert found.warnings == ()


def test_a_comparison_of_prompts_holds_no_grades_of_two_judges_against_each_other() -> None:
    found = compared("k")
    quality = found.pairs[0].tests[1]
    assert (quality.first, quality.second, quality.difference, quality.effect_size) == (1.5, 4.5, None, None)
    assert (quality.verdict, quality.better, quality.as_samples.note) == (None, None, "another judge")
    assert (found.overall_winner, found.winners["quality"]) == (None, None)
    assert {row.measured for row in found.ranking} == {("accuracy",)}
    warning = "old was graded by j, new by k: their quality is not compared, and the ranking leaves quality out."
    assert found.warnings == (warning,)
    assert warning in comparison_markdown(ComparisonDocument(variants=(found,)))
