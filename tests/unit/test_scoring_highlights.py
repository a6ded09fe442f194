"""Highlights beyond the tables: findings and notes, marks in the text, the results document, ``sitegen extract``."""

import json
import os
from typing import Any

import pytest
from msgspec.structs import replace

from sitegen.data_files.project_files import LARGEST_ARGUMENT
from sitegen.model.problems import Finding
from sitegen.model.scorecards import Highlight, Mark, MarkedText, NotePanel, Result, SpansPanel
from sitegen.pages.report.spans import DEPTH, LONGEST_TEXT, TEXTS, shown_texts
from sitegen.scoring.documents import results_document as written
from sitegen.scoring.highlights import MAX_MARKS, MAX_SEARCHED, marked_text, place_of_text
from sitegen.scoring.kinds import File, ScoringInputs, scorer
from sitegen.scoring.results_file import Metadata
from tests import pages_sample as sample
from tests.rows import in_table
from tests.sites import run

GOLD = {
    "chunks": [
        {
            "chunkIndex": 0,
            "paragraphs": [
                {"id": "p-1", "text": "Moss holds water. Water is life.", "highlights": {"terms": ["Moss", "Water"]}},
                {"id": "p-2", "text": "Later."},
            ],
        },
        {"chunkIndex": 1, "paragraphs": [{"id": "p-3", "text": "The end.", "terms": [], "examples": []}]},
    ]
}
LINES = (
    {"chunkIndex": 0, "run_id": 1, "paragraphs": ["p-1", "p-2"], "highlights": {"p-1": {"terms": ["Moss"]}}},
    {"chunkIndex": 0, "run_id": 2, "paragraphs": ["p-1"], "highlights": {"p-1": {"terms": ["Moss", "peat"]}}},
    {"chunkIndex": 0, "run_id": 2, "paragraphs": ["p-1", "p-9"], "highlights": {"p-1": {"examples": ["holds water"]}}},
)
LOG = "\n".join([json.dumps(LINES[0]), '{"chunkIndex": 1,', *map(json.dumps, LINES[1:])]).encode()
BROKEN = (
    "Line 2 cannot be read: it is not valid JSON: "
    "Expecting property name enclosed in double quotes at line 2, column 18"
)


def score(log: bytes | None = LOG, settings: str = "{}", reason: str = "") -> Result:
    gold = File("gold-standard.json", json.dumps(GOLD).encode())
    return scorer("highlights").score(
        ScoringInputs(outputs=(File("log.ndjson", log, reason),), ground_truth=gold, settings=settings)
    )


def spans(result: Result) -> SpansPanel:
    return next(panel for panel in result.panels if isinstance(panel, SpansPanel))


def notes(result: Result) -> list[str]:
    return [panel.text for panel in result.panels if isinstance(panel, NotePanel)]


@pytest.mark.parametrize("kind", ["fields", "highlights", "responses", "judged"])
def test_an_error_is_marked_by_a_letter_of_its_word(kind):
    nouns = scorer(kind).nouns
    pairs = [(word, letter) for word, letter in zip(nouns.errors, nouns.letters, strict=True) if word or letter]
    assert [letter in {part[0].upper() for part in word.split()} for word, letter in pairs] == [True] * len(pairs)
    assert len({letter for _, letter in pairs}) == len(pairs)


def test_a_broken_line_a_repeated_and_a_missing_paragraph_are_told_of():
    assert score().scorecard.findings == (
        Finding(severity="error", message=BROKEN, fix="Write valid JSON.", line=2),
        Finding("note", "1 paragraph is in more than one chunk, highlights united: p-1", "Write each paragraph once."),
        Finding(
            "warning", "1 paragraph is missing from the output, all highlights missed: p-3", "Make the output of them."
        ),
    )


def test_what_was_left_out_is_noted_on_the_report():
    assert notes(score()) == [
        "The output holds 2 runs. The run '2', the newest, counts.",
        "2 paragraphs are not annotated, and not scored: p-2, p-9.",
    ]
    assert notes(score(settings='{"categories": ["terms"], "range": "1-3", "run_id": 1}')) == [
        "The output holds 2 runs. The run '1', that was asked for, counts.",
        "Only paragraphs 1 to 3 are in scope.",
        "Only these categories are in scope: terms.",
        "1 paragraph is not annotated, and not scored: p-2.",
    ]


