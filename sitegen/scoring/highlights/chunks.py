"""Reads chunks, from the gold standard, from a line of a log or from a raw run.

A file holds chunks, a chunk holds paragraphs, and a paragraph holds its highlights by category. Accepted shapes:

* a file: ``{"chunks": [...]}``, a bare list of chunks, ``{"paragraphs": [...]}``, a bare list of paragraphs, or an
  object of paragraphs by id, ``{"p-1": {"terms": [...]}}``; a line of a log: one chunk, or one paragraph;
* a chunk: ``{"chunkIndex": 0, "run_id": 1, "paragraphs": [...], "highlights": ...}``, where one of the last two
  suffices;
* ``highlights`` may be called ``expected`` in a gold standard and ``llm_output`` in an output, so that a file can hold
  both sides;
* ``paragraphs``: a list of ids and of objects, or an object of texts or objects by id;
* a paragraph: ``{"id": "p-1", "text": "...", "highlights": ...}``, or with its categories as direct members,
  ``{"id": "p-1", "terms": [...]}``, where every list is a category;
* ``highlights`` of a paragraph: ``{"terms": ["..."], "concepts": []}`` or ``[{"category": "terms", "text": "..."}]``;
* ``highlights`` of a chunk: either of these by id of the paragraph; or a list of objects with a ``paragraphId``; or by
  category, if each object states its paragraph or the chunk has only one;
* a text: ``"..."`` or ``{"text": "..."}``. Blank texts are ignored.

``id`` may be written ``paragraphId`` or ``paragraph_id``, ``chunkIndex`` ``chunk_index`` or ``chunk_id``, and
``run_id`` ``runId``. Ids and runs may be numbers. A chunk may state its model, tokens, cost and latency, and the object
around ``chunks`` those of all chunks. Other keys are ignored. Invalid values are reported, and the rest counts.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal, TypeAlias, TypeGuard

from sitegen.data_files.reading import UnreadableError
from sitegen.frozen import Frozen
from sitegen.model.problems import Finding
from sitegen.model.usage import Call, RunUsage, stated
from sitegen.model.values import Value
from sitegen.scoring.highlights.paragraphs import IDS, Paragraph, Paragraphs, first_stated, nfc, normalised_id

About: TypeAlias = Literal["output", "ground_truth"]

_INDEXES: Final = ("chunkIndex", "chunk_index", "chunk_id")
_RUNS: Final = ("run_id", "runId")
_SIDES: Final[dict[About, tuple[str, ...]]] = {
    "ground_truth": ("expected", "highlights"),
    "output": ("llm_output", "highlights"),
}
"""The keys that hold the highlights of a side, the more specific one first."""
_SHAPE: Final = 'Write {"chunks": [{"paragraphs": [{"id": "p-1", "highlights": {"terms": []}}]}]}.'


class Chunk(Frozen):
    """Paragraphs that the model received together."""

    number: int | str | None
    """``chunkIndex``."""
    run: str | None
    paragraphs: tuple[Paragraph, ...]
    call: Call = Call()
    """The model that marked them, and its usage."""


class ChunkReader:
    """Reads the values of one file, and collects findings about them."""

    def __init__(self, about: About) -> None:
        self.findings: list[Finding] = []
        self.beside: RunUsage | None = None
        """What the file states about all chunks, beside their list."""
        self._about: About = about
        self._keys = _SIDES[about]
        self._line: int | None = None

    def file(self, value: Value) -> tuple[Chunk, ...]:
        """Read the chunks of a whole file. Raises UnreadableError if it has another shape."""
        if isinstance(value, dict) and "chunks" in value:
            chunks = value["chunks"]
            self.beside = stated(value, value.get("metadata")).of_run
            if not isinstance(chunks, dict | list):
                raise UnreadableError("'chunks' is no list", _SHAPE)
            return self._chunks(chunks.values() if isinstance(chunks, dict) else chunks, self._run(value))
        if isinstance(value, list) and any(map(self._is_chunk, value)):
            return self._chunks(value, None)
        if isinstance(value, list) or self._is_by_id(value):
            return self._chunks(({"paragraphs": value},), None)
        return (self.line(value),)

    def line(self, value: Value, line: int | None = None) -> Chunk:
        """Read the chunk of one line of a log. Raises UnreadableError if it has another shape."""
        self._line = line
        if self._is_chunk(value):
            return self._chunk(value, None)
        if not isinstance(value, dict) or first_stated(value, IDS) is None:
            raise UnreadableError("it has neither chunks nor paragraphs", _SHAPE, line)
        of_chunk: dict[str, Value] = {key: value[key] for key in (*_INDEXES, *_RUNS) if key in value}
        return self._chunk({**of_chunk, "paragraphs": [value]}, None)

    def _chunks(self, values: Iterable[Value], run: str | None) -> tuple[Chunk, ...]:
        return tuple(self._chunk(value, run) for value in values)

    def _chunk(self, value: Value, run: str | None) -> Chunk:
        if not isinstance(value, dict):
            self._report("A chunk is no object")
            return Chunk(None, run, ())
        below = Paragraphs(self._report, self._keys)
        paragraphs = value.get("paragraphs")
        if isinstance(paragraphs, dict):
            for key, paragraph in paragraphs.items():
                below.named(nfc(key).strip(), paragraph)
        elif isinstance(paragraphs, list):
            for paragraph in paragraphs:
                below.listed(paragraph)
        elif paragraphs is not None:
            self._report("'paragraphs' is no list")
        below.highlights(first_stated(value, self._keys))
        number = first_stated(value, _INDEXES)
        own_run, call = self._run(value), stated(value)
        return Chunk(
            number=number if isinstance(number, int | str) and not isinstance(number, bool) else None,
            run=run if own_run is None else own_run,
            paragraphs=below.all(),
            call=Call(call.usage, call.model, call.parameters),
        )

    def _run(self, value: dict[str, Value]) -> str | None:
        run = first_stated(value, _RUNS)
        name = normalised_id(run)
        if run is not None and name is None:
            self._report("'run_id' is neither text nor a whole number")
        return name

    def _report(self, message: str) -> None:
        fix = f"Correct the {'output' if self._about == 'output' else 'gold standard'}."
        self.findings.append(Finding(severity="error", message=message, fix=fix, line=self._line, about=self._about))

    def _is_chunk(self, value: Value) -> TypeGuard[dict[str, Value]]:
        if not isinstance(value, dict):
            return False
        return "paragraphs" in value or (any(key in value for key in self._keys) and first_stated(value, IDS) is None)

    def _is_by_id(self, value: Value) -> bool:
        """Whether a file is an object of paragraphs by id."""
        if not isinstance(value, dict) or not value or self._is_chunk(value) or first_stated(value, IDS) is not None:
            return False
        return all(isinstance(paragraph, dict | list) for paragraph in value.values())
