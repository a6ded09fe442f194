"""JUnit XML as cases: sitegen's totals are those that pytest wrote into the same file."""

import re
from pathlib import Path

import pytest

from sitegen.data_files.reading import UnreadableError
from sitegen.importers import read_results
from sitegen.importers.case import JudgedCase, Opinion
from sitegen.model.metrics import Counts
from sitegen.model.scorecards import FieldScore
from sitegen.model.usage import Call, Usage
from tests.rows import in_table
from tests.scored import scored

CONTENT = (Path(__file__).parent / "fixtures/pytest.xml").read_bytes()
WRONG = Counts(fp=1, fn=1, wrong_value=1)


def test_totals_are_those_of_the_tool() -> None:
    stated = {key: int(number) for key, number in re.findall(r' (tests|failures|errors|skipped)="(\d+)"', str(CONTENT))}
    card = scored("judged", {"junit.xml": CONTENT}).scorecard
    cases = read_results("junit.xml", CONTENT).cases
    judged = stated["tests"] - stated["skipped"]
    right = judged - stated["failures"] - stated["errors"]
    assert (len(cases), sum(case.passed is None for case in cases)) == (stated["tests"], stated["skipped"])
    assert sum(bool(case.error) for case in cases) == stated["errors"]
    assert card.metric("pass_rate") == card.metric("score") == right / judged
    assert card.counts == Counts(tp=right, fp=judged - right, fn=judged - right, wrong_value=judged - right)


def test_every_case_has_the_name_and_the_outcome_that_pytest_gave() -> None:
    cases = read_results("junit.xml", CONTENT).cases
    assert [(case.id, case.passed) for case in cases] == [
        ("test_house.TestRooms::test_area", True),
        ("test_house.TestRooms::test_name[hall]", True),
        ("test_house.TestRooms::test_name[<b>attic</b> & more]", False),
        ("test_house::test_heating", False),
        ("test_house::test_garage", None),
        ("test_house::test_cellar", None),
    ]
    assert cases[3].error == 'failed on setup with "RuntimeError: no gas"'


def test_suites_may_stand_in_each_other_and_names_may_repeat() -> None:
    content = b"""<testsuites><testsuite name="out" timestamp="2026-01-02T03:04:05"><testsuite name="in">
      <testcase name="a" time="1,234.5"><failure>too late</failure><system-out>noise</system-out></testcase>
      <testcase name="a"><properties/></testcase></testsuite><testcase name="b" classname="k" time="x"/>
      </testsuite></testsuites>"""
    results = read_results("x.xml", content)
    wrong, right = (FieldScore("in", WRONG),), Counts(tp=1)
    assert results.cases == (
        JudgedCase(
            "in::a",
            Opinion("", 0.0, misses=("in: too late",), counts=wrong),
            (),
            passed=False,
            call=Call(Usage(latency=1234.5)),
        ),
        JudgedCase("in::a (2)", Opinion("", 1.0, counts=(FieldScore("in", right),)), (), passed=True),
        JudgedCase("k::b", Opinion("", 1.0, counts=(FieldScore("k", right),)), (), passed=True),
    )
    assert results.run.timestamp == "2026-01-02T03:04:05"


@in_table
def test_a_file_that_is_no_safe_junit_xml_is_refused(content: str, why: str) -> None:
    with pytest.raises(UnreadableError) as refused:
        read_results("x.xml", content.replace("DEEP", "<x>" * 200).encode())
    assert refused.value.message == why
