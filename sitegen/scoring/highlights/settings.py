"""Reads the ``settings`` of an eval of highlights: categories, a range of paragraphs, a run (rules 27 and 28)."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from sitegen.model.frozen import Frozen
from sitegen.model.named_tuple import NamedTuple
from sitegen.model.problems import Parsed
from sitegen.model.values import Value
from sitegen.scoring.highlights.chunks import nfc, normalised_id
from sitegen.scoring.settings import read_keys, settings_finding

KEYS: Final = ("categories", "range", "run_id")

_RANGE: Final = re.compile(r"\s*([0-9]{1,18})\s*-\s*([0-9]{1,18})\s*")
_TRAILING: Final = re.compile(r"[0-9]+\Z")


class ParagraphRange(NamedTuple):
    """The trailing numbers of the ids of the first and the last paragraph, both inclusive."""

    first: int
    last: int


class Settings(Frozen):
    """The scope of an eval."""

    categories: tuple[str, ...] = ()
    """Empty for every category of either side."""
    range: ParagraphRange | None = None
    """None for every paragraph."""
    run: str | None = None
    """None for the newest run."""

    def has_category(self, category: str) -> bool:
        """Whether a category is in scope."""
        return not self.categories or category in self.categories

    def has_paragraph(self, name: str) -> bool:
        """Whether a paragraph is in scope. Ids without a trailing number are in no range."""
        if self.range is None:
            return True
        number = _TRAILING.search(name)
        if number is None or len(number[0].lstrip("0")) > 18:
            return False
        return self.range.first <= int(number[0].lstrip("0") or "0") <= self.range.last


@lru_cache(maxsize=64)
def read_settings(settings: str) -> Parsed[Settings]:
    """Read the canonical JSON of the settings. Whatever is invalid is left out and reported. Never raises."""
    stated, unknown = read_keys(settings, KEYS)
    findings = [*unknown]
    present = {key: value for key, value in stated.items() if value is not None}
    categories = _category_names(present["categories"]) if "categories" in present else ()
    span = _paragraph_range(present["range"]) if "range" in present else None
    run = normalised_id(present["run_id"]) if "run_id" in present else None
    if categories is None:
        findings.append(
            settings_finding("'categories' is not a list of names", 'Write a list such as ["terms", "concepts"].')
        )
    if "range" in present and span is None:
        findings.append(
            settings_finding("'range' does not go from a lower to a higher number", 'Write two numbers such as "1-8".')
        )
    if "run_id" in present and run is None:
        findings.append(
            settings_finding("'run_id' is neither text nor a whole number", "Write the id of a run of the log.")
        )
    return Parsed(Settings(categories or (), span, run), tuple(findings))


def _category_names(value: Value) -> tuple[str, ...] | None:
    if not isinstance(value, list) or not value:
        return None
    names = tuple(nfc(name) for name in value if isinstance(name, str))
    return names if len(names) == len(value) else None


def _paragraph_range(value: Value) -> ParagraphRange | None:
    match = _RANGE.fullmatch(value) if isinstance(value, str) else None
    if match is None or int(match[1]) > int(match[2]):
        return None
    return ParagraphRange(int(match[1]), int(match[2]))
