"""The scorer of kind ``fields``: structured extractions against expected values, attribute by attribute."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Final, TypeAlias

from msgspec.structs import replace

from sitegen.data_files.reading import UnreadableError
from sitegen.importers.case import as_shares, document_of
from sitegen.model.frozen import grouped
from sitegen.model.metrics import Metric, Nouns
from sitegen.model.outcomes import EXTRA_ITEM, MISSING_ITEM, Judgement, Outcome, Value
from sitegen.model.problems import About, Finding, Parsed
from sitegen.model.scorecards import (
    ANSWERERS,
    AlignmentPanel,
    DocumentScore,
    FieldScore,
    NotePanel,
    Result,
    Scorecard,
    Status,
)
from sitegen.scoring.answerers import Answerer, files_of_each
from sitegen.scoring.answers import drawn
from sitegen.scoring.compare import doubt
from sitegen.scoring.compiled_truth import (
    Branch,
    CompiledTruth,
    ItemList,
    JudgedNode,
    Leaf,
    Node,
    forget,
    invalid_expected_value,
)
from sitegen.scoring.elsewhere import elsewhere, with_places
from sitegen.scoring.evidence import with_evidence, without_evidence
from sitegen.scoring.ground_truth import read_ground_truth
from sitegen.scoring.ground_truth.truth import GroundTruth, TruthDocument, located, truth_warning
from sitegen.scoring.kinds import File, Scorer, ScoringInputs, bounded_findings, content_of
from sitegen.scoring.lists import paired_items
from sitegen.scoring.mapping import Mapping
from sitegen.scoring.outputs import ReadOutput, keys_in_common
from sitegen.scoring.paths import ANY, ValuePlace, item_names, objects_of, project
from sitegen.scoring.results_file import METRICS
from sitegen.scoring.rules import FieldRules, compile_rules
from sitegen.scoring.values import is_same
from sitegen.stats import counts as stats
from sitegen.stats.confidence import auroc_metric
from sitegen.text.values import first_names

MAX_REMEMBERED: Final = 20_000
"""The most values of all compiled ground truths in the cache, which take about 40 MB: an eval seldom has more."""
_MOST_REMEMBERED: Final = 20_000
"""The most judgements of an output that are remembered for the next: untrusted outputs may have any number."""
_BLANK: Final = "expected blank"
_EXTRA: Final = "not in ground truth"
_NOT_AN_OBJECT: Final = "not an object"
_NOT_A_LIST: Final = "not a list of objects"
_UNNAMED: Final = "1"  # the case of a document without a name, which several answer
OutputOfEach: TypeAlias = Sequence[tuple[Answerer, ReadOutput]]
"""What each one who answered gave: one output, unless the paths of its files name several."""


class FieldsScorer:
    """Scores extractions. Ratios come from summed counts: ``f1`` is pooled, ``macro_f1`` is the documents' mean."""

    def __init__(self) -> None:
        self._truths: dict[tuple[str, bytes, FieldRules], CompiledTruth] = {}
        """Compiled ground truths by content, because many outputs of a history share one."""
        self._truth: tuple[tuple[str, bytes, Mapping], GroundTruth] | None = None
        """The ground truth that was read last, and how. It is never changed."""
        self._output: tuple[tuple[object, ...], OutputOfEach] | None = None
        """The output that was read last, and how. It is never changed."""

    def score(self, inputs: ScoringInputs) -> Result:
        """Score one output. Never raises on bad input, which becomes a status and findings."""
        rules, findings = rules_of(inputs)
        roles: tuple[tuple[About, File | None], ...] = (("mapping", inputs.mapping), ("schema", inputs.schema))
        missing = [
            Finding(
                severity="error",
                message=f"The {about} cannot be read, so that outputs are not scored: {file.reason}",
                fix=file.fix or "Commit it again.",
                about=about,
            )
            for about, file in roles
            if file is not None and file.content is None
        ]
        findings = (*missing, *findings)
        try:
            truth = self._compiled_truth(inputs.ground_truth, rules)
        except UnreadableError as error:
            return self._unscored(rules, (error.finding("The ground truth", about="ground_truth"), *findings))
        if missing:
            return self._unscored(rules, findings)  # by other rules, right values would be errors of the model
        return _FieldsScoring(truth, self._read(inputs, truth), findings).result()

    def documents(self, inputs: ScoringInputs) -> dict[str, dict[str, Value]]:
        """Return the documents of an output by their names on pages. Raises UnreadableError without a ground truth."""
        truth = self._compiled_truth(inputs.ground_truth, rules_of(inputs).value)
        return {
            document_of(name, *who): document
            for who, output in self._read(inputs, truth)
            for name, document in output.by_expected_names(truth.truth).items()
        }

    def _compiled_truth(self, file: File | None, rules: FieldRules) -> CompiledTruth:
        """Compile a ground truth file. Raises UnreadableError.

        Beyond ``MAX_REMEMBERED`` values the least recently used are dropped.
        """
        content = content_of(file, "the file is missing", "Add the ground truth.")
        suffix = file.path.rpartition(".")[2] if file else ""
        compiled = self._truths.pop((suffix, content, rules), None)
        if compiled is None:
            reading = suffix, content, rules.of_files
            if self._truth is None or self._truth[0] != reading:
                self._truth = reading, read_ground_truth(f"truth.{suffix}", content, rules.of_files)
            compiled = CompiledTruth(self._truth[1], rules)
            remembered = compiled.values + sum(truth.values for truth in self._truths.values())
            while remembered > MAX_REMEMBERED and self._truths:
                remembered -= self._truths.pop(next(iter(self._truths))).values
        self._truths[suffix, content, rules] = compiled  # the most recently used comes last
        return compiled

    def _read(self, inputs: ScoringInputs, compiled: CompiledTruth) -> OutputOfEach:
        """Read an output, or return the last one if it is asked for again: under the rules of today, for example."""
        truth, of_files = compiled.truth, compiled.rules.of_files
        groups = files_of_each(inputs.outputs, inputs.settings)
        reading = groups, of_files, len(truth.documents), truth.key, truth.files
        if self._output is None or self._output[0] != reading:
            self._output = reading, [(who, ReadOutput(files, of_files, truth)) for who, files in groups]
        return self._output[1]

    def _unscored(self, rules: FieldRules, findings: Sequence[Finding]) -> Result:
        result = SCORER.unscored(findings)
        return replace(result, scorecard=replace(result.scorecard, convention=rules.mapping.convention))


