"""What users write, ``sitegen.toml``, ``evals/manifest.yaml`` and configurations of evaluations, with all defaults.

Beside the tables stand the conventional file names of each kind, by which files are found without a manifest.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from posixpath import basename, normpath, splitext
from typing import Any, Final, Literal, TypeAlias

from sitegen.model.frozen import Frozen
from sitegen.model.metrics import traits_of
from sitegen.model.outcomes import Verdict
from sitegen.text.globs import answerers_in

Kind: TypeAlias = str
"""The name of a kind of ``KIND_FILES``."""


class KindFiles(Frozen):
    """The conventional file names of a kind. The first existing file of each list counts."""

    kind: Kind
    ground_truths: tuple[str, ...]
    """Names in the eval's folder; empty for a kind whose outputs need no ground truth."""
    outputs: tuple[str, ...]
    """Names in the folder of an iteration, or of an overwritten output in the eval's folder or in ``results/``."""
    elsewhere: tuple[str, ...] = ()
    """Further places of an overwritten output, relative to the eval's folder; to the repository, if the eval lies
    directly in the folder of evals."""
    variants: str = ""
    """Regular expression for the names of outputs of several variants, which are scored together."""

    @property
    def overwritten(self) -> tuple[str, ...]:
        """Places of an output that is overwritten from commit to commit, relative to the eval's folder."""
        return (*self.elsewhere, *self.outputs, *(f"results/{name}" for name in self.outputs))


