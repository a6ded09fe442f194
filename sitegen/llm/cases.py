"""Reads the test cases of an eval of kind ``responses`` for filling in prompts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sitegen.errors import ConfigurationError, NothingToReportError
from sitegen.frozen import Frozen
from sitegen.model.values import MetadataEntry
from sitegen.project_files import LARGEST_FILE, read_file
from sitegen.scoring.responses.cases import are_anonymous


class PromptCase(Frozen):
    """One test case."""

    id: str
    input: str
    expected: str | None
    category: str
    metadata: tuple[MetadataEntry, ...]
    """Nested members have dotted names, ``a.b``."""

    def values(self) -> dict[str, str]:
        """Values of the placeholders of a prompt, without the expected text, which a prompt must not reveal."""
        metadata = {f"metadata.{name}": value for name, value in self.metadata}
        return {**metadata, "id": self.id, "input": self.input, "category": self.category}


def read_prompt_cases(file: Path) -> tuple[PromptCase, ...]:
    """The cases of ``test_cases.json``: a list, or an object with the list under ``test_cases`` or ``cases``.

    Raises NothingToReportError if there is no such file, ConfigurationError if a case cannot be asked.
    """
    try:
        cases_value = json.loads(read_file(file, LARGEST_FILE).decode("utf-8-sig"))
    except FileNotFoundError:
        raise NothingToReportError(
            "The eval has no test cases.", where=str(file), fix="Write a list of {id, input, expected, category}."
        ) from None
    except OSError as error:
        raise ConfigurationError(
            f"The test cases cannot be read: {error.strerror}.", where=str(file), fix="Put a regular file there."
        ) from None
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(
            f"The test cases are no JSON: {error}.", where=str(file), fix="Write valid JSON."
        ) from None
    if isinstance(cases_value, dict):
        cases_value = cases_value.get("test_cases", cases_value.get("cases"))
    if not isinstance(cases_value, list):
        raise ConfigurationError("The test cases are no list.", where=str(file), fix="Write a list of objects.")
    if are_anonymous(cases_value):
        cases_value = [{**value, "id": str(number)} for number, value in enumerate(cases_value, 1)]
    cases = tuple(_prompt_case(value, number, file) for number, value in enumerate(cases_value, 1))
    _refuse_twins(cases, file)
    return cases


def _prompt_case(value: Any, number: int, file: Path) -> PromptCase:
    if not isinstance(value, dict) or _case_text(value.get("id")) == "" or value.get("input") is None:
        raise ConfigurationError(f"Test case {number} has no id or no input.", where=str(file), fix="Give it both.")
    expected = value.get("expected")
    metadata = value.get("metadata")
    return PromptCase(
        id=_case_text(value["id"]),
        input=_case_text(value["input"]),
        expected=None if expected is None else _case_text(expected),
        category=_case_text(value.get("category")),
        metadata=tuple(_flat_metadata("", metadata)) if isinstance(metadata, dict) else (),
    )


def _flat_metadata(above: str, members: dict[str, Any]) -> Iterator[MetadataEntry]:
    for key, value in members.items():
        if isinstance(value, dict):
            yield from _flat_metadata(f"{above}{key}.", value)
        else:
            yield MetadataEntry(f"{above}{key}", _case_text(value))


def _case_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def _refuse_twins(cases: tuple[PromptCase, ...], file: Path) -> None:
    ids: set[str] = set()
    for case in cases:
        if case.id in ids:
            raise ConfigurationError(f"Two test cases have the id {case.id!r}.", where=str(file), fix="Rename one.")
        ids.add(case.id)
