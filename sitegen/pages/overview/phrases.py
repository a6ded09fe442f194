"""Sentences whose parts link to their evidence."""

from __future__ import annotations

from collections.abc import Iterator

from sitegen.frozen import Frozen
from sitegen.model.metrics import MetricSpec
from sitegen.model.series import EvalSummary, Headline
from sitegen.pages import links


class Phrase(Frozen):
    """A part of a sentence: our words, or a name of the project."""

    text: str
    href: str = ""
    """Address of the page with the evidence, relative to the root of the site; empty without a link."""
    quoted: str = ""
    """For a name of the project, the text that files for programs quote in its place, such as the id of an eval."""


class Sentence(Frozen):
    """One sentence."""

    title: str
    phrases: tuple[Phrase, ...]
    good: bool = False
    """Whether it states that nothing is worse."""

    @property
    def text(self) -> str:
        """The sentence without links."""
        return "".join(phrase.text for phrase in self.phrases)


def metric_phrases(spec: MetricSpec) -> Iterator[Phrase]:
    """The name of a metric, which is the project's if runs recorded it."""
    yield Phrase(spec.label, "", spec.label if spec.recorded else "")


def eval_phrase(summary: EvalSummary) -> Phrase:
    """The name of an eval, with a link to its trend."""
    return Phrase(summary.info.name, links.eval_trend(summary.info.id), summary.info.id)


def output_phrase(summary: EvalSummary, at: Headline) -> Phrase:
    """The label of an output, with a link to its report."""
    return Phrase(at.label, links.report(summary.info.id, at.slug), at.label)
