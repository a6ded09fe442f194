"""The answers of an output, case by case."""

import json
import re
from pathlib import Path
from typing import Any

from markupsafe import escape
from msgspec.structs import replace

from sitegen.importers.case import JudgedCase, Opinion, with_documents
from sitegen.model.answers import AnsweredCase, JudgeWords, Turn
from sitegen.model.usage import Call
from sitegen.pages import links
from sitegen.pages.field import ANSWERED, FieldView, case_page
from sitegen.pages.report.grid import DRAWN, LONG, PART, SHOWN, CaseGrid, verdict
from sitegen.scoring.answers import answered_cases
from tests import pages_sample as sample
from tests.gitrepo import GitRepo
from tests.rows import in_table
from tests.sites import broken_links, build_site, differs_from_cold

HOSTILE = "</script><script>alert(1)</script>\u202e<b>"


def cases(*rows: tuple[Any, ...]) -> tuple[AnsweredCase, ...]:
    """Cases of rows: the case, the model, the answer and whether it passed."""
    stated: dict[str, Any] = {"opinion": Opinion("", None), "judges": (), "expected": "x"}
    judged = (
        JudgedCase(id=case, call=Call(model=model), output=output, passed=passed, **stated)
        for case, model, output, passed in rows
    )
    return answered_cases(with_documents([*judged]))


def grid(now: tuple[AnsweredCase, ...], before: tuple[AnsweredCase, ...] = ()) -> CaseGrid:
    return CaseGrid(place=("qa", "0002"), cases=now, earlier=before, earlier_label="iteration-001" if before else "")


def test_what_fails_newly_comes_first_and_every_row_says_what_it_is() -> None:
    before = cases(*((name, "a", "one", name != "old") for name in ("same", "new", "old", "other")))
    now = cases(
        ("same", "a", " One", True),
        ("other", "a", "two", True),
        ("old", "a", "one", False),
        ("new", "a", "three", False),
        ("came", "a", "four", True),
    )
    rows = re.findall(r"<li([^>]*)><p class=case><b>(\w+)</b>", "".join(grid(now, before).drawn))
    assert [(name, marks.split()) for marks, name in rows] == [
        ("new", ["data-n", "data-f", "data-c"]),
        ("old", ["data-f"]),
        ("other", ["data-p", "data-c"]),
        ("same", ["data-p"]),
        ("came", ["data-p"]),
    ]
    flags = [(name, number) for _, name, _, number in grid(now, before).flags]
    assert flags == [("newly", 1), ("failing", 2), ("passing", 3), ("changed", 2)]


def test_a_spread_is_said_of_repeats_whose_scores_differ() -> None:
    (case,) = cases(*[("a", "m", "one", True)] * 2)
    same, other = (replace(case.answers[0], score=score) for score in (0.9, 0.7))
    assert [verdict([same, same]), verdict([same, other])] == ["passed, 0.900", "passed, 0.800, spread 0.141"]


def test_every_case_has_a_cell_for_each_model_and_repeats_share_one() -> None:
    now = cases(("p", "a", "red", True), ("p", "a", "Red", True), ("p", "a", "blue", False), ("q", "b", "red", True))
    shown = grid(now)
    assert list(shown.columns.values()) == ["a", "b"]
    html = "".join(shown.drawn)
    assert re.findall(r'class="an (a\d)"', html) == ["a0", "a1", "a0", "a1"]
    assert (html.count("no answer"), html.count("passed 2 of 3 times")) == (2, 1)
    found = re.findall(r"<(?:p class=who|details><summary)>(given [^<]+)</", html)
    assert found == ["given 2 of 3 times, passed", "given 1 of 3 times, failed"]
    assert shown.address_of("flaky") == "#flaky=1"
    flaky = ["<li data-f data-y>", '<div class="an a0" id=c1.0 data-s=0.667 data-f data-y>']
    assert re.findall(r"<(?:li|div)[^>]* data-y[^>]*>", html) == flaky
    assert next(shown.files()).content.decode().splitlines() == [
        "case,repeat,expected,a answer,a passed,a score,b answer,b passed,b score",
        *("p,1,x,red,1.0,,,,", "p,2,x,Red,1.0,,,,", "p,3,x,blue,0.0,,,,", "q,1,x,,,,red,1.0,"),
    ]
    passed = JudgeWords(name="passed", score=1.0, reasons="", details="")
    ways = [replace(own, transcript=(Turn("message", "user", own.output),), judges=(passed,)) for own in now[0].answers]
    whole = replace(grid((replace(now[0], answers=tuple(ways)),)), longest=LONG).drawn[0]
    assert re.findall(r"<b>user</b><div class=out dir=auto>(\w+)", whole) == ["red", "Red", "blue"]
    assert "class=said" not in whole, "the verdict is said once"


