"""The scorer of kind ``fields``: structured extractions against expected values, attribute by attribute."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from sitegen.data_files.reading import UnreadableError
from sitegen.model.metrics import Convention, Counts, Metric, MetricSpec, Nouns
from sitegen.model.outcomes import Judgement, Value, changed_judgements
from sitegen.model.panels import AlignmentPanel, NotePanel
from sitegen.model.problems import About, Finding
from sitegen.model.scorecards import DocumentScore, FieldScore, Result, Scorecard, Status
from sitegen.scoring.compiled_truth import CompiledTruth, CompiledTruths
from sitegen.scoring.elsewhere import elsewhere, with_places
from sitegen.scoring.evidence import may_state_evidence, with_evidence, without_evidence
from sitegen.scoring.ground_truth.truth import located
from sitegen.scoring.judge import Judge
from sitegen.scoring.mapping import Mapping
from sitegen.scoring.outputs import ReadOutput, named_documents, path_of_documents, read_outputs
from sitegen.scoring.rules import FieldRules, RuleSources, compile_rules
from sitegen.scoring.scorer import File, ScoringInputs, bounded_findings, unscored_result
from sitegen.scoring.truth_tree import CountedField, forget
from sitegen.stats import counts as stats

METRICS: Final = (
    *(ratio.spec for ratio in (*stats.RATIOS, stats.FIELD_ACCURACY)),
    MetricSpec("macro_f1", "Macro F1", "The mean of the documents' F1."),
    MetricSpec("macro_f1_attributes", "Macro F1 over fields", "The mean of the F1 of each field."),
)

_MOST_REMEMBERED: Final = 20_000
"""The most judgements of an output that are remembered for the next: untrusted outputs may have any number."""


def rule_sources(inputs: ScoringInputs) -> RuleSources:
    """The files and settings that the rules of these inputs are compiled from."""
    return RuleSources(
        mapping=inputs.mapping.content if inputs.mapping else None,
        settings=inputs.settings,
        schema=inputs.schema.content if inputs.schema else None,
    )


class FieldsScorer:
    """Scores extractions. Ratios come from summed counts: ``f1`` is pooled, ``macro_f1`` is the documents' mean."""

    kind = "fields"
    version = 14
    metrics = METRICS
    nouns = Nouns()

    def __init__(self) -> None:
        self._truths = CompiledTruths()
        self._reading: tuple[tuple[File, ...], Mapping, int, str | None] | None = None
        self._output: ReadOutput | None = None
        """The output that was read last, and how. It is never changed."""

    def score(self, inputs: ScoringInputs) -> Result:
        """Score one output. Never raises on bad input, which becomes a status and findings."""
        sources = rule_sources(inputs)
        rules, findings = compile_rules(sources)
        findings = (*_missing_rules(inputs), *findings)
        try:
            truth = self._truths.compiled(inputs.ground_truth, sources)
        except UnreadableError as error:
            return _unscored(rules, (error.finding("The ground truth", about="ground_truth"), *findings))
        if any(file is not None and file.content is None for file in (inputs.mapping, inputs.schema)):
            return _unscored(rules, findings)  # by other rules, right values would be errors of the model
        output = self._read(inputs.outputs, rules.of_files, len(truth.documents), truth.key)
        has_evidence = may_state_evidence(inputs.outputs)
        return _FieldsScoring(rules, truth, output, findings, has_evidence=has_evidence).result()

    def _read(self, files: tuple[File, ...], mapping: Mapping, expected: int, key: str | None) -> ReadOutput:
        """Read an output, or return the last one if it is asked for again: under the rules of today, for example."""
        reading = files, mapping, expected, key
        if self._output is None or self._reading != reading:
            self._output, self._reading = read_outputs(files, mapping, expected=expected, key=key), reading
        return self._output

    def metrics_for(self, documents: Sequence[DocumentScore]) -> tuple[Metric, ...]:
        """Compute metrics from the counts of these documents; the mean over unknown attributes is undefined."""
        return _field_metrics(stats.total(document.counts for document in documents), documents, None)


def _unscored(rules: FieldRules, findings: Sequence[Finding]) -> Result:
    result = unscored_result(METRICS, findings)
    return replace(result, scorecard=replace(result.scorecard, convention=rules.mapping.convention))


def _missing_rules(inputs: ScoringInputs) -> Iterator[Finding]:
    """Yield an error for a mapping and for a schema whose content is missing."""
    roles: tuple[tuple[About, File | None], ...] = (("mapping", inputs.mapping), ("schema", inputs.schema))
    for about, file in roles:
        if file is not None and file.content is None:
            message = f"The {about} cannot be read, so that outputs are not scored: {file.reason}"
            yield Finding("error", message, file.fix or "Commit it again.", about=about)


