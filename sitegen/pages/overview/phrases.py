"""Sentences whose parts link to their evidence."""

from __future__ import annotations

from collections.abc import Iterator

from sitegen.frozen import Frozen
from sitegen.model.metrics import MetricSpec
from sitegen.model.series import EvalSummary, Headline
from sitegen.pages import links


class Phrase(Frozen):
    """A part of a sentence: words of ours, or a name of the project."""

    text: str
    href: str = ""
    """The page with the evidence, from the root of the site; empty: no link."""
    quoted: str = ""
    """Of a name of the project: what a text for programs quotes in its place, such as the id of an eval."""


class Sentence(Frozen):
    """One sentence."""

    title: str
    phrases: tuple[Phrase, ...]
    good: bool = False
    """Whether it says that nothing is worse."""

    @property
    def text(self) -> str:
        """The sentence without links."""
        return "".join(phrase.text for phrase in self.phrases)


def metric_phrases(spec: MetricSpec) -> Iterator[Phrase]:
    """The name of a metric, which is the project's if runs recorded it."""
    yield Phrase(spec.label, "", spec.label if spec.recorded else "")


def eval_phrase(summary: EvalSummary) -> Phrase:
    """The name of an eval, with its trend."""
    return Phrase(summary.info.name, links.eval_trend(summary.info.id), summary.info.id)


def output_phrase(summary: EvalSummary, at: Headline) -> Phrase:
    """The label of an output, with its report."""
    return Phrase(at.label, links.report(summary.info.id, at.slug), at.label)
