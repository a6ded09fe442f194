"""The JSON Schema of a pydantic model, for ``sitegen init --schema``.

The module that defines the model runs because the user names it on the command line, once, from what they have
installed. Nothing of a project is imported: a build reads the file that was written, and never the model.
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
"""Extra keys of a field that people write -> the key of the tolerance that is meant."""


def file_of(name: str) -> str:
    """Where the schema of a model goes: ``house.schemas:BuildingSpec`` -> ``schemas/building_spec.schema.json``."""
    last = name.rpartition(":")[2].rpartition(".")[2]
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", last)
    return f"schemas/{words.lower()}.schema.json"


def schema_of(name: str, project: Path) -> bytes:
    """The JSON Schema of ``package.module:Model``, which is imported from the installed environment.

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
        what = f"{name} cannot be imported as a pydantic model: {type(error).__name__}: {error}."
        fix = "Name a model of a package that is installed beside sitegen."
        raise ConfigurationError(what, fix=fix) from None
    return f"{text}\n".encode()


def _with_tolerances(schema: Any) -> Any:
    """The schema with every tolerance under the key that sitegen reads."""
    if isinstance(schema, list):
        return [_with_tolerances(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    spelled = {ours: schema[key] for key, ours in _SPELLED.items() if isinstance(schema.get(key), int | float)}
    kept = {key: _with_tolerances(below) for key, below in schema.items() if _SPELLED.get(key) not in spelled}
    return {**kept, _TOLERANCE: spelled} if spelled and _TOLERANCE not in schema else kept
