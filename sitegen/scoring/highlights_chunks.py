"""Reads chunks, from the ground truth, from a line of a log or from a raw run.

A file holds chunks, a chunk holds paragraphs, and a paragraph holds its highlights by category. Accepted shapes:

* a file: ``{"chunks": [...]}``, a bare list of chunks, ``{"paragraphs": [...]}``, a bare list of paragraphs, or an
  object of paragraphs by id, ``{"p-1": {"terms": [...]}}``; a line of a log: one chunk, or one paragraph;
* a chunk: ``{"chunkIndex": 0, "run_id": 1, "paragraphs": [...], "highlights": ...}``, where one of the last two
  suffices;
* ``highlights`` may be called ``expected`` in a ground truth and ``llm_output`` in an output, so that a file can hold
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

from collections.abc import Callable, Iterable
from typing import Final, Literal, NamedTuple, TypeAlias, TypeGuard

from sitegen.data_files.reading import UnreadableError
from sitegen.model.frozen import Frozen
from sitegen.model.outcomes import Value
from sitegen.model.problems import Finding
from sitegen.model.usage import Call, RunUsage, stated, stated_run
from sitegen.text.plain import normal_form
from sitegen.text.values import id_text

Highlights: TypeAlias = dict[str, dict[str, None]]
"""Category -> texts, which are the keys of a dictionary: a set in the order of the file."""

IDS: Final = ("id", "paragraphId", "paragraph_id")


class Paragraph(NamedTuple):
    """One paragraph."""

    id: str
    text: str
    """Empty if it is not recorded."""
    highlights: Highlights | None
    """None if the file does not state them, which in the ground truth means that the paragraph is not annotated (rule
    27)."""


class Paragraphs:
    """Collects paragraphs, and unites the highlights of those that occur several times (rule 27)."""

    def __init__(self, report: Callable[[str], None] = lambda message: None, keys: tuple[str, ...] = ()) -> None:
        """``keys``: the keys that may hold the highlights of a paragraph; the first one present counts."""
        self._report = report
        self._keys = keys
        self._texts: dict[str, str] = {}
        self._highlights: dict[str, Highlights | None] = {}

    def all(self) -> tuple[Paragraph, ...]:
        """Return all paragraphs, in the order of their first occurrence."""
        return tuple(Paragraph(name, self._texts[name], highlights) for name, highlights in self._highlights.items())

    def add(self, name: str, highlights: Highlights | None, text: str = "") -> None:
        """Add one occurrence of a paragraph. The first of several texts counts."""
        self._texts[name] = self._texts.get(name) or normal_form(text)
        by_category = self._highlights.setdefault(name, None)
        if highlights is not None:
            by_category = self._highlights[name] = {} if by_category is None else by_category
            for category, texts in highlights.items():
                by_category.setdefault(category, {}).update(texts)

    def listed(self, value: Value) -> None:
        """Add an item of a list of paragraphs: an id, or an object with an id."""
        name = normalised_id(first_stated(value, IDS)) if isinstance(value, dict) else normalised_id(value)
        if name is None:
            self._report("A paragraph has no id")
        else:
            self.named(name, value if isinstance(value, dict) else None)

    def named(self, name: str, value: Value) -> None:
        """Add a paragraph by its id: an object, its text, a list of its highlights, or nothing."""
        if isinstance(value, dict):
            text = value.get("text")
            if text is not None and not isinstance(text, str):
                self._report(f"The text of the paragraph {name[:80]!r} is not text")
            self.add(name, self._highlights_of(value, name), text if isinstance(text, str) else "")
        elif isinstance(value, list):
            self.add(name, self._by_category(value, name))
        else:
            self.add(name, None, value if isinstance(value, str) else "")

    def highlights(self, value: Value) -> None:
        """Add the highlights of a chunk, which state their paragraphs. Any list annotates all paragraphs."""
        if not isinstance(value, dict):
            items = self._list(value, "highlights")
            if isinstance(value, list):
                for name in tuple(self._highlights):
                    self.add(name, {})
            for item in items:
                self._item(item)
            return
        for key, below in value.items():
            name = normal_form(key).strip()
            if name in self._highlights or isinstance(below, dict):
                self.add(name, self._by_category(below, name))
                continue
            if len(self._highlights) == 1:  # the key is a category
                self.add(next(iter(self._highlights)), {normal_form(key): {}})
            for item in self._list(below, key):
                self._item({**(item if isinstance(item, dict) else {"text": item}), "category": key})

    def _item(self, value: Value) -> None:
        """Add a highlight of a chunk, which states its paragraph unless the chunk has only one."""
        name = normalised_id(first_stated(value, IDS)) if isinstance(value, dict) else None
        if name is None and len(self._highlights) == 1:
            name = next(iter(self._highlights))
        if name is None:
            self._report("A highlight does not say its paragraph")
        elif isinstance(value, dict):
            self.add(
                name, self._by_category([value], name) if "category" in value else self._highlights_of(value, name)
            )
        else:
            self._report(f"A highlight of {name[:80]!r} is not an object")

    def _highlights_of(self, value: dict[str, Value], name: str) -> Highlights | None:
        """Return the highlights of a paragraph's object: below their key, else in each of its lists."""
        key = next((key for key in self._keys if key in value), None)
        if key is not None:
            return self._by_category(value[key], name)
        direct: dict[str, Value] = {key: below for key, below in value.items() if isinstance(below, list)}
        return self._by_category(direct, name) if direct else None

    def _by_category(self, value: Value, name: str) -> Highlights | None:
        if value is None:
            return None
        by_category: Highlights = {normal_form(key): {} for key in value} if isinstance(value, dict) else {}
        stated: Iterable[tuple[Value, Value]] = (  # each highlight after its category
            ((key, highlight) for key, texts in value.items() for highlight in self._list(texts, key, name))
            if isinstance(value, dict)
            else (
                (highlight.get("category") if isinstance(highlight, dict) else None, highlight)
                for highlight in self._list(value, "highlights", name)
            )
        )
        for category, highlight in stated:
            if not isinstance(category, str):
                self._report(f"A highlight of {name[:80]!r} has no category")
                continue
            of_category = by_category.setdefault(normal_form(category), {})
            text = highlight.get("text") if isinstance(highlight, dict) else highlight
            if not isinstance(text, str):
                self._report(f"A highlight of {name[:80]!r} is not text")
            elif text.strip():
                of_category[normal_form(text)] = None
        return by_category

    def _list(self, value: Value, key: str, name: str = "") -> list[Value]:
        if isinstance(value, list):
            return value
        if value is not None:
            self._report(f"{key[:80]!r}{f' of {name[:80]!r}' if name else ''} is not a list")
        return []


