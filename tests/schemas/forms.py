"""Which schemas follow from which types."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypedDict

from sitegen import schemas
from sitegen.config.models import KIND_FILES, EvalConfig, EvaluationConfig, SiteConfig
from sitegen.model.gate import SCHEMA as GATE
from sitegen.model.gate import GateReport
from sitegen.model.outcomes import ErrorType
from sitegen.pages.data.exports import BadgeEndpoint, IndexDocument, SeriesDocument
from sitegen.questions.comparison_files.prompts import SCHEMA as COMPARISON
from sitegen.questions.comparison_files.prompts import ComparisonDocument, EvaluationDocument, PromptsDocument
from sitegen.scoring.documents import HighlightsDocument, JudgedDocument, RecordedDocument
from sitegen.scoring.mapping import Mapping
from sitegen.scoring.responses.document import ResponsesDocument
from sitegen.scoring.results_file import FieldsDocument
from sitegen.stats.counts import averages, in_file_order
from tests.schemas.describe import Described, Schema, describe


class AggregateDocument(TypedDict):
    """The document ``aggregate.json``: one line for each saved iteration of an eval."""

    eval_id: str
    iterations: list[AggregateLine]


class AggregateLine(TypedDict):
    """One saved iteration, with each ratio of counts by its name. Kinds other than fields add metrics of their own."""

    iteration: int | None
    timestamp: str | None
    total_errors: int
    errors_by_type: dict[ErrorType, int]


FOLDER = Path(schemas.__file__).parent

WRITTEN: dict[str, tuple[str, type]] = {
    "eval-results": (FieldsDocument.form, FieldsDocument),
    "highlights-results": (HighlightsDocument.form, HighlightsDocument),
    "responses-results": (ResponsesDocument.form, ResponsesDocument),
    "judged-results": (JudgedDocument.form, JudgedDocument),
    "recorded-results": (RecordedDocument.form, RecordedDocument),
    "comparison": (COMPARISON, ComparisonDocument),
    "gate": (GATE, GateReport),
    "index": ("sitegen/index/1", IndexDocument),
}
"""Name -> what the document says of its own form, and its type."""

WITHOUT_FORM: dict[str, type] = {
    "evaluation": EvaluationDocument,
    "prompt-comparison": PromptsDocument,
    "badge": BadgeEndpoint,
}
"""Name -> the type of a document that does not name its form."""

NUMBER: Schema = {"type": ["number", "null"]}


def generated() -> dict[str, bytes]:
    """Every schema, by the name of its file."""
    made = {name: _written(form, model) for name, (form, model) in WRITTEN.items()}
    made |= {"series": _series(), "aggregate": _aggregate(), "all-results": _all_results()}
    made |= {name: describe(model, written=True) for name, model in WITHOUT_FORM.items()}
    made |= {"config": _config(), "manifest": _manifest(), "field-mapping": _mapping()}
    made["evaluation-config"] = describe(EvaluationConfig, written=False)
    return {f"{name}.schema.json": _bytes(name, made[name]) for name in made}


def _written(form: str, model: type) -> Described:
    schema, parts = describe(model, written=True)
    properties = {name: {"const": form} if name == "schema" else shape for name, shape in schema["properties"].items()}
    return Described({**schema, "properties": properties}, parts)


def _with_ratios(schema: Schema) -> Schema:
    """An object that has each ratio of counts as well."""
    ratios = {ratio.name: NUMBER for ratio in in_file_order()}
    return {**schema, "properties": {**schema["properties"], **ratios}, "required": [*schema["required"], *ratios]}


def _series() -> Described:
    whole, parts = _written("sitegen/series/1", SeriesDocument)
    parts["SeriesClock"] = _with_ratios(parts["SeriesClock"])
    parts["SeriesDelta"]["additionalProperties"] = NUMBER
    return Described(whole, parts)


def _aggregate() -> Described:
    whole, parts = describe(AggregateDocument, written=True)
    parts["AggregateLine"] = {**_with_ratios(parts["AggregateLine"]), "additionalProperties": NUMBER}
    return Described(whole, parts)


def _all_results() -> Described:
    """The results of each eval in the form of its kind, and the averages over them."""
    results = [{"$ref": f"urn:sitegen:{name}:1"} for name in WRITTEN if name.endswith("-results")]
    means = {
        "macro": "The mean over the evals in which it is defined.",
        "pooled": "From the counts of all evals together.",
    }
    described = {name: {**NUMBER, "description": means[name.partition("_")[0]]} for name in averages([])}
    evals = {"type": "array", "description": "The results of each eval, by its kind.", "items": {"oneOf": results}}
    properties = {"evals": evals, **described}
    about = "The newest output of every eval, scored now."
    return Described(
        {"type": "object", "description": about, "properties": properties, "required": list(properties)}, {}
    )


def _config() -> Described:
    return describe(SiteConfig, written=False)


def _manifest() -> Described:
    """An entry as it is written: mappings where the dataclass holds what was made of them, and keys of one's own."""
    entry, parts = describe(EvalConfig, written=False)
    texts = {"type": ["string", "array", "null"], "items": {"type": "string"}}
    properties: Schema = {
        **entry["properties"],
        "kind": {**entry["properties"]["kind"], "examples": [files.kind for files in KIND_FILES]},
        "instructions": {**entry["properties"]["instructions"], **texts},
        "aliases": {**entry["properties"]["aliases"], **texts},
        "thresholds": {
            "description": "Metric -> the least value wanted.",
            "type": ["object", "null"],
            "additionalProperties": {"type": "number"},
        },
        "settings": {"description": "The kind's own settings.", "type": ["object", "null"]},
    }
    for name in ("id", "metadata"):
        del properties[name]
    known: Schema = {"type": ["object", "null"], "description": entry["description"], "properties": properties}
    evals = {
        "description": "Id -> entry.",
        "type": ["object", "null"],
        "additionalProperties": {"$ref": "#/$defs/Entry"},
    }
    whole = {
        "type": "object",
        "description": "`<evals_dir>/manifest.yaml`.",
        "properties": {"version": {"type": ["string", "number"], "default": "2.0"}, "evals": evals},
        "additionalProperties": False,
    }
    return Described(whole, {**parts, "Entry": known})


def _mapping() -> Described:
    schema, parts = describe(Mapping, written=False)
    also = {**schema["properties"]["ignore"], "description": "Another name of `ignore`."}
    properties: Schema = {**schema["properties"], "non_extractable_fields": also}
    properties = {name: {"anyOf": [shape, {"type": "null"}]} for name, shape in properties.items()}
    tolerance = parts["Tolerance"]["properties"]["percent"]
    parts["ListSettings"]["properties"]["threshold"] = {**tolerance, "maximum": 1}
    return Described({**schema, "properties": properties}, parts)


def _bytes(name: str, made: Described) -> bytes:
    body: dict[str, Any] = {**schemas.head(name), **made.schema, **({"$defs": made.parts} if made.parts else {})}
    return json.dumps(body, indent=2, ensure_ascii=False).encode() + b"\n"
