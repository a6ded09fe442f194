"""How evals changed across an edit or a commit: the tables of ``macros/edits.html``, with the verdict on each eval.

Also the role that each path of a commit has for the site.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal, TypeAlias

from markupsafe import Markup

from sitegen.analysis.flips import number_of_cells
from sitegen.analysis.section_flips import mentioned_fields
from sitegen.history.layout import Layout
from sitegen.model.changes import ChangeVerdict, Decision
from sitegen.model.commits import ChangedPath, How
from sitegen.model.frozen import Frozen, grouped
from sitegen.model.metrics import MetricSpec
from sitegen.model.outcomes import Flips, Tally
from sitegen.model.series import Effect, EvalInfo, Headline
from sitegen.model.timeline import CommitRecord, OutputLayout, RenamedEval, last_id
from sitegen.pages import labels, links
from sitegen.pages.html import formats
from sitegen.pages.html.cells import text
from sitegen.pages.html.charts import around_zero
from sitegen.pages.html.tables import Column
from sitegen.text.patch import Hunk
from sitegen.text.plain import counted, line

Grade: TypeAlias = Decision | Literal["worse in part", "same output", "recorded", "not judged", "first output"]
"""The verdict on a change, or why there is none. same output: only re-scored. recorded: runs recorded the numbers.
not judged: the judge changed, or nothing is in common. first output: there is nothing to compare with."""

TONES: Final[dict[Grade, str]] = {
    "worse": "bad",
    "worse in part": "warn",
    "likely worse": "bad",
    "better": "good",
    "likely better": "good",
    "cannot tell": "",
    "same": "",
    "recorded": "",
    "same output": "",
    "not judged": "",
    "first output": "",
}
"""The colour of each grade, in the order of tables, losses first."""

METRICS: Final = 2
"""Number of metrics beside the headline in the row of an eval."""

NAMED_EVALS: Final = 3
"""Number of evals that the row of an edit names."""

_MOST_FIELDS: Final = 200  # number of flipped fields that a page lists: the ones with the most flips

ONLY_RECORDED: Final = "whether this is more than chance is unknown"
"""Why recorded numbers have no verdict."""

_OTHER_MODEL: Final = "the model changed too"  # why neither an edit nor a field is credited with a change

NOTICED: Final = 0.0005
"""Smaller changes and smaller parts of a change are not mentioned."""


class EffectRow(Frozen):
    """One eval before and after an edit or a commit."""

    info: EvalInfo
    grade: Grade
    why: str
    """The reason for the grade, as the end of a sentence; empty if the grade implies it."""
    before: Headline | None
    after: Headline
    metrics: tuple[tuple[MetricSpec, float | None], ...]
    """The metrics with their changes, the headline first. A change is None if either value is undefined, or if they
    cannot be compared."""
    verdict: ChangeVerdict | None = None
    flips: Flips = Flips()
    """The cells of the eval, by their fate from the one point to the other."""
    doubt: str = ""
    """What else than the edit may have made the change, so that the edit is not credited with it; empty if nothing."""
    remarks: tuple[str, ...] = ()
    """Sentences on causes besides the output that may have changed the numbers."""
    is_apart: bool = False
    """Whether the page of comparisons compares other values: those of all answers, as they were judged then."""

    @property
    def spec(self) -> MetricSpec:
        """The headline metric."""
        return self.metrics[0][0]

    @property
    def change(self) -> float | None:
        """The change of the headline metric."""
        return self.metrics[0][1]

    @property
    def share(self) -> float:
        """The size of the headline's change as a share of the metric's range, if it has one."""
        return abs(self.change or 0.0) / self.spec.size

    def name_cell(self, root: str, _: float, below: str) -> Markup:
        """Its name, further metrics, remarks, and what stands below."""
        further = [
            f"\n<span>{text(spec.label)} {'—' if by is None else formats.signed(by, spec, self.verdict)}</span>"
            for spec, by in self.metrics[1 : METRICS + 1] * (self.grade != "first output")
        ]
        remarks = [f'<p class="by">{text(remark)}</p>' for remark in self.remarks]
        ends = [*dict.fromkeys(line(at.label, 40) for at in (self.before, self.after) if at)]
        since = f" {'from' if ends[1:] else 'of'} {' to '.join(ends)}" if self.before else ""
        return Markup(
            f'<a class="name" href="{root}{links.eval_trend(self.info.id)}">{text(line(self.info.name, 80))}</a>'
            f'<div class="by"><span>{text(self.spec.label + since)}</span>{"".join(further)}</div>'
            f"{self._unreadable(root)}{''.join(remarks)}{below}"
        )

    def _unreadable(self, root: str) -> str:
        sentences = []
        for point in (self.before, self.after):
            if point is None or point.status == "scored":
                continue
            file = "ground truth" if point.status == "no_ground_truth" else "output"
            effect = "so that\nnothing was scored"
            if point.status == "unreadable" and point.values[0] is not None:
                effect = "and all that it should hold counts as missing"
            report = f"{root}{links.report(self.info.id, point.slug)}"
            sentences.append(
                f'<p class="by"><b>The {file} of {text(point.label)} cannot be read,</b>\n{effect}: '
                f'<a href="{report}">its report</a> names the file.</p>'
            )
        return "".join(sentences)

    def value_at(self, point: Headline | None, root: str) -> Markup:
        """The headline at one of both points, with a link to its report."""
        if point is None:
            return Markup('<span class="muted" title="no earlier output">—</span>')
        value = point.values[0]
        ends = f"; 95 %: {labels.span(point.interval)}" if point.interval else ""
        return Markup(
            f'<a href="{root}{links.report(self.info.id, point.slug)}" title="Report of {text(point.label)}{ends}">'
            f"{'—' if value is None else formats.number(value, self.spec.unit)}</a>"
        )

    def interval_cell(self, _: str, scale: float, *__: str) -> Markup:
        """The interval of the change, around zero."""
        verdict, spec = self.verdict, self.spec
        if verdict is None or verdict.interval is None or not scale:
            return formats.NIL
        middle, tone = verdict.change or 0.0, "n"
        low, high = verdict.interval
        if verdict.decision in ("better", "worse") and (low > 0 or high < 0):
            tone = "u" if (middle > 0) is spec.higher_is_better else "d"
        bar = around_zero(verdict.interval, middle, scale * spec.size, tone)
        return Markup(
            f'{bar}<div class="by nowrap">\n<span class="vh">95 % interval of the change: </span>'
            f"{labels.span_of_change(verdict.interval, spec)}</div>"
        )

    def verdict_cell(self, *_: object) -> Markup:
        """The grade with its reason, which is folded and printed if it repeats what was fixed and broken."""
        why = f'<div class="by">{text(self.why)}</div>' if self.why else ""
        folded = f"<details><summary>{pill(self.grade)}</summary>{why}</details>"
        return Markup(folded if self.verdict and why else f"{pill(self.grade)}{why}")

    def count(self, flipped: Tally, tone: str, root: str) -> Markup:
        """The number of flips, with a link to the comparison of both points."""
        if self.before is None or not self.before.slug or self.info.recorded:
            return formats.NIL
        if not (values := number_of_cells(flipped)) or self.is_apart:
            return _flip_count(values, tone)
        pair = f"{root}{links.compare(self.info.id)}#a={self.before.slug}&amp;b={self.after.slug}"
        return Markup(f'<a class="delta {tone}" href="{pair}">{counted(values, self.info.nouns.value)}</a>')


def effect_rows(effects: Iterable[Effect]) -> tuple[EffectRow, ...]:
    """The evals with an output made with an edit, in the order of tables."""
    return by_grade(map(_effect_row, effects))


def by_grade(rows: Iterable[EffectRow]) -> tuple[EffectRow, ...]:
    """The rows in the order of tables: by grade, then by the size of the change."""
    order = list(TONES)
    return tuple(sorted(rows, key=lambda row: (order.index(row.grade), -row.share, row.info.name, row.info.id)))


def grade_counts(grades: Iterable[Grade]) -> tuple[tuple[Grade, int], ...]:
    """How often each grade occurs, in the order of tables."""
    listed = list(grades)
    return tuple([(grade, listed.count(grade)) for grade in TONES if grade in listed])


def most_changed(effects: Iterable[Effect]) -> list[tuple[Effect, float]]:
    """The evals whose headline changed, those that changed most first, each with its change."""
    moved = ((effect, effect.change) for effect in effects)
    return sorted(((of, by) for of, by in moved if by), key=lambda one: -abs(one[1]) / one[0].spec.size)


def _effect_row(effect: Effect) -> EffectRow:
    (grade, why), window = _graded(effect), effect.window
    return EffectRow(
        info=effect.info,
        grade=grade,
        why=why,
        before=effect.before,
        after=effect.after,
        metrics=metrics_of(effect.before, effect.after, effect.specs, effect.changes),
        verdict=window.verdict if grade not in ("not judged", "first output") else None,
        flips=window.flips or Flips(),
        doubt=_OTHER_MODEL
        if window.model
        else labels.by_either(window.or_edit.short)
        if window.or_edit
        else f"the output {window.unlike}" * bool(window.unlike),
        remarks=tuple(_remarks(effect)),
        is_apart=bool(window.values),
    )


def metrics_of(
    before: Headline | None, after: Headline, specs: Sequence[MetricSpec], changes: Iterable[float | None]
) -> tuple[tuple[MetricSpec, float | None], ...]:
    """Each metric with its change. Runs may record different metrics: those beside the headline need either side."""
    return tuple(
        (spec, change)
        for index, (spec, change) in enumerate(zip(specs, changes, strict=False))
        if not index
        or not specs[0].recorded
        or after.values[index] is not None
        or (before is not None and before.values[index] is not None)
    )


def _graded(effect: Effect) -> tuple[Grade, str]:
    window = effect.window
    if effect.regraded:
        return "not judged", "two judges do not grade alike"
    if effect.change is None and window.over_common is None:
        return "first output", "nothing to compare with"
    if effect.change is None:
        return "not judged", "nothing in common to compare"
    if window.verdict is not None:
        why = labels.on_these_cases(window.verdict, effect.spec, effect.info.nouns)
        return grade_of(window.verdict, effect.spec), why
    if effect.spec.recorded:
        return "recorded", ONLY_RECORDED
    return "same output" if effect.change == 0 else "not judged", ""


def grade_of(verdict: ChangeVerdict, spec: MetricSpec) -> Grade:
    """The grade that a verdict gives to the change of a metric."""
    in_part = labels.verdict_word(verdict, spec.higher_is_better) == labels.IN_PART
    return labels.IN_PART if in_part else verdict.decision


def _remarks(effect: Effect) -> Iterator[str]:
    if effect.window.variant:
        yield f"Of {line(effect.window.variant, 60)} alone, whose prompt was edited."
    if effect.window.by_answerer:
        yield effect.window.by_answerer
    if effect.window.or_edit:
        yield f"{labels.by_either(effect.window.or_edit.short).capitalize()}: nothing tells which."
    yield from labels.exchanges(effect.window.model, effect.window.judge)
    if effect.window.unlike:
        yield f"The output {effect.window.unlike}: it does not tell what an edit did."
    if effect.change is not None and effect.window.over_common is not None:
        yield f"Over the {effect.info.nouns.documents} that both have."


def scale_of(rows: Iterable[EffectRow]) -> float:
    """The end of the common scale of all intervals of a table, as a share of their metrics' ranges."""
    ends = [
        abs(end) / row.spec.size
        for row in rows
        if row.verdict
        for end in (row.verdict.change or 0.0, *(row.verdict.interval or ())[:2])
    ]
    return max(ends, default=0.0)