def test_of_many_columns_those_with_the_best_answers_are_shown_first() -> None:
    models = [f"m{number:02}" for number in range(SHOWN + 6)]
    rows = ((case, model, "red", place % 3 < int(case)) for case in "12" for place, model in enumerate(models))
    shown = grid(cases(*rows))
    assert [*shown.columns.values()] == [*models[::3], *models[1::3], *models[2::3]]
    assert re.findall(r'class="an a(\d+) beyond"', shown.drawn[0]) == [str(SHOWN + place) for place in range(6)]
    assert "beyond" not in replace(shown, place=None).drawn[0], "the page of a case has no chooser"


def test_an_answer_that_is_none_fails_and_can_be_asked_for() -> None:
    wrong, late, right = cases(*((name, "a", "red", name == "right") for name in ("wrong", "late", "right")))
    late = replace(late, answers=(replace(late.answers[0], passed=None, output="", error="timeout"),))
    shown = grid((wrong, late, right))
    assert [(name, number) for _, name, _, number in shown.flags] == [("failing", 2), ("passing", 1), ("errors", 1)]
    named = "<p class=who><a href=#c2.0><b>a</b></a>"
    cell = f'<div class="an a0" id=c2.0 data-f data-e>{named} <span class="pill bad">no result</span>'
    assert any(cell in row for row in shown.drawn)


def test_an_answer_beside_a_call_that_gave_none_is_not_flaky() -> None:
    case, other = cases(("p", "a", "x", True), ("p", "a", "", False), ("q", "a", "x", True))
    given, wrong = case.answers
    shown = [grid((replace(case, answers=(given, it)), other)) for it in (wrong, replace(wrong, error="No quota."))]
    assert [one.address_of("flaky") for one in shown] == ["#flaky=1", ""]


def test_columns_have_the_scores_that_differ_and_cases_are_chosen_by_what_failed() -> None:
    (case,) = cases(("p", "a", "x", True), ("p", "b", "x", False))
    judges = [JudgeWords(name=name, score=1.0, reasons="", details="") for name in ("long", "tone")]
    failed = [judges[0], judges[1]._replace(score=0.25, reasons="✗ Curt.")]
    answers = [replace(each, judges=tuple(own)) for each, own in zip(case.answers, (judges, failed), strict=True)]
    shown = grid((replace(case, answers=tuple(answers)),))
    assert [head[1] for head in shown.heads.values()] == ["1 of 1 passed, tone 1.000", "0 of 1 passed, tone 0.250"]
    assert shown.listed_tags == ["failed: tone"]
    many = replace(answers[1], judges=tuple(failed[1]._replace(name=f"j{number}") for number in range(51)))
    assert grid((replace(case, answers=(many,)),)).listed_tags == []


def test_answers_are_marked_against_what_is_expected_or_the_first_that_passed() -> None:
    said = (("a", "a red door", False), ("b", "a door", True), ("c", "a, big door.", True))
    (case,) = answers = cases(*(("p", *of) for of in said))
    for expected, marked_words in (("a big door", ["red"]), ("", ["red", "big"])):
        shown = "".join(grid((replace(case, expected=expected),)).drawn)
        assert re.findall(r"<mark>(.*?)</mark>", shown) == marked_words
    about = replace(case, asked={"language": "de", "topic": "<b>", "other": "x"})
    chosen = CaseGrid(place=("qa", "0002"), cases=(about,), axes=("model", "language", "topic"))
    assert 'data-g="language: de\ntopic: &lt;b&gt;"' in "".join(chosen.drawn)
    assert chosen.address({"language": "de"}) == "#tag=language%3A+de"
    assert grid(answers).address({"language": "de"}) == ""


@in_table
def test_the_verdict_on_answers_is_a_word_or_a_count(passed: list[Any], said: str) -> None:
    (case,) = cases(*(("p", "a", "x", each) for each in passed))
    assert verdict(case.answers) == said


def test_what_all_answers_to_a_case_share_was_asked_and_what_all_cases_share_is_not_shown() -> None:
    def case(name: str, answer: int, **texts: str) -> JudgedCase:
        stated = {"run": "1", "empty": "", "ms": str(answer), **texts}
        return JudgedCase(id=name, opinion=Opinion("", None), judges=(), input="Which?", output="x", texts=stated)

    judged = [case(name, answer, topic=f"of {name}", long=f"{name} " * 99) for answer in (1, 2) for name in ("p", "q")]
    assert {*judged[0].axes} == {"run", "ms", "topic"}
    asked = answered_cases(with_documents(judged))
    assert [[*each.asked] for each in asked] == [["Input", "run", "topic", "long"]] * 2
    assert grid(asked).asked_parts == ["Input", "topic", "long"]
    assert re.findall(r"<h3>(\w+)", grid(asked).drawn[1]) == ["Input", "topic", "long"]
    assert grid(asked[:1]).asked_parts == ["Input", "run", "topic", "long"]


