"""The configuration of evaluations of prompts, as a frozen value."""

from __future__ import annotations

from typing import Final, Literal

from msgspec import field

from sitegen.config.models import ConfigTable, PlotFormat

EVALUATION_FILE: Final = "evaluations/config/default_config.yaml"
"""The configuration of the evaluation of prompts, unless ``--config`` names another file."""


class MetricThresholds(ConfigTable):
    """The table ``metrics`` of an evaluation. None means not stated."""

    accuracy_threshold: float | None = None
    consistency_threshold: float | None = None
    quality_threshold: float | None = None


class EvaluationConfig(ConfigTable):
    """``evaluations/config/default_config.yaml``: how prompts are run on test cases, measured and compared.

    None and empty values mean not stated. A file that ``--config`` names takes precedence over ``[llm]`` and the eval's
    entry; the file in the project does not.
    """

    model: str | None = None
    """The model that is tested."""
    judge_model: str | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    evaluation_methods: tuple[Literal["exact_match", "consistency", "quality", "rouge"], ...] = ()
    metrics: MetricThresholds = field(default_factory=MetricThresholds)
    significance_level: float | None = None
    plot_format: PlotFormat | None = None