def pill(grade: Grade, word: str = "") -> Markup:
    """A grade as a mark, with its own word unless another one is given."""
    tone = f" {TONES[grade]}" if TONES[grade] else ""
    return Markup(f'<span class="pill{tone}">{word or labels.grade_word(grade)}</span>')


def verdict_pill(verdict: ChangeVerdict, spec: MetricSpec) -> Markup:
    """The word for a verdict on the change of a metric, as a mark."""
    return pill(grade_of(verdict, spec))


def pills(counts: Iterable[tuple[Grade, int]]) -> Markup:
    """How many evals have each grade, as marks."""
    return Markup(" ".join([pill(grade, f"{evals:,} {labels.grade_word(grade)}") for grade, evals in counts]))


def _flip_count(values: int, tone: str) -> Markup:
    return Markup(f'<span class="delta {tone}">{values:,}</span>' if values else '<span class="muted">0</span>')


COLUMNS: Final = (
    Column(name="eval", head="Eval", cell=EffectRow.name_cell),
    Column(name="before", head="Before", cell=lambda row, root, *_: row.value_at(row.before, root), classes="num"),
    Column(name="after", head="After", cell=lambda row, root, *_: row.value_at(row.after, root), classes="num"),
    Column(
        "change",
        "Change",
        lambda row, *_: "" if row.change is None else formats.signed(row.change, row.spec, row.verdict),
        classes="num",
    ),
    Column(name="interval", head="95 % beyond these values, around 0", label="95 %", cell=EffectRow.interval_cell),
    Column(name="verdict", head="Verdict on these values", label="Verdict", cell=EffectRow.verdict_cell),
    Column("fixed", "Fixed", lambda row, root, *_: row.count(row.flips.fixed, "up", root), classes="num"),
    Column("broken", "Broken", lambda row, root, *_: row.count(row.flips.broken, "dn", root), classes="num"),
)
"""The table of effects: functions of a row, the root of the site, the scale of the intervals, and what stands below the
name."""


