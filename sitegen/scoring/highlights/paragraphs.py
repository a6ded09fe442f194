"""Paragraphs and their highlights, in any of the shapes that ``chunks`` documents."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import Final, NamedTuple, TypeAlias

from sitegen.model.values import Value

Highlights: TypeAlias = dict[str, dict[str, None]]
"""By category the texts, as the keys of a dictionary: a set that keeps the order of the file."""

IDS: Final = ("id", "paragraphId", "paragraph_id")


class Paragraph(NamedTuple):
    """One paragraph."""

    id: str
    text: str
    """Empty if it is not recorded."""
    highlights: Highlights | None
    """None: nothing is said of them. In the gold standard: the paragraph is not annotated (rule 27)."""


class Paragraphs:
    """Paragraphs as they are gathered; what is said of one more than once is united (rule 27)."""

    def __init__(self, report: Callable[[str], None], keys: tuple[str, ...] = ("highlights",)) -> None:
        """``keys``: those that may hold the highlights of a paragraph, the first that is there counts."""
        self._report = report
        self._keys = keys
        self._texts: dict[str, str] = {}
        self._highlights: dict[str, Highlights | None] = {}

    def all(self) -> tuple[Paragraph, ...]:
        """In the order in which they were first named."""
        return tuple(Paragraph(name, self._texts[name], highlights) for name, highlights in self._highlights.items())

    def add(self, name: str, highlights: Highlights | None, text: str = "") -> None:
        """Add what is said of a paragraph; of several texts the first counts."""
        self._texts[name] = self._texts.get(name) or nfc(text)
        by_category = self._highlights.setdefault(name, None)
        if highlights is not None:
            by_category = self._highlights[name] = {} if by_category is None else by_category
            for category, texts in highlights.items():
                by_category.setdefault(category, {}).update(texts)

    def listed(self, value: Value) -> None:
        """A member of a list of paragraphs: an id, or an object that has one."""
        name = normalised_id(first_stated(value, IDS)) if isinstance(value, dict) else normalised_id(value)
        if name is None:
            self._report("A paragraph has no id")
        else:
            self.named(name, value if isinstance(value, dict) else None)

    def named(self, name: str, value: Value) -> None:
        """A paragraph whose id is known: an object, its text, its highlights as a list, or nothing."""
        if isinstance(value, dict):
            text = value.get("text")
            if text is not None and not isinstance(text, str):
                self._report(f"The text of the paragraph {name[:80]!r} is no text")
            self.add(name, self._of(value, name), text if isinstance(text, str) else "")
        elif isinstance(value, list):
            self.add(name, self._by_category(value, name))
        else:
            self.add(name, None, value if isinstance(value, str) else "")

    def highlights(self, value: Value) -> None:
        """The highlights of a chunk, which say their paragraphs. A list, even an empty one, is about all of them."""
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
        """One category of a whole chunk."""
        if len(self._highlights) == 1:
            self.add(next(iter(self._highlights)), {nfc(category): {}})
        for item in self._list(value, category):
            self._item(
                {**item, "category": category} if isinstance(item, dict) else {"category": category, "text": item}
            )

    def _item(self, value: Value) -> None:
        """One of the highlights of a chunk: it says its paragraph, or the chunk has only one."""
        name = normalised_id(first_stated(value, IDS)) if isinstance(value, dict) else None
        if name is None and len(self._highlights) == 1:
            name = next(iter(self._highlights))
        if name is None:
            self._report("A highlight does not say its paragraph")
        elif isinstance(value, dict):
            self.add(name, self._by_category([value], name) if "category" in value else self._of(value, name))
        else:
            self._report(f"A highlight of {name[:80]!r} is no object")

    def _of(self, value: dict[str, Value], name: str) -> Highlights | None:
        """What a paragraph's object says: below the key of its highlights, or each of its lists."""
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
                    self._keep(highlight, of_category, name)
            return by_category
        for highlight in self._list(value, "highlights", name):
            category = highlight.get("category") if isinstance(highlight, dict) else None
            if isinstance(category, str):
                self._keep(highlight, by_category.setdefault(nfc(category), {}), name)
            else:
                self._report(f"A highlight of {name[:80]!r} has no category")
        return by_category

    def _keep(self, value: Value, of_category: dict[str, None], name: str) -> None:
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
    """An id as text; None if it is none: ids are texts that are not blank, and whole numbers."""
    if isinstance(value, str):
        return nfc(value).strip() or None
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None


def first_stated(value: dict[str, Value], keys: tuple[str, ...]) -> Value:
    """The first of the keys that says something."""
    return next((value[key] for key in keys if value.get(key) is not None), None)


def nfc(text: str) -> str:
    """The one form in which texts, ids and categories are compared (rule 26)."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)
