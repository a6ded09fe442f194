"""The scorer of kind ``highlights``: compares texts that a model marked with the ground truth (rules 26 to 28).

``highlights_files`` reads whole files, selects a run and reads the settings; ``highlights_chunks`` reads the shapes in
these files.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Final

from msgspec.structs import replace

from sitegen.data_files.reading import LINES, UnreadableError, ending
from sitegen.model import scorecards
from sitegen.model.metrics import Metric, MetricSpec, Nouns
from sitegen.model.outcomes import Judgement, Outcome, Value
from sitegen.model.problems import Finding, Parsed
from sitegen.model.usage import RunUsage
from sitegen.scoring.highlights_chunks import Chunk, Paragraph
from sitegen.scoring.highlights_files import existing_runs, read_chunks, read_gold, read_settings, united_paragraphs
from sitegen.scoring.kinds import File, Scorer, ScoringInputs, bounded_findings, content_of
from sitegen.scoring.usage import missing_usage, run_usage, with_usage
from sitegen.stats import counts as stats
from sitegen.text.values import bounded_json, first_names

METRICS: Final = (
    MetricSpec(
        "accuracy",
        "Accuracy",
        "Correct / expected highlights, which is recall: undefined if none is expected, 1 if all is highlighted.",
    ),
    MetricSpec("precision", "Precision", "Correct / actual highlights, which accuracy does not take into account."),
    MetricSpec("f1", "F1", "2 × correct / (expected + actual), from the highlights of all paragraphs together."),
)

MAX_MARKS: Final = 2_000
"""The most highlights of one paragraph that are located in its text. Further ones are listed beside it."""

MAX_SEARCHED: Final = 100_000
"""The most characters of a paragraph that are searched. Without both bounds an output could make the search slow."""

_TRIES: Final = 50  # the most occurrences inside other words that are skipped

_LISTED: Final = 20  # names in a finding
_LONGEST: Final = 80  # the most characters of a text in the path of its judgement
_OUTCOMES: Final[dict[str, Outcome]] = {"correct": "correct", "missed": "omission", "wrong": "hallucination"}


def _score(inputs: ScoringInputs) -> scorecards.Result:
    """Score one output. Never raises on bad input: errors become a status and findings."""
    try:
        gold = read_gold(inputs.ground_truth)
    except UnreadableError as error:
        findings = read_settings(inputs.settings).findings
        return SCORER.unscored([error.finding("The ground truth", about="ground_truth"), *findings])
    return _HighlightsScoring(inputs, gold).result()


def _metrics_of(documents: Sequence[scorecards.DocumentScore]) -> tuple[Metric, ...]:
    counts = stats.total(document.counts for document in documents)
    return tuple(Metric(spec.name, stats.BY_NAME[spec.name].of(counts)) for spec in METRICS)


SCORER: Final = Scorer(
    kind="highlights",
    metrics=METRICS,
    nouns=Nouns(
        attribute="category",
        attributes="categories",
        document="paragraph",
        errors=("missed", "wrong", "", ""),
        letters=("M", "W", "", ""),
    ),
    score=_score,
    metrics_for=_metrics_of,
)
"""Compares two sets of exact texts for each paragraph and category (rule 26).

