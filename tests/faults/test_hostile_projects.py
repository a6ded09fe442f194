"""Whatever a project holds, the build ends well and says what is wrong and where; nothing gets out of its place."""

import json
import os
import re
import unicodedata
from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple

import pytest

from sitegen.scoring.kinds import File, ScoringInputs, scored_with_own_metrics, scorer
from tests.gitrepo import LFS_POINTER, Content, GitRepo
from tests.names import MAPPING
from tests.sites import broken_links, build_site, content, problems_text, run

EVIL = "<script>alert(1)</script><img src=x onerror=alert(1)>"
TRUTH = "id,name,total\na,Ann,1\nb,Bob,2\n"
FINE = '{"docs": [{"id": "a", "name": "Ann", "total": 1}, {"id": "b", "name": "Bob", "total": 2}]}'
BASE: dict[str, Content] = {
    "CLAUDE.md": "Read well.\n",
    "evals/names/field_mapping.yaml": MAPPING,
    "evals/names/ground_truth.csv": TRUTH,
    "evals/names/extracted.json": FINE,
}


class Built(NamedTuple):
    """A project and its site."""

    repo: GitRepo
    out: Path

    def problems(self) -> str:
        """The text of the problems page."""
        return problems_text(self.out)

    def point(self, eval_id: str = "names") -> dict:  # type: ignore[type-arg]
        """The newest point of an eval."""
        point: dict = json.loads((self.out / f"data/evals/{eval_id}.json").read_bytes())["points"][-1]  # type: ignore[type-arg]
        return point


