"""Laws of highlights that hold for every input: of scoring, and of the page that shows them."""

import json
from html.parser import HTMLParser
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from sitegen.data_files.reading import UnreadableError
from sitegen.model.scorecards import Mark, MarkedText, Result, SpansPanel
from sitegen.pages.html.formats import printable
from sitegen.pages.report.spans import DEPTH, LISTED_HIGHLIGHTS, LONGEST_TEXT, shown_text
from sitegen.scoring.highlights import SCORER as HIGHLIGHTS
from sitegen.scoring.highlights_files import extract
from sitegen.scoring.kinds import File, ScoringInputs
from sitegen.stats import counts as stats
from tests import pages_sample as sample
from tests.scored import scored

TEXTS = st.sampled_from(["a", "b", "a b", "ab", "cafe\u0301", "caf\u00e9", " ", "<i>"])
MARKED = st.dictionaries(st.sampled_from(["terms", "concepts"]), st.lists(TEXTS, max_size=4), max_size=2)
FILES = st.dictionaries(st.sampled_from(["p-1", "p-2", "p-30"]), MARKED, min_size=1, max_size=3).map(
    lambda said: {
        "paragraphs": [{"id": name, "text": "a b ab café", "highlights": each} for name, each in said.items()]
    }
)
FRAGMENTS = st.sampled_from(
    [
        *('{"chunks": [', '{"paragraphs": [', "]}", '{"id": "p-1", "terms": ["a"]}', '{"id": 1, "highlights": {', "}}"),
        *('"highlights": ', '"run_id": ', "{", "}", "[", "]", ",", ":", '"a"', "1", "NaN", "null", "true", "\n"),
        *("1e999999999", "\ufeff", "[" * 200, "9" * 5000, '"\\ud800"', '"\\ud800": ['),
        *('{"p-1": {"terms": 7}, "p-2": [[]]}', '{"range": "1-99999999999999999999"}', '{"run_id": NaN}'),
        '{"highlights": [7, {"paragraphId": []}]}',
    ]
)
BYTES = st.one_of(
    st.binary(max_size=60), st.lists(FRAGMENTS, max_size=8).map(lambda parts: "".join(parts).encode("utf-8"))
)
JSONS = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["a", "p-1", "", "terms"]),
    lambda below: (
        st.lists(below, max_size=3)
        | st.dictionaries(
            st.sampled_from(["chunks", "paragraphs", "highlights", "id", "text", "category", "run_id", "terms", "p-1"]),
            below,
            max_size=4,
        )
    ),
    max_leaves=12,
).map(lambda value: json.dumps(value).encode())


def score(gold: Any, given_: Any, said: str = "{}") -> Result:
    return scored("highlights", {"raw-llm-run.json": given_}, {"gold-standard.json": gold}, said)


@settings(max_examples=400)
@given(
    BYTES | JSONS,
    st.sampled_from(["log.ndjson", "run.json"]),
    BYTES | JSONS,
    BYTES.map(lambda b: b.decode("utf-8", "replace")),
)
@example(b"[" * 100_000, "run.json", b'{"p-1": {"terms": ["a"]}}', "{}")
@example(b'{"a":' * 100_000, "log.ndjson", b'{"p-1": {"terms": ["a"]}}', "[" * 100_000)
@example(b"\xff\xfe", "log.ndjson", b"\xff", "{}")
def test_no_bytes_make_scoring_fail(output: bytes, name: str, gold: bytes, said: str) -> None:
    result = scored("highlights", {name: output}, {"gold.json": gold}, said)
    card = result.scorecard
    assert card.counts == stats.tally(result.judgements)
    assert card.counts == (stats.total(each.counts for each in card.documents) if card.documents else card.counts)
    assert not [finding.message for finding in card.findings if finding.message[0].islower()]
    if card.status != "scored":
        assert any(finding.severity == "error" for finding in card.findings)


@given(FILES, FILES)
def test_correct_and_missed_are_expected_correct_and_wrong_are_found(gold: Any, given_: Any) -> None:
    card = score(gold, given_).scorecard
    counts = card.counts
    assert (counts.tp + counts.omission, counts.hallucination) == (card.expected_values, counts.fp)
    assert counts == stats.total(each.counts for each in card.fields) if card.fields else counts.tp == 0


@given(FILES)
def test_the_gold_standard_is_all_right_against_itself(gold: Any) -> None:
    counts = score(gold, gold).scorecard.counts
    assert (counts.fp, counts.fn) == (0, 0)