@in_table
def test_settings_that_do_not_fit_are_told_of_and_change_nothing(settings, message, fix):
    card = score(settings=settings).scorecard
    key = next(iter(json.loads(settings)), "")
    found = replace(card.findings[0], type="")
    assert found == Finding(severity="error", message=message, fix=fix, about="settings", path=key)
    assert card.metrics == score().scorecard.metrics


def test_the_ground_truth_format_of_every_eval_means_nothing_here():
    assert score(settings='{"ground_truth_format": "auto"}') == score()


def test_a_run_that_is_not_there_is_an_unreadable_output():
    result = score(settings='{"run_id": "7"}')
    assert (result.scorecard.status, result.scorecard.counts.omission) == ("unreadable", 2)
    assert result.scorecard.findings[0].message == "The output cannot be read: it has no run '7'"
    assert result.scorecard.findings[0].fix == "Ask for one of: 1, 2."


def test_why_an_output_is_missing_is_told():
    card = score(None, reason="a Git LFS pointer").scorecard
    told = (card.status, [finding.message for finding in card.findings])
    assert told == ("unreadable", ["The output cannot be read: a Git LFS pointer"])


def test_paragraphs_are_documents_and_categories_are_fields():
    card = score().scorecard
    told = [(each.name, each.status, each.counts[:3]) for each in card.documents]
    assert told == [("p-1", "scored", (1, 2, 1)), ("p-3", "unreadable", (0, 0, 0))]
    seen = [(each.attribute, each.counts[:3]) for each in card.fields]
    assert seen == [("terms", (1, 1, 1)), ("examples", (0, 1, 0))]


@pytest.mark.parametrize(
    ("text", "said", "found"),
    [
        ("art", "art", 0),
        ("start of art", "art", 9),
        ("start", "art", 2),
        ("C++ and C", "C", 0),
        ("nothing", "art", -1),
        ("xart " * 60 + "art", "art", 1),
    ],
)
def test_a_highlight_stands_at_its_first_whole_words_else_anywhere(text, said, found):
    assert place_of_text(text, said) == found


def test_of_very_many_highlights_the_rest_is_listed():
    many: list[Highlight] = [("wrong", f"c{number}", "a") for number in range(MAX_MARKS + 3)]
    text = marked_text("p", "a", many)
    assert (len(text.marks), len(text.elsewhere)) == (MAX_MARKS, 3)


def test_a_highlight_far_down_a_very_long_paragraph_is_listed():
    text = marked_text("p", " " * MAX_SEARCHED + "a", [("correct", "t", "a")])
    assert (text.marks, text.elsewhere) == ((), (("correct", "t", "a"),))


def test_a_page_shows_the_texts_with_most_errors_in_their_order():
    texts = [MarkedText(f"p-{number}", "a", ()) for number in range(TEXTS + 2)]
    texts[-1] = replace(texts[-1], marks=(Mark(start=0, end=1, outcome="wrong", category="t"),))
    panel = SpansPanel(title="Paragraphs", note="", categories=("t",), texts=tuple(texts))
    told = [text.id for text in shown_texts(panel)]
    assert told == [*(f"p-{number}" for number in range(TEXTS - 1)), f"p-{TEXTS + 1}"]


@pytest.mark.parametrize(
    "text",
    [
        MarkedText("p", "a" * (LONGEST_TEXT + 1), ()),
        MarkedText(id="p", text="", marks=(), elsewhere=tuple(("wrong", "t", f"{number}") for number in range(51))),
        MarkedText("p", "ab", tuple(Mark(0, 1, "wrong", category=f"{number}") for number in range(DEPTH + 51))),
    ],
)
def test_what_a_page_leaves_out_is_in_the_data_file(text):
    whole = replace(score(), data=None)
    cut = replace(whole, panels=(SpansPanel(title="Paragraphs", note="", categories=("t",), texts=(text,)),))
    series = sample.series(1)
    pages = [sample.report(series, series.points[0], None, result).page for result in (whole, cut)]
    assert [sample.view_of(page).leaves_anything_out for page in pages] == [False, True]


