"""The gate's JSON from a machine that nobody trusts: the same report again, or an error."""

import json
import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from msgspec.structs import replace

from sitegen.analysis.gate import stranger
from sitegen.config.models import Limit
from sitegen.errors import SitegenError
from sitegen.model.changes import ChangeVerdict, DeltaParts, MetricDelta
from sitegen.model.gate import GateInstruction, GateReport
from sitegen.model.metrics import MetricSpec
from sitegen.questions.gate_markdown import gate_markdown
from sitegen.questions.gate_report import MOST, read_report
from sitegen.scoring.kinds import BUILTIN_KINDS, scorer
from sitegen.text.values import schema_first
from tests.gates import broken, check_metric, gate_eval, gate_report, overlap
from tests.sites import run

F1, PRECISION, RECALL = scorer("fields").metrics[:3]
CHANCE = ChangeVerdict(
    decision="cannot tell", why="flips may be chance", change=-0.01, fixed=1, broken=2, p_value=0.4, detectable=0.1
)


def report(
    name: str = "Till receipts", path: str = "prompts/a.md", values: tuple[str, str] = ('"1"', '"2"')
) -> GateReport:
    """Evals of every presence and verdict."""
    cell = broken(path, values, name)
    moved = MetricDelta("f1", -0.1, DeltaParts(-0.2, 0.1, 0.0))
    fallen = [
        replace(
            check_metric(F1, Limit(floor=0.9, drop=0.0), 0.9, 0.8, moved),
            averaged=("", f"average of 2 variants: 0.700 ({name}) to 0.900 ({path})"),
        ),
        check_metric(PRECISION, Limit(drop=0.0), 0.9, 0.89, MetricDelta("precision", -0.01, None), CHANCE),
        check_metric(RECALL, Limit(), 0.9, None, MetricDelta("recall", None, None)),
        stranger(name, Limit(floor=0.5)),
    ]
    still = [check_metric(F1, Limit(drop=0.0), 0.9, 0.9, MetricDelta("f1", 0.0, DeltaParts(0, 0, 0)))]
    old = [check_metric(F1, Limit(floor=0.95, drop=0.0), 0.9, 0.9, MetricDelta("f1", 0.0, DeltaParts(0, 0, 0)))]
    lost_fields = (("rows[].unit", 9),)
    gone = replace(CHANCE, decision="worse", why="a field was lost", change=0.0, lost_fields=lost_fields)
    lost = [check_metric(F1, Limit(drop=0.0), 0.9, 0.9, MetricDelta("f1", 0.0, None), gone, is_headline=True)]
    new = [check_metric(F1, Limit(floor=0.5), None, 0.9, None)]
    same = overlap("comparable", 2)
    evals = [
        gate_eval(
            "a",
            "both",
            fallen,
            name=name,
            overlap=overlap("bridged", 3, ("a",), ("b", "c")),
            fixed=1,
            broken=1,
            cells=(cell, replace(cell, fate="fixed")),
            instructions=(GateInstruction(path, ("c" * 40,)),),
            stale=True,
            cases=2,
            max_broken=0,
            min_cases=3,
        ),
        gate_eval("old", "both", old, overlap=same),
        gate_eval("lost", "both", lost, overlap=same, broken=9),
        gate_eval("b", "both", still, overlap=same),
        gate_eval("c", "both", still, overlap=overlap("refused", 0)),
        gate_eval("d", "new", new),
        gate_eval("e", "gone", reasons=("removed",)),
        gate_eval("f", "both", reasons=("another kind",)),
    ]
    return gate_report("b" * 40, "a" * 40, evals)


def test_strict_floors_are_read_again():
    old = check_metric(F1, Limit(floor=0.9), 0.5, 0.5, MetricDelta("f1", 0.0, None), strict_floors=True)
    one = gate_eval("a", "both", [old], overlap=overlap("comparable", 2), strict_floors=True)
    strict = gate_report("b" * 40, "a" * 40, [one], strict_floors=True)
    assert (strict.verdict, read_report(schema_first(strict)).verdict) == ("fail", "fail")
    body = {**json.loads(schema_first(strict)), "strict_floors": False}
    with pytest.raises(SitegenError, match="its verdict does not follow from its evals"):
        read_report(json.dumps(body).encode())


def document(**changes: object) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(schema_first(report()))
    return {**body, **changes}


TEXTS = st.text(max_size=80) | st.text("`|\\<>[]!@#:/ww.\n\rGH-1\ud800\u202e", max_size=40)


@given(TEXTS, TEXTS, TEXTS)
@example("macro_f1_attributes", "", "")  # a metric that other kinds have
def test_the_markdown_of_the_document_is_that_of_the_report_it_was_made_from(name, path, value):
    one = report(name, path, (value, value))
    assert gate_markdown(read_report(schema_first(one))) == gate_markdown(one)


