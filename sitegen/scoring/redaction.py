"""Removes the values that a site must not show from a result, before anything else reads it. Numbers do not change.

In doubt a glob hides more: the paths that it matches as a whole or at their end, and everything below them.
Texts whose paths are not known are removed altogether: the labels of list items, the answers of judged cases with the
names of those that are called by their input, and the panels of all kinds except ``fields``.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache, partial
from typing import Final

from msgspec.structs import replace

from sitegen.errors import ConfigurationError
from sitegen.model.answers import INPUT, AnsweredCase
from sitegen.model.metrics import Metric
from sitegen.model.outcomes import REDACTED, Judgement, Value
from sitegen.model.problems import Finding
from sitegen.model.scorecards import ANSWERERS, AlignmentPanel, NotePanel, Result, Scorecard
from sitegen.scoring.paths import PathError, PathStep, parse_path, pattern
from sitegen.text.values import short_digest

_INDEX: Final = r"\[[0-9]+\]|(?<=\.)[0-9]+(?=\.|\Z)"
_QUOTED: Final = r"""('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
_BEGINNING: Final = 40  # the characters of an input by which it is found in a name, which may be cut
_MAX_CACHED: Final = 20_000
"""The most paths whose answer is cached: the paths of an output are untrusted and may be any number."""


class Redaction:
    """Hides the values that the globs of an eval match."""

    def __init__(self, globs: tuple[str, ...]) -> None:
        """Raises ConfigurationError if a glob is not a field path."""
        try:
            self._patterns = tuple(map(pattern, globs))
        except PathError as error:
            raise ConfigurationError(
                f"In redact: {error}.", fix="Write a path such as 'customer.name' or 'people[*].phone'."
            ) from error
        self._indexed = any(pattern.indexed for pattern in self._patterns)
        self._hidden: dict[str, bool] = {}

    def applied(self, result: Result) -> Result:
        """Return the result without hidden values."""
        kind, card = result.scorecard.kind, result.scorecard
        names = _names_of_inputs(result.cases) if kind == "judged" else {}
        judgements = tuple(map(self._judgement, result.judgements))
        if kind == "highlights":
            judgements = tuple(_numbered_names(result.judgements, judgements))
        if card.specs:
            card = self._without_hidden_numbers(card)
        if kind == "judged":
            # Every attribute of a case has the same answers, and a judge's reason may quote them.
            judgements = tuple(
                replace(_without_values(each), note="", document=names.get(each.document, each.document))
                for each in judgements
            )
        if kind != "responses":
            documents = (
                replace(
                    each,
                    name=names.get(each.name, each.name),
                    of_case=names.get(each.of_case, each.of_case),
                    # A tag may be any text of the file.
                    axes={name: each.axes[name] for name in ANSWERERS if name in each.axes},
                )
                for each in card.documents
            )
            card = replace(card, documents=tuple(documents))
        panels = [panel for panel in result.panels if kind == "fields" or isinstance(panel, NotePanel)]
        is_less = len(panels) < len(result.panels) or bool(result.cases)
        for place, panel in enumerate(panels):
            if isinstance(panel, AlignmentPanel):
                rows = tuple(row._replace(label=REDACTED.literal) for row in panel.rows)
                panels[place] = replace(panel, rows=rows)
        return replace(
            result,
            scorecard=replace(card, findings=tuple(self._finding(finding, names) for finding in card.findings)),
            judgements=judgements,
            panels=(*panels, *[NotePanel("Texts of this eval are redacted.")] * is_less),
            data=type(result.data)() if isinstance(result.data, dict | list) else None,
            cases=tuple(map(partial(_without_texts, names), result.cases)),
            prompts={},
        )

    def _finding(self, finding: Finding, names: Iterable[str]) -> Finding:
        """Hide these names of cases, which are their inputs, where a finding quotes them, and a hidden value."""
        if quoted := {repr(name)[1:-1][:_BEGINNING] for name in names}:
            texts = re.split(_QUOTED, finding.message)
            said = "".join(REDACTED.literal if text[1:-1][:_BEGINNING] in quoted else text for text in texts)
            finding = replace(finding, message=said)
        # A value without a path may be a hidden one.
        is_hidden = finding.value and (not finding.path or self.hides(finding.path))
        return replace(finding, value=REDACTED.literal, paste="") if is_hidden else finding

    def _without_hidden_numbers(self, card: Scorecard) -> Scorecard:
        """Remove recorded numbers with hidden names: they are values of the project."""
        specs = tuple(spec for spec in card.specs if not self.hides(spec.name))
        names = {spec.name for spec in specs}
        metrics = tuple(metric for metric in card.metrics if metric.name in names)
        documents = tuple(
            replace(each, metrics=tuple(metric for metric in each.metrics if metric.name in names))
            for each in card.documents
        )
        metrics = metrics or tuple(Metric(name, None) for name, _ in card.metrics[:1])
        return replace(card, specs=specs, metrics=metrics, documents=documents)

    def _judgement(self, judgement: Judgement) -> Judgement:
        if judgement.named_path:
            judgement = replace(judgement, named_path="")
        if judgement.evidence:  # a quote may hold any value
            judgement = replace(judgement, evidence="")
        if self.hides(judgement.path if self._indexed else judgement.attribute):
            return _without_values(judgement)
        if not isinstance(judgement.expected, dict | list) and not isinstance(judgement.actual, dict | list):
            return judgement
        steps = parse_path(judgement.path)
        return replace(
            judgement, expected=self._cleaned(judgement.expected, steps), actual=self._cleaned(judgement.actual, steps)
        )

    def hides(self, key: str) -> bool:
        """Whether a value at a field path, or of an attribute, is hidden."""
        hidden = self._hidden.get(key)
        if hidden is None:
            try:
                hidden = self._hides(parse_path(key))
            except PathError:  # attributes of other kinds need not be paths; they are hidden to be safe
                hidden = True
            if len(self._hidden) >= _MAX_CACHED:
                self._hidden.clear()
            self._hidden[key] = hidden
        return hidden

    def _hides(self, steps: tuple[PathStep, ...]) -> bool:
        return any(
            pattern.matches(steps[:length]) or pattern.matches_end(steps[:length])
            for length in range(1, len(steps) + 1)
            for pattern in self._patterns
        )

    def _cleaned(self, value: Value, steps: tuple[PathStep, ...]) -> Value:
        if self._hides(steps):
            return REDACTED
        if isinstance(value, dict):
            return {key: self._cleaned(child, (*steps, key)) for key, child in value.items()}
        if isinstance(value, list):
            return [self._cleaned(child, (*steps, index)) for index, child in enumerate(value)]
        return value


def _names_of_inputs(cases: Iterable[AnsweredCase]) -> dict[str, str]:
    """Return a digest for each name of a case, or of an answer to it, that is its input or lists its variables."""
    names: dict[str, str] = {}
    for case in cases:
        asked = case.asked.get(INPUT, "")
        lines = [f"{name}={text}" for name, text in case.asked.items()]
        lines += re.sub(r"^([^:\n]+): ", r"\1=", asked, flags=re.MULTILINE).split("\n")
        inputs = (" ".join(text.split())[:_BEGINNING].strip() for text in (asked, *lines))
        if any(text and text in case.id for text in inputs):
            names[case.id] = f"case {short_digest(case.id)}"
            names |= {answer.document: names[case.id] + answer.document[len(case.id) :] for answer in case.answers}
    return names


def _without_texts(names: Mapping[str, str], case: AnsweredCase) -> AnsweredCase:
    """Return the case with who answered and passed, which its documents say too."""
    answers = (
        replace(
            answer,
            document=names.get(answer.document, answer.document),
            output="",
            error=answer.error and REDACTED.literal,
            judges=(),
            transcript=(),
        )
        for answer in case.answers
    )
    return replace(case, id=names.get(case.id, case.id), asked={}, expected="", answers=tuple(answers))


def _without_values(judgement: Judgement) -> Judgement:
    expected, actual = (None if side is None else REDACTED for side in (judgement.expected, judgement.actual))
    return replace(judgement, expected=expected, actual=actual)


def fits_any(glob: str, names: Iterable[str]) -> bool:
    """Whether a glob hides any of these attributes or field paths; an index in the glob matches any index.

    Raises ConfigurationError if the glob is not a field path.
    """
    loosened = Redaction((re.sub(_INDEX, lambda match: "[*]" if match[0].startswith("[") else "*", glob),))
    return any(map(loosened.hides, names))


@lru_cache(maxsize=64)
def redaction(globs: tuple[str, ...]) -> Redaction | None:
    """Return the redaction of globs; None if there are none. Raises ConfigurationError if one is not a field path."""
    return Redaction(globs) if globs else None


def _numbered_names(originals: Iterable[Judgement], redacted: Iterable[Judgement]) -> Iterator[Judgement]:
    """Replace the paths of hidden highlights, which quote their texts, by their numbers in the paragraph."""
    numbers: Counter[str] = Counter()
    for before, after in zip(originals, redacted, strict=True):
        if before is after:
            yield after
            continue
        place = f"{after.document}.{after.attribute}"
        yield replace(after, path=f"{place}[{numbers[place]}]")
        numbers[place] += 1
