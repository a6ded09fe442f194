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

if sites := [Path(name) for name in sys.argv[1:]]:
    for name in filter(re.compile(r"\.html$").search, differences(*sites)):
        pages = (text_of(site / name) if (site / name).exists() else "" for site in sites)
        one, other = (re.split(r"(?<=[.?!]) ", page) for page in pages)
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
