"""``sitegen export`` and data files: the tables hold what the series hold, and other programs can open them."""

import csv
import io
import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import Any

import pandas
import pytest
from msgspec.structs import replace

from sitegen.errors import OutputFolderError
from sitegen.model.outcomes import Unusable
from sitegen.model.series import PatternSummary, Series
from sitegen.model.timeline import Blob, Edit
from sitegen.pages.data.exports import results_json
from sitegen.pages.data.series import series_files
from sitegen.project import Options
from sitegen.questions.export_tables import TABLES, Table
from sitegen.questions.exporting import AT_ONCE, PLACES, write_tables
from sitegen.questions.study import open_study
from sitegen.text.plain import spreadsheet_safe
from tests import pages_sample as sample
from tests.golden import repository
from tests.sites import run

Rows = list[dict[str, Any]]

KEYWORDS = {"abort", "add", "all", "by", "case", "check", "commit", "from", "group", "index", "key", "order", "then"}


class Exports:
    """A project with evals of every kind, exported in every format."""

    def __init__(self, folder: Path) -> None:
        self.repo = repository.write(folder / "golden").path
        self.folder = folder
        memo = folder / "memo"
        for format, name in (("sqlite", "x.sqlite"), ("csv", "csv")):
            done = run("export", "--format", format, "-o", folder / name, "--repo", self.repo, "--cache", memo)
            assert (done.returncode, done.stdout) == (0, ""), done.stderr
        with open_study(Options(repo=self.repo, cache=memo)) as project:
            self.series = [project.series(history) for history in project.evals.values()]

    def sqlite(self, query: str) -> Rows:
        with closing(sqlite3.connect(self.folder / "x.sqlite")) as database:
            database.row_factory = sqlite3.Row
            return [dict(row) for row in database.execute(query)]

    def tables(self) -> dict[str, Rows]:
        return {table.name: self.rows(table) for table in TABLES}

    def rows(self, table: Table) -> Rows:
        """The rows of a table in the order of the key."""
        booleans = [column.name for column in table.columns if column.type == "boolean"]
        found = self.sqlite(f"SELECT * FROM {table.name} ORDER BY {', '.join(table.key)}")
        return [row | {name: bool(row[name]) for name in booleans} for row in found]


@pytest.fixture(scope="module")
def exports(tmp_path_factory: pytest.TempPathFactory) -> Exports:
    return Exports(tmp_path_factory.mktemp("export"))


def every_point(exports: Exports) -> list[tuple[Series, int]]:
    return [(series, index) for series in exports.series for index in range(len(series.points))]


def test_scores_hold_both_clocks_and_parts_that_sum_to_the_change(exports):
    found = {(row["eval_id"], row["point"], row["metric"]): row for row in exports.tables()["scores"]}
    assert len(found) == sum(len(series.specs) for series, _ in every_point(exports))
    changes = 0
    for series, index in every_point(exports):
        point = series.points[index]
        for spec in series.specs:
            row = found[series.info.id, index, spec.name]
            assert row["score_then"] == point.scorecard.metric(spec.name)
            assert point.now is not None
            assert row["score_now"] == point.now.metric(spec.name)
            parts = [row["by_outputs"], row["by_ground_truth"], row["by_rules"]]
            if None not in parts:
                changes += 1
                assert sum(parts) == pytest.approx(row["change"], abs=1e-12)
        headline = found[series.info.id, index, series.specs[0].name]
        if headline["interval_low"] is not None:
            assert headline["interval_low"] <= headline["score_then"] <= headline["interval_high"]
    assert changes > 20


def test_sqlite_has_foreign_keys_that_hold(exports):
    assert exports.sqlite("PRAGMA foreign_key_check") == []
    listed = {
        (table.name, row["table"])
        for table in TABLES
        for row in exports.sqlite(f"PRAGMA foreign_key_list({table.name})")
    }
    assert listed == {(table.name, other) for table in TABLES for _, other in table.references}
    joined = exports.sqlite(
        "SELECT label, score_then FROM points JOIN scores USING (eval_id, point) JOIN evals USING (eval_id)"
        " WHERE eval_id = 'orders' AND metric = headline ORDER BY point"
    )
    orders = next(series for series in exports.series if series.info.id == "orders")
    assert joined == [
        {"label": point.snapshot.label, "score_then": point.scorecard.metric("f1")} for point in orders.points
    ]


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_pandas_reads_the_same_rows_from_csv(exports, table: Table):
    kinds = {"text": "string", "integer": "Int64", "real": "Float64", "boolean": "boolean"}
    types = {column.name: kinds[column.type] for column in table.columns}
    file = exports.folder / "csv" / f"{table.name}.csv"
    read = pandas.read_csv(file, dtype=types, keep_default_na=False, na_values=[""])
    assert list(read.columns) == [column.name for column in table.columns]
    empty = {column.name: "" for column in table.columns if column.type == "text" and not column.optional}
    found = [defined(row) for row in read.fillna(empty).to_dict("records")]
    assert sorted(found, key=lambda row: [row[name] for name in table.key]) == exports.rows(table)