class Tags(HTMLParser):
    """Collects what a browser could run or load."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if (tag == "script" and not values.get("src") and values.get("type") != "application/json") or tag in {
            "iframe",
            "object",
            "embed",
            "base",
            "style",
        }:
            self.found.append(f"<{tag}>")
        self.found += [f"<{tag} {name}>" for name in values if name.startswith("on") or name in {"style", "srcdoc"}]
        for name in ("href", "src", "action", "formaction", "xlink:href"):
            link = (values.get(name) or "").strip().lower()
            if re.match(r"[a-z][a-z0-9+.-]*:", link) and not link.startswith(("https:", "http:")):
                self.found.append(f"<{tag} {name}={link[:40]}>")
        if tag == "img" and not (values.get("src") or "").startswith(("../", "assets/")):
            self.found.append(f"<img {values.get('src')}>")


def dangers(out: Path) -> list[str]:
    """(page, tag) of whatever a page should not hold."""
    found = []
    for page in sorted(out.rglob("*.html")):
        tags = Tags()
        tags.feed(page.read_text(encoding="utf-8"))
        found += [f"{page.relative_to(out)}: {tag}" for tag in tags.found]
    return found


@pytest.fixture
def build(tmp_path: Path):
    """Builds a project of these commits; the ordinary project is the first of them."""

    def build_(*commits: Mapping[str, Content]) -> Built:
        repo = GitRepo(tmp_path / "project")
        for files in (BASE, *commits):
            repo.commit(files)
        before = sorted(path.name for path in tmp_path.iterdir())
        out = tmp_path / "site"
        build_site(repo.path, out, jobs=1)
        assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*before, "site", "site-memo"])
        assert dangers(out) == []
        return Built(repo, out)

    return build_


def nested(levels: int) -> str:
    return '{"docs": ' + "[" * levels + "]" * levels + "}"


OUTPUTS: dict[str, tuple[Content, str, str]] = {
    "markup": (json.dumps({"docs": [{"id": "a", "name": EVIL, EVIL: EVIL}, {"id": EVIL}]}), "scored", ""),
    "NaN": ('{"docs": [{"id": "a", "total": NaN}, {"id": "b", "total": -Infinity}]}', "scored", "extracted.json"),
    "long numbers": ('{"docs": [{"id": "a", "total": ' + "9" * 5000 + "}]}", "scored", "extracted.json"),
    "huge exponents": ('{"docs": [{"id": "a", "total": 1e999999999}]}', "scored", "extracted.json"),
    "deep nesting": (nested(200), "unreadable", "extracted.json"),
    "bottomless nesting": (nested(100_000), "unreadable", "extracted.json"),
    "duplicate keys": ('{"docs": [], "docs": [{"id": "a", "name": "x", "name": "Ann"}]}', "scored", "extracted.json"),
    "long strings": (json.dumps({"docs": [{"id": "a", "name": "<b>" * 700_000}]}), "scored", ""),
    "a byte order mark": (b"\xef\xbb\xbf" + FINE.encode(), "scored", ""),
    "halves of characters": (b'{"docs": [{"id": "a", "name": "\\ud800\\udc00\\ud800"}]}', "scored", "extracted.json"),
    "thousands of marks": (json.dumps({"docs": [{"id": "a", "name": "a" + "\u0327\u0301" * 40_000}]}), "scored", ""),
    "a list at the root": (json.dumps([{"id": "a", "name": "Ann", "total": 1}]), "scored", ""),
    "text at the root": ('"Sorry, I cannot do that"', "unreadable", "extracted.json"),
    "nothing": ("", "unreadable", "extracted.json"),
    "blanks": (" \n\t\n", "unreadable", "extracted.json"),
    "null bytes": (b"\0" * 100, "unreadable", "extracted.json"),
    "a pointer": (LFS_POINTER, "unreadable", "extracted.json"),
    "a broken end": (FINE[:40], "unreadable", "extracted.json"),
    "other encodings": (FINE.encode("utf-16"), "unreadable", "extracted.json"),
}


def of_each(odd: Mapping[str, Content], file: str) -> dict[str, Content]:
    """This file of an eval for each of them."""
    return {f"evals/names{number}/{file}": content for number, content in enumerate(odd.values())}


def ordinary_evals(number: int) -> dict[str, Content]:
    ordinary = {path: content for path, content in BASE.items() if "names" in path}
    return {path.replace("names", f"names{n}"): content for path, content in ordinary.items() for n in range(number)}


def test_odd_outputs_are_scored_or_said_and_their_reports_are_there(build):
    outputs = {name: odd for name, (odd, *_) in OUTPUTS.items()}
    fine = dict.fromkeys(OUTPUTS, FINE)
    built = build(ordinary_evals(len(OUTPUTS)), of_each(outputs, "extracted.json"), of_each(fine, "extracted.json"))
    assert built.repo.git("rev-parse", "HEAD~1")[:7] in built.problems()
    for number, (name, (_, status, said)) in enumerate(OUTPUTS.items()):
        points = json.loads((built.out / f"data/evals/names{number}.json").read_bytes())["points"]
        assert [point["status"] for point in points] == ["scored", status, "scored"], name
        assert all((built.out / point["report"]).exists() for point in points), name
        assert not said or f"evals/names{number}/{said}" in built.problems(), name
        if status == "unreadable":
            is_scored = name != "a pointer"  # of a content that was not fetched, nothing is known
            assert points[1]["then"]["recall"] == (0.0 if is_scored else None), name
            assert points[1]["then"]["errors"]["omission"] == (4 if is_scored else 0), name


TRUTHS: dict[str, Content] = {
    "duplicate columns": "id,name,name\na,Ann,Bob\n",
    "no header": "a,Ann,1\nb,Bob,2\n",
    "binary bytes": bytes(range(256)) * 4,
    "nothing": "",
    "a header alone": "id,name,total\n",
    "markup": f"id,name,{EVIL}\n{EVIL},Ann,{EVIL}\n",
    "rows of many lengths": "id,name,total\na\nb,Bob,2,3,4\n" + "".join(f"d{n},,\n" for n in range(1_000)),
    "one very long cell": "id,name,total\na," + "x" * 300_000 + ",1\n",
    "the same id twice": "id,name,total\na,Ann,1\na,Bob,2\n",
}


def test_odd_ground_truths_stop_nothing_and_are_said(build):
    built = build(ordinary_evals(len(TRUTHS)), of_each(TRUTHS, "ground_truth.csv"))
    assert built.repo.git("rev-parse", "HEAD")[:7] in built.problems()
    for number, name in enumerate(TRUTHS):
        assert (built.out / built.point(f"names{number}")["report"]).exists(), name
        is_said = f"evals/names{number}/ground_truth.csv" in built.problems()
        assert is_said or name in ("markup", "one very long cell"), name


MANIFESTS: dict[str, Content] = {
    "a bomb": "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 11)),
    "a list": "- names\n",
    "no text": b"\xff\xfe\x00names",
    "a tag that runs code": "evals: !!python/object/apply:os.system ['touch /tmp/owned']\n",
    "a loop": "evals: &a {names: *a}\n",
    "entries of wrong kinds": "evals: {names: [1, 2]}\n",
}


def test_broken_manifests_of_old_commits_are_said_and_passed_over(build):
    built = build(*({"evals/manifest.yaml": broken} for broken in (*MANIFESTS.values(), None)))
    assert built.point()["then"]["f1"] == 1.0
    assert "evals/manifest.yaml" in built.problems()
    shas = built.repo.git("rev-list", "--reverse", f"--max-count={len(MANIFESTS)}", "HEAD~1").split()
    assert [name for name, sha in zip(MANIFESTS, shas, strict=True) if sha[:7] not in built.problems()] == []


def test_unknown_keys_of_a_mapping_are_said_with_line_and_nearest_key(build):
    built = build({"evals/names/field_mapping.yaml": MAPPING + "field_type: {numeric: [total]}\n"})
    assert re.search(r"field_type.*evals/names/field_mapping\.yaml:3", built.problems())
    assert "field_types" in built.problems()


IDS = (
    *("two words", 'quo"te', "apo'strophe", "caf\u00e9", "cafe\u0301", "Case", "case", "CASE", "con", "index"),
    *("compare", "...", "..a", "a;b&c", "<b>bold<b>", "%2e%2e", "back\\slash", "new\nline", "tab\there", "-rf"),
    *("n" * 250, "\u202egnp", "*?[x]", "🍎", os.fsdecode(b"bytes-\xff\xfe")),
)


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Evals and instruction files of every odd name at once."""
    folder = tmp_path_factory.mktemp("many")
    repo = GitRepo(folder / "project")
    files: dict[str, Content] = {}
    for name in IDS:
        files[f"evals/{name}/ground_truth.json"] = '{"a": 1}'
        files[f"evals/{name}/extracted.json"] = '{"a": 1}'
        files[f"prompts/{name}/read.md"] = f"# {EVIL}\n"
        files[f"prompts/{name}.md"] = "# Read\n"
    repo.commit(files)
    repo.commit({path: str(body).replace("# ", "# Re") for path, body in files.items() if path.endswith(".md")})
    out = folder / "site"
    build_site(repo.path, out, jobs=1)
    return Built(repo, out)


