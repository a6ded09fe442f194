"""What ``sitegen --help`` prints: what typer makes of ``signatures`` for 80 columns. A test compares the two.

It is written down because importing typer takes five times as long as starting Python.
"""

from typing import Final

HELP: Final = """\
Usage: sitegen [OPTIONS] COMMAND [ARGS]...

  Reports of every iteration of your LLM instructions, computed from git
  history. Start with: sitegen build

Options:
  -V, --version  Print the version.
  --help         Show this message and exit.

Commands:
  build       Walk the history, score every commit, and write the site.
  watch       Serve the site locally, and rebuild it after every change.
  verify-one  Score one output of the work tree now.
  verify-all  Score the newest output of every eval now.
  history     List all iterations of an eval.
  blame       Show when a field was right and wrong, and what changed it.
  compare     Compare variants of a prompt, iterations, or revisions.
  check       Compare every eval with its limits and its base: the gate.
  respond     Let a model answer the test cases of an eval.
  judge       Let a model grade responses from 1 to 5.
  code-judge  Judge one candidate for another runner.
  init        Look for evals and instructions, and write a manifest of them.
  extract     Write one run of a log of highlights as raw-llm-run.json.
  export      Write all scores and outcomes of the history as tables.
  schema      Print the JSON Schemas of all files read and written.
  demo        Write a repository with history, to try sitegen on.
"""