A document is a paragraph, a field is a category. A missed highlight is an omission, a wrong one a hallucination.
"""


class _HighlightsScoring:
    def __init__(self, inputs: ScoringInputs, gold: Parsed[tuple[Paragraph, ...]]) -> None:
        settings, findings = read_settings(inputs.settings)
        self._settings = settings
        self._findings = [*findings, *gold.findings]
        self._is_readable = False
        """False if nothing of the output can be read."""
        self._chunks: list[Chunk] = []
        """Those of the run that counts: of the run that was asked for, or of that of the last line."""
        self._beside: RunUsage | None = None
        """What the file states about the whole run, if it holds only this run."""
        self._read(inputs.outputs)
        paragraphs, self._repeated = united_paragraphs(self._chunks)
        self._actual = {paragraph.id: paragraph for paragraph in paragraphs}
        in_scope = [paragraph for paragraph in gold.value if settings.has_paragraph(paragraph.id)]
        self._annotated = [paragraph for paragraph in in_scope if paragraph.highlights is not None]
        annotated = {paragraph.id for paragraph in self._annotated}
        names = [*(paragraph.id for paragraph in in_scope), *filter(settings.has_paragraph, self._actual)]
        self._not_annotated = tuple(dict.fromkeys(name for name in names if name not in annotated))

    def _read(self, files: tuple[File, ...]) -> None:
        errors: list[Finding] = []
        findings: list[Finding] = []
        chunks: list[Chunk] = []
        for file in files or (File("", None),):
            try:
                content = content_of(file, "the output is missing", "Make the output again.")
                is_lines = ending(file.path) in LINES
                of_file, odd, self._beside = read_chunks(is_lines, content, "output")
            except UnreadableError as error:
                errors.append(error.finding("The output"))
            else:
                self._is_readable = True
                chunks += of_file
                findings += odd
        self._runs = tuple(dict.fromkeys(chunk.run for chunk in chunks))
        """Every run of the output, in the order of their first lines."""
        run = self._settings.run
        if self._is_readable and run is not None and run not in self._runs:
            no_run = UnreadableError(f"it has no run {run[:80]!r}", existing_runs(self._runs))
            errors.append(replace(no_run.finding("The output", about="settings"), path="run_id"))
            self._is_readable = False
        self._run = run if run is not None else (chunks[-1].run if chunks else None)
        """None if its lines state no run."""
        self._chunks = [chunk for chunk in chunks if chunk.run == self._run]
        if not len(self._runs) == len(files) == 1:
            self._beside = None
        self._findings += (*errors, *findings)

    def result(self) -> scorecards.Result:
        judgements: list[Judgement] = []
        documents: list[scorecards.DocumentScore] = []
        texts = []
        for paragraph in self._annotated:
            actual = self._actual.get(paragraph.id)
            highlights = list(self._compared(paragraph))
            of_paragraph = [
                Judgement(
                    document=paragraph.id,
                    # The path ends with the text, so that every text has one cell through history.
                    path=f"{paragraph.id}.{category}[{bounded_json(text, _LONGEST)}]",
                    attribute=category,
                    outcome=_OUTCOMES[outcome],
                    expected=None if outcome == "wrong" else text,
                    actual=None if outcome == "missed" else text,
                )
                for outcome, category, text in highlights
            ]
            status: scorecards.Status = "scored" if actual else "unreadable"
            documents.append(scorecards.DocumentScore(paragraph.id, status, stats.tally(of_paragraph)))
            texts.append(marked_text(paragraph.id, paragraph.text or (actual.text if actual else ""), highlights))
            judgements += of_paragraph
        counts = stats.total(document.counts for document in documents)
        self._report_comparison()
        annotated = chain.from_iterable(paragraph.highlights or {} for paragraph in self._annotated)
        categories = (*self._settings.categories, *filter(self._settings.has_category, annotated))
        by_category = stats.by_attribute(judgements, categories)
        fields = tuple(scorecards.FieldScore(category, stats.tally(judged)) for category, judged in by_category.items())
        spans = scorecards.SpansPanel(
            title="Highlights in the text",
            note="",
            categories=tuple(field.attribute for field in fields),
            texts=tuple(texts),
        )
        scorecard = scorecards.Scorecard(
            status="scored" if self._is_readable else "unreadable",
            counts=counts,
            metrics=_metrics_of(documents),
            documents=tuple(documents),
            fields=fields,
            findings=bounded_findings(self._findings),
            expected_values=counts.tp + counts.fn,
            kind="highlights",
        )
        data: Value = {"run_id": self._run, "not_annotated": list(self._not_annotated)}
        usage = run_usage([chunk.call for chunk in self._chunks], self._beside)
        notes = map(scorecards.NotePanel, self._notes())
        return scorecards.Result(with_usage(scorecard, usage), tuple(judgements), panels=(*notes, spans), data=data)

    def _compared(self, paragraph: Paragraph) -> Iterator[scorecards.Highlight]:
        """Yield the highlights of an annotated paragraph by category: the expected ones, then others that are given."""
        actual = self._actual.get(paragraph.id)
        expected, given = paragraph.highlights or {}, (actual.highlights or {}) if actual else {}
        for category in filter(self._settings.has_category, {**expected, **given}):
            texts_expected, texts_given = expected.get(category, {}), given.get(category, {})
            for text in texts_expected:
                yield "correct" if text in texts_given else "missed", category, text
            yield from (("wrong", category, text) for text in texts_given if text not in texts_expected)

    def _report_comparison(self) -> None:
        if self._repeated:
            message = f"{_paragraphs_are(self._repeated)} in more than one chunk, highlights united"
            fix = "Write each paragraph once."
            self._findings.append(Finding("note", f"{message}: {first_names(self._repeated, _LISTED)}", fix))
        missing = [paragraph.id for paragraph in self._annotated if paragraph.id not in self._actual]
        if missing and self._is_readable:
            message = f"{_paragraphs_are(missing)} missing from the output, all highlights missed"
            fix = "Make the output of them."
            self._findings.append(Finding("warning", f"{message}: {first_names(missing, _LISTED)}", fix))
        self._findings += missing_usage([chunk.call for chunk in self._chunks])
        if not self._annotated:
            finding = Finding("warning", "No annotated paragraph lies in the range", "Correct 'range'.")
            self._findings.append(replace(finding, about="settings", path="range"))

    def _notes(self) -> Iterator[str]:
        settings = self._settings
        if len(self._runs) > 1 and self._is_readable:
            reason = "that was asked for" if settings.run is not None else "the newest"
            run = f"The run {self._run[:80]!r}" if self._run is not None else "The run without an id"
            yield f"The output holds {len(self._runs)} runs. {run}, {reason}, counts."
        if settings.range:
            yield "Only paragraphs {} to {} are in scope.".format(*settings.range)
        if settings.categories:
            yield f"Only these categories are in scope: {first_names(settings.categories, _LISTED)}."
        if names := self._not_annotated:
            yield f"{_paragraphs_are(names)} not annotated, and not scored: {first_names(names, _LISTED)}."


def _paragraphs_are(names: Sequence[str]) -> str:
    return "1 paragraph is" if len(names) == 1 else f"{len(names)} paragraphs are"


def marked_text(name: str, text: str, highlights: Iterable[scorecards.Highlight]) -> scorecards.MarkedText:
    """Return a paragraph with its highlights, which may overlap. Those not in its text are listed beside it."""
    marks: list[scorecards.Mark] = []
    elsewhere: list[scorecards.Highlight] = []
    searched = text[:MAX_SEARCHED]
    for number, highlight in enumerate(highlights):
        outcome, category, words = highlight
        start = place_of_text(searched, words) if number < MAX_MARKS else -1
        if start < 0:
            elsewhere.append(highlight)
        else:
            marks.append(scorecards.Mark(start=start, end=start + len(words), outcome=outcome, category=category))
    marks.sort(key=lambda mark: (mark.start, mark.end))
    return scorecards.MarkedText(id=name, text=text, marks=tuple(marks), elsewhere=tuple(elsewhere))


def place_of_text(text: str, words: str) -> int:
    """Return the position of the first occurrence that is not inside another word, else of the first one, else -1."""
    first = start = text.find(words)
    for _ in range(_TRIES):
        end = start + len(words)
        is_cut_before = start > 0 and text[start - 1].isalnum() and text[start].isalnum()
        is_cut_after = end < len(text) and text[end].isalnum() and text[end - 1].isalnum()
        if start < 0 or not (is_cut_before or is_cut_after):
            break
        start = text.find(words, start + 1)
    else:
        return first
    return start if start >= 0 else first
