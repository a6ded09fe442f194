"""Write the bundle that the package ships: ``python -m tests.demo``."""

from __future__ import annotations

import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from sitegen.commands.demo import BUNDLE
from tests.demo import tell

with TemporaryDirectory() as folder:
    print(tell(Path(folder)))
    subprocess.run(["git", "-C", folder, "repack", "-q", "-a", "-d", "-f", "--depth=50", "--window=250"], check=True)
    subprocess.run(["git", "-C", folder, "bundle", "create", "-q", str(BUNDLE), "main"], check=True)