@given(TEXTS)
@example("__0__")
@example("a__b__")
def test_a_report_links_nothing_shows_no_picture_and_calls_nobody(name):
    text = gate_markdown(report(name, name))
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    inlines = [child for token in tokens for child in token.children or []]
    assert {child.type for child in inlines} <= {
        "text",
        "strong_open",
        "strong_close",
        "code_inline",
        "softbreak",
        "html_inline",
    }
    assert {token.content for token in tokens if token.type == "html_block"} <= {
        "<details><summary>1 value broken, 1 fixed</summary>\n",
        "</details>\n",
    }
    prose = "".join(child.content for child in inlines if child.type == "text")
    assert re.findall(r"[@#](?!\u2060)|GH-\d|://|www\.", prose, re.IGNORECASE) == []


@pytest.mark.parametrize("kind", BUILTIN_KINDS)
def test_what_a_kind_calls_its_metrics_is_taken_from_sitegen_and_not_from_the_document(kind):
    specs = (own := scorer(kind).metrics) or (MetricSpec(name="rate", label="rate", explanation="", recorded=True),)
    metrics = [check_metric(spec, Limit(), 0.5, 0.4, MetricDelta(spec.name, -0.1, None)) for spec in specs]
    strange = [replace(metric, label="[x](y)", unit="@all", higher_is_better=False) for metric in metrics]
    one = gate_eval("a", "both", strange if own else metrics, kind=kind, overlap=overlap("comparable", 2))
    assert read_report(schema_first(gate_report("b" * 40, "a" * 40, [one]))).evals[0].metrics == tuple(metrics)


def first(**changes: object) -> dict[str, Any]:
    """A document whose first eval says something else."""
    body = document()
    return {**body, "evals": [{**body["evals"][0], **changes}, *body["evals"][1:]]}


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "Expecting value"),
        (b"\xff", "codec can't decode"),
        (b"[" * 200_000, "recursion"),
        ({}, "it does not say that it is a sitegen/gate/1"),
        (document(schema="sitegen/gate/2"), "it does not say that it is a sitegen/gate/1"),
        (document(verdict="pass", passed=True), "its verdict does not follow from its evals"),
        (document(evals=[]), "its verdict does not follow from its evals"),
        (document(head="**Approved.** [Merge](https://example.org)"), "the id of a commit is not valid"),
        (document(evals=[{}] * (MOST + 1)), "one of its texts or lists is longer than 10,000"),
        (first(name="x" * (MOST + 1)), "one of its texts or lists is longer than 10,000"),
        (first(broken=10**30), "one of its numbers is larger than 1,000,000,000"),
        (first(broken=float("nan")), "one of its numbers is larger than 1,000,000,000"),
        (first(kind="<img>"), "there is no such kind of eval"),
        (first(metrics=[]), "tuple index out of range|list index out of range|its verdict"),
        (first(verdict="splendid"), "Invalid enum value"),
        (first(name=["x"]), "Expected `str`"),
    ],
)
def test_what_is_no_report_is_refused(content, why):
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    with pytest.raises(SitegenError, match=f"The file is not a report of the gate: .*({why})"):
        read_report(body)


def test_the_command_writes_the_markdown_of_a_document(tmp_path):
    (tmp_path / "gate.json").write_bytes(schema_first(report()))
    done = run("check", "--from", tmp_path / "gate.json", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, gate_markdown(report()), "")
    assert run("check", "--from", tmp_path / "gate.json", "--markdown", tmp_path / "gate.md").stdout == ""
    assert (tmp_path / "gate.md").read_text(encoding="utf-8") == gate_markdown(report())


def test_the_command_refuses_what_is_no_report_and_writes_nothing(tmp_path):
    (tmp_path / "gate.json").write_text("{}")
    done = run("check", "--from", tmp_path / "gate.json", "--markdown", tmp_path / "gate.md")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("sitegen: The file is not a report of the gate: ")
    assert not (tmp_path / "gate.md").exists()


def test_what_check_wrote_can_be_shown_elsewhere(repo, tmp_path):
    repo.commit(
        {"evals/a/ground_truth.csv": "id,total\n1,1\n2,2\n", "evals/a/extracted.json": '[{"id": "1", "total": 1}]'}
    )
    repo.commit({"evals/a/extracted.json": '[{"id": "2", "total": 3}]', "CLAUDE.md": "# Rules\n"}, message="Try")
    written = tmp_path / "gate.md"
    done = run("check", "--base", "HEAD~1", "--exact", "--json", "--markdown", written, "--repo", repo.path)
    (tmp_path / "gate.json").write_text(done.stdout, encoding="utf-8")
    assert run("check", "--from", tmp_path / "gate.json").stdout == written.read_text(encoding="utf-8")
