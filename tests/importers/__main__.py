"""``python -m tests.importers`` makes the fixtures again, or those of the tools that are named: see the README."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.importers.inspect_run import FIXTURES, inspect
from tests.importers.python_tools import TOOLS, run_tool

PLAIN = "Hello {{name}}, please answer in {{language}}.\n"
EDITED = "Welcome, {{name}}! Please answer in {{language}}.\n"
CHAT = '[{"role": "system", "content": "Answer in {{language}}."}, {"role": "user", "content": "I am {{name}}."}]\n'

CONFIGURATION = """description: Greetings
prompts:
  - file://prompts/plain.txt
  - file://prompts/chat.json
providers:
  - {id: echo, label: first}
  - {id: echo, label: second}
tests:
  - description: names the guest
    vars: {name: Ada, language: English}
    assert:
      - {type: contains, value: Ada}
      - {type: icontains, value: welcome, metric: warmth}
  - vars: {name: Grace, language: French}
    assert:
      - {type: contains, value: French, weight: 2}
      - {type: regex, value: "^Welcome", metric: warmth}
      - {type: not-contains, value: "{{name}}"}
  - vars: {name: Alan, language: Old English}
    assert:
      - {type: is-json}
"""
FAILING = """prompts: ["Hi {{name}}"]
providers: [echo, "file://broken.js"]
tests: [{vars: {name: Ada}}]
"""
BROKEN = "module.exports = class { id() { return 'broken'; } async callApi() { return { error: 'No answer.' }; } };\n"


TESTS = """import pytest

class TestRooms:
    def test_area(self):
        assert 1 + 1 == 2

    @pytest.mark.parametrize("name", ["hall", "<b>attic</b> & more"])
    def test_name(self, name):
        assert name == "hall"

@pytest.fixture
def heater():
    raise RuntimeError("no gas")

def test_heating(heater):
    pass

@pytest.mark.skip(reason="not built yet")
def test_garage():
    pass

@pytest.mark.xfail(reason="known")
def test_cellar():
    assert False
"""


def junit(folder: Path) -> None:
    """One run of pytest, and its report as a fixture."""
    (folder / "test_house.py").write_text(TESTS, "utf-8")
    options = ("-q", "-p", "no:cacheprovider", "--rootdir", str(folder), "--junitxml", "junit.xml", "test_house.py")
    subprocess.run([sys.executable, "-m", "pytest", *options], cwd=folder, check=False)
    written = (folder / "junit.xml").read_text("utf-8").replace(f"{folder}/", "")
    (FIXTURES / "pytest.xml").write_text(re.sub(r' hostname="[^"]*"', "", written) + "\n", "utf-8")


def promptfoo(folder: Path, plain: str, name: str, configuration: str = CONFIGURATION) -> None:
    """One run, and its results as a fixture."""
    (folder / "prompts").mkdir(exist_ok=True)
    (folder / "prompts/plain.txt").write_text(plain, "utf-8")
    (folder / "prompts/chat.json").write_text(CHAT, "utf-8")
    (folder / "broken.js").write_text(BROKEN, "utf-8")
    (folder / "promptfooconfig.yaml").write_text(configuration, "utf-8")
    off = {f"PROMPTFOO_DISABLE_{what}": "1" for what in ("TELEMETRY", "UPDATE", "SHARING", "REMOTE_GENERATION")}
    own = {"HOME": str(folder), "PROMPTFOO_CONFIG_DIR": str(folder / "own")}
    options = ("--no-cache", "--no-table", "--no-write", "--no-progress-bar", "-o", "output.json")
    # promptfoo ends with 100 where a test failed, which is wanted here.
    subprocess.run([os.environ["PROMPTFOO"], "eval", *options], cwd=folder, env=os.environ | off | own, check=False)
    found: dict[str, Any] = json.loads((folder / "output.json").read_text("utf-8").replace(f"{folder}/", ""))
    found["metadata"] = {key: found["metadata"][key] for key in ("promptfooVersion", "exportedAt")}
    (FIXTURES / name).write_text(json.dumps(found, ensure_ascii=False, separators=(",", ":")) + "\n", "utf-8")


def main(wanted: list[str]) -> None:
    """Every fixture, each from a folder of its own; or those of the tools that are named."""
    FIXTURES.mkdir(exist_ok=True)
    runs = ((PLAIN, "1", CONFIGURATION), (EDITED, "2", CONFIGURATION), (EDITED, "error", FAILING))
    makers: list[tuple[str, Callable[[Path], None]]] = [
        ("pytest", junit),
        ("inspect", inspect),
        *((tool.environment.lower(), partial(run_tool, tool)) for tool in TOOLS),
        *(
            ("promptfoo", partial(promptfoo, plain=plain, name=f"promptfoo-{name}.json", configuration=configuration))
            for plain, name, configuration in runs
        ),
    ]
    for name, make in makers:
        if not wanted or name in wanted:
            with TemporaryDirectory() as folder:
                make(Path(folder))


if __name__ == "__main__":
    main(sys.argv[1:])
