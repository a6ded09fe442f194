"""``python -m sitegen`` is ``sitegen``. It imports nothing from the current folder: a stranger's project."""

import os
import sys

if not sys.flags.safe_path and sys.path[:1] == [os.getcwd()]:  # put there by -m
    del sys.path[0]

from sitegen.commands.main import run

run()