@given(FILES, FILES)
def test_every_judgement_is_shown_once_on_the_page_or_beside_the_text(gold: Any, given_: Any) -> None:
    result = score(gold, given_)
    panel = next(each for each in result.panels if isinstance(each, SpansPanel))
    shown = sum(len(text.marks) + len(text.elsewhere) for text in panel.texts)
    assert shown == len(result.judgements)
    for text in panel.texts:
        assert all(text.text[mark.start : mark.end] for mark in text.marks)


@given(FILES, FILES)
def test_what_is_extracted_scores_as_the_log_does(gold: Any, given_: Any) -> None:
    log = "\n".join(json.dumps({"run_id": 7, "paragraphs": [each]}) for each in given_["paragraphs"]).encode()
    files = [File("log.ndjson", log), File("raw-llm-run.json", extract(log, None, "")[0])]
    truth = File("gold.json", json.dumps(gold).encode())
    first, second = (HIGHLIGHTS.score(ScoringInputs(outputs=(file,), ground_truth=truth)) for file in files)
    assert set(first.judgements) == set(second.judgements)


@given(BYTES | JSONS)
def test_no_bytes_make_extracting_fail_but_as_unreadable(log: bytes) -> None:
    try:
        content, _, _ = extract(log, None, "")
    except UnreadableError:
        return
    assert json.loads(content)["chunks"]


NASTY = st.sampled_from([*sample.NASTY, "&amp;", "<!--", "</mark>", "\udcff", "\x00"]) | st.text(max_size=20)
PLACES = st.tuples(st.integers(0, 30), st.integers(0, 30)).map(sorted)
MARKS = st.builds(
    lambda place, outcome, category: Mark(start=place[0], end=place[1], outcome=outcome, category=category),
    PLACES,
    st.sampled_from(["correct", "missed", "wrong"]),
    NASTY,
)
ELSEWHERE = st.tuples(st.sampled_from(["correct", "missed", "wrong"]), NASTY, NASTY)
MARKED_TEXTS = st.builds(
    MarkedText, NASTY, NASTY, st.lists(MARKS, max_size=8).map(tuple), st.lists(ELSEWHERE, max_size=3).map(tuple)
)


class _Reader(HTMLParser):
    """The text of the marked paragraph without its tags, the elements and how deep marks go."""

    def __init__(self, markup: str) -> None:
        super().__init__(convert_charrefs=True)
        self.paragraph = ""
        self.tags: set[str] = set()
        self.classes: set[str] = set()
        self.open: list[str] = []
        self.deepest = 0
        self.feed(f"<main>{markup}</main>")
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.classes |= {value or "" for name, value in attrs if name == "class"}
        self.open.append(f"{tag}.{dict(attrs).get('class') or ''}")
        self.deepest = max(self.deepest, sum(each.startswith("mark.") for each in self.open))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop().startswith(f"{tag}."), "elements are closed in their order"

    def handle_data(self, data: str) -> None:
        if "p.marked" in self.open and not any(each.startswith(("small.", "span.cut")) for each in self.open):
            self.paragraph += data


@settings(max_examples=200)
@given(MARKED_TEXTS)
def test_a_text_is_shown_as_it_is_however_its_marks_overlap(text: MarkedText) -> None:
    read = _Reader(shown_text(text).item)
    assert read.tags <= {"li", "div", "b", "span", "p", "mark", "small", "ul", "main"}
    assert read.classes <= {
        *("by", "mono wrap", "marked", "hl correct", "hl missed", "hl wrong", "vh", "beside", "cut")
    }
    assert read.open == []
    assert read.deepest <= DEPTH
    assert read.paragraph == "".join(printable(piece) for piece, _, _ in shown_text(text).pieces)
    assert read.paragraph.startswith(printable(text.text[:1]))


@given(MARKED_TEXTS)
def test_every_mark_is_drawn_once_or_listed(text: MarkedText) -> None:
    shown = shown_text(text)
    ended = sum(len(ending) for _, _, ending in shown.pieces)
    assert ended + len(shown.beside) == len(text.marks) + len(text.elsewhere)
    assert "".join(piece for piece, _, _ in shown.pieces) == text.text[:LONGEST_TEXT]
    assert shown.notes.count("<li>") <= LISTED_HIGHLIGHTS + 1  # and how many more there are
