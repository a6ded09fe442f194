"""Tools in Python, run offline on three questions: what ``python -m tests.importers`` makes tables and events with.

Each script writes what its tool leaves behind; the totals that a table lacks are those that the tool computed in the
same run, in ``totals.json``.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Final, NamedTuple

FIXTURES: Final = Path(__file__).parent / "fixtures"
TOTALS: Final = FIXTURES / "totals.json"

QUESTIONS: Final = """
PLACES = {"France": ("Paris", "Paris"), "Austria": ("Vienna", "Graz"), "Norway": ("Oslo", "It is Oslo.")}
ROWS = [(f"What is the capital of {place}?", right, given) for place, (right, given) in PLACES.items()]
ANSWERS = {question: given for question, _, given in ROWS}
"""
"""Begins every script: question, right answer, given answer."""

LM_EVAL: Final = r"""
import json, sys
from pathlib import Path

CHOICES = [(["Paris", "Lyon"], 0), (["Graz", "Vienna"], 1), (["Oslo", "Bergen"], 0)]
docs = [{"question": q, "answer": right, "options": options, "label": label}
        for (q, right, _), (options, label) in zip(ROWS, CHOICES)]
Path("docs.jsonl").write_text("".join(json.dumps(each) + "\n" for each in docs))
common = {"dataset_path": "json", "dataset_kwargs": {"data_files": {"test": "docs.jsonl"}}, "test_split": "test",
          "doc_to_text": "{{question}}"}
metric = {"aggregation": "mean", "higher_is_better": True}
find = lambda name, pattern: {"name": name, "filter": [
    {"function": "regex", "regex_pattern": pattern}, {"function": "take_first"}]}
tasks = {
    "cities": {"output_type": "multiple_choice", "doc_to_choice": "{{options}}", "doc_to_target": "{{label}}",
               "metric_list": [{"metric": "acc", **metric}, {"metric": "acc_norm", **metric}]},
    "capitals": {"output_type": "generate_until", "doc_to_target": "{{answer}}", "generation_kwargs": {"until": ["\n"]},
                 "metric_list": [{"metric": "exact_match", **metric}],
                 "filter_list": [find("strict-match", "^(Paris|Vienna|Oslo)$"), find("loose", "(Paris|Vienna|Oslo)")]},
}
Path("tasks").mkdir()
for name, task in tasks.items():
    Path(f"tasks/{name}.yaml").write_text(json.dumps({"task": name, **common, **task}))

from lm_eval.__main__ import cli_evaluate
from lm_eval.api.model import LM
from lm_eval.api.registry import register_model

@register_model("scripted")
class Scripted(LM):
    def __init__(self, **settings):
        super().__init__()

    def loglikelihood(self, requests):
        return [(-float(len(each.args[1])), False) for each in requests]

    def loglikelihood_rolling(self, requests):
        return [-1.0 for _ in requests]

    def generate_until(self, requests):
        return [ANSWERS[each.args[0]] for each in requests]

sys.argv = ["lm_eval", "run", "--model", "scripted", "--include_path", "tasks", "--tasks", "cities,capitals",
            "--output_path", "written", "--log_samples"]
cli_evaluate()
for path in Path("written").rglob("*.json*"):
    name = path.name.rpartition("_")[0].replace("_", "-")
    text = path.read_text()
    if name == "results":
        found = json.loads(text)
        found["pretty_env_info"] = ""
        text = json.dumps(found, indent=2) + "\n"
    Path(f"lm-eval-{name}{path.suffix}").write_text(text)
"""

OPENAI_EVALS: Final = r"""
import json, sys
from pathlib import Path

Path("own/evals").mkdir(parents=True)
Path("own/completion_fns").mkdir()
chat = [{"input": [{"role": "system", "content": "Answer with one word."}, {"role": "user", "content": q}],
         "ideal": right} for q, right, _ in ROWS]
