"""Vectors by a model: a stand-in for the packages of the extra, and builds with and without it."""

import hashlib
import importlib
import json
import pickle
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sitegen.engine.cached_kinds import TaskCache
from sitegen.engine.scorecard_store import embedder_for
from sitegen.errors import ConfigurationError
from sitegen.text import embedding
from tests.gitrepo import GitRepo
from tests.sites import build_site, differs_from_cold

LIBRARY = """
class _Vector(list):
    def tolist(self):
        return list(self)

class SentenceTransformer:
    asked = []

    def __init__(self, folder, *, device, local_files_only):
        assert (device, local_files_only) == ("cpu", True), (device, local_files_only)

    def encode(self, text, *, show_progress_bar):
        assert not show_progress_bar
        self.asked.append(text)
        return _Vector([float(len(text)), 1.0])
"""
PACKAGES = ("sentence_transformers", "torch", embedding.WEIGHTS)


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of the stand-in's weights; their package must never be imported."""
    sources = (LIBRARY, "def set_num_threads(count): assert count == 1", "raise AssertionError('imported')")
    for name, source in zip(PACKAGES, sources, strict=True):
        folder = tmp_path / "packages" / name
        folder.mkdir(parents=True)
        (folder / "__init__.py").write_text(source, encoding="utf-8")
    weights = tmp_path / "packages" / embedding.WEIGHTS / "model"
    weights.mkdir()
    (weights / "model.safetensors").write_bytes(b"weights")
    monkeypatch.setattr(embedding, "SHA256", hashlib.sha256(b"weights").hexdigest())
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    monkeypatch.setenv("HF_HUB_DISABLE_PROGRESS_BARS", "0")
    monkeypatch.syspath_prepend(tmp_path / "packages")
    yield weights
    embedding._model.cache_clear()
    for name in PACKAGES:
        sys.modules.pop(name, None)
    importlib.invalidate_caches()


def asked() -> list[str]:
    found: list[str] = sys.modules["sentence_transformers"].SentenceTransformer.asked
    return found


def responses(*texts: str) -> str:
    return json.dumps([{"case_id": str(number), "output": text} for number, text in enumerate(texts)])


@pytest.fixture
def repo(repo: GitRepo) -> GitRepo:
    cases = json.dumps([{"id": "0", "expected": "one"}, {"id": "1", "expected": "three"}])
    first = {"evals/talk/test_cases.json": cases, "evals/talk/responses.json": responses("one", "three")}
    repo.commit({**first, "prompts/talk.md": "# Talk\n"})
    repo.commit({"evals/talk/responses.json": responses("one", "seventeen")})
    return repo


def consistency(site: Path) -> list[float | None]:
    body = json.loads((site / "data/evals/talk.json").read_bytes())
    return [point["then"]["metrics"]["consistency_score"] for point in body["points"]]


def test_nothing_is_installed_unless_all_of_it_is(model: Path):
    assert embedding.installed() == "all-MiniLM-L6-v2"
    shutil.rmtree(model.parent)
    importlib.invalidate_caches()
    assert (embedding.installed(), embedding.embedder()) == ("", None)


def test_texts_are_asked_for_one_by_one(model: Path):
    assert embedding.embed(["one", "three"]) == [[3.0, 1.0], [5.0, 1.0]]
    assert asked() == ["one", "three"]


def test_other_weights_are_refused_with_what_to_do(model: Path):
    (model / "model.safetensors").write_bytes(b"other")
    with pytest.raises(ConfigurationError, match="weights are not those that it is published with") as caught:
        embedding.embed(["one"])
    assert "--force-reinstall" in str(caught.value.fix)
    assert str(pickle.loads(pickle.dumps(caught.value))) != ""


def test_a_build_asks_for_each_text_once_and_keeps_its_vector(model: Path, repo: GitRepo, tmp_path: Path):
    site = tmp_path / "site"
    build_site(repo.path, site, jobs=1)
    assert asked() == ["one", "three", "seventeen"]
    repo.commit({"evals/talk/responses.json": responses("three", "eleven")})
    build_site(repo.path, site, jobs=1)
    assert asked() == ["one", "three", "seventeen", "eleven"]
    assert differs_from_cold(site, repo.path) == []
    assert None not in consistency(site)


def test_vectors_of_another_model_are_not_taken(model: Path, monkeypatch: pytest.MonkeyPatch):
    by_one = TaskCache(())
    first = embedder_for("responses", "talk", by_one)
    assert first is not None
    first(["one"])
    monkeypatch.setattr("sitegen.engine.scorecard_store.installed", lambda: "another model")
    by_another = TaskCache(by_one.new)
    second = embedder_for("responses", "talk", by_another)
    assert second is not None
    second(["one"])
    assert asked() == ["one", "one"]
    assert {key for _, key, _ in by_one.new}.isdisjoint(key for _, key, _ in by_another.new)