def _field_metrics(
    counts: Counts, documents: Iterable[DocumentScore], over_attributes: float | None
) -> tuple[Metric, ...]:
    values = (
        *(stats.ratio(spec.name, counts) for spec in METRICS[:-2]),
        stats.mean(stats.f1(document.counts) for document in documents).value,
        over_attributes,
    )
    return tuple(Metric(spec.name, value) for spec, value in zip(METRICS, values, strict=True))


class _FieldsScoring:
    def __init__(
        self,
        rules: FieldRules,
        truth: CompiledTruth,
        output: ReadOutput,
        findings: tuple[Finding, ...],
        *,
        has_evidence: bool = False,
    ) -> None:
        """*has_evidence*: whether the output may state evidence, which is not scored."""
        self._has_evidence = has_evidence
        self._rules = rules
        self._truth = truth
        self._output = output
        self._findings = [*findings, *truth.findings, *output.findings]
        self._judgements: list[Judgement] = []
        self._panels: list[AlignmentPanel] = []

    def result(self) -> Result:
        roots = self._roots()
        text = self._output.text if len(self._truth.documents) == 1 else ""  # searching it for each takes longer
        documents: list[DocumentScore] = []
        misplaced: list[str] = []
        for name, branch, lines in self._truth.documents:
            judge = Judge(name, self._rules)
            status: Status = "scored"
            root = roots.get(name)
            if root is None:
                status = "unreadable"
                judge.unreadable(branch, self._reason(name))
            else:
                key = self._truth.key
                stated = root if key is None else {k: v for k, v in root.items() if k != key}
                root = stated
                if self._has_evidence:
                    root = without_evidence(root, frozenset(self._truth.attributes), self._truth.objects, self._rules)
                judge.document(branch, root)
                if root is not stated:
                    judge.judgements = with_evidence(judge.judgements, stated, judge.panels)
            judgements, pairs = with_places(judge.judgements, root or {}, text)
            misplaced += pairs
            documents.append(DocumentScore(name, status, stats.tally(judgements, self._convention)))
            self._judgements += judgements
            self._panels += judge.panels
            self._findings += [located(finding, lines) if finding.path else finding for finding in judge.findings]
        counts = stats.total(document.counts for document in documents)
        counted = self._fields()
        fields = tuple([field.score for field in counted])
        self._findings[:0] = (*self._nothing_in_common(counts, fields), *elsewhere(misplaced, counts.omission))
        without = sum(stats.f1(document.counts) is None for document in documents)
        macro_fields, fields_without = stats.mean([field.f1 for field in counted])
        readable = any(document.status == "scored" for document in documents)
        scorecard = Scorecard(
            status="scored" if readable else "unreadable",
            counts=counts,
            metrics=_field_metrics(counts, documents, macro_fields),
            documents=tuple(documents),
            fields=fields,
            findings=bounded_findings(self._findings),
            expected_values=_expected_values(self._judgements, counts),
            actual_values=counts.tp + counts.hallucination + counts.wrong_value + counts.format_error,
            algorithm=", ".join(sorted({panel.algorithm for panel in self._panels})),
            convention=self._convention,
        )
        notes = (
            *_left_out_note(without, len(documents), "document", "Macro F1"),
            *_left_out_note(fields_without, len(fields), "field", "Macro F1 over fields"),
        )
        return Result(
            scorecard=scorecard,
            judgements=tuple(self._judgements),
            panels=(*self._panels, *notes),
        )

    @property
    def _convention(self) -> Convention:
        return self._rules.mapping.convention

    def _roots(self) -> dict[str, dict[str, Value]]:
        """Return the documents of the output by the names of the expected ones; report those without a counterpart."""
        actual = _documents(self._truth, self._output)
        names = dict.fromkeys(document.id for document in self._truth.documents)
        roots = documents_by_expected_names(self._truth, self._output)
        if len(roots) == len(actual) == len(names):
            return roots
        if not roots and any(actual.values()):
            return {}  # no document is the expected one, which is reported once for all
        unexpected = [name for name in actual if name not in names]
        if unexpected:
            listed = ", ".join(name[:60] or "(without a name)" for name in unexpected[:20])
            number = len(unexpected)
            they = "1 document of the output is" if number == 1 else f"{number} documents of the output are"
            message = f"{they} not in the ground truth and not scored: {listed}"
            self._findings.append(Finding.of_type("unexpected_documents", message, "Add them to the ground truth."))
        if "" not in self._output.unreadable:
            for name in names:
                if name not in actual and name not in self._output.unreadable:
                    message = (
                        f"The document {name[:80]!r} is missing from the output; each of its values is an omission"
                    )
                    self._findings.append(Finding.of_type("missing_document", message, "Make the output again."))
        return roots

    def _reason(self, name: str) -> str:
        unreadable = self._output.unreadable
        return unreadable.get(name) or unreadable.get("") or "the document is missing"

    def _nothing_in_common(self, counts: Counts, fields: Iterable[FieldScore]) -> Iterator[Finding]:
        """Yield a finding if both sides have values but no common field, as with a missing or wrong mapping."""
        if counts.tp or counts.wrong_value or counts.format_error:
            return
        expected = [field.attribute for field in fields if field.counts.omission]
        actual = [field.attribute for field in fields if field.counts.hallucination]
        what = "field"
        if not actual and self._output.documents and not documents_by_expected_names(self._truth, self._output):
            what, expected = "document", [document.id for document in self._truth.documents]
            actual = list(self._output.documents)
            if len(actual) == 1:
                actual = [key for root in self._output.documents.values() for key in root]
        if expected and actual and not {*expected} & {*actual}:
            sides = f"It has {_first_names(actual)}; the ground truth has {_first_names(expected)}"
            message = f"No {what} of the output is expected. {sides}"
            path = path_of_documents(self._output, *_expected_documents(self._truth))
            fix = "Map the columns to the fields of the output, in csv_to_json or by their names."
            if what == "document":
                fix = f"Name the documents by their {self._truth.key or 'id'!r}, or set `documents` in the mapping."
            if path:
                fix = f"Write `documents: {{path: {path}}}` into the mapping, which is where they are."
            yield Finding.of_type("nothing_in_common", message, fix)

    def _fields(self) -> list[CountedField]:
        """Return the counts of each attribute.

        Only attributes with a judgement that the previous output lacks are counted anew.
        """
        before = self._truth.last
        new, gone = changed_judgements(before.judgements, self._judgements)
        changed: dict[str, list[Judgement]] = {judgement.attribute: [] for judgement in (*new, *gone)}
        for judgement in self._judgements if changed else ():
            if judgement.attribute in changed:
                changed[judgement.attribute].append(judgement)
        counted = before.fields.copy()
        for attribute, judgements in changed.items():
            if judgements:
                counts = stats.tally(judgements, self._convention)
                counted[attribute] = CountedField(FieldScore(attribute, counts), stats.f1(counts))
            else:
                del counted[attribute]
        names = [attribute for attribute in self._truth.attributes if attribute in counted]
        if len(names) < len(counted):
            names = list(dict.fromkeys((*names, *(judgement.attribute for judgement in self._judgements))))
        if len(self._judgements) > _MOST_REMEMBERED:
            before.judgements, before.fields = (), {}
            for document in self._truth.documents:
                forget(document.tree)
        else:
            before.judgements, before.fields = self._judgements, counted
        return [counted[name] for name in names]


