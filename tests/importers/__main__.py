"""``python -m tests.importers`` makes the fixtures again, or those of the tools that are named: see the README."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import sleep
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from tests.importers.inspect_run import FIXTURES, inspect, judged
from tests.importers.python_tools import TOOLS, run_tool

PORT = "15973"
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
JUDGED = """description: Judged greetings
prompts: ["Hello {{name}}, how are you?"]
providers: [echo]
defaultTest:
  options:
    provider: file://judge.js
    rubricPrompt: "Is this answer {{rubric}}? {{output}} Answer in JSON: pass, score, reason."
  assert: [{type: llm-rubric, value: kind}]
tests:
  - vars: {name: Ada}
    assert: [{type: contains, value: Ada}]
  - vars: {name: Grace}
    assert: [{type: contains, value: Hello}]
  - vars: {name: Alan}
    assert: [{type: equals, value: "Hello Alan, how are you?"}]
"""
JUDGE = """module.exports = class {
  id() { return 'strict'; }
  async callApi(prompt) {
    const kind = prompt.includes('Ada');
    const said = { pass: kind, score: kind ? 0.9 : 0.2, reason: kind ? 'It asks.' : 'It is cold.' };
    return { output: JSON.stringify(said) };
  }
};
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
    _evaluate(folder, plain, configuration, "--no-write")
    found: dict[str, Any] = json.loads((folder / "output.json").read_text("utf-8").replace(f"{folder}/", ""))
    found["metadata"] = {key: found["metadata"][key] for key in ("promptfooVersion", "exportedAt")}
    (FIXTURES / name).write_text(json.dumps(found, ensure_ascii=False, separators=(",", ":")) + "\n", "utf-8")


def rated(folder: Path) -> None:
    """A run that a model judged and a person rated in part, as promptfoo's own server keeps and gives it."""
    _evaluate(folder, PLAIN, JUDGED)
    command = [os.environ["PROMPTFOO"], "view", "--no", "--port", PORT]
    with subprocess.Popen(command, cwd=folder, env=_environment(folder), start_new_session=True) as server:
        try:
            run = _asked("results")["data"][0]["evalId"]
            rows = _asked(f"results/{run}")["data"]["results"]["results"]
            # promptfoo adds the new score to its total only where a rating changes the verdict.
            for row in sorted(rows, key=lambda row: row["testIdx"])[:2]:
                _asked(f"eval/{run}/results/{row['id']}/rating", _rating(row, passed=not row["success"]))
            found = _asked(f"results/{run}")["data"]
        finally:
            os.killpg(server.pid, signal.SIGTERM)
    text = json.dumps(found, ensure_ascii=False, separators=(",", ":")).replace(f"{folder}/", "")
    (FIXTURES / "promptfoo-rated.json").write_text(text + "\n", "utf-8")


def _rating(row: dict[str, Any], *, passed: bool) -> dict[str, Any]:
    """What promptfoo's page sends when a person rates an answer."""
    given = {
        "pass": passed,
        "score": float(passed),
        "reason": "Manual result (overrides all other grading results)",
        "assertion": {"type": "human"},
    }
    results = [*row["gradingResult"]["componentResults"], given]
    return {**row["gradingResult"], **given, "componentResults": results}


def _asked(path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    """What the server answers, which takes a while to start."""
    content = None if body is None else json.dumps(body).encode()
    request = Request(f"http://localhost:{PORT}/api/{path}", content, {"Content-Type": "application/json"})
    for _ in range(60):
        try:
            with urlopen(request) as answer:
                answered: dict[str, Any] = json.load(answer)
                return answered
        except HTTPError:
            raise
        except URLError:
            sleep(1)
    raise TimeoutError(path)


def _evaluate(folder: Path, plain: str, configuration: str, *options: str) -> None:
    (folder / "prompts").mkdir(exist_ok=True)
    (folder / "prompts/plain.txt").write_text(plain, "utf-8")
    (folder / "prompts/chat.json").write_text(CHAT, "utf-8")
    (folder / "broken.js").write_text(BROKEN, "utf-8")
    (folder / "judge.js").write_text(JUDGE, "utf-8")
    (folder / "promptfooconfig.yaml").write_text(configuration, "utf-8")
    command = [os.environ["PROMPTFOO"], "eval", "--no-cache", "--no-table", "--no-progress-bar", "-o", "output.json"]
    # promptfoo ends with 100 where a test failed, which is wanted here.
    subprocess.run([*command, *options], cwd=folder, env=_environment(folder), check=False)


def _environment(folder: Path) -> dict[str, str]:
    off = {f"PROMPTFOO_DISABLE_{what}": "1" for what in ("TELEMETRY", "UPDATE", "SHARING", "REMOTE_GENERATION")}
    return os.environ | off | {"HOME": str(folder), "PROMPTFOO_CONFIG_DIR": str(folder / "own")}


EVALITE = """
import { evalite } from "evalite";
const questions = ["What is the capital of France?", "What is the capital of Austria?"];
const given = { [questions[0]]: "Paris", [questions[1]]: "Graz" };
const data = [{ input: questions[0], expected: "Paris" }, { input: questions[1], expected: "Vienna" }];
const exact = { name: "Exact", scorer: ({ output, expected }) => Number(output === expected) };
const shared = ({ output, expected }) =>
  [...new Set(output)].filter((letter) => expected.includes(letter)).length / new Set(output + expected).size;
const letters = { name: "Letters", scorer: shared };
evalite("Capitals", { data: () => data, task: async (input) => given[input], scorers: [exact, letters] });
const loud = async (input) => given[input].toUpperCase();
evalite("Loud", { data: () => data.slice(0, 1), task: loud, scorers: [letters] });
"""
IN_MEMORY = """
import { defineConfig } from "evalite/config";
import { createInMemoryStorage } from "evalite/in-memory-storage";
export default defineConfig({ storage: () => createInMemoryStorage() });
"""


def evalite(folder: Path) -> None:
    """Two evals of evalite, which keeps them in memory: its database is a module in C that npm has to build."""
    (folder / "node_modules").symlink_to(Path(os.environ["EVALITE"]).resolve() / "node_modules")
    (folder / "package.json").write_text('{"type": "module"}', "utf-8")
    (folder / "capitals.eval.ts").write_text(EVALITE, "utf-8")
    (folder / "evalite.config.ts").write_text(IN_MEMORY, "utf-8")
    command = ["npx", "--no-install", "evalite", "run", "--outputPath=results.json"]
    subprocess.run(command, cwd=folder, env=os.environ | {"HOME": str(folder)}, check=False)
    written = (folder / "results.json").read_text("utf-8").replace(f"{folder}/", "")
    (FIXTURES / "evalite.json").write_text(written + "\n", "utf-8")


def main(wanted: list[str]) -> None:
    """Every fixture, each from a folder of its own; or those of the tools that are named."""
    FIXTURES.mkdir(exist_ok=True)
    runs = ((PLAIN, "1", CONFIGURATION), (EDITED, "2", CONFIGURATION), (EDITED, "error", FAILING))
    makers: list[tuple[str, Callable[[Path], None]]] = [
        ("pytest", junit),
        ("inspect", inspect),
        ("inspect", judged),
        ("promptfoo", rated),
        ("evalite", evalite),
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