class FlippedFields(Frozen):
    """The fields that flipped over all evals, linked both ways with the passages of diffs that name them."""

    evals: dict[str, tuple[tuple[EffectRow, int, int], ...]]
    """By field, the evals with the numbers of fixed and broken cells. At most ``_MOST_FIELDS``, most flips first."""
    more: int
    """Number of fields that are not listed."""
    named: dict[str, tuple[tuple[str, ...], ...]]
    """By path, the fields that the changed lines of each passage of a file name."""

    def flips(self, field: str) -> tuple[int, int]:
        """Numbers of its cells that were fixed and broken, over all evals."""
        return sum(fixed for _, fixed, _ in self.evals[field]), sum(broken for _, _, broken in self.evals[field])

    def anchor(self, field: str) -> str:
        """The address of a field on its page."""
        return f"d{list(self.evals).index(field) + 1}"

    def passage(self, path: str, number: int) -> str:
        """The address of a passage on its page. ``number``: from 1."""
        return f"p{number}" if len(self.named) == 1 else f"f{list(self.named).index(path) + 1}p{number}"

    def passages_cell(self, field: str, *_: str) -> Markup:
        """Links to the passages that name a field, by file if there are several."""
        files = []
        for path, passages in self.named.items():
            numbers = [number for number, fields in enumerate(passages, start=1) if field in fields]
            linked = ", ".join(f'<a href="#{self.passage(path, number)}">{number}</a>' for number in numbers)
            # Files of several agents may have the same name.
            file = formats.path(line("/".join(path.split("/")[-2:]), 60)) if len(self.named) > 1 else ""
            files += [f"{file} {linked}".lstrip()] * bool(numbers)
        return Markup("<br>".join(files)) or formats.NIL

    def evals_cell(self, field: str, root: str) -> Markup:
        """The evals in which a field flipped, with links to its pages."""
        shown = []
        for row, fixed, broken in self.evals[field]:
            signs = f' <span class="delta up">+{fixed:,}</span>' if fixed else ""
            signs += f' <span class="delta dn">−{broken:,}</span>' if broken else ""
            doubts = [labels.doubts_of(counts) for name, *counts in row.flips.doubts if name == field]
            signs += f' <span class="muted">({doubts[0]})</span>' if doubts else ""
            shown.append(
                f'<a href="{root}{links.field(row.info.id, field)}">{text(line(row.info.name, 80))}</a>{signs}'
            )
        return Markup(", ".join(shown))


