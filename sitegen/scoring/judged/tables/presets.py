"""The columns of the tables that tools write, according to their documentation."""

from __future__ import annotations

from typing import Final

from sitegen.scoring.judged.tables.columns import EVERY, ColumnMap, ScoreColumns

LM_EVAL: Final = ColumnMap(
    parts={
        "id": ("doc_id",),
        "variant": ("filter",),
        "input": ("arguments.gen_args_0.arg_0", "arguments.0.0"),
        "expected": ("target",),
        "output": ("filtered_resps",),
    },
    scores=(ScoreColumns(EVERY),),
    names_of_scores="metrics",
)
"""For ``samples_<task>_<time>.jsonl``, which ``lm_eval --log_samples`` writes. Since 0.4.7 a row names its metrics; in
older versions all other numbers of the row are metrics."""

PRESETS: Final[dict[str, ColumnMap]] = {
    "langsmith": ColumnMap(
        parts={
            "id": ("example_id",),
            "input": ("inputs.*",),
            "expected": ("reference.*",),
            "output": ("outputs.*",),
            "error": ("error",),
            "latency": ("execution_time",),
        },
        scores=(ScoreColumns("feedback.*"),),
    ),
    "lm-eval": LM_EVAL,
    "mlflow": ColumnMap(
        parts={
            "id": ("request_id",),
            "input": ("inputs", "request"),
            "expected": ("expectations", "ground_truth", "targets", "expected_response/value", "expected_facts/value"),
            "output": ("outputs", "response", "predictions"),
            "error": ("error_message", "*/error_message"),
        },
        scores=(ScoreColumns("*/value"), ScoreColumns("*/v1/score"), ScoreColumns("*/score")),
        reasons=("*/rationale", "*/v1/justification", "*/justification"),
    ),
    "ragas": ColumnMap(
        parts={
            "input": ("user_input", "question"),
            "expected": ("reference", "ground_truth"),
            "output": ("response", "answer"),
        },
        scores=(ScoreColumns(EVERY),),
    ),
}
"""By the name in the manifest: LangSmith's ``ExperimentResults.to_pandas``, lm-eval's samples, MLflow's tables of
``mlflow.evaluate`` and ``mlflow.genai.evaluate``, ragas' ``EvaluationResult.to_pandas``.
MLflow's ``trace_id`` differs between runs and cannot be the id of a case, so the question identifies the case."""