Path("own/data/capitals").mkdir(parents=True)
Path("own/data/capitals/samples.jsonl").write_text("".join(json.dumps(each) + "\n" for each in chat))
for name, of in (("match", "match:Match"), ("includes", "includes:Includes")):
    spec = {f"capitals-{name}": {"id": f"capitals-{name}.dev.v0", "metrics": ["accuracy"]},
            f"capitals-{name}.dev.v0": {"class": f"evals.elsuite.basic.{of}",
                                        "args": {"samples_jsonl": "capitals/samples.jsonl"}}}
    Path(f"own/evals/capitals-{name}.yaml").write_text(json.dumps(spec))
Path("own/completion_fns/scripted.yaml").write_text(json.dumps({"scripted": {"class": "scripted:Scripted"}}))

import scripted
scripted.ANSWERS = ANSWERS
from evals.cli import oaieval
for name in ("match", "includes"):
    sys.argv = ["oaieval", "scripted", f"capitals-{name}", "--registry_path", "own", "--local-run",
                "--record_path", f"openai-evals-{name}.jsonl"]
    oaieval.main()
"""
SCRIPTED: Final = """
from evals.api import CompletionFn, CompletionResult
from evals.record import record_sampling

ANSWERS = {}

class Answer(CompletionResult):
    def __init__(self, text):
        self.text = text

    def get_completions(self):
        return [self.text]

class Scripted(CompletionFn):
    def __init__(self, **settings):
        pass

    def __call__(self, prompt, **settings):
        answer = ANSWERS[prompt[-1]["content"]]
        record_sampling(prompt=prompt, sampled=[answer], usage={"prompt_tokens": 9, "completion_tokens": 2})
        return Answer(answer)
"""

MLFLOW: Final = r"""
import json, warnings
from pathlib import Path

warnings.simplefilter("ignore")
import mlflow
import pandas as pd

mlflow.set_tracking_uri("sqlite:///own.db")
from mlflow.metrics import MetricValue, make_metric
from mlflow.models import evaluate

def brevity(predictions, targets=None):
    scores = [1 / len(each) for each in predictions]
    return MetricValue(scores=scores, justifications=[f"It has {len(each)} characters." for each in predictions],
                       aggregate_results={"mean": sum(scores) / len(scores)})

data = pd.DataFrame(ROWS, columns=["inputs", "ground_truth", "predictions"])
with mlflow.start_run() as run:
    own = evaluate(data=data, predictions="predictions", targets="ground_truth",
                   extra_metrics=[make_metric(eval_fn=brevity, greater_is_better=True, name="brevity")])
written = mlflow.artifacts.download_artifacts(run_id=run.info.run_id, artifact_path="eval_results_table.json")
Path("mlflow-eval_results_table.json").write_text(Path(written).read_text() + "\n")

import mlflow.genai
from mlflow.entities import Feedback
from mlflow.genai.scorers import scorer

@scorer
def correct(outputs, expectations):
    return outputs == expectations["expected_response"]

@scorer
def brief(outputs):
    return Feedback(value=1 / len(outputs), rationale=f"It has {len(outputs)} characters.")

@scorer
def one_word(outputs):
    return "no" if " " in outputs else "yes"

@scorer
def careful(outputs):
    if outputs == "Graz":
        raise ValueError("I cannot tell.")
    return True

rows = [{"inputs": {"question": q}, "outputs": given, "expectations": {"expected_response": right, "region": "Europe"}}
        for q, right, given in ROWS]
result = mlflow.genai.evaluate(data=rows, scorers=[correct, brief, one_word, careful])
table = result.tables["eval_results"].drop(columns=["trace", "spans", "trace_metadata", "tags"])
for each in table["assessments"]:
    for one in each:
        for key in set(one) - {"assessment_name", "source", "feedback", "expectation", "rationale"}:
            del one[key]
        one.get("feedback", {}).get("error", {}).pop("stack_trace", None)
        one["source"].pop("source_id")
table.to_csv("mlflow-genai.csv", index=False)
table.to_json("mlflow-genai.jsonl", orient="records", lines=True, default_handler=str)
totals = {"mlflow-eval_results_table.json": own.metrics, "mlflow-genai.csv": result.metrics}
Path("totals.json").write_text(json.dumps(totals, default=float))
"""

RAGAS: Final = r"""
import json, warnings
from pathlib import Path

