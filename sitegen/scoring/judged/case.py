"""A judged case: the common form of the results of all tools, and what a format of results has to provide."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sitegen.frozen import Frozen
from sitegen.model.problems import Finding
from sitegen.model.scorecards import FieldScore
from sitegen.model.usage import LONGEST, Call, canonical
from sitegen.model.usage import Usage as Usage
from sitegen.model.values import Value
from sitegen.stats.agreement import Ratings
from sitegen.stats.counts import mean
from sitegen.text.values import short_digest


class Grader(Frozen):
    """The model that gave an opinion, as far as the file states it."""

    name: str = ""
    """Its name, and a digest of its prompt. Empty if neither is stated."""
    rubric: str = ""
    """The criteria for this case alone."""


class Opinion(Frozen):
    """The opinion of one judge (a grader, an assertion, a metric) on one case."""

    name: str
    score: float | None
    """0..1."""
    hits: tuple[str, ...] = ()
    misses: tuple[str, ...] = ()
    reasoning: str = ""
    counts: tuple[FieldScore, ...] = ()
    """The attribute is empty if the judge gives totals only."""
    details: Value = None
    """As in the file. None if there are none."""
    grader: Grader | None = None
    """None if the opinion is mechanical, or if nothing states that a model gave it."""


def grader_name(model: str, prompt: str) -> str:
    """Name a judge by its model, and by a digest of its prompt if that is stated."""
    return " ".join(filter(None, (model[:LONGEST], prompt and f"prompt {short_digest(prompt)}")))


class JudgedCase(Frozen):
    """One case of one variant, with everything that a format may state about it."""

    id: str
    """Identifies the case through history. Includes the variant if the run has several."""
    opinion: Opinion
    """The opinion of all judges together. Its counts are those in the ``details`` of the case itself."""
    judges: tuple[Opinion, ...]
    variant: str = ""
    """The prompt and the provider that answered. Empty if the file does not distinguish any."""
    passed: bool | None = None
    """None if the file does not state it, or if the case was skipped."""
    input: str = ""
    expected: str = ""
    output: str = ""
    error: str = ""
    """Why there is no answer, or no judgement of it. Empty if nothing failed."""
    model: str = ""
    parameters: Value = None
    """Parameters of the call, as they are in the file."""
    usage: Usage = Usage()
    verdicts: Ratings[bool] | None = None
    """Whether the answer is right. None unless the file states both."""

    @property
    def score(self) -> float | None:
        """The score in the file, else the mean of the judges' scores."""
        stated = self.opinion.score
        return mean(judge.score for judge in self.judges).value if stated is None else stated

    @property
    def call(self) -> Call:
        """The model that answered, and its usage."""
        return Call(self.usage, self.model, canonical(self.parameters), failed=bool(self.error))

    @property
    def opinions(self) -> tuple[Opinion, ...]:
        """All opinions that may hold counts."""
        return (self.opinion, *self.judges)


class JudgedRun(Frozen):
    """The statements of a file of results about the run that wrote it. Empty if it states nothing."""

    at: str = ""
    """ISO 8601."""
    commit: str = ""
    prompt_hashes: tuple[str, ...] = ()
    """As the tool computes them."""


class JudgedResults(Frozen):
    """The readable part of a file of results."""

    cases: tuple[JudgedCase, ...]
    findings: tuple[Finding, ...] = ()
    run: JudgedRun = JudgedRun()


HEAD: Final = 4096
"""Number of bytes at the beginning of a file that are passed to ``recognises``."""


class ResultFormat(Frozen):
    """A format of results. Its files are read from their bytes alone, without clock, disk or network."""

    name: str
    """The name in messages: ``promptfoo``."""
    recognises: Callable[[str, bytes], bool]
    """Whether a file is of this format, by the ending of its name (``json``, in lower case, or empty) and its first
    ``HEAD`` bytes. The rest of the path must not count: scorecards are stored by content and ending, so that a moved
    file is not scored again.
    """
    read: Callable[[bytes], JudgedResults]
    """Raises UnreadableError if nothing of the file can be read. Any other fault is a finding."""
