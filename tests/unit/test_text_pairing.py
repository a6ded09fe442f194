from sitegen.text.diff import MOST_PAIRS, pair


def test_lines_that_are_alike_share_a_row_and_the_rest_fills_up_between_them():
    removed = ["Depths are in centimetres.", "Gone for good.", "Also gone!", "Give months as words."]
    added = ["Depths are in millimetres.", "Brand new: %%%", "Give months as numbers."]
    assert pair(removed, added) == [(0, 0, True), (1, 1, False), (2, None, False), (3, 2, True)]


def test_pairs_never_cross():
    assert pair(["alpha beta gamma", "one two three"], ["one two three four", "alpha beta gamma delta"]) == [
        (None, 0, False),
        (0, 1, True),
        (1, None, False),
    ]


def test_blank_lines_are_like_nothing():
    assert pair([""], [""]) == [(0, 0, False)]


def test_a_passage_written_anew_is_not_compared():
    side = ["same line"] * (int(MOST_PAIRS**0.5) + 1)
    assert pair(side, side) == [(index, index, False) for index in range(len(side))]


def test_one_side_alone_has_rows_of_its_own():
    assert pair([], ["a", "b"]) == [(None, 0, False), (None, 1, False)]
    assert pair(["a"], []) == [(0, None, False)]
    assert pair([], []) == []