def defined(row: dict[Any, Any]) -> dict[str, Any]:
    return {str(name): None if value is pandas.NA else value for name, value in row.items()}


def test_no_name_of_a_table_or_column_needs_quotes_in_sql():
    names = {table.name for table in TABLES} | {column.name for table in TABLES for column in table.columns}
    assert [name for name in names if not name.replace("_", "").isalpha() or name in KEYWORDS] == []
    assert all(other in [each.name for each in TABLES] for table in TABLES for _, other in table.references)


def test_one_eval_alone_is_exported_and_an_unknown_one_is_an_error(exports, tmp_path):
    arguments = ["--repo", exports.repo, "--cache", exports.folder / "memo", "--format", "sqlite"]
    done = run("export", *arguments, "--eval", "notes", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "wrote export.sqlite\n")
    with closing(sqlite3.connect(tmp_path / "export.sqlite")) as database:
        assert database.execute("SELECT DISTINCT eval_id FROM points").fetchall() == [("notes",)]
    done = run("export", *arguments, "--eval", "note", "-o", tmp_path / "no.sqlite")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("sitegen: There is no eval 'note'.\n  do: The evals of this project: checks, ")
    assert not (tmp_path / "no.sqlite").exists()


def test_the_same_history_gives_the_same_files(exports, tmp_path):
    run("export", "--format", "sqlite", "-o", tmp_path / "x.sqlite", "--repo", exports.repo, "--cache", tmp_path / "m")
    assert (tmp_path / "x.sqlite").read_bytes() == (exports.folder / "x.sqlite").read_bytes()


def test_git_ignores_the_tables_in_a_project_until_somebody_commits_them(exports):
    run("export", "--format", "csv", "-o", exports.repo / "tables", "--repo", exports.repo)
    assert (exports.repo / "tables/.gitignore").read_text(encoding="utf-8") == "*\n"


def test_what_git_holds_is_text_and_no_formula(repo, tmp_path):
    repo.commit({"CLAUDE.md": "Read.\n", "evals/a/ground_truth.json": '{"sum": "=1+1"}'}, message="Begin")
    output = {"evals/a/extracted.json": '{"sum": "=HYPERLINK(\\"https://example.org\\")"}'}
    repo.commit(output, message=b"=cmd|' /C calc'!A0", author=b"@SUM(1)\xff")
    repo.commit({"evals/b/ground_truth.json": '{"sum": 1}'}, message="Add an eval without outputs")
    for format in ("csv", "sqlite"):
        done = run("export", "--format", format, "-o", tmp_path / format, "--repo", repo.path)
        assert done.returncode == 0, done.stderr
    with open(tmp_path / "csv" / "points.csv", encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row["subject"], row["author"], row["stale"]) == ("'=cmd|' /C calc'!A0", "'@SUM(1)�", "false")
    with closing(sqlite3.connect(tmp_path / "sqlite")) as database:
        assert database.execute("SELECT subject, author FROM points").fetchall() == [("=cmd|' /C calc'!A0", "@SUM(1)�")]
        assert database.execute("SELECT eval_id FROM evals ORDER BY 1").fetchall() == [("a",), ("b",)]


class Counted(tuple[str, ...]):
    """A row that knows how many like it there are."""

    live = most = 0

    def __init__(self, cells: Iterable[str]) -> None:
        Counted.live += 1
        Counted.most = max(Counted.most, Counted.live)

    def __del__(self) -> None:
        Counted.live -= 1


@pytest.mark.parametrize("format", PLACES)
def test_however_many_rows_there_are_few_are_held_at_a_time(format, tmp_path):
    Counted.most = 0
    number = 5 * AT_ONCE
    rows = (Counted((f"row {place}", "x")) for place in range(number))
    files = write_tables(format, tmp_path / "place", [("about", islice(rows, 999)), ("about", rows)], tmp_path)
    assert 0 < Counted.most <= 3 * AT_ONCE
    whole = b"".join(file.read_bytes() for file in files)
    assert whole.count(b"row ") >= number