def rules_of(inputs: ScoringInputs) -> Parsed[FieldRules]:
    """Return the rules by which an output is scored, and the findings about their sources. Never raises.

    If nothing names the documents, a key that both sides have does, as if it were stated.
    """
    mapping, schema = (file.content if file else None for file in (inputs.mapping, inputs.schema))
    rules, findings = compile_rules(mapping, inputs.settings, schema)
    stated, truth = rules.mapping, inputs.ground_truth
    keys = [] if stated.documents or stated.id_column or not truth else keys_in_common(truth, inputs.outputs, stated)
    if not keys:
        return Parsed(rules, findings)
    (is_id, key), *others = keys
    paired = f"{'could be' if others else 'are'} paired by their {first_names([name for _, name in keys])}"
    fix = f"Write the right key into its entry in the manifest: `settings: {{documents: {{key: {key}}}}}`."
    said = [truth_warning(f"Rows without an 'id' {paired}", fix)] if others or not is_id else []
    settings = json.dumps({**json.loads(inputs.settings or "{}"), "documents": {"key": key}})
    return Parsed(rules if others else compile_rules(mapping, settings, schema).value, (*findings, *said))


def _field_metrics(documents: Sequence[DocumentScore], over_attributes: float | None = None) -> tuple[Metric, ...]:
    """Compute metrics from the counts of these documents; the mean over unknown attributes is undefined."""
    counts = stats.total(document.counts for document in documents)
    return (
        *(Metric(ratio.name, ratio.of(counts)) for ratio in (*stats.RATIOS, stats.FIELD_ACCURACY)),
        Metric("macro_f1", stats.mean(stats.f1(document.counts) for document in documents)),
        Metric("macro_f1_attributes", over_attributes),
        *_of_repeats(documents),
    )


