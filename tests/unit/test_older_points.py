"""Older points of an eval are in files of their own, which stay as they are while the eval goes on."""

import bz2
import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from sitegen.errors import SecretsError
from sitegen.model.site import RawFile
from sitegen.pages.data.series import decompressed, older_files, older_points, series_files, whole_series
from sitegen.project import Options
from sitegen.questions.public import PublicCheck
from tests import pages_sample as sample
from tests.gitrepo import GitRepo
from tests.sites import build_site, content, differences, run
from tests.unit.test_schemas import complaints

MAPPING = "csv_to_json: {name: name, total: total}\n"


@pytest.fixture
def three_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of older points has three of them."""
    for module in ("pages.data.series", "engine.eval_pages"):
        monkeypatch.setattr(f"sitegen.{module}.OLDER_POINTS", 3)


def opened(file: RawFile) -> bytes:
    return bz2.decompress(file.content)


def rows(table: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(table.decode())))


def test_the_newest_files_have_a_hundred_to_199_points_as_soon_as_there_are_so_many():
    assert [older_files(points) for points in (0, 99, 199, 200, 299, 300, 20_000)] == [0, 0, 0, 1, 1, 2, 199]


@pytest.mark.usefixtures("three_at_once")
def test_all_files_together_have_every_point_once_in_both_forms():
    series = sample.series(11)
    newest, older = series_files(series), [older_points(series, number) for number in (1, 2)]
    bodies = [json.loads(opened(files[0])) for files in older]
    assert [(body["schema"], body["eval_id"], body["first"]) for body in bodies] == [
        ("sitegen/older-points/1", "waybills", 0),
        ("sitegen/older-points/1", "waybills", 3),
    ]
    assert [complaints("older-points", body) for body in bodies] == [[], []]
    whole = json.loads(newest[0].content)
    assert whole["older"] == [files[0].path for files in older]
    points = [point for body in (*bodies, whole) for point in body["points"]]
    expected = json.loads(whole_series(series))
    for point in expected["points"][:6]:
        point["instructions"] = {path: oid and oid[:12] for path, oid in point["instructions"].items()}
    assert any(point["instructions"] for point in expected["points"][:6])
    assert {**whole, "older": [], "points": points} == expected
    assert len(points) == 11
    table = [row for files in older for row in rows(opened(files[1]))] + rows(newest[1].content)
    assert [row["commit"] for row in table] == [point["commit"] for point in points]


@pytest.mark.usefixtures("three_at_once")
def test_a_file_of_older_points_is_the_same_however_long_the_series_has_become():
    series = sample.series(11)
    earlier = replace(series, points=series.points[:6])
    assert older_points(earlier, 1) == older_points(series, 1)


def test_a_compressed_file_is_read_up_to_a_size_and_only_if_it_is_whole():
    file = bz2.compress(b"12345")
    found = [decompressed(*read) for read in ((file, 5), (file, 4), (file[:-1], 5), (b"12345", 5), (file + b"6", 5))]
    assert found == [b"12345", None, None, None, None]


def output(name: str) -> dict[str, str]:
    return {"evals/bill/extracted.json": json.dumps({"name": name, "total": 5})}


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    """Five outputs of one eval."""
    repo = GitRepo(tmp_path / "project")
    repo.commit({"CLAUDE.md": "Read.\n", "evals/field_mapping.yaml": MAPPING})
    repo.commit({"evals/bill/ground_truth.csv": "name,total\nAnn,5\n", **output("Bob")})
    for name in ("Ann", "Cid", "Dot", "Eve"):
        repo.commit(output(name))
    return repo


def older(out: Path) -> dict[str, bytes]:
    return {path: body for path, body in content(out).items() if path.startswith("data/older/")}


def values(out: Path) -> Iterator[Any]:
    """The headline of every point by both clocks, from all files."""
    newest = json.loads((out / "data/evals/bill.json").read_bytes())
    files = [json.loads(bz2.decompress((out / path).read_bytes())) for path in newest["older"]]
    return ((point["then"]["f1"], point["now"]["f1"]) for body in (*files, newest) for point in body["points"])


@pytest.mark.usefixtures("three_at_once")
def test_one_more_output_writes_only_the_newest_files_and_files_that_are_full_since(repo: GitRepo, tmp_path: Path):
    out = tmp_path / "out"
    build_site(repo.path, out)
    assert older(out) == {}
    repo.commit(output("Flo"))
    build_site(repo.path, out)
    full = older(out)
    assert list(full) == ["data/older/bill/1.csv.bz2", "data/older/bill/1.json.bz2"]
    times = [(out / path).stat().st_mtime_ns for path in full]
    for name in ("Gus", "Hal", "Ida"):
        repo.commit(output(name))
        build_site(repo.path, out)
    assert [(out / path).stat().st_mtime_ns for path in full] == times
    assert {path: body for path, body in older(out).items() if path in full} == full
    assert len(older(out)) == 4
    build_site(repo.path, tmp_path / "cold")
    assert differences(out, tmp_path / "cold") == []


@pytest.mark.usefixtures("three_at_once")
def test_another_ground_truth_moves_the_second_clock_of_older_points_too(repo: GitRepo, tmp_path: Path):
    repo.commit(output("Flo"))
    out = tmp_path / "out"
    build_site(repo.path, out)
    before = list(values(out))
    repo.commit({"evals/bill/ground_truth.csv": "name,total\nBob,5\n"})
    build_site(repo.path, out)
    assert [pair[0] for pair in values(out)][:-1] == [pair[0] for pair in before]
    assert [pair[1] for pair in values(out)][:2] == [1.0, 0.5]
    build_site(repo.path, tmp_path / "cold")
    assert differences(out, tmp_path / "cold") == []


def test_a_secret_in_a_compressed_file_is_found(repo: GitRepo, tmp_path: Path):
    options = Options(repo=repo.path, out=tmp_path / "out", cache=tmp_path / "out-memo")
    build_site(repo.path, tmp_path / "out")
    place = tmp_path / "out/data/older/bill/1.json.bz2"
    place.parent.mkdir(parents=True)
    place.write_bytes(bz2.compress(b'{"subject": "gh' + b"p_" + b"x9Q2" * 9 + b'"}'))  # or a search would find it here
    with pytest.raises(SecretsError, match=r"data/older/bill/1\.json\.bz2:1"):
        PublicCheck(options).check(())


def test_history_prints_all_points_in_one_document(repo: GitRepo):
    printed = run("history", "bill", "--json", cwd=repo.path)
    assert complaints("series", json.loads(printed.stdout)) == []
