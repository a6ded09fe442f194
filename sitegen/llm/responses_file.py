"""The file with the responses of a variant, written so that an interruption loses nothing.

While a command runs, each row is appended to ``<name>.partial`` beside the file at once. When the command ends, a file
with all rows, ordered by case, replaces the old one. After an interruption, the next command reads both.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, TypeAlias

from sitegen.data_files.project_files import NotOpenedError, append_inside, read_inside, write_inside
from sitegen.errors import ConfigurationError
from sitegen.model.frozen import Frozen

LARGEST: Final = 1_000_000_000
"""The size of the largest file that is read, in bytes."""

ResponseRow: TypeAlias = dict[str, Any]
"""A response: ``case_id``, ``output`` or ``error``, ``model``, ``prompt``, usage, ``quality``, and any other keys."""


class Slot(Frozen):
    """The place of a response in a file, which may hold several responses for a case."""

    case_id: str
    number: int = 0

    def __str__(self) -> str:
        return f"{self.case_id} ({self.number + 1})" if self.number else self.case_id


class ResponsesFile:
    """Rows by slot, and a context manager in which rows are ``put`` and then ``finish`` is called."""

    def __init__(self, path: Path, rows: dict[Slot, ResponseRow], order: Sequence[str]) -> None:
        self.path = path
        self.rows = rows
        self._order = order
        self._partial = partial_of(path)
        self._journal: IO[bytes] | None = None

    @classmethod
    def read(cls, path: Path, order: Sequence[str]) -> ResponsesFile:
        """Read the file and the partial file of an interrupted command. Raises ConfigurationError.

        The file will be written in the *order* of these case ids; other cases come last.
        """
        return cls(path, {**_rows_by_slot(_read_rows(path)), **_read_journal(partial_of(path))}, order)

    def slots(self, case_id: str) -> tuple[Slot, ...]:
        """The slots of a case that are filled, or its first slot if there are none."""
        slots: list[Slot] = []
        while (slot := Slot(case_id, len(slots))) in self.rows:
            slots.append(slot)
        return tuple(slots) or (Slot(case_id),)

    def __enter__(self) -> ResponsesFile:
        if self._partial.exists():
            self._replace()  # its last line may be incomplete, so nothing may be appended to it
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._journal is not None:
            self._journal.close()
            self._journal = None

    def put(self, slot: Slot, row: ResponseRow) -> None:
        """Set the row of a slot and append it to the partial file, so that it survives the end of this process."""
        if self._journal is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._journal = append_inside(self._partial.parent, self._partial.name)
        self.rows[slot] = row
        self._journal.write(_json_line([slot.number, row]))
        self._journal.flush()

    def finish(self) -> None:
        """Replace the file if a row was put."""
        if self._journal is not None:
            self._replace()

    def _replace(self) -> None:
        positions = {case: place for place, case in enumerate(self._order)}
        slots = sorted(self.rows, key=lambda slot: positions.get(slot.case_id, len(positions)))
        rows = [self.rows[slot] for slot in slots]
        content = (
            b"".join(map(_json_line, rows))
            if self.path.suffix == ".jsonl"
            else f"{json.dumps(rows, indent=2, ensure_ascii=False)}\n".encode("utf-8", "backslashreplace")
        )
        write_inside(self.path.parent, self.path.name, content)
        self._partial.unlink(missing_ok=True)


def partial_of(path: Path) -> Path:
    """The file that holds rows until the command ends."""
    return path.with_name(f"{path.name}.partial")


def _json_line(value: ResponseRow | list[int | ResponseRow]) -> bytes:
    return (json.dumps(value, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")


def _rows_by_slot(rows: Iterable[ResponseRow]) -> dict[Slot, ResponseRow]:
    counts: Counter[str] = Counter()
    by_slot = {}
    for row in rows:
        case = row["case_id"]
        by_slot[Slot(case, counts[case])] = row
        counts[case] += 1
    return by_slot


def _read_rows(path: Path) -> list[ResponseRow]:
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
    return [_checked_row(response, f"{path}, response {number}") for number, response in enumerate(root, 1)]


def _read_journal(path: Path) -> dict[Slot, ResponseRow]:
    """The rows of a partial file; text after the last line feed is an incomplete row."""
    try:
        lines = read_inside(path.parent, path.name, LARGEST).split(b"\n")[:-1]
    except FileNotFoundError:
        return {}
    except NotOpenedError as error:
        raise _unreadable_responses(str(path), str(error.strerror)) from None
    by_slot = {}
    for line_number, line in enumerate(lines, 1):
        where = f"{path}:{line_number}"
        match _parsed_json(line.decode("utf-8", "replace"), where):
            case [int(number), row]:
                response = _checked_row(row, where)
                by_slot[Slot(response["case_id"], number)] = response
            case _:
                raise _unreadable_responses(where, "a number and a response are wanted")
    return by_slot


def _parsed_json(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _unreadable_responses(where, str(error)) from None


def _checked_row(value: Any, where: str) -> ResponseRow:
    case_id = value.get("case_id", value.get("id")) if isinstance(value, dict) else None
    if not isinstance(case_id, str | int):
        raise _unreadable_responses(where, "an object with a 'case_id' is wanted")
    return {**value, "case_id": str(case_id)}


def _unreadable_responses(where: str, why: str) -> ConfigurationError:
    return ConfigurationError(
        f"The responses cannot be read, and would be lost: {why}.", where=where, fix="Correct or remove the file."
    )