KIND_FILES: Final = (
    KindFiles(
        kind="fields",
        ground_truths=tuple(f"ground_truth.{ending}" for ending in ("csv", "json", "jsonl", "yaml", "yml")),
        outputs=tuple(f"extracted.{ending}" for ending in ("json", "jsonl", "ndjson", "yaml", "yml", "csv")),
    ),
    KindFiles(
        kind="highlights",
        ground_truths=("gold-standard.json", "expected-highlights.json"),
        outputs=("processing-log.ndjson", "raw-llm-run.json"),
        elsewhere=("logs/processing-log.ndjson",),
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
"""All kinds. An eval without a stated kind has the first kind whose ground truth exists."""


SCORED_FILES: Final = tuple(files for files in KIND_FILES if not traits_of(files.kind).is_recorded)
"""The kinds whose files can be recognised by name in any folder; a ``metrics.json`` may be anything."""


GROUND_TRUTHS: Final = tuple(name for files in KIND_FILES for name in files.ground_truths)
"""The conventional names of the ground truths of all kinds."""


def files_of(kind: Kind) -> KindFiles:
    """Return the conventional files of a kind."""
    return next(files for files in KIND_FILES if files.kind == kind)


OPEN: Final[Any] = {"allow_inf_nan": False}
"""pydantic's configuration of a class here whose unknown keys have a meaning. No number is infinite or NaN: neither can
be compared or drawn, and the cached configuration is JSON, which has neither."""

_STRICT: Final[Any] = {**OPEN, "extra": "forbid", "str_strip_whitespace": True}
"""The same for all other classes: an unknown key is an error."""

_TEXTS: Final[Any] = {**_STRICT, "coerce_numbers_to_str": True}
"""The same for texts that people write without quotation marks: ``case: 17`` is the case "17"."""

INSTRUCTIONS: Final = (
    *(".claude/instructions/**/*.md", ".claude/agents/*.md", ".claude/skills/**/*.md", "CLAUDE.md", "AGENTS.md"),
    *("prompts/**/*.md", "templates/**/*.md"),
)
MAPPINGS: Final = tuple(f"{folder}/field_mapping.yaml" for folder in ("{dir}", "schemas", "src/schemas", "evals"))


class ConfigTable:
    """The base of dataclasses that are tables of a configuration file, with their defaults.

    pydantic validates them where a file is read. To define them takes no import of it.
    """

    __pydantic_config__ = _STRICT


@dataclass(frozen=True, kw_only=True)
class BuildLimits(ConfigTable):
    """Bounds on the files that a build reads and on the size of the site."""

    max_blob_bytes: int = 20_000_000
    """The size in bytes above which a file is not read but reported as a problem."""
    site_bytes: int = 950_000_000
    """The size of the site in bytes above which a problem says how to make it smaller. GitHub Pages serves at most 1
    GB."""
    reports_kept: int = 500
    """Number of the newest reports of each eval that are full, and of the newest edits of instruction files that have a
    whole page. Older reports and edits have short pages."""
    discrepancies_per_type: int = 50
    """Number of rows of each error type in a report before "show more". The whole list is beside it as JSON."""


@dataclass(frozen=True, kw_only=True)
class Public(ConfigTable):
    """Exceptions from the check for secrets of ``--public``."""

    allow: tuple[str, ...] = ()
    """Whole texts that only look like secrets, such as examples in instructions."""


@dataclass(frozen=True, kw_only=True)
class Engine(ConfigTable):
    """How a build uses the machine."""

    jobs: int | None = None
    """Number of processes, at most four per core. None for one per core, or a single one for little work."""


@dataclass(frozen=True, kw_only=True)
class Price(ConfigTable):
    """The price of a model in US dollars for a million tokens."""

    input: float
    output: float


_MOST_AT_ONCE: Final = 100
"""The most concurrent calls; the API would reject further ones, which would have to be repeated."""


@dataclass(frozen=True, kw_only=True)
class Llm(ConfigTable):
    """How ``respond`` and ``judge`` call a model. A build never calls one."""

    model: str = "claude-sonnet-5-5"
    judge_model: str = "claude-haiku-5-5"
    """The model that grades. It differs from the tested model because models favour their own answers."""
    max_tokens: int = 4096
    """Tokens of an answer, including the model's thinking."""
    temperature: float | None = None
    """None if it is not sent, because newer models refuse it."""
    concurrency: int = 4
    """Number of concurrent calls, at most 100."""
    max_retries: int = 4
    """Further attempts after 408, 409, 429, 5xx, a time-out or a lost connection."""
    timeout: float = 120.0
    """Seconds for one attempt."""
    prices: dict[str, Price] = field(default_factory=dict)
    """Prices by the model's name here or in the API. Without a price, no cost is recorded."""

    def misfits(self) -> Iterator[tuple[str, str]]:
        """Yield each key whose value no API accepts, and what to do."""
        least = {"max_tokens": 1, "concurrency": 1, "max_retries": 0, "timeout": 0.001}
        yield from (
            (name, f"Give {bound} or more.") for name, bound in least.items() if not getattr(self, name) >= bound
        )
        if self.concurrency > _MOST_AT_ONCE:
            yield "concurrency", f"Give {_MOST_AT_ONCE} or less."


@dataclass(frozen=True, kw_only=True)
class Mute(ConfigTable):
    """A step that the team has accepted: it is listed last and with the reason."""

    eval: str
    commit: str
    """The commit of the first iteration at the new level: at least ``MUTE_DIGITS`` leading digits of its id."""
    why: str


MUTE_DIGITS: Final = 7
"""Digits of a commit id that a mute needs, as many as pages show."""


@dataclass(frozen=True, kw_only=True)
class Regressions(ConfigTable):
    """Settings of the page of steps."""

    mute: tuple[Mute, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Limit(ConfigTable):
    """The gate's limits for a metric. Both are inclusive; None means no limit."""

    floor: float | None = None
    """The least value in the metric's own unit, or the greatest if lower is better."""
    drop: float | None = None
    """How far the metric may get worse, in hundredths of its range; for an amount, in percent."""


@dataclass(frozen=True, kw_only=True)
class EvalLimits(Limit):
    """The gate's limits for one eval or slice; its own ``floor`` and ``drop`` are those of the headline."""

    max_broken: int | None = None
    """The most values that may be right at the base and wrong at the head; for cases with scores alone, the most cases
    that may get worse."""
    min_cases: int | None = None
    """The least number of documents or test cases that have to be judged at the head."""
    metrics: dict[str, Limit] = field(default_factory=dict)
    """Limits by name of the metric."""


@dataclass(frozen=True, kw_only=True)
class SlicedLimits(EvalLimits):
    """The gate's limits for one eval and for its slices, which take precedence over the limits for every one."""

    slices: dict[str, EvalLimits] = field(default_factory=dict)
    """Limits by axis, ``language``, or by one value on it, ``language=de``, which takes precedence. The answers of one
    variant and one model are a slice too: ``variant,model``, or ``variant=short,model=mini``. A slice has no other
    limits than these."""


@dataclass(frozen=True, kw_only=True)
class GateSettings(SlicedLimits):
    """The limits of ``sitegen check`` for every eval. The targets of an eval (``thresholds``) are floors too."""

    drop: float | None = 0.0
    """The greatest drop of the headline, in hundredths of its range; for an amount, in percent. 100 turns it off."""
    strict_floors: bool = False
    """Whether a floor that was missed at the base too fails."""
    noise: bool = True
    """Whether a drop fails only if it exceeds chance, provided that chance can be estimated."""
    allow_incomparable: bool = False
    """Whether an eval that cannot be compared passes."""
    removed: tuple[str, ...] = ()
    """Ids of evals that were removed on purpose."""
    evals: dict[str, SlicedLimits] = field(default_factory=dict)
    """Limits by id of the eval."""

    @property
    def limits(self) -> Iterator[tuple[str, str, str, Limit]]:
        """Each table of limits with its path, the eval and the metric that it is for; empty for all or the headline."""
        tables: list[tuple[str, str, EvalLimits]] = [("gate", "", self)]
        tables += ((f"gate.evals.{name}", name, of_eval) for name, of_eval in self.evals.items())
        slices = [(at, name, table.slices) for at, name, table in tables if isinstance(table, SlicedLimits)]
        tables += ((f"{at}.slices.{key}", name, part) for at, name, parts in slices for key, part in parts.items())
        for at, name, table in tables:
            yield at, name, "", table
            yield from ((f"{at}.metrics.{metric}", name, metric, limit) for metric, limit in table.metrics.items())

    def of_slice(self, eval_id: str, names: Sequence[str]) -> "GateSettings | None":
        """Return the settings by which a slice is judged as if it were all of the eval; None if no key names the slice.

        Limits of the eval take precedence over those of all evals, and limits of the value over those of its axis.
        ``names``: the keys of the slice, the one with its values first.
        """
        tables = (self.evals.get(eval_id, SlicedLimits()).slices, self.slices)
        named = [table[key] for table in tables for key in names if key in table]
        if not named:
            return None
        stated: dict[str, Any] = {}
        metrics: dict[str, Limit] = {}
        for limits in reversed(named):
            stated |= {name: limit for name, limit in vars(limits).items() if limit is not None}
            metrics |= limits.metrics
        own = SlicedLimits(**{**stated, "metrics": metrics})
        return replace(self, floor=None, drop=None, max_broken=None, min_cases=None, metrics={}, evals={eval_id: own})

    def case_limits(self, eval_id: str) -> tuple[int | None, int | None]:
        """Return the ``max_broken`` and ``min_cases`` of an eval; its own take precedence over those of all evals."""
        own = self.evals.get(eval_id, EvalLimits())
        return (
            self.max_broken if own.max_broken is None else own.max_broken,
            self.min_cases if own.min_cases is None else own.min_cases,
        )


MOST_BASELINES: Final = 20
"""The most baselines: each is resolved by git in every build, and marked on every trend page."""


@dataclass(frozen=True, kw_only=True)
class SiteConfig(ConfigTable):
    """``sitegen.toml``, or ``[tool.sitegen]`` of ``pyproject.toml``."""

    title: str | None = None
    """Default: the name of the repository's folder."""
    repository_url: str | None = None
    """http or https, host and path. Default: these parts of the address of the remote ``origin``."""
    base_url: str | None = None
    """Address of the published site, for canonical links. Default: the value of ``--base-url``."""
    noindex: bool = False
    """Whether every page asks search engines not to index it."""
    rev: str = "HEAD"
    instructions: tuple[str, ...] = INSTRUCTIONS
    evals_dir: str = "evals"
    mapping: tuple[str, ...] = MAPPINGS
    """The first file that exists at the commit counts. ``{dir}`` stands for the eval's folder."""
    limits: BuildLimits = field(default_factory=BuildLimits)
    engine: Engine = field(default_factory=Engine)
    llm: Llm = field(default_factory=Llm)
    regressions: Regressions = field(default_factory=Regressions)
    gate: GateSettings = field(default_factory=GateSettings)
    baselines: dict[str, str] = field(default_factory=dict)
    """Revisions that others are compared with, by name: ``production = "v1.4"``. At most ``MOST_BASELINES``."""
    public: Public = field(default_factory=Public)
    redact: tuple[str, ...] = ()
    """Globs of field paths of all evals whose values no file of the site may hold."""


@dataclass(frozen=True, kw_only=True)
class Note(ConfigTable):
    """What a person said about a case or one of its values: an item of ``notes.yaml`` in the folder of an eval."""

    __pydantic_config__ = _TEXTS
    case: str = ""
    """The id of the case or document; empty in an eval that has only one."""
    variant: str = ""
    model: str = ""
    """Who gave the answer; the note is about the answers of all variants, or models, if it names none."""
    field: str = ""
    """The field path; empty if the note is about the case as a whole."""
    iteration: str = ""
    """The iteration that the person looked at; empty for the newest."""
    verdict: Verdict = ""
    """Whether the answer is right, as the person sees it; empty if the note only remarks on it."""
    code: str = ""
    """The error code: what the team calls this sort of error."""
    note: str = ""
    by: str = ""

    @property
    def who(self) -> dict[str, str]:
        """Who gave the answer, as far as it says so, as in the axes of documents."""
        return {axis: name for axis, name in (("variant", self.variant), ("model", self.model)) if name}


PlotFormat: TypeAlias = Literal["png", "svg"]
GroundTruthFormat: TypeAlias = Literal["auto", "wide", "long", "building_summary_csv", "cases"]
"""``cases``: the file of ``outputs`` holds both expected values and outputs, case by case."""


@dataclass(frozen=True, kw_only=True)
class EvalConfig(ConfigTable):
    """One entry of the manifest. Keys that are not listed here are metadata for the eval's page."""

    __pydantic_config__ = OPEN
    id: str
    name: str | None = None
    description: str = ""
    kind: Kind | None = None
    """If None, the kind that the name of the ground truth suggests, otherwise ``fields``."""
    dir: str | None = None
    """Default: ``<evals_dir>/<id>``."""
    ground_truth: str | None = None
    """Relative to ``dir``. Default: the first of the kind's conventional files that exists."""
    ground_truth_format: GroundTruthFormat = "auto"
    mapping: str | None = None
    """Relative to the repository. Default: the first of the site's mappings that exists."""
    schema: str | None = None
    """JSON Schema of the output, relative to the repository."""
    outputs: str = "auto"
    """``auto``, ``iterations``, the path of one overwritten file or folder, or a glob of runs; relative to ``dir``. In
    it, ``{model}``, ``{variant}``, ``{repeat}`` and ``{case}`` stand for who answered, in which repeat, and what."""
    instructions: tuple[str, ...] = ()
    """Globs of the instruction files that drive this eval. Default: all of them."""
    aliases: tuple[str, ...] = ()
    """Earlier names of the folder, and earlier paths with the same ending of the file that ``outputs`` names."""
    redact: tuple[str, ...] = ()
    """Globs of field paths whose values no file of the site may hold, in addition to those of the site."""
    thresholds: dict[str, float] = field(default_factory=dict)
    settings: str = "{}"
    """The kind's own settings as canonical JSON (sorted keys, no spaces)."""
    source: str | None = None
    """The documents that outputs were made from: the path of texts or pictures, relative to ``dir``. In it,
    ``{document}`` stands for the id of a document and ``{page}`` for the number of a page."""
    metadata: dict[str, str] = field(default_factory=dict)

    @property
    def earlier_outputs(self) -> tuple[str, ...]:
        """The aliases that are earlier paths of the file of outputs, relative to the repository."""
        ending = splitext(self.outputs)[1]
        return tuple(alias.strip("/") for alias in self.aliases if ending and splitext(alias)[1] == ending)

    @property
    def answered_in(self) -> str:
        """The glob of all files of outputs, if their paths name who answered; empty if ``outputs`` does not say so."""
        if not answerers_in(self.outputs):
            return ""
        glob = normpath(self.outputs.strip("/"))
        return glob if splitext(glob)[1] or basename(glob) == "**" else f"{glob}/**"

    @property
    def in_cases(self) -> bool:
        """Whether one file holds expected values and outputs: it is named as both, or its columns are only compared."""
        if self.outputs in ("auto", "iterations"):
            return False
        same = self.ground_truth is not None and normpath(self.ground_truth) == normpath(self.outputs)
        is_table = traits_of(self.kind).names_scores and self.ground_truth is None and splitext(self.outputs)[1]
        stated = json.loads(self.settings) if is_table and not self.answered_in else {}
        columns = stated["columns"] if isinstance(stated.get("columns"), dict) and "preset" not in stated else {}
        compares = {"expected", "output"} <= {*columns} and not {"score", "scores", "passed"} & {*columns}
        return same or compares or self.ground_truth_format == "cases"


def case_settings(settings: str) -> str | None:
    """Return the part of an eval's settings that defines the keys of a case, as JSON.

    None unless one file holds expected values and outputs.
    """
    if '"cases"' not in settings:  # asked of every eval at every commit
        return None
    stated = json.loads(settings)
    if not isinstance(stated, dict) or stated.get("ground_truth_format") != "cases":
        return None
    return json.dumps(stated.get("cases"), sort_keys=True)


@dataclass(frozen=True, kw_only=True)
class Manifest(ConfigTable):
    """``<evals_dir>/manifest.yaml``."""

    evals: tuple[EvalConfig, ...] = ()

    def entry(self, eval_id: str) -> EvalConfig:
        """Return the eval's entry, or defaults if the manifest does not name the eval."""
        return next((entry for entry in self.evals if entry.id == eval_id), EvalConfig(id=eval_id))


EVALUATION_FILE: Final = "evaluations/config/default_config.yaml"
"""The configuration of the evaluation of prompts, unless ``--config`` names another file."""


@dataclass(frozen=True, kw_only=True)
class MetricThresholds(ConfigTable):
    """The table ``metrics`` of an evaluation. None means not stated."""

    accuracy_threshold: float | None = None
    consistency_threshold: float | None = None
    quality_threshold: float | None = None
    rouge_l_threshold: float | None = None


@dataclass(frozen=True, kw_only=True)
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