def test_a_document_without_gold_has_no_numbers():
    nothing = scorer("highlights").score(ScoringInputs(outputs=()))
    document: Any = written(nothing, eval_id="moss", metadata=Metadata())
    assert (document.status, document.expected, document.accuracy) == ("no_ground_truth", 0, None)
    assert [row.what for row in document.problems] == ["The ground truth cannot be read: the file is missing"]


def filled(**highlights: list[str]) -> dict[str, list[str]]:
    return {"terms": [], "concepts": [], "examples": [], **highlights}


def test_extract_writes_the_newest_run_and_tells_of_broken_lines(tmp_path):
    (tmp_path / "log.ndjson").write_bytes(LOG)
    os.utime(tmp_path / "log.ndjson", (1_700_000_000, 1_700_000_000))
    done = run("extract", "log.ndjson", cwd=tmp_path)
    told = (done.returncode, done.stdout)
    assert told == (0, "wrote raw-llm-run.json: 1 chunk, 2 paragraphs, 3 highlights of run 2\n")
    assert done.stderr == f"sitegen: {BROKEN}.\n  at: log.ndjson:2\n  do: Write valid JSON.\n"
    assert json.loads((tmp_path / "raw-llm-run.json").read_bytes()) == {
        "name": "log - 2023-11-14T22:13:20+00:00",
        "run_id": "2",
        "chunks": [
            {
                "chunk_id": "chunk_0",
                "paragraphs": {"p-1": "", "p-9": ""},
                "llm_output": {"p-1": filled(terms=["Moss", "peat"], examples=["holds water"]), "p-9": filled()},
            }
        ],
    }


def test_a_log_beyond_the_limit_or_without_an_end_is_refused(tmp_path):
    with (tmp_path / "log.ndjson").open("wb") as log:
        log.truncate(LARGEST_ARGUMENT + 1)
    done = run("extract", "log.ndjson", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("sitegen: The log cannot be read: it is larger than")
    (tmp_path / "endless").symlink_to("/dev/zero")
    assert run("extract", "endless", cwd=tmp_path).returncode == 2


def test_extract_writes_another_run_to_standard_output(tmp_path):
    (tmp_path / "log.ndjson").write_bytes(LOG)
    done = run("extract", "log.ndjson", "--run-id", "1", "-o", "-", cwd=tmp_path)
    assert done.returncode == 0
    written = json.loads(done.stdout)
    assert (written["run_id"], written["chunks"]) == (
        "1",
        [
            {
                "chunk_id": "chunk_0",
                "paragraphs": {"p-1": "", "p-2": ""},
                "llm_output": {"p-1": filled(terms=["Moss"]), "p-2": filled()},
            }
        ],
    )


def test_extract_fills_the_categories_that_a_log_has_of_its_own(tmp_path):
    lines = [{"id": "p-1", "text": "a", "names": ["a"]}, {"id": "p-2", "dates": []}]
    (tmp_path / "log.ndjson").write_text("\n".join(map(json.dumps, lines)))
    done = run("extract", "log.ndjson", "-o", "-", cwd=tmp_path)
    assert json.loads(done.stdout)["chunks"] == [
        {"chunk_id": "chunk_0", "paragraphs": {"p-1": "a"}, "llm_output": {"p-1": {"names": ["a"], "dates": []}}},
        {"chunk_id": "chunk_1", "paragraphs": {"p-2": ""}, "llm_output": {"p-2": {"names": [], "dates": []}}},
    ]


@pytest.mark.parametrize(
    ("content", "more", "what", "do"),
    [
        (None, (), "There is no such log.", "Name a file that is there."),
        (b"", (), "The log cannot be read: it is empty.", "Write one chunk a line."),
        (LOG, ("--run-id", "7"), "The log cannot be read: it has no run '7'.", "Ask for one of: 1, 2."),
    ],
)
def test_extract_says_what_where_and_what_to_do(tmp_path, content, more, what, do):
    if content is not None:
        (tmp_path / "log.ndjson").write_bytes(content)
    done = run("extract", "log.ndjson", *more, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"sitegen: {what}\n  at: log.ndjson\n  do: {do}\n"
    assert not (tmp_path / "raw-llm-run.json").exists()
