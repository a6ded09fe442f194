"""``python -m tests.golden`` rewrites the expected site; ``git diff`` then shows what changed."""

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.golden.site import EXPECTED, build

with TemporaryDirectory() as folder:
    files = build(Path(folder))
shutil.rmtree(EXPECTED, ignore_errors=True)
for name, body in files.items():
    path = EXPECTED / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(body)
print(f"{len(files)} files, {sum(map(len, files.values())):,} bytes in {EXPECTED}")