FIELD_COLUMNS: Final = (
    Column(name="field", head="Field", cell=lambda _, field, __: Markup(f"<code>{formats.path(field)}</code>")),
    Column("fixed", "Fixed", lambda fields, field, _: _flip_count(fields.flips(field)[0], "up"), classes="num"),
    Column("broken", "Broken", lambda fields, field, _: _flip_count(fields.flips(field)[1], "dn"), classes="num"),
    Column(name="passages", head="Passages", cell=FlippedFields.passages_cell),
    Column(
        name="evals",
        head=Markup(
            'Evals, with the values <span class="delta up">+fixed</span> and <span class="delta dn">−broken</span>'
        ),
        label="Evals",
        cell=FlippedFields.evals_cell,
        classes="wrap",
    ),
)
"""The table of flipped fields: functions of the fields, the name of one, and the root of the site."""


def fields_and_passages(rows: Iterable[EffectRow], files: Mapping[str, Sequence[Hunk]]) -> FlippedFields:
    """The flipped fields of all evals. ``files``: the passages of the diff of each edited file, by path."""
    evals: dict[str, list[tuple[EffectRow, int, int]]] = {}
    for row in rows:
        fixed, broken = dict(row.flips.fixed), dict(row.flips.broken)
        for attribute in () if row.doubt == _OTHER_MODEL else fixed | broken:
            evals.setdefault(attribute, []).append((row, fixed.get(attribute, 0), broken.get(attribute, 0)))
    names = sorted(evals, key=lambda name: (-sum(fixed + broken for _, fixed, broken in evals[name]), name))
    listed = names[:_MOST_FIELDS]
    return FlippedFields(
        evals={name: tuple(evals[name]) for name in listed},
        more=len(names) - len(listed),
        named={path: mentioned_fields(passages, listed, path) for path, passages in files.items()},
    )