def test_an_export_that_fails_leaves_what_stood_there(exports, tmp_path):
    kept = tmp_path / "x.sqlite"
    kept.write_text("mine", encoding="utf-8")
    done = run("export", "--format", "sqlite", "-o", kept, "--repo", exports.repo, "--rev", "nowhere")
    assert done.returncode == 2
    assert [path.name for path in tmp_path.iterdir()] == ["x.sqlite"]
    assert kept.read_text(encoding="utf-8") == "mine"


def test_a_folder_in_the_place_of_the_file_is_named(exports, tmp_path):
    for place in (tmp_path, ""):
        done = run("export", "--format", "sqlite", "-o", place, "--repo", exports.repo)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith(f"sitegen: A folder stands where the file goes.\n  at: {Path(place).resolve()}\n")


def test_an_error_of_a_full_disk_is_one_of_the_export_and_not_of_the_memo(tmp_path, monkeypatch):
    connect = sqlite3.connect

    def small(file: Path) -> sqlite3.Connection:
        database = connect(file)
        database.execute("PRAGMA max_page_count = 40")
        return database

    monkeypatch.setattr(sqlite3, "connect", small)
    rows = ((f"row {number}", "x" * 4000) for number in range(1000))
    with pytest.raises(OutputFolderError, match="The database cannot be written: database or disk is full") as raised:
        write_tables("sqlite", tmp_path / "x.sqlite", [("about", rows)], tmp_path)
    assert raised.value.where == str(tmp_path / "x.sqlite")
    assert list(tmp_path.iterdir()) == []


ROUNDING = PatternSummary(name="rounding", errors=3, total=9, fields=1, since="", all_since=False, without=0.75)
ROUNDING_DATA = {"name": "rounding", "errors": 3, "of": 9, "fields": 1, "since": None, "headline_without": 0.75}


def test_instructions_of_a_point_are_what_changed_since_the_point_before():
    series = sample.series(1)
    at = sample.commit(1)
    edits = (
        Edit(commit=at, path="b.md", status="renamed", old=Blob("a.md", "1" * 40), new=Blob("b.md", "1" * 40)),
        Edit(commit=at, path="c.md", status="deleted", old=Blob("c.md", "2" * 40), new=None),
    )
    point = replace(series.points[0], edits=edits)
    body = json.loads(series_files(replace(series, points=(point,)))[0].content)
    assert body["points"][0]["instructions"] == {"a.md": None, "b.md": "1" * 40, "c.md": None}


def test_the_series_ends_with_the_error_patterns_of_its_newest_output():
    series = sample.series(2)
    body = json.loads(series_files(series, patterns=(ROUNDING,))[0].content)
    assert body == {**json.loads(series_files(series)[0].content), "error_patterns": [ROUNDING_DATA]}


def test_a_text_that_a_spreadsheet_would_run_is_defused_in_the_table_alone():
    assert [*map(spreadsheet_safe, ["-5", "+1.5e-3", "-5-1", "=5"])] == ["-5", "+1.5e-3", "'-5-1", "'=5"]
    series = sample.series(1)
    at = series.points[0].snapshot
    point = replace(series.points[0], snapshot=replace(at, commit=replace(at.commit, subject="=HYPERLINK(1)")))
    data, table = series_files(replace(series, points=(point,)))
    assert json.loads(data.content)["points"][0]["subject"] == "=HYPERLINK(1)"
    assert next(csv.DictReader(io.StringIO(table.content.decode())))["subject"] == "'=HYPERLINK(1)"


def test_a_whole_result_keeps_values_with_their_own_digits():
    judged = [
        sample.judgement(
            "a", "wrong_value", expected=Decimal("10.50"), actual=[Decimal("1E+3"), {"x": None}], note="why"
        ),
        sample.judgement("b", "format_error", expected=1, actual=Unusable("NaN", "no number")),
        sample.judgement("c\udcff", "correct", "x", "x"),
    ]
    series = sample.series(1)
    content = results_json(sample.result(judged), series.info, series.points[0].snapshot, series.specs[0])
    assert b'"expected":10.50,"actual":[1E+3,{"x":null}]' in content
    body = json.loads(content)
    assert body["discrepancies"][1] == {
        "document": "",
        "field_path": "b",
        "expected": 1,
        "actual": "NaN",
        "error_type": "format_error",
        "note": "",
    }
    assert list(body["by_field"]) == ["a", "b", "c\\udcff"]
    assert body["alignment"] == {
        "cargo": [
            [0, 0, 1.0, "key"],
            [1, 2, 0.857142, "agreement"],
            [2, None, None, None],
            [None, 1, None, None],
            [None, 3, None, None],
        ]
    }
    assert (body["schema"], body["status"], body["metadata"]["iteration"]) == ("sitegen/eval-results/1", "scored", 1)
