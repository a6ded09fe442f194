"""One task of Inspect, run offline: what ``python -m tests.importers`` makes logs with."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

FIXTURES = Path(__file__).parent / "fixtures"

TASK = """
from pathlib import Path

from inspect_ai import Epochs, Task, eval, task
from inspect_ai.dataset import Sample
from inspect_ai.log import read_eval_log, write_eval_log
from inspect_ai.model import ModelAPI, ModelOutput, ModelUsage, modelapi
from inspect_ai.scorer import Score, accuracy, match, mean, scorer
from inspect_ai.solver import generate

ANSWERS = {"France": ["Paris"], "Austria": ["Graz", "Vienna", "Graz"], "Norway": ["Bergen", "Bergen", "Bergen"]}
asked = {}


@modelapi(name="scripted")
class Scripted(ModelAPI):
    async def generate(self, input, tools, tool_choice, config):
        place = input[-1].text.rpartition(" ")[2].rstrip("?")
        if place not in ANSWERS:
            raise ValueError(f"I know no {place}.")
        asked[place] = asked.get(place, -1) + 1
        output = ModelOutput.from_content(self.model_name, ANSWERS[place][asked[place] % len(ANSWERS[place])])
        output.usage = ModelUsage(input_tokens=10, output_tokens=2, total_tokens=15, input_tokens_cache_read=3)
        return output


@scorer(metrics=[mean()])
def brevity():
    async def score(state, target):
        return Score(value=1 / len(state.output.completion), explanation="The shorter, the better.")

    return score


@scorer(metrics={"form": [accuracy()], "tone": [mean()]})
def style():
    async def score(state, target):
        return Score(value={"form": state.output.completion[:1].isupper(), "tone": 0.25})

    return score


@task
def capital_cities():
    places = {"france": ("France", "Paris"), 2: ("Austria", ["Vienna"]), "norway": ("Norway", "Oslo"),
              "nowhere": ("Atlantis", ["none", "sunken"])}
    samples = [Sample(id=name, input=f"What is the capital of {place}?", target=target)
               for name, (place, target) in places.items()]
    return Task(dataset=samples, solver=generate(), scorer=[match(), brevity(), style()])


for format, epochs in (("json", 1), ("eval", Epochs(3, "max"))):
    asked.clear()
    eval(capital_cities(), model="scripted/one", temperature=0.5, epochs=epochs, fail_on_error=False, max_samples=1,
         max_connections=1, log_format=format, log_dir=format, display="none")
    log = read_eval_log(str(next(Path(format).iterdir())))
    for sample in log.samples:
        sample.events, sample.messages, sample.attachments, sample.events_data = [], [], {}, None
        if sample.error:
            sample.error.traceback = sample.error.traceback_ansi = ""
    write_eval_log(log, f"log.{format}", format=format)
"""

JUDGED = """
from pathlib import Path

from inspect_ai import Task, eval, task
from inspect_ai.dataset import Sample
from inspect_ai.log import read_eval_log, write_eval_log
from inspect_ai.model import ModelAPI, ModelOutput, modelapi
from inspect_ai.scorer import match, model_graded_qa
from inspect_ai.solver import generate


@modelapi(name="scripted")
class Scripted(ModelAPI):
    async def generate(self, input, tools, tool_choice, config):
        text = input[-1].text
        if "GRADE" in text:
            return ModelOutput.from_content(self.model_name, "GRADE: C" if "Paris" in text else "GRADE: I")
        return ModelOutput.from_content(self.model_name, "Paris" if "France" in text else "Graz")


@task
def cities():
    samples = [Sample(id=target, input=f"What is the capital of {place}?", target=target)
               for place, target in (("France", "Paris"), ("Austria", "Vienna"))]
    asked = "Is {answer} the answer to {question}? It is if it agrees with {criterion}. {instructions}"
    scorers = [match(), model_graded_qa(), model_graded_qa(model="scripted/lenient", template=asked)]
    return Task(dataset=samples, solver=generate(), scorer=scorers)


eval(cities(), model="scripted/one", model_roles={"grader": "scripted/strict"}, log_format="json", log_dir="json",
     display="none")
log = read_eval_log(str(next(Path("json").iterdir())))
for sample in log.samples:
    sample.events, sample.messages, sample.attachments, sample.events_data = [], [], {}, None
    for score in sample.scores.values():
        score.metadata = None
write_eval_log(log, "log.json", format="json")
"""


def inspect(folder: Path) -> None:
    """Two logs: as JSON, and as an archive with three epochs of which the best counts."""
    git = ("git", "-c", "user.name=x", "-c", "user.email=x@example.org")
    (folder / "cities.py").write_text(TASK, "utf-8")
    subprocess.run([*git, "init", "-q"], cwd=folder, check=True)
    subprocess.run([*git, "add", "cities.py"], cwd=folder, check=True)
    subprocess.run([*git, "commit", "-q", "-m", "Ask for capitals"], cwd=folder, check=True)
    subprocess.run([os.environ["INSPECT"], "cities.py"], cwd=folder, env=os.environ | {"HOME": str(folder)}, check=True)
    for ending in ("json", "eval"):
        (FIXTURES / f"inspect.{ending}").write_bytes((folder / f"log.{ending}").read_bytes())


def judged(folder: Path) -> None:
    """A log of two scorers that ask a model, beside one that does not."""
    (folder / "cities.py").write_text(JUDGED, "utf-8")
    subprocess.run([os.environ["INSPECT"], "cities.py"], cwd=folder, env=os.environ | {"HOME": str(folder)}, check=True)
    (FIXTURES / "inspect-judged.json").write_bytes((folder / "log.json").read_bytes())