warnings.simplefilter("ignore")
from ragas import EvaluationDataset, evaluate
from ragas.metrics import ExactMatch, NonLLMStringSimilarity, StringPresence

rows = [{"user_input": q, "response": given, "reference": right, "retrieved_contexts": [f"{q} {right}."]}
        for q, right, given in ROWS]
result = evaluate(EvaluationDataset.from_list(rows), metrics=[ExactMatch(), NonLLMStringSimilarity(), StringPresence()])
table = result.to_pandas()
table.to_csv("ragas.csv", index=False)
table.to_json("ragas.jsonl", orient="records", lines=True)
Path("totals.json").write_text(json.dumps({"ragas.csv": result._repr_dict}, default=float))
"""

LANGSMITH: Final = r"""
import json
from datetime import datetime, timezone
from pathlib import Path
from uuid import UUID

from langsmith import Client, evaluate
from langsmith.schemas import Example

start = datetime(2026, 1, 1, tzinfo=timezone.utc)
examples = [Example(id=UUID(int=place), inputs={"question": q}, outputs={"answer": right}, created_at=start,
                    dataset_id=UUID(int=99)) for place, (q, right, _) in enumerate(ROWS, 1)]
examples.append(Example(id=UUID(int=9), inputs={"question": "What is the capital of Atlantis?"},
                        outputs={"answer": "none"}, created_at=start, dataset_id=UUID(int=99)))

def answer(inputs):
    return {"answer": ANSWERS[inputs["question"]]}

def correct(outputs, reference_outputs):
    return (outputs or {}).get("answer") == reference_outputs["answer"]

def brevity(outputs):
    given = (outputs or {}).get("answer")
    return {"key": "brevity", "score": 1 / len(given) if given else None, "comment": "The shorter, the better."}

def accuracy(outputs, reference_outputs):
    right = [correct(one, other) for one, other in zip(outputs, reference_outputs)]
    return {"key": "correct", "score": sum(right) / len(right)}

found = evaluate(answer, data=examples, evaluators=[correct, brevity], summary_evaluators=[accuracy],
                 upload_results=False, max_concurrency=0, client=Client(api_key="none", api_url="http://localhost:1"))
table = found.to_pandas()
table["error"] = [str(text).partition("\n")[0] if text == text and text else "" for text in table["error"]]
table.to_csv("langsmith.csv", index=False)
table.to_json("langsmith.jsonl", orient="records", lines=True, default_handler=str)
found.wait()
summed = {each.key: each.score for each in found._summary_results["results"]}
Path("totals.json").write_text(json.dumps({"langsmith.csv": summed}))
"""

DEEPEVAL: Final = r"""
import os
from pathlib import Path
from deepeval import evaluate
from deepeval.metrics import BaseMetric
from deepeval.test_case import LLMTestCase

class Exact(BaseMetric):
    __name__, threshold, async_mode = "Exact", 1.0, False

    def of(self, given, right):
        return float(given == right)

    def measure(self, case, *_, **__):
        self.score = self.of(case.actual_output, case.expected_output)
        self.success, self.reason = self.score >= self.threshold, f"It scores {self.score}."
        return self.score

    async def a_measure(self, case, *_, **__):
        return self.measure(case)

    def is_successful(self):
        return self.success

class Letters(Exact):
    __name__, threshold = "Letters", 0.5

    def of(self, given, right):
        return len({*given} & {*right}) / len({*given} | {*right})

os.environ["DEEPEVAL_RESULTS_FOLDER"] = "written"
evaluate([LLMTestCase(name=right, input=question, actual_output=given, expected_output=right)
          for question, right, given in ROWS], [Exact(), Letters()])
(path,) = Path("written").glob("test_run_*.json")
path.rename("deepeval.json")
"""
PYDANTIC_EVALS: Final = r"""
import json
from pathlib import Path
from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import EqualsExpected, EvaluationReason, Evaluator
from pydantic_evals.reporting import EvaluationReportAdapter

