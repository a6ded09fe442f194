import pytest

from sitegen.text.words import LONGEST, WordSpan, mark, tokens


def bracketed(spans: tuple[WordSpan, ...]) -> str:
    return "".join(f"[{text}]" if changed else text for text, changed in spans)


@pytest.mark.parametrize(
    ("old", "new", "marked_old", "marked_new"),
    [
        ("", "", "", ""),
        ("same", "same", "same", "same"),
        ("", "new", "", "[new]"),
        ("old", "", "[old]", ""),
        ("yes", "no", "[yes]", "[no]"),
        ("INV-00123", "INV-0123", "INV-0[0]123", "INV-0123"),
        ("2026-01-12", "2026-01-21", "2026-01-[12]", "2026-01-[21]"),
        ("**Version:** 2.6", "**Version:** 2.7", "**Version:** [2.6]", "**Version:** [2.7]"),
        ("Give it back.", "Give it back now.", "Give it back.", "Give it back [now]."),
        ("a  b c d", "a b c d", "a[  ]b c d", "a[ ]b c d"),
        (
            "| `due` | footer | may be given as a number of days |",
            "| `due` | footer | add the number of days to the date |",
            "| `due` | footer | [may be given as a] number of days |",
            "| `due` | footer | [add the] number of days [to the date] |",
        ),
    ],
)
def test_the_words_that_differ_are_marked(old: str, new: str, marked_old: str, marked_new: str):
    a, b = mark(old, new)
    assert (bracketed(a), bracketed(b)) == (marked_old, marked_new)


def test_a_small_island_between_two_changes_becomes_part_of_them():
    old, new = mark("take the first word of it", "take every second letter of it")
    assert (bracketed(old), bracketed(new)) == ("take [the first word] of it", "take [every second letter] of it")
    old, _ = mark("xxxxxxxx a yyyyyyyy same words here", "pppppppp a qqqqqqqq same words here")
    assert bracketed(old) == "[xxxxxxxx a yyyyyyyy] same words here"


def test_of_texts_beyond_the_bound_only_start_and_end_are_kept():
    middle = "a b " * LONGEST
    old, new = mark(f"start {middle} end", f"start x{middle}y end")
    assert bracketed(new) == f"start [x{middle}y] end"
    assert bracketed(old) == f"start [{middle.rstrip()}]  end"


def test_a_token_is_a_word_with_its_inner_punctuation_or_spaces_or_one_mark():
    assert tokens("it's  `header.due_date`, 1.5!") == ["it's", "  ", "`", "header.due_date", "`", ",", " ", "1.5", "!"]
