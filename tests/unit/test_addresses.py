"""Addresses of pages are made from names of any kind."""

from sitegen.pages import links


def test_half_a_character_has_an_address_like_any_other_name():
    assert links.field("a", "x\ud800") == "evals/a/fields/x-79910d15.html"


def test_names_that_are_no_utf_8_do_not_share_an_address():
    assert [links.field("a", name) for name in ("x\udcff", "x\udcfe")] == [
        "evals/a/fields/x-41add815.html",
        "evals/a/fields/x-9f71a960.html",
    ]