class Letters(Evaluator):
    def evaluate(self, context):
        given, right = {*context.output}, {*context.expected_output}
        shared = EvaluationReason(value=len(given & right) / len(given | right), reason="Letters in common.")
        return {"letters": shared, "brief": len(context.output) < 12, "kind": "word"}

class Tone(Evaluator):
    def evaluate(self, context):
        if context.output == "Graz":
            raise ValueError("the judge is away")
        return {"tone": 1.0}

def capital(question):
    return ANSWERS[question]

cases = [Case(name=right, inputs=question, expected_output=right) for question, right, _ in ROWS]
cases.append(Case(name="none", inputs="What is the capital of Atlantis?", expected_output="none"))
dataset = Dataset(name="capitals", cases=cases, evaluators=[EqualsExpected(), Letters(), Tone()])
report = dataset.evaluate_sync(capital, progress=False, max_concurrency=1)
found = json.loads(EvaluationReportAdapter.dump_json(report))
for case in (*found["failures"], *(each for case in found["cases"] for each in case["evaluator_failures"])):
    case["error_stacktrace"] = ""
Path("pydantic-evals.json").write_text(json.dumps(found, indent=2) + "\n")
averages = report.averages()
Path("totals.json").write_text(json.dumps(
    {"pydantic-evals.json": {**averages.scores, "assertions": averages.assertions}}))
"""


class PythonTool(NamedTuple):
    """A tool, and the script that runs it."""

    environment: str
    """The variable that names the tool's own interpreter."""
    script: str
    files: tuple[str, ...]
    """What the script leaves for the fixtures, besides totals."""


TOOLS: Final = (
    PythonTool(
        "LM_EVAL", LM_EVAL, ("lm-eval-results.json", "lm-eval-samples-capitals.jsonl", "lm-eval-samples-cities.jsonl")
    ),
    PythonTool("OPENAI_EVALS", OPENAI_EVALS, ("openai-evals-match.jsonl", "openai-evals-includes.jsonl")),
    PythonTool("MLFLOW", MLFLOW, ("mlflow-eval_results_table.json", "mlflow-genai.csv", "mlflow-genai.jsonl")),
    PythonTool("RAGAS", RAGAS, ("ragas.csv", "ragas.jsonl")),
    PythonTool("LANGSMITH", LANGSMITH, ("langsmith.csv", "langsmith.jsonl")),
    PythonTool("DEEPEVAL", DEEPEVAL, ("deepeval.json",)),
    PythonTool("PYDANTIC_EVALS", PYDANTIC_EVALS, ("pydantic-evals.json",)),
)
OFFLINE: Final = {
    "HF_HUB_OFFLINE": "1",
    "HF_DATASETS_OFFLINE": "1",
    "RAGAS_DO_NOT_TRACK": "true",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "LANGSMITH_TRACING": "false",
    "DEEPEVAL_TELEMETRY_OPT_OUT": "YES",
    "OPENAI_API_KEY": "none",
    "EVALS_THREADS": "1",
}


def run_tool(tool: PythonTool, folder: Path) -> None:
    """One run of a tool in an empty folder, and what it wrote as fixtures."""
    (folder / "run.py").write_text(QUESTIONS + tool.script, "utf-8")
    (folder / "scripted.py").write_text(SCRIPTED, "utf-8")
    home = {"HOME": str(folder), "HF_HOME": str(folder / "hf"), "PYTHONPATH": str(folder)}
    subprocess.run([os.environ[tool.environment], "run.py"], cwd=folder, env=os.environ | home | OFFLINE, check=True)
    for name in tool.files:
        written = (folder / name).read_text("utf-8").replace(f"{folder}/", "")
        (FIXTURES / name).write_text(written, "utf-8")
    if (folder / "totals.json").exists():
        known = json.loads(TOTALS.read_text("utf-8")) if TOTALS.exists() else {}
        known |= json.loads((folder / "totals.json").read_text("utf-8"))
        TOTALS.write_text(json.dumps(known, indent=2, sort_keys=True) + "\n", "utf-8")