def _documents(truth: CompiledTruth, output: ReadOutput) -> dict[str, dict[str, Value]]:
    return named_documents(output, *_expected_documents(truth))


def _expected_documents(truth: CompiledTruth) -> tuple[set[str], str | None, set[str]]:
    """The names of the expected documents, the key that names them, and their fields."""
    names = {document.id for document in truth.documents}
    return names, truth.key, {field for document in truth.documents for field in document.tree.members}


def documents_by_expected_names(truth: CompiledTruth, output: ReadOutput) -> dict[str, dict[str, Value]]:
    """Return the documents of an output that have a counterpart in the ground truth, by the counterpart's name.

    A single document belongs to the single expected one if either has no name.
    """
    names = dict.fromkeys(document.id for document in truth.documents)
    actual = _documents(truth, output)
    if len(names) == len(actual) == 1 and ("" in actual or "" in names):
        return {next(iter(names)): next(iter(actual.values()))}
    return {name: root for name, root in actual.items() if name in names}


def _first_names(attributes: Sequence[str]) -> str:
    names = ", ".join(name[:60] for name in attributes[:8])
    return f"{names} and {len(attributes) - 8} more" if len(attributes) > 8 else names


def _expected_values(judgements: list[Judgement], counts: Counts) -> int:
    """Return the number of expected values: right, wrong or omitted. A whole list with a format error is left out."""
    whole_lists = 0
    if counts.format_error:
        whole_lists = sum(
            judgement.outcome == "format_error" and judgement.expected is None for judgement in judgements
        )
    return counts.tp + counts.omission + counts.wrong_value + counts.format_error - whole_lists


def _left_out_note(left_out: int, total: int, noun: str, mean: str) -> list[NotePanel]:
    if not left_out:
        return []
    nouns = noun if total == 1 else f"{noun}s"
    return [NotePanel("note", f"{mean} leaves out {left_out} of {total} {nouns}: nothing was expected or given there.")]
