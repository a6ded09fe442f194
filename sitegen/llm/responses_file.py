"""The file that holds the responses of one variant: read, added to so that nothing is lost, replaced as a whole.

While a command runs, each row goes into ``<name>.partial`` beside the file at once. When the command ends, the file is
replaced by one with all rows, ordered by case. After an interruption the next command starts from both.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, NamedTuple, TypeAlias

from sitegen.errors import ConfigurationError
from sitegen.project_files import NotOpenedError, append_inside, read_inside, write_inside

LARGEST: Final = 1_000_000_000
"""Bytes of a file of responses."""

Row: TypeAlias = dict[str, Any]
"""One response: ``case_id``, ``output`` or ``error``, ``model``, ``prompt``, what it took, ``quality``; other keys are
kept."""


class Slot(NamedTuple):
    """Which response: a file may hold several of one case."""

    case_id: str
    number: int = 0

    def __str__(self) -> str:
        return f"{self.case_id} ({self.number + 1})" if self.number else self.case_id


class ResponsesFile:
    """Rows by case and number. Use as a context manager: ``put`` rows inside, then ``finish``."""

    def __init__(self, path: Path, rows: dict[Slot, Row], order: Sequence[str]) -> None:
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
        return cls(path, {**_rows_by_slot(_read_rows(path)), **_read_journal(partial_of(path))}, order)

    def slots(self, case_id: str) -> tuple[Slot, ...]:
        """The responses of a case; of one that has none, the first that it could have."""
        found: list[Slot] = []
        while (slot := Slot(case_id, len(found))) in self.rows:
            found.append(slot)
        return tuple(found) or (Slot(case_id),)

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

    def put(self, slot: Slot, row: Row) -> None:
        """Keep a row, in the place of an earlier one. It survives whatever happens to this process."""
        if self._journal is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._journal = append_inside(self._partial.parent, self._partial.name)
        self.rows[slot] = row
        self._journal.write(_json_line([slot.number, row]))
        self._journal.flush()

    def finish(self) -> None:
        """Replace the file, if a row was put."""
        if self._journal is not None:
            self._replace()

    def _replace(self) -> None:
        places = {case: place for place, case in enumerate(self._order)}
        slots = sorted(self.rows, key=lambda slot: places.get(slot.case_id, len(places)))
        rows = [self.rows[slot] for slot in slots]
        write_inside(self.path.parent, self.path.name, _responses_bytes(rows, lines=self.path.suffix == ".jsonl"))
        self._partial.unlink(missing_ok=True)


def partial_of(path: Path) -> Path:
    """Where rows are kept until a file is whole."""
    return path.with_name(f"{path.name}.partial")


def _responses_bytes(rows: list[Row], *, lines: bool) -> bytes:
    if lines:
        return b"".join(map(_json_line, rows))
    return (json.dumps(rows, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")


def _json_line(value: Row | list[int | Row]) -> bytes:
    return (json.dumps(value, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")


def _rows_by_slot(rows: Iterable[Row]) -> dict[Slot, Row]:
    seen: Counter[str] = Counter()
    found = {}
    for row in rows:
        case = row["case_id"]
        found[Slot(case, seen[case])] = row
        seen[case] += 1
    return found


def _read_rows(path: Path) -> list[Row]:
    try:
        text = read_inside(path.parent, path.name, LARGEST).decode("utf-8-sig")
    except FileNotFoundError:
        return []
    except NotOpenedError as error:
        raise _unreadable_responses(str(path), str(error.strerror)) from None
    except UnicodeDecodeError:
        raise ConfigurationError("The responses are not UTF-8.", where=str(path), fix="Save them as UTF-8.") from None
    if path.suffix == ".jsonl":
        lines = enumerate(text.split("\n"), 1)
        return [
            _checked_row(_parsed_json(line, where := f"{path}:{number}"), where)
            for number, line in lines
            if line.strip()
        ]
    root = _parsed_json(text, str(path))
    if isinstance(root, dict):
        root = root.get("responses")
    if not isinstance(root, list):
        raise _unreadable_responses(str(path), "a list of objects is wanted")
    return [_checked_row(each, f"{path}, response {number}") for number, each in enumerate(root, 1)]


def _read_journal(path: Path) -> dict[Slot, Row]:
    """What was kept; whatever follows the last line feed was never finished."""
    try:
        lines = read_inside(path.parent, path.name, LARGEST).split(b"\n")[:-1]
    except FileNotFoundError:
        return {}
    except NotOpenedError as error:
        raise _unreadable_responses(str(path), str(error.strerror)) from None
    found = {}
    for line_number, line in enumerate(lines, 1):
        where = f"{path}:{line_number}"
        match _parsed_json(line.decode("utf-8", "replace"), where):
            case [int(number), row]:
                kept = _checked_row(row, where)
                found[Slot(kept["case_id"], number)] = kept
            case _:
                raise _unreadable_responses(where, "a number and a response are wanted")
    return found


def _parsed_json(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _unreadable_responses(where, str(error)) from None


def _checked_row(value: Any, where: str) -> Row:
    case_id = value.get("case_id", value.get("id")) if isinstance(value, dict) else None
    if not isinstance(case_id, str | int):
        raise _unreadable_responses(where, "an object with a 'case_id' is wanted")
    return {**value, "case_id": str(case_id)}


def _unreadable_responses(where: str, why: str) -> ConfigurationError:
    return ConfigurationError(
        f"The responses cannot be read, and would be lost: {why}.", where=where, fix="Correct or remove the file."
    )
