"""Runs the sections of the documents of layouts, and the cases of names that fit nothing: each is a project, and what a
build without questions makes of it.

The first lines of ``layouts.md`` explain the notation.
"""

import collections
import functools
import itertools
import json
import re
import shlex
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from sitegen.analysis.causes import ProblemCause, causes_of
from sitegen.api import History
from sitegen.config.models import Manifest, SiteConfig
from sitegen.history.layout import Layout
from sitegen.history.repository import Repository
from sitegen.history.repository_place import find_repository
from sitegen.model.problems import Problem
from sitegen.model.series import Point
from sitegen.project import Options
from sitegen.questions.study import open_study
from sitegen.questions.verify import verify
from sitegen.questions.work_tree import WorktreeProject
from sitegen.recognition.discovery import discover
from sitegen.recognition.files import Discovery, files_of_history
from sitegen.serve.watch import followed
from tests.gitrepo import Content, GitRepo
from tests.scoring.test_tables import tables
from tests.sites import broken_links, build_site, differs_from_cold, run, text_of

DOCUMENTS = [file.name for file in sorted(Path(__file__).parent.glob("layouts*.md"))]
BLOCK = re.compile(r"^```\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
MANIFEST = "evals/manifest.yaml"
STATED = ("severity", "problem", "what to do", "path", "eval", "line")
FILE = re.compile(r"^(\S.*?):(?: (.*))?\n((?:  .*\n)*)", re.MULTILINE)
PROPOSED = re.compile("No manifest names the eval '(.+?)'")
EVAL = {
    "evals/n/ground_truth.csv": "id,total,name\na,1,x\nb,2,y\n",
    "evals/n/results/iteration-001/extracted.json": '[{"id": "a", "total": 1, "name": "x"}, '
    '{"id": "b", "total": 2, "name": "y"}]',
}
"""What stands beside the files of a case of ``unmatched.md``: an eval that is in order."""

Row = dict[str, str]


class Described(NamedTuple):
    commits: list[dict[str, Content]]
    stepwise: bool
    """Whether the site is built after each commit, and is in the end what a build from nothing makes."""
    tables: list[list[Row]]


def layouts(document: str) -> Iterator[Any]:
    """A layout for each block of files of a section, and for each row of a table of words that stand in it."""
    start, *sections = re.split(r"^## ", Path(__file__).with_name(document).read_text("utf-8"), flags=re.MULTILINE)
    everywhere = collections.ChainMap(*itertools.chain.from_iterable(tables(start)))
    for section in sections:
        title, _, body = section.partition("\n")
        found = tables(BLOCK.sub("", body))
        words = [row for table in found for row in table if next(iter(row)).isupper()]
        stated = [table for table in found if not next(iter(table[0])).isupper()]
        blocks = BLOCK.findall(body)
        assert blocks, title
        assert stated, title
        for meanings, block in itertools.product(words or [{}], blocks):
            put = functools.partial(re.sub, r"\b[A-Z]+\b", functools.partial(meaning, everywhere | meanings))
            named = [[{put(name): put(cell) for name, cell in row.items()} for row in table] for table in stated]
            commits = re.split(r"^---.*\n", put(block), flags=re.MULTILINE)
            yield pytest.param(Described([*map(files, commits)], "\n--- built\n" in block, named), id=title)


def unmatched() -> Iterator[Any]:
    """A layout for each case of the table of names that fit nothing, which has one problem a row."""
    found: list[list[Row]] = []
    for row in tables(Path(__file__).with_name("unmatched.md").read_text(encoding="utf-8"))[0]:
        found += [[]] if row["case"] else []
        found[-1].append(row)
    for rows in found:
        first, *later = json.loads(f"[{rows[0]['files']}]")
        stated = [{name: row[name] for name in STATED} for row in rows if row["problem"]]
        begun = {path: text for path, text in {**EVAL, **first}.items() if text is not None}
        yield pytest.param(Described([begun, *later], False, [stated] if stated else []), id=rows[0]["case"])


def meaning(meanings: Mapping[str, str], word: re.Match[str]) -> str:
    return meanings.get(word[0], word[0])


def files(commit: str) -> dict[str, Content]:
    found: dict[str, Content] = {}
    assert not FILE.sub("", commit), "every line belongs to a file"
    for name, line, lines in FILE.findall(commit):
        written = line.split(" / ") if line else [each.removeprefix("  ") for each in lines.splitlines()]
        for path, *content in numbered(name, *written):
            text = "".join(f"{each}\n" for one in content for (each,) in numbered(one))
            choices = (part.split(",") for part in re.split(r"[{}]", path))
            found |= dict.fromkeys(map("".join, itertools.product(*choices)), None if line == "-" else text)
    return found


def numbered(*texts: str) -> list[list[str]]:
    """The texts, once for each number of ``{1..9}`` in the first."""
    bounds = re.search(r"\{(\d+)\.\.(\d+)\}", texts[0])
    numbers = range(int(bounds[1]), int(bounds[2]) + 1) if bounds else [0]
    return [[text.replace(bounds[0], str(n)) if bounds else text for text in texts] for n in numbers]


def recorded_problems(monkeypatch: pytest.MonkeyPatch) -> list[Problem]:
    """The problems of the site, once it is built in this process."""
    shown: list[Problem] = []

    def recording(problems: tuple[Problem, ...]) -> tuple[ProblemCause, ...]:
        shown[:] = problems
        return causes_of(problems)

    monkeypatch.setattr("sitegen.engine.site.causes_of", recording)
    return shown


class Built(NamedTuple):
    """A project and its site."""

    repo: GitRepo
    site: Path
    problems: list[Problem]
    searched: dict[str, Discovery]
    """What a search found at each commit that was built, by its id; nothing if any commit has a manifest."""


@pytest.mark.parametrize("layout", [*itertools.chain.from_iterable(map(layouts, DOCUMENTS)), *unmatched()])
def test_a_build_makes_of_a_layout_what_its_section_says(layout, tmp_path, monkeypatch):
    for variable in ("GITHUB_BASE_REF", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(variable, raising=False)
    problems = recorded_problems(monkeypatch)
    built = Built(repo=GitRepo(tmp_path / "repo"), site=tmp_path / "site", problems=problems, searched={})
    for commits in [[each] for each in layout.commits] if layout.stepwise else [layout.commits]:
        *_, sha = built.repo.commits(commits)
        built.repo.checkout()
        build_site(built.repo.path, built.site, jobs=1, cache=tmp_path / "memo")
        if MANIFEST not in itertools.chain.from_iterable(layout.commits):
            built.searched[sha] = look(built.repo)
    stated = {next(sort for sort in SAID if sort in table[0]): table for table in layout.tables}
    for sort, table in stated.items():
        assert said(built, sort, table) == lines(table)
    assert not layout.stepwise or differs_from_cold(built.site, built.repo.path) == []
    assert broken_links(built.site) == []
    proposed = [each for search in [*built.searched.values()][-1:] for each in search.proposed]
    found = [each.message for each in built.problems if PROPOSED.match(each.message)]
    assert found == [f"No manifest names the eval {each.id!r}. {each.why}." for each in proposed]
    if "problem" not in stated:
        assert [each.message for each in built.problems if each.message not in found] == []
    if found and "eval" in stated:
        assert sorted(WorktreeProject.open(built.repo.path).eval_ids) == ids_of(built)
        watch = followed(find_repository(built.repo.path)[0], tmp_path / "memo")
        assert any(watch.concerns(built.repo.path / path) for path in itertools.chain(*layout.commits))
        built.repo.commit({MANIFEST: [*built.searched.values()][-1].manifest})
        assert said(built, "eval", stated["eval"]) == lines(stated["eval"]), "by the manifest that init writes"


def lines(table: list[Row]) -> str:
    return "\n".join(" | ".join(row.values()) for row in table)


def said(built: Built, sort: str, table: list[Row]) -> str:
    """What is found in place of the table; what fits a cell is as the cell states it."""
    rows = list(SAID[sort](built, table))
    wanted = [*table, *[dict.fromkeys(table[0], "")] * (len(rows) - len(table))]
    return lines(
        [
            {name: cell if fits(row[name], cell) else str(row[name]) for name, cell in stated.items()}
            for row, stated in zip(rows, wanted, strict=False)
        ]
    )


def fits(value: Any, cell: str) -> bool:
    """Whether it is what the cell states: nothing, a number or a fraction, or a text with gaps."""
    if value is None or cell == "":
        return value in (None, "") and cell == ""
    if isinstance(value, float | int):
        return value == pytest.approx(float(Fraction(cell)), abs=1e-9)
    return fnmatchcase(str(value).replace("\n", " / "), re.sub(r"[*?[]", r"[\g<0>]", cell).replace("…", "*"))


def ids_of(built: Built) -> list[str]:
    index = json.loads((built.site / "data/index.json").read_text(encoding="utf-8"))
    return sorted(index["evals"])


def look(repo: GitRepo, manifest: Manifest | None = None) -> Discovery:
    """What a search finds at the newest commit."""
    repository = Repository.open(repo.path)
    history = files_of_history(repository, repository.resolve("HEAD"))
    return discover(repository, Layout(SiteConfig(), manifest or Manifest()), history)


def as_yaml(entry: Mapping[str, Any]) -> str:
    """An entry of a manifest on one line, without its instructions."""
    named = {key: value for key, value in entry.items() if key != "instructions"}
    return yaml.safe_dump(named, default_flow_style=True, sort_keys=False, allow_unicode=True, width=1000).strip()


def points(built: Built, table: list[Row]) -> Iterator[Mapping[str, Any]]:
    """Each point; with the column ``points``, the newest of each eval, and how many it has."""
    ids = list(dict.fromkeys(row["eval"] for row in table if row["eval"]))
    assert sorted(ids) == ids_of(built)
    if not ids:
        yield {"eval": ""}
    proposed = {sha: {each.id: each for each in search.proposed} for sha, search in built.searched.items()}
    newest = [{}, *proposed.values()][-1]
    order = built.repo.git("rev-list", "--reverse", "HEAD").split()
    with open_study(Options(built.repo.path, cache=built.site.with_name("memo"))) as study:
        histories = {eval_id: History(study.series(study.history(eval_id))) for eval_id in ids}
    for eval_id, found in histories.items():
        shown = found.points[-1:] if "points" in table[0] else found.points
        for number, point in enumerate(shown):
            metrics = collections.defaultdict(lambda: None, point.scorecard.metrics)
            at = newest if point is found.points[-1] else proposed.get(point.snapshot.commit.sha, {})
            proposal = at.get(eval_id)
            stated: dict[str, Any] = {"entry": as_yaml(proposal.entry), "newest": proposal.newest} if proposal else {}
            stated["made with"] = point.snapshot.made_at and order.index(point.snapshot.made_at)
            yield metrics | of_point(found, point) | stated | {"eval": "" if number else eval_id}


def of_point(found: History, point: Point) -> dict[str, Any]:
    card, change = point.scorecard, point.change
    judge = change and change.judge
    return {
        "points": len(found.points),
        "kind": card.kind,
        "label": point.snapshot.label,
        "edits": " ".join(dict.fromkeys(edit.path for edit in point.edits)),
        "cause": " ".join(point.snapshot.cause),
        "status": card.status,
        "time": point.snapshot.recorded_at,
        "grades": " ".join(point.snapshot.grades),
        "headline": card.metrics[0].name,
        "scored": " ".join(each.name for each in card.documents if each.status == "scored"),
        "cases": " ".join(each.name for each in card.documents),
        "fields": " ".join(each.attribute for each in card.fields),
        "metrics": ", ".join(each.label for each in found.series.specs),
        "change": change and change.headline.change,
        "compared": change and f"{change.overlap.common} {change.overlap.verdict}",
        "now": point.now and point.now.metrics[0].value,
        "other judge": judge and f"{' '.join(judge.before)} to {' '.join(judge.after)}: {' '.join(judge.metrics)}",
        "models": " ".join(card.usage.models) if card.usage else "",
        "judges": " ".join(card.usage.judges) if card.usage else "",
    }


def problems_of(built: Built, table: list[Row]) -> Iterator[Mapping[str, Any]]:
    for each in built.problems:
        if not PROPOSED.match(each.message):
            yield {
                "problem": each.message,
                "severity": each.severity,
                "what to do": each.fix,
                "path": each.path,
                "eval": each.eval_id,
                "line": each.line,
                "past": "yes" if each.past else "",
            }


def answers_of(built: Built, table: list[Row]) -> Iterator[Mapping[str, Any]]:
    """Each answer of the newest output of the only eval, with its case and the scores of its judges."""
    (eval_id,) = ids_of(built)
    for case in verify(WorktreeProject.open(built.repo.path), eval_id).result.cases:
        for answer in case.answers:
            named = {**case.asked, **{judge.name: judge.score for judge in answer.judges}}
            yield collections.defaultdict(lambda: None, named) | {
                "case": case.id,
                "document": answer.document,
                "input": case.question,
                "expected": case.expected,
                "output": answer.output,
                "passed": answer.passed,
                "score": answer.score,
                "error": answer.error,
                "model": answer.model,
                "tokens in": answer.usage.tokens_in,
                "tokens out": answer.usage.tokens_out,
                "cost": answer.usage.cost,
                "latency": answer.usage.latency,
                "said": " ".join(judge.reasons for judge in answer.judges if judge.reasons),
            }


def printed(built: Built, table: list[Row]) -> Iterator[Mapping[str, Any]]:
    for row in table:
        done = run(*shlex.split(row["command"])[1:], cwd=built.repo.path)
        says = re.sub(r"(?<=\n) +| +(?= )", "", done.stdout + done.stderr).rstrip()
        yield {"command": row["command"], "ends with": done.returncode, "says": says}


def shown(built: Built, table: list[Row]) -> Iterator[Mapping[str, Any]]:
    for row in table:
        text = " ".join(map(text_of, sorted(built.site.glob(row["page"]))))
        unseen = row.get("leaves out", "")
        yield {"page": row["page"], "shows": text, "leaves out": "" if unseen in text else unseen}


SAID = {"problem": problems_of, "command": printed, "page": shown, "case": answers_of, "eval": points}
"""What there is of each sort of tables, by a column that it has."""
