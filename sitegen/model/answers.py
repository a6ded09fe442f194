"""The answers of an output as pages show them: texts within bounds, by case."""

import re
from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

from sitegen.model.frozen import Frozen, replace
from sitegen.model.usage import Usage

DIFFERING: Final = re.compile(r'"?(?!(\d+) of \1 answers\b(?!, which differ))\d+ of \d+ answers(, which differ)?')
"""How the note of a case begins if its answers differ: how many are wrong. In a cell the first wrong one follows."""


class Turn(NamedTuple):
    """One entry of the transcript of an answer."""

    kind: Literal["message", "call", "result"]
    """A message; a call of a tool; what the tool returned."""
    name: str
    """The role that wrote the message, or the tool."""
    text: str
    """The message, the arguments or the result; what went wrong, if the tool failed."""
    failed: bool = False


class JudgeWords(NamedTuple):
    """What one judge said of an answer."""

    name: str
    """Empty for the opinion of all judges together."""
    score: float | None
    """0..1."""
    reasons: str
    """What it said, then what it found right and wrong, a line each."""
    details: str
    """Its details in the file as JSON; empty if there are none."""


class CaseAnswer(Frozen):
    """One answer to a case."""

    document: str
    """The document that it counts for. Repeats have the same."""
    variant: str
    model: str
    output: str
    error: str
    """Why there is no answer, or no judgement of it. Empty if nothing failed."""
    passed: float | None
    """The share of the answers that passed, if the file sums up several; None if no file states it."""
    score: float | None
    """0..1."""
    judges: tuple[JudgeWords, ...]
    usage: Usage
    transcript: tuple[Turn, ...] = ()

    @property
    def has_failed(self) -> bool:
        """Whether it did not pass, or is no answer."""
        return bool(self.error) or (self.passed is not None and self.passed < 1)


INPUT: Final = "Input"
"""The name of what the file calls the input of a case, beside the names of its variables."""


class AnsweredCase(Frozen):
    """A case with all of its answers in one output."""

    id: str
    asked: Mapping[str, str]
    """What was asked, by name: the input, the variables of the prompt, and what else the file says of the case."""
    expected: str
    answers: tuple[CaseAnswer, ...]
    """In the order of the file: by document, then repeats."""

    @property
    def question(self) -> str:
        """What was asked, as one text."""
        return self.asked.get(INPUT) or "\n".join(f"{name}: {text}" for name, text in self.asked.items())

    @property
    def said(self) -> list[CaseAnswer]:
        """What was answered, and what judges and people say of it, without what it took."""
        return [replace(answer, usage=Usage()) for answer in self.answers]
