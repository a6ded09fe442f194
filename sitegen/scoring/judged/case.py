"""One judged case, whatever tool wrote it: what every format of results is read into."""

from __future__ import annotations

from typing import NamedTuple

from sitegen.model.metrics import Counts
from sitegen.model.problems import Finding
from sitegen.model.usage import LONGEST, Call, canonical
from sitegen.model.usage import Usage as Usage
from sitegen.model.values import Value
from sitegen.stats.counts import mean
from sitegen.text.values import short_digest


class Grader(NamedTuple):
    """The model behind an opinion, as far as the file states it."""

    name: str = ""
    """Its name, and a digest of its prompt; empty if neither is stated."""
    rubric: str = ""
    """What it was asked of this case alone."""


class Opinion(NamedTuple):
    """What one judge (a grader, an assertion, a metric) says of one case."""

    name: str
    score: float | None
    """0..1."""
    hits: tuple[str, ...] = ()
    misses: tuple[str, ...] = ()
    reasoning: str = ""
    counts: tuple[tuple[str, Counts], ...] = ()
    """(attribute, counts); the attribute is empty where the judge gives totals alone."""
    details: Value = None
    """As they stand in the file; None without any."""
    grader: Grader | None = None
    """None: the opinion is mechanical, or nothing says that a model gave it."""


def grader_name(model: str, prompt: str) -> str:
    """How a judge is called: by its model, and by a digest of its prompt where that is stated."""
    return " ".join(filter(None, (model[:LONGEST], prompt and f"prompt {short_digest(prompt)}")))


class JudgedCase(NamedTuple):
    """One case of one variant, with everything that a format may say of it."""

    id: str
    """What names the case through history; with the variant, where the run has several."""
    opinion: Opinion
    """Of all judges together; its counts are those of ``details`` of the case itself."""
    judges: tuple[Opinion, ...]
    variant: str = ""
    """The prompt and the provider that answered; empty where the file tells none apart."""
    passed: bool | None = None
    """None: the file does not say, or the case was skipped."""
    input: str = ""
    expected: str = ""
    output: str = ""
    error: str = ""
    """Why there is no answer to judge, or no judgement; empty if nothing failed."""
    model: str = ""
    parameters: Value = None
    """Of the call, as they stand in the file."""
    usage: Usage = Usage()
    verdicts: tuple[bool, bool] | None = None
    """Whether the answer is right, by the judge and by a person; None unless the file states both."""

    @property
    def score(self) -> float | None:
        """As the file gives it, else the mean of its judges' scores."""
        return self.opinion.score if self.opinion.score is not None else mean(judge.score for judge in self.judges)[0]

    @property
    def call(self) -> Call:
        """Who answered, and what that took."""
        return Call(self.usage, self.model, canonical(self.parameters), failed=bool(self.error))

    @property
    def opinions(self) -> tuple[Opinion, ...]:
        """Everyone who may have counted."""
        return (self.opinion, *self.judges)


class JudgedRun(NamedTuple):
    """What a file of results states about the run that wrote it; empty where it does not."""

    tool: str = ""
    version: str = ""
    """Of the tool."""
    at: str = ""
    """ISO 8601."""
    commit: str = ""
    prompts: tuple[tuple[str, str], ...] = ()
    """(name, hash) of each prompt, as the tool computes it."""


class JudgedResults(NamedTuple):
    """What could be read of a file of results."""

    cases: tuple[JudgedCase, ...]
    findings: tuple[Finding, ...] = ()
    run: JudgedRun = JudgedRun()
