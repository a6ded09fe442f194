"""Tells who answered: from the path of an output's file, and by which name an answer goes through a series.

Of ``results/{model}/`` each model has a folder.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from sitegen.config.findings import ANSWERED_IN
from sitegen.importers.case import document_of
from sitegen.importers.tool_values import unique
from sitegen.model.frozen import grouped
from sitegen.model.scorecards import ANSWERERS, DocumentScore, Scorecard
from sitegen.model.timeline import Blob
from sitegen.scoring.kinds import File
from sitegen.text.globs import answerers_in, compiled


class Answerer(NamedTuple):
    """Who answered, and in which repeat; the names are empty if no path tells."""

    variant: str = ""
    model: str = ""
    repeat: str = ""

    @property
    def axes(self) -> dict[str, str]:
        """The axes of its answers: repeats are compared with nothing."""
        return {axis: value for axis, value in zip(ANSWERERS, self, strict=False) if value}


@lru_cache(maxsize=64)
def glob_of_answers(settings: str) -> str:
    """Return the glob that ends the paths of outputs and says where they name who answered; empty if none does."""
    stated = json.loads(settings) if ANSWERED_IN in settings else {}
    return str(stated.get(ANSWERED_IN, "")) if isinstance(stated, dict) else ""


def answer_in(path: str, glob: str) -> tuple[Answerer, str]:
    """Return who answered in a file, and its case, or the rest of its path behind it if the glob leaves this open."""
    parts = path.split("/")
    ends = ("/".join(parts[depth:]) for depth in range(len(parts) if glob else 0))
    match = next(filter(None, map(compiled((glob,)).fullmatch, ends)), None)
    if match is None:
        return Answerer(), ""
    named = dict(zip(answerers_in(glob), match.groups(), strict=True))
    case, who = named.pop("case", ""), Answerer(**named)
    rest = match.string[match.end(len(match.groups())) :] if "*" in glob.rpartition("}")[2] else ""
    return who, case or rest.rpartition(".")[0].strip("/-_. ")


def answerers_of(files: Iterable[Blob], settings: str) -> list[Answerer]:
    """Return who answered in each file of an output, as far as its path tells."""
    glob = glob_of_answers(settings)
    return [answer_in(file.path, glob)[0] if glob else Answerer() for file in files]


def files_of_each(files: Sequence[File], settings: str) -> list[tuple[Answerer, tuple[File, ...]]]:
    """Return the files of an output by who answered; all of them together if their paths do not tell."""
    glob = glob_of_answers(settings)
    groups = grouped((answer_in(file.path, glob)[0], file) for file in (files if glob else ()))
    return [(who, tuple(own)) for who, own in groups.items()] or [(Answerer(), tuple(files))]


_IN_NAMES: Final = ((), *((axis,) for axis in ANSWERERS), ANSWERERS)
"""The axes that the name of an answer may state."""


def axes_in_name(answer: DocumentScore) -> tuple[str, ...]:
    """Return the axes that the name of an answer states; none if it is made otherwise."""
    named = (document_of(answer.case, *(answer.axes.get(axis, "") for axis in axes)) for axes in _IN_NAMES)
    return next((axes for axes, name in zip(_IN_NAMES, named, strict=True) if name == answer.name), ())


def names_in_series(cards: Sequence[Scorecard]) -> list[dict[tuple[str, ...], str]]:
    """Return for each output of a series what its answers are called behind their case, by their variant and model.

    Names state the axes that tell answers apart in any of the outputs, so that an answer has one name whoever stands
    beside it. All are empty if no name states an axis.
    """
    who = [{tuple(each.axes.get(axis, "") for axis in ANSWERERS): each for each in card.documents} for card in cards]
    stated = {axis for of in who for each in of.values() for axis in axes_in_name(each)}
    parts = [
        _names_of_lines([sorted({values[place] for values in of}) if axis in stated else [] for of in who])
        for place, axis in enumerate(ANSWERERS)
    ]
    return [
        {each: document_of("", *(names.get(value, "") for names, value in zip(own, each, strict=True))) for each in of}
        if stated
        else {}
        for of, *own in zip(who, *parts, strict=True)
    ]


def _names_of_lines(outputs: Sequence[Sequence[str]]) -> list[dict[str, str]]:
    """Return what each output calls its values on an axis.

    If a value replaced another, and each was the only one of its output, both have one name, ``small then large``,
    unless they are beside each other in any output.
    """
    lines: list[dict[str, None]] = []
    line_of: dict[str, int] = {}  # the line of each value, until another one replaces it
    found: list[dict[str, int]] = []
    before: Sequence[str] = ()
    for values in outputs:
        if len(values) == len(before) == 1 and not any({*values, *before} <= {*each} for each in outputs):
            line_of[values[0]] = line_of.pop(before[0])
        for value in values:
            if line_of.setdefault(value, len(lines)) == len(lines):
                lines.append({})
            lines[line_of[value]][value] = None
        found.append({value: line_of[value] for value in values})
        before = values or before
    used = Counter[str]()
    ends = ([name for name in line if name] for line in lines)
    names = [unique(" then ".join(dict.fromkeys((*of[:1], *of[-1:]))), used) for of in ends]
    return [{value: names[line] for value, line in of.items()} for of in found]
