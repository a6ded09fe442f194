"""Configuration: ``sitegen.toml`` and ``evals/manifest.yaml`` as frozen values. Every default lives here.

The values are plain dataclasses, so that a build that finds its configuration unchanged need not import pydantic;
``sitegen.configuring`` reads the files and validates them *with* pydantic against these very classes.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import lru_cache
from posixpath import normpath
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from sitegen.errors import ConfigurationError
from sitegen.extensions import KINDS, extension
from sitegen.model.kinds import traits_of

STRICT: Final[Any] = {"extra": "forbid", "str_strip_whitespace": True}
"""pydantic's configuration of every class here: a key that nobody knows is an error."""

FINITE: Final[Any] = {**STRICT, "allow_inf_nan": False}
"""Of classes with limits: what is kept of a configuration is JSON, which has neither."""

SITE_FILES: Final = ("sitegen.toml", "pyproject.toml")
"""Where a site's configuration may stand, below the root: the whole file, or the table ``[tool.sitegen]``."""

INSTRUCTIONS: Final = (
    ".claude/instructions/**/*.md",
    ".claude/agents/*.md",
    ".claude/skills/**/*.md",
    "CLAUDE.md",
    "AGENTS.md",
    "prompts/**/*.md",
    "templates/**/*.md",
)
MAPPINGS: Final = (
    "{dir}/field_mapping.yaml",
    "schemas/field_mapping.yaml",
    "src/schemas/field_mapping.yaml",
    "evals/field_mapping.yaml",
)
Kind: TypeAlias = str
"""One of ``KIND_FILES``, or one that an installed package adds."""


class KindFiles(NamedTuple):
    """Which files make an eval of a kind, by convention. Of each list the first that exists counts."""

    kind: Kind
    ground_truths: tuple[str, ...]
    """In the eval's folder. Empty: outputs of this kind need none."""
    outputs: tuple[str, ...]
    """In the folder of an iteration; or overwritten from commit to commit, in the eval's folder or in ``results/``."""
    elsewhere: tuple[str, ...] = ()
    """Further places of an overwritten output, relative to the eval's folder."""
    at_root: tuple[str, ...] = ()
    """Relative to the repository: places of the output of an eval that lies in the folder of evals itself."""
    variants: str = ""
    """Regular expression of the names of files that are outputs of several variants and count together."""

    @property
    def overwritten(self) -> tuple[str, ...]:
        """Where an output may stand that is overwritten from commit to commit."""
        return (*self.elsewhere, *self.outputs, *(f"results/{name}" for name in self.outputs))


KIND_FILES: Final = (
    KindFiles(
        kind="fields",
        ground_truths=(
            "ground_truth.csv",
            "ground_truth.json",
            "ground_truth.jsonl",
            "ground_truth.yaml",
            "ground_truth.yml",
        ),
        outputs=("extracted.json", "extracted.jsonl", "extracted.yaml", "extracted.yml"),
    ),
    KindFiles(
        kind="highlights",
        ground_truths=("gold-standard.json", "expected-highlights.json"),
        outputs=("processing-log.ndjson", "raw-llm-run.json"),
        elsewhere=("logs/processing-log.ndjson",),
        at_root=("logs/processing-log.ndjson",),
    ),
    KindFiles(
        kind="responses",
        ground_truths=("test_cases.json",),
        outputs=("responses.json", "responses.jsonl"),
        variants=r"responses-[^/]+\.jsonl?",
    ),
    KindFiles(kind="judged", ground_truths=(), outputs=("results.jsonl",)),
    KindFiles(
        kind="recorded",
        ground_truths=(),
        outputs=("metrics.json", "metrics.yaml", "metrics.yml", "summary.json", "scores.json"),
    ),
)
"""An eval whose manifest does not say its kind is of the first whose ground truth it has."""

SCORED_FILES: Final = tuple(files for files in KIND_FILES if not traits_of(files.kind).is_recorded)
"""Of the kinds whose files are known by their names wherever an eval lies: a ``metrics.json`` may be anything."""

GROUND_TRUTHS: Final = tuple(name for files in KIND_FILES for name in files.ground_truths)
"""Of every kind."""


