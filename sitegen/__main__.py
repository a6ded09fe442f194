"""``python -m sitegen`` is ``sitegen``."""

from sitegen.commands.main import run

run()
