"""The answers of an output, case by case: what each variant and model answered, side by side.

Rows are text of HTML, because an output may have ten thousand of them: the page has the first, and scripts beside it
have the others (``site_templates/assets/js/tables.js``).
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import accumulate, chain, groupby, islice, zip_longest
from math import sqrt
from operator import itemgetter
from typing import Final
from urllib.parse import urlencode

from markupsafe import Markup

from sitegen.config.models import Note
from sitegen.importers.case import VERDICT_FIELD
from sitegen.model.answers import INPUT, AnsweredCase, CaseAnswer, JudgeWords, Turn
from sitegen.model.frozen import Frozen, grouped, replace
from sitegen.model.scorecards import ANSWERERS
from sitegen.model.site import RawFile
from sitegen.pages import links
from sitegen.pages.data.search import script_file
from sitegen.pages.data.series import csv_file
from sitegen.pages.html.cells import escape
from sitegen.pages.html.formats import bounded, printable
from sitegen.pages.instructions import FileEdit
from sitegen.pages.report.discrepancies import words_of
from sitegen.stats.counts import mean
from sitegen.stats.significance import variance
from sitegen.text.plain import counted, cut
from sitegen.text.values import amount, metric_text
from sitegen.text.words import tokens

DRAWN: Final = 50
"""The most cases on the page itself."""
_PAGE: Final = 240_000  # the most characters of markup of these, if the first alone has no more
PART: Final = 100  # cases in a file beside the page
_TEXT: Final = 600  # the most characters of a text in the grid
LONG: Final = 4_000  # the same on the page of its case
SHOWN: Final = 24
"""The most columns that are shown before any is chosen: of more, those with the best answers."""
ASKED: Final = 6
"""The most parts of what was asked that are shown before any is chosen: the first of more."""
_MOST_ASKED: Final = 50  # the most of these, and of checks, that a reader can choose from
_SCORES: Final = 6  # the most judges whose mean scores stand above a column
_DISTINCT: Final = 3  # the most different repeats of an answer in the grid
_FLAGS: Final = (
    ("n", "newly", "Only newly failing"),
    ("f", "failing", "Only failing"),
    ("p", "passing", "Only passing"),
    ("e", "errors", "Only errors"),
    ("c", "changed", "Only changed"),
    ("d", "different", "Only different"),
    ("y", "flaky", "Only flaky"),
)
"""What rows and answers are marked with: the mark, its name in the address of a filtered grid, and the button.