TouchedRole: TypeAlias = Literal[
    "output", "unscored", "recorded", "run", "ground_truth", "rules", "instruction", "other"
]
"""unscored: an output beside the folders of iterations, which alone count. recorded: metrics that a run recorded. run:
an output of a repeated run. rules: a field mapping, a schema or the manifest."""


class Touched(Frozen):
    """One changed path with its role."""

    change: ChangedPath
    role: TouchedRole
    eval_id: str = ""
    iteration: str = ""
    """Name of the iteration's folder; empty for an overwritten output, and for other roles."""


def sort_out(
    record: CommitRecord, layout: Layout, renamed: Sequence[RenamedEval], layouts: Mapping[str, OutputLayout]
) -> tuple[Touched, ...]:
    """Each change of a commit with the role of its path, once for each eval that the path belongs to.

    ``layout``: the layout of the built configuration. ``renamed``: the evals that were renamed, oldest first: a
    commit before the rename is one of the eval as it is called now, a later one in the same folder is not. ``layouts``:
    that of the outputs of each eval.
    """
    touched = []
    for change in record.changes:
        in_evals = []
        for place in layout.places(change.path):
            eval_id = last_id(place.eval_id, record.commit.position, renamed)
            if place.role == "overwritten":
                role: TouchedRole = "unscored" if layouts.get(eval_id) == "iterations" else "output"
            elif place.role == "stranger":
                continue
            else:
                role = place.role
            in_evals.append(Touched(change=change, role=role, eval_id=eval_id, iteration=place.iteration))
        if not in_evals:
            is_rule = change.path == layout.manifest_path or layout.is_shared(change.path)
            is_instruction = layout.is_instruction(change.path)
            in_evals = [Touched(change, "rules" if is_rule else "instruction" if is_instruction else "other")]
        touched += in_evals
    return tuple(touched)


def outputs(touched: Iterable[Touched], names: Mapping[str, str]) -> list[tuple[str, str]]:
    """The evals with changed outputs, by name, each with what changed: ``3 iterations added, 1 changed``."""
    of_evals = grouped((item.eval_id, item) for item in touched if item.role in ("output", "run", "recorded"))
    in_order = sorted(of_evals, key=lambda eval_id: (names.get(eval_id, eval_id), eval_id))
    return [(eval_id, _output_words(of_evals[eval_id])) for eval_id in in_order]


def _output_words(changed: Sequence[Touched]) -> str:
    iterations: dict[str, set[How]] = {}
    for item in changed:
        if item.role == "output":
            iterations.setdefault(item.iteration, set()).add(item.change.how)
    # A folder with both added and deleted files, for example renamed ones, counts as changed.
    fates = Counter[str](next(iter(hows)) if len(hows) == 1 else "modified" for hows in iterations.values())
    roles = Counter[str](item.role for item in changed)
    phrases: list[str] = []
    for fate, word in (("added", "added"), ("modified", "changed"), ("deleted", "deleted")):
        if fates[fate]:
            noun = "output" if "" in iterations else "iteration"
            phrases.append(f"{fates[fate]:,} {word}" if phrases else f"{counted(fates[fate], noun)} {word}")
    if roles["run"]:
        phrases.append(counted(roles["run"], "repeated run"))
    if roles["recorded"]:
        phrases.append(f"{counted(roles['recorded'], 'record')} of metrics")
    return ", ".join(phrases)