def test_evals_of_odd_names_never_share_an_address(many):
    index = json.loads((many.out / "data" / "index.json").read_bytes())
    assert len(index["evals"]) == len(IDS)
    pages = [path for path in content(many.out) if re.fullmatch(r"evals/[^/]+/index\.html", path)]
    assert len(pages) == len(IDS)
    assert len({path.lower() for path in content(many.out)}) == len(content(many.out))


def test_instruction_files_of_odd_names_never_share_an_address(many):
    pages = [path for path in content(many.out) if re.fullmatch(r"instructions/[^/]+/index\.html", path)]
    assert len(pages) == 2 * len(IDS)


def is_file_name(part: str) -> bool:
    """Whether a text is a name that every system takes, of letters of any script, digits, dots, hyphens and lines."""
    letters = (letter in "._-" or unicodedata.category(letter)[0] in "LMN" for letter in part)
    return all(letters) and len(part.encode()) <= 120 and part.strip(".") != "" and not part.endswith(".")


def test_addresses_are_file_names_on_every_system(many):
    parts = {part for path in content(many.out) for part in path.split("/")}
    assert [part for part in parts if not is_file_name(part)] == []
    assert len({unicodedata.normalize("NFKC", path).casefold() for path in content(many.out)}) == len(content(many.out))
    reserved = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
    assert [part for part in parts if reserved.fullmatch(part)] == []


def test_pages_of_odd_names_hold_nothing_that_runs_and_link_to_files(many):
    assert dangers(many.out) == broken_links(many.out) == []


def test_odd_names_work_on_the_command_line(many):
    many.repo.checkout()
    for eval_id in IDS:
        done = run("verify-one", "--repo", many.repo.path, "--json", "--", eval_id)
        assert (done.returncode, json.loads(done.stdout)["metrics"]["f1"]) == (0, 1.0)
    done = run("verify-all", "--repo", many.repo.path)
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == len(IDS) + 3


MESSAGES = (
    *(b"", b"\n\n", EVIL.encode() + b"\n\n" + EVIL.encode(), b"\x1b[2J\x07 control \r characters \x7f"),
    *(b"subject\n\n" + b"body " * 200_000, b"s" * 1_000_000, b"\xff\xfe\xfd not any encoding"),
    "\u202ereversed \u2066isolated".encode(),
)


def test_odd_commit_messages_are_shown_bounded_and_harmless(repo, tmp_path):
    repo.commit(BASE)
    for number, message in enumerate(MESSAGES):
        files = {"CLAUDE.md": f"Read {number}.\n", "evals/names/extracted.json": "{}" if number % 2 else FINE}
        repo.commit(files, message=message, author=b"\xff&\x1b")
    build_site(repo.path, tmp_path / "site", jobs=1)
    assert dangers(tmp_path / "site") == []
    pages = [page for page in (tmp_path / "site" / "commits").iterdir() if page.name != "index.html"]
    assert len(pages) > len(MESSAGES)
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert len(text) < 200_000
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]", text)


INSTRUCTIONS = f"""# {EVIL}

[click](javascript:alert(1)) [data](data:text/html;base64,PHNjcmlwdD4=) [vb](vbscript:x) <javascript:alert(1)>
[ref] ![image](https://example.org/track.gif) ![x](javascript:alert(1)) [file](file:///etc/passwd)

{EVIL}

<div onclick="alert(1)"><style>*{{display:none}}</style><base href="https://example.org/">

```html
</code></pre>{EVIL}
```

| {EVIL} | b |
|---|---|
| [c](java&#115;cript:alert(1)) | [d](\x01javascript:alert(1)) |

[ref]: javascript:alert(1) "{EVIL}"

{{{{ 7 * 7 }}}} {{% raw %}}
"""


