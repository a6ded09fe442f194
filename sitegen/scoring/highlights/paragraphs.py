"""Reads paragraphs and their highlights, in the shapes that ``chunks`` documents."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import Final, NamedTuple, TypeAlias

from sitegen.model.values import Value

Highlights: TypeAlias = dict[str, dict[str, None]]
"""Category -> texts, which are the keys of a dictionary: a set in the order of the file."""

IDS: Final = ("id", "paragraphId", "paragraph_id")


class Paragraph(NamedTuple):
    """One paragraph."""

    id: str
    text: str
    """Empty if it is not recorded."""
    highlights: Highlights | None
    """None if the file does not state them, which in the gold standard means that the paragraph is not annotated (rule
    27)."""


class Paragraphs:
    """Collects paragraphs, and unites the highlights of those that occur several times (rule 27)."""

    def __init__(self, report: Callable[[str], None], keys: tuple[str, ...] = ("highlights",)) -> None:
        """*keys* are the keys that may hold the highlights of a paragraph; the first one present counts."""
        self._report = report
        self._keys = keys
        self._texts: dict[str, str] = {}
        self._highlights: dict[str, Highlights | None] = {}

    def all(self) -> tuple[Paragraph, ...]:
        """All paragraphs, in the order of their first occurrence."""
        return tuple(Paragraph(name, self._texts[name], highlights) for name, highlights in self._highlights.items())

    def add(self, name: str, highlights: Highlights | None, text: str = "") -> None:
        """Add one occurrence of a paragraph. The first of several texts counts."""
        self._texts[name] = self._texts.get(name) or nfc(text)
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
                self._report(f"The text of the paragraph {name[:80]!r} is no text")
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
            name = nfc(key).strip()
            if name in self._highlights or isinstance(below, dict):
                self.add(name, self._by_category(below, name))
            else:
                self._category(key, below)

    def _category(self, category: str, value: Value) -> None:
        """Add one category of a whole chunk."""
        if len(self._highlights) == 1:
            self.add(next(iter(self._highlights)), {nfc(category): {}})
        for item in self._list(value, category):
            self._item({**(item if isinstance(item, dict) else {"text": item}), "category": category})

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
            self._report(f"A highlight of {name[:80]!r} is no object")

    def _highlights_of(self, value: dict[str, Value], name: str) -> Highlights | None:
        """The highlights of a paragraph's object: below their key, else in each of its lists."""
        key = next((key for key in self._keys if key in value), None)
        if key is not None:
            return self._by_category(value[key], name)
        direct: dict[str, Value] = {key: below for key, below in value.items() if isinstance(below, list)}
        return self._by_category(direct, name) if direct else None

    def _by_category(self, value: Value, name: str) -> Highlights | None:
        if value is None:
            return None
        by_category: Highlights = {}
        if isinstance(value, dict):
            for key, texts in value.items():
                of_category = by_category.setdefault(nfc(key), {})
                for highlight in self._list(texts, key, name):
                    self._add_text(highlight, of_category, name)
            return by_category
        for highlight in self._list(value, "highlights", name):
            category = highlight.get("category") if isinstance(highlight, dict) else None
            if isinstance(category, str):
                self._add_text(highlight, by_category.setdefault(nfc(category), {}), name)
            else:
                self._report(f"A highlight of {name[:80]!r} has no category")
        return by_category

    def _add_text(self, value: Value, of_category: dict[str, None], name: str) -> None:
        text = value.get("text") if isinstance(value, dict) else value
        if not isinstance(text, str):
            self._report(f"A highlight of {name[:80]!r} is no text")
        elif text.strip():
            of_category[nfc(text)] = None

    def _list(self, value: Value, key: str, name: str = "") -> list[Value]:
        if isinstance(value, list):
            return value
        if value is not None:
            self._report(f"{key[:80]!r}{f' of {name[:80]!r}' if name else ''} is no list")
        return []


def normalised_id(value: Value) -> str | None:
    """Return an id as text. None unless it is a whole number or a text that is not blank."""
    if isinstance(value, str):
        return nfc(value).strip() or None
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None


def first_stated(value: dict[str, Value], keys: tuple[str, ...]) -> Value:
    """Return the first value of these keys that is not null."""
    return next((value[key] for key in keys if value.get(key) is not None), None)


def nfc(text: str) -> str:
    """Return the normal form C of a text. Texts, ids and categories are compared in this form (rule 26)."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)
