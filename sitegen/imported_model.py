"""The JSON Schema of a pydantic model, for ``sitegen init --schema``: the one place where code that is not ours runs.

It runs because the user names the model on the command line, once, from what they have installed. Nothing of a project
is imported: a build reads the file that was written, and never the model.
"""

from __future__ import annotations

import importlib
import json
import re
import site
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from sitegen.errors import ConfigurationError

_FORM: Final = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*):([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)")
_TOLERANCE: Final = "x-tolerance"
_SPELLED: Final = {"tolerance_percent": "percent", "tolerance_absolute": "absolute"}
"""Extra keys of a field that people write -> the key of the tolerance that is meant."""


class _LiesInProjectError(Exception):
    """A module was found inside the project."""


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
        with _nothing_of(project):
            model: Any = importlib.import_module(form[1])
            for part in form[2].split("."):
                model = getattr(model, part)
            schema = model.model_json_schema()
        text = json.dumps(_with_tolerances(schema), indent=2, ensure_ascii=False)
    except _LiesInProjectError as error:
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


@contextmanager
def _nothing_of(project: Path) -> Iterator[None]:
    """Imports see neither the current folder nor anything below the project but the environment that runs."""
    path, finders = sys.path[:], sys.meta_path[:]
    here = Path.cwd()
    sys.path[:] = [entry for entry in path if entry and Path(entry).resolve() != here]
    sys.meta_path[:] = [_Outside(project, finders)]
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path[:], sys.meta_path[:] = path, finders


class _Outside(MetaPathFinder):
    """Asks the finders that there are, and refuses what they find below the project."""

    def __init__(self, project: Path, finders: Sequence[Any]) -> None:
        self._project = project.resolve()
        self._finders = finders
        environment = {sys.prefix, sys.base_prefix, *site.getsitepackages(), site.getusersitepackages()}
        self._environment = tuple(Path(folder).resolve() for folder in environment)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of a module outside the project. Raises _LiesInProjectError for one inside."""
        for finder in self._finders:
            spec: ModuleSpec | None = finder.find_spec(fullname, path, target)
            if spec is not None:
                places = [spec.origin, *(spec.submodule_search_locations or ())]
                if any(place and self._is_inside(Path(place)) for place in places if place not in _NO_FILES):
                    raise _LiesInProjectError(f"The module {fullname}")
                return spec
        return None

    def _is_inside(self, place: Path) -> bool:
        resolved = place.resolve()
        return resolved.is_relative_to(self._project) and not any(
            resolved.is_relative_to(folder) for folder in self._environment
        )


_NO_FILES: Final = ("built-in", "frozen", "namespace")