def test_instructions_with_links_and_markup_are_text(build):
    built = build({"CLAUDE.md": INSTRUCTIONS}, {"CLAUDE.md": INSTRUCTIONS.replace("click", "tap")})
    pages = "".join(page.read_text(encoding="utf-8") for page in (built.out / "instructions").rglob("*.html"))
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in pages
    assert "{{ 7 * 7 }}" in pages
    assert "track.gif" in pages


def test_paths_that_climb_are_never_followed(build, tmp_path):
    (tmp_path / "secret.csv").write_text("id,name,total\nsecret,secret,1\n")
    climbing = "evals: {names: {ground_truth: ../../../secret.csv, mapping: ../../secret.csv}}\n"
    built = build({"evals/manifest.yaml": climbing}, {"evals/manifest.yaml": None})
    assert [path for path, body in content(built.out).items() if b"secret,secret" in body] == []
    assert "names" in json.loads((built.out / "data" / "index.json").read_bytes())["evals"]
    assert "evals.names.mapping is text ('../../secret.csv'): it leads out of the project." in built.problems()


def test_an_id_that_climbs_is_an_address_like_any_other(build, tmp_path):
    built = build({"evals/manifest.yaml": "evals: {'../../up': {dir: evals/names, name: '../..'}}\n"})
    assert json.loads((built.out / "data" / "index.json").read_bytes())["evals"] == ["../../up"]
    assert [path.name for path in (built.out / "evals").iterdir()] != []


FIELDS = ("../../../up", "Case", "case", "con", "index", "a/b", "..", EVIL, "x" * 300, "\u202ename", "é", "e\u0301")


def test_fields_of_odd_names_have_pages_of_their_own(build):
    def output(value: str) -> str:
        return json.dumps({"docs": [{"id": EVIL, **dict.fromkeys(FIELDS, value)}]})

    truth = output("right")
    home = "evals/odd"
    built = build(
        {f"{home}/ground_truth.json": truth, f"{home}/extracted.json": output(EVIL)},
        {f"{home}/extracted.json": output("right")},
        {f"{home}/extracted.json": output("wrong")},
    )
    pages = [path for path in content(built.out) if path.startswith(f"{home}/fields/")]
    assert len({path.lower() for path in pages}) == len(pages) >= len(FIELDS)
    assert all(is_file_name(path.removeprefix(f"{home}/fields/")) for path in pages)
    for page in (*pages, f"{home}/compare.html", f"{home}/index.html"):
        links = re.findall(r'href="([^"#:]+)', (built.out / page).read_text(encoding="utf-8"))
        assert [link for link in links if not ((built.out / page).parent / link).is_file()] == []
    built.repo.checkout()
    done = run("blame", "odd", "*", "--repo", str(built.repo.path))
    assert (done.returncode, done.stderr, "\u202e" in done.stdout) == (0, "", False)
    assert done.stdout.count("fixed: new output") == len(FIELDS)


def test_fields_beyond_a_bound_share_a_name_and_change_no_number():
    expected = {f"key{number}": "x" for number in range(5_003)}
    files = (json.dumps(side).encode() for side in (expected, {**expected, "key1": "y", "key5002": "y", "more": "z"}))
    truth, output = (File(f"{number}.json", content) for number, content in enumerate(files))
    result = scored_with_own_metrics(scorer("fields"), ScoringInputs(outputs=(output,), ground_truth=truth))
    card, (attribute, counts) = result.scorecard, result.scorecard.fields[-1]
    assert (len(card.fields), attribute, counts.tp, counts.fp, counts.fn) == (5_001, "other fields", 2, 2, 1)
    assert (card.counts.tp, card.counts.fp, card.counts.fn) == (5_001, 3, 2)
    assert {each.path for each in result.judgements if each.attribute == attribute} >= {"key5002", "more"}
    assert card.findings[0].message.startswith("5,004 fields are judged: those after the first 5,000 are listed")


def test_categories_of_which_nothing_was_ever_judged_are_no_links(build):
    files = {
        "gold-standard.json": '{"chunks": [{"paragraphs": {"p1": {"terms": []}}}]}',
        "logs/processing-log.ndjson": "{",
    }
    manifest = "evals:\n  names: {}\n  marks: {kind: highlights}\n"
    built = build({"evals/manifest.yaml": manifest, **{f"evals/marks/{name}": text for name, text in files.items()}})
    assert broken_links(built.out) == []
