from sitegen.text.diff import MOST_PAIRS, AlignedLines, pair


def test_lines_that_are_alike_share_a_row_and_the_rest_fills_up_between_them():
    removed = ["Depths are in centimetres.", "Gone for good.", "Also gone!", "Give months as words."]
    added = ["Depths are in millimetres.", "Brand new: %%%", "Give months as numbers."]
    assert pair(removed, added) == (
        AlignedLines(0, 0, True),
        AlignedLines(1, 1, False),
        AlignedLines(2, None, False),
        AlignedLines(3, 2, True),
    )


def test_pairs_never_cross():
    assert pair(["alpha beta gamma", "one two three"], ["one two three four", "alpha beta gamma delta"]) == (
        AlignedLines(None, 0, False),
        AlignedLines(0, 1, True),
        AlignedLines(1, None, False),
    )


def test_blank_lines_are_like_nothing():
    assert pair([""], [""]) == (AlignedLines(0, 0, False),)


def test_a_passage_written_anew_is_not_compared():
    side = ["same line"] * (int(MOST_PAIRS**0.5) + 1)
    assert pair(side, side) == tuple(AlignedLines(index, index, False) for index in range(len(side)))


def test_one_side_alone_has_rows_of_its_own():
    assert pair([], ["a", "b"]) == (AlignedLines(None, 0, False), AlignedLines(None, 1, False))
    assert pair(["a"], []) == (AlignedLines(0, None, False),)
    assert pair([], []) == ()