def files_of(kind: Kind) -> KindFiles:
    """The conventions of a kind, of an installed one too. Raises ConfigurationError if there is no such kind."""
    for files in KIND_FILES:
        if files.kind == kind:
            return files
    found = getattr(extension(KINDS, kind), "files", None)
    if not isinstance(found, KindFiles):
        raise ConfigurationError(f"the installed kind {kind!r} says nothing of its files", fix="Mend the package.")
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildLimits:
    """Bounds that keep a build and a site small."""

    __pydantic_config__ = STRICT
    max_blob_bytes: int = 20_000_000
    """A larger file is not read; it is a problem."""
    site_bytes: int = 950_000_000
    """Of a larger site the oldest full reports become short pages: GitHub Pages serves no more than 1 GB."""
    reports_kept: int | None = None
    """Full reports of an eval, the newest ones; of the others a short page keeps the numbers. None: what has room."""
    discrepancies_per_type: int = 50
    """Rows a report shows of each error type before "show more"; the whole list is beside it as JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Public:
    """What ``--public`` lets pass."""

    __pydantic_config__ = STRICT
    allow: tuple[str, ...] = ()
    """Whole texts that look like secrets and are none: examples in instructions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """How the work is spread."""

    __pydantic_config__ = STRICT
    jobs: int | None = None
    """Processes, at most four for each core; None: as many as the machine has cores, one for little work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What a model costs, in US dollars for a million tokens."""

    __pydantic_config__ = FINITE
    input: float
    output: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Llm:
    """How ``respond`` and ``judge`` call a model. A build never calls one."""

    __pydantic_config__ = STRICT
    model: str = "claude-sonnet-5-5"
    judge_model: str = "claude-haiku-5-5"
    """Of ``judge``: another than the one that is tested, for a model is partial to what it said itself."""
    max_tokens: int = 4096
    """Of an answer, with what the model thinks before it."""
    temperature: float | None = None
    """None: not sent; newer models refuse any."""
    concurrency: int = 4
    """Calls under way at once, 100 at most."""
    max_retries: int = 4
    """Further tries after 408, 409, 429, 5xx, a time-out or a lost connection."""
    timeout: float = 120.0
    """Seconds that one try may take."""
    prices: dict[str, Price] = field(default_factory=dict)
    """By model, as it is named here or as the API names it; of a model without one no cost is recorded."""