def _of_repeats(documents: Sequence[DocumentScore]) -> Iterable[Metric]:
    """Return what repeats of documents show, over cases: one of which all values are right has passed."""
    groups = grouped(
        ((each.case, *(each.axes.get(axis, "") for axis in ANSWERERS)), not stats.errors(each.counts))
        for each in documents
        if each.repeat
    )
    k = min((len(passed) for passed in groups.values() if len(passed) > 1), default=0)
    chances: dict[str, dict[str, list[float]]] = {}
    for (case, *_), passed in groups.items():
        for name, chance in zip(stats.OF_DRAWS, drawn(len(passed), sum(passed), k), strict=False):
            chances.setdefault(name, {}).setdefault(case, []).append(chance)
    return (Metric(name, stats.mean_over_cases(of_cases)) for name, of_cases in chances.items())


SCORER: Final = Scorer(
    kind="fields", metrics=METRICS, nouns=Nouns(), score=FieldsScorer().score, metrics_for=_field_metrics
)


class _FieldsScoring:
    def __init__(self, truth: CompiledTruth, answers: OutputOfEach, findings: tuple[Finding, ...]) -> None:
        self._truth = truth
        self._answers = answers
        self._findings = [*findings, *truth.findings]
        for who, output in answers:
            of_output = [replace(each, file=each.file or output.file) for each in output.findings]
            self._findings += of_output if any(who) else output.findings
        self._judgements: list[Judgement] = []
        self._panels: list[AlignmentPanel] = []
        self._misplaced: list[str] = []
        """Expected values that the output has at another place."""

    def result(self) -> Result:
        roots = [self._roots(who, output) for who, output in self._answers]
        expected, rules = self._truth.truth, self._truth.rules
        convention = rules.mapping.convention
        every = [
            (document, branch, found.get(document.id), *answer)
            for document, branch in zip(expected.documents, self._truth.trees, strict=True)
            for answer, found in zip(self._answers, roots, strict=True)
        ]
        # Where a part of the output could not be fetched, the rest of it counts.
        at_hand = [each for each in every if each[2] is not None or not each[-1].lost & {"", each[0].id}]
        documents = [self._judged(*each) for each in at_hand or every]
        self._read_confidences()
        counts = stats.total(document.counts for document in documents)
        if len(self._judgements) > _MOST_REMEMBERED:
            for branch in self._truth.trees:
                forget(branch)
        by_attribute = stats.by_attribute(self._judgements, self._truth.attributes)
        fields = tuple(
            FieldScore(attribute, stats.tally(of_attribute, convention))
            for attribute, of_attribute in by_attribute.items()
            if of_attribute
        )
        self._findings[:0] = (*self._nothing_in_common(fields), *elsewhere(self._misplaced, counts.omission))
        without = sum(stats.f1(document.counts) is None for document in documents)
        by_field = [stats.f1(field.counts) for field in fields]
        readable = any(document.status == "scored" for document in documents)
        # A whole list with a format error is no expected value.
        whole_lists = [one.expected for one in self._judgements if one.outcome == "format_error"].count(None)
        scorecard = Scorecard(
            status="scored" if readable else "unreadable",
            counts=counts,
            metrics=(*_field_metrics(documents, stats.mean(by_field)), *auroc_metric(self._judgements)),
            documents=tuple(documents),
            fields=fields,
            findings=bounded_findings(self._findings),
            expected_values=counts.tp + counts.omission + counts.wrong_value + counts.format_error - whole_lists,
            algorithm=", ".join(sorted({panel.algorithm for panel in self._panels})),
            convention=convention,
        )
        means = (
            ("Macro F1", without, "1 document" if len(documents) == 1 else f"{len(documents)} documents"),
            ("Macro F1 over fields", by_field.count(None), "1 field" if len(fields) == 1 else f"{len(fields)} fields"),
        )
        notes = [
            NotePanel(f"{mean} leaves out {left_out} of {of_all}: nothing was expected or given there.")
            for mean, left_out, of_all in means
            if left_out
        ]
        return Result(scorecard=scorecard, judgements=tuple(self._judgements), panels=(*self._panels, *notes))

    def _read_confidences(self) -> None:
        """Turn the numbers that the output states for how sure it is of values into shares, all together."""
        places = [place for place, each in enumerate(self._judgements) if each.stated]
        stated = [self._judgements[place].stated[0] for place in places]
        shares, off = as_shares([number for number, _ in stated], "values")
        if off:
            self._findings.append(replace(off[1], path=self._judgements[places[off[0]]].path))
        for place, share, (_, is_right) in zip(places, shares, stated, strict=True):
            pairs = () if share is None else ((share, is_right),)
            self._judgements[place] = replace(self._judgements[place], stated=pairs)

    def _judged(
        self, document: TruthDocument, branch: Branch, root: dict[str, Value] | None, who: Answerer, output: ReadOutput
    ) -> DocumentScore:
        """Judge an answer to an expected document. ``root``: None if it is missing or cannot be read."""
        expected, rules = self._truth.truth, self._truth.rules
        name, judge = document.id, _Judge(document.id, rules)
        status: Status = "scored"
        if root is None:
            status = "unreadable"
            because = output.unreadable.get(name) or output.unreadable.get("") or "the document is missing"
            judge.omit(branch, because)
        else:
            key = expected.key
            stated = root if key is None else {k: v for k, v in root.items() if k != key}
            root = without_evidence(stated, self._truth) if output.has_evidence else stated
            judge.document(branch, root)
            if output.has_evidence:
                judge.judgements = with_evidence(judge.judgements, stated, judge.panels)
        text = output.text if len(expected.documents) == 1 else ""  # searching it for each takes longer
        judgements, pairs = with_places(judge.judgements, root or {}, text)
        panels: Sequence[AlignmentPanel] = judge.panels
        self._misplaced += pairs
        for finding in judge.findings:
            at = located(finding, document.lines) if finding.path else finding
            of_truth = finding.about == "ground_truth"
            file = expected.files.get(name, "") if of_truth else output.file if any(who) else at.file
            at = replace(at, file=file)
            if not of_truth or at not in self._findings:  # every answer shows what is wrong with an expected value
                self._findings.append(at)
        if any(who):
            name = document_of(name, *who)
            judgements = [replace(judgement, document=name) for judgement in judgements]
            panels = [replace(panel, document=name) for panel in panels]
        self._judgements += judgements
        self._panels += panels
        counts = stats.tally(judgements, rules.mapping.convention)
        of_case = document.id or _UNNAMED if any(who) else ""
        axes = {**self._truth.tags[document.id], **who.axes}
        return DocumentScore(name, status, counts, of_case=of_case, axes=axes, repeat=who.repeat)

    def _roots(self, who: Answerer, output: ReadOutput) -> dict[str, dict[str, Value]]:
        """Return the documents of an output by the names of the expected ones; report those without a counterpart."""
        truth = self._truth.truth
        names, actual, roots = truth.names, output.by_name(truth), output.by_expected_names(truth)
        of, file = (f"the output of {document_of('', *who)}", output.file) if any(who) else ("the output", "")
        if len(roots) == len(actual) == len(names):
            return roots
        if not roots and any(actual.values()):
            return {}  # no document is the expected one, which is reported once for all
        unexpected = [name for name in actual if name not in names and name not in truth.files]
        if unexpected:
            listed = first_names([name or "(without a name)" for name in unexpected], 20)
            number = len(unexpected)
            they = f"1 document of {of} is" if number == 1 else f"{number} documents of {of} are"
            message = f"{they} not in the ground truth and not scored: {listed}"
            finding = Finding.of_type("unexpected_documents", message, "Add them to the ground truth.")
            self._findings.append(replace(finding, file=file))
        if "" not in output.unreadable:
            for name in names:
                if name not in actual and name not in output.unreadable:
                    message = f"The document {name[:80]!r} is missing from {of}; each of its values is an omission"
                    finding = Finding.of_type("missing_document", message, "Make the output again.")
                    self._findings.append(replace(finding, file=file))
        return roots

    def _nothing_in_common(self, fields: Sequence[FieldScore]) -> Iterator[Finding]:
        """Yield a finding if both sides have values but no common field, as with a missing or wrong mapping."""
        if any(field.counts.tp or field.counts.wrong_value or field.counts.format_error for field in fields):
            return
        expected = [field.attribute for field in fields if field.counts.omission]
        actual = [field.attribute for field in fields if field.counts.hallucination]
        what, truth = "field", self._truth.truth
        _, output = self._answers[0]
        if not actual and output.documents and not output.by_expected_names(truth):
            what, expected = "document", [document.id for document in truth.documents]
            actual = list(output.documents)
            if len(actual) == 1:
                actual = [key for root in output.documents.values() for key in root]
            if expected == [""]:
                expected = [*truth.documents[0].root]
        if expected and actual and not {*expected} & {*actual}:
            sides = f"It has {first_names(actual, 8)}; the ground truth has {first_names(expected, 8)}"
            message = f"No {what} of the output is expected. {sides}"
            path = output.path_of_documents(truth)
            fix = "Map the columns to the fields of the output, in csv_to_json or by their names."
            if what == "document":
                fix = f"Name the documents by their {truth.key or 'id'!r}, or set `documents` in the mapping."
            if path:
                fix = f"Write `documents: {{path: {path}}}` into the mapping, which is where they are."
            yield Finding.of_type("nothing_in_common", message, fix)