Answers to one case whose marks ``d`` have the same value are the same, with the same verdict.
"""

_ENTRIES: Final = {"message": "", "call": "call of ", "result": "result of "}
"""What stands before the name of an entry of a transcript."""

_Answers = Mapping[str, Sequence[CaseAnswer]]


class CaseGrid(Frozen, dict=True, gc=True):
    """The cases of an output, those first that need attention."""

    place: tuple[str, str] | None
    """The id of the eval and the slug of the snapshot; None for a page that has no files beside it."""
    cases: tuple[AnsweredCase, ...]
    earlier: tuple[AnsweredCase, ...] = ()
    """Those of the newest output before it that is another one."""
    earlier_label: str = ""
    """The name of that output; empty if there is none."""
    with_page: frozenset[str] = frozenset()
    """The ids of the cases that have a page."""
    axes: Sequence[str] = ()
    """The tags along which the output is split."""
    prompts: Mapping[str, tuple[str, FileEdit | None]] = {}
    """The text of the prompt of each variant, if the output states it, and the last edit of its file until then."""
    notes: Sequence[Note] = ()
    """What people said about its answers."""
    longest: int = _TEXT
    """The most characters of a text; with more than the default, transcripts are written too."""
    shown = SHOWN

    @cached_property
    def columns(self) -> dict[tuple[str, str], str]:
        """Who answered, as (variant, model), with the name that tells these apart; empty if there is nothing to say.

        If there are more than ``SHOWN``, those whose answers passed most often come first.
        """
        pairs = dict.fromkeys((answer.variant, answer.model) for case in self.cases for answer in case.answers)
        several = [len(pairs) == 1 or len(set(side)) > 1 for side in zip(*pairs, strict=True)]
        names = {
            pair: " · ".join(name for name, told in zip(pair, several, strict=True) if name and told) for pair in pairs
        }
        if len(names) <= SHOWN:
            return names
        scores = dict.fromkeys(names, 0.0)
        for answer in chain.from_iterable(case.answers for case in self.cases):
            scores[answer.variant, answer.model] += (answer.score if answer.passed is None else answer.passed) or 0.0
        return {column: names[column] for column in sorted(names, key=lambda column: -scores[column])}

    @cached_property
    def asked_parts(self) -> list[str]:
        """The names of what was asked: the input, and what differs between cases, unless their names say it."""
        texts: dict[str, set[str]] = {}
        for name, text in chain.from_iterable(case.asked.items() for case in self.cases):
            texts.setdefault(name, set()).add(text)
        alone, shown = len(self.cases) == 1, {*chain.from_iterable(map(_asked, self.cases))}
        varied = (name for name, values in texts.items() if alone or name == INPUT or len(values) > 1)
        return [name for name in varied if name in shown][:_MOST_ASKED]

    @cached_property
    def states_answers(self) -> bool:
        """Whether the file states any answer, and not only what judges said."""
        return any(answer.output for case in self.cases for answer in case.answers)

    @cached_property
    def before(self) -> _Answers:
        """The earlier answers, by document."""
        return grouped((answer.document, answer) for case in self.earlier for answer in case.answers)

    @cached_property
    def sorted(self) -> list[tuple[str, AnsweredCase, dict[str, str]]]:
        """The cases, each with the beginning of the ids of its answers, its number in the file, and its marks.

        First what newly fails, then what fails, what changed and what differs.
        """
        marks = (dict.fromkeys(chain(*_marks(case, self.before).values()), "") for case in self.cases)
        rows = [(f"c{number}", *row) for number, row in enumerate(zip(self.cases, marks, strict=True), 1)]
        return sorted(rows, key=lambda row: [mark not in row[2] for mark in "nfcd"])

    @property
    def flags(self) -> list[tuple[str, str, str, int]]:
        """The buttons that filter, with the number of cases that each leaves.

        One that would leave none is left out, and one that would leave all unless a column can be chosen beside it.
        """
        counts = ((*flag, sum(flag[0] in marks for *_, marks in self.sorted)) for flag in _FLAGS)
        most = len(self.cases) - (len(self.columns) < 2)
        return [flag for flag in counts if 0 < flag[-1] <= most]

    @cached_property
    def drawn(self) -> list[str]:
        """The rows on the page."""
        rows = list(islice(self._rows(0), DRAWN))
        return rows[: max(1, sum(size <= _PAGE for size in accumulate(map(len, rows))))]

    @property
    def loadable(self) -> int:
        """Number of further cases that the page can load."""
        return len(self.cases) - len(self.drawn) if self.place else 0

    @property
    def parts(self) -> int:
        """Number of files with these."""
        return -(-self.loadable // PART)

    def files(self) -> Iterator[RawFile]:
        """Yield the files with the rows that are not on the page, and the table of all answers."""
        start, place = len(self.drawn), self.place or ("", "")
        for number in range(self.parts):
            rows = islice(self._rows(start + number * PART), PART)
            yield script_file(f"{links.report_cases(*place)}{number + 1}.js", "CASES", "".join(rows))
        if self.place:
            yield csv_file(links.report_grid(*place), self._table())

    def _table(self) -> Iterator[list[str | float | None]]:
        """Yield a row for each case and repeat, as the page has cases in order: what was asked, then each column."""
        names = [f"{name} {part}".strip() for name in self.columns.values() for part in ("answer", "passed", "score")]
        yield ["case", "repeat", *(parts := self.asked_parts), "expected", *names]
        for _, case, _ in self.sorted:
            answered = grouped(((answer.variant, answer.model), answer) for answer in case.answers)
            for repeat, row in enumerate(zip_longest(*(answered.get(column, ()) for column in self.columns)), 1):
                told = ((of.output or of.error, of.passed, of.score) if of else (None,) * 3 for of in row)
                yield [case.id, repeat, *map(case.asked.get, parts), case.expected, *chain.from_iterable(told)]

    @property
    def has_texts(self) -> bool:
        """Whether there is more to show than verdicts and scores, which stand in the table of documents."""
        return self.states_answers or any(
            INPUT in case.asked or case.expected or answer.error or any(any(judge[2:]) for judge in answer.judges)
            for case in self.cases
            for answer in case.answers
        )

    @cached_property
    def heads(self) -> dict[tuple[str, str], tuple[str, str, str, str, FileEdit | None]]:
        """What stands above each of ``columns``: name, number of answers that passed and scores, usage of one, prompt.

        Empty if there is one column, and nothing is known of a prompt.
        """
        if len(self.columns) < 2 and not any(map(any, self.prompts.values())):
            return {}
        every = chain.from_iterable(case.answers for case in self.cases)
        answers = {column: list[CaseAnswer]() for column in self.columns}
        answers |= grouped(((answer.variant, answer.model), answer) for answer in every)
        means: dict[tuple[str, str], dict[str, float]] = {}
        for column, own in answers.items():
            scored = grouped(((judge.name, each.document), judge.score) for each in own for judge in each.judges)
            cases = grouped((name, mean(scores)) for (name, _), scores in scored.items())
            named = {name: value for name in cases if name and (value := mean(cases[name])) is not None}
            means[column] = named if len(named) > 1 else {}  # one alone is the score
        same = set.intersection(*({*own.items()} for own in means.values()))
        heads = {}
        for column, own in answers.items():
            verdicts = [answer.passed for answer in own if answer.passed is not None]
            of_cases = " answers" if len({answer.document for answer in own}) < len(own) else ""
            said = f"{verdicts.count(1.0):,} of {len(verdicts):,}{of_cases} passed" if verdicts else verdict(own)
            prompt, edit = self.prompts.get(column[0], ("", None))
            differing = (f"{name} {score:.3f}" for name, score in means[column].items() if (name, score) not in same)
            said = ", ".join((said, *islice(differing, _SCORES)))
            heads[column] = self.columns[column], said, ", ".join(usage_of(own)), prompt, edit
        return heads

    @cached_property
    def checks(self) -> frozenset[str]:
        """The names of judges that are not alone, by which cases can be chosen; none if they are too many."""
        several = (answer.judges for case in self.cases for answer in case.answers if len(answer.judges) > 1)
        names = frozenset(judge.name for judge in chain.from_iterable(several))
        return names if len(names) <= _MOST_ASKED else frozenset()

    @cached_property
    def listed_tags(self) -> list[str]:
        """The tags by which cases can be chosen."""
        return sorted({*chain.from_iterable(map(self._tags_of, self.cases))})

    def _tags_of(self, case: AnsweredCase) -> list[str]:
        judges = (judge for answer in case.answers for judge in answer.judges if judge.name in self.checks)
        failed = {tag_name(("failed", judge.name)) for judge in judges if f"\n{judge.reasons}".count("\n✗ ")}
        tags = ((axis, value) for axis in self.axes for value in case.asked.get(axis, "").split("\n") if value)
        return sorted({*failed, *map(tag_name, tags)})

    def address_of(self, flag: str) -> str:
        """The address of the grid with the cases alone that a button leaves, by its name; empty without this button."""
        return next((f"#{name}=1" for _, name, *_ in self.flags if name == flag), "")

    def address(self, where: Mapping[str, str]) -> str:
        """The address of the grid with the answers of a variant or model alone, or with the cases of a tag.

        Empty if the grid cannot be narrowed to them.
        """
        if not where.keys() <= {*ANSWERERS}:
            tag = tag_name(*where.items())
            return f"#{urlencode({'tag': tag})}" if tag in self.listed_tags else ""
        wanted = where.items()
        columns = [str(at) for at, who in enumerate(self.columns) if wanted <= {*zip(ANSWERERS, who, strict=True)}]
        return f"#columns={','.join(columns)}" if 0 < len(columns) < len(self.columns) else ""

    def _rows(self, start: int) -> Iterator[str]:
        for row, case, marks in islice(self.sorted, start, None):
            tags = "\n".join(self._tags_of(case))
            group = f' data-g="{escape(tags)}"' if tags else ""
            name = f"<b>{bounded(case.id, 200)}</b>"
            if case.id in self.with_page:
                name = f'<a href="{links.case_in_eval(case.id)}">{name}</a>'
            head = f"<p class=case>{name}</p><details><summary aria-label=Answers></summary></details>"
            yield f"<li{_data(marks)}{group}>{head}{self.asked(case)}{self.cells(case, row)}\n"

    def cells(self, case: AnsweredCase, row: str = "") -> Markup:
        """Write the answers of each column with the words marked that are not expected.

        If nothing is expected, those are marked that the first answer that did not fail lacks. ``row``: the id with
        which those of answers begin; empty if they have none.
        """
        answered = grouped(((answer.variant, answer.model), answer) for answer in case.answers)
        of_column = {column: list[CaseAnswer]() for column in self.columns} | answered
        stated = sorted((answer for answer in case.answers if answer.output), key=lambda answer: answer.has_failed)
        reference = case.expected or (stated[0].output if stated else "")
        marks, cells = _marks(case, self.before), []
        for place, (column, answers) in enumerate(of_column.items()):
            named = f'"an a{place}{" beyond" if self.place and place >= SHOWN else ""}"'
            who = f"<b>{bounded(self.columns[column], 80)}</b>" if self.columns.get(column) else ""
            if row:
                named, who = f"{named} id={row}.{place}", f"<a href=#{row}.{place}>{who or 'Answer'}</a>"
            elif answers and who:
                who += '<a class=how href=#note data-variant="{}" data-model="{}">Note</a>'.format(*map(escape, column))
            if not answers:
                cells.append(f"<div class={named}>{_who(who)}<i>no answer</i></div>")
                continue
            own, earlier = marks[answers[0].document], self.before.get(answers[0].document, ())
            told = own if row else {mark: "" for mark in own if mark == "f"}  # nothing filters the page of one case
            was = ""
            if "c" in own and self.longest == _TEXT:  # words that the answer now does not have are marked
                label = ": ".join(filter(None, (f"Before, in {bounded(self.earlier_label, 60)}", verdict(earlier))))
                was = f"<details><summary>{label}</summary>{self._output(earlier[0], answers[0].output)}</details>"
            score = mean(answer.passed if answer.score is None else answer.score for answer in answers)
            named += f" data-s={score:.3g}" if row and self.heads and score is not None else ""
            shown = "".join(self._distinct(who, answers, reference))
            names, who_did = (case.id, answers[0].document), dict(zip(ANSWERERS, column, strict=True)).items()
            of_people = (note for note in self.notes if note.case in names and note.who.items() <= who_did)
            shown += "".join(f"<p class=said>{bounded(words_of(note), self.longest)}" for note in of_people)
            cells.append(f"<div class={named}{_data(told)}>{shown}{was}</div>")
        return Markup(f"<div class=ans>{''.join(cells)}</div>")

    def asked(self, case: AnsweredCase) -> Markup:
        """What was asked and what was expected."""
        parts = [
            (f' class="av{place}{" beyond" if self.place and place >= ASKED else ""}"', name, text)
            for place, name in enumerate(self.asked_parts)
            if (text := _asked(case).get(name))
        ]
        shown = "".join(
            f"<div{mark}><h3>{bounded(name, 60)}</h3><div class=out dir=auto>{bounded(text, self.longest)}</div></div>"
            for mark, name, text in (*parts, *([("", "Expected", case.expected)] if case.expected else []))
        )
        return Markup(f"<div class=asked>{shown}</div>" if shown else "")

    def _distinct(self, who: str, answers: Sequence[CaseAnswer], reference: str) -> Iterator[str]:
        """Write the different answers of one column, each with how many repeats gave it; the first is open."""
        same = grouped(((_plain(answer.output), answer.has_failed), answer) for answer in answers)
        is_short = self.longest == _TEXT
        yield _who(who, answers)
        for place, group in enumerate(list(same.values())[: _DISTINCT if is_short else None]):
            if len(same) > 1:
                said = ", ".join(filter(None, (f"given {len(group)} of {len(answers)} times", verdict(group))))
                yield f"<details><summary>{said}</summary>" if place else f"<p class=who>{said}</p>"
            yield self._output(group[0], reference)
            told = [replace(group[0], transcript=())] if is_short else group  # the same answer in several ways
            yield from map(self._judges, dict.fromkeys(answer.judges for answer in told))
            yield from map(self._transcript, dict.fromkeys(own.transcript for own in told if own.transcript))
            yield "</details>" if place else ""
        if is_short and len(same) > _DISTINCT:
            yield f"<i>{counted(len(same) - _DISTINCT, 'other answer')}</i>"

    def _transcript(self, turns: Sequence[Turn]) -> str:
        calls, failed = sum(turn.kind == "call" for turn in turns), sum(turn.failed for turn in turns)
        said = [counted(sum(turn.kind == "message" for turn in turns), "message")]
        said += [counted(calls, "tool call")] if calls else []
        said += [f"{failed:,} failed"] if failed else []
        rows = (
            f"<li{' class=err' if turn.failed else ''}><b>{_ENTRIES[turn.kind]}{bounded(turn.name, 80)}</b>"
            f"<div class=out dir=auto>{bounded(turn.text, self.longest)}</div>"
            for turn in turns
        )
        turns_of = f"<ol class=turns>{''.join(rows)}</ol>"
        return f"<details><summary>Transcript: {', '.join(said)}</summary>{turns_of}</details>"

    def _output(self, answer: CaseAnswer, other: str) -> str:
        """Write an answer with the words marked that another text does not have."""
        error = f"<p class=err>{bounded(answer.error, self.longest)}</p>" if answer.error else ""
        if not answer.output and (error or not self.states_answers):
            return error
        shown = marked(cut(answer.output, self.longest), other) if answer.output.strip() else "<i>blank</i>"
        return f"{error}<div class=out dir=auto>{shown}</div>"

    def _judges(self, judges: Sequence[JudgeWords]) -> str:
        """What judges said but the verdict, a paragraph each; those without reasons share one. Details are folded."""
        scored = ((judge, "" if judge.score is None else metric_text(judge.score)) for judge in judges)
        named = [
            (judge, f"<b>{bounded(judge.name, 80)}</b> {score}".removeprefix("<b></b> ")) for judge, score in scored
        ]
        said = [
            f"<p class=said>{name} {bounded(judge.reasons, self.longest)}" for judge, name in named if judge.reasons
        ]
        if silent := ", ".join(name for judge, name in named if not judge.reasons and judge.name != VERDICT_FIELD):
            said.append(f"<p class=said>{silent}")
        told = ((bounded(judge.name, 80), bounded(judge.details, self.longest)) for judge in judges if judge.details)
        details = [f"<p class=said>{name} <code>{text}</code>" for name, text in told]
        folded = f"<details><summary>Details of the judges</summary>{''.join(details)}</details>" if details else ""
        return "".join(said) + folded


def tag_name(tag: tuple[str, str]) -> str:
    """Write a tag of a case as the grid names it."""
    return printable(": ".join(tag))


def _asked(case: AnsweredCase) -> dict[str, str]:
    """What was asked, by name, without what the name of the case says."""
    said = case.id.split(", ")
    return {name: text for name, text in case.asked.items() if text != case.id and f"{name}={text}" not in said}


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def _marks(case: AnsweredCase, before: _Answers) -> dict[str, dict[str, str]]:
    """The marks of each document of a case with their values: of ``_FLAGS``, and ``n`` if it fails newly.

    Its answers are flaky if some passed and others did not; a call that gave none is no answer.
    """
    marks, by_document = {}, grouped((answer.document, answer) for answer in case.answers)
    said = {
        document: frozenset((_plain(answer.output), answer.has_failed) for answer in answers)
        for document, answers in by_document.items()
    }
    different = list(dict.fromkeys(said.values()))
    for document, answers in by_document.items():
        earlier, texts = before.get(document, ()), {text for text, _ in said[document]}
        failed = any(answer.has_failed for answer in answers)
        verdicts = [answer.passed for answer in answers if answer.passed is not None and not answer.error]
        found = {
            "n": failed and bool(earlier) and not any(answer.has_failed for answer in earlier),
            "f": failed,
            "p": not failed and any(answer.passed is not None for answer in answers),
            "e": any(answer.error for answer in answers),
            "c": bool(earlier) and texts != {_plain(answer.output) for answer in earlier},
            "d": len(different) > 1,
            "y": len(verdicts) > 1 and 0 < sum(verdicts) < len(verdicts),
        }
        values = {"d": str(different.index(said[document]))}
        marks[document] = {mark: values.get(mark, "") for mark, is_set in found.items() if is_set}
    return marks


def _data(marks: Mapping[str, str]) -> str:
    values = ((mark, marks[mark]) for mark, *_ in _FLAGS if mark in marks)
    return "".join(f" data-{mark}={value}" if value else f" data-{mark}" for mark, value in values)


def _who(who: str, answers: Sequence[CaseAnswer] = ()) -> str:
    said, took = verdict(answers), ", ".join(usage_of(answers))
    passed = [answer.has_failed for answer in answers if answer.error or answer.passed is not None]
    tone = "" if not passed else " bad" if any(passed) else " good"
    parts = (who, f'<span class="pill{tone}">{said}</span>' if said else "", f"<i>{took}</i>" if took else "")
    return f"<p class=who>{' '.join(filter(None, parts))}</p>" if any(parts) else ""


def verdict(answers: Sequence[CaseAnswer]) -> str:
    """Say whether answers passed, and their score if it says more; empty if the file states neither."""
    shares = [answer.passed for answer in answers if answer.passed is not None]
    if any(answer.error for answer in answers) and not shares:
        return "no result"
    scores = [answer.score for answer in answers if answer.score is not None]
    score = metric_text(sum(scores) / len(scores)) if scores and not {0.0, 1.0}.issuperset(scores) else ""
    score += f", spread {sqrt(variance(scores)):.3f}" if score and len({*scores}) > 1 else ""
    said = {0.0: "failed", 1.0: "passed"}.get(sum(shares) / len(shares)) if shares else ""
    if said is None:
        said = f"passed {sum(shares):.3g} of {len(shares)} times" if len(shares) > 1 else f"{shares[0]:.0%} passed"
    if not shares and scores and not score:
        return metric_text(sum(scores) / len(scores))
    return ", ".join(filter(None, (said, score)))


def usage_of(answers: Sequence[CaseAnswer]) -> Iterator[str]:
    """What an answer took, the mean of several."""
    tokens = [sum(filter(None, answer.usage[:2])) for answer in answers]
    if any(tokens):
        yield f"{amount(sum(tokens) / len(tokens), 'tokens')} tokens"
    for place, unit in ((2, "USD"), (3, "s")):
        values = [value for answer in answers if (value := answer.usage[place]) is not None]
        if values:
            yield amount(sum(values) / len(values), unit)


@lru_cache(4)  # all answers to a case are compared with one text
def _words(text: str) -> frozenset[str]:
    return frozenset((*".,;:!?", *(token.casefold() for token in tokens(text))))  # of words, but not of full stops


def marked(text: str, other: str) -> str:
    """The text with the words marked that another text does not have; none if they have no word in common."""
    if text == other or not other:
        return escape(printable(text))
    known, found = _words(other), list[tuple[bool, str]]()
    for token in tokens(text):  # white space belongs to the word before it
        found.append((bool(found) and found[-1][0] if token.isspace() else token.casefold() not in known, token))
    if all(is_new for is_new, token in found if any(map(str.isalnum, token))):
        return escape(printable(text))
    pieces = ((is_new, "".join(token for _, token in group)) for is_new, group in groupby(found, itemgetter(0)))
    return "".join(
        f"<mark>{escape(printable(words := piece.rstrip()))}</mark>{piece[len(words) :]}"
        if is_new
        else escape(printable(piece))
        for is_new, piece in pieces
    )
