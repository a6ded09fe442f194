"""Compares what two sites say: ``python -m tests.site_texts BEFORE AFTER`` lists sentences and numbers that differ.

Markup, styles, scripts and white space do not count, so that sites can be compared across a change of the templates.
The files for programs are compared value by value. The command exits with 1 if anything differs.
"""

import csv
import json
import re
import sys
from collections.abc import Iterator
from difflib import unified_diff
from html import unescape
from pathlib import Path

_SILENT = re.compile(r"<(script|style|svg)\b.*?</\1>", re.DOTALL)
_BLOCK = re.compile(
    r"</?(?:address|caption|dd|div|dl|dt|footer|h[1-6]|header|li|main|nav|ol|p|section|summary|t[dhr]|title|ul)\b[^>]*>"
)
_TAG = re.compile(r"<[^>]*>")


def sentences(page: str) -> list[str]:
    """The text of a page, one line for each block of it."""
    blocks = _BLOCK.sub("\n", _SILENT.sub("", page))
    lines = (" ".join(unescape(_TAG.sub(" ", line)).split()) for line in blocks.split("\n"))
    return [line for line in lines if line]


def values(path: Path) -> list[str]:
    """What a file says, as lines that can be compared; nothing for a file that says nothing to a reader."""
    if path.suffix == ".html":
        return sentences(path.read_text())
    if path.suffix == ".json":
        return json.dumps(json.loads(path.read_bytes()), indent=1, sort_keys=True).splitlines()
    if path.suffix == ".csv":
        with path.open(newline="") as rows:
            return [repr(row) for row in csv.reader(rows)]
    return path.read_text().splitlines() if path.suffix in (".md", ".xml", ".txt") else []


def differences(before: Path, after: Path) -> Iterator[str]:
    """Yield the lines that differ, below the name of their file."""
    names = {path.relative_to(site) for site in (before, after) for path in site.rglob("*") if path.is_file()}
    for name in sorted(names):
        first, second = (values(site / name) if (site / name).is_file() else [] for site in (before, after))
        yield from unified_diff(first, second, f"before/{name}", f"after/{name}", n=0, lineterm="")


def main() -> int:
    """Print the differences of two sites."""
    found = list(differences(*map(Path, sys.argv[1:3])))
    print("\n".join(found))
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
