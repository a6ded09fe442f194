import itertools

from hypothesis import given
from hypothesis import strategies as st

from sitegen.text.patch import pair
from sitegen.text.words import mark, tokens

texts = st.one_of(
    st.text(max_size=200),
    st.text("ab \n.,", max_size=120),
    st.lists(st.sampled_from(["the", "red", "one", "1.5", "a_b", " ", "  ", "—", "\t"]), max_size=60).map("".join),
)


@given(texts)
def test_tokens_join_back(text: str):
    assert "".join(tokens(text)) == text


@given(texts, texts)
def test_spans_join_back_to_both_texts_and_alternate(a: str, b: str):
    for text, spans in zip((a, b), mark(a, b), strict=True):
        assert "".join(span.text for span in spans) == text
        assert all(span.text for span in spans)
        assert all(one.changed != two.changed for one, two in itertools.pairwise(spans))


@given(texts, texts)
def test_nothing_is_marked_if_and_only_if_the_texts_are_equal(a: str, b: str):
    old, new = mark(a, b)
    assert any(span.changed for span in old + new) == (a != b)


@given(texts, texts)
def test_what_is_not_marked_is_the_same_on_both_sides_but_for_spaces(a: str, b: str):
    old, new = ("".join("".join(text.split()) for text, changed in spans if not changed) for spans in mark(a, b))
    assert old == new


lines = st.lists(
    st.one_of(st.text(max_size=30), st.sampled_from(["give months as words", "give months as numbers", ""]))
)


@given(lines, lines)
def test_pairs_are_complete_and_in_order(removed: list[str], added: list[str]):
    pairs = pair(removed, added)
    assert [old for old, _, _ in pairs if old is not None] == list(range(len(removed)))
    assert [new for _, new, _ in pairs if new is not None] == list(range(len(added)))
    assert all(old is not None or new is not None for old, new, _ in pairs)
    assert all(not alike or (old is not None and new is not None) for old, new, alike in pairs)