EVALUATION_FILE: Final = "evaluations/config/default_config.yaml"
"""Where the evaluation of prompts on test cases is configured, unless ``--config`` names another file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricThresholds:
    """The table ``metrics`` of an evaluation. None: not stated."""

    __pydantic_config__ = FINITE
    accuracy_threshold: float | None = None
    consistency_threshold: float | None = None
    quality_threshold: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationConfig:
    """``evaluations/config/default_config.yaml``: how prompts are run over test cases, measured and compared.

    None and empty: not stated. What it states goes before ``[llm]`` and an eval's entry if ``--config`` names it, and
    after them if it was only found.
    """

    __pydantic_config__ = FINITE
    model: str | None = None
    """The one that is tested."""
    judge_model: str | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    evaluation_methods: tuple[Literal["exact_match", "consistency", "quality", "rouge"], ...] = ()
    metrics: MetricThresholds = field(default_factory=MetricThresholds)
    significance_level: float | None = None
    plot_format: Literal["png", "svg"] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Mute:
    """A step that the team knows of: still listed, but last, and with the reason."""

    __pydantic_config__ = STRICT
    eval: str
    commit: str
    """Of the first point at the new level: the beginning of its id, ``MUTE_DIGITS`` digits or more."""
    why: str
    metric: str | None = None
    """Only if the step goes by this metric; None: whichever."""
    iteration: str | None = None
    """Only at this one, ``iteration-012``, for a commit that brought several; None: whichever."""


MUTE_DIGITS: Final = 7
"""Digits of a commit id that a mute needs: as many as pages show."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Regressions:
    """What the page of steps and regressions leaves for last."""

    __pydantic_config__ = STRICT
    mute: tuple[Mute, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """What the gate wants of a metric. Both ends are inclusive; None: nothing is wanted."""

    __pydantic_config__ = FINITE
    floor: float | None = None
    """The value at least, in the metric's own unit; at most, where lower is better."""
    drop: float | None = None
    """Points that it may get worse by. A point is a hundredth of the metric's range."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalLimits:
    """What the gate wants of one eval; goes before what it wants of every eval."""

    __pydantic_config__ = FINITE
    floor: float | None = None
    """Of the headline, as ``drop``."""
    drop: float | None = None
    metrics: dict[str, Limit] = field(default_factory=dict)
    """By name of the metric."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateSettings:
    """The limits of ``sitegen check``. The manifest's ``thresholds`` are floors too."""

    __pydantic_config__ = FINITE
    floor: float | None = None
    """Of every eval's headline."""
    drop: float = 0.0
    """Of every eval's headline, in points; 100 turns it off."""
    noise: bool = True
    """A drop fails only if it is more than chance, where that can be told."""
    allow_incomparable: bool = False
    """What cannot be compared does not fail."""
    removed: tuple[str, ...] = ()
    """Ids of evals that may be missing, because they were removed on purpose."""
    metrics: dict[str, Limit] = field(default_factory=dict)
    """Of a metric in every eval that has it."""
    evals: dict[str, EvalLimits] = field(default_factory=dict)
    """By id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteConfig:
    """``sitegen.toml``, or ``[tool.sitegen]`` of ``pyproject.toml``."""

    __pydantic_config__ = STRICT
    title: str | None = None
    """Default: the name of the repository's folder."""
    repository_url: str | None = None
    """http or https, host and path. Default: made from the remote ``origin``, of which nothing else is taken over."""
    base_url: str | None = None
    """Address of the published site, for canonical links; default: what ``--base-url`` says."""
    noindex: bool = False
    """Every page asks search engines to leave it out."""
    rev: str = "HEAD"
    first_parent: bool = True
    instructions: tuple[str, ...] = INSTRUCTIONS
    evals_dir: str = "evals"
    mapping: tuple[str, ...] = MAPPINGS
    """First that exists at the commit; ``{dir}`` stands for the eval's folder."""
    limits: BuildLimits = field(default_factory=BuildLimits)
    engine: Engine = field(default_factory=Engine)
    llm: Llm = field(default_factory=Llm)
    regressions: Regressions = field(default_factory=Regressions)
    gate: GateSettings = field(default_factory=GateSettings)
    public: Public = field(default_factory=Public)
    redact: tuple[str, ...] = ()
    """Globs of field paths whose values no file of the site may hold; of every eval."""


GroundTruthFormat: TypeAlias = Literal["auto", "wide", "long", "building_summary_csv", "cases"]
"""``cases``: expected values and outputs stand in one file, case by case; it is named by ``outputs``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalConfig:
    """One entry of the manifest. Keys that are not listed here are metadata for the eval's page."""

    id: str
    name: str | None = None
    description: str = ""
    kind: Kind | None = None
    """None: as its ground truth's name says, else ``fields``."""
    dir: str | None = None
    """Default: ``<evals_dir>/<id>``."""
    ground_truth: str | None = None
    """Relative to ``dir``; default: the first of the kind's that exists."""
    ground_truth_format: GroundTruthFormat = "auto"
    mapping: str | None = None
    """Relative to the repository; default: the first of the site's that exists."""
    schema: str | None = None
    """JSON Schema of the output, relative to the repository."""
    outputs: str = "auto"
    """``auto``, ``iterations``, the path of one overwritten file, or a glob of runs; relative to ``dir``."""
    instructions: tuple[str, ...] = ()
    """Globs of the files that drive this eval; empty: all instruction files."""
    aliases: tuple[str, ...] = ()
    redact: tuple[str, ...] = ()
    """Globs of field paths whose values no file of the site may hold, besides the site's."""
    thresholds: tuple[tuple[str, float], ...] = ()
    settings: str = "{}"
    """The kind's own settings as canonical JSON (sorted keys, no spaces)."""
    metadata: tuple[tuple[str, str], ...] = ()

    @property
    def in_cases(self) -> bool:
        """Whether expected values and outputs stand in one file: ``ground_truth`` names what ``outputs`` names."""
        if self.outputs in ("auto", "iterations"):
            return False
        same = self.ground_truth is not None and normpath(self.ground_truth) == normpath(self.outputs)
        return same or self.ground_truth_format == "cases"


@lru_cache(maxsize=256)
def case_settings(settings: str) -> str | None:
    """Of an eval's settings those that say which key of a case is what, as JSON.

    None if expected values and outputs do not stand in one file.
    """
    said = json.loads(settings or "{}")
    if not isinstance(said, dict) or said.get("ground_truth_format") != "cases":
        return None
    return json.dumps(said.get("cases"), sort_keys=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """``<evals_dir>/manifest.yaml``."""

    version: str = "2.0"
    evals: tuple[EvalConfig, ...] = ()

    def entry(self, eval_id: str) -> EvalConfig:
        """The eval's entry, or the defaults if the manifest does not name it."""
        return next((entry for entry in self.evals if entry.id == eval_id), EvalConfig(id=eval_id))
