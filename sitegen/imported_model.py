"""Writes a pydantic model as JSON Schema for ``sitegen init --schema``.

This imports the module of the model, which the user names on the command line and has installed. Nothing of a project
is imported, and a build reads only the written file.
"""

from __future__ import annotations

import importlib
import json
import re
from pathlib import Path
from typing import Any, Final

from sitegen.errors import ConfigurationError
from sitegen.imports import ForbiddenModuleError, importing, outside

_FORM: Final = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*):([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)")
_TOLERANCE: Final = "x-tolerance"
_SPELLED: Final = {"tolerance_percent": "percent", "tolerance_absolute": "absolute"}
"""Extra keys that models use for a tolerance -> its key in ``x-tolerance``."""


def file_of(name: str) -> str:
    """The path of a model's schema: ``house.schemas:BuildingSpec`` -> ``schemas/building_spec.schema.json``."""
    last = name.rpartition(":")[2].rpartition(".")[2]
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", last)
    return f"schemas/{words.lower()}.schema.json"


def schema_of(name: str, project: Path) -> bytes:
    """The JSON Schema of ``package.module:Model``, imported from the installed environment.

    ``tolerance_percent`` and ``tolerance_absolute`` of a field become its ``x-tolerance``. Raises ConfigurationError
    if there is no such model, if it lies in the project, or if it cannot be imported.
    """
    form = _FORM.fullmatch(name)
    if form is None:
        raise ConfigurationError(f"{name!r} names no model.", fix="Write package.module:Model.")
    try:
        with importing(allowed=outside(project)):
            model: Any = importlib.import_module(form[1])
            for part in form[2].split("."):
                model = getattr(model, part)
            schema = model.model_json_schema()
        text = json.dumps(_with_tolerances(schema), indent=2, ensure_ascii=False)
    except ForbiddenModuleError as error:
        raise ConfigurationError(
            f"{error} lies in the project, and nothing of a project is imported.",
            fix="Install the package, not as an editable one, and run this again; or write the schema by hand.",
        ) from None
    except (Exception, SystemExit) as error:
        problem = f"{name} cannot be imported as a pydantic model: {type(error).__name__}: {error}."
        fix = "Name a model of a package that is installed beside sitegen."
        raise ConfigurationError(problem, fix=fix) from None
    return f"{text}\n".encode()


def _with_tolerances(schema: Any) -> Any:
    """The schema with all tolerances under the key that sitegen reads."""
    if isinstance(schema, list):
        return [_with_tolerances(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    tolerances = {ours: schema[key] for key, ours in _SPELLED.items() if isinstance(schema.get(key), int | float)}
    rest = {key: _with_tolerances(below) for key, below in schema.items() if _SPELLED.get(key) not in tolerances}
    return {**rest, _TOLERANCE: tolerances} if tolerances and _TOLERANCE not in schema else rest
