"""``python -m tests.golden`` rewrites the expected site; ``git diff`` then shows what changed.

``python -m tests.golden ONE OTHER`` prints the sentences, with their numbers, in which two built sites differ.
"""

import re
import shutil
import sys
from difflib import unified_diff
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.golden.site import EXPECTED, build
from tests.sites import differences, text_of


def sentences(page: Path) -> list[str]:
    """The sentences of a page; none of one that is missing."""
    return re.split(r"(?<=[.?!]) ", text_of(page)) if page.exists() else []


if sites := [Path(name) for name in sys.argv[1:]]:
    for name in differences(*sites):
        if name.endswith(".html"):
            one, other = (sentences(site / name) for site in sites)
            print(*unified_diff(one, other, name, name, n=0, lineterm=""), sep="\n")
else:
    with TemporaryDirectory() as folder:
        files = build(Path(folder))
    shutil.rmtree(EXPECTED, ignore_errors=True)
    for name, body in files.items():
        path = EXPECTED / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body)
    print(f"{len(files)} files, {sum(map(len, files.values())):,} bytes in {EXPECTED}")