def test_cases_that_the_page_does_not_hold_are_in_files_beside_it() -> None:
    now = cases(*((f"c{number}", "a", HOSTILE, True) for number in range(DRAWN + PART + 1)))
    shown = grid(now)
    *files, table = shown.files()
    assert [file.path for file in (*files, table)] == [f"evals/qa/0002-cases{of}" for of in ("-1.js", "-2.js", ".csv")]
    assert (shown.parts, shown.loadable) == (2, PART + 1)
    bodies = [json.loads(re.fullmatch(rb".*?\.push\((.*)\);\n", file.content, re.DOTALL)[1]) for file in files]  # type: ignore[index]
    names = re.findall(r"<b>(c\d+)</b>", "".join(shown.drawn) + "".join(bodies))
    assert names == [case.id for case in now]
    for html in ("".join(shown.drawn), *bodies):
        assert "<script" not in html
        assert str(escape(HOSTILE[:30])) in html
    assert list(CaseGrid(place=None, cases=now).files()) == []


def test_the_page_holds_fewer_cases_if_their_texts_are_long() -> None:
    long = cases(*((f"c{number}", model, f"{model} " * 2_000, True) for number in range(DRAWN) for model in "abcdefgh"))
    assert len("".join(grid(long).drawn)) < 250_000
    assert 10 < len(grid(long).drawn) < DRAWN


def test_a_prompt_that_is_no_files_name_is_linked_to_the_one_file_that_has_its_text(
    repo: GitRepo, tmp_path: Path
) -> None:
    texts = {"Kurz": "Answer briefly: {{q}}", "By name": "Greet: {{q}}", "twice": "Answer: {{q}}", "none": "Say: {{q}}"}
    files = {
        "brief": "Answer briefly: {{q}}",
        "by-name": "Greet: {{q}}",
        "one": "Answer: {{q}}",
        "two": "Answer: {{q}}",
    }
    repo.commit({f"prompts/{name}.md": f"{text}\n" for name, text in files.items()})
    prompts = [{"raw": text, "label": label, "provider": "p"} for label, text in texts.items()]
    row = {"testIdx": 0, "success": True, "score": 1, "vars": {"q": "?"}}
    rows = [{**row, "promptIdx": at, "response": {"output": f"answer {at}"}} for at in range(4)]
    results = json.dumps({"results": {"version": 3, "prompts": prompts, "results": rows}})
    repo.commit({"evals/qa/results.json": results, "prompts/by-name.md": "Greet and ask: {{q}}\n"})
    build_site(repo.path, tmp_path / "site")
    heads = (tmp_path / "site/evals/qa/0001.html").read_text().split('role="columnheader"')[1:]
    links_of = [re.findall(r'href="../../instructions/prompts--([a-z-]+)[.]md/index.html"', head) for head in heads]
    assert links_of == [["brief"], ["by-name"], [], []]


def test_the_page_of_a_case_has_its_newest_answers_however_the_site_was_built(tmp_path: Path) -> None:
    repo, site = GitRepo(tmp_path / "repo"), tmp_path / "public"

    def answer(run: int) -> None:
        named = ["stays & <b>", "goes"] if run < 4 else ["stays & <b>", "comes"]
        rows = [{"test_id": name, "score": run % 2, "output": f"{name} {run}", "input": "Which?"} for name in named]
        manifest = "evals: {qa: {kind: judged, outputs: results.jsonl}}\n"
        repo.commit(
            {"evals/manifest.yaml": manifest, "evals/qa/results.jsonl": "\n".join(map(json.dumps, rows)) + "\n"}
        )

    def shown(name: str) -> list[str]:
        page = (site / links.case("qa", name)).read_text("utf-8")
        return [re.sub("<[^>]+>", "", each) for each in re.findall(r"<div class=out dir=auto>(.*?)</div>", page)]

    for run in (1, 2, 3, 4):
        answer(run)
    build_site(repo.path, site)
    assert shown("goes") == ["Which?", "goes 3", "goes 2", "goes 1"]
    for run in range(5, ANSWERED + 5):
        answer(run)
    build_site(repo.path, site)
    assert differs_from_cold(site, repo.path) == []
    assert shown("goes") == []
    assert shown("stays & <b>")[1::19] == [f"stays &amp; &lt;b&gt; {ANSWERED + 4}", "stays &amp; &lt;b&gt; 5"]
    assert broken_links(site) == []
    assert '"evals/qa/cases"' in (site / "search/list.js").read_text("utf-8")
    for limit in ("reports_kept = 1", f"reports_kept = {ANSWERED}", "discrepancies_per_type = 1", "site_bytes = 1"):
        (repo.path / "sitegen.toml").write_text(f"[limits]\n{limit}\n")
        build_site(repo.path, site)
        assert differs_from_cold(site, repo.path) == []


def test_the_page_of_a_case_with_long_answers_is_bounded_and_shows_most_of_the_newest() -> None:
    series = sample.series(30)
    rows = {index: [("c", model, f"{index} " * 900, True) for model in "abcdefgh"] for index in range(10, 30)}
    long = {index: cases(*own)[0] for index, own in rows.items()}
    empty = FieldView(info=series.info, attribute="c", points=series.points, cells=())
    view = case_page(series, empty, long).view
    assert isinstance(view, FieldView)
    assert len(view.outputs) < 450_000
    shown = [len(each) for each in re.findall(r"<div class=out dir=auto>([^<]*)", view.outputs)]
    assert (shown[0], shown[1], shown[-1]) == (1, 2_700, 626)
