"""The file that holds the responses of one variant: read, added to so that nothing is lost, replaced as a whole.

While a command runs, each row goes into ``<name>.partial`` beside the file at once. When the command ends, the file is
replaced by one with all rows, ordered by case. After an interruption the next command starts from both.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any, TypeAlias

from sitegen.errors import ConfigurationError

Row: TypeAlias = dict[str, Any]
"""One response: ``case_id``, ``output`` or ``error``, ``model``, ``prompt``, ``quality``; other keys are kept."""


class ResponsesFile:
    """Rows by case. Use as a context manager: rows are added inside, and the file is replaced by ``finish``."""

    def __init__(self, path: Path, rows: dict[str, Row], order: Sequence[str]) -> None:
        self.path = path
        self.rows = rows
        self._order = order
        self._partial = partial_of(path)
        self._journal: IO[bytes] | None = None

    @classmethod
    def read(cls, path: Path, order: Sequence[str]) -> ResponsesFile:
        """The rows of the file, and of what an interrupted command left beside it. Raises ConfigurationError.

        The file will be written in the *order* of these cases; those of cases that are no more come last.
        """
        rows = [*_read(path, journal=False), *_read(partial_of(path), journal=True)]
        return cls(path, {row["case_id"]: row for row in rows}, order)

    def __enter__(self) -> ResponsesFile:
        if self._partial.exists():
            self._replace()  # the last line may be torn: never write behind it
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._journal is not None:
            self._journal.close()
            self._journal = None

    def add(self, row: Row) -> None:
        """Keep a row, in the place of an earlier one of its case. It survives whatever happens to this process."""
        if self._journal is None:
            self._journal = self._partial.open("ab")
        self.rows[row["case_id"]] = row
        self._journal.write(_line(row))
        self._journal.flush()

    def finish(self) -> None:
        """Replace the file, if a row was added."""
        if self._journal is not None:
            self._replace()

    def _replace(self) -> None:
        first = [self.rows[case] for case in self._order if case in self.rows]
        ordered = set(self._order)
        rows = [*first, *(row for case, row in self.rows.items() if case not in ordered)]
        self.path.parent.mkdir(parents=True, exist_ok=True)
        new = self.path.with_name(f"{self.path.name}.new")
        new.write_bytes(_content(rows, lines=self.path.suffix == ".jsonl"))
        os.replace(new, self.path)
        self._partial.unlink(missing_ok=True)


def partial_of(path: Path) -> Path:
    """Where rows are kept until a file is whole."""
    return path.with_name(f"{path.name}.partial")


def _content(rows: list[Row], *, lines: bool) -> bytes:
    if lines:
        return b"".join(map(_line, rows))
    return (json.dumps(rows, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")


def _line(row: Row) -> bytes:
    return (json.dumps(row, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")


def _read(path: Path, *, journal: bool) -> list[Row]:
    try:
        text = path.read_bytes().decode("utf-8-sig", "replace" if journal else "strict")
    except FileNotFoundError:
        return []
    except UnicodeDecodeError:
        raise ConfigurationError("The responses are not UTF-8.", where=str(path), fix="Save them as UTF-8.") from None
    if journal or path.suffix == ".jsonl":
        return _rows_of_lines(text, path, torn=journal)
    try:
        root = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _broken(str(path), str(error)) from None
    if isinstance(root, dict):
        root = root.get("responses")
    if not isinstance(root, list):
        raise _broken(str(path), "a list of objects is wanted")
    return [_row(each, f"{path}, response {number}") for number, each in enumerate(root, 1)]


def _rows_of_lines(text: str, path: Path, *, torn: bool) -> list[Row]:
    """The rows of a JSONL file; of a torn one, what follows the last line feed was never finished."""
    lines = text.split("\n")
    if torn:
        lines.pop()
    rows = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            rows.append(_row(json.loads(line), f"{path}:{number}"))
        except (ValueError, RecursionError) as error:
            raise _broken(f"{path}:{number}", str(error)) from None
    return rows


def _row(value: Any, where: str) -> Row:
    if not isinstance(value, dict) or not isinstance(value.get("case_id"), str | int):
        raise _broken(where, "an object with a 'case_id' is wanted")
    return {**value, "case_id": str(value["case_id"])}


def _broken(where: str, why: str) -> ConfigurationError:
    return ConfigurationError(
        f"The responses cannot be read, and would be lost: {why}.", where=where, fix="Correct or remove the file."
    )