def normalised_id(value: Value) -> str | None:
    """Return an id as text. None unless it is a whole number or a text that is not blank."""
    return normal_form(id_text(value)) or None


def first_stated(value: dict[str, Value], keys: tuple[str, ...]) -> Value:
    """Return the first value of these keys that is not null."""
    return next((value[key] for key in keys if value.get(key) is not None), None)


ReadSide: TypeAlias = Literal["output", "ground_truth"]

_INDEXES: Final = ("chunkIndex", "chunk_index", "chunk_id")
_RUNS: Final = ("run_id", "runId")
_SIDES: Final[dict[ReadSide, tuple[str, ...]]] = {
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


class ChunkReader:
    """Reads the values of one file, and collects findings about them."""

    def __init__(self, about: ReadSide) -> None:
        self.findings: list[Finding] = []
        self.beside: RunUsage | None = None
        """What the file states about all chunks, beside their list."""
        self._about: ReadSide = about
        self._keys = _SIDES[about]
        self._line: int | None = None

    def file(self, value: Value) -> tuple[Chunk, ...]:
        """Read the chunks of a whole file. Raises UnreadableError if it has another shape."""
        if isinstance(value, dict) and "chunks" in value:
            chunks = value["chunks"]
            self.beside = stated_run(value, value.get("metadata"))
            if not isinstance(chunks, dict | list):
                raise UnreadableError("'chunks' is not a list", _SHAPE)
            run = self._run(value)
            return tuple(self._chunk(below, run) for below in (chunks.values() if isinstance(chunks, dict) else chunks))
        if isinstance(value, list) and any(map(self._is_chunk, value)):
            return tuple(map(self._chunk, value))
        is_object = isinstance(value, dict) and not self._is_chunk(value) and first_stated(value, IDS) is None
        paragraphs = value.values() if isinstance(value, dict) and is_object else ()
        is_by_id = bool(paragraphs) and all(isinstance(paragraph, dict | list) for paragraph in paragraphs)
        return (self._chunk({"paragraphs": value}),) if isinstance(value, list) or is_by_id else (self.line(value),)

    def line(self, value: Value, line: int | None = None) -> Chunk:
        """Read the chunk of one line of a log. Raises UnreadableError if it has another shape."""
        self._line = line
        if self._is_chunk(value):
            return self._chunk(value)
        if not isinstance(value, dict) or first_stated(value, IDS) is None:
            raise UnreadableError("it has neither chunks nor paragraphs", _SHAPE, line)
        of_chunk: dict[str, Value] = {key: value[key] for key in (*_INDEXES, *_RUNS) if key in value}
        return self._chunk({**of_chunk, "paragraphs": [value]})

    def _chunk(self, value: Value, run: str | None = None) -> Chunk:
        if not isinstance(value, dict):
            self._report("A chunk is not an object")
            return Chunk(None, run, ())
        below = Paragraphs(self._report, self._keys)
        paragraphs = value.get("paragraphs")
        if isinstance(paragraphs, dict):
            for key, paragraph in paragraphs.items():
                below.named(normal_form(key).strip(), paragraph)
        elif isinstance(paragraphs, list):
            for paragraph in paragraphs:
                below.listed(paragraph)
        elif paragraphs is not None:
            self._report("'paragraphs' is not a list")
        below.highlights(first_stated(value, self._keys))
        number = first_stated(value, _INDEXES)
        own_run = self._run(value)
        return Chunk(
            number=number if isinstance(number, int | str) and not isinstance(number, bool) else None,
            run=run if own_run is None else own_run,
            paragraphs=below.all(),
            call=stated(value),
        )

    def _run(self, value: dict[str, Value]) -> str | None:
        run = first_stated(value, _RUNS)
        name = normalised_id(run)
        if run is not None and name is None:
            self._report("'run_id' is neither text nor a whole number")
        return name

    def _report(self, message: str) -> None:
        fix = f"Correct the {'output' if self._about == 'output' else 'ground truth'}."
        self.findings.append(Finding(severity="error", message=message, fix=fix, line=self._line, about=self._about))

    def _is_chunk(self, value: Value) -> TypeGuard[dict[str, Value]]:
        if not isinstance(value, dict):
            return False
        return "paragraphs" in value or (any(key in value for key in self._keys) and first_stated(value, IDS) is None)
