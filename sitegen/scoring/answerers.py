"""Tells from the path of an output's file who answered: of ``results/{model}/`` each model has a folder."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from sitegen.config.findings import ANSWERED_IN
from sitegen.model.frozen import grouped
from sitegen.model.scorecards import ANSWERERS
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
    return [answer_in(file.path, glob)[0] for file in files]


def files_of_each(files: Sequence[File], settings: str) -> list[tuple[Answerer, tuple[File, ...]]]:
    """Return the files of an output by who answered; all of them together if their paths do not tell."""
    glob = glob_of_answers(settings)
    groups = grouped((answer_in(file.path, glob)[0], file) for file in (files if glob else ()))
    return [(who, tuple(own)) for who, own in groups.items()] or [(Answerer(), tuple(files))]
