"""Finds texts that look like secrets: keys, tokens and passwords with a recognisable form.

Entropy, or words such as "password", do not suffice, because pages are full of hashes, ids and prose about passwords.
One pass over a text searches for the beginnings of all forms, and only the text after these is examined closely.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from html import unescape
from typing import Final

from sitegen.model.frozen import Frozen
from sitegen.model.named_tuple import NamedTuple
from sitegen.text.secret_forms import FORMS, NAMED, Form

_INLINE: Final = re.compile(r"</?(?:a|abbr|b|code|del|em|i|ins|kbd|mark|s|small|span|strong|sub|sup|u|wbr)\b[^<>]*>")
"""Tags that do not divide words; all others do."""
_TAG: Final = re.compile(r"<[^<>]*>")
_BEFORE: Final = 300
"""The most characters before a head that may belong to the secret."""
_ESCAPE: Final = re.compile(r"(?:\\[nrtbf]|\\u[0-9a-fA-F]{4}|%[0-9a-fA-F]{2})\Z")
"""An escape sequence: a word can begin after it, although it ends with a letter or a digit."""
_LINE_END: Final = re.compile(r"(?:\\[nr]|\s)+")
_DISTINCT: Final = 3
"""The least number of different characters in a secret; ``xxxxxxxx`` is a placeholder."""


class Secret(NamedTuple):
    """The place of a text that looks like a secret, without the text itself."""

    line: int
    """From 1."""
    rule: str
    """Name of the rule that matched: ``GitHub Token``."""


class _Rule(Frozen):
    """A form with one of its heads."""

    name: str
    before: re.Pattern[str] | None
    after: re.Pattern[str]
    """The pattern of the secret from its head on."""


class Detector:
    """Searches texts for the known forms of secrets."""

    def __init__(self, allowed: Collection[str] = ()) -> None:
        """``allowed`` are whole texts that only look like secrets; a part of such a text allows nothing."""
        self._heads, self._rules = _compiled()
        self._allowed = frozenset(map(_bare, allowed))
        self.version = repr((FORMS, sorted(self._allowed)))
        """A description of everything that affects which texts are reported."""

    def search(self, text: str, *, markup: bool) -> tuple[Secret, ...]:
        """Return everything in a text that looks like a secret, by line.

        ``markup`` means HTML, whose readers see neither tags nor entities: its visible words are searched, and each tag
        separately.
        """
        if not markup:
            return tuple(sorted(set(self._search(text))))
        tags = dict.fromkeys(_TAG.findall(text))  # pages have many equal tags
        inside: set[Secret] = set()
        if any(True for _ in self._search(unescape("\n".join(tags)))):
            for tag in tags:
                above = text.count("\n", 0, text.index(tag))
                inside |= {Secret(above + line, rule) for line, rule in self._search(unescape(tag))}
        divided = any("\n" in tag for tag in tags)
        words = _TAG.sub(
            (lambda tag: _lines(tag) or " ") if divided else " ", _INLINE.sub(_lines if divided else "", text)
        )
        return tuple(sorted(inside | set(self._search(unescape(words)))))

    def _search(self, text: str) -> Iterator[Secret]:
        named: list[tuple[int, int]] = []
        matches: list[tuple[int, int]] = []
        for head in self._heads.finditer(text):
            for rule in self._rules[head[0]]:
                match = rule.after.match(text, head.start())
                start = _start(text, head.start(), rule.before) if match else None
                if match is None or start is None:
                    continue
                secret = match["secret"] if "secret" in rule.after.groupindex else text[start : match.end()]
                if len(set(text[start : head.start()] + match[0][len(head[0]) :])) < _DISTINCT:
                    continue
                (named if rule.name == NAMED else matches).append(match.span())
                if rule.name != NAMED and _bare(secret) not in self._allowed:
                    yield Secret(text.count("\n", 0, start) + 1, rule.name)
                elif rule.name == NAMED and _bare(secret) in self._allowed:
                    named.pop()
                break
        for start, end in named:  # a secret with a form of its own is reported under that form
            if not any(start < other_end and other_start < end for other_start, other_end in matches):
                yield Secret(text.count("\n", 0, start) + 1, NAMED)


def _lines(tag: re.Match[str]) -> str:
    """Return the line breaks inside a tag, so that later lines keep their numbers when the tag is removed."""
    return "\n" * tag[0].count("\n")


def _start(text: str, head: int, before: re.Pattern[str] | None) -> int | None:
    """Return the start of the secret with its head at a position; None if the text before the head does not fit."""
    window = text[max(0, head - _BEFORE) : head]
    if before is not None:
        match = before.search(window)
        return head - len(window) + match.start() if match else None
    inside = bool(window) and window[-1].isascii() and window[-1].isalnum()
    return None if inside and not _ESCAPE.search(window[-6:]) else head


def _bare(text: str) -> str:
    """Return a text without white space and line breaks, which pages and data files write differently."""
    return _LINE_END.sub("", text)


@cache
def _compiled() -> tuple[re.Pattern[str], dict[str, tuple[_Rule, ...]]]:
    """Return the pattern of all heads, and the rules of each head, most specific first."""
    heads = sorted({head for form in FORMS for head in form.heads}, key=len, reverse=True)
    by_head = {
        longest: tuple(
            _rule(form, head) for head in heads if longest.startswith(head) for form in FORMS if head in form.heads
        )
        for longest in heads
    }
    return re.compile(_tree(heads)), by_head


def _rule(form: Form, head: str) -> _Rule:
    before = re.compile(rf"(?:{form.before})\Z") if form.before else None
    return _Rule(form.name, before, re.compile(re.escape(head) + form.after))


def _tree(texts: Iterable[str]) -> str:
    """Return a pattern that matches the longest of the given texts and reads each character once."""
    below: dict[str, list[str]] = {}
    ends = False
    for text in texts:
        if text:
            below.setdefault(text[0], []).append(text[1:])
        else:
            ends = True
    branches = [re.escape(first) + _tree(rest) for first, rest in sorted(below.items())]
    if not branches:
        return ""
    if len(branches) == 1 and not ends:
        return branches[0]
    return f"(?:{'|'.join(branches)}){'?' if ends else ''}"