class _Judge:
    """Judges one document: call ``document`` or ``omit`` once, then read the collected results."""

    __slots__ = ("_document", "_empty", "_rules", "findings", "judgements", "panels")

    def __init__(self, document: str, rules: FieldRules) -> None:
        self._document = document
        self._rules = rules
        self._empty = rules.empty
        self.judgements: list[Judgement] = []
        self.panels: list[AlignmentPanel] = []
        self.findings: list[Finding] = []

    def document(self, expected: Branch, actual: dict[str, Value], fields: tuple[tuple[str, ...], ...] = ()) -> None:
        """Judge a document that could be read, or an object inside it, of which only certain fields may count."""
        actual = project(actual, fields)
        members, judgements = expected.members, self.judgements
        for key, node in members.items():
            value = actual.get(key)
            # Most nodes are leaves, and most leaves are missing or exactly as expected, which needs no call.
            if type(node) is Leaf:
                if value is None:
                    judgements.append(node.missing)
                    continue
                if value is node.value or (type(value) is str and value == node.value):
                    judgements.append(node.same)
                    continue
            if node is not None:
                node.last = self._once(node.last, value, partial(self._node, node, value))
        if self._rules.mapping.extra_fields == "count":
            for key, value in actual.items():
                if key not in members:
                    self._extra(value, expected.place.member(key), _EXTRA)

    def _once(self, last: JudgedNode | None, actual: Value, judge: Callable[[], None]) -> JudgedNode:
        """Judge a value, or reuse the judgements of the value that was judged last at a node, if it is the same."""
        if last is not None and is_same(last.actual, actual):
            self.judgements += last.judgements
            self.panels += last.panels
            self.findings += last.findings
            return last
        before = len(self.judgements), len(self.panels), len(self.findings)
        judge()
        return JudgedNode(
            actual=actual,
            judgements=tuple(self.judgements[before[0] :]),
            panels=tuple(self.panels[before[1] :]),
            findings=tuple(self.findings[before[2] :]),
        )

    def _node(self, node: Leaf | Branch | ItemList, actual: Value) -> None:
        if isinstance(node, Leaf):
            self._leaf(node, actual)
            return
        if isinstance(node, ItemList):
            self._list(node, actual)
            return
        members = actual
        if node.by_index and isinstance(actual, list):
            members = {str(index): item for index, item in enumerate(actual) if str(index) in node.members}
        if isinstance(members, dict) and members:
            self.document(node, members)
            return
        self.omit(node, "", blanks=True)
        if not self._empty(members):
            self._add(node.place, "hallucination", None, actual, _NOT_AN_OBJECT)

    def _leaf(self, leaf: Leaf, actual: Value) -> None:
        is_empty = self._empty(actual)
        if leaf.compare is None and not is_empty:
            self._extra(actual, leaf.place, _BLANK)
            return
        outcome = leaf.missing.outcome if leaf.compare is None or is_empty else leaf.compare(actual)
        if outcome is None:  # nobody can tell what the expected value says of the output's: no error of the model
            why, fix = doubt(leaf.read)
            self.findings.append(invalid_expected_value(leaf.place, why, fix, repr(leaf.read)))
        else:
            self._add(leaf.place, outcome, leaf.value, actual)

    def _list(self, node: ItemList, actual: Value) -> None:
        if self._empty(actual):
            self.omit(node, MISSING_ITEM)
            return
        if not isinstance(actual, list):
            self._add(node.place, "format_error", None, actual, _NOT_A_LIST)
            self.omit(node, MISSING_ITEM)
            return
        non_objects = [item for item in actual if not isinstance(item, dict) and not self._empty(item)]
        if non_objects:
            verb = "is not an object" if len(non_objects) == 1 else "are not objects"
            note = f"{_NOT_A_LIST}: {len(non_objects)} of {len(actual)} items {verb}"
            self._add(node.place, "format_error", None, non_objects[0], note)
        items = [item for item in objects_of(actual) if not self._empty(item[1])]
        pairing = paired_items(node, items, self._document, self._rules)
        fields = node.rule.score_fields
        for position, item in enumerate(node.items):
            branch, value = item.branch, None
            judge = partial(self.omit, branch, MISSING_ITEM)
            if position in pairing.partners:
                value = items[pairing.partners[position]][1]
                judge = partial(self.document, branch, value, fields)
            branch.last = self._once(branch.last, value, judge)
        for position, name in pairing.unmatched.items():
            index, extra = items[position]
            counted = project(extra, fields)
            if self._rules.mapping.extra_fields == "ignore" and node.items:
                counted = {key: value for key, value in counted.items() if key in node.expected_keys}
            judge = partial(self._extra, counted, node.place.item(index, name), EXTRA_ITEM)
            node.extra[index] = self._once(node.extra.get(index), [name, extra], judge)
        self.findings += pairing.findings
        self.panels.append(pairing.panel)

    def omit(self, node: Node, note: str, *, blanks: bool = False) -> None:
        """Judge a node that the output lacks: its values are omissions; ``blanks``: its blanks are true negatives."""
        if isinstance(node, Leaf):
            if node.missing.outcome == "omission":
                self._add(node.place, "omission", node.value, None, note)
            elif blanks:
                self._add(node.place, "true_negative", node.value, None, note)
            return
        below: Iterable[Node] = ()
        if isinstance(node, Branch):
            below = node.members.values()
        elif node is not None:
            below = [item.branch for item in node.items]
            blanks, note = False, note or MISSING_ITEM
        for child in below:
            self.omit(child, note, blanks=blanks)

    def _extra(self, value: Value, place: ValuePlace, note: str) -> None:
        """Judge an unexpected value: each of its non-empty leaves in scope is a hallucination."""
        path, attribute, _ = place
        if self._rules.ignored(place):
            return
        if isinstance(value, dict):
            # An ignored pattern such as ``confidence.*`` may cover as many values as are judged.
            if not self._rules.ignored(ValuePlace(f"{path}[{ANY}]", f"{attribute}[]", "")):
                for key, below in value.items():
                    self._extra(below, place.member(key), note)
        elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
            non_objects = [item for item in value if not isinstance(item, dict) and not self._empty(item)]
            if non_objects:
                self._add(place, "hallucination", None, non_objects[0], note)
            items = objects_of(value)
            names = item_names(items, self._rules.list_rule(path).match_fields, of_output=True)
            for (index, item), name in zip(items, names, strict=True):
                self._extra(item, place.item(index, name), note)
        elif not self._empty(value):
            self._add(place, "hallucination", None, value, note)

    def _add(self, place: ValuePlace, outcome: Outcome, expected: Value, actual: Value, note: str = "") -> None:
        self.judgements.append(place.judgement(self._document, outcome, expected, actual, note))
