"""JSON Schemas (draft 2020-12) of every file that sitegen reads or writes, as files beside this one.

``make schemas`` makes them from the types of what is read and written; a test holds them to the files themselves.
"""

import json
from pathlib import Path
from typing import Final

from sitegen.errors import ConfigurationError

_DRAFT: Final = "https://json-schema.org/draft/2020-12/schema"

TITLES: Final = {
    "config": "sitegen.toml, or [tool.sitegen] of pyproject.toml",
    "manifest": "evals/manifest.yaml",
    "field-mapping": "field_mapping.yaml",
    "eval-results": "Results of kind fields: eval-results.json, evals/<id>/<iteration>.json",
    "highlights-results": "Results of kind highlights: eval-results.json, evals/<id>/<iteration>.json",
    "responses-results": "Results of kind responses: eval-results.json, evals/<id>/<iteration>.json",
    "evaluation": "One prompt on a file of test cases: respond --output, evaluation_1.json",
    "prompt-comparison": "Prompts compared by their files: comparison_results.json",
    "evaluation-config": "How prompts are evaluated: evaluations/config/default_config.yaml",
    "judged-results": "Results of kind judged: eval-results.json, evals/<id>/<iteration>.json",
    "recorded-results": "Results of kind recorded: evals/<id>/<iteration>.json",
    "all-results": "What sitegen verify-all --json writes",
    "aggregate": "aggregate.json",
    "comparison": "comparison_results.json",
    "gate": "What sitegen check --json writes",
    "index": "data/index.json",
    "badge": "badges/<id>.json",
    "series": "data/evals/<id>.json, and what sitegen history --json writes",
}
"""Name -> what it describes: first what is read, then what is written."""


def file_name(name: str) -> str:
    """Return the file of a schema, here and below ``data/schemas/`` of a site."""
    return f"{name}.schema.json"


def head(name: str) -> dict[str, str]:
    """Return the keys that every schema begins with."""
    return {"$schema": _DRAFT, "$id": f"urn:sitegen:{name}:1", "title": TITLES[name]}


def content(name: str) -> bytes:
    """Return a schema as a file, by its name in ``TITLES``."""
    return Path(__file__).with_name(file_name(name)).read_bytes()


def printed(name: str | None) -> bytes:
    """Return what ``sitegen schema`` prints: one schema as it is, or all of them as one object, by name.

    Raises ConfigurationError if there is no schema of that name.
    """
    if name is None:
        schemas = {title: json.loads(content(title)) for title in TITLES}
        return json.dumps(schemas, indent=2, ensure_ascii=False).encode() + b"\n"
    if name not in TITLES:
        raise ConfigurationError(f"There is no schema {name!r}.", fix=f"Use one of: {', '.join(TITLES)}.")
    return content(name)
