"""Whatever the files of a project hold, there is a site, and no part of it is one that sitegen failed to make."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.gitrepo import Content, GitRepo
from tests.sites import broken_links, build_site

SCALARS: Any = (
    st.none()
    | st.booleans()
    | st.integers(-3, 12)
    | st.floats()
    | st.sampled_from([10**400, "", " ", "12", "yes", "\ud800", "a" * 300, "<b>", "2024-01-02"])
    | st.text(max_size=4)
)
NAMES = st.sampled_from(["id", "name", "total", "items", "a.b", "", "x[0]", "error"]) | st.text(max_size=3)
JSON: Any = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=6
)


def maybe(sound: Any) -> Any:
    """What should stand there, or anything."""
    return sound | sound | sound | JSON


IDS = maybe(st.sampled_from(["a", "b", "c"]))


def rows(**fields: Any) -> Any:
    """Lists of objects of which each has some of these fields."""
    return st.lists(
        st.fixed_dictionaries({}, optional={name: maybe(each) for name, each in fields.items()}), max_size=4
    )


WORDS = st.sampled_from(["red", "green", "Red "])
DOCUMENTS = rows(id=IDS, name=WORDS, total=st.integers(0, 3), items=rows(description=WORDS, n=st.integers(0, 2)))
CASES = rows(id=IDS, input=WORDS, expected=WORDS, category=WORDS)
ANSWERS = rows(
    case_id=IDS,
    output=WORDS,
    error=st.just("down"),
    quality=st.integers(1, 5),
    embedding=st.lists(st.floats(-1, 1), min_size=2, max_size=3),
)
CELLS = st.fixed_dictionaries({}, optional=dict.fromkeys(("tp", "fp", "fn", "tn"), maybe(st.integers(0, 3))))
RESULTS = rows(
    id=IDS,
    score=st.floats(0, 1),
    evaluator_results=rows(name=WORDS, score=st.floats(0, 1), hits=st.lists(WORDS, max_size=2)),
    details=st.fixed_dictionaries({"metrics": maybe(st.dictionaries(WORDS, maybe(CELLS), max_size=3))}),
)
MARKS = st.dictionaries(st.sampled_from(["terms", "concepts", "examples"]), maybe(st.lists(WORDS, max_size=2)))
PARAGRAPHS = st.dictionaries(st.sampled_from(["p1", "p2", "p-3"]), maybe(MARKS), max_size=3)
GOLD = st.fixed_dictionaries({}, optional={"chunks": rows(chunkIndex=st.integers(0, 1), paragraphs=PARAGRAPHS)})
LOG = rows(chunkIndex=st.integers(0, 1), paragraphs=PARAGRAPHS, highlights=PARAGRAPHS, run_id=WORDS)

FILES: dict[str, Any] = {
    "fields/ground_truth.json": DOCUMENTS,
    "fields/extracted.json": DOCUMENTS,
    "responses/test_cases.json": CASES,
    "responses/responses-a.json": ANSWERS,
    "responses/responses-b.json": ANSWERS,
    "responses/responses-c.json": ANSWERS,
    "judged/results.jsonl": RESULTS,
    "highlights/gold-standard.json": GOLD,
    "highlights/logs/processing-log.ndjson": LOG,
}
KINDS = {name.partition("/")[0] for name in FILES}
EVALS = 4
"""Of each kind, in one project: builds cost more than what they build."""


def written(path: str, value: Any) -> str:
    lines = path.endswith(("jsonl", "ndjson")) and isinstance(value, list)
    text = "\n".join(map(json.dumps, value)) if lines else json.dumps(value)
    return text + "\n"


class Commit(NamedTuple):
    """The files of one commit. What fails is found again by its seed: written out, it would fill pages."""

    files: dict[str, Content]

    def __repr__(self) -> str:
        return f"<{len(self.files)} files>"


@st.composite
def contents(draw: Any) -> Commit:
    """The files of one commit: some of them empty, cut off, or deeper than any parser goes; some left as they were."""
    files: dict[str, Content] = {}
    for number in range(EVALS):
        for name, values in FILES.items():
            kind, _, path = name.partition("/")
            fate = draw(st.sampled_from(["sound", "sound", "sound", "sound", "left", "any", "empty", "cut", "deep"]))
            text = written(path, draw(JSON if fate == "any" else values))
            if fate != "left":
                whole = {"empty": "", "cut": text[: len(text) // 2], "deep": "[" * 2_000 + "]" * 2_000}
                files[f"evals/{kind}{number}/{path}"] = whole.get(fate, text)
    return Commit(files)


MANIFEST = "evals:\n  sound: {kind: fields}\n" + "".join(
    f"  {kind}{n}: {{kind: {kind}}}\n" for kind in sorted(KINDS) for n in range(EVALS)
)
ALWAYS: dict[str, Content] = {
    "CLAUDE.md": "# Rules\n",
    "evals/manifest.yaml": MANIFEST,
    "evals/sound/ground_truth.json": '{"a": 1}',
    "evals/sound/extracted.json": '{"a": 1}',
}


@settings(max_examples=8, phases=[Phase.explicit, Phase.reuse, Phase.generate], print_blob=True)
@given(st.lists(contents(), min_size=1, max_size=3))
def test_whatever_files_hold_there_is_a_whole_site(commits: list[Commit]) -> None:
    with TemporaryDirectory() as folder:
        repo = GitRepo(Path(folder, "project"))
        repo.commit(ALWAYS)
        for number, commit in enumerate(commits):
            repo.commit({**commit.files, "CLAUDE.md": f"# Rules {number}\n"})
        out = Path(folder, "public")
        assert build_site(repo.path, out, jobs=1).failed == 0
        assert broken_links(out) == []
